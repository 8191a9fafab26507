// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program of a folder's tests: started by the name of a file, it runs the file's tests.
 *
 * usage: build/tests/unit/FOLDER/test_NAME [TEST]	(a pattern with * and ?)
 */
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

/* Of a section that no file has there is no array. */
#define ARRAY_OF(what) \
	extern const struct what *const __start_##what[] __attribute__((weak)), \
		*const __stop_##what[] __attribute__((weak))
ARRAY_OF(unit_test);
ARRAY_OF(unit_group);

size_t unit_rounds(size_t usual)
{
	const char *times = getenv("ROUNDS");

	return times ? usual * strtoul(times, NULL, 10) : usual;
}

static bool has_limits(void)
{
#ifdef __SANITIZE_ADDRESS__
	return getenv("EVERY");
#else
	return true;
#endif
}

/* Whether it is the file that this program is started for. */
static bool is_chosen(const char *file)
{
	const char *slash = strrchr(file, '/'), *name = program_invocation_short_name;
	size_t len = strlen(name);

	file = slash ? slash + 1 : file;
	return strncmp(file, name, len) == 0 && strcmp(file + len, ".c") == 0;
}

int main(int argc, char **argv)
{
	struct unit_group group = { 0 };
	struct CMUnitTest *tests;
	size_t nr = 0;
	int failed;

	setlocale(LC_ALL, "C.UTF-8");
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	tests = calloc((size_t)(__stop_unit_test - __start_unit_test) + 1, sizeof(*tests));
	if (!tests)
		return 2;
	for (const struct unit_test *const *test = __start_unit_test; test < __stop_unit_test;
	     test++) {
		if (is_chosen((*test)->file) && (has_limits() || !(*test)->is_limit))
			tests[nr++] = (struct CMUnitTest){
				.name = (*test)->name,
				.test_func = (*test)->run,
				.setup_func = (*test)->setup,
				.teardown_func = (*test)->teardown,
			};
	}
	for (const struct unit_group *const *other = __start_unit_group;
	     other < __stop_unit_group; other++) {
		if (is_chosen((*other)->file))
			group = **other;
	}
	if (!nr)
		fprintf(stderr, "%s: no file of this folder has that name\n", argv[0]);
	failed = !nr || _cmocka_run_group_tests(program_invocation_short_name, tests, nr,
						group.setup, group.teardown) > 0;
	free(tests);
	return failed;
}
