/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error - puts the sentence into the caller's buffer.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"

int error_set(struct error *error, int err, const char *fmt, ...)
{
	va_list args;

	if (!error)
		return err;
	va_start(args, fmt);
	vsnprintf(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return err;
}

void error_add(struct error *error, const char *fmt, ...)
{
	va_list args;
	size_t len;

	if (!error)
		return;
	if (*error->text)
		strncat(error->text, "; ", sizeof(error->text) - strlen(error->text) - 1);
	len = strlen(error->text);
	va_start(args, fmt);
	vsnprintf(error->text + len, sizeof(error->text) - len, fmt, args);
	va_end(args);
}
