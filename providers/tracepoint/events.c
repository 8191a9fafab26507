// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The events of the kernel's KVM systems and their reasons, as fields and as what an engine counts.
 *
 * Sources: tracefs events/SYSTEM/EVENT/{id,format}; which field says the reason: arch/.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/text.h"
#include "arch/event_format.h"
#include "lib/xalloc.h"
#include "providers/providers.h"
#include "providers/tracepoint/engine.h"

/* Takes over the strings of the counter. */
static void counter_add(struct tracepoint_events *events, struct counter counter, uint32_t field)
{
	counter.name = fields_get(events->args.fields, field)->name;
	counter.field = field;
	*array_add(events->counters, events->nr, events->room) = counter;
}

static bool is_event(const struct split *split, const char *system, const char *event)
{
	return strcmp(system, split->system) == 0 && strcmp(event, split->event) == 0;
}

/* The event's exit_rank, see struct field. The first split of an arch is its VM exit. */
static uint8_t exit_rank(const struct arch *arch, const char *system, const char *event)
{
	static const struct split usual = { .system = "kvm", .event = "kvm_exit" };
	const struct split *exit = arch->splits->event ? arch->splits : &usual;

	if (is_event(&arch_userspace_split, system, event))
		return 2;
	return is_event(exit, system, event) ? 1 : 0;
}

/*
 * Under its name, or, if another system has that event too, as SYSTEM:EVENT. kvmmmu traces the
 * shadow page tables, some of its events for every page touched: only a filter that names these
 * events is worth their cost.
 */
static void event_add(struct tracepoint_events *events, const char *system, const char *event,
		      uint64_t id)
{
	char name[256];
	struct field spec = {
		.name = event,
		.parent = FIELD_NONE,
		.source = events->args.source,
		.is_extra = strcmp(system, "kvmmmu") == 0,
		.exit_rank = exit_rank(events->args.env->arch, system, event),
	};
	uint32_t field;

	if (fields_find(events->args.fields, event) != FIELD_NONE) {
		name_put(name, sizeof(name), "%s:%s", system, event);
		spec.name = name;
	}
	field = fields_add(events->args.fields, &spec);
	counter_add(events,
		    (struct counter){ .tracepoint_id = id, .system = xstrdup(system),
				      .event = xstrdup(event) }, field);
}

/* Reasons are not counted if the event of this kernel has no such field. */
static bool format_has_field(const char *text, const char *field)
{
	struct format format;
	bool has = format_read(text, strlen(text), &format) == 0 && format_field(&format, field);

	format_release(&format);
	return has;
}

static void reason_add(struct tracepoint_events *events, const struct split *split,
		       const struct reason *reason, uint64_t id, uint32_t parent)
{
	const char *event = fields_get(events->args.fields, parent)->name;
	char name[256], alias[256], filter[256];
	struct field spec = {
		.name = name,
		.alias = reason->alias ? alias : NULL,
		.parent = parent,
		.source = events->args.source,
		.is_idle = reason->flags & REASON_IDLE,
	};
	struct counter counter = { .tracepoint_id = id, .split = split };
	uint32_t field;

	name_put(name, sizeof(name), "%s(%s)", event, reason->name);
	name_put(alias, sizeof(alias), "%s(%s)", event, reason->alias ? reason->alias : "");
	split_filter(split, reason, filter, sizeof(filter));
	field = fields_add(events->args.fields, &spec);
	counter.system = xstrdup(split->system);
	counter.event = xstrdup(split->event);
	counter.filter = xstrdup(filter);
	counter.nr_codes = split_codes(reason, counter.codes);
	counter_add(events, counter, field);
}

/* The field of a split's event, under the name that event_add() gave it. */
static uint32_t split_field(const struct tracepoint_events *events, const struct split *split)
{
	char name[256];
	uint32_t field;

	name_put(name, sizeof(name), "%s:%s", split->system, split->event);
	field = fields_find(events->args.fields, name);
	return field != FIELD_NONE ? field : fields_find(events->args.fields, split->event);
}

static void split_add(struct tracepoint_events *events, const struct split *split)
{
	char *format = trace_event_format(events->args.env, split->system, split->event);
	uint32_t parent = split_field(events, split);
	struct reasons reasons = { 0 };
	uint64_t id;

	if (!format || parent == FIELD_NONE ||
	    trace_event_id(events->args.env, split->system, split->event, &id) < 0 ||
	    !format_has_field(format, split->field))
		goto out;
	reasons_of(split, format, &reasons);
	for (size_t i = 0; i < reasons.nr; i++)
		reason_add(events, split, &reasons.list[i], id, parent);
	reasons_release(&reasons);
out:
	free(format);
}

static size_t list_sort(char **list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	if (n)
		qsort(list, n, sizeof(*list), text_compare);
	return n;
}

/* An event without a readable id cannot be counted and is left out. */
static void system_add(struct tracepoint_events *events, const char *system)
{
	char **names = tracefs_system_events(events->args.env->tracefs, system);
	size_t n = list_sort(names);

	for (size_t i = 0; i < n; i++) {
		uint64_t id = 0;
		int id_err = trace_event_id(events->args.env, system, names[i], &id);

		if (id_err)
			events->unread_err = id_err;
		else
			event_add(events, system, names[i], id);
	}
	tracefs_list_free(names);
}

static void systems_add(struct tracepoint_events *events)
{
	char **systems = tracefs_event_systems(events->args.env->tracefs);
	const struct split *split = events->args.env->arch->splits;
	size_t n = list_sort(systems);

	for (size_t i = 0; i < n; i++) {
		if (strncmp(systems[i], "kvm", 3) == 0)
			system_add(events, systems[i]);
	}
	tracefs_list_free(systems);
	for (; split && split->event; split++)
		split_add(events, split);
	split_add(events, &arch_userspace_split);
}

/*
 * The kernel gives events new ids when the kvm module is unloaded and loaded again. It cannot be
 * unloaded while an event is open. So the ids are all the same as before, or all new.
 */
void tracepoint_events_number(struct tracepoint_events *events)
{
	struct counter *counter = events->counters;
	uint64_t id;

	if (trace_event_id(events->args.env, counter->system, counter->event, &id) < 0 ||
	    id == counter->tracepoint_id)
		return;
	for (; counter < events->counters + events->nr; counter++)
		trace_event_id(events->args.env, counter->system, counter->event,
			       &counter->tracepoint_id);
}

int tracepoint_events_find(struct tracepoint_events *events, const struct provider_args *args,
			   struct error *error)
{
	*events = (struct tracepoint_events){ .args = *args };
	systems_add(events);
	return events->nr ? 0 : trace_why_none(args->env, events->unread_err, error);
}

void tracepoint_events_release(struct tracepoint_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		free(events->counters[i].system);
		free(events->counters[i].event);
		free(events->counters[i].filter);
	}
	free(events->counters);
	events->counters = NULL;
	events->nr = events->room = 0;
}
