// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads proc(5) schedstat, stat, sched, status and cgroup of the threads of vCPUs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/host/host.h"

#define QUOTAS_MAX 256 /* that are named: each is a field */
#define FILES_OF_THREAD 3 /* schedstat, stat, and one for its cgroup */
#define FILES_OF_OTHERS 2048 /* that the other providers may have open */

struct host_thread {
	struct followed of;
	int schedstat, stat; /* -1: not open */
	uint64_t run_ns, wait_ns, slices; /* as of the latest reading, see take_wait() */
	uint64_t read_ns; /* when that was */
	uint64_t turn_slices; /* as of its latest turn */
	bool has_times;
	uint64_t waited_ns;  /* since the reading before */
	bool has_run;	     /* since the reading before */
	bool is_stopped;     /* as of its latest turn */
	uint64_t stopped_ns;
	int cpu, affinity;   /* -1, 0: not known */
	int swapped; /* thousandths of the guest's memory, as of its latest turn; -1: not known */
	uint64_t migrations; /* as of its latest turn; */
	uint64_t shown;	     /* as they are spread; */
	size_t left;	     /* samples until its next turn */
	bool has_migrations;
	struct host_cgroup *cgroup;
	bool has_hidden_cgroup;
	uint64_t throttled_ns;
	uint64_t share_ns; /* how long it was throttled since the reading before */
	uint32_t quota; /* a field; FIELD_NONE: none has stopped it yet */
	uint64_t quota_ns; /* how long that one has */
};

struct host_threads {
	const struct env *env;
	const struct host_fields *fields;
	struct host_cgroups *cgroups;
	struct host_memory *memory;
	struct follow follow; /* struct host_thread */
	bool has_schedstat;
	size_t nr_quotas; /* that were added to the dictionary */
	uint64_t time_ns; /* of the latest reading; 0: none */
};

static void begin_thread(void *arg, void *item)
{
	struct host_thread *thread = item;

	(void)arg;
	thread->schedstat = thread->stat = thread->cpu = thread->swapped = -1;
	thread->quota = FIELD_NONE;
}

static void close_files(void *arg, void *item)
{
	struct host_thread *thread = item;

	(void)arg;
	if (thread->schedstat >= 0)
		close(thread->schedstat);
	if (thread->stat >= 0)
		close(thread->stat);
}

static struct host_thread *thread_at(const struct host_threads *threads, size_t i)
{
	return (struct host_thread *)threads->follow.list + i;
}

struct host_threads *host_threads_new(const struct env *env, const struct guests *guests,
				      const struct host_fields *fields,
				      struct host_memory *memory)
{
	struct host_threads *threads = xcalloc(1, sizeof(*threads));

	threads->env = env;
	threads->fields = fields;
	threads->memory = memory;
	threads->has_schedstat = schedstat_is_on(env);
	threads->follow = (struct follow){ .guests = guests, .size = sizeof(struct host_thread),
					   .of_vcpus = true, .begin = begin_thread,
					   .drop = close_files };
	threads->cgroups = host_cgroups_new(env);
	return threads;
}

void host_threads_free(struct host_threads *threads)
{
	if (!threads)
		return;
	follow_release(&threads->follow);
	host_cgroups_free(threads->cgroups);
	free(threads);
}

/* ---- what is read in each sample ---- */

/* Reads schedstat or stat, which stays open: only the first reading needs the path. */
static bool read_file(const struct host_threads *threads, const struct host_thread *thread,
		      const char *name, int *fd, char *text, size_t size)
{
	char path[PATH_MAX] = "";

	if (*fd < 0)
		env_path(threads->env, path, sizeof(path), "/proc/%d/task/%d/%s",
			 (int)thread->of.pid, (int)thread->of.tid, name);
	return descriptors_read(fd, path, text, size);
}

/*
 * The kernel counts a wait when it is over, and most of it may have been before the latest reading:
 * no interval has more of it than there was time, and the rest is for later.
 */
static void take_wait(struct host_thread *thread, uint64_t run_ns, uint64_t wait_ns,
		      uint64_t now_ns)
{
	uint64_t passed_ns = now_ns - thread->read_ns, ran_ns = 0, room_ns;

	if (!thread->has_times || wait_ns < thread->wait_ns) {
		thread->wait_ns = wait_ns;
		return;
	}
	if (run_ns > thread->run_ns)
		ran_ns = run_ns - thread->run_ns;
	room_ns = passed_ns > ran_ns ? passed_ns - ran_ns : 0;
	thread->waited_ns = wait_ns - thread->wait_ns;
	if (thread->waited_ns > room_ns)
		thread->waited_ns = room_ns;
	thread->wait_ns += thread->waited_ns;
}

/* proc(5), schedstat: "ns on a CPU, ns waiting for one, how often it got one". */
static void read_times(const struct host_threads *threads, struct host_thread *thread,
		       uint64_t now_ns)
{
	uint64_t run_ns, wait_ns, slices;
	char text[96], *at;

	thread->waited_ns = 0;
	thread->has_run = false;
	if (!read_file(threads, thread, "schedstat", &thread->schedstat, text, sizeof(text)))
		return;
	run_ns = strtoull(text, &at, 10);
	wait_ns = strtoull(at, &at, 10);
	slices = strtoull(at, NULL, 10);
	take_wait(thread, run_ns, wait_ns, now_ns);
	thread->has_run = !thread->has_times || slices != thread->slices;
	thread->has_times = true;
	thread->run_ns = run_ns;
	thread->read_ns = now_ns;
	thread->slices = slices;
}

/* proc(5), stat: the CPU is the 39th field; the second, in brackets, may have any characters. */
static void read_cpu(const struct host_threads *threads, struct host_thread *thread)
{
	char text[1024];
	const char *at;

	if (!read_file(threads, thread, "stat", &thread->stat, text, sizeof(text)))
		return;
	at = strrchr(text, ')');
	for (int field = 2; at && field < 39; field++)
		at = strchr(at + 1, ' ');
	if (at)
		thread->cpu = (int)strtol(at, NULL, 10);
}

/* ---- what is read in turn ---- */

/* sched(7) of a thread: "se.nr_migrations : 12". Linux 6.15 has it always, others mostly. */
static void read_migrations(const struct host_threads *threads, struct host_thread *thread)
{
	static const char name[] = "nr_migrations";
	char text[4096];
	const char *at;
	uint64_t migrations;

	env_read(threads->env, text, sizeof(text), "/proc/%d/task/%d/sched", (int)thread->of.pid,
		 (int)thread->of.tid);
	at = strstr(text, name);
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return;
	migrations = strtoull(at + 1, NULL, 10);
	if (!thread->has_migrations || migrations < thread->shown)
		thread->shown = migrations;
	thread->migrations = migrations;
	thread->has_migrations = true;
}

/* The value in a line "NAME:\tVALUE" of proc(5) status; NULL: none. */
static const char *status_value(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		return NULL;
	at += strlen(name);
	return at + strspn(at, " \t");
}

static uint64_t status_kib(const char *text, const char *name)
{
	const char *value = status_value(text, name);

	return value ? strtoull(value, NULL, 10) : 0;
}

/*
 * The threads of a process have the same memory. Of memory that it shares with others, as with
 * vhost-user or virtiofs, the kernel does not say what is swapped out.
 */
static int swapped_of(const char *text)
{
	uint64_t swapped_kib = status_kib(text, "\nVmSwap:");
	uint64_t own_kib = status_kib(text, "\nRssAnon:") + status_kib(text, "\nHugetlbPages:") +
			   swapped_kib;

	if (own_kib < HOST_MEMORY_LEAST_KIB || status_kib(text, "\nRssShmem:") > own_kib)
		return -1;
	return (int)(swapped_kib * 1000 / own_kib);
}

static void read_status(const struct host_threads *threads, struct host_thread *thread)
{
	char text[8192];
	const char *state, *cpus;

	thread->is_stopped = false;
	if (env_read(threads->env, text, sizeof(text), "/proc/%d/task/%d/status",
		     (int)thread->of.pid, (int)thread->of.tid) <= 0)
		return;
	/* T: by a signal; t: by a debugger. */
	state = status_value(text, "\nState:");
	thread->is_stopped = state && (*state == 'T' || *state == 't');
	thread->swapped = swapped_of(text);
	cpus = status_value(text, "\nCpus_allowed_list:");
	if (cpus)
		thread->affinity = cpus_count(cpus);
}

static void take_turn(struct host_threads *threads, struct host_thread *thread)
{
	if (!threads->has_schedstat || !thread->has_migrations ||
	    thread->slices != thread->turn_slices)
		read_migrations(threads, thread);
	thread->turn_slices = thread->slices;
	read_status(threads, thread);
	thread->cgroup = host_cgroups_find(threads->cgroups, thread->of.pid, thread->of.tid);
	thread->has_hidden_cgroup =
		!thread->cgroup &&
		host_cgroup_is_hidden(threads->cgroups, thread->of.pid, thread->of.tid);
	thread->left = (threads->follow.nr + HOST_THREADS_TURN - 1) / HOST_THREADS_TURN;
}

static void take_turns(struct host_threads *threads)
{
	size_t nr = threads->follow.nr < HOST_THREADS_TURN ? threads->follow.nr : HOST_THREADS_TURN;

	for (; nr; nr--)
		take_turn(threads, follow_take_turn(&threads->follow));
}

/* Goes on towards the count of the latest turn, so that it is reached at the next one. */
static void spread_migrations(struct host_thread *thread)
{
	if (!thread->left)
		return;
	thread->shown += (thread->migrations - thread->shown) / thread->left;
	thread->left--;
}

/* ---- a sample ---- */

static void read_thread(struct host_threads *threads, struct host_thread *thread, uint64_t now_ns)
{
	read_times(threads, thread, now_ns);
	thread->is_stopped &= !thread->has_run; /* since its turn it was let go on */
	if (thread->has_run || thread->cpu < 0 || !threads->has_schedstat)
		read_cpu(threads, thread);
}

/* In an interval in which the thread also ran nothing says how long it was stopped. */
static void charge_stopped(struct host_threads *threads, uint64_t time_ns)
{
	for (size_t i = 0; i < threads->follow.nr; i++) {
		struct host_thread *thread = thread_at(threads, i);

		if (thread->is_stopped && !thread->has_run && threads->time_ns)
			thread->stopped_ns += time_ns - threads->time_ns;
	}
	threads->time_ns = time_ns;
}

/* Returns when it read the threads' times: what is read in turn takes longer. */
static uint64_t read_all(struct host_threads *threads)
{
	uint64_t time_ns = clock_now_ns();

	for (size_t i = 0; i < threads->follow.nr; i++)
		read_thread(threads, thread_at(threads, i), time_ns);
	take_turns(threads);
	charge_stopped(threads, time_ns);
	for (size_t i = 0; i < threads->follow.nr; i++) {
		spread_migrations(thread_at(threads, i));
		host_cgroup_keep(thread_at(threads, i)->cgroup);
	}
	host_cgroups_sweep(threads->cgroups);
	host_cgroups_begin(threads->cgroups);
	for (size_t i = 0; i < threads->follow.nr; i++)
		host_cgroup_weigh(thread_at(threads, i)->cgroup, thread_at(threads, i)->waited_ns);
	for (size_t i = 0; i < threads->follow.nr; i++) {
		struct host_thread *thread = thread_at(threads, i);

		thread->share_ns = host_cgroup_share(thread->cgroup, thread->waited_ns);
		thread->throttled_ns += thread->share_ns;
	}
	return time_ns;
}

/* FIELD_NONE: it has no field yet, and there is no room for more. */
static uint32_t name_quota(struct host_threads *threads, const char *text)
{
	struct fields *fields = threads->fields->fields;
	uint32_t before = fields_count(fields), quota;
	char name[HOST_QUOTA_SIZE + 64];

	if (threads->nr_quotas >= QUOTAS_MAX) {
		snprintf(name, sizeof(name), "%s(%s)",
			 fields_get(fields, threads->fields->parts[HOST_THROTTLED])->name, text);
		return fields_find(fields, name);
	}
	quota = host_fields_quota(threads->fields, text);
	threads->nr_quotas += fields_count(fields) - before;
	return quota;
}

/*
 * Looks which quota stops the thread now, and adds a row for it. What waits in a cgroup that cannot
 * be read may be stopped by a quota.
 */
static void add_quota(struct host_threads *threads, struct host_thread *thread,
		      struct sample *sample)
{
	char text[HOST_QUOTA_SIZE] = HOST_QUOTA_HIDDEN;
	uint64_t ns = thread->has_hidden_cgroup ? thread->waited_ns : thread->share_ns;
	uint32_t quota;

	if (ns && (thread->has_hidden_cgroup ||
		   host_cgroup_quota(threads->cgroups, thread->cgroup, text, sizeof(text)))) {
		quota = name_quota(threads, text);
		if (quota != thread->quota)
			thread->quota_ns = 0;
		thread->quota = quota;
	}
	thread->quota_ns += ns;
	if (thread->quota == FIELD_NONE)
		return;
	sample_add(sample, (struct key){ thread->of.guest, thread->of.vcpu, thread->quota },
		   thread->quota_ns, ROW_FROM_ZERO);
}

static void add_rows(const struct host_threads *threads, const struct host_thread *thread,
		     struct sample *sample)
{
	const uint32_t *parts = threads->fields->parts;
	bool has_times = threads->has_schedstat && thread->has_times;
	int remote = host_memory_remote(threads->memory, thread->of.guest, thread->cpu);
	const struct {
		bool is_known;
		uint32_t field;
		uint64_t value;
	} rows[] = {
		{ has_times, parts[HOST_RUN], thread->run_ns },
		{ has_times, parts[HOST_WAITED], thread->wait_ns },
		{ thread->cpu >= 0, parts[HOST_CPU], (uint64_t)thread->cpu },
		{ thread->affinity > 0, parts[HOST_AFFINITY], (uint64_t)thread->affinity },
		{ thread->has_migrations, parts[HOST_MIGRATIONS], thread->shown },
		{ has_times && host_cgroup_has_quota(thread->cgroup), parts[HOST_THROTTLED],
		  thread->throttled_ns },
		{ remote >= 0, parts[HOST_REMOTE], (uint64_t)remote },
		{ has_times, parts[HOST_STOPPED], thread->stopped_ns },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct key key = { thread->of.guest, thread->of.vcpu, rows[i].field };

		if (rows[i].is_known)
			sample_add(sample, key, rows[i].value, 0);
	}
}

/* A vCPU that has several threads, in a process with several VMs, is the first one's. */
static bool is_repeated(const struct host_threads *threads, size_t i)
{
	return i && thread_at(threads, i)->of.guest == thread_at(threads, i - 1)->of.guest &&
	       thread_at(threads, i)->of.vcpu == thread_at(threads, i - 1)->of.vcpu;
}

static void add_swapped(const struct host_threads *threads, size_t i, struct sample *sample)
{
	const struct host_thread *thread = thread_at(threads, i);
	struct key key = { thread->of.guest, -1, threads->fields->parts[HOST_SWAPPED] };

	if (key.field != FIELD_NONE && thread->swapped >= 0 &&
	    (!i || thread->of.guest != thread_at(threads, i - 1)->of.guest))
		sample_add(sample, key, (uint64_t)thread->swapped, 0);
}

void host_threads_collect(struct host_threads *threads, struct sample *sample,
			  uint64_t *ret_time_ns)
{
	if (follow_update(&threads->follow))
		descriptors_raise(FILES_OF_THREAD * threads->follow.nr + FILES_OF_OTHERS +
				  DESCRIPTORS_SPARE);
	*ret_time_ns = read_all(threads);
	host_memory_take_turn(threads->memory);
	for (size_t i = 0; i < threads->follow.nr; i++) {
		if (is_repeated(threads, i))
			continue;
		add_rows(threads, thread_at(threads, i), sample);
		add_quota(threads, thread_at(threads, i), sample);
		add_swapped(threads, i, sample);
	}
}

size_t host_threads_hidden(const struct host_threads *threads)
{
	size_t nr = 0;

	for (size_t i = 0; i < threads->follow.nr; i++)
		nr += thread_at(threads, i)->has_hidden_cgroup;
	return nr;
}
