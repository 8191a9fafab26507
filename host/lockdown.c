// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the level that is in brackets: "none [integrity] confidentiality". */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/read.h"
#include "host/lockdown.h"

struct lockdown lockdown_read(const struct env *env)
{
	struct lockdown lockdown;
	char path[PATH_MAX], text[128] = "";
	const char *start;

	env_path(env, path, sizeof(path), "/sys/kernel/security/lockdown");
	read_small(path, text, sizeof(text));
	start = strchr(text, '[');
	if (!start || strncmp(start, "[none]", 6) == 0)
		start = "[";
	snprintf(lockdown.level, sizeof(lockdown.level), "%.*s",
		 (int)strcspn(start + 1, "]\n"), start + 1);
	return lockdown;
}
