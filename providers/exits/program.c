// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads, attaches, maps and reads the BPF program of the provider "exits". */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <tracefs.h>
#include <unistd.h>

#include "base/array.h"
#include "providers/bpf/attach.h"
#include "providers/bpf/fields.h"
#include "providers/exits/event.h"
#include "providers/exits/program.h"
#include "providers/exits/raw.h"
#include "providers/trace_event.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define ARGUMENTS_MOST 65536		/* of all threads: 13 MiB */
#define HOOKS_MAX      (4 + EXITS_KINDS) /* of arguments, exit, entry, user space, polls, L2 */
#define NESTED_IDLE    10 /* samples without an exit of L2, after which nothing nests */

struct exits_bpf {
	struct exits_bpf_config config;
	struct exits_program *program;
	int hooks[HOOKS_MAX];
	size_t nr_hooks;
	struct exits_thread *threads; /* the map's own memory */
	struct exits_thread *more[EXITS_CHUNKS]; /* the same, of more_threads */
	uint32_t nr_more;
	uint32_t nr_late; /* entries of late_threads that were taken */
	bool is_timed;
	struct exits_raw raw; /* of the config, as far as the kernel takes such programs */
	struct exits_argument_key *keys; /* read by exits_bpf_arguments() */
	struct exits_cell *cells;
	uint32_t nr_keys, max_keys;
	struct bpf_program *on_exit, *on_entry; /* the ones that are loaded */
	struct ring_buffer *ring; /* of long exits; NULL: they are not reported */
	uint64_t missed; /* by bpf_missed(), before exits were counted */
	int nested_entry; /* on_nested_entry, while a guest nests; else -1 */
	unsigned int nested_idle; /* samples since the latest exit of L2 */
	exits_long_fn take; /* of exits_bpf_long() */
	void *take_arg;
};

/* A program is not loaded if this kernel has not its event. */
static int set_program(struct bpf_program *program, const char *system, const char *event,
		       const struct bpf_field *fields)
{
	int err = bpf_fields_set(program, system, event, fields);

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

static struct bpf_program *choose_exit(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;

	switch (bpf->raw.way) {
	case EXITS_BY_LOAD:
		return bpf->config.has_long ? program->progs.on_long_exit_by_load :
					      program->progs.on_exit_by_load;
	case EXITS_BY_READ:
		return bpf->config.has_long ? program->progs.on_long_exit_by_read :
					      program->progs.on_exit_by_read;
	case EXITS_BY_ARGUMENT:
		return bpf->config.has_long ? program->progs.on_long_exit_by_argument :
					      program->progs.on_exit_by_argument;
	default:
		return bpf->config.has_long ? program->progs.on_long_exit : program->progs.on_exit;
	}
}

static struct bpf_program *choose_entry(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;

	if (has_entry_vcpu(bpf))
		return bpf->config.has_long ? program->progs.on_long_vcpu_entry :
					      program->progs.on_vcpu_entry;
	return bpf->config.has_long ? program->progs.on_long_entry : program->progs.on_entry;
}

/* Of the programs for kvm_exit and kvm_entry, only one each is loaded. */
static void choose_programs(struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	struct bpf_program *const all[] = {
		program->progs.on_exit,		 program->progs.on_exit_by_argument,
		program->progs.on_exit_by_read,	 program->progs.on_exit_by_load,
		program->progs.on_long_exit,	 program->progs.on_long_exit_by_argument,
		program->progs.on_long_exit_by_read, program->progs.on_long_exit_by_load,
		program->progs.on_entry,	 program->progs.on_vcpu_entry,
		program->progs.on_long_entry,	 program->progs.on_long_vcpu_entry,
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		bpf_program__set_autoload(all[i], false);
	bpf_map__set_autocreate(program->maps.long_exits, bpf->config.has_long);
	bpf->on_exit = choose_exit(bpf);
	bpf->on_entry = choose_entry(bpf);
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
		return set_program(bpf->on_exit, exit->system, exit->event, fields);
	bpf_program__set_autoload(bpf->on_exit, true);
	return exits_raw_set_exit(&bpf->raw, bpf->on_exit);
}

static int set_on_entry(const struct exits_bpf *bpf)
{
	bpf_program__set_autoload(bpf->on_entry, bpf->is_timed);
	return exits_raw_set_entry(&bpf->raw, bpf->on_entry);
}

/* The reasons for which KVM halts a vCPU itself, and so may poll. */
static void set_halts(struct exits_program *program, const struct split *exit)
{
	size_t nr = 0;

	for (size_t i = 0; i < exit->nr_reasons; i++) {
		const struct reason *reason = &exit->reasons[i];

		if (reason->flags & REASON_IDLE && reason->code < EXITS_DENSE && nr < EXITS_HALTS)
			program->rodata->halts[nr++] = (uint32_t)reason->code;
	}
}

static int set_exit(struct exits_bpf *bpf)
{
	struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	char *entry = NULL;
	int err;

	choose_programs(bpf);
	if (!exit)
		return 0;
	program->rodata->has_type = exit->type_field != NULL;
	program->rodata->type_of_field = exit->type_of_field;
	program->rodata->type_bit = REASON_TYPE;
	set_halts(program, exit);
	err = set_on_exit(bpf, exit);
	if (err)
		return err;
	if (exit->entry_event)
		entry = tracefs_event_file_read(NULL, exit->system, exit->entry_event, "id", NULL);
	bpf->is_timed = entry && bpf_program__autoload(bpf->on_exit);
	program->rodata->has_exits = bpf_program__autoload(bpf->on_exit);
	free(entry);
	return set_on_entry(bpf);
}

/* The arguments of these events are their fields, in the same order: Linux 4.3 to 7.1. */
bool exits_bpf_knows_polls(void)
{
	static const char *const wakeup[] = { "ns", "waited", NULL };
	static const char *const limit[] = { "grow", "vcpu_id", "new", "old", NULL };

	return bpf_fields_are("kvm", "kvm_vcpu_wakeup", wakeup) &&
	       bpf_fields_are("kvm", "kvm_halt_poll_ns", limit);
}

static void set_polls(const struct exits_bpf *bpf)
{
	bool has_polls = bpf->config.has_polls && bpf->is_timed &&
			 bpf->raw.polls == EXITS_BY_RECORD;

	bpf_program__set_autoload(bpf->program->progs.on_wakeup, has_polls);
	bpf_program__set_autoload(bpf->program->progs.on_poll_limit, has_polls);
}

/* They need on_exit and on_entry, and only x86 has the event. */
static void set_nested(const struct exits_bpf *bpf)
{
	bool has_nested = bpf->is_timed &&
			  tracefs_event_file_exists(NULL, "kvm", "kvm_nested_vmexit", "id");

	bpf_program__set_autoload(bpf->program->progs.on_nested_exit, has_nested);
	bpf_program__set_autoload(bpf->program->progs.on_nested_entry, has_nested);
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
	if (!is_wanted || !exits_event_of(kind, &event))
		return 0;
	if (!is_raw(bpf, kind))
		return set_program(program, event.system, event.event, event.fields);
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
		err = bpf_map__set_max_entries(program->maps.arguments, bpf->max_keys);
	return err;
}

/* Where a task has no storage, as before Linux 5.12, a hash table by tid is used. */
static int load(struct exits_bpf *bpf, bool has_task_storage)
{
	int err;

	bpf->program = exits_program__open();
	if (!bpf->program)
		return -errno;
	bpf->program->rodata->has_task_storage = has_task_storage;
	bpf->program->rodata->nr_first = bpf->config.max_threads;
	bpf->program->rodata->run_delay_at = bpf->raw.run_delay;
	bpf_map__set_autocreate(has_task_storage ? bpf->program->maps.by_tid :
						   bpf->program->maps.by_task,
				false);
	err = set_exit(bpf);
	set_polls(bpf);
	set_nested(bpf);
	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS && !err; kind++)
		err = set_kind(bpf, (enum exit_kind)kind);
	if (!err)
		err = set_sizes(bpf);
	return err ? err : exits_program__load(bpf->program);
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

	if (!bpf_program__autoload(program) || !exits_event_of(kind, &event))
		return 0;
	return is_raw(bpf, kind) ? attach_raw(bpf, program, event.event) :
				   attach_event(bpf, program, event.system, event.event);
}

static int attach(struct exits_bpf *bpf)
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
		err = attach_raw(bpf, bpf->on_entry, exit->entry_event);
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_poll_limit, "kvm_halt_poll_ns");
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_wakeup, "kvm_vcpu_wakeup");
	if (!err)
		err = attach_raw(bpf, bpf->program->progs.on_nested_exit, "kvm_nested_vmexit");
	return err;
}

/* Puts a number into a queue of free ones. */
static int add_free(const struct bpf_map *map, uint32_t number)
{
	return bpf_map_update_elem(bpf_map__fd(map), NULL, &number, 0) < 0 ? -errno : 0;
}

/* Puts the numbers from first to before end there. */
static int add_numbers(const struct bpf_map *map, uint32_t first, uint32_t end)
{
	int err = 0;

	for (uint32_t i = first; i < end && !err; i++)
		err = add_free(map, i);
	return err;
}

static size_t records_size(uint32_t nr)
{
	return sizeof(struct exits_thread) * nr;
}

static int map_records(int fd, uint32_t nr, struct exits_thread **ret_records)
{
	void *memory = mmap(NULL, records_size(nr), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_records = memory;
	return 0;
}

/* The program finds them as soon as they are in more_threads, but no thread has one yet. */
static int add_chunk(struct exits_bpf *bpf)
{
	const struct bpf_map *like = bpf->program->maps.threads;
	struct bpf_map_create_opts options = { .sz = sizeof(options),
					       .map_flags = BPF_F_MMAPABLE };
	int btf = bpf_object__btf_fd(bpf->program->obj), fd, err;

	if (btf >= 0) { /* up to Linux 6.2 it must have types, as libbpf gives them to maps */
		options.btf_fd = (uint32_t)btf;
		options.btf_key_type_id = bpf_map__btf_key_type_id(like);
		options.btf_value_type_id = bpf_map__btf_value_type_id(like);
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "threads", sizeof(uint32_t),
			    sizeof(struct exits_thread), EXITS_CHUNK, &options);
	if (fd < 0)
		return -errno;
	err = map_records(fd, EXITS_CHUNK, &bpf->more[bpf->nr_more]);
	if (!err && bpf_map_update_elem(bpf_map__fd(bpf->program->maps.more_threads),
					&bpf->nr_more, &fd, BPF_ANY) < 0) {
		err = -errno;
		munmap(bpf->more[bpf->nr_more], records_size(EXITS_CHUNK));
	}
	close(fd);
	return err;
}

int exits_bpf_add_threads(struct exits_bpf *bpf, struct why *why)
{
	uint32_t end = exits_bpf_max_threads(bpf) + EXITS_CHUNK;
	int err = bpf->nr_more < EXITS_CHUNKS ? add_chunk(bpf) : -E2BIG;

	if (!err) {
		bpf->nr_more++;
		err = add_numbers(bpf->program->maps.free_threads, end - EXITS_CHUNK, end);
	}
	if (err)
		return why_set(why, err, "no room for more than %u vCPU threads: %s",
			       exits_bpf_max_threads(bpf), strerror(-err));
	return 0;
}

uint32_t exits_bpf_max_threads(const struct exits_bpf *bpf)
{
	return bpf->config.max_threads + bpf->nr_more * EXITS_CHUNK;
}

uint32_t exits_bpf_nr_late(const struct exits_bpf *bpf)
{
	return bpf->program->bss->nr_late - bpf->nr_late;
}

static int give_late(uint64_t pid_tgid, const struct exits_late *late, exits_late_fn take,
		     void *arg)
{
	struct exits_thread record = {
		.tid = (uint32_t)pid_tgid,
		.tgid = pid_tgid >> 32,
		.vcpu = late->vcpu,
		.cpu = late->cpu,
		.first_ns = late->first_ns,
	};

	memcpy(record.comm, late->comm, sizeof(record.comm));
	for (unsigned int i = 0; i < EXITS_CELLS; i++) {
		record.cells[i].count = late->counts[i];
		if (late->counts[i])
			record.used[i / 64] |= UINT64_C(1) << i % 64;
	}
	return take(arg, &record);
}

/* After it each thread has seen that there is room, and no program works on its entry. */
static void wait_for_programs(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

static int take_all_late(struct exits_bpf *bpf, uint64_t *pid_tgids, struct exits_late *late,
			 exits_late_fn take, void *arg)
{
	uint32_t nr = EXITS_LATE, batch;
	int err;

	wait_for_programs();
	err = bpf_map_lookup_and_delete_batch(bpf_map__fd(bpf->program->maps.late_threads), NULL,
					      &batch, pid_tgids, late, &nr, NULL);
	if (err && err != -ENOENT) /* that is: these are all */
		return err;
	bpf->nr_late += nr;
	err = 0;
	for (uint32_t i = 0; i < nr && !err; i++)
		err = give_late(pid_tgids[i], &late[i], take, arg);
	return err;
}

int exits_bpf_take_late(struct exits_bpf *bpf, exits_late_fn take, void *arg)
{
	struct exits_late *late;
	uint64_t *pid_tgids;
	int err = -ENOMEM;

	if (!exits_bpf_nr_late(bpf))
		return 0;
	pid_tgids = calloc(EXITS_LATE, sizeof(*pid_tgids));
	late = calloc(EXITS_LATE, sizeof(*late));
	if (pid_tgids && late)
		err = take_all_late(bpf, pid_tgids, late, take, arg);
	free(pid_tgids);
	free(late);
	return err;
}

static int take_long(void *arg, void *data, size_t size)
{
	const struct exits_bpf *bpf = arg;

	return size < sizeof(struct exits_long) ? 0 : bpf->take(bpf->take_arg, data);
}

static int open_ring(struct exits_bpf *bpf)
{
	if (!bpf->config.has_long)
		return 0;
	bpf->ring = ring_buffer__new(bpf_map__fd(bpf->program->maps.long_exits), take_long, bpf,
				     NULL);
	return bpf->ring ? 0 : -errno;
}

void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out)
{
	bpf->program->bss->longer_ns = longer_ns;
	memcpy(bpf->program->bss->is_left_out, is_left_out, EXITS_CELLS * sizeof(*is_left_out));
}

int exits_bpf_long(struct exits_bpf *bpf, exits_long_fn take, void *arg)
{
	int nr = 0;

	bpf->take = take;
	bpf->take_arg = arg;
	if (bpf->ring)
		nr = ring_buffer__consume(bpf->ring);
	return nr < 0 ? nr : 0;
}

/* What this kernel does not know may be done in an older way, until there is none. */
static bool take_older_way(struct exits_bpf *bpf, bool *has_task_storage)
{
	struct exits_raw *raw = &bpf->raw;

	if (raw->way == EXITS_BY_LOAD || raw->polls == EXITS_BY_LOAD) {
		raw->way = raw->way == EXITS_BY_LOAD ? EXITS_BY_READ : raw->way;
		raw->polls = raw->polls == EXITS_BY_LOAD ? EXITS_BY_READ : raw->polls;
		raw->cast = 0;
		return true;
	}
	if (raw->run_delay) { /* before Linux 5.11 no program may look into the task */
		raw->run_delay = 0;
		return true;
	}
	if (raw->way != EXITS_BY_RECORD || raw->polls != EXITS_BY_RECORD ||
	    exits_raw_has_events(raw)) {
		*raw = (struct exits_raw){ .way = EXITS_BY_RECORD, .polls = EXITS_BY_RECORD };
		return true;
	}
	if (!*has_task_storage)
		return false;
	*has_task_storage = false;
	return true;
}

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

static int open_all(struct exits_bpf *bpf, struct why *why)
{
	bool has_task_storage = true;
	int err = load(bpf, has_task_storage);

	while (err && err != -EPERM && err != -ENOMEM && take_older_way(bpf, &has_task_storage)) {
		exits_program__destroy(bpf->program);
		err = load(bpf, has_task_storage);
	}
	if (!err && has_task_storage && !can_store(bpf)) {
		exits_program__destroy(bpf->program);
		err = load(bpf, false);
	}
	if (err)
		return why_set(why, err, "the kernel refuses our BPF program: %s", strerror(-err));
	err = map_records(bpf_map__fd(bpf->program->maps.threads), bpf->config.max_threads,
			  &bpf->threads);
	if (!err)
		err = add_numbers(bpf->program->maps.free_threads, 0, bpf->config.max_threads);
	if (!err)
		err = open_ring(bpf);
	if (err)
		return why_set(why, err, "cannot use our BPF program: %s", strerror(-err));
	return 0;
}

static void *destroy(void *arg)
{
	struct exits_bpf *bpf = arg;

	for (size_t i = 0; i < bpf->nr_hooks; i++)
		close(bpf->hooks[i]);
	if (bpf->nested_entry >= 0)
		close(bpf->nested_entry);
	if (bpf->threads)
		munmap(bpf->threads, records_size(bpf->config.max_threads));
	for (uint32_t i = 0; i < bpf->nr_more; i++)
		munmap(bpf->more[i], records_size(EXITS_CHUNK));
	ring_buffer__free(bpf->ring);
	exits_program__destroy(bpf->program);
	free(bpf->keys);
	free(bpf->cells);
	free(bpf);
	return NULL;
}

/*
 * A thread that uses all its slots may have twice as many while an epoch changes; most use few.
 * Reading takes the longer the larger the map is.
 */
static uint32_t max_arguments(const struct exits_bpf_config *config)
{
	uint64_t most = (uint64_t)EXITS_ARGUMENTS * config->max_threads;

	if (!config->has_arguments)
		return 1;
	return most < ARGUMENTS_MOST ? (uint32_t)most : ARGUMENTS_MOST;
}

int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct why *why)
{
	struct exits_bpf *bpf = calloc(1, sizeof(*bpf));
	int err;

	if (!bpf)
		return -ENOMEM;
	bpf->config = *config;
	bpf->nested_entry = -1;
	if (config->raw)
		bpf->raw = *config->raw;
	if (!config->exit || (config->has_long && !bpf->raw.has_pc))
		bpf->raw.way = EXITS_BY_RECORD;
	if (!config->has_long)
		bpf->raw.run_delay = 0;
	bpf_be_quiet();
	bpf->max_keys = max_arguments(config);
	bpf->keys = calloc(bpf->max_keys, sizeof(*bpf->keys));
	bpf->cells = calloc(bpf->max_keys, sizeof(*bpf->cells));
	if (!bpf->keys || !bpf->cells)
		err = -ENOMEM;
	else
		err = open_all(bpf, why);
	if (err) {
		destroy(bpf);
		return err;
	}
	*ret_bpf = bpf;
	return 0;
}

/* 0 of a program that is not attached. */
static uint64_t missed_by(const struct bpf_program *program)
{
	return program && bpf_program__autoload(program) ? bpf_missed(bpf_program__fd(program)) : 0;
}

/* Since the programs were loaded. */
static uint64_t missed_by_all(const struct exits_bpf *bpf)
{
	uint64_t missed = missed_by(bpf->on_exit);

	for (unsigned int kind = EXITS_USERSPACE; kind < EXITS_KINDS; kind++)
		missed += missed_by(program_of(bpf, (enum exit_kind)kind));
	return missed;
}

int exits_bpf_attach(struct exits_bpf *bpf, struct why *why)
{
	int err = add_numbers(bpf->program->maps.free_cells, EXITS_OTHER + 1, EXITS_CELLS);

	if (!err)
		err = attach(bpf);
	if (err)
		return why_set(why, err, "cannot attach to the kernel's events: %s",
			       strerror(-err));
	bpf->missed = missed_by_all(bpf);
	bpf->program->bss->is_counting = true;
	return 0;
}

/* In a thread: closing an event waits for the kernel's RCU, some 40 ms each. */
void exits_bpf_close(struct exits_bpf *bpf)
{
	pthread_t thread;

	if (!bpf)
		return;
	if (pthread_create(&thread, NULL, destroy, bpf) == 0)
		pthread_detach(thread);
	else
		destroy(bpf);
}

bool exits_bpf_look_for_nested(struct exits_bpf *bpf)
{
	bool is_nesting = bpf->program->bss->is_nesting;

	bpf->program->bss->is_nesting = false;
	bpf->nested_idle = is_nesting ? 0 : bpf->nested_idle + 1;
	if (is_nesting && bpf->nested_entry < 0) {
		bpf->nested_entry = bpf_raw_tracepoint_open(
			bpf->config.exit->entry_event,
			bpf_program__fd(bpf->program->progs.on_nested_entry));
	} else if (bpf->nested_entry >= 0 && bpf->nested_idle > NESTED_IDLE) {
		close(bpf->nested_entry);
		bpf->nested_entry = -1;
	}
	return is_nesting;
}

enum exits_way exits_bpf_way(const struct exits_bpf *bpf)
{
	return bpf->raw.way;
}

enum exits_way exits_bpf_polls(const struct exits_bpf *bpf)
{
	return bpf->raw.polls;
}

bool exits_bpf_knows_waits(const struct exits_bpf *bpf)
{
	return bpf->raw.run_delay;
}

bool exits_bpf_is_timed(const struct exits_bpf *bpf)
{
	return bpf->is_timed;
}

const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf)
{
	return bpf->program->bss->codes;
}

static struct exits_thread *thread_at(const struct exits_bpf *bpf, uint32_t i)
{
	if (i < bpf->config.max_threads)
		return &bpf->threads[i];
	i -= bpf->config.max_threads;
	return &bpf->more[i / EXITS_CHUNK][i % EXITS_CHUNK];
}

const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i)
{
	return thread_at(bpf, i);
}

static int read_arguments(struct exits_bpf *bpf)
{
	int fd = bpf_map__fd(bpf->program->maps.arguments);
	uint32_t batch, nr = 0;
	int err = 0;

	while (!err && nr < bpf->max_keys) {
		uint32_t n = bpf->max_keys - nr;

		err = bpf_map_lookup_batch(fd, nr ? &batch : NULL, &batch, bpf->keys + nr,
					   bpf->cells + nr, &n, NULL);
		if (err && err != -ENOENT)
			return err;
		nr += n;
	}
	bpf->nr_keys = nr;
	return 0;
}

long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct why *why)
{
	int err = bpf->config.has_arguments ? read_arguments(bpf) : 0;

	if (err)
		return why_set(why, err, "cannot read the arguments of exits from the kernel: %s",
			       strerror(-err));
	*ret_keys = bpf->keys;
	*ret_cells = bpf->cells;
	return bpf->nr_keys;
}

bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key)
{
	return key->epoch != (uint8_t)thread_at(bpf, key->thread)->epoch;
}

/*
 * Drops the arguments of an epoch that is over, and of records that are free now: else the next
 * thread would get them.
 */
static void free_arguments(struct exits_bpf *bpf)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < bpf->nr_keys; i++) {
		const struct exits_argument_key *key = &bpf->keys[i];

		if (exits_bpf_is_over(bpf, key) || !thread_at(bpf, key->thread)->tid)
			bpf->keys[nr++] = *key;
	}
	bpf->nr_keys = 0;
	if (nr)
		bpf_map_delete_batch(bpf_map__fd(bpf->program->maps.arguments), bpf->keys, &nr,
				     NULL);
}

void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct exits_thread *thread = thread_at(bpf, numbers[i]);

		if (!bpf->program->rodata->has_task_storage)
			bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.by_tid), &thread->tid);
		memset(thread, 0, sizeof(*thread));
	}
	free_arguments(bpf);
	for (uint32_t i = 0; i < nr; i++)
		add_free(bpf->program->maps.free_threads, numbers[i]);
	for (uint32_t i = 0; bpf->config.has_arguments && i < exits_bpf_max_threads(bpf); i++) {
		struct exits_thread *thread = thread_at(bpf, i);

		if (thread->nr_arguments < EXITS_ARGUMENTS)
			continue;
		thread->epoch++;
		thread->nr_arguments = 0;
	}
}

struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf)
{
	return (struct exits_bpf_lost){
		.exits = bpf->program->bss->lost_exits,
		.arguments = bpf->program->bss->lost_arguments,
		.long_exits = bpf->program->bss->lost_long_exits,
		.missed = missed_by_all(bpf) - bpf->missed,
	};
}
