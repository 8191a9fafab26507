// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host - what a refresh of the views Host and Who costs: 512 CPUs, which are made up, and 1,000
 * vCPUs, which are real threads of this process that run before each sample: few at a time, as on
 * so many CPUs, so that each waits for a few others.
 */
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "tests/bench/measure.h"
#include "core/facts/stats.h"
#include "providers/providers.h"
#include "core/views/query.h"
#include "core/views/view.h"

enum { CPUS = 512, VCPUS = 1000, ROUNDS = 21, TARGET_MS = 10, PAUSE_NS = 50000000,
	GROUP = 4, GROUP_NS = 50000 };

static pthread_barrier_t barriers[VCPUS / GROUP];
static pid_t tids[VCPUS];
static char dir[] = "/tmp/kvmtop-bench.XXXXXX";

/* Two waits a round: all threads run, and then rest while the sample is taken. */
static void *run(void *arg)
{
	tids[(size_t)(uintptr_t)arg] = (pid_t)syscall(SYS_gettid);
	for (;;)
		pthread_barrier_wait(&barriers[(size_t)(uintptr_t)arg / GROUP]);
	return NULL;
}

static void turn(void)
{
	for (size_t i = 0; i < VCPUS / GROUP; i++) {
		pthread_barrier_wait(&barriers[i]);
		nanosleep(&(struct timespec){ .tv_nsec = GROUP_NS }, NULL);
	}
}

static int start_threads(void)
{
	pthread_attr_t attr;

	for (size_t i = 0; i < VCPUS / GROUP; i++)
		pthread_barrier_init(&barriers[i], NULL, GROUP + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (size_t i = 0; i < VCPUS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, run, (void *)(uintptr_t)i))
			return -1;
	}
	turn();
	return 0;
}

static void put_stat(const char *path, unsigned int round)
{
	FILE *file = fopen(path, "w");

	for (unsigned int cpu = 0; file && cpu < CPUS; cpu++)
		fprintf(file, "cpu%u %u 0 0 123456 0 0 0 0 0 0\n", cpu, round * (cpu + 1));
	if (file)
		fclose(file);
}

static int make_folder(char *stat, size_t size)
{
	char path[128], to[64];

	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", dir);
	if (mkdir(path, 0755) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/proc/%d", dir, (int)getpid());
	snprintf(to, sizeof(to), "/proc/%d", (int)getpid());
	if (symlink(to, path) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/proc/self", dir);
	if (symlink(to, path) < 0)
		return -1;
	snprintf(stat, size, "%s/proc/stat", dir);
	return 0;
}

static void remove_folder(const char *stat)
{
	char path[128];

	unlink(stat);
	snprintf(path, sizeof(path), "%s/proc/%d", dir, (int)getpid());
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc/self", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", dir);
	rmdir(path);
	rmdir(dir);
}

static uint32_t add_guest(struct guests *guests)
{
	struct vcpu *vcpus = calloc(VCPUS, sizeof(*vcpus));
	struct guest guest = { .pid = getpid(), .name = "bench", .vcpus = vcpus,
			       .nr_vcpus = VCPUS, .nr_vms = 1 };
	uint32_t id = 0;

	for (int i = 0; vcpus && i < VCPUS; i++)
		vcpus[i] = (struct vcpu){ .index = i, .tid = tids[i] };
	if (vcpus)
		id = guests_add(guests, &guest);
	free(vcpus);
	return id;
}

/* A machine without BPF cannot say who had the CPU. */
static int measure(const struct provider *provider, const struct view_type *type, struct env *env,
		   const char *stat)
{
	static double read[ROUNDS], rest[ROUNDS], all[ROUNDS];
	struct provider_args args = { .env = env, .guests = guests_new(env),
				      .fields = fields_new(), .source = 3 };
	struct stats *stats = stats_new();
	struct query query = { .type = type, .sort = view_default_sort(type) };
	struct want want = { .scope = WANT_EACH };
	struct facts facts = { .wanted = &want.fields, .fields = args.fields, .stats = stats,
			       .guests = args.guests };
	struct sample sample = { 0 };
	struct view view = { 0 };
	struct error error = { "" };
	void *state;
	double whole;

	if (!add_guest(args.guests) || provider->open(&args, &state, &error) < 0) {
		printf("%s: %s\n", type->title, error.text);
		return type == &view_host;
	}
	query_wants(&query, args.fields, &want.fields);
	if (provider->want(state, &want, &error) < 0)
		return 1;
	for (int round = -2; round < ROUNDS; round++) {
		double begun, counted;

		put_stat(stat, (unsigned int)round + 10);
		turn();
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		begun = cpu_ms();
		sample_reset(&sample);
		if (provider->collect(state, &sample, &error) < 0)
			return 1;
		counted = cpu_ms();
		stats_update(stats, args.fields, &sample);
		view_build(&view, &query, &facts);
		if (type == &view_host && view.nr_rows != CPUS)
			return 1;
		if (round < 0)
			continue;
		read[round] = counted - begun;
		rest[round] = cpu_ms() - counted;
		all[round] = cpu_ms() - begun;
	}
	whole = median(all, ROUNDS);
	printf("%s view, %d CPUs x %d vCPUs, %zu counts, %zu rows: median CPU ms of a refresh: "
	       "reading %.2f, stats and view %.2f, all %.2f\n", type->title, CPUS, VCPUS,
	       sample.nr_rows, view.nr_rows, median(read, ROUNDS), median(rest, ROUNDS), whole);
	printf("%s: target %d ms\n", whole <= TARGET_MS ? "ok" : "MISSED", TARGET_MS);
	provider->close(state);
	return whole > TARGET_MS;
}

int main(void)
{
	struct env made_up = { .root = dir, .arch = arch_by_name("SVM") };
	struct env here = { .root = "", .arch = arch_by_name("SVM") };
	int failed;
	char stat[128];

	if (make_folder(stat, sizeof(stat)) < 0 || start_threads() < 0)
		return 1;
	failed = measure(&host_provider, &view_host, &made_up, stat);
	failed |= measure(&who_provider, &view_who, &here, stat);
	remove_folder(stat);
	return failed;
}
