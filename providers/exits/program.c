// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps, reads and empties what the BPF program of the provider "exits" counts. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define ARGUMENTS_MOST 65536 /* of all threads: 13 MiB */
#define READ_TRIES 3
#define WATCH_IDLE 10 /* samples after which a program that is not needed is detached */

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

/* The program finds them as soon as they are in more_threads, but no thread has one yet. */
static int add_chunk(struct exits_bpf *bpf)
{
	void *records;
	int err = bpf_add_chunk(bpf->program->obj, bpf->program->maps.more_threads, bpf->nr_more,
				bpf->program->maps.threads, EXITS_CHUNK, &records);

	if (!err)
		bpf->records.more[bpf->nr_more] = records;
	return err;
}

int exits_bpf_add_threads(struct exits_bpf *bpf, struct error *error)
{
	uint32_t first = bpf->max_threads;
	int err = bpf->nr_more < EXITS_CHUNKS ? add_chunk(bpf) : -E2BIG;

	if (!err) {
		bpf->nr_more++;
		bpf->max_threads += EXITS_CHUNK;
		err = add_numbers(bpf->program->maps.free_threads, first, bpf->max_threads);
	}
	if (err)
		return error_set(error, err, "no room for more than %u vCPU threads: %s",
				 bpf->max_threads, strerror(-err));
	return 0;
}

static int take_long(void *arg, void *data, size_t size)
{
	const struct exits_bpf *bpf = arg;

	if (size >= sizeof(struct exits_long))
		bpf->take(bpf->take_arg, data);
	return 0;
}

static int open_ring(struct exits_bpf *bpf)
{
	if (!bpf->config.has_long)
		return 0;
	bpf->ring = ring_buffer__new(bpf_map__fd(bpf->program->maps.long_exits), take_long,
				     bpf, NULL);
	return bpf->ring ? 0 : -errno;
}

void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out)
{
	bpf->bss->longer_ns = longer_ns;
	memcpy(bpf->bss->is_left_out, is_left_out,
	       EXITS_CELLS * sizeof(*is_left_out));
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

/*
 * A thread that uses all its slots may have twice as many while an epoch changes; most use few.
 * A larger map takes longer to read.
 */
static uint32_t arguments_of(uint32_t threads)
{
	uint64_t most = (uint64_t)EXITS_ARGUMENTS * threads;

	return most < ARGUMENTS_MOST ? (uint32_t)most : ARGUMENTS_MOST;
}

static uint32_t type_of(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 ? (uint32_t)id : 0;
}

/* See bpf_add_chunk(). A descriptor or -errno. */
static int create_arguments(const struct exits_bpf *bpf)
{
	const struct bpf_object *object = bpf->program->obj;
	struct bpf_map_create_opts options = { .sz = sizeof(options) };
	int btf = bpf_object__btf_fd(object), fd;

	if (btf >= 0) {
		options.btf_fd = (uint32_t)btf;
		options.btf_key_type_id = type_of(bpf_object__btf(object), "exits_argument_key");
		options.btf_value_type_id = type_of(bpf_object__btf(object), "exits_cell");
	}
	fd = bpf_map_create(BPF_MAP_TYPE_HASH, "arguments", sizeof(struct exits_argument_key),
			    sizeof(struct exits_cell), bpf->max_arguments, &options);
	return fd < 0 ? -errno : fd;
}

/* Each thread begins a new epoch: what it had before is in no map. */
static void begin_epochs(const struct exits_bpf *bpf)
{
	for (uint32_t i = 0; i < bpf->max_threads; i++) {
		struct exits_thread *thread = exits_records_at(&bpf->records, i);

		if (!thread->nr_arguments)
			continue;
		thread->epoch++;
		thread->nr_arguments = 0;
	}
}

/* The programs that count them come later. */
static int begin_arguments(struct exits_bpf *bpf)
{
	const uint32_t only = 0;

	begin_epochs(bpf);
	bpf->max_arguments = arguments_of(bpf->max_threads);
	bpf->arguments_map = create_arguments(bpf);
	if (bpf->arguments_map < 0)
		return bpf->arguments_map;
	bpf->keys = xcalloc(bpf->max_arguments, sizeof(*bpf->keys));
	bpf->cells = xcalloc(bpf->max_arguments, sizeof(*bpf->cells));
	return bpf_map_update_elem(bpf_map__fd(bpf->program->maps.arguments), &only,
				   &bpf->arguments_map, BPF_ANY) < 0 ? -errno : 0;
}

static void end_arguments(struct exits_bpf *bpf)
{
	const uint32_t only = 0;

	if (bpf->arguments_map < 0)
		return;
	if (bpf->program)
		bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.arguments), &only);
	close(bpf->arguments_map);
	bpf->arguments_map = -1;
	free(bpf->keys);
	free(bpf->cells);
	bpf->keys = NULL;
	bpf->cells = NULL;
	bpf->nr_keys = 0;
}

/*
 * Empties what only the new programs note: what records have of it was noted before the programs
 * that run now, which matters where an exit is open.
 */
static void forget_notes(const struct exits_bpf *bpf, const struct exits_bpf_config *before)
{
	bool begins_long = bpf->config.has_long && !before->has_long;
	bool begins_pcs = bpf->config.has_pcs && !before->has_pcs;

	for (uint32_t i = 0; i < bpf->max_threads; i++) {
		struct exits_thread *thread = exits_records_at(&bpf->records, i);

		if (!thread->tid)
			continue;
		if (!before->has_long && !before->has_pcs)
			thread->pc = 0;
		if (begins_long) {
			thread->user_ns = thread->polled_ns = 0;
			thread->waited_before_ns = thread->at.sums.waited;
		}
		if (begins_pcs && thread->extra)
			memset(exits_records_at(&bpf->records, thread->extra - 1)->has.pcs, 0,
			       sizeof(thread->has.pcs));
	}
}

static int open_all(struct exits_bpf *bpf, struct error *error)
{
	int err = exits_load(bpf);

	if (err)
		return error_set(error, err,
				 "the kernel refuses our BPF program: %s", strerror(-err));
	bpf->bss = bpf_memory(bpf_map__fd(bpf->program->maps.bss), sizeof(*bpf->bss));
	if (!bpf->bss)
		return error_set(error, -errno, "no memory of our BPF program: %s",
				 strerror(errno));
	bpf->codes = bpf->bss->codes;
	bpf->records.first = bpf_memory(bpf_map__fd(bpf->program->maps.threads),
					records_size(bpf->config.max_threads));
	bpf->records.nr_first = bpf->config.max_threads;
	err = bpf->records.first ? 0 : -errno;
	if (!err)
		err = add_numbers(bpf->program->maps.free_threads, 0,
				  bpf->config.max_threads);
	if (!err)
		err = open_ring(bpf);
	if (!err && bpf->config.has_arguments)
		err = begin_arguments(bpf);
	if (err)
		return error_set(error, err, "cannot use our BPF program: %s", strerror(-err));
	return 0;
}

static void *destroy(void *arg)
{
	struct exits_bpf *bpf = arg;

	bpf_link__destroy(bpf->nested.link);
	if (bpf->records.first)
		munmap(bpf->records.first, records_size(bpf->records.nr_first));
	for (uint32_t i = 0; i < bpf->nr_more; i++)
		munmap(bpf->records.more[i], records_size(EXITS_CHUNK));
	ring_buffer__free(bpf->ring);
	end_arguments(bpf);
	exits_unload(bpf);
	if (bpf->bss)
		munmap(bpf->bss, sizeof(*bpf->bss));
	free(bpf);
	return NULL;
}

int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct error *error)
{
	struct exits_bpf *bpf = xcalloc(1, sizeof(*bpf));
	int err;

	bpf->config = *config;
	bpf->max_threads = config->max_threads;
	bpf->arguments_map = -1;
	bpf_be_quiet();
	err = open_all(bpf, error);
	if (err) {
		destroy(bpf);
		return err;
	}
	*ret_bpf = bpf;
	return 0;
}

int exits_bpf_attach(struct exits_bpf *bpf, struct error *error)
{
	int err = add_numbers(bpf->program->maps.free_cells, EXITS_OTHER + 1, EXITS_CELLS);

	if (!err)
		err = exits_attach(bpf);
	if (err)
		return error_set(error, err, "cannot attach to the kernel's events: %s",
				 strerror(-err));
	bpf->missed = exits_missed(bpf);
	bpf->bss->sees_away = bpf->sees_away;
	bpf->bss->is_counting = true;
	return 0;
}

int exits_bpf_change(struct exits_bpf *bpf, const struct exits_bpf_config *config,
		     struct error *error)
{
	const struct exits_bpf_config before = bpf->config;
	uint64_t missed = exits_missed(bpf);
	int err = 0;

	exits_wait_for_end(bpf);
	bpf->config = *config;
	bpf->config.max_threads = before.max_threads;
	if (!config->has_arguments)
		end_arguments(bpf);
	else if (!before.has_arguments)
		err = begin_arguments(bpf);
	forget_notes(bpf, &before);
	if (!err)
		err = exits_change(bpf, &before);
	if (!config->has_long) {
		ring_buffer__free(bpf->ring);
		bpf->ring = NULL;
	}
	if (!err && !bpf->ring)
		err = open_ring(bpf);
	if (err)
		return error_set(error, err, "cannot change our BPF program: %s", strerror(-err));
	bpf->missed += exits_missed(bpf) - missed;
	return 0;
}

/* In a thread: closing an event waits for the kernel's RCU, some 40 ms each. */
void exits_bpf_close(struct exits_bpf *bpf)
{
	pthread_t thread;

	if (!bpf)
		return;
	if (thread_start(&thread, destroy, bpf) == 0)
		pthread_detach(thread);
	else
		destroy(bpf);
}

static void keep_watch(struct exits_watch *watch, bool is_needed, const struct bpf_program *program)
{
	watch->idle = is_needed ? 0 : watch->idle + 1;
	if (is_needed && !watch->link) {
		watch->link = bpf_program__attach(program);
	} else if (watch->link && watch->idle > WATCH_IDLE) {
		bpf_link__destroy(watch->link);
		watch->link = NULL;
	}
}

bool exits_bpf_look_for_nested(struct exits_bpf *bpf)
{
	bool is_nesting = bpf->bss->is_nesting;

	bpf->bss->is_nesting = false;
	if (is_nesting || bpf->nested.link)
		keep_watch(&bpf->nested, is_nesting, bpf->program->progs.on_nested_entry);
	return is_nesting;
}

const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i)
{
	return exits_records_at(&bpf->records, i);
}

static int read_arguments_once(struct exits_bpf *bpf)
{
	int fd = bpf->arguments_map;
	uint32_t batch, nr = 0;
	int err = 0;

	while (!err && nr < bpf->max_arguments) {
		uint32_t n = bpf->max_arguments - nr;

		err = bpf_map_lookup_batch(fd, nr ? &batch : NULL, &batch, bpf->keys + nr,
					   bpf->cells + nr, &n, NULL);
		if (err && err != -ENOENT)
			return err;
		nr += n;
	}
	bpf->nr_keys = nr;
	return 0;
}

/* While the programs add keys the kernel may see one twice, and then have no room for the last. */
static int read_arguments(struct exits_bpf *bpf)
{
	int err = -ENOSPC;

	for (int i = 0; i < READ_TRIES && err == -ENOSPC; i++)
		err = read_arguments_once(bpf);
	return err;
}

long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct error *error)
{
	int err = bpf->config.has_arguments ? read_arguments(bpf) : 0;

	if (err)
		return error_set(error, err,
				 "cannot read the arguments of exits from the kernel: %s",
				 strerror(-err));
	*ret_keys = bpf->keys;
	*ret_cells = bpf->cells;
	return bpf->nr_keys;
}

bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key)
{
	return key->epoch != (uint8_t)exits_records_at(&bpf->records, key->thread)->epoch;
}

/* The first nr of bpf->keys. The kernel stops at a key that it cannot delete, or read twice. */
static void delete_arguments(const struct exits_bpf *bpf, uint32_t nr)
{
	int fd = bpf->arguments_map;
	const struct exits_argument_key *keys = bpf->keys;

	while (nr) {
		uint32_t n = nr;
		int err = bpf_map_delete_batch(fd, keys, &n, NULL);

		if (!err || n >= nr)
			return;
		if (err != -ENOENT)
			bpf_map_delete_elem(fd, &keys[n]);
		keys += n + 1;
		nr -= n + 1;
	}
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
		bool is_free = !exits_records_at(&bpf->records, key->thread)->tid;

		if (is_free || exits_bpf_is_over(bpf, key))
			bpf->keys[nr++] = *key;
	}
	bpf->nr_keys = 0;
	delete_arguments(bpf, nr);
}

/* The thread's number may be a later thread's, with a record of its own. */
static bool is_kept_for(const struct exits_bpf *bpf, uint32_t tid, uint32_t number)
{
	int fd = bpf_map__fd(bpf->program->maps.by_tid);
	uint32_t kept;

	return bpf_map_lookup_elem(fd, &tid, &kept) == 0 && kept == number + 1;
}

/* further: its number, plus 1; 0: none. */
static void free_further(struct exits_bpf *bpf, uint32_t further)
{
	if (!further)
		return;
	memset(exits_records_at(&bpf->records, further - 1), 0, sizeof(struct exits_thread));
	add_free(bpf->program->maps.free_threads, further - 1);
}

/* The number itself is free later: arguments still have it. */
static void empty_record(struct exits_bpf *bpf, uint32_t number)
{
	struct exits_thread *thread = exits_records_at(&bpf->records, number);

	if (is_kept_for(bpf, thread->tid, number))
		bpf_map_delete_elem(bpf_map__fd(bpf->program->maps.by_tid), &thread->tid);
	for (int i = 0; i < EXITS_FURTHER; i++)
		free_further(bpf, thread->further[i]);
	free_further(bpf, thread->extra);
	memset(thread, 0, sizeof(*thread));
}

void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		empty_record(bpf, numbers[i]);
	free_arguments(bpf);
	for (uint32_t i = 0; i < nr; i++)
		add_free(bpf->program->maps.free_threads, numbers[i]);
	if (!bpf->config.has_arguments)
		return;
	bpf->bss->sampled_ns = clock_now_ns();
	for (uint32_t i = 0; i < bpf->max_threads; i++) {
		struct exits_thread *thread = exits_records_at(&bpf->records, i);

		if (thread->nr_arguments < EXITS_ARGUMENTS)
			continue;
		thread->epoch++;
		thread->nr_arguments = 0;
	}
}

bool exits_bpf_has_record(const struct exits_bpf *bpf, uint32_t tid)
{
	uint32_t number;

	return bpf_map_lookup_elem(bpf_map__fd(bpf->program->maps.by_tid), &tid, &number) == 0;
}

bool exits_bpf_add_sleeper(struct exits_bpf *bpf, const struct exits_sleeper *sleeper,
			   uint32_t *ret_number)
{
	int free_threads = bpf_map__fd(bpf->program->maps.free_threads);
	int by_tid = bpf_map__fd(bpf->program->maps.by_tid);
	struct exits_thread *thread;
	uint32_t number, kept;

	if (bpf_map_lookup_and_delete_elem(free_threads, NULL, &number) < 0)
		return false;
	thread = exits_records_at(&bpf->records, number);
	thread->tgid = sleeper->tgid;
	thread->vcpu = sleeper->vcpu;
	thread->number = number;
	thread->pid_tgid = (uint64_t)sleeper->tgid << 32 | sleeper->tid;
	thread->first_ns = sleeper->since_ns;
	thread->delay_before = sleeper->waited_ns;
	exits_lose_cpu(&thread->at, EXITS_IDLES, sleeper->since_ns);
	thread->tid = sleeper->tid;
	kept = number + 1;
	*ret_number = number;
	if (bpf_map_update_elem(by_tid, &sleeper->tid, &kept, BPF_NOEXIST) == 0)
		return true;
	memset(thread, 0, sizeof(*thread));
	add_free(bpf->program->maps.free_threads, number);
	return false;
}

/* If the thread has lost its CPU again since then, that stays. */
void exits_bpf_wake(struct exits_bpf *bpf, const struct exits_sleeper *sleeper, uint32_t number)
{
	struct exits_thread *thread = exits_records_at(&bpf->records, number);

	(void)__sync_bool_compare_and_swap(&thread->at.away_since, sleeper->since_ns, 0);
}

struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf)
{
	return (struct exits_bpf_lost){
		.exits = bpf->bss->lost_exits,
		.arguments = bpf->bss->lost_arguments,
		.long_exits = bpf->bss->lost_long_exits,
		.missed = exits_missed(bpf) - bpf->missed,
	};
}
