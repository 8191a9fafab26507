// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads and attaches the programs that the config wants, where this kernel has their events. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/providers.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"
#include "providers/exits/exits_svm.skel.h"

/* Whether the kernel has the event that the program's section names after its last slash. */
static bool has_event(const struct exits_bpf *bpf, const struct bpf_program *program)
{
	const char *event = strrchr(bpf_program__section_name(program), '/');

	return event && (trace_event_exists(bpf->config.env, "kvm", event + 1) ||
			 trace_event_exists(bpf->config.env, "kvmmmu", event + 1));
}

/* Linux 6.1 has it. */
static bool has_fault_vcpu(const struct env *env)
{
	char *format = trace_event_format(env, "kvm", "kvm_page_fault");
	bool has_vcpu = format && strstr(format, " vcpu_id;");

	free(format);
	return has_vcpu;
}

static struct bpf_program *exit_program(const struct exits_program *program, enum exit_place place)
{
	switch (place) {
	case EXIT_IN_SVM:
		return program->progs.on_svm_exit;
	case EXIT_IN_VMX:
		return program->progs.on_vmx_exit;
	case EXIT_IN_SYNDROME:
		return program->progs.on_arm64_exit;
	case EXIT_IN_TRAP:
		return program->progs.on_riscv_exit;
	default:
		return program->progs.on_other_exit;
	}
}

static struct bpf_program *entry_program(const struct exits_program *program, enum exit_place place)
{
	return place == EXIT_IN_SYNDROME ? program->progs.on_arm64_entry :
					   program->progs.on_entry;
}

static bool is_by_clock(const struct exits_bpf *bpf)
{
	return bpf->config.stack_hz && !bpf->config.has_cycles;
}

/* The programs that see when a vCPU's thread loses its CPU and gets one, of both kinds. */
struct away_programs {
	struct bpf_program *out, *in;
};

static struct away_programs direct_programs(const struct exits_program *program)
{
	return (struct away_programs){ program->progs.on_sched_out, program->progs.on_sched_in };
}

static struct away_programs probe_programs(const struct exits_program *program)
{
	return (struct away_programs){ program->progs.on_probed_out, program->progs.on_probed_in };
}

/*
 * What is loaded and attached together. The programs of one object have their constants in common;
 * all objects have the maps of the first one, so that what is counted goes on when others join it,
 * leave it or take its place.
 */
enum part { PART_EXITS, PART_ARGUMENTS, PART_STACKS };

/* exits_attach() attaches the first kind that the kernel takes. */
static void choose_away(const struct exits_bpf *bpf, const struct exits_program *program,
			enum part part, bool may_be_direct)
{
	const struct away_programs direct = direct_programs(program);
	const struct away_programs probes = probe_programs(program);
	struct bpf_program *const all[] = { direct.out, direct.in, probes.out, probes.in };
	bool is_wanted = bpf->is_timed && part == PART_EXITS;
	bool has_btf = is_wanted && may_be_direct &&
		       !bpf_program__set_attach_target(direct.out, 0, "kvm_sched_out") &&
		       !bpf_program__set_attach_target(direct.in, 0, "kvm_sched_in");

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		bool is_direct = all[i] == direct.out || all[i] == direct.in;

		bpf_program__set_autoload(all[i], is_wanted && (has_btf || !is_direct));
		bpf_program__set_autoattach(all[i], false);
	}
}

static void choose_programs(const struct exits_bpf *bpf, const struct exits_program *program,
			    enum part part, bool may_be_direct)
{
	const struct split *exit = bpf->config.exit;
	bool has_pc = bpf->config.has_long || bpf->config.has_pcs;
	struct bpf_program *each;
	const struct {
		struct bpf_program *program;
		enum part part;
		bool is_wanted, is_watch; /* is_watch: not attached yet */
	} list[] = {
		{ program->progs.on_userspace, PART_EXITS, true, false },
		{ program->progs.on_reentry, PART_EXITS, bpf->is_timed, false },
		{ program->progs.on_nested_exit, PART_EXITS, bpf->is_timed, false },
		{ program->progs.on_nested_entry, PART_EXITS, bpf->is_timed, true },
		{ program->progs.on_page_fault, PART_EXITS,
		  bpf->is_timed && has_pc && exit->place == EXIT_IN_VMX, false },
		{ program->progs.on_ioport, PART_ARGUMENTS, true, false },
		{ program->progs.on_mmio, PART_ARGUMENTS, true, false },
		{ program->progs.on_fast_mmio, PART_ARGUMENTS, true, false },
		{ program->progs.on_line, PART_ARGUMENTS, true, false },
		{ program->progs.on_message, PART_ARGUMENTS, true, false },
		{ program->progs.on_msr, PART_ARGUMENTS, true, false },
		{ program->progs.on_cpuid, PART_ARGUMENTS, true, false },
		{ program->progs.on_hypercall, PART_ARGUMENTS, true, false },
		{ program->progs.on_hvc, PART_ARGUMENTS, true, false },
		{ program->progs.on_sysreg, PART_ARGUMENTS, true, false },
		{ program->progs.on_fault, PART_ARGUMENTS, true, false },
		{ program->progs.on_arm64_fault, PART_ARGUMENTS, true, false },
		{ program->progs.on_mapping, PART_ARGUMENTS, bpf->is_timed, false },
	};

	bpf_object__for_each_program(each, program->obj)
		bpf_program__set_autoload(each, false);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		bpf_program__set_autoload(list[i].program,
					  list[i].part == part && list[i].is_wanted &&
						  has_event(bpf, list[i].program));
		bpf_program__set_autoattach(list[i].program, !list[i].is_watch);
	}
	choose_away(bpf, program, part, may_be_direct);
	/* stacks.c attaches these. */
	bpf_program__set_autoload(program->progs.on_sample, part == PART_STACKS);
	bpf_program__set_autoload(program->progs.on_switch, part == PART_STACKS);
	bpf_program__set_autoload(program->progs.on_timer, part == PART_STACKS && is_by_clock(bpf));
	bpf_program__set_autoattach(program->progs.on_switch, false);
	bpf_program__set_autoattach(program->progs.on_timer, false);
	program->rodata->has_fault_vcpu = has_fault_vcpu(bpf->config.env);
	if (exit && part == PART_EXITS)
		bpf_program__set_autoload(exit_program(program, exit->place), true);
	if (bpf->is_timed && part == PART_EXITS)
		bpf_program__set_autoload(entry_program(program, exit->place), true);
}

/* The reasons for which the vCPU has nothing to do. */
static int set_halts(struct exits_program *program, const struct split *exit)
{
	size_t nr = 0;

	for (size_t i = 0; i < exit->nr_reasons; i++) {
		if (!(exit->reasons[i].flags & REASON_IDLE))
			continue;
		if (nr == EXITS_HALTS)
			return -E2BIG;
		program->rodata->halts[nr++] = exit->reasons[i].code;
	}
	return 0;
}

static int set_exit(const struct exits_bpf *bpf, struct exits_program *program)
{
	const struct split *exit = bpf->config.exit;
	int err;

	if (!exit)
		return 0;
	program->rodata->has_exits = true;
	program->rodata->exit_place = exit->place;
	program->rodata->reports_long = bpf->config.has_long;
	program->rodata->counts_pcs = bpf->config.has_pcs;
	program->rodata->notes = bpf->config.has_long || bpf->config.has_pcs;
	err = set_halts(program, exit);
	if (!err)
		err = bpf_program__set_attach_target(exit_program(program, exit->place), 0,
						     exit->event);
	if (!err && bpf->is_timed)
		err = bpf_program__set_attach_target(entry_program(program, exit->place), 0,
						     exit->entry_event);
	return err;
}

/* Maps that only a part of the programs has, or only some configs have. */
static int choose_maps(const struct exits_bpf *bpf, const struct exits_program *program,
		       enum part part)
{
	struct bpf_map *const of_stacks[] = {
		program->maps.stack_sums, program->maps.stack_frames, program->maps.absences,
		program->maps.taken_frames, program->maps.expiries,
	};
	int err = bpf_map__set_autocreate(program->maps.long_exits, bpf->config.has_long);

	if (!err)
		err = bpf_map__set_autocreate(program->maps.pcs, bpf->config.has_pcs);
	for (size_t i = 0; i < ARRAY_SIZE(of_stacks) && !err; i++)
		err = bpf_map__set_autocreate(of_stacks[i], part == PART_STACKS);
	return err;
}

static int set_sizes(const struct exits_bpf *bpf, const struct exits_program *program)
{
	uint32_t threads = bpf->config.max_threads, most = threads + EXITS_CHUNK * EXITS_CHUNKS;
	int err = bpf_map__set_max_entries(program->maps.threads, threads);

	if (!err)
		err = bpf_map__set_max_entries(program->maps.free_threads, most);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.by_tid, most);
	return err;
}

/* Gives a later object the maps of the first one. Constants are its own. */
static int share_maps(const struct exits_program *first, const struct exits_program *later)
{
	struct bpf_map *from = NULL, *to = NULL;
	int err = 0;

	while (!err && (from = bpf_object__next_map(first->obj, from)) &&
	       (to = bpf_object__next_map(later->obj, to))) {
		if (from != first->maps.rodata && bpf_map__autocreate(from) &&
		    bpf_map__autocreate(to))
			err = bpf_map__reuse_fd(to, bpf_map__fd(from));
	}
	return err;
}

/* What a kernel may have or not; and it refuses a program that uses what it has not. */
struct uses {
	bool svm_data; /* a variable of kvm_amd's, as it is since Linux 6.1 */
	bool direct; /* programs on functions, which BTF may have under another name */
};

/* Both objects have the same programs and maps, in the same order: one skeleton is for both. */
static struct exits_program *open_program(bool uses_svm_data)
{
	struct exits_program *program = xcalloc(1, sizeof(*program));
	int err = exits_program__create_skeleton(program);

	if (!err && uses_svm_data)
		program->skeleton->data =
			exits_svm_program__elf_bytes(&program->skeleton->data_sz);
	if (!err)
		err = bpf_object__open_skeleton(program->skeleton, NULL);
	if (!err)
		return program;
	exits_program__destroy(program);
	errno = -err;
	return NULL;
}

static int load(const struct exits_bpf *bpf, enum part part, struct uses uses,
		struct exits_program **ret_program)
{
	struct exits_program *program = open_program(uses.svm_data);
	int err;

	if (!program)
		return -errno;
	choose_programs(bpf, program, part, uses.direct);
	program->rodata->nr_first = bpf->config.max_threads;
	program->rodata->sample_ns = part == PART_STACKS ? 1000000000 / bpf->config.stack_hz : 0;
	program->rodata->is_by_clock = is_by_clock(bpf);
	err = set_exit(bpf, program);
	if (!err)
		err = choose_maps(bpf, program, part);
	if (!err)
		err = bpf->program ? share_maps(bpf->program, program) : set_sizes(bpf, program);
	if (!err)
		err = exits_program__load(program);
	if (err)
		exits_program__destroy(program);
	else
		*ret_program = program;
	return err;
}

static int load_part(const struct exits_bpf *bpf, enum part part,
		     struct exits_program **ret_program)
{
	static const struct uses tries[] = {
		{ true, true }, { false, true }, { true, false }, { false, false },
	};
	int err = -EINVAL;

	for (size_t i = 0; i < ARRAY_SIZE(tries) && err; i++)
		err = load(bpf, part, tries[i], ret_program);
	return err;
}

/* Loads the other parts that the config wants and that are not there yet. */
static int load_others(struct exits_bpf *bpf)
{
	int err = 0;

	if (bpf->config.has_arguments && !bpf->arguments)
		err = load_part(bpf, PART_ARGUMENTS, &bpf->arguments);
	if (!err && bpf->config.stack_hz && !bpf->stacks)
		err = load_part(bpf, PART_STACKS, &bpf->stacks);
	return err;
}

int exits_load(struct exits_bpf *bpf)
{
	const struct split *exit = bpf->config.exit;
	int err;

	bpf->is_timed = exit && trace_event_exists(bpf->config.env, exit->system,
						   exit->entry_event);
	err = load_part(bpf, PART_EXITS, &bpf->program);
	return err ? err : load_others(bpf);
}

/* The program that sees the end first: without the begin it does nothing. */
static bool attach_away(struct exits_bpf *bpf, struct away_programs programs)
{
	if (!bpf_program__autoload(programs.in))
		return false;
	bpf->away_links[0] = bpf_program__attach(programs.in);
	bpf->away_links[1] = bpf->away_links[0] ? bpf_program__attach(programs.out) : NULL;
	if (bpf->away_links[1])
		return true;
	bpf_link__destroy(bpf->away_links[0]);
	bpf->away_links[0] = NULL;
	return false;
}

int exits_attach(struct exits_bpf *bpf)
{
	int err;

	bpf->is_away_direct = attach_away(bpf, direct_programs(bpf->program));
	bpf->sees_away = bpf->is_away_direct || attach_away(bpf, probe_programs(bpf->program));
	err = exits_program__attach(bpf->program);
	if (!err && bpf->arguments)
		err = exits_program__attach(bpf->arguments);
	return err;
}

/* 0 of a program that is not loaded. */
static uint64_t missed_by(const struct bpf_program *program)
{
	return bpf_program__autoload(program) ? bpf_missed(bpf_program__fd(program)) : 0;
}

static uint64_t event_missed(const struct exits_bpf *bpf, enum exits_event which)
{
	const struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;

	if (which == EXITS_EVENT_USERSPACE)
		return missed_by(program->progs.on_userspace);
	if (!exit)
		return 0;
	return missed_by(which == EXITS_EVENT_EXIT ? exit_program(program, exit->place) :
						     entry_program(program, exit->place));
}

static uint64_t arguments_missed(const struct exits_program *program)
{
	const struct bpf_program *const counting[] = {
		program->progs.on_ioport, program->progs.on_mmio,
		program->progs.on_msr, program->progs.on_cpuid, program->progs.on_hypercall,
		program->progs.on_hvc, program->progs.on_sysreg, program->progs.on_fault,
		program->progs.on_arm64_fault, program->progs.on_fast_mmio,
		program->progs.on_line, program->progs.on_message,
	};
	uint64_t missed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counting); i++)
		missed += missed_by(counting[i]);
	return missed;
}

/* Events that the counting programs missed: the program on exits, and the others. */
uint64_t exits_missed(const struct exits_bpf *bpf)
{
	const struct split *exit = bpf->config.exit;
	uint64_t missed = missed_by(bpf->program->progs.on_userspace);

	if (exit)
		missed += missed_by(exit_program(bpf->program, exit->place));
	return bpf->arguments ? missed + arguments_missed(bpf->arguments) : missed;
}

/* The event that programs count; EXITS_EVENTS: they do not. */
static enum exits_event event_of(const struct exits_bpf *bpf, const char *event)
{
	const struct split *exit = bpf->config.exit;

	if (strcmp(event, arch_userspace_split.event) == 0)
		return EXITS_EVENT_USERSPACE;
	if (!bpf->is_timed || (exit->place != EXIT_IN_SVM && exit->place != EXIT_IN_VMX &&
			       exit->place != EXIT_IN_SYNDROME))
		return EXITS_EVENTS;
	if (strcmp(event, exit->event) == 0)
		return EXITS_EVENT_EXIT;
	return strcmp(event, exit->entry_event) == 0 ? EXITS_EVENT_ENTRY : EXITS_EVENTS;
}

bool exits_event_count(const struct exits_bpf *bpf, const char *event, uint64_t *ret_count)
{
	enum exits_event which = event_of(bpf, event);

	if (which == EXITS_EVENTS)
		return false;
	*ret_count = event_missed(bpf, which) + bpf->events_missed[which];
	for (int cpu = 0; cpu < EXITS_CPUS && cpu < libbpf_num_possible_cpus(); cpu++)
		*ret_count += bpf->bss->cpus[cpu].events[which];
	return true;
}

static void add_programs(const struct exits_bpf *bpf, const struct exits_program *program,
			 struct programs *programs)
{
	const struct split *exit = bpf->config.exit;
	struct bpf_program *each;

	bpf_object__for_each_program(each, program->obj) {
		const char *event = NULL;

		if (bpf_program__fd(each) < 0)
			continue;
		if (each == program->progs.on_userspace)
			event = arch_userspace_split.event;
		else if (exit && each == exit_program(program, exit->place))
			event = exit->event;
		programs_add(programs, bpf_program__fd(each), event);
	}
}

/* The scheduler and timers alone run the ones that sample stacks. */
void exits_programs(const struct exits_bpf *bpf, struct programs *programs)
{
	add_programs(bpf, bpf->program, programs);
	if (bpf->arguments)
		add_programs(bpf, bpf->arguments, programs);
}

/* ---- a change while exits are counted */

static void *destroy_program(void *program)
{
	exits_program__destroy(program);
	return NULL;
}

/* A program takes the place of the link's, if that has any: for a moment both run. */
static int replace(struct bpf_link **link, const struct bpf_program *program)
{
	struct bpf_link *now = bpf_program__attach(program);

	if (!now)
		return -errno;
	bpf_link__destroy(*link); /* at once: in a thread of its own it would run for longer */
	*link = now;
	return 0;
}

static int replace_away(struct exits_bpf *bpf, const struct exits_program *program)
{
	struct away_programs now = bpf->is_away_direct ? direct_programs(program) :
							 probe_programs(program);
	int err = bpf->sees_away ? replace(&bpf->away_links[0], now.in) : 0;

	return !err && bpf->sees_away ? replace(&bpf->away_links[1], now.out) : err;
}

static int replace_program(struct bpf_prog_skeleton *old, struct bpf_prog_skeleton *now)
{
	const struct bpf_program *program = *now->prog;

	*now->link = *old->link;
	*old->link = NULL;
	if (bpf_program__autoload(program) && bpf_program__autoattach(program))
		return replace(now->link, program);
	bpf_link__destroy(*now->link);
	*now->link = NULL;
	return 0;
}

void exits_wait_for_end(struct exits_bpf *bpf)
{
	if (bpf->is_ending)
		pthread_join(bpf->ending, NULL);
	bpf->is_ending = false;
}

/* In a thread, which the next change waits for: else programs of both would count. */
static void end_programs(struct exits_bpf *bpf, struct exits_program **program)
{
	exits_wait_for_end(bpf);
	bpf->is_ending = *program && thread_start(&bpf->ending, destroy_program, *program) == 0;
	if (!bpf->is_ending)
		exits_program__destroy(*program);
	*program = NULL;
}

/* The events' programs change places one by one. */
static int exchange(struct exits_bpf *bpf)
{
	struct exits_program *old = bpf->program, *now;
	int err = load_part(bpf, PART_EXITS, &now);

	if (err)
		return err;
	for (int i = 0; i < EXITS_EVENTS; i++)
		bpf->events_missed[i] += event_missed(bpf, (enum exits_event)i);
	err = replace_away(bpf, now);
	for (int i = 0; i < now->skeleton->prog_cnt && !err; i++)
		err = replace_program(&old->skeleton->progs[i], &now->skeleton->progs[i]);
	if (!err && bpf->nested.link)
		err = replace(&bpf->nested.link, now->progs.on_nested_entry);
	bpf->program = now;
	end_programs(bpf, &old);
	return err;
}

int exits_change(struct exits_bpf *bpf, const struct exits_bpf_config *before)
{
	const struct exits_bpf_config *now = &bpf->config;
	bool has_pcs_too = before->has_pcs == now->has_pcs;
	bool had_arguments = bpf->arguments;
	int err = 0;

	if (!now->has_arguments)
		end_programs(bpf, &bpf->arguments);
	if (!has_pcs_too || before->stack_hz != now->stack_hz)
		end_programs(bpf, &bpf->stacks);
	if (!has_pcs_too || before->has_long != now->has_long)
		err = exchange(bpf);
	if (!err)
		err = load_others(bpf);
	if (!err && bpf->arguments && !had_arguments)
		err = exits_program__attach(bpf->arguments);
	return err;
}

void exits_unload(struct exits_bpf *bpf)
{
	exits_wait_for_end(bpf);
	for (size_t i = 0; i < ARRAY_SIZE(bpf->away_links); i++)
		bpf_link__destroy(bpf->away_links[i]);
	exits_program__destroy(bpf->arguments);
	exits_program__destroy(bpf->stacks);
	exits_program__destroy(bpf->program);
}
