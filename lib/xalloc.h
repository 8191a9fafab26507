/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xalloc - memory, or the end of the program.
 *
 * No function passes on that there is no memory. A size that a file or a guest claims is checked
 * against a bound before memory is asked for.
 */
#ifndef KVMTOP_LIB_XALLOC_H
#define KVMTOP_LIB_XALLOC_H

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/*
 * Ends the program from any thread: gives the terminal back, prints one line, exit status 1. Other
 * threads go on until the end, so neither exit handlers nor buffered output are run.
 */
__attribute__((noreturn)) void out_of_memory(void);

/* What gives the terminal back; NULL: the terminal is not in use. */
void out_of_memory_restores(void (*restore)(void));

__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);
__attribute__((format(printf, 1, 0))) char *xvasprintf(const char *fmt, va_list args);

/* None of these returns NULL, not even for 0 bytes. */
static inline void *xmalloc(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (!memory)
		out_of_memory();
	return memory;
}

static inline void *xcalloc(size_t nr, size_t size)
{
	void *memory = calloc(nr ? nr : 1, size ? size : 1);

	if (!memory)
		out_of_memory();
	return memory;
}

static inline void *xreallocarray(void *old, size_t nr, size_t size)
{
	void *memory = reallocarray(old, nr ? nr : 1, size ? size : 1);

	if (!memory)
		out_of_memory();
	return memory;
}

static inline char *xstrdup(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		out_of_memory();
	return copy;
}

static inline char *xstrndup(const char *text, size_t len)
{
	char *copy = strndup(text, len);

	if (!copy)
		out_of_memory();
	return copy;
}

#endif
