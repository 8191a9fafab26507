/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option - a command line described by a table, read by getopt_long(3).
 *
 * The program and each of its commands has one such table; --help is printed from it.
 */
#ifndef KVMTOP_CMD_OPTION_H
#define KVMTOP_CMD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/why.h"

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char *; points into argv */
	VALUE_PID,    /* pid_t */
	VALUE_COUNT,  /* unsigned long, 1 or more */
	VALUE_NUMBER, /* unsigned long, 0 or more */
	VALUE_OTHER,  /* what option_table.take makes of it */
};

/* An option: where its value goes, and the words about it. */
struct option_spec {
	const char *heading; /* begins a group; the rest is unused then */
	int letter;	     /* 0: none */
	const char *name, *alias; /* long names; NULL: none */
	const char *value;   /* what its argument is called; NULL: takes none */
	enum value_kind kind;
	size_t offset;	     /* in the caller's struct */
	const char *help;    /* also names the value in errors of VALUE_COUNT and VALUE_NUMBER */
};

#define OPTION_SPECS_MAX 48

struct option_table {
	const struct option_spec *specs;
	size_t nr; /* at most OPTION_SPECS_MAX */
	const char *usage;  /* "Usage: ..." and what it does, lines that end in newlines */
	const char *footer; /* after the options; may be NULL */
	/* The first word that is no option ends them: what follows is another program's. */
	bool stops_at_word;
	/* Reads a VALUE_OTHER, and is told of every other option once it is read. May be NULL. */
	int (*take)(void *options, const struct option_spec *spec, const char *text,
		    struct why *why);
};

/*
 * Reads argv[1...] into options. Returns the index of the first word that is no option (words are
 * moved behind the options), or -EINVAL with why: a usage error.
 */
int option_table_parse(const struct option_table *table, int argc, char **argv, void *options,
		       struct why *why);

void option_table_help(const struct option_table *table, FILE *out);

#endif
