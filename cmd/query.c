// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes queries from options, chooses the guests of a span or a recording, and reads the files that
 * a query needs.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "arch/argument.h"
#include "cmd/run.h"
#include "core/views/view.h"
#include "host/kallsyms.h"

#define THRESHOLDS_MAX (64u << 10)

/* ---- files ---- */

static int read_thresholds(const char *path, const char *root, struct thresholds *ret_thresholds,
			   struct error *error)
{
	struct thresholds thresholds;
	struct error what = { "" };
	char default_path[PATH_MAX], *text = NULL;
	size_t size;
	int err;

	thresholds_init(&thresholds);
	snprintf(default_path, sizeof(default_path), "%s%s", root, THRESHOLDS_FILE);
	err = read_whole(path ? path : default_path, THRESHOLDS_MAX, &text, &size);
	if (err == -ENOENT && !path)
		err = 0;
	else if (err)
		error_set(&what, err, "%s", strerror(-err));
	else
		err = thresholds_parse(&thresholds, text, &what);
	free(text);
	if (err)
		return error_set(error, err, "%s: %s", path ? path : default_path, what.text);
	*ret_thresholds = thresholds;
	return 0;
}

/* NAME=FILE of each --guest-kallsyms. */
static int read_symbols(const struct options *options, struct query_parts *parts,
			struct error *error)
{
	int err = 0;

	for (size_t i = 0; i < options->nr_kallsyms && !err; i++) {
		const char *text = options->kallsyms[i], *equals = strchr(text, '=');

		parts->names[i] = xstrndup(text, (size_t)(equals - text));
		parts->symbols[i].guest = parts->names[i];
		err = kallsyms_read(equals + 1, &parts->symbols[i].symbols, error);
		parts->nr_symbols += !err;
	}
	return err;
}

int query_read_files(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error)
{
	int err = read_thresholds(options->thresholds, options->sysroot, &parts->thresholds, error);

	query->thresholds = &parts->thresholds;
	return err ? err : read_symbols(options, parts, error);
}

void query_parts_release(struct query_parts *parts)
{
	for (size_t i = 0; i < KALLSYMS_GUESTS; i++) {
		kallsyms_free(parts->symbols[i].symbols);
		free(parts->names[i]);
	}
	pattern_free(parts->filter);
	free(parts->only);
	*parts = (struct query_parts){ .only = NULL };
}

/* ---- of kvmtop ---- */

/* CSV and batch always have every field, for programs. */
static void query_for_programs(struct query *query)
{
	query->children |= !query->type->has_calls;
	query->zeros = true;
	query->flat = true;
}

/* Programs get the whole tree; people open the rows that they want to see. */
static void query_for_lines(const struct options *options, struct query *query)
{
	bool is_once = options->mode == MODE_ONCE;
	bool is_batch = is_once && !options->csv && !options->json &&
			(options->by_guest || query->type == &view_events);

	if (!is_once && options->mode != MODE_LOG)
		return;
	if (options->csv || is_batch)
		query_for_programs(query);
	if (is_batch && !options->sort)
		query->sort = 0; /* by name, as kvm_stat */
	query->zeros |= options->json;
	query->children |= options->json && is_once && !query->type->has_calls;
}

int query_name_view(struct options *options, struct error *error)
{
	const struct {
		const char *option;
		bool is_given;
		const struct view_type *type;
	} all[] = {
		{ "-b/--by-guest", options->by_guest, &view_guests },
		{ "--longer", options->longer_ns, &view_long_exits },
		{ "--folded", options->folded, &view_where },
		{ "--svg", options->svg, &view_where },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const char *name = all[i].type->name;

		if (!all[i].is_given)
			continue;
		if (options->view_name && strcmp(options->view_name, name) != 0)
			return error_set(error, -EINVAL,
					 "%s is the view %s: leave out --view %s",
					 all[i].option, name, options->view_name);
		options->view_name = name;
	}
	return 0;
}

/* The screen begins with the guests, unless kvm_stat's letters or a column ask for events. */
static bool begins_with_guests(const struct options *options)
{
	return options->mode == MODE_SCREEN && !options->view_name && !options->fields &&
	       !options->tracepoints && !options->debugfs && !options->include_past &&
	       !options->children && !options->sort;
}

static int find_view(const struct options *options, const struct view_type **ret_type,
		     struct error *error)
{
	const struct view_type *preferred = options->preferences.view;
	const struct view_type *type = view_type_at(0);
	int err = 0;

	if (begins_with_guests(options))
		type = preferred ? preferred : &view_guests;
	if (options->url)
		type = options->host ? &view_guests : &view_hosts;
	/* The view of hosts is no tab. */
	if (options->view_name && !(options->url && strcmp(options->view_name, type->name) == 0))
		err = view_type_find(options->view_name, &type, error);
	if (err)
		return err;
	/* The server adds up the exits of all hosts, and nothing else of them. */
	if (options->url && !options->host && type != &view_hosts &&
	    type != &view_exits)
		return error_set(error, -EINVAL, "the view %s is of one host: add --host NAME; of "
				 "all hosts there are the views hosts and exits", type->name);
	*ret_type = type;
	return 0;
}

/* Options that change nothing in these lines. On the screen the user may go to another view. */
static int check_used(const struct options *options, const struct view_type *type,
		      struct error *error)
{
	bool is_log = options->mode == MODE_LOG, is_of_events = type == &view_events;
	bool has_functions = type == &view_long_exits || type == &view_where;
	bool is_compared = type == &view_exits || type == &view_guests || type == &view_vcpus;
	const struct {
		bool is_given, is_used;
		const char *what;
	} all[] = {
		{ options->sort, !is_log || options->json ||
				 !(is_of_events || (options->by_guest && !options->csv)),
		  "-k/--sort works with lists: this log has a column for each event or guest" },
		{ options->guest_symbols || options->nr_kallsyms, has_functions,
		  "--guest-symbols and --guest-kallsyms work with --view long or where" },
		{ options->thresholds && options->thresholds != options->preferences.thresholds,
		  type == &view_why || options->write_file,
		  "--thresholds works with --view why: other views have no findings" },
	};

	if (options->mode == MODE_DIFF && options->view_name && !is_compared)
		return error_set(error, -EINVAL, "--diff compares exits, with --view guests or "
				 "vcpus by these");
	for (size_t i = 0; i < ARRAY_SIZE(all) && options->mode & (MODE_ONCE | MODE_LOG); i++) {
		if (all[i].is_given && !all[i].is_used)
			return error_set(error, -EINVAL, "%s", all[i].what);
	}
	return 0;
}

int query_of_options(const struct options *options, struct query *query,
		     struct query_parts *parts, struct error *error)
{
	int err = find_view(options, &query->type, error);

	if (!err)
		err = check_used(options, query->type, error);
	if (err)
		return err;
	query->children = options->children;
	query->sort = query_default_sort(query);
	if (options->sort)
		err = view_column_find(query->type, options->sort, false, &query->sort, error);
	if (!err && options->fields && options->mode != MODE_FIELDS)
		err = pattern_new(options->fields, &parts->filter, error);
	if (err)
		return err;
	query->filter = parts->filter;
	query->stack_hz = STACKS_HZ;
	query->has_guest_code = options->guest_symbols || options->nr_kallsyms;
	query->longer_ns = LONG_EXITS_DEFAULT_NS;
	query->has_arguments = true;
	query->is_latest = options->mode != MODE_SCREEN;
	query_for_lines(options, query);
	return 0;
}

void query_without_times(const struct options *options, struct query *query)
{
	if (options->preferences.view || !begins_with_guests(options))
		return;
	query->type = view_type_at(0);
	query->sort = view_default_sort(query->type);
}

/* ---- guests of a span ---- */

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

int query_of_span(const struct options *options, const struct guests *guests, struct query *query,
		  struct query_parts *parts, struct error *error)
{
	struct guest_choice choice;
	const struct guest *guest;
	int err = 0;

	if (!options->guest && !options->pid)
		return 0;
	guest_choice_init(&choice, options->guest, options->pid);
	err = guests_advise(guest_choice_then(&choice, guests, error), error, "use -p PID");
	query->guest = choice.id;
	for (size_t i = 0; !err && options->guest && (guest = guest_at(guests, i)); i++) {
		if (!guest_is_called(guest, options->guest) || guest->id == choice.id)
			continue;
		if (!query->nr_only)
			add_guest(query, guests_find(guests, choice.id), &parts->only);
		add_guest(query, guest, &parts->only);
		query->guest = GUEST_ALL;
	}
	return err;
}

/* ---- of all of a recording: which guests and vCPUs ---- */

static bool is_listed(const struct options *options, pid_t pid)
{
	size_t i = 0;

	while (i < options->nr_only && options->only[i] != pid)
		i++;
	return i < options->nr_only;
}

/* Whether the options choose the vCPU: by -p, else by -g. */
static bool is_chosen(const struct options *options, const struct guest *guest,
		      const struct vcpu *vcpu)
{
	if (!options->pids)
		return guest_is_called(guest, options->guest);
	return is_listed(options, guest->pid) || is_listed(options, vcpu->tid);
}

/*
 * -p: the vCPUs of these processes, and these threads. -g with several guests of the name, of which
 * each was recorded after the one before it ended: the vCPUs of all of them.
 */
static void choose_vcpus(const struct options *options, const struct guests *guests,
			 struct query *query, struct query_parts *parts)
{
	parts->only = xcalloc(guests_count_vcpus(guests) + 1, sizeof(*parts->only));
	for (size_t i = 0; i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);

		for (size_t j = 0; j < guest->nr_vcpus; j++) {
			if (!is_chosen(options, guest, &guest->vcpus[j]))
				continue;
			parts->only[query->nr_only++] =
				(struct vcpu_key){ guest->id, guest->vcpus[j].index };
		}
	}
	query->only = parts->only;
}

/* One guest, or one vCPU, is a level of the screen. */
static void narrow(struct query *query, const struct guests *guests)
{
	const struct guest *guest = guests_by_id(guests, query->only->guest);

	for (size_t i = 1; i < query->nr_only; i++) {
		if (query->only[i].guest != query->only->guest)
			return;
	}
	if (query->nr_only == guest->nr_vcpus) {
		query->guest = guest->id;
	} else if (query->nr_only == 1) {
		query->guest = guest->id;
		query->has_vcpu = true;
		query->vcpu = query->only->vcpu;
	}
}

static int choose_guests(const struct options *options, const struct guests *guests,
			 struct query *query, struct query_parts *parts, bool *ret_is_none,
			 struct error *error)
{
	const struct guest *guest = NULL;
	int err = 0;

	if (options->guest) {
		err = guests_by_name(guests, options->guest, &guest, error);
		if (err && err != -ENOTUNIQ)
			return err;
		if (!err)
			query->guest = guest->id;
	}
	if (options->pids || err) /* several guests of the name, one after the other */
		choose_vcpus(options, guests, query, parts);
	if (options->pids) {
		*ret_is_none = !query->nr_only;
		if (query->nr_only && query->guest == GUEST_ALL)
			narrow(query, guests);
	}
	if (options->has_vcpu) {
		query->has_vcpu = true;
		query->vcpu = (int32_t)options->vcpu;
	}
	return 0;
}

/* ---- and which exits ---- */

/* Makes the filter of -f, or one for --event: one kind of argument, or exits to user space. */
static int choose_filter(const struct options *options, struct query *query,
			 struct query_parts *parts, struct error *error)
{
	bool is_user = options->event == EXITS_USERSPACE;
	char text[64];
	int err;

	if (!options->fields && options->event == EXITS_VMEXIT)
		return 0;
	snprintf(text, sizeof(text), "^%s%s\\(", is_user ? "kvm_" : "",
		 is_user ? "userspace_exit" : exit_kind_name(options->event));
	err = pattern_new(options->fields ? options->fields : text, &parts->filter, error);
	query->filter = parts->filter;
	return err;
}

int query_of_recording(const struct options *options, const struct guests *guests,
		       const struct view_type *type, struct query *query,
		       struct query_parts *parts, bool *ret_is_none, struct error *error)
{
	size_t column = 0;
	bool is_sorted = options->sort && view_column_find(type, options->sort, true, &column,
							   &(struct error){ "" }) == 0;
	int err;

	pattern_free(parts->filter);
	free(parts->only);
	parts->filter = NULL;
	parts->only = NULL;
	*query = (struct query){
		.type = type,
		.thresholds = query->thresholds,
	};
	query->children = type->has_calls ? options->children || options->folded || options->svg :
					    type->has_trees;
	query->sort = is_sorted ? column : query_default_sort(query);
	query->event = options->event;
	query->groups = options->groups;
	query->longer_ns = options->longer_ns ? options->longer_ns : LONG_EXITS_DEFAULT_NS;
	query->has_halts = options->halts;
	query->has_arguments = true;
	err = choose_guests(options, guests, query, parts, ret_is_none, error);
	return err ? err : choose_filter(options, query, parts, error);
}
