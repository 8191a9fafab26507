/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error - puts the sentence into the caller's buffer.
 */
#include <stdarg.h>

#include "lib/error.h"
#include "lib/utf8.h"

int error_set(struct error *error, int err, const char *fmt, ...)
{
	va_list args;

	if (!error)
		return err;
	va_start(args, fmt);
	error->text[0] = '\0';
	text_vadd(error->text, sizeof(error->text), fmt, args);
	va_end(args);
	return err;
}

void error_add(struct error *error, const char *fmt, ...)
{
	va_list args;

	if (!error)
		return;
	if (*error->text)
		text_add(error->text, sizeof(error->text), "; ");
	va_start(args, fmt);
	text_vadd(error->text, sizeof(error->text), fmt, args);
	va_end(args);
}
