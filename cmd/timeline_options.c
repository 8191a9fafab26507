// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of options, and which options exclude each other. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "cmd/option.h"
#include "cmd/timeline_options.h"

#define KHZ_MAX 1e9

#define OPTIONS struct timeline_options

static const struct option_spec specs[] = {
	OPT_HEADING("Options"),
	OPT_FILE('o', "output", "FILE", output, "the picture (default: standard output)"),
	OPT_OTHER('k', "kvm", "FILE", recordings,
		  "a recording: trace.dat, perf.data, ACRN, kvmtrace; may be repeated",
		  .offer = OFFER_FILES),
	OPT_FILE('p', "perf-stat", "FILE", perf, "counters: what perf stat -I -x or -j printed"),
	OPT_OTHER('O', "offset", "N", offset_text,
		  "how far the guest's clock is ahead of the host's; auto: from -k (default)",
		  .words = "auto"),
	OPT_OTHER('f', "freq", "KHZ", freq_text, "the TSC's frequency, for times in TSC cycles"),
	OPT_FLAG('F', "filter", filter, "no function calls outside the time of -k"),
	OPT_OTHER('m', "merge", "TRACE", merged,
		  "function calls on the host, in its time; or GUEST=TRACE, as below",
		  .offer = OFFER_FILES),
	OPT_FILE('b', "binary", "FILE", binary,
		   "the guest's program: write its symbols into GUESTTRACE"),
	OPT_STRING('B', "binaryname", "NAME", binary_name,
		   "that program's name in GUESTTRACE (default: test)"),
	OPT_STRING(0, "buffer", "NAME", buffer,
		   "only this buffer of a trace.dat with several; top: the main one"),
	OPT_STRING(0, "input-format", "KIND", input_format,
		   "the format of -k, if it is not recognized",
		   .words = "trace.dat perf.data acrn kvmtrace"),
	OPT_HELP,
};

/* A signed number, or an unsigned one beyond 2^63, as the kernel prints a negative one. */
static int take_offset(struct timeline_options *options, const char *text, struct why *why)
{
	char *end;

	options->has_offset = strcmp(text, "auto") != 0;
	if (!options->has_offset)
		return 0;
	errno = 0;
	if (*text == '-')
		options->offset = strtoll(text, &end, 10);
	else
		options->offset = (int64_t)strtoull(text, &end, 10);
	if (end == text || *end || errno)
		return why_set(why, -EINVAL, "\"%s\": the offset is neither a number nor \"auto\"",
			       text);
	return 0;
}

static int take_freq(struct timeline_options *options, const char *text, struct why *why)
{
	char *end;
	double khz = strtod(text, &end);

	if (end == text || *end || !(khz >= 1 && khz <= KHZ_MAX))
		return why_set(why, -EINVAL, "\"%s\": the frequency must be a number of kHz, at "
			       "least 1", text);
	options->hz = (uint64_t)llround(khz * 1000);
	return 0;
}

static int add_path(const char **list, size_t *nr, size_t max, const char *text, struct why *why)
{
	if (*nr == max)
		return why_set(why, -EINVAL, "%s: too many files: at most %zu can be given", text,
			       max);
	list[(*nr)++] = text;
	return 0;
}

static int take(void *ret_options, const struct option_spec *spec, const char *text,
		struct why *why)
{
	struct timeline_options *options = ret_options;

	switch (spec->offset) {
	case OPT_AT(offset_text):
		return take_offset(options, text, why);
	case OPT_AT(freq_text):
		return take_freq(options, text, why);
	case OPT_AT(recordings):
		return add_path(options->recordings, &options->nr_recordings, RECORDINGS_MAX,
				text, why);
	case OPT_AT(merged):
		return add_path(options->merged, &options->nr_merged, MERGED_MAX, text, why);
	default:
		return 0;
	}
}

const struct option_table timeline_option_table = {
	.specs = specs,
	.nr = ARRAY_SIZE(specs),
	.usage = "Usage: kvmtop timeline [OPTION]... [GUESTTRACE]...\n"
		 "Makes one picture (Chrome's trace format, for ui.perfetto.dev) of KVM's events,\n"
		 "perf's counters, and the function calls that uftrace saw in guests: GUESTTRACE\n"
		 "is its folder, or what uftrace dump --chrome wrote. GUEST=GUESTTRACE says of\n"
		 "which guest.\n",
	.footer = "More: man kvmtop-timeline\n",
	.offer = OFFER_FILES,
	.take = take,
};

struct trace_choice trace_choice(const char *text)
{
	const char *end = strchr(text, '=');

	if (!end || end == text || access(text, F_OK) == 0)
		return (struct trace_choice){ .path = text };
	return (struct trace_choice){ end + 1, text, (size_t)(end - text) };
}

static int check(const struct timeline_options *options, struct why *why)
{
	if (!options->nr_recordings && !options->perf && !options->nr_merged &&
	    !options->nr_guests)
		return why_set(why, -EINVAL,
			       "nothing to draw: give -k FILE, -p FILE or a GUESTTRACE");
	if (options->filter && !options->nr_recordings)
		return why_set(why, -EINVAL,
			       "-F needs -k FILE: it leaves out calls outside that time");
	if (options->binary && !options->nr_guests)
		return why_set(why, -EINVAL, "-b needs a GUESTTRACE to write symbols into");
	return 0;
}

int timeline_options_parse(int argc, char **argv, struct timeline_options *ret_options,
			   struct why *why)
{
	int first;

	*ret_options = (struct timeline_options){ .binary_name = "test" };
	first = option_table_parse(&timeline_option_table, argc, argv, ret_options, why);
	if (first < 0)
		return first;
	ret_options->guests = (const char *const *)argv + first;
	ret_options->nr_guests = (size_t)(argc - first);
	if (ret_options->help)
		return 0;
	if (ret_options->input_format &&
	    trace_kind_by_name(ret_options->input_format, &ret_options->kind, why) < 0)
		return -EINVAL;
	return check(ret_options, why);
}
