// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares two spans of a history, as two recordings are compared, and prints that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/say.h"
#include "cmd/top_diff.h"
#include "cmd/top_lines.h"
#include "history/interval.h"
#include "ui/lines/lines.h"

static int read_span(struct history_span *span, const char *range,
		     const struct options *options, struct store store,
		     struct fields *fields, const struct when_origin *origin,
		     struct vcpu_key **ret_only, struct error *why)
{
	uint64_t from_ns, to_ns;
	int err = when_parse_range(range, origin, &from_ns, &to_ns, why);

	if (!err)
		err = span_read(span, store, fields, from_ns, to_ns, why);
	return err ? err : top_query_span_guests(options, interval_guests(span->interval),
						 &span->query, ret_only, why);
}

static struct lines_span about_of(const struct interval *interval)
{
	return (struct lines_span){
		.from_ns = interval_first(interval)->time_ns - interval_first(interval)->elapsed_ns,
		.to_ns = interval_last(interval)->time_ns,
		.elapsed_ns = interval_elapsed_ns(interval),
	};
}

/* ---- writing ---- */

static void print_spans(const struct lines_span spans[2])
{
	char from[WHEN_SIZE], to[WHEN_SIZE];

	for (int i = 0; i < 2; i++) {
		const struct lines_span *about = &spans[i];

		when_format(from, sizeof(from), about->from_ns, 0);
		when_format(to, sizeof(to), about->to_ns, about->from_ns);
		printf("%d: %s to %s, %.1f s\n", i + 1, from, to, (double)about->elapsed_ns / 1e9);
	}
	putchar('\n');
}

static int write_view(const struct options *options, const struct lines_span spans[2],
		      const struct view *view, struct error *why)
{
	const struct lines_config config = {
		.format = options->json ? LINES_JSON : options->csv ? LINES_ROWS : LINES_TABLE,
		.span = &spans[1],
		.other_span = &spans[0],
	};

	say(view->note);
	if (config.format == LINES_TABLE)
		print_spans(spans);
	return lines_write_once(&config, view, 0, spans[1].elapsed_ns, why);
}

int top_diff(const struct options *options, const struct query *query, struct store store,
	     struct fields *fields, const struct when_origin *origin, struct error *why)
{
	struct history_span spans[2] = { { .query = *query }, { .query = *query } };
	struct vcpu_key *only[2] = { NULL, NULL };
	struct lines_span about[2];
	struct view both = { .nr_rows = 0 };
	int err = 0;

	for (int i = 0; i < 2; i++)
		spans[i].query.groups = span_groups(query->type);
	for (int i = 0; i < 2 && !err; i++) {
		err = read_span(&spans[i], options->diff[i], options, store, fields, origin,
				&only[i], why);
		if (!err)
			about[i] = about_of(spans[i].interval);
	}
	if (!err)
		err = spans_diff(spans, &both, why);
	if (!err && query->filter && !both.nr_rows)
		fprintf(stderr, "kvmtop: no exit in these spans matches \"%s\"\n",
			pattern_text(query->filter));
	if (!err)
		err = write_view(options, about, &both, why);
	view_release(&both);
	span_release(&spans[0]);
	span_release(&spans[1]);
	free(only[0]);
	free(only[1]);
	return err;
}
