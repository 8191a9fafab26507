// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the lists of guests' functions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "cmd/kallsyms.h"

int kallsyms_option_take(struct kallsyms_options *options, const char *text, struct error *why)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1])
		return error_set(why, -EINVAL,
				 "\"%s\": --guest-kallsyms takes NAME=FILE, a guest and a copy of "
				 "its /proc/kallsyms", text);
	if (options->nr == KALLSYMS_GUESTS)
		return error_set(why, -EINVAL, "--guest-kallsyms takes at most %d guests",
				 KALLSYMS_GUESTS);
	options->texts[options->nr++] = text;
	return 0;
}

int kallsyms_files_read(const struct kallsyms_options *options, struct kallsyms_files *files,
			struct query *query, struct error *why)
{
	int err = 0;

	for (size_t i = 0; i < options->nr && !err; i++) {
		const char *equals = strchr(options->texts[i], '=');
		struct guest_symbols *of = &files->list[i];

		files->names[i] = xstrndup(options->texts[i], (size_t)(equals - options->texts[i]));
		of->guest = files->names[files->nr++];
		err = kallsyms_read(equals + 1, &of->symbols, why);
	}
	query->symbols = files->list;
	query->nr_symbols = err ? 0 : files->nr;
	return err;
}

void kallsyms_files_release(struct kallsyms_files *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		free(files->names[i]);
		kallsyms_free(files->list[i].symbols);
	}
	files->nr = 0;
}
