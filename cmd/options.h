/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options - the options of kvmtop and of each of its commands: one struct, and how values are read.
 *
 * A new option is a member here and a row in command_line.c.
 */
#ifndef KVMTOP_CMD_OPTIONS_H
#define KVMTOP_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/error.h"
#include "core/views/query.h"
#include "trace/recording/event.h"
#include "trace/tracer/tracer.h"
#include "ui/tui/tui.h"

/*
 * ---- option.c: command lines described by one table, read by getopt_long(3).
 *
 * Each row says in which modes and with which sources its option works. A command has the rows that
 * work in one of its modes: --help, the shell's completion and error messages follow the table.
 */

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char *; points into argv */
	VALUE_WORD,   /* the same: one of the row's words */
	VALUE_COUNT,  /* unsigned long, 1 or more */
	VALUE_NUMBER, /* unsigned long, 0 or more */
	VALUE_OTHER,  /* the row's take() reads it */
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

struct options;

/* Reads an option's argument, NULL without one. 0, or -EINVAL with error. */
typedef int option_take(struct options *options, const char *text, struct error *error);

/* An option: the modes and sources it works with, the member for its value, and its help. */
struct option_spec {
	const char *heading; /* of --help, in a row without an option */
	unsigned int works; /* bits of enum works */
	int letter;	    /* 0: none */
	const char *name, *alias; /* long names; NULL: none */
	/*
	 * The name of its argument, in --help and in errors; NULL: it has none. A VALUE_FLAG may
	 * have an optional argument, the next word: "[SOURCE]" of -r. Written as --read=SOURCE it
	 * goes to take().
	 */
	const char *value;
	enum value_kind kind;
	size_t offset;	   /* of the member for its value in struct options */
	option_take *take; /* called when the member is set; NULL: it needs no more */
	const char *help;
	void (*add_help)(char *buf, size_t size); /* what follows the help; NULL: nothing */
	bool is_answer;	   /* --help: what follows on the command line does not matter */
	bool is_in_man; /* in the manual only */
	enum offer offer;  /* for its argument, which a flag may have, too */
	const char *words; /* further words for its argument: "bpf perf"; NULL: none */
};

#define OPTION_SPECS_MAX 128

/* What options need beside them, or exclude. */
struct option_rule {
	bool needs;	    /* each needs one of the others, else it excludes all of them */
	unsigned int works; /* only there; 0: everywhere */
	const char *names, *others; /* long names with blanks between; equal: each and the others */
	const char *remedy;	    /* what to do instead; NULL: it follows from the names */
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
		 char **argv, struct options *options, struct option_set *given,
		 struct error *error);

/* As if the option had not been given. */
void option_forget(const struct option_table *table, struct option_set *given, const char *name);

/*
 * Refuses options that the rules exclude, and options that do not work with the mode and the source
 * in works.
 */
int option_check(const struct option_table *table, const struct option_set *given,
		 unsigned int works, struct error *error);

/* The row of a word such as "-b" or "--by=tid" in a command's command line. NULL: none. */
const struct option_spec *option_by_word(const struct option_table *table,
					 const struct option_command *command, const char *word);

/* The number of a word among words with blanks between them; -1: it is none of them. */
int option_word(const char *words, const char *word);

/* Whether the command has the row's option. */
bool option_is_of(const struct option_spec *spec, const struct option_command *command);

/* Prints the command's options below their headings. */
void option_help(const struct option_table *table, const struct option_command *command, FILE *out);

/* ---- the options of kvmtop */

#define TIDS_MAX 256	    /* threads that -T can name */
#define RECORDINGS_MAX 1024 /* of a timeline; ACRN has one for each CPU */
#define TRACES_MAX 64	    /* of function calls in a timeline */
#define CHOICES_MAX 64	    /* of a recording's events */
#define KALLSYMS_GUESTS 16  /* with functions */

#define BY_WORDS "reason guest vcpu tid" /* of --by */
#define KEEP_WORDS "hotspots who where interrupts long" /* as enum keep */

#define THRESHOLDS_FILE "/etc/kvmtop/thresholds.conf"

/*
 * Where an option works: in these modes, with these sources. A command line has one of each; the
 * commands' modes are below, the others are of kvmtop itself.
 */
enum works {
	MODE_SCREEN = 1u << 0,
	MODE_ONCE = 1u << 1,
	MODE_LOG = 1u << 2,
	MODE_WRITE = 1u << 3, /* -w without a terminal */
	MODE_DIFF = 1u << 4,
	MODE_FIELDS = 1u << 5, /* -f help */
	MODE_PROVIDERS = 1u << 6,
	MODE_GUESTS = 1u << 7,
	MODE_COMPLETE = 1u << 8,
	MODE_VERSION = 1u << 9, /* or the schema */
	MODE_EXITS = 1u << 10,
	MODE_WHY = 1u << 11,
	MODE_REPORT = 1u << 12,
	MODE_EXPORT = 1u << 13,
	MODE_RECORD = 1u << 14,
	MODE_FORMAT = 1u << 15,
	MODE_TIMELINE = 1u << 16,
	MODE_WHO = 1u << 17,
	MODE_WHERE = 1u << 18,

	/* In the order of enum source_kind: FROM_LIVE << kind. */
	FROM_LIVE = 1u << 24,
	FROM_MACHINE = 1u << 25, /* a captured one */
	FROM_RECORDING = 1u << 26,
	FROM_HISTORY = 1u << 27,
	FROM_PROMETHEUS = 1u << 28,
};

#define MODES_TOP ((1u << 10) - 1)
#define MODES_ALL ((1u << 19) - 1)
#define FROM_NOW (FROM_LIVE | FROM_MACHINE)
#define FROM_STORE (FROM_HISTORY | FROM_PROMETHEUS)
#define FROM_PAST (FROM_STORE | FROM_RECORDING)

/* Strings point into argv. NULL and 0: not given. */
struct options {
	unsigned int mode, source; /* each one bit of enum works */
	bool help, version, schema, complete, list_providers, list_guests;
	char **words; /* of the command line, without the options */
	size_t nr_words;

	/* The source. */
	bool read;
	const char *read_file; /* a history or a recording */
	const char *sysroot;   /* ""; or a captured machine */
	const char *url;       /* a Prometheus */
	const char *host;      /* one host of the Prometheus; NULL: all */
	const char *http_config, *input_format, *buffer;
	enum trace_kind kind; /* of input_format */
	double mhz;	      /* of the TSC */
	const char *mhz_text; /* as it was written, if that is a number of MHz; else NULL */
	const char *at, *from, *to;
	const char *other; /* of --diff: a guest, a recording, or a span */

	/* What is counted. */
	const char *fields, *guest, *pids, *event_name, *engine, *thresholds;
	const char *cost_name;
	enum cost cost; /* of --cost, -t, -d and -i */
	pid_t pid, tid;	      /* pid: the one of pids, 0 where pids has several */
	unsigned long vcpu;
	bool has_vcpu, all, debugfs, tracepoints, include_past, demo;
	uint64_t longer_ns;
	bool halts, arguments;
	unsigned long hertz; /* samples of stacks a second */
	bool guest_code, guest_symbols, interrupts;
	const char *kallsyms[KALLSYMS_GUESTS]; /* NAME=FILE */
	size_t nr_kallsyms;

	/* How it is shown. */
	bool folded;
	const char *svg;
	bool batch, log, csv, json, skip_zero, children, by_guest, no_mouse, text, acrn;
	const char *output, *view_name, *sort, *by;
	const char *interval; /* as given, see interval_s; NULL: not given */
	double interval_s;
	unsigned long samples; /* 0: until a signal */

	/* Histories and exports. */
	const char *write_file;
	unsigned int keeps; /* a bit for each enum keep */
	uint64_t max_age_ns, max_size; /* 0: no limit */
	const char *prometheus, *listen, *web_config;
	unsigned int metrics; /* of enum metrics_group */
	bool metrics_help;
	unsigned long max_series;

	/* For `kvmtop record`. */
	struct ring_config ring; /* without what the machine has */
	struct ring_choice choices[CHOICES_MAX];

	/* For `kvmtop format` and `kvmtop timeline`. */
	bool trims, has_offset;
	int64_t offset;
	const char *recordings[RECORDINGS_MAX], *merged[TRACES_MAX];
	size_t nr_recordings, nr_merged;
	const char *perf, *binary, *binary_name, *format;

	/* What the words of `kvmtop exits` and `kvmtop report` mean, see struct command. */
	pid_t only[TIDS_MAX]; /* the threads of -t and -T; of a recording also processes, -p */
	size_t nr_only;
	enum exit_kind event;
	unsigned int groups; /* see struct query */
	const struct view_type *view;
	size_t column;	    /* of view, to sort by */
	double duration_s; /* 0: until a signal */
	char **command;     /* counting ends with it; NULL: none */

	struct preferences preferences; /* of the screen */
};

/* ---- options.c: the rows' take() */

option_take take_guest, take_pids, take_tid, take_tids, check_vcpu, take_longer, take_kallsyms,
	take_event, take_filter, take_source, take_at, take_from, take_to, check_span,
	take_frequency, take_recording, take_offset, take_merged, take_keeps, take_max_age,
	take_max_size, take_metrics;

/* The kind of options->source. */
static inline enum source_kind options_kind(const struct options *options)
{
	return (enum source_kind)__builtin_ctz(options->source / FROM_LIVE);
}

/*
 * The names of the source: of -r and --sysroot, or the words, files of a recording. None: this
 * machine. The caller frees the array.
 */
const char **options_sources(const struct options *options, size_t *ret_nr);

/* Whether a recording is read from standard input, which has no keys then. */
bool options_read_stdin(const struct options *options);

/* Reads the words of a command that measures for SECONDS: 5 without them. -EINVAL with error. */
int options_take_seconds(struct options *options, struct error *error);

bool options_is_number(const char *text); /* such as a number of seconds */
bool options_is_url(const char *text);
int options_take_url(const char *text, struct options *options, struct error *error);

#endif
