// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of commands. */
#include <string.h>

#include "cmd/command.h"
#include "cmd/commands.h"

static const struct command *const commands[] = {
	&exits_command,
	&format_command,
	&record_command,
	&report_command,
	&timeline_command,
	&why_command,
	NULL,
};

const struct command *command_by_name(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

void commands_names(char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; commands[i] && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "",
					commands[i]->name);
}

void commands_help(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->help);
}

void commands_complete(FILE *out)
{
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s\t%s\n", commands[i]->name, commands[i]->help);
}
