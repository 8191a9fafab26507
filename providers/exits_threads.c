// SPDX-License-Identifier: GPL-2.0-or-later
/* From records of threads to rows of vCPUs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "providers/exits_fields.h"
#include "providers/exits_threads.h"

#define READ_TRIES 4

/* What one thread, or all of a vCPU's together, counted. Cells that are not used are undefined. */
struct record {
	uint64_t used[EXITS_CELLS / 64];
	uint64_t whole_ns; /* since the first exit; 0: not timed */
	struct exits_cell cells[EXITS_CELLS];
};

struct vcpu_id {
	uint32_t guest;
	int32_t index;
};

struct watched_vcpu {
	struct vcpu_id id;
	struct record *ended; /* what its former threads had counted; NULL: none */
	struct record *now;   /* the sum; NULL: nothing in this sample */
	uint64_t wait_ns, ended_wait_ns;
	uint32_t cpu; /* of the last thread that is alive */
	uint64_t shown[TIME_PARTS]; /* in the previous sample: they do not go back */
	struct exits_cell arguments[EXITS_ARGUMENTS];
	UT_hash_handle hh;
};

struct watched_thread {
	uint32_t tid; /* 0: not in use */
	struct watched_vcpu *vcpu;
	int schedstat; /* -1: not open */
	uint64_t wait_ns;
	/* The open exit as it was shown. */
	uint32_t open_cell;
	uint64_t open_ns;
};

struct exits_threads {
	struct exits_threads_config config;
	struct watched_thread *threads; /* by number of the record */
	struct watched_vcpu *vcpus;
	uint64_t generation; /* of the inventory, when the threads were looked at */
	bool is_stale;	     /* the inventory has changed since */
	bool has_wait;
	uint64_t now_ns;
	struct { /* what is known of a cell's code, by cell */
		uint32_t field; /* FIELD_NONE: nothing yet */
		bool is_idle;
	} cells[EXITS_CELLS];
};

struct exits_threads *exits_threads_new(const struct exits_threads_config *config)
{
	struct exits_threads *threads = calloc(1, sizeof(*threads));

	if (!threads)
		return NULL;
	threads->config = *config;
	threads->threads = calloc(config->max_threads, sizeof(*threads->threads));
	if (!threads->threads) {
		free(threads);
		return NULL;
	}
	for (uint32_t i = 0; i < config->max_threads; i++)
		threads->threads[i].schedstat = -1;
	for (unsigned int i = 0; i < EXITS_CELLS; i++)
		threads->cells[i].field = FIELD_NONE;
	return threads;
}

static void vcpu_free(struct exits_threads *threads, struct watched_vcpu *vcpu)
{
	HASH_DEL(threads->vcpus, vcpu);
	free(vcpu->ended);
	free(vcpu->now);
	free(vcpu);
}

void exits_threads_free(struct exits_threads *threads)
{
	struct watched_vcpu *vcpu, *next;

	if (!threads)
		return;
	for (uint32_t i = 0; i < threads->config.max_threads; i++) {
		if (threads->threads[i].schedstat >= 0)
			close(threads->threads[i].schedstat);
	}
	for (vcpu = threads->vcpus; vcpu; vcpu = next) {
		next = vcpu->hh.next;
		vcpu_free(threads, vcpu);
	}
	free(threads->threads);
	free(threads);
}

void exits_threads_begin(struct exits_threads *threads, uint64_t now_ns, bool has_wait)
{
	uint64_t generation = guests_generation(threads->config.guests);

	threads->is_stale = generation != threads->generation;
	threads->generation = generation;
	threads->now_ns = now_ns;
	threads->has_wait = has_wait;
}

/* ---- whose thread it is ---- */

static struct watched_vcpu *vcpu_of(struct exits_threads *threads, struct vcpu_id id)
{
	struct watched_vcpu *vcpu;

	HASH_FIND(hh, threads->vcpus, &id, sizeof(id), vcpu);
	if (vcpu)
		return vcpu;
	vcpu = calloc(1, sizeof(*vcpu));
	if (!vcpu)
		return NULL;
	vcpu->id = id;
	HASH_ADD(hh, threads->vcpus, id, sizeof(id), vcpu);
	if (!vcpu->hh.tbl) {
		free(vcpu);
		return NULL;
	}
	return vcpu;
}

/* By the inventory's word; without one by the event's. */
static struct vcpu_id identify(const struct exits_threads *threads,
			       const volatile struct exits_thread *record)
{
	const struct guest *guest = guests_by_pid(threads->config.guests, (pid_t)record->tgid);
	struct vcpu_id id = { GUEST_ANY, -1 };

	if (!guest)
		return id;
	id.guest = guest->id;
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		if (guest->vcpus[i].tid == (pid_t)record->tid)
			id.index = guest->vcpus[i].index;
	}
	if (id.index < 0 && record->vcpu != EXITS_NO_VCPU)
		id.index = (int32_t)record->vcpu;
	return id;
}

static bool is_alive(const volatile struct exits_thread *record)
{
	return syscall(SYS_tgkill, record->tgid, record->tid, 0) == 0 || errno != ESRCH;
}

/* ---- reading ---- */

static void copy_cells(struct record *to, const volatile struct exits_thread *from)
{
	for (unsigned int word = 0; word < EXITS_CELLS / 64; word++) {
		to->used[word] = from->used[word];
		for (uint64_t bits = to->used[word]; bits; bits &= bits - 1) {
			unsigned int i = word * 64 + (unsigned int)__builtin_ctzll(bits);

			memcpy(&to->cells[i], (const void *)(uintptr_t)&from->cells[i],
			       sizeof(to->cells[i]));
		}
	}
}

static void add_open(struct record *to, uint32_t cell, uint64_t since_ns, uint64_t now_ns)
{
	if (since_ns && since_ns < now_ns && to->used[cell / 64] & UINT64_C(1) << cell % 64)
		to->cells[cell].time_ns += now_ns - since_ns;
}

/*
 * A record as it was at one moment. The program clears open_since before it adds an exit to its
 * cell: as long as that has not changed, no exit ended. An exit that ends all the while is a busy
 * one, and short.
 */
static void read_record(const struct exits_threads *threads, struct record *to,
			const volatile struct exits_thread *from)
{
	uint64_t since = 0, user_since = 0;
	uint32_t cell = 0, user_cell = 0;

	for (int i = 0; i < READ_TRIES; i++) {
		since = __atomic_load_n(&from->open_since, __ATOMIC_ACQUIRE);
		user_since = from->user_since;
		cell = from->open_cell % EXITS_CELLS;
		user_cell = from->user_cell % EXITS_CELLS;
		copy_cells(to, from);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (since == from->open_since)
			break;
		since = 0;
	}
	to->whole_ns = 0;
	if (!threads->config.is_timed)
		return;
	if (threads->now_ns > from->first_ns)
		to->whole_ns = threads->now_ns - from->first_ns;
	add_open(to, cell, since, threads->now_ns);
	if (since)
		add_open(to, user_cell, user_since, threads->now_ns);
}

/* What was shown of an exit while it was open stays shown. */
static void hold(struct watched_thread *thread, struct record *record, uint32_t open_cell)
{
	struct exits_cell *before = &record->cells[thread->open_cell];

	if (thread->open_ns && before->time_ns < thread->open_ns)
		before->time_ns = thread->open_ns;
	thread->open_cell = open_cell;
	thread->open_ns = record->used[open_cell / 64] & UINT64_C(1) << open_cell % 64 ?
				  record->cells[open_cell].time_ns : 0;
}

static void add_cell(struct exits_cell *to, const struct exits_cell *from)
{
	to->count += from->count;
	to->time_ns += from->time_ns;
	if (from->max_ns > to->max_ns)
		to->max_ns = from->max_ns;
	for (unsigned int i = 0; i < EXITS_BUCKETS; i++)
		to->hist[i] += from->hist[i];
}

static void add_record(struct record *to, const struct record *from)
{
	for (unsigned int word = 0; word < EXITS_CELLS / 64; word++) {
		for (uint64_t bits = from->used[word]; bits; bits &= bits - 1) {
			unsigned int i = word * 64 + (unsigned int)__builtin_ctzll(bits);

			if (to->used[word] & bits & -bits)
				add_cell(&to->cells[i], &from->cells[i]);
			else
				to->cells[i] = from->cells[i];
		}
		to->used[word] |= from->used[word];
	}
	to->whole_ns += from->whole_ns;
}

/* Adds to a sum that may not be there yet. */
static int join(struct record **to, const struct record *from)
{
	if (!*to)
		*to = calloc(1, sizeof(**to));
	if (!*to)
		return -ENOMEM;
	add_record(*to, from);
	return 0;
}

/* ---- waiting for a CPU: proc(5), schedstat: time on the CPU, time waiting, slices ---- */

static void read_wait(const struct exits_threads *threads, struct watched_thread *thread,
		      uint32_t tgid)
{
	char path[PATH_MAX], text[96];
	char *end;
	ssize_t n;

	if (thread->schedstat < 0) {
		env_path(threads->config.env, path, sizeof(path), "/proc/%u/task/%u/schedstat",
			 tgid, thread->tid);
		thread->schedstat = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = thread->schedstat < 0 ? -1 : pread(thread->schedstat, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return;
	text[n] = '\0';
	strtoull(text, &end, 10);
	thread->wait_ns = strtoull(end, NULL, 10);
}

/* ---- a sample ---- */

static void forget(struct watched_thread *thread)
{
	if (thread->schedstat >= 0)
		close(thread->schedstat);
	*thread = (struct watched_thread){ .schedstat = -1 };
}

/*
 * Whose it is may become known later, and a thread may change hands. But a vCPU's thread whose
 * place another one took was that vCPU's, though the inventory has forgotten it.
 */
static int watch(struct exits_threads *threads, struct watched_thread *thread,
		 const volatile struct exits_thread *record)
{
	struct vcpu_id id;

	if (thread->tid != record->tid) {
		forget(thread);
		thread->tid = record->tid;
	} else if (thread->vcpu && !threads->is_stale) {
		return 0;
	}
	id = identify(threads, record);
	if (thread->vcpu && id.index < 0 && id.guest == thread->vcpu->id.guest)
		return 0;
	thread->vcpu = vcpu_of(threads, id);
	return thread->vcpu ? 0 : -ENOMEM;
}

bool exits_threads_take(struct exits_threads *threads, const volatile struct exits_thread *record)
{
	struct watched_thread *thread = &threads->threads[record->number];
	struct record now;
	bool has_ended;

	if (watch(threads, thread, record) < 0)
		return true;
	has_ended = threads->is_stale && !is_alive(record);
	read_record(threads, &now, record);
	hold(thread, &now, record->open_cell % EXITS_CELLS);
	if (!has_ended)
		thread->vcpu->cpu = record->cpu;
	if (threads->has_wait)
		read_wait(threads, thread, record->tgid);
	if (join(has_ended ? &thread->vcpu->ended : &thread->vcpu->now, &now) < 0)
		return true;
	*(has_ended ? &thread->vcpu->ended_wait_ns : &thread->vcpu->wait_ns) += thread->wait_ns;
	return !has_ended;
}

void exits_threads_release(struct exits_threads *threads, uint32_t number)
{
	forget(&threads->threads[number]);
}

static struct timing *timing_of(const struct exits_cell *cell, struct timing *timing)
{
	timing->time_ns = cell->time_ns;
	timing->max_ns = cell->max_ns;
	memcpy(timing->hist, cell->hist, sizeof(timing->hist));
	return timing;
}

static int add_row(const struct exits_threads *threads, struct sample *sample,
		   const struct vcpu_id *id, uint32_t field, const struct exits_cell *cell,
		   uint32_t flags)
{
	struct key key = { id->guest, id->index, field };
	struct timing timing;

	if (!threads->config.is_timed)
		return sample_add(sample, key, cell->count, flags);
	return sample_add_timed(sample, key, cell->count, flags, timing_of(cell, &timing));
}

int exits_threads_argument(struct exits_threads *threads, const struct exits_argument_key *key,
			   const struct exits_cell *cell, struct sample *sample, uint32_t flags)
{
	const struct exits_code *code = NULL;
	struct watched_thread *thread;
	uint32_t field;

	if (key->thread >= threads->config.max_threads || key->kind >= EXITS_ARGUMENTS)
		return 0;
	thread = &threads->threads[key->thread];
	if (!thread->vcpu)
		return 0;
	if (key->cell < EXITS_CELLS)
		code = &threads->config.codes[key->cell];
	field = exits_names_argument(threads->config.names, key, code);
	if (field == FIELD_NONE)
		return -ENOMEM;
	add_cell(&thread->vcpu->arguments[key->kind], cell);
	return add_row(threads, sample, &thread->vcpu->id, field, cell, flags);
}

/* The sums by kind, and of what means idle. */
struct sums {
	struct exits_cell by_kind[2];
	uint64_t idle_ns[2];
};

/* Looks a cell's field up once. */
static int know_cell(struct exits_threads *threads, unsigned int i)
{
	uint32_t field = threads->cells[i].field;

	if (field != FIELD_NONE)
		return 0;
	field = exits_names_cell(threads->config.names, &threads->config.codes[i]);
	if (field == FIELD_NONE)
		return -ENOMEM;
	threads->cells[i].field = field;
	threads->cells[i].is_idle = fields_get(threads->config.fields, field)->is_idle;
	return 0;
}

static int add_cells(struct exits_threads *threads, struct sample *sample,
		     const struct watched_vcpu *vcpu, uint32_t flags, struct sums *sums)
{
	const struct record *now = vcpu->now;
	int err = 0;

	for (unsigned int word = 0; word < EXITS_CELLS / 64; word++) {
		for (uint64_t bits = now->used[word]; bits && !err; bits &= bits - 1) {
			unsigned int i = word * 64 + (unsigned int)__builtin_ctzll(bits);
			unsigned int kind = threads->config.codes[i].kind;

			err = know_cell(threads, i);
			if (err)
				return err;
			add_cell(&sums->by_kind[kind], &now->cells[i]);
			if (threads->cells[i].is_idle)
				sums->idle_ns[kind] += now->cells[i].time_ns;
			err = add_row(threads, sample, &vcpu->id, threads->cells[i].field,
				      &now->cells[i], flags);
		}
	}
	return err;
}

static void split_time(const struct watched_vcpu *vcpu, const struct sums *sums,
		       uint64_t *ret_parts)
{
	struct exits_time time;

	for (int kind = 0; kind < 2; kind++) {
		time.ns[kind] = sums->by_kind[kind].time_ns;
		time.idle_ns[kind] = sums->idle_ns[kind];
	}
	exits_fields_split(vcpu->now->whole_ns, &time, ret_parts);
	ret_parts[TIME_WAIT] = vcpu->wait_ns + vcpu->ended_wait_ns;
}

static int add_times(const struct exits_threads *threads, struct sample *sample,
		     struct watched_vcpu *vcpu, const struct sums *sums, uint32_t flags)
{
	uint64_t parts[TIME_PARTS];
	int err = 0;

	split_time(vcpu, sums, parts);
	for (int i = 0; i < TIME_PARTS && !err; i++) {
		struct key key = { vcpu->id.guest, vcpu->id.index,
				   exits_names_time(threads->config.names, (enum time_part)i) };

		if (parts[i] < vcpu->shown[i])
			parts[i] = vcpu->shown[i];
		vcpu->shown[i] = parts[i];
		/* The thread has waited before, too: that is no part of what is watched. */
		if (i != TIME_WAIT)
			err = sample_add(sample, key, parts[i], flags);
		else if (threads->has_wait)
			err = sample_add(sample, key, parts[i], 0);
	}
	return err;
}

static int add_vcpu(struct exits_threads *threads, struct sample *sample,
		    struct watched_vcpu *vcpu, uint32_t flags)
{
	struct exits_names *names = threads->config.names;
	struct sums sums = { 0 };
	int err = add_cells(threads, sample, vcpu, flags, &sums);

	for (int i = 0; i < 2 && !err; i++) {
		if (sums.by_kind[i].count)
			err = add_row(threads, sample, &vcpu->id,
				      exits_names_parent(names, (enum exits_kind)i),
				      &sums.by_kind[i], flags);
	}
	for (unsigned int i = 0; i < EXITS_ARGUMENTS && !err; i++) {
		if (vcpu->arguments[i].count)
			err = add_row(threads, sample, &vcpu->id,
				      exits_names_argument_parent(names, i), &vcpu->arguments[i],
				      flags);
	}
	if (!err)
		err = sample_add(sample, (struct key){ vcpu->id.guest, vcpu->id.index,
						       exits_names_cpu(names) }, vcpu->cpu, 0);
	if (!err && threads->config.is_timed && sums.by_kind[EXITS_VMEXIT].count)
		err = add_times(threads, sample, vcpu, &sums, flags);
	return err;
}

/* What is of this sample only. */
static void clear(struct watched_vcpu *vcpu)
{
	if (vcpu->now)
		memset(vcpu->now, 0, offsetof(struct record, cells));
	memset(vcpu->arguments, 0, sizeof(vcpu->arguments));
	vcpu->wait_ns = 0;
}

/* The vCPUs of a guest that ended end, too: stats keeps its totals. */
int exits_threads_end(struct exits_threads *threads, struct sample *sample, uint32_t flags)
{
	struct watched_vcpu *vcpu, *next;
	int err = 0;

	for (vcpu = threads->vcpus; vcpu; vcpu = next) {
		next = vcpu->hh.next;
		if (vcpu->ended)
			err = err ? err : join(&vcpu->now, vcpu->ended);
		if (vcpu->now)
			err = err ? err : add_vcpu(threads, sample, vcpu, flags);
		clear(vcpu);
		if (threads->is_stale && vcpu->id.guest != GUEST_ANY &&
		    !guests_by_id(threads->config.guests, vcpu->id.guest))
			vcpu_free(threads, vcpu);
	}
	return err;
}
