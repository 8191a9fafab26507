// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a command line that is not complete, and prints what could come next. */
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/complete.h"
#include "cmd/top_options.h"
#include "core/metrics.h"

/* How far a command line has been read. */
struct line {
	struct completion *completion;
	const struct option_spec *pending; /* the next word is its argument; NULL: none */
	unsigned int nr_pending;	   /* how many words the argument has left */
	bool has_options;		   /* an option can be next */
	bool has_program;		   /* the words of a program follow */
	bool is_first;			   /* there is no word before */
};

static bool is_option(const char *word)
{
	return word[0] == '-' && word[1];
}

/* Keeps the values that later words depend on. */
static void take_value(struct completion *completion, const struct option_spec *spec,
		       const char *value)
{
	if (spec->offer == OFFER_VIEWS && view_type_by_name(value))
		completion->view = view_type_by_name(value);
	else if (spec->offer == OFFER_FOLDERS)
		completion->sysroot = value;
}

static void expect_value(struct line *line, const struct option_spec *spec)
{
	if (spec && !spec->value && spec->offer == OFFER_VIEWS) /* -b */
		line->completion->view = view_type_by_groups(GROUP_GUEST);
	line->pending = spec && spec->value ? spec : NULL;
	line->nr_pending = line->pending && spec->kind == VALUE_PAIR ? 2 : 1;
}

static void read_long(struct line *line, const char *name)
{
	size_t len = strcspn(name, "=");
	const struct option_spec *spec = option_by_name(line->completion->table, name, len);

	if (!name[len])
		expect_value(line, spec);
	else if (spec)
		take_value(line->completion, spec, name + len + 1);
}

/* In "-bg" the argument of -g is the next word; in "-gNAME" it is there. */
static void read_letters(struct line *line, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_spec *spec = option_by_letter(line->completion->table,
								  *letters);

		if (spec && spec->value && letters[1] && spec->kind != VALUE_FLAG) {
			take_value(line->completion, spec, letters + 1);
			return;
		}
		expect_value(line, spec);
	}
}

static void read_option(struct line *line, const char *word)
{
	if (strcmp(word, "--") == 0)
		line->has_options = false;
	else if (word[1] == '-')
		read_long(line, word + 2);
	else
		read_letters(line, word + 1);
}

static void read_word(struct line *line, const char *word)
{
	bool may_be_absent = line->pending && line->pending->kind == VALUE_FLAG;

	if (line->pending && strcmp(word, "=") == 0) /* bash splits --view=exits */
		return;
	if (line->pending && !(may_be_absent && is_option(word))) {
		take_value(line->completion, line->pending, word);
		if (--line->nr_pending == 0)
			line->pending = NULL;
	} else if (line->has_options && is_option(word)) {
		line->pending = NULL;
		read_option(line, word);
	} else if (line->completion->table->stops_at_word) {
		line->has_options = false;
		line->has_program = true;
	}
}

static enum offer find_offer(const struct line *line, const char *last)
{
	const struct completion *completion = line->completion;
	enum offer offer = completion->table->offer;

	if (line->pending && !(line->pending->kind == VALUE_FLAG && last[0] == '-'))
		return line->pending->offer;
	if (line->has_options && last[0] == '-')
		return OFFER_OPTIONS;
	if (line->is_first)
		return OFFER_COMMANDS;
	if (line->has_options && offer == OFFER_NOTHING)
		return OFFER_OPTIONS;
	return line->has_program ? OFFER_FILES : offer;
}

void completion_find(char **words, size_t nr, struct completion *ret_completion)
{
	const struct command *command = nr > 1 ? command_by_name(words[0]) : NULL;
	struct line line = {
		.completion = ret_completion,
		.has_options = true,
		.is_first = nr <= 1,
	};
	const char *last = nr ? words[nr - 1] : "";

	*ret_completion = (struct completion){
		.command = command,
		.table = command ? command->options : &top_option_table,
		.view = view_type_by_groups(command ? GROUP_ALL : GROUP_EVENT),
		.sysroot = "",
	};
	for (size_t i = command ? 1 : 0; i + 1 < nr; i++)
		read_word(&line, words[i]);
	ret_completion->offer = find_offer(&line, last);
	ret_completion->spec = line.pending;
}

/* ---- words ---- */

/* list: with blanks, or commas and blanks, between the words. */
static void print_words(const char *list)
{
	while (list && *list) {
		size_t len = strcspn(list, ", ");

		printf("%.*s\n", (int)len, list);
		list += len + strspn(list + len, ", ");
	}
}

static void print_options(const struct option_table *table)
{
	for (size_t i = 0; i < table->nr; i++) {
		const struct option_spec *spec = &table->specs[i];

		if (spec->letter)
			printf("-%c\t%s\n", spec->letter, spec->help);
		if (spec->name)
			printf("--%s\t%s\n", spec->name, spec->help);
		if (spec->alias)
			printf("--%s\t%s\n", spec->alias, spec->help);
	}
}

static void print_columns(const struct completion *completion)
{
	const bool is_recording = completion->command == command_by_name("report");
	char names[512];

	view_column_ids(completion->view, is_recording, names, sizeof(names));
	print_words(names);
}

static void print_views(void)
{
	char names[128];

	view_type_names(names, sizeof(names));
	print_words(names);
}

static void print_metrics(void)
{
	const char *name, *help;

	for (size_t i = 0; metrics_group_at(i, &name, &help); i++)
		printf("%s\t%s\nno-%s\twithout: %s\n", name, help, name, help);
}

void completion_print(const struct completion *completion)
{
	if (completion->spec)
		print_words(completion->spec->words);
	switch (completion->offer) {
	case OFFER_FILES:
		puts("\tfiles");
		break;
	case OFFER_FOLDERS:
		puts("\tfolders");
		break;
	case OFFER_PROGRAMS:
		puts("\tcommands");
		break;
	case OFFER_VIEWS:
		print_views();
		break;
	case OFFER_COLUMNS:
		print_columns(completion);
		break;
	case OFFER_METRICS:
		print_metrics();
		break;
	case OFFER_OPTIONS:
		print_options(completion->table);
		break;
	case OFFER_COMMANDS:
		commands_complete(stdout);
		break;
	case OFFER_NOTHING:
	case OFFER_GUESTS:
	case OFFER_PIDS:
	case OFFER_FIELDS:
	case OFFER_EVENTS:
		break;
	}
}

void completion_print_guest(const struct guest *guest)
{
	printf("%s\tprocess %d\n", guest->name, (int)guest->pid);
}

void completion_print_pid(const struct guest *guest)
{
	printf("%d\t%s\n", (int)guest->pid, guest->name);
}

/* Replaces what the shell would change by a dot, which matches any character. */
void completion_print_field(const char *name)
{
	for (; *name; name++)
		putchar(*name == '(' || *name == ')' ? '.' : *name);
	putchar('\n');
}

void completion_print_event(const char *name)
{
	if (!strchr(name, '('))
		puts(name);
}
