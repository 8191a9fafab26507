// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints errors. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"

int say_failure(int err, const struct error *error)
{
	fprintf(stderr, "kvmtop: %s\n", error->text[0] ? error->text : strerror(-err));
	return STATUS_FAILURE;
}

void say(const char *text)
{
	if (text && text[0])
		fprintf(stderr, "kvmtop: %s\n", text);
}

void say_notice(struct error *error)
{
	say(error->text);
	error->text[0] = '\0';
}

int say_usage(const char *command, const struct error *error)
{
	fprintf(stderr, "kvmtop: %s\nTry kvmtop %s%s--help.\n", error->text, command,
		command[0] ? " " : "");
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
