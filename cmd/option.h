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
#include <sys/types.h>

#include "base/why.h"

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char *; points into argv */
	VALUE_PID,    /* pid_t */
	VALUE_COUNT,  /* unsigned long, 1 or more */
	VALUE_NUMBER, /* unsigned long, 0 or more */
	VALUE_PAIR,   /* const char *[2]: this word and the next one; points into argv */
	VALUE_OTHER,  /* what option_table.take makes of it */
};

/* An option: where its value goes, and the words about it. */
struct option_spec {
	const char *heading; /* the row is a heading of --help, and no option */
	int letter;	     /* 0: none */
	const char *name, *alias; /* long names; NULL: none */
	/*
	 * What its argument is called, in --help and in errors; NULL: none. Of a VALUE_FLAG, a word
	 * of the command line that belongs to it and may be absent: "[FILE]" of -r. The long name
	 * also takes it as --read=FILE; then option_table.take gets it.
	 */
	const char *value;
	enum value_kind kind;
	size_t offset;	     /* in the caller's struct */
	const char *help;
};

#define OPTION_SPECS_MAX 48

/*
 * The rows of a table. Before it, its file names the struct that the values go to:
 *
 *	#define OPTIONS struct my_options
 *
 * letter: 0: none; value: what the argument is called; member: of OPTIONS.
 */
#define OPT_AT(member) offsetof(OPTIONS, member)
#define OPT_HEADING(text) { .heading = (text) }
#define OPT_FLAG(letter, name, member, help) \
	{ NULL, letter, name, NULL, NULL, VALUE_FLAG, OPT_AT(member), help }
#define OPT_HELP OPT_FLAG('h', "help", help, "this text")
#define OPT_STRING(letter, name, value, member, help) \
	{ NULL, letter, name, NULL, value, VALUE_STRING, OPT_AT(member), help }
#define OPT_PID(letter, name, value, member, help) \
	{ NULL, letter, name, NULL, value, VALUE_PID, OPT_AT(member), help }
#define OPT_COUNT(letter, name, value, member, help) \
	{ NULL, letter, name, NULL, value, VALUE_COUNT, OPT_AT(member), help }
#define OPT_NUMBER(letter, name, value, member, help) \
	{ NULL, letter, name, NULL, value, VALUE_NUMBER, OPT_AT(member), help }
#define OPT_OTHER(letter, name, value, member, help) \
	{ NULL, letter, name, NULL, value, VALUE_OTHER, OPT_AT(member), help }

struct option_table {
	const struct option_spec *specs;
	size_t nr; /* at most OPTION_SPECS_MAX */
	const char *usage;  /* "Usage: ..." and what it does, lines that end in newlines */
	const char *footer; /* after the options; may be NULL */
	/* The options end at the first word that is not one: a command line of another program. */
	bool stops_at_word;
	/* Reads a VALUE_OTHER; also called after each other option was read. May be NULL. */
	int (*take)(void *options, const struct option_spec *spec, const char *text,
		    struct why *why);
	/* Writes to buf what follows an option's help: a list made elsewhere. May be NULL. */
	void (*add_help)(const struct option_spec *spec, char *buf, size_t size);
};

/*
 * Reads argv[1...] into options. Moves the words that are not options behind them and returns the
 * index of the first, or -EINVAL with why: a usage error.
 */
int option_table_parse(const struct option_table *table, int argc, char **argv, void *options,
		       struct why *why);

/* Call it from take(): of -g and -p the later wins. Forgets the other one's value. */
void option_take_guest(const struct option_spec *spec, const char **guest, pid_t *pid);

void option_table_help(const struct option_table *table, FILE *out);

#endif
