/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option - command lines described by one table, read by getopt_long(3).
 *
 * Each row says in which modes and with which sources its option works. A command has the rows that
 * work in one of its modes: --help, the shell's completion and error messages follow the table.
 */
#ifndef KVMTOP_CMD_OPTION_H
#define KVMTOP_CMD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/error.h"

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char *; points into argv */
	VALUE_PID,    /* pid_t */
	VALUE_COUNT,  /* unsigned long, 1 or more */
	VALUE_NUMBER, /* unsigned long, 0 or more */
	VALUE_OTHER,  /* read by option_table.take */
};

/* What the shell offers for an argument, besides words that the table has. */
enum offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_FOLDERS,
	OFFER_PROGRAMS, /* and then the program's words */
	OFFER_GUESTS,	/* by name */
	OFFER_PIDS,	/* of guests */
	OFFER_FIELDS,	/* what -f takes */
	OFFER_EVENTS,	/* tracepoints that -f takes */
	OFFER_VIEWS,
	OFFER_COLUMNS, /* of the view that the command line names */
	OFFER_METRICS,
	OFFER_TOPICS, /* of kvmtop help */
	/* Found by complete.c, in no table. */
	OFFER_OPTIONS,
	OFFER_COMMANDS, /* of kvmtop */
};

/* Where an option is listed. */
enum listed {
	LISTED_FIRST, /* in --help */
	LISTED_BY_TOPIC, /* of kvmtop itself: by `kvmtop help TOPIC` only; of commands: in --help */
	LISTED_IN_MAN, /* in the manual only */
};

/* An option: the modes and sources it works with, the member for its value, and its help. */
struct option_spec {
	/* A row without an option is a heading of --help: its text, and its name as a topic. */
	const char *heading, *topic;
	unsigned int works; /* bits of enum works */
	int letter;	    /* 0: none */
	const char *name, *alias; /* long names; NULL: none */
	/*
	 * The name of its argument, in --help and in errors; NULL: it has none. A VALUE_FLAG may
	 * have an optional argument, the next word: "[SOURCE]" of -r. Written as --read=SOURCE it
	 * goes to option_table.take.
	 */
	const char *value;
	enum value_kind kind;
	size_t offset; /* in the struct that the values go to */
	const char *help;
	bool is_answer;	   /* --help: what follows on the command line does not matter */
	enum listed listed;
	enum offer offer;  /* for its argument, which a flag may have, too */
	const char *words; /* further words for its argument: "bpf perf"; NULL: none */
};

#define OPTION_SPECS_MAX 128

/* What an option needs beside it, or excludes. */
struct option_rule {
	bool needs;	    /* one of the others, else it excludes all of them */
	unsigned int works; /* only there; 0: everywhere */
	const char *name, *others; /* long names; with blanks between the others */
	const char *remedy;	   /* what to do instead; NULL: it follows from the names */
};

/* What a bit of enum works is called in messages. */
struct option_word {
	unsigned int bit;
	const char *text; /* "-1/--once" */
};

/* A group of bits that exclude each other: modes, sources. */
struct option_group {
	unsigned int bits;
	const struct option_word *words; /* without a text at the end */
};

struct option_table {
	const struct option_spec *specs;
	size_t nr; /* at most OPTION_SPECS_MAX */
	const struct option_rule *rules;
	size_t nr_rules;
	const struct option_group *groups;
	size_t nr_groups;
	/* Reads a VALUE_OTHER, and is called after every other option, too. */
	int (*take)(void *options, const struct option_spec *spec, const char *text,
		    struct error *error);
	/* Writes to buf what follows an option's help, such as a list of views. */
	void (*add_help)(const struct option_spec *spec, char *buf, size_t size);
};

/* The options that were given: a bit for each row. */
struct option_set {
	uint64_t bits[OPTION_SPECS_MAX / 64];
};

/* A command's view of the table. */
struct option_command {
	unsigned int works; /* its modes */
	/* The options end at the first other word: the command line of another program. */
	bool stops_at_word;
	enum offer offer; /* for words that are not options; OFFER_NOTHING: there are none */
};

/*
 * Reads argv[1...] into options, up to an option that is_answer: then there are no further words.
 * Moves the words that are not options to the end and returns the index of the first, or -EINVAL
 * with error: a usage error.
 */
int option_parse(const struct option_table *table, const struct option_command *command, int argc,
		 char **argv, void *options, struct option_set *given, struct error *error);

/*
 * Refuses options that the rules exclude, and options that do not work with the mode and the source
 * in works.
 */
int option_check(const struct option_table *table, const struct option_set *given,
		 unsigned int works, struct error *error);

/* The row of a word such as "-b" or "--by=tid" in a command's command line. NULL: none. */
const struct option_spec *option_by_word(const struct option_table *table,
					 const struct option_command *command, const char *word);

/* Whether the command has the row's option. */
bool option_is_of(const struct option_spec *spec, const struct option_command *command);

/* Prints options below their headings, as far as up_to lists them; topic NULL: all headings. */
void option_help(const struct option_table *table, const struct option_command *command,
		 enum listed up_to, const char *topic, FILE *out);

#endif
