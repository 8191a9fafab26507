// SPDX-License-Identifier: GPL-2.0-or-later
/* Cuts lines "name = value" in place. */
#include <errno.h>
#include <string.h>

#include "lib/assignment.h"

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return text;
}

int assignment_parse(char *line, char **ret_name, char **ret_value, struct why *why)
{
	char *name, *value;

	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (!*name)
		return 0;
	value = strchr(name, '=');
	if (!value)
		return why_set(why, -EINVAL, "\"%s\": not \"name = value\"", name);
	*value++ = '\0';
	*ret_name = trim(name);
	*ret_value = trim(value);
	return 1;
}
