// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In the program of `make static`, in place of dlopen(3): nothing is loaded while it runs.
 *
 * libc's would need the shared libc of the build machine. libtraceevent has it for plugins that
 * print events, SQLite for extensions; kvmtop asks for neither. --listen needs libmicrohttpd,
 * and -r URL libcurl: both say that it cannot be loaded.
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
