/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings - files of settings: lines "name = value" with comments after #, or YAML, sections of
 * keys with values.
 *
 * The reader of YAML calls a function of its caller's for each pair of a mapping. That function
 * returns 0, or -errno, which ends the reading; -EINVAL with error, which begins with the line.
 */
#ifndef KVMTOP_LIB_SETTINGS_H
#define KVMTOP_LIB_SETTINGS_H

#include <stddef.h>

#include "lib/error.h"

/*
 * Cuts the line into a name and a value, without blanks around them. 1; 0: the line is empty, or a
 * comment; -EINVAL with error: it has no "=".
 */
int assignment_parse(char *line, char **ret_name, char **ret_value, struct error *error);

struct yaml_document_s;
struct yaml_node_s;

struct setting {
	const char *key;	      /* "the file" is the key of the whole text */
	const struct setting *parent; /* the section that the pair is in */
	void *to;		      /* what the caller fills */
	struct error *error;
	/* The reader's. */
	struct yaml_document_s *document;
	const struct yaml_node_s *value;
	const char *folder;
};

typedef int setting_take(const struct setting *setting);

/*
 * Calls take for each pair on top. folder: relative paths start there. What was taken before an
 * error stays in *to.
 */
int settings_parse(const char *text, size_t size, const char *folder, setting_take *take, void *to,
		   struct error *error);

/* Reads a file; error begins with its path. */
int settings_read(const char *path, setting_take *take, void *to, struct error *error);

/* Calls take for each pair of the value, which is a mapping; an empty value has no pairs. */
int setting_each(const struct setting *setting, setting_take *take);

/* Calls take for each value of a list; the key is the one of the list. */
int setting_items(const struct setting *setting, setting_take *take);

/* -EINVAL with error: the line, the key and what is wrong. */
int setting_bad(const struct setting *setting, const char *what);

/* The value; NULL with error: it is no text. */
const char *setting_text(const struct setting *setting);

/* Replaces *path, which was allocated, by the path that the value names; NULL: the value is "". */
int setting_path(const struct setting *setting, char **path);

#endif
