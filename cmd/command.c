// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands, and their --help. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/output.h"
#include "lib/process.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "core/findings/rules.h"

static const struct command *const commands[] = {
	&exits_command,	 &export_command,   &format_command, &record_command, &report_command,
	&timeline_command, &where_command,  &who_command,    &why_command,
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

static void print_help(const struct command *command)
{
	fputs(command->usage, stdout);
	option_help(&option_table, &command->command, stdout);
	if (!command->name[0]) {
		puts("\nCommands, each with a --help of its own:");
		command_list(stdout, false);
	}
	printf("\n%s", command->footer);
}

static void say_preference(const struct error *error)
{
	say(error->text);
}

/* Reads the machine's file, then the user's; the command line overrides both. */
static void read_preferences(struct options *options)
{
	const unsigned int modes = MODE_SCREEN | MODE_ONCE | MODE_LOG | MODE_WRITE | MODE_WHERE |
				   MODE_WHY | MODE_REPORT | MODE_EXPORT;
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
	if (options->mode == MODE_SCREEN && !options->interval && preferences->interval_s > 0)
		options->interval_s = preferences->interval_s;
}

/* --thresholds help: a file with all, each line a comment. */
static bool thresholds_asked(const char *path)
{
	struct threshold threshold;

	if (!path || strcmp(path, "help") != 0)
		return false;
	for (size_t i = 0; (threshold = thresholds_at(i)).name; i++)
		printf("# %s = %g\t# %s\n", threshold.name, threshold.by_default, threshold.help);
	return true;
}

/* A file that a word of the command line names; also the TRACE of "GUEST=TRACE". */
static void add_input(const char **inputs, size_t *nr, const char *word)
{
	const char *equals = strchr(word, '=');

	inputs[(*nr)++] = word;
	if (equals)
		inputs[(*nr)++] = equals + 1;
}

/*
 * No input is written to, and no log into the history that is written. What cannot be written to is
 * said before something is measured for it.
 */
static int check_outputs(const struct command *command, const struct options *options,
			 struct error *error)
{
	const char *const named[] = {
		options->read_file, options->thresholds, options->http_config, options->web_config,
		options->perf, options->binary,
		options->mode == MODE_REPORT ? options->other : NULL,
	};
	const struct {
		const char *option, *path;
	} outputs[] = {
		{ "-w", options->write_file },
		{ "--prometheus", options->prometheus },
		{ options->mode == MODE_LOG ? "-L" : "--output", options->output },
		{ "--svg", options->svg },
	};
	size_t nr_words = options->source == FROM_RECORDING ||
			  command->command.offer == OFFER_FILES ? options->nr_words : 0;
	size_t nr = ARRAY_SIZE(named);
	const char **inputs = xcalloc(nr + 2 * (nr_words + options->nr_recordings +
						options->nr_merged) + 1, sizeof(*inputs));
	int err = 0;

	memcpy(inputs, named, sizeof(named));
	for (size_t i = 0; i < nr_words; i++)
		add_input(inputs, &nr, options->words[i]);
	for (size_t i = 0; i < options->nr_recordings; i++)
		add_input(inputs, &nr, options->recordings[i]);
	for (size_t i = 0; i < options->nr_merged; i++)
		add_input(inputs, &nr, options->merged[i]);
	inputs[nr] = options->write_file;
	for (size_t i = 0; i < ARRAY_SIZE(outputs) && !err; i++) {
		const char *path = outputs[i].path;
		struct error reason = { "" };

		if (output_find_input(path, inputs, nr + (i > 0)))
			err = error_set(error, -EINVAL, "%s %s: this file is an input; choose "
					"another one", outputs[i].option, path);
		else if (path && strcmp(path, "-") != 0 && output_check(path, &reason) < 0)
			err = error_set(error, -EINVAL, "%s: %s", path, reason.text);
	}
	free(inputs);
	return err;
}

static int say_unknown(const char *name)
{
	const char *words[ARRAY_SIZE(commands)], *nearest;
	char names[128];
	struct error error;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		words[i] = commands[i]->name;
	nearest = word_nearest(words, ARRAY_SIZE(commands), name);
	command_names(names, sizeof(names));
	error_set(&error, -EINVAL, "\"%.40s\": no such command%s%s; there are: %s", name,
		  nearest ? "; the nearest is " : "", nearest ? nearest : "", names);
	return say_usage("", &error);
}

int command_main(int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_by_name(argv[1]) : NULL;
	bool is_named = command != NULL;
	struct options options;
	struct error error = { "" };

	if (!command && argc > 1 && argv[1][0] != '-')
		return say_unknown(argv[1]);
	if (!command)
		command = &top_command;
	if (options_parse(command, argc - is_named, argv + is_named, &options, &error) < 0)
		return say_usage(command->name, &error);
	if (options.help)
		print_help(command);
	if (options.help || thresholds_asked(options.thresholds))
		return STATUS_OK;
	read_preferences(&options);
	if (check_outputs(command, &options, &error) < 0)
		return say_failure(-EINVAL, &error);
	return command->run(&options);
}
