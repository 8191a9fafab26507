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

/* What the shell offers for an argument, besides words that the table has. */
enum offer {
	OFFER_NOTHING,
	OFFER_FILES,
	OFFER_FOLDERS,
	OFFER_PROGRAMS, /* and then their words */
	OFFER_GUESTS,	/* by name */
	OFFER_PIDS,	/* of guests */
	OFFER_FIELDS,	/* what -f takes */
	OFFER_EVENTS,	/* of these the tracepoints */
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
	 * What its argument is called, in --help and in errors; NULL: none. Of a VALUE_FLAG, a word
	 * of the command line that belongs to it and may be absent: "[FILE]" of -r. The long name
	 * also takes it as --read=FILE; then option_table.take gets it.
	 */
	const char *value;
	enum value_kind kind;
	size_t offset;	     /* in the caller's struct */
	const char *help;
	enum offer offer;  /* for its argument; of a flag, what it stands for */
	const char *words; /* for it, too: "bpf perf"; NULL: none */
};

#define OPTION_SPECS_MAX 48

/*
 * The rows of a table. Before it, its file names the struct that the values go to:
 *
 *	#define OPTIONS struct my_options
 *
 * letter: 0: none; value: what the argument is called; member: of OPTIONS. After the help may stand
 * .offer and .words.
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
#define OPT_HELP OPT_FLAG('h', "help", help, "this text")
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
	/* The options end at the first word that is not one: a command line of another program. */
	bool stops_at_word;
	enum offer offer; /* for words that are not options; OFFER_NOTHING: there are none */
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

/* By its letter, or by its long name, of len bytes, or a beginning of it; NULL: no such. */
const struct option_spec *option_by_letter(const struct option_table *table, int letter);
const struct option_spec *option_by_name(const struct option_table *table, const char *name,
					 size_t len);

/* Call it from take(): of -g and -p the later wins. Forgets the other one's value. */
void option_take_guest(const struct option_spec *spec, const char **guest, pid_t *pid);

void option_table_help(const struct option_table *table, FILE *out);

#endif
