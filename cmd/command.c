// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, their --help, and `kvmtop help`. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "lib/say.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "core/findings/thresholds.h"

static const struct command *const commands[] = {
	&exits_command,	 &export_command, &format_command,   &help_command,
	&record_command, &report_command, &timeline_command, &why_command,
};

const struct command *command_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

void command_names(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(commands) && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					commands[i]->name);
}

void command_list(FILE *out, bool for_shell)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, for_shell ? "%s\t%s\n" : "  %-9s %s\n", commands[i]->name,
			commands[i]->help);
}

void command_topics(FILE *out, bool for_shell)
{
	for (size_t i = 0; i < option_table.nr; i++) {
		const struct option_spec *spec = &option_table.specs[i];

		if (spec->heading)
			fprintf(out, for_shell ? "%s\t%s\n" : "  %-9s %s\n", spec->topic,
				spec->heading);
	}
	fprintf(out, for_shell ? "%s\t%s\n" : "  %-9s %s\n", "all", "All of these");
}

static void print_help(const struct command *command)
{
	fputs(command->usage, stdout);
	option_help(&option_table, &command->command,
		    command->name[0] ? LISTED_BY_TOPIC : LISTED_FIRST, NULL, stdout);
	if (!command->name[0]) {
		puts("\nCommands, each with a --help of its own:");
		command_list(stdout, false);
	}
	printf("\n%s", command->footer);
}

static void say_preference(const struct error *why)
{
	say(why->text);
}

/* Reads the machine's file, then the user's; the command line overrides both. */
static void read_preferences(struct options *options)
{
	const unsigned int modes = MODE_SCREEN | MODE_ONCE | MODE_LOG | MODE_WRITE | MODE_WHY |
				   MODE_REPORT | MODE_EXPORT;
	struct preferences *preferences = &options->preferences;
	char path[PATH_MAX];

	if (!(options->mode & modes))
		return;
	snprintf(path, sizeof(path), "%s" PREFERENCES_FILE, options->sysroot);
	preferences_read(preferences, path, say_preference);
	preferences_path(path, sizeof(path));
	if (path[0])
		preferences_read(preferences, path, say_preference);
	if (!options->thresholds && preferences->thresholds[0])
		options->thresholds = preferences->thresholds;
	if (options->mode == MODE_SCREEN && !options->has_interval && preferences->interval_s > 0)
		options->interval_s = preferences->interval_s;
}

/* --thresholds help: a file with all, each line a comment. */
static bool thresholds_asked(const char *path)
{
	const char *name, *help;
	double usual;

	if (!path || strcmp(path, "help") != 0)
		return false;
	for (size_t i = 0; thresholds_at(i, &name, &usual, &help); i++)
		printf("# %s = %g\t# %s\n", name, usual, help);
	return true;
}

int command_main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_by_name(argv[1]) : NULL;
	bool is_named = command != NULL;
	struct options options;
	struct error why = { "" };

	if (!command)
		command = &top_command;
	if (options_parse(command, argc - is_named, argv + is_named, &options, &why) < 0)
		return say_usage(command->name, &why);
	if (options.help)
		print_help(command);
	if (options.help || thresholds_asked(options.thresholds))
		return STATUS_OK;
	read_preferences(&options);
	return command->run(&options);
}

/* ---- kvmtop help ---- */

static bool is_topic(const char *word)
{
	for (size_t i = 0; i < option_table.nr; i++) {
		const struct option_spec *spec = &option_table.specs[i];

		if (spec->heading && strcmp(spec->topic, word) == 0)
			return true;
	}
	return strcmp(word, "all") == 0;
}

static int understand(struct options *options, struct error *why)
{
	const char *word = options->nr_words ? options->words[0] : "all";

	if (options->nr_words > 1)
		return error_set(why, -EINVAL, "unexpected argument \"%s\"", options->words[1]);
	if (!command_by_name(word) && !is_topic(word))
		return error_set(why, -EINVAL, "\"%s\": neither a command nor a topic; kvmtop help "
				 "lists them", word);
	return 0;
}

static int run(struct options *options)
{
	const char *word = options->nr_words ? options->words[0] : NULL;

	if (word && command_by_name(word)) {
		print_help(command_by_name(word));
	} else if (word) {
		option_help(&option_table, &top_command.command, LISTED_BY_TOPIC,
			    strcmp(word, "all") == 0 ? NULL : word, stdout);
	} else {
		puts("Topics, of the options of kvmtop itself:");
		command_topics(stdout, false);
		puts("\nCommands:");
		command_list(stdout, false);
	}
	return STATUS_OK;
}

const struct command help_command = {
	.name = "help",
	.help = "list the options of a topic, or of a command",
	.usage = "Usage: kvmtop help [TOPIC | COMMAND]\n"
		 "Lists the options of a topic, or of a command; without one, the topics.\n",
	.footer = "More: man kvmtop\n",
	.command = { .works = MODE_HELP, .offer = OFFER_TOPICS },
	.understand = understand,
	.run = run,
};
