// SPDX-License-Identifier: GPL-2.0-or-later
/* Names, owners and times of day of long exits. */
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "providers/exits/threads.h"

void exits_long_look(struct exits_long_cells *cells, const struct exits_names *names,
		     const struct exits_code *codes, bool has_halts)
{
	memset(cells, 0, sizeof(*cells));
	for (unsigned int i = 0; i < EXITS_CELLS; i++) {
		unsigned int flags = exits_names_flags(names, &codes[i]);

		cells->is_left_out[i] = flags & REASON_IDLE && !has_halts;
		if (flags & REASON_PROTECTED)
			cells->are_protected[i / 64] |= UINT64_C(1) << i % 64;
	}
}

bool exits_long_is_protected(const struct exits_long_cells *cells,
			     const volatile struct exits_thread *record)
{
	for (unsigned int i = 0; i < EXITS_CELLS / 64; i++) {
		if (record->used[i] & cells->are_protected[i])
			return true;
	}
	return false;
}

void exits_long_add(const struct exits_long_output *output, const struct exits_long *exit,
		    const volatile struct exits_thread *record, bool hides_pc)
{
	const struct exits_code *code = &output->codes[exit->cell % EXITS_CELLS];
	struct exits_argument_key argument = exit->argument;
	struct long_exit row = {
		.end_ns = output->epoch_ns + exit->end_ns,
		.took_ns = exit->took_ns,
		.user_ns = exit->user_ns < exit->took_ns ? exit->user_ns : exit->took_ns,
		.polled_ns = exit->polled_ns < exit->took_ns ? exit->polled_ns : exit->took_ns,
		.waited_ns = exit->waited_ns < exit->took_ns ? exit->waited_ns : exit->took_ns,
		.knows_wait = output->knows_waits,
		.pc = hides_pc ? 0 : exit->pc,
		.cpu = exit->cpu,
		.argument = FIELD_NONE,
		.is_idle = exits_names_flags(output->names, code) & REASON_IDLE,
	};
	struct exits_vcpu_id owner;
	bool may_name;

	/* The program did not know yet that it is to leave this reason out. */
	if (output->cells->is_left_out[exit->cell % EXITS_CELLS])
		return;
	exits_threads_owner(output->threads, record, &owner, &may_name);
	row.guest = owner.guest;
	row.vcpu = owner.index;
	row.reason = exits_names_cell(output->names, code);
	if (exit->has_argument)
		row.argument = exits_names_argument(output->names, &argument, code, may_name);
	long_exits_add(output->long_exits, &row);
}
