// SPDX-License-Identifier: GPL-2.0-or-later
/* Thresholds and lists of guests' functions, from the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/units.h"
#include "cmd/long_options.h"

int longer_option_take(const char *text, uint64_t *ret_longer_ns, struct why *why)
{
	uint64_t longer_ns;
	int err = duration_parse(text, &longer_ns, why);

	if (!err && !longer_ns)
		err = why_set(why, -EINVAL, "--longer takes a time above 0, as in 5ms or 200us");
	if (!err)
		*ret_longer_ns = longer_ns;
	return err;
}

int kallsyms_option_take(struct kallsyms_options *options, const char *text, struct why *why)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1])
		return why_set(why, -EINVAL,
			       "\"%s\": --guest-kallsyms takes NAME=FILE, a guest and a copy of "
			       "its /proc/kallsyms", text);
	if (options->nr == KALLSYMS_GUESTS)
		return why_set(why, -EINVAL, "--guest-kallsyms takes at most %d guests",
			       KALLSYMS_GUESTS);
	options->texts[options->nr++] = text;
	return 0;
}

int kallsyms_files_read(const struct kallsyms_options *options, struct kallsyms_files *files,
			struct query *query, struct why *why)
{
	int err = 0;

	for (size_t i = 0; i < options->nr && !err; i++) {
		const char *equals = strchr(options->texts[i], '=');
		struct guest_symbols *of = &files->list[i];

		files->names[i] = strndup(options->texts[i], (size_t)(equals - options->texts[i]));
		if (!files->names[i])
			return -ENOMEM;
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
