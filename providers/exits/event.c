// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the events that the running kernel has. */
#include <tracefs.h>

#include "arch/arch.h"
#include "arch/argument.h"
#include "providers/bpf/placeholders.h"
#include "providers/exits/event.h"

static bool is_there(const char *system, const char *event)
{
	return tracefs_event_file_exists(NULL, system, event, "id");
}

static bool find_userspace(struct exits_event *ret_event)
{
	const struct split *split = &arch_userspace_split;

	*ret_event = (struct exits_event){
		.system = split->system,
		.event = split->event,
		.fields = { { FIELD_REASON, split->field, 0, 0 }, { FIELD_TYPE, "errno", 0, 0 } },
	};
	return is_there(split->system, split->event);
}

/* The first of an argument's events that is there. */
static bool find_argument(const struct argument *argument, struct exits_event *ret_event)
{
	for (size_t i = 0; i < ARGUMENT_EVENTS && argument->events[i].event; i++) {
		const struct argument_event *event = &argument->events[i];

		*ret_event = (struct exits_event){
			.system = event->system,
			.event = event->event,
			.fields = { { FIELD_A, event->a, 0, (int)event->a_bytes },
				    { FIELD_B, event->b, 0, 0 },
				    { FIELD_C, event->c, 0, 0 } },
		};
		if (is_there(event->system, event->event))
			return true;
	}
	return false;
}

bool exits_event_of(enum exit_kind kind, struct exits_event *ret_event)
{
	return kind == EXITS_USERSPACE ? find_userspace(ret_event) :
					 find_argument(argument_of(kind), ret_event);
}
