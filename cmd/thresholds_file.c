// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the file of thresholds, and prints an example of it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/file.h"
#include "cmd/thresholds_file.h"

#define FILE_MAX (64u << 10)

int thresholds_load(const char *path, const char *root, struct thresholds *ret_thresholds,
		    struct error *why)
{
	struct thresholds thresholds;
	struct error what = { "" };
	char usual[PATH_MAX], *text = NULL;
	size_t size;
	int err;

	thresholds_init(&thresholds);
	snprintf(usual, sizeof(usual), "%s%s", root, THRESHOLDS_FILE);
	err = read_whole(path ? path : usual, FILE_MAX, &text, &size);
	if (err == -ENOENT && !path)
		err = 0;
	else if (err)
		error_set(&what, err, "%s", strerror(-err));
	else
		err = thresholds_parse(&thresholds, text, &what);
	free(text);
	if (err)
		return error_set(why, err, "%s: %s", path ? path : usual, what.text);
	*ret_thresholds = thresholds;
	return 0;
}

bool thresholds_asked(const char *path)
{
	const char *name, *help;
	double usual;

	if (!path || strcmp(path, "help") != 0)
		return false;
	for (size_t i = 0; thresholds_at(i, &name, &usual, &help); i++)
		printf("# %s = %g\t# %s\n", name, usual, help);
	return true;
}
