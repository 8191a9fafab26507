// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report`: makes facts and a query from a recording and the options. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/xalloc.h"
#include "arch/argument.h"
#include "cmd/report.h"
#include "cmd/thresholds_file.h"

/* ---- which guests and vCPUs */

static bool is_listed(const char *list, pid_t pid)
{
	while (pid > 0 && *list) {
		char *end;

		if (strtol(list, &end, 10) == pid)
			return true;
		list = end + (*end == ',');
	}
	return false;
}

/* Whether the options choose the vCPU: by -p, else by -g. */
static bool is_chosen(const struct options *options, const struct guest *guest,
		      const struct vcpu *vcpu)
{
	if (!options->pids)
		return guest_bears(guest, options->guest);
	return is_listed(options->pids, guest->pid) || is_listed(options->pids, vcpu->tid);
}

/*
 * -p: the vCPUs of these processes, and these threads. -g with several guests of the name, of which
 * each was recorded after the one before it ended: the vCPUs of all of them.
 */
static void choose_vcpus(struct report_facts *facts, const struct options *options)
{
	const struct guests *guests = facts->reading->recorded.guests;
	struct query *query = &facts->query;

	facts->only = xcalloc(guests_count_vcpus(guests) + 1, sizeof(*facts->only));
	for (size_t i = 0; i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);

		for (size_t j = 0; j < guest->nr_vcpus; j++) {
			if (!is_chosen(options, guest, &guest->vcpus[j]))
				continue;
			facts->only[query->nr_only++] =
				(struct vcpu_key){ guest->id, guest->vcpus[j].index };
		}
	}
	query->only = facts->only;
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

static int choose_guests(struct report_facts *facts, const struct options *options,
			 struct error *why)
{
	struct query *query = &facts->query;
	const struct guest *guest = NULL;
	int err = 0;

	if (options->guest) {
		err = guests_by_name(facts->reading->recorded.guests, options->guest, &guest, why);
		if (err && err != -ENOTUNIQ)
			return err;
		if (!err)
			query->guest = guest->id;
	}
	if (options->pids || err) /* several guests of the name, one after the other */
		choose_vcpus(facts, options);
	if (options->pids) {
		facts->is_none = !query->nr_only;
		if (!facts->is_none && query->guest == GUEST_ANY)
			narrow(query, facts->reading->recorded.guests);
	}
	if (options->has_vcpu) {
		query->has_vcpu = true;
		query->vcpu = (int32_t)options->vcpu;
	}
	return 0;
}

/* ---- which exits */

/*
 * Makes a filter for --event in a view that shows everything: one kind of argument only, or only
 * exits to user space.
 */
static int choose_filter(struct report_facts *facts, const struct options *options,
			 struct error *why)
{
	bool is_user = options->event == EXITS_USERSPACE;
	char text[64];
	int err;

	if (options->event == EXITS_VMEXIT || facts->query.type->takes_groups)
		return 0;
	snprintf(text, sizeof(text), "^%s%s\\(", is_user ? "kvm_" : "",
		 is_user ? "userspace_exit" : exit_kind_name(options->event));
	err = pattern_new(text, &facts->filter, why);
	facts->query.filter = facts->filter;
	return err;
}

static int choose(struct report_facts *facts, const struct options *options,
		  const struct view_type *type, struct error *why)
{
	struct query *query = &facts->query;
	int column = options->sort ? view_column_by_id(type, options->sort) : -ENOENT;
	int err;

	query->type = type;
	query->sort = column < 0 ? view_usual_sort(type) : (size_t)column;
	query->children = type->has_trees;
	query->event = options->event;
	query->groups = options->groups;
	query->longer_ns = options->longer_ns ? options->longer_ns : LONG_EXITS_DEFAULT_NS;
	query->has_halts = options->halts;
	query->has_arguments = true;
	query->thresholds = &facts->thresholds;
	err = thresholds_load(options->thresholds, "", &facts->thresholds, why);
	if (err)
		return err;
	err = choose_guests(facts, options, why);
	return err ? err : choose_filter(facts, options, why);
}

/* ---- facts */

int report_facts_init(struct report_facts *facts, const struct source *source,
		      const struct options *options, const struct view_type *type,
		      struct error *why)
{
	int err;

	*facts = (struct report_facts){
		.reading = source_reading(source), .monitor = source->monitor,
	};
	err = choose(facts, options, type, why);
	if (err || !facts->monitor)
		return err;
	err = kallsyms_files_read(&options->kallsyms, &facts->kallsyms, &facts->query, why);
	return err ? err : monitor_want(facts->monitor, &facts->query, why);
}

void report_facts_release(struct report_facts *facts)
{
	kallsyms_files_release(&facts->kallsyms);
	pattern_free(facts->filter);
	field_set_release(&facts->query.open);
	free(facts->only);
}
