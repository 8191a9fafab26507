/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit - the tests of one file, which are in the program of their folder.
 *
 * A test is TEST(name) { ... }, or TEST(name, setup) or TEST(name, setup, teardown), which run
 * before and after it. LIMIT(name) is a test that takes much of one thing to reach a limit: under
 * sanitizers, which make it take seconds and see nothing new, only a release runs it; its file runs
 * plain, too. GROUP(setup, teardown) is the same for all tests of a file together. The
 * files of a folder are linked into one program (tests/unit/main.c), which has a name for each of
 * them: build/tests/unit/lib/test_when runs the tests of test_when.c, in a process of its own.
 * Globals of all of them are in that program: what a file defines in place of a library's function
 * must do what the library does while other files are tested.
 */
#ifndef KVMTOP_TESTS_UNIT_UNIT_H
#define KVMTOP_TESTS_UNIT_UNIT_H

/* What cmocka.h needs and does not include. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * How many rounds a test takes that differ in random numbers alone: so many, times ROUNDS of the
 * environment. `make release` has more of them than `make check`.
 */
size_t unit_rounds(size_t usual);

struct unit_test {
	const char *file, *name;
	bool is_limit;
	void (*run)(void **state);
	int (*setup)(void **state), (*teardown)(void **state);
};

struct unit_group {
	const char *file;
	int (*setup)(void **state), (*teardown)(void **state);
};

/* The linker makes an array of all pointers in a section. */
#define UNIT_LISTED(what, name)                                                         \
	static const struct what *const what##_##name __attribute__((section(#what), used)) = \
		&what##_of_##name

/* The test is of the file that is compiled, also where the macro stands in a header. */
#define UNIT_TEST(function, limit, ...)                                                 \
	static void function(void **state);                                             \
	static const struct unit_test unit_test_of_##function = {                       \
		.file = __BASE_FILE__, .name = #function, .is_limit = limit,            \
		.run = function, ##__VA_ARGS__                                          \
	};                                                                              \
	UNIT_LISTED(unit_test, function);                                               \
	static void function(__attribute__((unused)) void **state)
#define TEST(function, ...)  UNIT_TEST(function, false, ##__VA_ARGS__)
#define LIMIT(function, ...) UNIT_TEST(function, true, ##__VA_ARGS__)

#define GROUP(...)                                                                      \
	static const struct unit_group unit_group_of_file = {                           \
		.file = __BASE_FILE__, ##__VA_ARGS__                                    \
	};                                                                              \
	UNIT_LISTED(unit_group, file)

#endif
