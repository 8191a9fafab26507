// SPDX-License-Identifier: GPL-2.0-or-later
/* Says which exits are long, and gives names, owners and times of day to the ones reported. */
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "providers/exits/program.h"
#include "providers/exits/stacks.h"
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
	for (unsigned int i = 0; record->next_slot && i < EXITS_CELLS; i++) {
		if (record->slots[i] && cells->are_protected[i / 64] >> i % 64 & 1)
			return true;
	}
	return false;
}

void exits_long_add(const struct exits_long_output *output, const struct exits_long *exit,
		    const volatile struct exits_thread *record, bool hides_pc)
{
	const struct exits_code *code = &output->codes[exits_cell_of(exit->cell)];
	struct exits_argument_key argument = exit->argument;
	struct long_exit row = {
		.end_ns = output->epoch_ns + exit->end_ns,
		.took_ns = exit->took_ns,
		.user_ns = exit->user_ns < exit->took_ns ? exit->user_ns : exit->took_ns,
		.polled_ns = exit->polled_ns < exit->took_ns ? exit->polled_ns : exit->took_ns,
		.waited_ns = exit->waited_ns != EXITS_UNKNOWN ? exit->waited_ns : 0,
		.knows_wait = exit->waited_ns != EXITS_UNKNOWN,
		.pc = hides_pc ? 0 : exit->pc,
		.cpu = exit->cpu,
		.argument = FIELD_NONE,
		.is_idle = exits_names_flags(output->names, code) & REASON_IDLE,
	};
	struct exits_vcpu_id owner;
	bool may_name;

	/* The program did not have the list of reasons to leave out yet. */
	if (output->cells->is_left_out[exits_cell_of(exit->cell)])
		return;
	exits_threads_owner(output->threads, record, &owner, &may_name);
	row.guest = owner.guest;
	row.vcpu = owner.index;
	row.reason = exits_names_cell(output->names, code);
	if (exit->has_argument)
		row.argument = exits_names_argument(output->names, &argument, code, may_name);
	if (output->functions)
		guest_functions_want(output->functions, row.guest, (pid_t)record->tid, row.pc);
	long_exits_add(output->long_exits, &row);
}

void exits_long_set(struct exits_long_list *list, struct exits_bpf *bpf,
		    const struct exits_names *names)
{
	if (!list->longer_ns)
		return;
	exits_long_look(&list->cells, names, bpf->codes, list->has_halts);
	exits_bpf_set_long(bpf, list->longer_ns, list->cells.is_left_out);
}

/* What take_report() works with. */
struct taking {
	const struct exits_bpf *bpf;
	struct exits_long_output output;
};

/* A guest is protected if any of its threads has had an exit that only such guests have. */
static bool is_protected(const struct taking *taking, const volatile struct exits_thread *of)
{
	for (uint32_t i = 0; i < taking->bpf->max_threads; i++) {
		const volatile struct exits_thread *record = exits_bpf_thread(taking->bpf, i);

		if (record->tid && record->tgid == of->tgid &&
		    exits_long_is_protected(taking->output.cells, record))
			return true;
	}
	return false;
}

static void take_report(void *arg, const struct exits_long *exit)
{
	const struct taking *taking = arg;
	const volatile struct exits_thread *record;

	if (exit->thread >= taking->bpf->max_threads)
		return;
	record = exits_bpf_thread(taking->bpf, exit->thread);
	exits_long_add(&taking->output, exit, record, is_protected(taking, record));
}

void exits_long_forget(struct exits_long_list *list)
{
	long_exits_release(&list->waiting);
}

/* Names the guests' functions; exits of guests that are being read go on waiting. */
static void name_functions(struct exits_long_list *list, struct guest_functions *functions,
			   struct long_exits *to)
{
	struct long_exits now = list->waiting;

	list->waiting = (struct long_exits){ 0 };
	guest_functions_prepare(functions);
	for (size_t i = 0; i < now.nr; i++) {
		struct long_exit exit = *long_exits_at(&now, i);

		if (guest_functions_are_being_read(functions, exit.guest)) {
			long_exits_add(&list->waiting, &exit);
			continue;
		}
		guest_functions_name(functions, exit.guest, exit.pc, true, exit.symbol,
				     sizeof(exit.symbol));
		long_exits_add(to, &exit);
	}
	to->nr_ever += now.nr_ever - now.nr;
	long_exits_release(&now);
}

int exits_long_collect(struct exits_long_list *list, struct exits_bpf *bpf,
		       struct exits_threads *threads, struct exits_names *names,
		       struct guest_functions *functions, struct sample *sample)
{
	struct taking taking = {
		.bpf = bpf,
		.output = {
			.cells = &list->cells,
			.threads = threads,
			.names = names,
			.codes = bpf->codes,
			.epoch_ns = clock_ahead_ns(),
			.functions = functions,
			.long_exits = &list->waiting,
		},
	};
	int err;

	if (!list->longer_ns)
		return 0;
	exits_long_set(list, bpf, names);
	sample->long_exits.since_ns = list->since_ns;
	sample->long_exits.longer_ns = list->longer_ns;
	err = exits_bpf_long(bpf, take_report, &taking);
	if (!err)
		name_functions(list, functions, &sample->long_exits);
	return err;
}
