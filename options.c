// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options, and what reads and prints it. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum value_kind {
	VALUE_FLAG,   /* bool */
	VALUE_STRING, /* const char * */
	VALUE_PID,
	VALUE_DELAY,
	VALUE_COUNT,
};

/* An option: where it is written, and the words about it. */
struct option_spec {
	const char *heading; /* begins a group; the rest is unused then */
	int letter;	     /* 0: none */
	const char *name, *alias; /* long names */
	const char *value;   /* what its argument is called; NULL: takes none */
	enum value_kind kind;
	size_t offset;	     /* in struct options */
	const char *help;
};

#define AT(member) offsetof(struct options, member)

static const struct option_spec specs[] = {
	{ .heading = "What to count" },
	{ NULL, 'f', "fields", NULL, "REGEX", VALUE_STRING, AT(fields),
	  "events whose names match; \"help\" lists them" },
	{ NULL, 'g', "guest", NULL, "NAME", VALUE_STRING, AT(guest), "one guest, by its name" },
	{ NULL, 'p', "pid", NULL, "PID", VALUE_PID, AT(pid), "one guest, by its process" },
	{ NULL, 't', "tracepoints", NULL, NULL, VALUE_FLAG, AT(tracepoints),
	  "from the kernel's trace events (default)" },
	{ NULL, 'd', "debugfs", NULL, NULL, VALUE_FLAG, AT(debugfs),
	  "from the kernel's debugfs counters; -d -t: from both" },
	{ NULL, 'i', "debugfs-include-past", NULL, NULL, VALUE_FLAG, AT(include_past),
	  "with -d: what running guests counted before, too" },
	{ .heading = "How to show it (default: on the screen, live)" },
	{ NULL, '1', "once", "batch", NULL, VALUE_FLAG, AT(batch),
	  "count for a second, print, end" },
	{ NULL, 'l', "log", NULL, NULL, VALUE_FLAG, AT(log), "print a line per interval" },
	{ NULL, 'L', "log-to-file", NULL, "FILE", VALUE_STRING, AT(log_file),
	  "append them to FILE; SIGHUP reopens it" },
	{ NULL, 'c', "csv", NULL, NULL, VALUE_FLAG, AT(csv), "with -l or -L: as CSV" },
	{ NULL, 0, "json", NULL, NULL, VALUE_FLAG, AT(json),
	  "with -1, -l or -L: a JSON object per sample and line" },
	{ NULL, 'z', "skip-zero-records", NULL, NULL, VALUE_FLAG, AT(skip_zero),
	  "with -l or -L: no line where nothing happened" },
	{ NULL, 's', "set-delay", NULL, "SECONDS", VALUE_DELAY, AT(delay_s),
	  "interval, 0.1 to 25.5 (default 3)" },
	{ NULL, 'n', "samples", NULL, "N", VALUE_COUNT, AT(samples), "end after N intervals" },
	{ NULL, 0, "view", NULL, "NAME", VALUE_STRING, AT(view), "begin with: events, guests" },
	{ NULL, 'b', "by-guest", NULL, NULL, VALUE_FLAG, AT(by_guest),
	  "the same as --view guests" },
	{ NULL, 'x', "children", NULL, NULL, VALUE_FLAG, AT(children),
	  "with the reasons of each event (-1 and -c always have them)" },
	{ NULL, 'o', "sort", NULL, "COLUMN", VALUE_STRING, AT(sort), "event, total, share, rate" },
	{ .heading = "Other" },
	{ NULL, 0, "demo", NULL, NULL, VALUE_FLAG, AT(demo),
	  "run a tiny guest of its own if there is none" },
	{ NULL, 0, "list-providers", NULL, NULL, VALUE_FLAG, AT(list_providers),
	  "what can count here, and why not" },
	{ NULL, 0, "sysroot", NULL, "DIR", VALUE_STRING, AT(sysroot),
	  "look at a captured machine instead" },
	{ NULL, 'h', "help", NULL, NULL, VALUE_FLAG, AT(help), "this text" },
	{ NULL, 'V', "version", NULL, NULL, VALUE_FLAG, AT(version), "the version" },
};

#define NR_SPECS (sizeof(specs) / sizeof(specs[0]))

#define LONG_BASE 256 /* a long option's val: this plus its index; no letter is as large */

/* getopt_long's view of the table. */
struct getopt_tables {
	char letters[2 * NR_SPECS + 2];
	struct option longs[2 * NR_SPECS + 1];
};

static void add_long(struct option *option, const char *name, size_t i)
{
	*option = (struct option){ name, specs[i].value ? required_argument : no_argument, NULL,
				    LONG_BASE + (int)i };
}

static void fill_tables(struct getopt_tables *tables)
{
	char *letter = tables->letters;
	struct option *option = tables->longs;

	*letter++ = ':'; /* errors are ours to word */
	for (size_t i = 0; i < NR_SPECS; i++) {
		if (specs[i].letter)
			*letter++ = (char)specs[i].letter;
		if (specs[i].letter && specs[i].value)
			*letter++ = ':';
		if (specs[i].name)
			add_long(option++, specs[i].name, i);
		if (specs[i].alias)
			add_long(option++, specs[i].alias, i);
	}
}

static const struct option_spec *spec_by_letter(int letter)
{
	for (size_t i = 0; i < NR_SPECS; i++) {
		if (specs[i].letter == letter)
			return &specs[i];
	}
	return NULL;
}

/* What getopt_long() returned. */
static const struct option_spec *spec_by_got(int got)
{
	return got >= LONG_BASE ? &specs[got - LONG_BASE] : spec_by_letter(got);
}

int options_delay(const char *text, double *ret_delay_s, struct why *why)
{
	char *end;
	double delay = strtod(text, &end);

	if (end == text || *end || !isfinite(delay))
		return why_set(why, -EINVAL, "\"%s\": not a number of seconds", text);
	if (delay < DELAY_MIN_S)
		return why_set(why, -EINVAL, "\"%s\": delay must be >= %.1f", text, DELAY_MIN_S);
	if (delay > DELAY_MAX_S)
		return why_set(why, -EINVAL, "\"%s\": delay must be <= %.1f", text, DELAY_MAX_S);
	*ret_delay_s = delay;
	return 0;
}

static int parse_number(const char *what, const char *text, long max, long *ret_number,
			struct why *why)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || *end || errno || number < 1 || number > max)
		return why_set(why, -EINVAL, "\"%s\": %s must be a number from 1 to %ld", text,
			       what, max);
	*ret_number = number;
	return 0;
}

static int take(struct options *options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	char *at = (char *)options + spec->offset;
	long number = 0;
	int err = 0;

	switch (spec->kind) {
	case VALUE_FLAG:
		*(bool *)(void *)at = true;
		break;
	case VALUE_STRING:
		*(const char **)(void *)at = text;
		break;
	case VALUE_PID:
		err = parse_number("the pid", text, INT_MAX, &number, why);
		*(pid_t *)(void *)at = (pid_t)number;
		break;
	case VALUE_DELAY:
		return options_delay(text, (double *)(void *)at, why);
	case VALUE_COUNT:
		err = parse_number("the number of samples", text, LONG_MAX, &number, why);
		*(unsigned long *)(void *)at = (unsigned long)number;
		break;
	}
	return err;
}

/* As with kvm_stat the later of -g and -p wins. */
static void settle(struct options *options, const struct option_spec *spec)
{
	if (spec->offset == AT(guest))
		options->pid = 0;
	else if (spec->offset == AT(pid))
		options->guest = NULL;
}

/* Options that make no sense together. */
static int check(const struct options *options, struct why *why)
{
	bool logs = options->log || options->log_file;

	if (options->help || options->version)
		return 0;
	if (options->csv && !logs)
		return why_set(why, -EINVAL, "-c/--csv requires -l/--log or -L/--log-to-file");
	if (options->skip_zero && !logs)
		return why_set(why, -EINVAL,
			       "-z/--skip-zero-records requires -l/--log or -L/--log-to-file");
	if (options->json && !logs && !options->batch)
		return why_set(why, -EINVAL,
			       "--json requires -1/--once, -l/--log or -L/--log-to-file");
	if (options->json && options->csv)
		return why_set(why, -EINVAL, "-c/--csv and --json exclude each other");
	if (options->by_guest && options->view && strcmp(options->view, "guests") != 0)
		return why_set(why, -EINVAL, "-b/--by-guest and --view %s exclude each other",
			       options->view);
	return 0;
}

static int usage_error(int got, char **argv, struct why *why)
{
	const char *word = argv[optind - 1]; /* of a letter, it may be the one before */
	bool is_letter = optopt != 0 && optopt < LONG_BASE;

	if (got == ':' && is_letter)
		return why_set(why, -EINVAL, "option -%c needs %s", optopt,
			       spec_by_letter(optopt)->value);
	if (got == ':')
		return why_set(why, -EINVAL, "option %s needs %s", word,
			       spec_by_got(optopt)->value);
	if (!is_letter)
		return why_set(why, -EINVAL,
			       "option %s is unknown, ambiguous, or takes no argument", word);
	if (!isgraph((unsigned char)optopt))
		return why_set(why, -EINVAL, "unknown option -\\x%02x", (unsigned char)optopt);
	return why_set(why, -EINVAL, "unknown option -%c", optopt);
}

int options_parse(int argc, char **argv, struct options *ret_options, struct why *why)
{
	struct options options = { .delay_s = DELAY_DEFAULT_S, .sysroot = "" };
	struct getopt_tables tables = { 0 };
	int got, err;

	fill_tables(&tables);
	optind = 1;
	opterr = 0;
	while ((got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct option_spec *spec = spec_by_got(got);

		if (got == '?' || got == ':' || !spec)
			return usage_error(got, argv, why);
		err = take(&options, spec, optarg, why);
		if (err)
			return err;
		settle(&options, spec);
	}
	if (optind < argc)
		return why_set(why, -EINVAL, "unexpected argument \"%s\"", argv[optind]);
	err = check(&options, why);
	if (!err)
		*ret_options = options;
	return err;
}

enum mode options_mode(const struct options *options)
{
	if (options->help)
		return MODE_HELP;
	if (options->version)
		return MODE_VERSION;
	if (options->list_providers)
		return MODE_PROVIDERS;
	if (options->fields && strcmp(options->fields, "help") == 0)
		return MODE_FIELDS;
	if (options->log || options->log_file)
		return MODE_LOG;
	return options->batch ? MODE_BATCH : MODE_CURSES;
}

static void help_line(FILE *out, const struct option_spec *spec)
{
	char text[80];
	int n;

	n = spec->letter ? snprintf(text, sizeof(text), "  -%c, --%s", spec->letter, spec->name) :
			   snprintf(text, sizeof(text), "      --%s", spec->name);
	if (spec->alias)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", --%s", spec->alias);
	if (spec->value)
		snprintf(text + n, sizeof(text) - (size_t)n, " %s", spec->value);
	fprintf(out, "%-31s %s\n", text, spec->help);
}

void options_help(FILE *out)
{
	fputs("Usage: kvmtop [OPTION]...\n"
	      "Shows what KVM guests on this host make the kernel do: which events, how often, in\n"
	      "which guest.\n", out);
	for (size_t i = 0; i < NR_SPECS; i++) {
		if (specs[i].heading)
			fprintf(out, "\n%s:\n", specs[i].heading);
		else
			help_line(out, &specs[i]);
	}
	fputs("\nExit status: 0 done, 1 failure, 2 wrong usage. Keys: press h. More: man kvmtop\n",
	      out);
}
