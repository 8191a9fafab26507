// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks for a number that is not 0. */
#include <limits.h>
#include <string.h>

#include "lib/read.h"
#include "host/schedstat.h"

bool schedstat_is_on(const struct env *env)
{
	char path[PATH_MAX], text[96];
	long n = read_small(env_path(env, path, sizeof(path), "/proc/self/schedstat"), text,
			  sizeof(text));

	return n > 0 && strpbrk(text, "123456789");
}
