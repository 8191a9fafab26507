// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends the program without memory, exit handlers or locks. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/xalloc.h"

/* Global: the terminal belongs to the process, and any thread may run out of memory. */
static void (*_Atomic restore_terminal)(void);

void out_of_memory_restores(void (*restore)(void))
{
	restore_terminal = restore;
}

void out_of_memory(void)
{
	static const char message[] = "kvmtop: out of memory\n";
	static atomic_flag is_ending = ATOMIC_FLAG_INIT;
	void (*restore)(void) = restore_terminal;

	while (atomic_flag_test_and_set(&is_ending))
		pause(); /* another thread ends the program */
	if (restore)
		restore();
	(void)!write(STDERR_FILENO, message, sizeof(message) - 1);
	_exit(EXIT_FAILURE);
}

char *xvasprintf(const char *fmt, va_list args)
{
	char *text;

	if (vasprintf(&text, fmt, args) < 0)
		out_of_memory();
	return text;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	return text;
}
