// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replaces dlopen(3) in the program of `make static`: nothing is loaded while it runs.
 *
 * libc's would need the shared libc of the build machine. libtraceevent calls it for plugins that
 * print events, SQLite for extensions; kvmtop needs neither. --listen needs libmicrohttpd, and -r
 * URL libcurl: both say that it cannot be loaded.
 */
#include <stddef.h>

/* What the linker's --wrap=dlopen calls. */
void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
