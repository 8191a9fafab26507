// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host - what a refresh of the Host view costs: 512 CPUs, which are made up, and 1,000 vCPUs, which
 * are real threads of this process that run before each sample.
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

enum { CPUS = 512, VCPUS = 1000, ROUNDS = 21, TARGET_MS = 10, PAUSE_NS = 50000000 };

static pthread_barrier_t barrier;
static pid_t tids[VCPUS];
static char dir[] = "/tmp/kvmtop-bench.XXXXXX";

/* Two waits a round: all threads run, and then rest while the sample is taken. */
static void *run(void *arg)
{
	tids[(size_t)(uintptr_t)arg] = (pid_t)syscall(SYS_gettid);
	for (;;)
		pthread_barrier_wait(&barrier);
	return NULL;
}

static int start_threads(void)
{
	pthread_attr_t attr;

	pthread_barrier_init(&barrier, NULL, VCPUS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (size_t i = 0; i < VCPUS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, run, (void *)(uintptr_t)i))
			return -1;
	}
	pthread_barrier_wait(&barrier);
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

int main(void)
{
	static double read[ROUNDS], rest[ROUNDS], all[ROUNDS];
	struct env env = { .root = dir, .arch = arch_by_name("SVM") };
	struct provider_args args = { .env = &env, .guests = guests_new(&env),
				      .fields = fields_new(), .source = 3 };
	struct stats *stats = stats_new();
	struct query query = { .type = &view_host, .sort = view_default_sort(&view_host) };
	struct want want = { .scope = WANT_EACH };
	struct facts facts = { .wanted = &want.fields, .fields = args.fields, .stats = stats,
			       .guests = args.guests };
	struct sample sample = { 0 };
	struct view view = { 0 };
	struct error error = { "" };
	char stat[128];
	void *state;
	double whole;

	if (make_folder(stat, sizeof(stat)) < 0 || start_threads() < 0 ||
	    !add_guest(args.guests) || host_provider.open(&args, &state, &error) < 0)
		return 1;
	query_wants(&query, args.fields, &want.fields);
	if (host_provider.want(state, &want, &error) < 0)
		return 1;
	for (int round = -2; round < ROUNDS; round++) {
		double begun, counted;

		put_stat(stat, (unsigned int)round + 10);
		pthread_barrier_wait(&barrier);
		nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
		begun = cpu_ms();
		sample_reset(&sample);
		if (host_provider.collect(state, &sample, &error) < 0)
			return 1;
		counted = cpu_ms();
		stats_update(stats, args.fields, &sample);
		view_build(&view, &query, &facts);
		if (view.nr_rows != CPUS)
			return 1;
		if (round < 0)
			continue;
		read[round] = counted - begun;
		rest[round] = cpu_ms() - counted;
		all[round] = cpu_ms() - begun;
	}
	remove_folder(stat);
	whole = median(all, ROUNDS);
	printf("Host view, %d CPUs x %d vCPUs, median CPU ms of a refresh: reading %.2f, stats and "
	       "view %.2f, all %.2f\n", CPUS, VCPUS, median(read, ROUNDS), median(rest, ROUNDS),
	       whole);
	printf("%s: target %d ms\n", whole <= TARGET_MS ? "ok" : "MISSED", TARGET_MS);
	return whole > TARGET_MS;
}
