/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_machine - on a kernel that does not measure the waits of threads they are unknown, not 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/machine.h"
#include "tests/unit/unit.h"

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

TEST(test_schedstat)
{
	char root[] = "/tmp/kvmtop-schedstat.XXXXXX", path[128];
	const struct env env = { .root = root };

	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(path, "/self");
	assert_int_equal(mkdir(path, 0755), 0);
	assert_false(schedstat_is_on(&env));
	strcat(path, "/schedstat");
	write_text(path, "0 0 0\n");
	assert_false(schedstat_is_on(&env));
	write_text(path, "1203450 0 10\n"); /* it never waited */
	assert_true(schedstat_is_on(&env));
	write_text(path, "");
	assert_false(schedstat_is_on(&env));
	assert_int_equal(unlink(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(root), 0);
}
