// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the values of options, each alone. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/units.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "cmd/options.h"
#include "core/metrics.h"
#include "history/file.h"

#define SECONDS_DEFAULT 5.0

/* Before the history is open only the form of a time can be checked: any origin will do. */
static struct when_origin any_origin(void)
{
	uint64_t now_ns = clock_real_ns();

	return (struct when_origin){ now_ns, now_ns };
}

static int take_time(const char *text, const char **ret_text, struct error *error)
{
	const struct when_origin origin = any_origin();
	uint64_t unused;
	int err = when_parse(text, &origin, &unused, error);

	if (!err)
		*ret_text = text;
	return err;
}

bool options_is_number(const char *text)
{
	char *end;

	return isfinite(strtod(text, &end)) && end != text && !*end;
}

/* A time has "@" only at its begin. */
bool options_is_url(const char *text)
{
	return strstr(text, "://") || (*text && strchr(text + 1, '@'));
}

int options_take_url(const char *text, struct options *options, struct error *error)
{
	/* The URL is not repeated where it may have a password. */
	if (strpbrk(text, "?#@"))
		return error_set(error, -EINVAL, "-r URL: give the server's address only, as "
				 "http://HOST:PORT; user and password go into --http-config FILE");
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return error_set(error, -EINVAL, "\"%s\": the URL must begin with http:// or "
					     "https://", text);
	options->url = text;
	return 0;
}

int take_source(struct options *options, const char *text, struct error *error)
{
	(void)error;
	if (text) /* --read=SOURCE */
		options->read_file = text;
	return 0;
}

int take_at(struct options *options, const char *text, struct error *error)
{
	return take_time(text, &options->at, error);
}

int take_from(struct options *options, const char *text, struct error *error)
{
	return options_is_url(text) ? options_take_url(text, options, error) :
				      take_time(text, &options->from, error);
}

int take_to(struct options *options, const char *text, struct error *error)
{
	return take_time(text, &options->to, error);
}

/* A relative time can be resolved only when the history is open. */
int check_span(struct options *options, const char *text, struct error *error)
{
	const struct when_origin origin = any_origin();
	uint64_t from, to;
	int err = when_parse_range(text, &origin, &from, &to, error);

	(void)options;
	return err == -EINVAL ? err : 0;
}

int take_max_age(struct options *options, const char *text, struct error *error)
{
	return duration_parse(text, &options->max_age_ns, error);
}

int take_max_size(struct options *options, const char *text, struct error *error)
{
	uint64_t bytes;
	int err = size_parse(text, &bytes, error);

	if (!err && bytes && bytes < HISTORY_SIZE_LEAST)
		return error_set(error, -EINVAL,
				 "\"%.40s\": too small for a history: give at least 4M",
				 text);
	if (!err)
		options->max_size = bytes;
	return err;
}

/*
 * "2.4GHz". A number alone is MHz up to 10,000, and kHz above: no TSC has more than 10 GHz. Numbers
 * in MHz alone stay as they are written, too, for ACRN's table.
 */
int take_frequency(struct options *options, const char *text, struct error *error)
{
	static const struct {
		const char *unit;
		double mhz, least;
	} units[] = { { "GHz", 1e3, 0 }, { "MHz", 1, 0 }, { "kHz", 1e-3, 0 },
		      { "", 1, 0 },	 { "", 1e-3, 1e4 } };
	char *end;
	double number = strtod(text, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units) && end > text && number > 0; i++) {
		bool is_alone = !*units[i].unit;

		if (strcasecmp(end, units[i].unit) != 0 || number < units[i].least ||
		    number * units[i].mhz >= (is_alone ? 1e4 : 1e6))
			continue;
		options->mhz = number * units[i].mhz;
		options->mhz_text = is_alone && options->mhz >= number ? text : NULL;
		return 0;
	}
	return error_set(error, -EINVAL,
			 "\"%s\": not a frequency with a unit, as in 2.4GHz, 2400MHz or "
			 "2400000kHz",
			 text);
}

int take_longer(struct options *options, const char *text, struct error *error)
{
	int err = duration_parse(text, &options->longer_ns, error);

	if (!err && !options->longer_ns)
		err = error_set(error, -EINVAL,
				"--longer takes a time above 0, as in 5ms or 200us");
	return err;
}

/* A signed number, or an unsigned one beyond 2^63, as the kernel prints a negative one. */
int take_offset(struct options *options, const char *text, struct error *error)
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
		return error_set(error, -EINVAL,
				 "\"%s\": the offset is neither a number nor \"auto\"",
				 text);
	return 0;
}

/* "1,2,3": at most max numbers of processes or threads. */
static int take_ids(const char *what, const char *text, pid_t *list, size_t max, size_t *ret_nr,
		    struct error *error)
{
	const char *at = text;
	size_t nr = 0;

	do {
		char *end;
		long number;

		errno = 0;
		number = strtol(at, &end, 10);
		if (*at < '0' || *at > '9' || errno || number < 1 || number > INT_MAX ||
		    (*end && *end != ','))
			return error_set(error, -EINVAL,
					 "\"%s\": %s must be a number from 1 to %d, or "
					 "several, as in 123,124", text, what, INT_MAX);
		if (nr == max)
			return error_set(error, -EINVAL, "\"%.40s\": at most %zu can be given",
					 text, max);
		list[nr++] = (pid_t)number;
		at = *end ? end + 1 : NULL;
	} while (at);
	*ret_nr = nr;
	return 0;
}

/* The later one of -g and -p is used. */
int take_guest(struct options *options, const char *text, struct error *error)
{
	(void)error;
	options->guest = text;
	options->pid = 0;
	options->pids = NULL;
	return 0;
}

int take_pids(struct options *options, const char *text, struct error *error)
{
	int err = take_ids("PID", text, options->only, TIDS_MAX, &options->nr_only, error);

	if (err)
		return err;
	options->pids = text;
	options->pid = options->nr_only == 1 ? options->only[0] : 0;
	options->guest = NULL;
	return 0;
}

int take_tid(struct options *options, const char *text, struct error *error)
{
	size_t nr;

	return take_ids("TID", text, &options->tid, 1, &nr, error);
}

int take_tids(struct options *options, const char *text, struct error *error)
{
	return take_ids("TID", text, options->only, TIDS_MAX, &options->nr_only, error);
}

int check_vcpu(struct options *options, const char *text, struct error *error)
{
	options->has_vcpu = true;
	if (options->vcpu <= INT32_MAX)
		return 0;
	return error_set(error, -EINVAL, "\"%s\": no vCPU has such a high number", text);
}

int take_metrics(struct options *options, const char *text, struct error *error)
{
	options->metrics_help = strcmp(text, "help") == 0;
	return options->metrics_help ? 0 :
				       metrics_groups_parse(text, &options->metrics, error);
}

static int add_path(const char **list, size_t *nr, size_t max, const char *text,
		    struct error *error)
{
	if (*nr == max)
		return error_set(error, -EINVAL, "%s: too many files: at most %zu can be given",
				 text, max);
	list[(*nr)++] = text;
	return 0;
}

int take_kallsyms(struct options *options, const char *text, struct error *error)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1])
		return error_set(error, -EINVAL,
				 "\"%s\": --guest-kallsyms takes NAME=FILE, a guest and a copy of "
				 "its /proc/kallsyms", text);
	return add_path(options->kallsyms, &options->nr_kallsyms, KALLSYMS_GUESTS, text, error);
}

int take_keeps(struct options *options, const char *text, struct error *error)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	int err = 0, i;

	while (!err && (word = strsep(&rest, ","))) {
		i = option_word(KEEP_WORDS, word);
		if (i < 0)
			err = error_set(error, -EINVAL, "\"%s\": --keep takes words of "
					KEEP_WORDS ", with commas between them", word);
		else
			options->keeps |= 1U << i;
	}
	free(copy);
	return err;
}

int take_recording(struct options *options, const char *text, struct error *error)
{
	return add_path(options->recordings, &options->nr_recordings, RECORDINGS_MAX, text, error);
}

int take_merged(struct options *options, const char *text, struct error *error)
{
	return add_path(options->merged, &options->nr_merged, TRACES_MAX, text, error);
}

int take_event(struct options *options, const char *text, struct error *error)
{
	size_t *nr = &options->ring.nr_choices;

	if (*nr == CHOICES_MAX)
		return error_set(error, -EINVAL, "-e can be given at most %d times", CHOICES_MAX);
	options->choices[(*nr)++].pattern = text;
	return 0;
}

/* As in trace-cmd, a filter belongs to the event before it. */
int take_filter(struct options *options, const char *text, struct error *error)
{
	size_t nr = options->ring.nr_choices;

	(void)error;
	*(nr ? &options->choices[nr - 1].filter : &options->ring.filter) = text;
	return 0;
}

const char **options_sources(const struct options *options, size_t *ret_nr)
{
	const char **names = xcalloc(options->nr_words + 1, sizeof(*names));
	size_t nr = 0;

	if (options->source == FROM_MACHINE)
		names[nr++] = options->sysroot;
	else if (options->url || options->read_file)
		names[nr++] = options->url ? options->url : options->read_file;
	for (size_t i = 0; options->source == FROM_RECORDING && i < options->nr_words; i++)
		names[nr++] = options->words[i];
	*ret_nr = nr;
	return names;
}

bool options_read_stdin(const struct options *options)
{
	size_t nr;
	const char **names = options_sources(options, &nr);
	bool has_stdin = false;

	for (size_t i = 0; options->source == FROM_RECORDING && i < nr; i++)
		has_stdin |= strcmp(names[i], "-") == 0;
	free(names);
	return has_stdin;
}

int options_take_seconds(struct options *options, struct error *error)
{
	options->duration_s = SECONDS_DEFAULT;
	if (options->nr_words > 1)
		return error_set(error, -EINVAL, "unexpected argument \"%s\"", options->words[1]);
	return options->nr_words ? seconds_parse(options->words[0], DELAY_MIN_S, DELAY_MAX_S,
						 &options->duration_s, error) : 0;
}
