// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads command lines by a table, words the errors, prints the help. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/option.h"

#define HELP_COLUMN 32 /* where the words about an option begin */
#define HELP_WIDTH (80 - HELP_COLUMN)
#define LONG_BASE 256 /* a long option's val: this plus its index; no letter is as large */

/* The table as getopt_long(3) wants it. */
struct getopt_tables {
	char letters[2 * OPTION_SPECS_MAX + 3];
	struct option longs[2 * OPTION_SPECS_MAX + 1];
};

static void add_long(struct option *option, const char *name, const struct option_spec *spec,
		     size_t i)
{
	int takes = !spec->value ? no_argument :
		    spec->kind == VALUE_FLAG ? optional_argument : required_argument;

	*option = (struct option){ name, takes, NULL, LONG_BASE + (int)i };
}

static void fill_tables(const struct option_table *table, struct getopt_tables *tables)
{
	char *letter = tables->letters;
	struct option *option = tables->longs;

	if (table->stops_at_word)
		*letter++ = '+';
	*letter++ = ':'; /* getopt_long() prints no errors */
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (spec->letter)
			*letter++ = (char)spec->letter;
		if (spec->letter && spec->value && spec->kind != VALUE_FLAG)
			*letter++ = ':';
		if (spec->name)
			add_long(option++, spec->name, spec, i);
		if (spec->alias)
			add_long(option++, spec->alias, spec, i);
	}
}

const struct option_spec *option_by_letter(const struct option_table *table, int letter)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (table->specs[i].letter == letter)
			return &table->specs[i];
	}
	return NULL;
}

const struct option_spec *option_by_name(const struct option_table *table, const char *name,
					 size_t len)
{
	const struct option_spec *first = NULL;

	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (!spec->name || strncmp(spec->name, name, len) != 0)
			continue;
		if (strlen(spec->name) == len)
			return spec;
		first = first ? first : spec;
	}
	return first;
}

/* got: what getopt_long() returned, or left in optopt. */
static const struct option_spec *spec_by_got(const struct option_table *table, int got)
{
	return got >= LONG_BASE ? &table->specs[got - LONG_BASE] : option_by_letter(table, got);
}

static int parse_number(const char *what, const char *text, long min, long max, long *ret_number,
			struct why *why)
{
	bool is_wrong;
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	is_wrong = end == text || *end || errno || number < min || number > max;
	if (is_wrong && max == LONG_MAX)
		return why_set(why, -EINVAL, "\"%s\": %s must be a whole number, at least %ld",
			       text, what, min);
	if (is_wrong)
		return why_set(why, -EINVAL, "\"%s\": %s must be a number from %ld to %ld", text,
			       what, min, max);
	*ret_number = number;
	return 0;
}

static int take(void *options, const struct option_spec *spec, const char *text, struct why *why)
{
	void *at = (char *)options + spec->offset;
	bool is_count = spec->kind == VALUE_COUNT;
	long number = 0;
	int err = 0;

	switch (spec->kind) {
	case VALUE_FLAG:
		*(bool *)at = true;
		break;
	case VALUE_STRING:
		*(const char **)at = text;
		break;
	case VALUE_PID:
		err = parse_number(spec->value, text, 1, INT_MAX, &number, why);
		*(pid_t *)at = (pid_t)number;
		break;
	case VALUE_COUNT:
	case VALUE_NUMBER:
		err = parse_number(spec->value, text, is_count, LONG_MAX, &number, why);
		*(unsigned long *)at = (unsigned long)number;
		break;
	case VALUE_PAIR:
	case VALUE_OTHER:
		break;
	}
	return err;
}

/* Of an option of two words: getopt_long() has found the first, the second follows it. */
static int take_pair(void *options, const struct option_spec *spec, int argc, char **argv,
		     struct why *why)
{
	const char **pair = (const char **)((char *)options + spec->offset);

	if (optind >= argc)
		return why_set(why, -EINVAL, "option --%s needs %s", spec->name, spec->value);
	pair[0] = optarg;
	pair[1] = argv[optind++];
	return 0;
}

/* The long name that begins with the len bytes of text; NULL: neither does. */
static const char *name_with(const struct option_spec *spec, const char *text, size_t len)
{
	if (spec->name && strncmp(spec->name, text, len) == 0)
		return spec->name;
	return spec->alias && strncmp(spec->alias, text, len) == 0 ? spec->alias : NULL;
}

/* What is wrong with --WORD, which getopt_long() did not accept. */
static int long_error(const struct option_table *table, const char *word, struct why *why)
{
	size_t len = strcspn(word + 2, "=");
	const char *first = NULL;

	if (optopt)
		return why_set(why, -EINVAL, "option --%s takes no argument",
			       name_with(spec_by_got(table, optopt), word + 2, len));
	for (size_t i = 0; i < table->nr; i++) {
		const char *name = name_with(&table->specs[i], word + 2, len);

		if (first && name)
			return why_set(why, -EINVAL, "option %s is ambiguous: --%s or --%s", word,
				       first, name);
		first = name ? name : first;
	}
	return why_set(why, -EINVAL, "unknown option %s", word);
}

static int usage_error(const struct option_table *table, int got, char **argv, struct why *why)
{
	const char *word = argv[optind - 1]; /* of a letter, perhaps another word */
	bool is_letter = optopt != 0 && optopt < LONG_BASE;

	if (got == ':' && is_letter)
		return why_set(why, -EINVAL, "option -%c needs %s", optopt,
			       spec_by_got(table, optopt)->value);
	if (got == ':')
		return why_set(why, -EINVAL, "option %s needs %s", word,
			       spec_by_got(table, optopt)->value);
	if (!is_letter)
		return long_error(table, word, why);
	if (!isgraph((unsigned char)optopt))
		return why_set(why, -EINVAL, "unknown option -\\x%02x", (unsigned char)optopt);
	return why_set(why, -EINVAL, "unknown option -%c", optopt);
}

int option_table_parse(const struct option_table *table, int argc, char **argv, void *options,
		       struct why *why)
{
	struct getopt_tables tables = { 0 };
	int got, err;

	fill_tables(table, &tables);
	optind = 0; /* glibc and musl: begin again, after the words of another table */
	opterr = 0;
	while ((got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct option_spec *spec = spec_by_got(table, got);

		if (got == '?' || got == ':' || !spec)
			return usage_error(table, got, argv, why);
		err = spec->kind == VALUE_PAIR ? take_pair(options, spec, argc, argv, why) :
						 take(options, spec, optarg, why);
		if (!err && table->take)
			err = table->take(options, spec, optarg, why);
		if (err)
			return err;
		if (spec->is_answer)
			return argc;
	}
	return optind;
}

void option_take_guest(const struct option_spec *spec, const char **guest, pid_t *pid)
{
	if (spec->letter == 'g')
		*pid = 0;
	else if (spec->letter == 'p')
		*guest = NULL;
}

/* Breaks long words about an option between two words. */
static void print_wrapped(FILE *out, const char *words)
{
	while (strlen(words) > HELP_WIDTH) {
		int len = HELP_WIDTH;

		while (len > 0 && words[len] != ' ')
			len--;
		if (len == 0)
			break;
		fprintf(out, "%.*s\n%*s", len, words, HELP_COLUMN, "");
		words += len + 1;
	}
	fprintf(out, "%s\n", words);
}

static void help_line(FILE *out, const struct option_table *table, const struct option_spec *spec)
{
	char text[80] = "", more[256] = "", words[512];
	int n = 0;

	if (spec->letter)
		n = snprintf(text, sizeof(text), "  -%c", spec->letter);
	if (spec->name)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s--%s",
			      spec->letter ? ", " : "      ", spec->name);
	if (spec->alias)
		n += snprintf(text + n, sizeof(text) - (size_t)n, ", --%s", spec->alias);
	if (spec->value)
		snprintf(text + n, sizeof(text) - (size_t)n, " %s", spec->value);
	if (table->add_help)
		table->add_help(spec, more, sizeof(more));
	snprintf(words, sizeof(words), "%s%s", spec->help, more);
	fprintf(out, "%-*s ", HELP_COLUMN - 1, text);
	print_wrapped(out, words);
}

void option_table_help(const struct option_table *table, FILE *out)
{
	fputs(table->usage, out);
	for (size_t i = 0; i < table->nr; i++) {
		if (table->specs[i].heading)
			fprintf(out, "\n%s:\n", table->specs[i].heading);
		else
			help_line(out, table, &table->specs[i]);
	}
	if (table->footer)
		fprintf(out, "\n%s", table->footer);
}
