// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads and attaches the programs that the config wants, where this kernel has their events. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
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

static struct bpf_program *exit_program(const struct exits_bpf *bpf, enum exit_place place)
{
	const struct exits_program *program = bpf->program;

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

static struct bpf_program *entry_program(const struct exits_bpf *bpf, enum exit_place place)
{
	return place == EXIT_IN_SYNDROME ? bpf->program->progs.on_arm64_entry :
					   bpf->program->progs.on_entry;
}

static bool is_by_clock(const struct exits_bpf *bpf)
{
	return bpf->config.stack_hz && !bpf->config.has_cycles;
}

/* The programs that see when a vCPU's thread loses its CPU and gets one, of both kinds. */
struct away_programs {
	struct bpf_program *out, *in;
};

static struct away_programs direct_programs(const struct exits_bpf *bpf)
{
	return (struct away_programs){ bpf->program->progs.on_sched_out,
				       bpf->program->progs.on_sched_in };
}

static struct away_programs probe_programs(const struct exits_bpf *bpf)
{
	return (struct away_programs){ bpf->program->progs.on_probed_out,
				       bpf->program->progs.on_probed_in };
}

/* exits_attach() attaches the first kind that the kernel takes. */
static void choose_away(const struct exits_bpf *bpf, bool may_be_direct)
{
	const struct away_programs direct = direct_programs(bpf), probes = probe_programs(bpf);
	struct bpf_program *const all[] = { direct.out, direct.in, probes.out, probes.in };
	bool has_btf = may_be_direct &&
		       !bpf_program__set_attach_target(direct.out, 0, "kvm_sched_out") &&
		       !bpf_program__set_attach_target(direct.in, 0, "kvm_sched_in");

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		bool is_direct = all[i] == direct.out || all[i] == direct.in;

		bpf_program__set_autoload(all[i], bpf->is_timed && (has_btf || !is_direct));
		bpf_program__set_autoattach(all[i], false);
	}
}

static void choose_programs(const struct exits_bpf *bpf, bool may_be_direct)
{
	const struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	bool has_arguments = bpf->config.has_arguments;
	bool has_pc = bpf->config.has_long || bpf->config.has_pcs;
	struct bpf_program *each;
	const struct {
		struct bpf_program *program;
		bool is_wanted, is_watch; /* is_watch: not attached yet */
	} list[] = {
		{ program->progs.on_userspace, true, false },
		{ program->progs.on_reentry, bpf->is_timed, false },
		{ program->progs.on_nested_exit, bpf->is_timed, false },
		{ program->progs.on_nested_entry, bpf->is_timed, true },
		{ program->progs.on_page_fault,
		  bpf->is_timed && has_pc && exit->place == EXIT_IN_VMX, false },
		{ program->progs.on_ioport, has_arguments, false },
		{ program->progs.on_mmio, has_arguments, false },
		{ program->progs.on_fast_mmio, has_arguments, false },
		{ program->progs.on_line, has_arguments, false },
		{ program->progs.on_message, has_arguments, false },
		{ program->progs.on_msr, has_arguments, false },
		{ program->progs.on_cpuid, has_arguments, false },
		{ program->progs.on_hypercall, has_arguments, false },
		{ program->progs.on_hvc, has_arguments, false },
		{ program->progs.on_sysreg, has_arguments, false },
		{ program->progs.on_fault, has_arguments, false },
		{ program->progs.on_arm64_fault, has_arguments, false },
		{ program->progs.on_mapping, has_arguments && bpf->is_timed, false },
	};

	bpf_object__for_each_program(each, program->obj)
		bpf_program__set_autoload(each, false);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		bpf_program__set_autoload(list[i].program, list[i].is_wanted &&
					  has_event(bpf, list[i].program));
		bpf_program__set_autoattach(list[i].program, !list[i].is_watch);
	}
	choose_away(bpf, may_be_direct);
	/* stacks.c attaches these. */
	bpf_program__set_autoload(program->progs.on_sample, bpf->config.stack_hz);
	bpf_program__set_autoload(program->progs.on_switch, bpf->config.stack_hz);
	bpf_program__set_autoload(program->progs.on_timer, is_by_clock(bpf));
	bpf_program__set_autoattach(program->progs.on_switch, false);
	bpf_program__set_autoattach(program->progs.on_timer, false);
	program->rodata->has_fault_vcpu = has_fault_vcpu(bpf->config.env);
	if (exit)
		bpf_program__set_autoload(exit_program(bpf, exit->place), true);
	if (bpf->is_timed)
		bpf_program__set_autoload(entry_program(bpf, exit->place), true);
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

static int set_exit(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	int err;

	if (!exit)
		return 0;
	program->rodata->has_exits = true;
	program->rodata->exit_place = exit->place;
	program->rodata->reports_long = bpf->config.has_long;
	program->rodata->counts_pcs = bpf->config.has_pcs;
	program->rodata->notes = bpf->config.has_long || bpf->config.has_pcs;
	err = set_halts(bpf->program, exit);
	if (!err)
		err = bpf_program__set_attach_target(exit_program(bpf, exit->place), 0,
						     exit->event);
	if (!err && bpf->is_timed)
		err = bpf_program__set_attach_target(entry_program(bpf, exit->place), 0,
						     exit->entry_event);
	return err;
}

static int set_stacks(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	struct bpf_map *const maps[] = {
		program->maps.stack_sums, program->maps.stack_frames, program->maps.absences,
		program->maps.taken_frames, program->maps.expiries,
	};
	bool has_stacks = bpf->config.stack_hz;
	int err = 0;

	program->rodata->sample_ns = has_stacks ? 1000000000 / bpf->config.stack_hz : 0;
	program->rodata->is_by_clock = is_by_clock(bpf);
	for (size_t i = 0; i < ARRAY_SIZE(maps) && !err; i++)
		err = bpf_map__set_autocreate(maps[i], has_stacks);
	return err;
}

static int set_sizes(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	uint32_t threads = bpf->config.max_threads, most = threads + EXITS_CHUNK * EXITS_CHUNKS;
	int err = bpf_map__set_max_entries(program->maps.threads, threads);

	program->rodata->nr_first = threads;
	if (!err)
		err = bpf_map__set_max_entries(program->maps.free_threads, most);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.by_tid, most);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.arguments, bpf->max_arguments);
	if (!err)
		err = bpf_map__set_autocreate(program->maps.long_exits, bpf->config.has_long);
	if (!err)
		err = bpf_map__set_autocreate(program->maps.pcs, bpf->config.has_pcs);
	return err ? err : set_stacks(bpf);
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

static int load(struct exits_bpf *bpf, struct uses uses)
{
	const struct split *exit = bpf->config.exit;
	int err;

	bpf->program = open_program(uses.svm_data);
	if (!bpf->program)
		return -errno;
	bpf->is_timed = exit && trace_event_exists(bpf->config.env, exit->system,
						   exit->entry_event);
	choose_programs(bpf, uses.direct);
	err = set_exit(bpf);
	if (!err)
		err = set_sizes(bpf);
	return err ? err : exits_program__load(bpf->program);
}

int exits_load(struct exits_bpf *bpf)
{
	static const struct uses tries[] = {
		{ true, true }, { false, true }, { true, false }, { false, false },
	};
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		exits_program__destroy(bpf->program);
		err = load(bpf, tries[i]);
		if (!err)
			return 0;
	}
	return err;
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
	bpf->sees_away = attach_away(bpf, direct_programs(bpf)) ||
			 attach_away(bpf, probe_programs(bpf));
	return exits_program__attach(bpf->program);
}

/* 0 of a program that is not loaded. */
static uint64_t missed_by(const struct bpf_program *program)
{
	return bpf_program__autoload(program) ? bpf_missed(bpf_program__fd(program)) : 0;
}

/* Events that the counting programs missed: the program on exits, and the others. */
uint64_t exits_missed(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	const struct bpf_program *const counting[] = {
		program->progs.on_userspace, program->progs.on_ioport, program->progs.on_mmio,
		program->progs.on_msr, program->progs.on_cpuid, program->progs.on_hypercall,
		program->progs.on_hvc, program->progs.on_sysreg, program->progs.on_fault,
		program->progs.on_arm64_fault, program->progs.on_fast_mmio,
		program->progs.on_line, program->progs.on_message,
	};
	const struct split *exit = bpf->config.exit;
	uint64_t missed = exit ? missed_by(exit_program(bpf, exit->place)) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(counting); i++)
		missed += missed_by(counting[i]);
	return missed;
}

/* The program that counts an event; NULL: none does. */
static const struct bpf_program *counting_program(const struct exits_bpf *bpf, const char *event,
						  enum exits_event *ret_which)
{
	const struct split *exit = bpf->config.exit;

	*ret_which = EXITS_EVENT_USERSPACE;
	if (strcmp(event, arch_userspace_split.event) == 0)
		return bpf->program->progs.on_userspace;
	if (!bpf->is_timed || (exit->place != EXIT_IN_SVM && exit->place != EXIT_IN_VMX &&
			       exit->place != EXIT_IN_SYNDROME))
		return NULL;
	*ret_which = EXITS_EVENT_EXIT;
	if (strcmp(event, exit->event) == 0)
		return exit_program(bpf, exit->place);
	*ret_which = EXITS_EVENT_ENTRY;
	return strcmp(event, exit->entry_event) == 0 ? entry_program(bpf, exit->place) : NULL;
}

bool exits_event_count(const struct exits_bpf *bpf, const char *event, uint64_t *ret_count)
{
	enum exits_event which;
	const struct bpf_program *program = counting_program(bpf, event, &which);

	if (!program)
		return false;
	*ret_count = missed_by(program);
	for (int cpu = 0; cpu < EXITS_CPUS && cpu < libbpf_num_possible_cpus(); cpu++)
		*ret_count += bpf->program->bss->cpus[cpu].events[which];
	return true;
}

/* The scheduler alone runs on_switch, and timers on_timer. */
void exits_programs(const struct exits_bpf *bpf, struct programs *programs)
{
	const struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	struct bpf_program *each;

	bpf_object__for_each_program(each, program->obj) {
		const char *event = NULL;

		if (bpf_program__fd(each) < 0 || each == program->progs.on_switch ||
		    each == program->progs.on_timer)
			continue;
		if (each == program->progs.on_userspace)
			event = arch_userspace_split.event;
		else if (exit && each == exit_program(bpf, exit->place))
			event = exit->event;
		programs_add(programs, bpf_program__fd(each), event);
	}
}

void exits_unload(struct exits_bpf *bpf)
{
	for (size_t i = 0; i < ARRAY_SIZE(bpf->away_links); i++)
		bpf_link__destroy(bpf->away_links[i]);
	exits_program__destroy(bpf->program);
}
