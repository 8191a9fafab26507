// SPDX-License-Identifier: GPL-2.0-or-later
/* Options become a query, and facts become lines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "lib/xalloc.h"
#include "cmd/top_lines.h"
#include "core/views/build.h"

/* ---- the query ---- */

/* Events, and guests with -b, have the formats of kvm_stat. */
static enum lines_format format_of(const struct options *options, const struct view_type *type)
{
	bool is_log = options->mode == MODE_LOG;
	bool has_events = view_is(type, VIEW_EVENTS);

	if (options->json)
		return LINES_JSON;
	if (options->csv)
		return has_events ? LINES_CSV : LINES_LOG_ROWS;
	if (has_events || options->by_guest)
		return is_log ? LINES_TEXT : LINES_BATCH;
	return is_log ? LINES_LOG_TABLE : LINES_TABLE;
}

/* CSV and batch always have every field, for programs. */
static void query_for_programs(struct query *query)
{
	query->children = true;
	query->zeros = true;
	query->flat = true;
}

/* Programs get the whole tree; people open the rows that they want to see. */
static void query_for_lines(const struct options *options, struct query *query)
{
	enum lines_format format = format_of(options, query->type);
	unsigned int mode = options->mode;

	if (mode != MODE_ONCE && mode != MODE_LOG)
		return;
	if (options->csv || format == LINES_BATCH)
		query_for_programs(query);
	if (format == LINES_BATCH && !options->sort)
		query->sort = 0; /* by name, as kvm_stat */
	if (format == LINES_JSON)
		query->zeros = true;
	if (format == LINES_JSON && mode == MODE_ONCE)
		query->children = true;
}

/* The screen begins with the guests, unless kvm_stat's letters or a column ask for events. */
static bool begins_with_guests(const struct options *options)
{
	return options->mode == MODE_SCREEN && !options->view_name && !options->fields &&
	       !options->tracepoints && !options->debugfs && !options->include_past &&
	       !options->children && !options->sort;
}

static int find_view(const struct options *options, const struct view_type **ret_type,
		     struct error *why)
{
	const struct view_type *guests = view_type_of(VIEW_GUESTS);
	const struct view_type *preferred = options->preferences.view;
	const struct view_type *type = options->by_guest || begins_with_guests(options) ?
					       guests : view_type_at(0);
	int err = 0;

	if (preferred && !options->by_guest && begins_with_guests(options))
		type = preferred;
	if (options->url && !options->by_guest)
		type = view_type_of(options->host ? VIEW_GUESTS : VIEW_HOSTS);
	/* The view of hosts is no tab. */
	if (options->view_name && !(options->url && strcmp(options->view_name, type->name) == 0))
		err = view_type_find(options->view_name, &type, why);
	if (err)
		return err;
	if (options->by_guest && type != guests)
		return error_set(why, -EINVAL, "-b/--by-guest and --view %s exclude each other",
				 options->view_name);
	/* Of all hosts, the server adds up exits; it has no other sums. */
	if (options->url && !options->host && !view_is(type, VIEW_HOSTS) &&
	    !view_is(type, VIEW_EXITS))
		return error_set(why, -EINVAL,
				 "the view %s is of one host: add --host NAME; of all "
					     "hosts there are the views hosts and exits",
				 type->name);
	*ret_type = type;
	return 0;
}

int top_query_init(const struct options *options, struct query *ret_query, struct error *why)
{
	struct query query = { .children = options->children };
	struct pattern *filter = NULL;
	int err = find_view(options, &query.type, why);

	if (err)
		return err;
	query.sort = view_usual_sort(query.type);
	if (options->sort)
		err = view_column_find(query.type, options->sort, false, &query.sort, why);
	if (!err && options->fields && options->mode != MODE_FIELDS)
		err = pattern_new(options->fields, &filter, why);
	if (err)
		return err;
	query.filter = filter;
	query.longer_ns = LONG_EXITS_DEFAULT_NS;
	query.has_arguments = true;
	query.is_latest = options->mode != MODE_SCREEN;
	query_for_lines(options, &query);
	*ret_query = query;
	return 0;
}

void top_query_without_times(const struct options *options, struct query *query)
{
	if (options->by_guest || options->preferences.view || !begins_with_guests(options))
		return;
	query->type = view_type_at(0);
	query->sort = view_usual_sort(query->type);
}

/* The i-th guest of an inventory, in which ended guests follow the others. */
static const struct guest *guest_at(const struct guests *guests, size_t i)
{
	size_t nr = guests_count(guests);

	return i < nr ? guests_at(guests, i) : guests_ended_at(guests, i - nr);
}

/* Adds the guest and its vCPUs to what the query asks for. */
static void add_guest(struct query *query, const struct guest *guest, struct vcpu_key **only)
{
	size_t nr = query->nr_only;
	struct vcpu_key *list = xreallocarray(*only, nr + guest->nr_vcpus + 1, sizeof(*list));

	list[nr++] = (struct vcpu_key){ guest->id, -1 };
	for (size_t i = 0; i < guest->nr_vcpus; i++)
		list[nr++] = (struct vcpu_key){ guest->id, guest->vcpus[i].index };
	query->only = *only = list;
	query->nr_only = nr;
}

int top_query_span_guests(const struct options *options, const struct guests *guests,
			  struct query *query, struct vcpu_key **ret_only, struct error *why)
{
	struct guest_choice choice;
	const struct guest *guest;
	int err = 0;

	if (!options->guest && !options->pid)
		return 0;
	guest_choice_init(&choice, options->guest, options->pid);
	err = guests_advise(guest_choice_then(&choice, guests, why), why, "use -p PID");
	query->guest = choice.id;
	for (size_t i = 0; !err && options->guest && (guest = guest_at(guests, i)); i++) {
		if (!guest_bears(guest, options->guest) || guest->id == choice.id)
			continue;
		if (!query->nr_only)
			add_guest(query, guests_find(guests, choice.id), ret_only);
		if (!err)
			add_guest(query, guest, ret_only);
		query->guest = GUEST_ANY;
	}
	return err;
}

/* ---- lines ---- */

int top_lines_open(struct top_lines *lines, const struct facts *facts, struct error *why)
{
	const struct options *options = lines->options;
	struct lines_config config = {
		.format = format_of(options, lines->query->type),
		.path = options->mode == MODE_LOG ? options->output : NULL,
		.skip_zero = options->skip_zero,
		.fields = facts->fields,
		.columns = facts->wanted,
		.type = lines->query->type,
	};

	return lines_open(&config, &lines->lines, why);
}

/* Prints the note once, to standard error: programs may read the rows. */
static void print_note(struct top_lines *lines, const struct facts *facts)
{
	const char *lacks = query_lacks(lines->query, facts);
	const char *note = lacks ? lacks : lines->view.note;
	bool is_once = lines->options->mode == MODE_ONCE;

	if (!note && is_once && lines->query->type->has_findings && !lines->view.nr_rows)
		note = "Nothing found in this interval. kvmtop-why(8) has the causes that are "
		       "looked for.";
	if (note != lines->noted)
		say(note);
	lines->noted = note;
}

/* Warns once: a misspelt filter would look like a quiet host. */
static void warn_no_match(struct top_lines *lines)
{
	const struct view_type *type = lines->query->type;

	if (!lines->has_warned)
		fprintf(stderr,
			"kvmtop: no %s matches \"%s\"; kvmtop%s%s -f help lists the names\n",
			type->noun, pattern_text(lines->query->filter),
			type == view_type_at(0) ? "" : " --view ",
			type == view_type_at(0) ? "" : type->name);
	lines->has_warned = true;
}

int top_lines_print(struct top_lines *lines, const struct facts *facts, uint64_t time_ns,
		    struct error *why)
{
	view_build(&lines->view, lines->query, facts);
	if (lines->options->mode == MODE_LOG)
		view_drop_repeated(&lines->view);
	if (lines->query->filter && !query_lacks(lines->query, facts) &&
	    !query_selects_any(lines->query, facts->fields))
		warn_no_match(lines);
	else
		print_note(lines, facts);
	return lines_write(lines->lines, &lines->view, time_ns, lines->view.elapsed_ns, why);
}

int top_lines_close(struct top_lines *lines, struct error *why)
{
	int err = lines_close(lines->lines, why);

	lines->lines = NULL;
	view_release(&lines->view);
	return err;
}
