// SPDX-License-Identifier: GPL-2.0-or-later
/* Which programs are loaded, with which offsets, depends on the config and on the kernel. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/array.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/providers.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

/* Skips a program if this kernel lacks its event. */
static int set_program(const struct exits_bpf *bpf, struct bpf_program *program,
		       const char *system, const char *event, const struct bpf_field *fields)
{
	int err = bpf_fields_set(program, bpf->config.env, system, event, fields);

	if (!err || err == -ENOENT)
		bpf_program__set_autoload(program, !err);
	return err == -ENOENT ? 0 : err;
}

/* The programs on both events know the thread by its vCPU. */
static bool has_entry_vcpu(const struct exits_bpf *bpf)
{
	return (bpf->raw.way == EXITS_BY_READ || bpf->raw.way == EXITS_BY_LOAD) &&
	       bpf->raw.entry_vcpu >= 0;
}

/* Chooses one program each for kvm_exit and kvm_entry; the others are not loaded. */
static void choose_programs(struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	struct bpf_program *const exits[][2] = { /* without and with long exits */
		[EXITS_BY_RECORD] = { program->progs.on_exit, program->progs.on_long_exit },
		[EXITS_BY_ARGUMENT] = { program->progs.on_exit_by_argument,
					program->progs.on_long_exit_by_argument },
		[EXITS_BY_READ] = { program->progs.on_exit_by_read,
				    program->progs.on_long_exit_by_read },
		[EXITS_BY_LOAD] = { program->progs.on_exit_by_load,
				    program->progs.on_long_exit_by_load },
	};
	struct bpf_program *const entries[][2] = {
		[false] = { program->progs.on_entry, program->progs.on_long_entry },
		[true] = { program->progs.on_vcpu_entry, program->progs.on_long_vcpu_entry },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(exits); i++)
		bpf_program__set_autoload(exits[i / 2][i % 2], false);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(entries); i++)
		bpf_program__set_autoload(entries[i / 2][i % 2], false);
	bpf_map__set_autocreate(program->maps.long_exits, bpf->config.has_long);
	bpf->on_exit = exits[bpf->raw.way][bpf->config.has_long];
	bpf->on_entry = entries[has_entry_vcpu(bpf)][bpf->config.has_long];
}

static int set_on_exit(const struct exits_bpf *bpf, const struct split *exit)
{
	const struct bpf_field fields[] = {
		{ FIELD_REASON, exit->field, 0, 0 },
		{ FIELD_TYPE, exit->type_field, 0, 0 },
		{ FIELD_VCPU, "vcpu_id", (int)EXITS_NO_VCPU, 0 },
		{ FIELD_PC, exit->pc_field, 0, 0 },
		{ 0 },
	};

	if (bpf->raw.way == EXITS_BY_RECORD)
		return set_program(bpf, bpf->on_exit, exit->system, exit->event, fields);
	bpf_program__set_autoload(bpf->on_exit, true);
	return exits_raw_set_exit(&bpf->raw, bpf->on_exit);
}

/* A program that gets arguments with their types, so that it may look into them. */
static int set_typed(struct bpf_program *program, const char *event)
{
	int err = bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);

	if (!err)
		err = bpf_program__set_expected_attach_type(program, BPF_TRACE_RAW_TP);
	return err ? err : bpf_program__set_attach_target(program, 0, event);
}

static int set_on_entry(const struct exits_bpf *bpf)
{
	int err = exits_raw_set_entry(&bpf->raw, bpf->on_entry);

	bpf_program__set_autoload(bpf->on_entry, bpf->is_timed);
	if (err || bpf->raw.polls != EXITS_BY_TYPE)
		return err;
	return set_typed(bpf->on_entry, bpf->config.exit->entry_event);
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

static int set_exit(struct exits_bpf *bpf)
{
	struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	int err;

	choose_programs(bpf);
	if (!exit)
		return 0;
	program->rodata->has_type = exit->type_field != NULL;
	program->rodata->type_of_field = exit->type_of_field;
	program->rodata->type_bit = REASON_TYPE;
	err = set_halts(program, exit);
	if (!err)
		err = set_on_exit(bpf, exit);
	if (err)
		return err;
	bpf->is_timed = bpf_program__autoload(bpf->on_exit) && exit->entry_event &&
			 trace_event_exists(bpf->config.env, exit->system, exit->entry_event);
	program->rodata->has_exits = bpf_program__autoload(bpf->on_exit);
	return set_on_entry(bpf);
}

/* The arguments of these events are their fields, in the same order: Linux 4.3 to 7.1. */
bool exits_bpf_knows_polls(const struct env *env)
{
	static const char *const wakeup[] = { "ns", "waited", NULL };
	static const char *const limit[] = { "grow", "vcpu_id", "new", "old", NULL };

	return bpf_fields_are(env, "kvm", "kvm_vcpu_wakeup", wakeup) &&
	       bpf_fields_are(env, "kvm", "kvm_halt_poll_ns", limit);
}

static void set_polls(const struct exits_bpf *bpf)
{
	bool has_polls = bpf->config.has_polls && bpf->is_timed &&
			 bpf->raw.polls == EXITS_BY_RECORD;

	bpf_program__set_autoload(bpf->program->progs.on_wakeup, has_polls);
	bpf_program__set_autoload(bpf->program->progs.on_poll_limit, has_polls);
}

/* Programs for L2 need on_exit and on_entry, and an event that only x86 has. */
static void set_nested(const struct exits_bpf *bpf)
{
	bool has_nested = bpf->is_timed &&
			  trace_event_exists(bpf->config.env, "kvm", "kvm_nested_vmexit");

	bpf_program__set_autoload(bpf->program->progs.on_nested_exit, has_nested);
	bpf_program__set_autoload(bpf->program->progs.on_nested_entry, has_nested);
}

static void set_runs(const struct exits_bpf *bpf)
{
	bool goes_on = bpf->is_timed && bpf->config.exit->run_event;

	bpf->program->rodata->halts_go_on = goes_on;
	bpf_program__set_autoload(bpf->program->progs.on_run, goes_on);
}

static bool has_pc_copy(const struct exits_bpf *bpf)
{
	return bpf->raw.way != EXITS_BY_RECORD && bpf->raw.numbers[RAW_PC_COPY - RAW_FIRST];
}

/* For page faults KVM makes a copy only if the event's record has it: older kernels' has not. */
static bool knows_pc(const struct exits_bpf *bpf)
{
	return bpf->raw.has_pc &&
	       (!has_pc_copy(bpf) ||
		bpf_field_size(bpf->config.env, "kvm", "kvm_page_fault",
			       bpf->config.exit->pc_field) > 0);
}

static void set_page_fault(const struct exits_bpf *bpf)
{
	bpf_program__set_autoload(bpf->program->progs.on_page_fault,
				  bpf->config.has_long && bpf->is_timed && has_pc_copy(bpf));
}

/* The program of a kind that has an event of its own. */
static struct bpf_program *program_of(const struct exits_bpf *bpf, enum exit_kind kind)
{
	struct bpf_program *const programs[EXITS_KINDS] = {
		[EXITS_USERSPACE] = bpf->program->progs.on_userspace,
		[EXITS_IOPORT] = bpf->program->progs.on_ioport,
		[EXITS_MMIO] = bpf->program->progs.on_mmio,
		[EXITS_MSR] = bpf->program->progs.on_msr,
		[EXITS_CPUID] = bpf->program->progs.on_cpuid,
		[EXITS_HYPERCALL] = bpf->program->progs.on_hypercall,
		[EXITS_SYSREG] = bpf->program->progs.on_sysreg,
	};

	return programs[kind];
}

static bool is_raw(const struct exits_bpf *bpf, enum exit_kind kind)
{
	return bpf->raw.events[kind].is_raw;
}

/* On the raw event where all that the program reads is among its arguments. */
static int set_kind(const struct exits_bpf *bpf, enum exit_kind kind)
{
	struct bpf_program *program = program_of(bpf, kind);
	bool is_wanted = kind == EXITS_USERSPACE || bpf->config.has_arguments;
	struct exits_event event;

	bpf_program__set_autoload(program, false);
	if (!is_wanted || !exits_event_of(bpf->config.env, kind, &event))
		return 0;
	if (!is_raw(bpf, kind))
		return set_program(bpf, program, event.system, event.event, event.fields);
	bpf_program__set_autoload(program, true);
	return exits_raw_set_event(&bpf->raw, kind, &event, program);
}

static int set_sizes(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	uint32_t threads = bpf->config.max_threads, most = threads + EXITS_CHUNK * EXITS_CHUNKS;
	int err = bpf_map__set_max_entries(program->maps.threads, threads);

	if (!err)
		err = bpf_map__set_max_entries(program->maps.free_threads, most);
	if (!err && !program->rodata->has_task_storage)
		err = bpf_map__set_max_entries(program->maps.by_tid, most);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.arguments, bpf->max_arguments);
	return err;
}

/* Opens the programs anew, prepares the ones for this config and kernel, and loads them. */
static int try_load(struct exits_bpf *bpf)
{
	int err;

	exits_program__destroy(bpf->program);
	bpf->program = exits_program__open();
	if (!bpf->program)
		return -errno;
	bpf->program->rodata->has_task_storage = bpf->has_task_storage;
	bpf->program->rodata->nr_first = bpf->config.max_threads;
	bpf->program->rodata->run_delay_at = bpf->raw.run_delay;
	bpf_map__set_autocreate(bpf->has_task_storage ? bpf->program->maps.by_tid :
							bpf->program->maps.by_task,
				false);
	err = set_exit(bpf);
	set_polls(bpf);
	set_nested(bpf);
	set_runs(bpf);
	set_page_fault(bpf);
	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS && !err; kind++)
		err = set_kind(bpf, (enum exit_kind)kind);
	if (!err)
		err = set_sizes(bpf);
	return err ? err : exits_program__load(bpf->program);
}

/*
 * ---- What older kernels refuse. Each function does without one thing, and returns false where it
 * is not used anyway.
 */

static bool without_typed_vcpu(struct exits_bpf *bpf)
{
	bool is_used = bpf->raw.polls == EXITS_BY_TYPE;

	if (is_used)
		bpf->raw.polls = EXITS_BY_READ;
	return is_used;
}

/* Before Linux 6.2 there are no loads. */
static bool without_loads(struct exits_bpf *bpf)
{
	bool is_used = bpf->raw.way == EXITS_BY_LOAD || bpf->raw.polls == EXITS_BY_LOAD;

	if (bpf->raw.way == EXITS_BY_LOAD)
		bpf->raw.way = EXITS_BY_READ;
	if (bpf->raw.polls == EXITS_BY_LOAD)
		bpf->raw.polls = EXITS_BY_READ;
	bpf->raw.cast = 0;
	return is_used;
}

/* Before Linux 5.11 no program may look into the task. */
static bool without_run_delay(struct exits_bpf *bpf)
{
	bool is_used = bpf->raw.run_delay;

	bpf->raw.run_delay = 0;
	return is_used;
}

static bool without_raw_events(struct exits_bpf *bpf)
{
	bool is_used = bpf->raw.way != EXITS_BY_RECORD || bpf->raw.polls != EXITS_BY_RECORD ||
		       exits_raw_has_events(&bpf->raw);

	bpf->raw = (struct exits_raw){ .way = EXITS_BY_RECORD, .polls = EXITS_BY_RECORD };
	return is_used;
}

/* Before Linux 5.12 a task has no storage: a hash table by tid is used. */
static bool without_task_storage(struct exits_bpf *bpf)
{
	bool is_used = bpf->has_task_storage;

	bpf->has_task_storage = false;
	return is_used;
}

/* In the order in which the kernel got them, the newest first. */
static bool (*const without[])(struct exits_bpf *bpf) = {
	without_typed_vcpu, without_loads, without_run_delay, without_raw_events,
	without_task_storage,
};

/*
 * Whether a task can get storage, tried with our own. Linux 7.2 has none to give where the CPU
 * cannot exchange 16 bytes at once.
 */
static bool can_store(const struct exits_bpf *bpf)
{
	int map = bpf_map__fd(bpf->program->maps.by_task), err;
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	uint32_t none = 0;

	if (pidfd < 0)
		return true; /* it is not known */
	err = bpf_map_update_elem(map, &pidfd, &none, BPF_ANY);
	if (!err)
		bpf_map_delete_elem(map, &pidfd);
	close(pidfd);
	return !err;
}

/* The best that the kernel's BTF and the config allow. */
static void choose_ways(struct exits_bpf *bpf)
{
	const struct exits_bpf_config *config = &bpf->config;

	bpf->has_task_storage = true;
	if (config->raw)
		bpf->raw = *config->raw;
	if (!config->exit || (config->has_long && !knows_pc(bpf)))
		bpf->raw.way = EXITS_BY_RECORD;
	if (!config->has_long)
		bpf->raw.run_delay = 0;
	if (bpf->raw.polls == EXITS_BY_READ && has_entry_vcpu(bpf))
		bpf->raw.polls = EXITS_BY_TYPE;
}

int exits_load(struct exits_bpf *bpf)
{
	int err;

	choose_ways(bpf);
	err = try_load(bpf);
	/* Without rights or memory nothing older is loaded either. */
	for (size_t i = 0; i < ARRAY_SIZE(without) && err && err != -EPERM && err != -ENOMEM; i++) {
		if (without[i](bpf))
			err = try_load(bpf);
	}
	if (!err && bpf->has_task_storage && !can_store(bpf)) {
		bpf->has_task_storage = false;
		err = try_load(bpf);
	}
	return err;
}

/* Keeps the descriptor of an attached program. */
static int add_hook(struct exits_bpf *bpf, int fd)
{
	if (fd < 0)
		return fd;
	bpf->hooks[bpf->nr_hooks++] = fd;
	return 0;
}

/* As a trace event: only a trace event has the fields of the format. */
static int attach_event(struct exits_bpf *bpf, struct bpf_program *program, const char *system,
			const char *event)
{
	uint64_t id;
	int err;

	if (!bpf_program__autoload(program))
		return 0;
	err = trace_event_id(bpf->config.env, system, event, &id);
	if (err)
		return err;
	return add_hook(bpf, bpf_attach(bpf->config.env, id, bpf_program__fd(program)));
}

/* event: NULL for a program that has its event already. */
static int attach_raw(struct exits_bpf *bpf, const struct bpf_program *program, const char *event)
{
	int fd;

	if (!bpf_program__autoload(program))
		return 0;
	fd = bpf_raw_tracepoint_open(event, bpf_program__fd(program));
	return add_hook(bpf, fd < 0 ? -errno : fd);
}

static int attach_kind(struct exits_bpf *bpf, enum exit_kind kind)
{
	struct bpf_program *program = program_of(bpf, kind);
	struct exits_event event;

	if (!bpf_program__autoload(program) || !exits_event_of(bpf->config.env, kind, &event))
		return 0;
	return is_raw(bpf, kind) ? attach_raw(bpf, program, event.event) :
				   attach_event(bpf, program, event.system, event.event);
}

int exits_attach(struct exits_bpf *bpf)
{
	const struct split *exit = bpf->config.exit;
	int err = 0;

	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS && !err; kind++)
		err = attach_kind(bpf, (enum exit_kind)kind);
	if (!err && exit && bpf->raw.way == EXITS_BY_RECORD)
		err = attach_event(bpf, bpf->on_exit, exit->system, exit->event);
	else if (!err && exit)
		err = attach_raw(bpf, bpf->on_exit, exit->event);
	if (!err && exit)
		err = attach_raw(bpf, bpf->on_entry,
				 bpf->raw.polls == EXITS_BY_TYPE ? NULL : exit->entry_event);
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_poll_limit, "kvm_halt_poll_ns");
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_wakeup, "kvm_vcpu_wakeup");
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_nested_exit, "kvm_nested_vmexit");
	if (!err)
		err = attach_event(bpf, bpf->program->progs.on_page_fault, "kvm",
				   "kvm_page_fault");
	return err;
}

/* 0 of a program that is not attached. */
static uint64_t missed_by(const struct bpf_program *program)
{
	return program && bpf_program__autoload(program) ? bpf_missed(bpf_program__fd(program)) : 0;
}

uint64_t exits_missed(const struct exits_bpf *bpf)
{
	uint64_t missed = missed_by(bpf->on_exit);

	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS; kind++)
		missed += missed_by(program_of(bpf, (enum exit_kind)kind));
	return missed;
}

void exits_unload(struct exits_bpf *bpf)
{
	for (size_t i = 0; i < bpf->nr_hooks; i++)
		close(bpf->hooks[i]);
	exits_program__destroy(bpf->program);
}
