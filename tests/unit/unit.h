/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit - the tests of one file, which are in the program of their folder.
 *
 * test_NAME.c ends with UNIT(test_NAME) { ... return cmocka_run_group_tests(...); }. The files of a
 * folder are linked into one program (tests/unit/main.c), which has a name for each of them:
 * build/tests/unit/lib/test_when runs the cases of test_when.c, in a process of its own. Globals of
 * all of them are in that program: what a file defines in place of a library's function must do
 * what the library does while other files are tested.
 */
#ifndef KVMTOP_TESTS_UNIT_UNIT_H
#define KVMTOP_TESTS_UNIT_UNIT_H

#include <stddef.h>

/*
 * How many rounds a test takes that differ in random numbers alone: so many, times ROUNDS of the
 * environment. `make release` has more of them than `make check`.
 */
size_t unit_rounds(size_t usual);

struct unit {
	const char *name;
	int (*run)(void); /* the number of failed cases */
};

/* The linker makes an array of all pointers in that section. */
#define UNIT(name)                                                                   \
	static int unit_##name(void);                                                \
	static const struct unit unit_of_##name = { #name, unit_##name };            \
	static const struct unit *const pointer_to_##name                            \
		__attribute__((section("units"), used)) = &unit_of_##name;           \
	static int unit_##name(void)

#endif
