/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * option - a command line described by a table, read by getopt_long(3).
 *
 * The program and each of its commands has one such table; --help is printed from it, and the
 * shell's completion asks it (complete.h).
 */
#ifndef KVMTOP_CMD_OPTION_H
#define KVMTOP_CMD_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/why.h"

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char *; points into argv */
	VALUE_PID,    /* pid_t */
	VALUE_COUNT,  /* unsigned long, 1 or more */
	VALUE_NUMBER, /* unsigned long, 0 or more */
	VALUE_PAIR,   /* const char *[2]: this word and the next one; points into argv */
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
	/* Found by complete.c, in no table. */
	OFFER_OPTIONS,
	OFFER_COMMANDS, /* of kvmtop */
};

/* An option: where its value goes, and the words about it. */
struct option_spec {
	const char *heading; /* the row is a heading of --help, and no option */
	int letter;	     /* 0: none */
	const char *name, *alias; /* long names; NULL: none */
	/*
	 * The name of its argument, in --help and in errors; NULL: it has none. A VALUE_FLAG may
	 * have an optional argument, the next word: "[FILE]" of -r. Written as --read=FILE it goes
	 * to option_table.take.
	 */
	const char *value;
	enum value_kind kind;
	size_t offset;	     /* in the caller's struct */
	const char *help;
	bool is_answer;	   /* --help: what follows on the command line does not matter */
	enum offer offer;  /* for its argument, which a flag may have, too */
	const char *words; /* further words for its argument: "bpf perf"; NULL: none */
};

#define OPTION_SPECS_MAX 64

/*
 * The rows of a table. Before it, its file names the struct that the values go to:
 *
 *	#define OPTIONS struct my_options
 *
 * letter: 0: none; value: the argument's name; member: of OPTIONS. .offer and .words may follow the
 * help.
 */
#define OPT_AT(member) offsetof(OPTIONS, member)
#define OPT_ROW(kind_, letter_, name_, value_, member, ...) \
	{ .letter = (letter_), .name = (name_), .value = (value_), .kind = (kind_), \
	  .offset = OPT_AT(member), .help = __VA_ARGS__ }
#define OPT_HEADING(text) { .heading = (text) }
#define OPT_FLAG(letter, name, member, ...) \
	OPT_ROW(VALUE_FLAG, letter, name, NULL, member, __VA_ARGS__)
#define OPT_STRING(letter, name, value, member, ...) \
	OPT_ROW(VALUE_STRING, letter, name, value, member, __VA_ARGS__)
#define OPT_FILE(letter, name, value, member, ...) \
	OPT_ROW(VALUE_STRING, letter, name, value, member, __VA_ARGS__, .offer = OFFER_FILES)
#define OPT_PID(letter, name, value, member, ...) \
	OPT_ROW(VALUE_PID, letter, name, value, member, __VA_ARGS__)
#define OPT_COUNT(letter, name, value, member, help) \
	OPT_ROW(VALUE_COUNT, letter, name, value, member, help)
#define OPT_NUMBER(letter, name, value, member, help) \
	OPT_ROW(VALUE_NUMBER, letter, name, value, member, help)
#define OPT_OTHER(letter, name, value, member, ...) \
	OPT_ROW(VALUE_OTHER, letter, name, value, member, __VA_ARGS__)
/* Rows that several tables have. */
#define OPT_HELP OPT_FLAG('h', "help", help, "this text", .is_answer = true)
#define OPT_SYSROOT \
	OPT_STRING(0, "sysroot", "DIR", sysroot, "look at a captured machine instead", \
		   .offer = OFFER_FOLDERS)
#define OPT_GUEST \
	OPT_STRING('g', "guest", "NAME", guest, "one guest, by its name", .offer = OFFER_GUESTS)
#define OPT_GUEST_PID \
	OPT_PID('p', "pid", "PID", pid, "one guest, by its process", .offer = OFFER_PIDS)

struct option_table {
	const struct option_spec *specs;
	size_t nr; /* at most OPTION_SPECS_MAX */
	const char *usage;  /* "Usage: ..." and what it does, lines that end in newlines */
	const char *footer; /* after the options; may be NULL */
	/* The options end at the first other word: the command line of another program. */
	bool stops_at_word;
	enum offer offer; /* for words that are not options; OFFER_NOTHING: there are none */
	/* Reads a VALUE_OTHER, and is called after every other option, too. May be NULL. */
	int (*take)(void *options, const struct option_spec *spec, const char *text,
		    struct why *why);
	/* Writes to buf what follows an option's help, such as a list of views. May be NULL. */
	void (*add_help)(const struct option_spec *spec, char *buf, size_t size);
};

/*
 * Reads argv[1...] into options, up to an option that is_answer: then there are no further words.
 * Moves the words that are not options behind them and returns the index of the first, or -EINVAL
 * with why: a usage error.
 */
int option_table_parse(const struct option_table *table, int argc, char **argv, void *options,
		       struct why *why);

/* Finds an option by its letter, or by the len bytes that its long name begins with. NULL: none. */
const struct option_spec *option_by_letter(const struct option_table *table, int letter);
const struct option_spec *option_by_name(const struct option_table *table, const char *name,
					 size_t len);

/* Call it from take(): of -g and -p the later one is used, and the other one's value dropped. */
void option_take_guest(const struct option_spec *spec, const char **guest, pid_t *pid);

void option_table_help(const struct option_table *table, FILE *out);

#endif
