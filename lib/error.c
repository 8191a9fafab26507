/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error - puts the sentence into the caller's buffer.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/error.h"

int error_set(struct error *why, int err, const char *fmt, ...)
{
	va_list args;

	if (!why)
		return err;
	va_start(args, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, args);
	va_end(args);
	return err;
}
