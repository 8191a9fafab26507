// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/text.h"

#define LINE_SIZE 1024

/* The name of a file may have an escape sequence, which must not steer the terminal. */
void say(const char *text)
{
	char line[LINE_SIZE];

	if (text && utf8_clean(text, strlen(text), line, sizeof(line)))
		fprintf(stderr, "kvmtop: %s\n", line);
}

int say_failure(int err, const struct error *error)
{
	say(error->text[0] ? error->text : strerror(-err));
	return STATUS_FAILURE;
}

void say_notice(struct error *error)
{
	say(error->text);
	error->text[0] = '\0';
}

int say_usage(const char *command, const struct error *error)
{
	say(error->text);
	fprintf(stderr, "Try kvmtop %s%s--help.\n", command, command[0] ? " " : "");
	return STATUS_USAGE;
}

int say_end(int status)
{
	errno = EIO;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	fprintf(stderr, "kvmtop: cannot write to standard output: %s\n", strerror(errno));
	return STATUS_FAILURE;
}
