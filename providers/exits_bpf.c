// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads, attaches, maps and reads the BPF program of the provider "exits". */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <tracefs.h>
#include <unistd.h>

#include "arch/argument.h"
#include "providers/bpf_fields.h"
#include "providers/cpus.h"
#include "providers/exits_bpf.h"
/* After what it is about. */
#include "providers/exits.skel.h"

#define ARGUMENTS_MAX 16384 /* told apart on one host */
#define LINKS_MAX (3 + EXITS_ARGUMENTS)

struct exits_bpf {
	struct exits_bpf_config config;
	struct exits_program *program;
	struct bpf_link *links[LINKS_MAX];
	size_t nr_links;
	int cpu; /* one that is online: an event must be opened somewhere */
	struct exits_thread *threads; /* the map's own memory */
	size_t threads_size;
	bool is_timed;
	struct exits_argument_key *keys; /* what exits_bpf_arguments() read */
	struct exits_cell *cells;
};

int bpf_probe(const struct env *env, struct why *why)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd, err;

	(void)env;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "kvmtop_probe", "GPL", insns, 2, NULL);
	err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err == -EPERM || err == -EACCES)
		return why_set(why, err, "the kernel allows no BPF: run as root, or grant it: "
					 "setcap cap_bpf,cap_perfmon,cap_dac_read_search,"
					 "cap_sys_ptrace+ep kvmtop");
	if (err)
		return why_set(why, err, "the kernel has no BPF for trace events: %s",
			       strerror(-err));
	return 0;
}

static int take_cpu(void *arg, int cpu)
{
	int *first = arg;

	if (*first < 0)
		*first = cpu;
	return 0;
}

/* libbpf is for us, not for the user. */
static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* ---- making it fit this kernel ---- */

/* A program that cannot be used here is not loaded. */
static int set_program(struct bpf_program *program, const char *system, const char *event,
		       const struct bpf_field *fields)
{
	int err = bpf_fields_set(program, system, event, fields);

	if (!err || err == -ENOENT)
		bpf_program__set_autoload(program, !err);
	return err == -ENOENT ? 0 : err;
}

static int set_exit(struct exits_bpf *bpf)
{
	struct exits_program *program = bpf->program;
	const struct split *exit = bpf->config.exit;
	const struct bpf_field fields[] = {
		{ FIELD_REASON, exit ? exit->field : NULL, 0 },
		{ FIELD_TYPE, exit ? exit->type_field : NULL, 0 },
		{ FIELD_VCPU, "vcpu_id", (int)EXITS_NO_VCPU },
		{ 0 },
	};
	char *entry = NULL;
	int err;

	bpf_program__set_autoload(program->progs.on_exit, false);
	bpf_program__set_autoload(program->progs.on_entry, false);
	if (!exit)
		return 0;
	program->rodata->has_type = exit->type_field != NULL;
	program->rodata->type_of_field = exit->type_of_field;
	program->rodata->type_bit = REASON_TYPE;
	err = set_program(program->progs.on_exit, exit->system, exit->event, fields);
	if (err)
		return err;
	if (exit->entry_event)
		entry = tracefs_event_file_read(NULL, exit->system, exit->entry_event, "id", NULL);
	bpf->is_timed = entry && bpf_program__autoload(program->progs.on_exit);
	bpf_program__set_autoload(program->progs.on_entry, bpf->is_timed);
	free(entry);
	return 0;
}

static int set_userspace(struct exits_bpf *bpf)
{
	const struct split *split = &arch_userspace_split;
	const struct bpf_field fields[] = {
		{ FIELD_REASON, split->field, 0 },
		{ FIELD_TYPE, "errno", 0 },
		{ 0 },
	};

	return set_program(bpf->program->progs.on_userspace, split->system, split->event, fields);
}

static struct bpf_program *argument_program(const struct exits_bpf *bpf, size_t i)
{
	struct bpf_program *const programs[EXITS_ARGUMENTS] = {
		[EXITS_IOPORT] = bpf->program->progs.on_ioport,
		[EXITS_MMIO] = bpf->program->progs.on_mmio,
		[EXITS_MSR] = bpf->program->progs.on_msr,
		[EXITS_CPUID] = bpf->program->progs.on_cpuid,
		[EXITS_HYPERCALL] = bpf->program->progs.on_hypercall,
	};

	return programs[i];
}

/* The event of an argument that this kernel has; NULL: none. */
static const char *argument_event(size_t i)
{
	const struct argument *argument = argument_at(i);

	for (size_t j = 0; j < 2 && argument->events[j].event; j++) {
		if (tracefs_event_file_exists(NULL, "kvm", argument->events[j].event, "id"))
			return argument->events[j].event;
	}
	return NULL;
}

static int set_argument(const struct exits_bpf *bpf, size_t i)
{
	struct bpf_program *program = argument_program(bpf, i);
	const char *event = bpf->config.has_arguments ? argument_event(i) : NULL;
	const struct argument_event *names = argument_at(i)->events;

	bpf_program__set_autoload(program, false);
	if (!event)
		return 0;
	while (names->event != event)
		names++;

	const struct bpf_field fields[] = {
		{ FIELD_A, names->a, 0 },
		{ FIELD_B, names->b, 0 },
		{ FIELD_C, names->c, 0 },
		{ 0 },
	};

	return set_program(program, "kvm", event, fields);
}

static int set_sizes(const struct exits_bpf *bpf)
{
	const struct exits_program *program = bpf->program;
	uint32_t threads = bpf->config.max_threads;
	uint32_t arguments = bpf->config.has_arguments ? ARGUMENTS_MAX : 1;
	int err = bpf_map__set_max_entries(program->maps.threads, threads);

	if (!err)
		err = bpf_map__set_max_entries(program->maps.free_threads, threads);
	if (!err && !program->rodata->has_task_storage)
		err = bpf_map__set_max_entries(program->maps.by_tid, threads);
	if (!err)
		err = bpf_map__set_max_entries(program->maps.arguments, arguments);
	return err;
}

/* Before 5.12 the kernel cannot keep things in a task: a hash table does. */
static int load(struct exits_bpf *bpf, bool has_task_storage)
{
	int err;

	bpf->program = exits_program__open();
	if (!bpf->program)
		return -errno;
	bpf->program->rodata->has_task_storage = has_task_storage;
	bpf_map__set_autocreate(has_task_storage ? bpf->program->maps.by_tid :
						   bpf->program->maps.by_task,
				false);
	err = set_exit(bpf);
	if (!err)
		err = set_userspace(bpf);
	for (size_t i = 0; i < EXITS_ARGUMENTS && !err; i++)
		err = set_argument(bpf, i);
	if (!err)
		err = set_sizes(bpf);
	return err ? err : exits_program__load(bpf->program);
}

static int load_somehow(struct exits_bpf *bpf)
{
	int err = load(bpf, true);

	if (!err || err == -EPERM || err == -ENOMEM)
		return err;
	exits_program__destroy(bpf->program);
	return load(bpf, false);
}

/* ---- attaching ---- */

static int add_link(struct exits_bpf *bpf, struct bpf_link *link)
{
	if (!link)
		return -errno;
	bpf->links[bpf->nr_links++] = link;
	return 0;
}

/* As a trace event, not as a raw tracepoint: only those have the fields that the format names. */
static int attach_event(struct exits_bpf *bpf, struct bpf_program *program, const char *system,
			const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.wakeup_events = 1,
	};
	char *id;
	int fd, err;

	if (!bpf_program__autoload(program))
		return 0;
	id = tracefs_event_file_read(NULL, system, event, "id", NULL);
	if (!id)
		return -ENOENT;
	attr.config = strtoull(id, NULL, 10);
	free(id);
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, bpf->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* The link owns the descriptor. */
	err = add_link(bpf, bpf_program__attach_perf_event(program, fd));
	if (err)
		close(fd);
	return err;
}

/* The entries last: one without its exit means nothing. */
static int attach(struct exits_bpf *bpf)
{
	const struct split *exit = bpf->config.exit, *user = &arch_userspace_split;
	int err = attach_event(bpf, bpf->program->progs.on_userspace, user->system, user->event);

	for (size_t i = 0; i < EXITS_ARGUMENTS && !err; i++)
		err = attach_event(bpf, argument_program(bpf, i), "kvm", argument_event(i));
	if (!err && exit)
		err = attach_event(bpf, bpf->program->progs.on_exit, exit->system, exit->event);
	if (!err && bpf->is_timed)
		err = add_link(bpf, bpf_program__attach_raw_tracepoint(bpf->program->progs.on_entry,
								       exit->entry_event));
	return err;
}

/* Every number from first on goes into a queue of free ones. */
static int fill_queue(const struct bpf_map *map, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (bpf_map_update_elem(bpf_map__fd(map), NULL, &i, 0) < 0)
			return -errno;
	}
	return 0;
}

static int map_threads(struct exits_bpf *bpf)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory;

	bpf->threads_size = (sizeof(struct exits_thread) * bpf->config.max_threads + page - 1) /
			    page * page;
	memory = mmap(NULL, bpf->threads_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(bpf->program->maps.threads), 0);
	if (memory == MAP_FAILED)
		return -errno;
	bpf->threads = memory;
	return 0;
}

static int open_all(struct exits_bpf *bpf, struct why *why)
{
	int err = load_somehow(bpf);

	if (err)
		return why_set(why, err, "the kernel refuses our BPF program: %s", strerror(-err));
	err = map_threads(bpf);
	if (!err)
		err = fill_queue(bpf->program->maps.free_threads, 0, bpf->config.max_threads);
	if (!err)
		err = fill_queue(bpf->program->maps.free_cells, EXITS_OTHER + 1, EXITS_CELLS);
	if (!err)
		err = attach(bpf);
	if (err)
		return why_set(why, err, "cannot attach to the kernel's events: %s",
			       strerror(-err));
	return 0;
}

static void *destroy(void *arg)
{
	struct exits_bpf *bpf = arg;

	for (size_t i = 0; i < bpf->nr_links; i++)
		bpf_link__destroy(bpf->links[i]);
	if (bpf->threads)
		munmap(bpf->threads, bpf->threads_size);
	exits_program__destroy(bpf->program);
	free(bpf->keys);
	free(bpf->cells);
	free(bpf);
	return NULL;
}

int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct why *why)
{
	struct exits_bpf *bpf = calloc(1, sizeof(*bpf));
	int err;

	if (!bpf)
		return -ENOMEM;
	bpf->config = *config;
	bpf->cpu = -1;
	libbpf_set_print(be_quiet);
	if (config->has_arguments) {
		bpf->keys = calloc(ARGUMENTS_MAX, sizeof(*bpf->keys));
		bpf->cells = calloc(ARGUMENTS_MAX, sizeof(*bpf->cells));
	}
	if (config->has_arguments && (!bpf->keys || !bpf->cells))
		err = -ENOMEM;
	else if (cpus_online(config->env, take_cpu, &bpf->cpu) < 0 || bpf->cpu < 0)
		err = why_set(why, -EIO, "cannot read " CPUS_ONLINE);
	else
		err = open_all(bpf, why);
	if (err) {
		destroy(bpf);
		return err;
	}
	*ret_bpf = bpf;
	return 0;
}

/* Closing an event waits for the kernel's RCU, some 40 ms each. */
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

/* ---- reading ---- */

bool exits_bpf_is_timed(const struct exits_bpf *bpf)
{
	return bpf->is_timed;
}

const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf)
{
	return bpf->program->bss->codes;
}

const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i)
{
	return &bpf->threads[i];
}

long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells)
{
	int fd = bpf_map__fd(bpf->program->maps.arguments);
	uint32_t batch, nr = 0;
	bool is_first = true;
	int err = 0;

	if (!bpf->config.has_arguments)
		return 0;
	while (!err && nr < ARGUMENTS_MAX) {
		uint32_t n = ARGUMENTS_MAX - nr;

		err = bpf_map_lookup_batch(fd, is_first ? NULL : &batch, &batch, bpf->keys + nr,
					   bpf->cells + nr, &n, NULL);
		if (err && err != -ENOENT)
			return err;
		nr += n;
		is_first = false;
	}
	*ret_keys = bpf->keys;
	*ret_cells = bpf->cells;
	return nr;
}

/* What the thread's exits were about must not pass for the next thread's. */
static void free_arguments(struct exits_bpf *bpf, uint32_t thread)
{
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	long nr = exits_bpf_arguments(bpf, &keys, &cells);

	for (long i = 0; i < nr; i++) {
		if (keys[i].thread == thread)
			bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.arguments), &keys[i]);
	}
}

void exits_bpf_free_thread(struct exits_bpf *bpf, uint32_t i)
{
	uint32_t tid = bpf->threads[i].tid;

	free_arguments(bpf, i);

	if (!bpf->program->rodata->has_task_storage)
		bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.by_tid), &tid);
	memset(&bpf->threads[i], 0, sizeof(bpf->threads[i]));
	bpf_map_update_elem(bpf_map__fd(bpf->program->maps.free_threads), NULL, &i, 0);
}

struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf)
{
	return (struct exits_bpf_lost){ bpf->program->bss->lost_exits,
					bpf->program->bss->lost_arguments };
}
