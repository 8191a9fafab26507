// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrows that wait for their ends, and the vCPUs that interrupts are for. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/exits/meaning.h"
#include "trace/timeline/timeline.h"

#define VCPUS_MAX 4096 /* KVM's limit on the largest machines; a damaged file may claim more */

struct timeline_arrow {
	struct timeline_event event;
	struct timeline_args *args;
	char name[];
};

void arrow_begin(struct timeline_arrow **arrow, struct timeline_out *out,
		 const struct timeline_event *event, const struct timeline_args *args)
{
	size_t size = strlen(event->name) + 1;

	if (*arrow) {
		out_instant(out, event, args);
		return;
	}
	*arrow = xcalloc(1, sizeof(**arrow) + size);
	memcpy((*arrow)->name, event->name, size);
	(*arrow)->event = *event;
	(*arrow)->event.name = (*arrow)->name;
	(*arrow)->args = args_copy(args);
}

void arrow_end(struct timeline_arrow **arrow, struct timeline_out *out, uint64_t number)
{
	if (!*arrow)
		return;
	(*arrow)->event.flow = number;
	out_instant(out, &(*arrow)->event, (*arrow)->args);
	arrow_free(*arrow);
	*arrow = NULL;
}

void arrow_free(struct timeline_arrow *arrow)
{
	if (!arrow)
		return;
	free(arrow->args);
	free(arrow);
}

/* A guest's vCPUs by number; NULL: none. */
struct arrow_guest {
	struct timeline_arrow ***woken;
	size_t nr;
};

void arrows_release(struct timeline_arrows *arrows)
{
	for (size_t i = 0; i < arrows->nr; i++)
		free(arrows->guests[i].woken);
	free(arrows->guests);
}

void arrows_enter(struct timeline_arrows *arrows, size_t guest, int32_t vcpu,
		  struct timeline_arrow **woken)
{
	struct arrow_guest *of;

	if (vcpu < 0 || vcpu >= VCPUS_MAX)
		return;
	array_grow(&arrows->guests, &arrows->nr, guest + 1);
	of = &arrows->guests[guest];
	array_grow(&of->woken, &of->nr, (size_t)vcpu + 1);
	of->woken[vcpu] = woken;
}

/* The only guest with vCPUs; NULL: there are several, or none. */
static const struct arrow_guest *only_guest(const struct timeline_arrows *arrows)
{
	const struct arrow_guest *only = NULL;

	for (size_t i = 0; i < arrows->nr; i++) {
		if (arrows->guests[i].nr && only)
			return NULL;
		if (arrows->guests[i].nr)
			only = &arrows->guests[i];
	}
	return only;
}

/* The guest of what sends; a thread that an interrupt of the host interrupts is no sender. */
static const struct arrow_guest *guest_of(const struct timeline_arrows *arrows, size_t sender,
					  const struct trace_event *event)
{
	const struct trace_field *flags = trace_field(event->type, "common_flags");

	if ((flags && trace_field_number(flags, event) & EVENT_IN_INTERRUPT) ||
	    sender >= arrows->nr || !arrows->guests[sender].nr)
		return only_guest(arrows);
	return &arrows->guests[sender];
}

struct timeline_arrow **arrows_of(const struct timeline_arrows *arrows, size_t sender,
				  const struct meaning *meaning, const struct trace_event *event)
{
	const struct arrow_guest *guest;
	uint64_t number;

	if (!meaning->target ||
	    (meaning->level && !trace_field_number(meaning->level, event)))
		return NULL;
	guest = guest_of(arrows, sender, event);
	number = trace_field_number(meaning->target, event);
	return guest && number < guest->nr ? guest->woken[number] : NULL;
}
