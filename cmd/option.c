// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads command lines by a table, words the errors, prints the help. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/options.h"

#define HELP_COLUMN 32 /* where the words about an option begin */
#define HELP_WIDTH (80 - HELP_COLUMN)
#define HELP_ROWS 20 /* options that fit in 24 lines, with what is around them */
#define LONG_BASE 256 /* a long option's val: this plus its index; no letter is as large */
#define LABEL_SIZE 48
#define LABELS_SIZE 256

/* The table in the form of getopt_long(3), and the command for error messages. */
struct getopt_tables {
	const struct option_table *table;
	const struct option_command *command;
	char letters[2 * OPTION_SPECS_MAX + 3];
	struct option longs[2 * OPTION_SPECS_MAX + 1];
};

bool option_is_of(const struct option_spec *spec, const struct option_command *command)
{
	return spec->works & command->works;
}

static void add_long(struct option *option, const char *name, const struct option_spec *spec,
		     size_t i)
{
	int takes = !spec->value ? no_argument :
		    spec->kind == VALUE_FLAG ? optional_argument : required_argument;

	*option = (struct option){ name, takes, NULL, LONG_BASE + (int)i };
}

static void fill_tables(struct getopt_tables *tables)
{
	const struct option_table *table = tables->table;
	char *letter = tables->letters;
	struct option *option = tables->longs;

	if (tables->command->stops_at_word)
		*letter++ = '+';
	*letter++ = ':'; /* getopt_long() prints no errors */
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (!option_is_of(spec, tables->command))
			continue;
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

static const struct option_spec *by_letter(const struct option_table *table,
					   const struct option_command *command, int letter)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (table->specs[i].letter == letter && option_is_of(&table->specs[i], command))
			return &table->specs[i];
	}
	return NULL;
}

/* The long name that begins with the len bytes of text; NULL: neither does. */
static const char *name_with(const struct option_spec *spec, const char *text, size_t len)
{
	if (spec->name && strncmp(spec->name, text, len) == 0)
		return spec->name;
	return spec->alias && strncmp(spec->alias, text, len) == 0 ? spec->alias : NULL;
}

const struct option_spec *option_by_word(const struct option_table *table,
					 const struct option_command *command, const char *word)
{
	const struct option_spec *first = NULL;
	size_t len;

	if (word[0] != '-' || word[1] != '-')
		return by_letter(table, command, word[1]);
	len = strcspn(word + 2, "=");
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];
		const char *name = option_is_of(spec, command) ? name_with(spec, word + 2, len) :
								 NULL;

		if (name && strlen(name) == len)
			return spec;
		first = first || !name ? first : spec;
	}
	return first;
}

/* got: what getopt_long() returned, or left in optopt. */
static const struct option_spec *spec_by_got(const struct getopt_tables *tables, int got)
{
	return got >= LONG_BASE ? &tables->table->specs[got - LONG_BASE] :
				  by_letter(tables->table, tables->command, got);
}

/* "-1/--once", "--json" */
static const char *label(const struct option_spec *spec, char buf[LABEL_SIZE])
{
	if (spec->letter && spec->name)
		snprintf(buf, LABEL_SIZE, "-%c/--%s", spec->letter, spec->name);
	else if (spec->letter)
		snprintf(buf, LABEL_SIZE, "-%c", spec->letter);
	else
		snprintf(buf, LABEL_SIZE, "--%s", spec->name);
	return buf;
}

/* A file, folder or guest has a name: an empty word is an unset variable of a script. */
static int check_name(const struct option_spec *spec, const char *text, struct error *error)
{
	bool is_name = spec->offer >= OFFER_FILES && spec->offer <= OFFER_GUESTS;
	char name[LABEL_SIZE];

	if (spec->kind == VALUE_FLAG || !is_name || *text)
		return 0;
	return error_set(error, -EINVAL, "%s needs %s, which is empty", label(spec, name),
			 spec->value);
}

int option_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (int i = 0; *words; i++) {
		size_t n = strcspn(words, " ");

		if (n == len && memcmp(words, word, n) == 0)
			return i;
		words += n + (words[n] == ' ');
	}
	return -1;
}

static int check_word(const struct option_spec *spec, const char *text, struct error *error)
{
	char list[256] = "";

	if (option_word(spec->words, text) >= 0)
		return 0;
	for (const char *at = spec->words; *at; at++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list),
			 *at == ' ' ? ",%c" : "%c", *at);
	return error_set(error, -EINVAL, "\"%s\": --%s must be one of %s", text, spec->name, list);
}

static int parse_number(const char *what, const char *text, long min, long max, long *ret_number,
			struct error *error)
{
	bool is_wrong;
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	is_wrong = end == text || *end || errno || number < min || number > max;
	if (is_wrong && max == LONG_MAX)
		return error_set(error, -EINVAL, "\"%s\": %s must be a whole number, at least %ld",
				 text, what, min);
	if (is_wrong)
		return error_set(error, -EINVAL, "\"%s\": %s must be a number from %ld to %ld",
				 text, what, min, max);
	*ret_number = number;
	return 0;
}

static int take_value(struct options *options, const struct option_spec *spec, const char *text,
		      struct error *error)
{
	void *at = (char *)options + spec->offset;
	long number = 0;
	int err = 0;

	switch (spec->kind) {
	case VALUE_FLAG:
		*(bool *)at = true;
		break;
	case VALUE_WORD:
		err = check_word(spec, text, error);
		*(const char **)at = text;
		break;
	case VALUE_STRING:
		*(const char **)at = text;
		break;
	case VALUE_COUNT:
	case VALUE_NUMBER:
		err = parse_number(spec->value, text, spec->kind == VALUE_COUNT, LONG_MAX, &number,
				   error);
		*(unsigned long *)at = (unsigned long)number;
		break;
	case VALUE_OTHER:
		break;
	}
	return !err && spec->take ? spec->take(options, text, error) : err;
}

/* ---- what is wrong ---- */

/* What is wrong with --WORD, which getopt_long() did not accept. */
static int long_error(const struct getopt_tables *tables, const char *word, struct error *error)
{
	size_t len = strcspn(word + 2, "=");
	const char *first = NULL;

	if (optopt)
		return error_set(error, -EINVAL, "option --%s takes no argument",
				 name_with(spec_by_got(tables, optopt), word + 2, len));
	for (const struct option *option = tables->longs; option->name; option++) {
		if (strncmp(option->name, word + 2, len) != 0)
			continue;
		if (first)
			return error_set(error, -EINVAL, "option %s is ambiguous: --%s or --%s",
					 word, first, option->name);
		first = option->name;
	}
	return error_set(error, -EINVAL, "unknown option %s", word);
}

static int usage_error(const struct getopt_tables *tables, int got, char **argv,
		       struct error *error)
{
	const char *word = argv[optind - 1]; /* of a letter, perhaps another word */
	bool is_letter = optopt != 0 && optopt < LONG_BASE;

	if (got == ':' && is_letter)
		return error_set(error, -EINVAL, "option -%c needs %s", optopt,
				 spec_by_got(tables, optopt)->value);
	if (got == ':')
		return error_set(error, -EINVAL, "option %s needs %s", word,
				 spec_by_got(tables, optopt)->value);
	if (!is_letter)
		return long_error(tables, word, error);
	if (!isgraph((unsigned char)optopt))
		return error_set(error, -EINVAL, "unknown option -\\x%02x", (unsigned char)optopt);
	return error_set(error, -EINVAL, "unknown option -%c", optopt);
}

int option_parse(const struct option_table *table, const struct option_command *command, int argc,
		 char **argv, struct options *options, struct option_set *given,
		 struct error *error)
{
	struct getopt_tables tables = { .table = table, .command = command };
	int got, err;

	fill_tables(&tables);
	optind = 0; /* glibc and musl: begin again, after the words of another table */
	opterr = 0;
	while ((got = getopt_long(argc, argv, tables.letters, tables.longs, NULL)) != -1) {
		const struct option_spec *spec = spec_by_got(&tables, got);
		size_t i = spec ? (size_t)(spec - table->specs) : 0;

		if (got == '?' || got == ':' || !spec)
			return usage_error(&tables, got, argv, error);
		given->bits[i / 64] |= UINT64_C(1) << i % 64;
		err = check_name(spec, optarg, error);
		if (!err)
			err = take_value(options, spec, optarg, error);
		if (err)
			return err;
		if (spec->is_answer)
			return argc;
	}
	return optind;
}

void option_forget(const struct option_table *table, struct option_set *given, const char *name)
{
	for (size_t i = 0; i < table->nr; i++) {
		if (table->specs[i].name && strcmp(table->specs[i].name, name) == 0)
			given->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

static void append(char *buf, const char *between, const char *text)
{
	size_t len = strlen(buf);

	snprintf(buf + len, LABELS_SIZE - len, "%s%s", len ? between : "", text);
}

static bool is_given(const struct option_set *given, size_t i)
{
	return given->bits[i / 64] >> i % 64 & 1;
}

/*
 * The row with this name of len bytes: of the rows in wants, or, if that is NULL, of the rows that
 * work there. NULL: none.
 */
static const struct option_spec *find_row(const struct option_table *table, unsigned int works,
					  const char *name, size_t len,
					  const struct option_set *wants)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (spec->name && strlen(spec->name) == len &&
		    strncmp(spec->name, name, len) == 0 &&
		    (wants ? is_given(wants, i) : spec->works & works))
			return spec;
	}
	return NULL;
}

/* The first group of which the mask has bits, but none that is set now. NULL: none. */
static const struct option_group *not_covered(const struct option_table *table, unsigned int mask,
					      unsigned int now)
{
	for (size_t i = 0; i < table->nr_groups; i++) {
		unsigned int chosen = mask & table->groups[i].bits;

		if (chosen && !(chosen & now))
			return &table->groups[i];
	}
	return NULL;
}

/* Whether one of the rule's options, which was given, is alone as it must be. */
static int check_one(const struct option_table *table, const struct option_rule *rule,
		     const struct option_spec *one, const struct option_set *given,
		     unsigned int works, struct error *error)
{
	char labels[LABELS_SIZE] = "", label_1[LABEL_SIZE], label_2[LABEL_SIZE];
	const char *remedy = rule->remedy ? rule->remedy : "";

	for (const char *at = rule->others; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		const struct option_spec *other = find_row(table, works, at, len, given);

		if (other && rule->needs)
			return 0;
		if (other && other != one)
			return error_set(error, -EINVAL, "%s and %s exclude each other%s%s",
					 label(one, label_1), label(other, label_2),
					 *remedy ? ": " : "", remedy);
		other = find_row(table, works, at, len, NULL);
		if (other)
			append(labels, " or ", label(other, label_2));
		at += len;
	}
	if (!rule->needs)
		return 0;
	return error_set(error, -EINVAL, "%s needs %s%s%s", label(one, label_1), labels,
			 *remedy ? ": " : "", remedy);
}

static int check_rule(const struct option_table *table, const struct option_rule *rule,
		      const struct option_set *given, unsigned int works, struct error *error)
{
	int err = 0;

	if (not_covered(table, rule->works, works))
		return 0;
	for (const char *at = rule->names; *at && !err; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		const struct option_spec *one = find_row(table, 0, at, len, given);

		if (one)
			err = check_one(table, rule, one, given, works, error);
		at += len;
	}
	return err;
}

/* "a, b or c": the group's bits that are in the mask. */
static void list_words(const struct option_group *group, unsigned int mask, char *buf)
{
	unsigned int left = 0;

	for (const struct option_word *word = group->words; word->text; word++)
		left |= mask & word->bit;
	for (const struct option_word *word = group->words; word->text; word++) {
		if (!(word->bit & left))
			continue;
		left &= ~word->bit;
		append(buf, left ? ", " : " or ", word->text);
	}
}

static int check_row(const struct option_table *table, const struct option_spec *spec,
		     unsigned int works, struct error *error)
{
	const struct option_group *group = not_covered(table, spec->works, works);
	char where[LABELS_SIZE] = "", now[LABELS_SIZE] = "", name[LABEL_SIZE];

	if (!group)
		return 0;
	list_words(group, spec->works, where);
	list_words(group, works, now);
	return error_set(error, -EINVAL, "%s works with %s, not with %s", label(spec, name), where,
			 now);
}

int option_check(const struct option_table *table, const struct option_set *given,
		 unsigned int works, struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < table->nr_rules && !err; i++)
		err = check_rule(table, &table->rules[i], given, works, error);
	for (size_t i = 0; i < table->nr && !err; i++) {
		if (is_given(given, i))
			err = check_row(table, &table->specs[i], works, error);
	}
	return err;
}

/* ---- help ---- */

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

static void help_line(FILE *out, const struct option_spec *spec)
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
	if (spec->add_help)
		spec->add_help(more, sizeof(more));
	snprintf(words, sizeof(words), "%s%s", spec->help, more);
	if (strlen(text) < HELP_COLUMN)
		fprintf(out, "%-*s", HELP_COLUMN, text);
	else
		fprintf(out, "%s\n%*s", text, HELP_COLUMN, "");
	print_wrapped(out, words);
}

static bool is_in_help(const struct option_spec *spec, const struct option_command *command)
{
	return option_is_of(spec, command) && !spec->is_in_man;
}

/* Where a screen has room for all, headings would take it. */
static bool has_headings(const struct option_table *table, const struct option_command *command)
{
	size_t nr = 0;

	for (size_t i = 0; i < table->nr; i++)
		nr += is_in_help(&table->specs[i], command);
	return nr > HELP_ROWS;
}

void option_help(const struct option_table *table, const struct option_command *command, FILE *out)
{
	const struct option_spec *heading = NULL;
	bool with_headings = has_headings(table, command);

	if (!with_headings)
		fputc('\n', out);

	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (spec->heading) {
			heading = with_headings ? spec : NULL;
		} else if (is_in_help(spec, command)) {
			if (heading)
				fprintf(out, "\n%s:\n", heading->heading);
			heading = NULL;
			help_line(out, spec);
		}
	}
}
