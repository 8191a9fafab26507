// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a command line that is not complete, and prints what could come next. */
#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "core/metrics.h"
#include "core/views/view.h"

/* Keeps the values that later words depend on. */
static void take_value(struct completion *completion, const char *value)
{
	if (completion->spec->offer == OFFER_VIEWS && view_type_by_name(value))
		completion->view = view_type_by_name(value);
	else if (completion->spec->offer == OFFER_FOLDERS)
		completion->sysroot = value;
}

void completion_find(char **words, size_t nr, struct completion *ret_completion)
{
	const struct command *command = nr > 1 ? command_by_name(words[0]) : NULL;
	struct completion completion = { .sysroot = "" };
	const char *last = nr ? words[nr - 1] : "";
	bool is_value = false; /* the next word is the option's value */
	bool is_after_end = false;

	completion.command = command ? command : &top_command;
	completion.view = !command ? &view_events :
			  command == &where_command ? &view_where : &view_exits;
	completion.offer = completion.command->command.offer;
	for (size_t i = command ? 1 : 0; i + 1 < nr && !is_after_end; i++) {
		const char *word = words[i];

		if (is_value && strcmp(word, "=") == 0) /* bash splits --view=exits */
			continue;
		if (is_value && !(completion.spec->kind == VALUE_FLAG && word[0] == '-')) {
			take_value(&completion, word);
			is_value = false;
			continue;
		}
		is_value = false;
		is_after_end = strcmp(word, "--") == 0;
		if (word[0] != '-' && completion.command->command.stops_at_word) {
			is_after_end = true;
			completion.offer = OFFER_FILES;
		}
		completion.spec = word[0] == '-' && word[1] && !is_after_end ?
					  option_by_word(&option_table,
							 &completion.command->command, word) : NULL;
		if (!completion.spec)
			continue;
		if (word[1] == '-' && strchr(word, '='))
			take_value(&completion, strchr(word, '=') + 1);
		else if (completion.spec->value)
			is_value = true;
		else if (completion.spec->offer == OFFER_VIEWS) /* -b */
			completion.view = &view_guests;
	}
	if (!is_value || (completion.spec->kind == VALUE_FLAG && last[0] == '-'))
		completion.spec = NULL;
	if (completion.spec)
		completion.offer = completion.spec->offer;
	else if (!is_after_end && last[0] == '-')
		completion.offer = OFFER_OPTIONS;
	else if (nr <= 1)
		completion.offer = OFFER_COMMANDS;
	else if (!is_after_end && completion.offer == OFFER_NOTHING)
		completion.offer = OFFER_OPTIONS;
	*ret_completion = completion;
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

static void print_options(const struct option_command *command)
{
	for (size_t i = 0; i < option_table.nr; i++) {
		const struct option_spec *spec = &option_table.specs[i];

		if (!option_is_of(spec, command) || spec->is_in_man)
			continue;
		if (spec->letter)
			printf("-%c\t%s\n", spec->letter, spec->help);
		if (spec->name)
			printf("--%s\t%s\n", spec->name, spec->help);
		if (spec->alias)
			printf("--%s\t%s\n", spec->alias, spec->help);
	}
}

static void print_metrics(void)
{
	const char *name, *help;

	for (size_t i = 0; metrics_group_at(i, &name, &help); i++)
		printf("%s\t%s\nno-%s\twithout: %s\n", name, help, name, help);
}

void completion_print(const struct completion *completion)
{
	char names[512];

	if (completion->spec && completion->offer != OFFER_COLUMNS)
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
		view_type_names(names, sizeof(names));
		print_words(names);
		break;
	case OFFER_COLUMNS:
		view_column_ids(completion->view, completion->command == &report_command, names,
				sizeof(names));
		print_words(names);
		break;
	case OFFER_METRICS:
		print_metrics();
		break;
	case OFFER_OPTIONS:
		print_options(&completion->command->command);
		break;
	case OFFER_COMMANDS:
		command_list(stdout, true);
		break;
	default: /* what this machine has */
		break;
	}
}
