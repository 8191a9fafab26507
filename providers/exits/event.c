// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the events that the running kernel has. */
#include "arch/arch.h"
#include "arch/argument.h"
#include "providers/bpf/placeholders.h"
#include "providers/exits/event.h"
#include "providers/providers.h"

static bool find_userspace(const struct env *env, struct exits_event *ret_event)
{
	const struct split *split = &arch_userspace_split;

	*ret_event = (struct exits_event){
		.system = split->system,
		.event = split->event,
		.fields = { { FIELD_REASON, split->field, 0, 0 }, { FIELD_TYPE, "errno", 0, 0 } },
	};
	return trace_event_exists(env, split->system, split->event);
}

/* The first of an argument's events that is there. */
static bool find_argument(const struct env *env, const struct argument *argument,
			  struct exits_event *ret_event)
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
		if (trace_event_exists(env, event->system, event->event))
			return true;
	}
	return false;
}

bool exits_event_of(const struct env *env, enum exit_kind kind, struct exits_event *ret_event)
{
	return kind == EXITS_USERSPACE ? find_userspace(env, ret_event) :
					 find_argument(env, argument_of(kind), ret_event);
}
