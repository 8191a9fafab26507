// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program of a folder's tests: started by the name of a file, it runs the file's cases.
 *
 * usage: build/tests/unit/FOLDER/test_NAME [CASE]	(a pattern with * and ?)
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/unit.h"

extern const struct unit *const __start_units[], *const __stop_units[];

size_t unit_rounds(size_t usual)
{
	const char *times = getenv("ROUNDS");

	return times ? usual * strtoul(times, NULL, 10) : usual;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	for (const struct unit *const *unit = __start_units; unit < __stop_units; unit++) {
		if (strcmp((*unit)->name, program_invocation_short_name) == 0)
			return (*unit)->run() > 0;
	}
	fprintf(stderr, "%s: no file of this folder has that name\n", argv[0]);
	return 2;
}
