// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_host - what the provider "host" makes of files in a folder: times of threads, quotas of
 * cgroups, migrations, and the host's CPUs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "providers/host/host.h"
#include "providers/providers.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SOURCE 3
#define PID 100
#define US UINT64_C(1000)

struct world {
	char dir[40];
	struct env env;
	struct guests *guests;
	struct fields *fields;
	void *host;
	struct want want;
	struct sample sample;
	struct error error;
	uint32_t guest;
};

/* lib/clock.h in this program: the kernel's time, and what tests let pass without waiting. */
static _Atomic uint64_t passed_ns;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec + passed_ns;
}

uint64_t clock_now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

double clock_rate(void)
{
	return 1;
}

static void put(const struct world *w, const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", w->dir, path);
	for (char *slash = strchr(whole + strlen(w->dir) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(whole, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

__attribute__((format(printf, 4, 5)))
static void put_of(const struct world *w, int tid, const char *name, const char *fmt, ...)
{
	char path[128], text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", PID, tid, name);
	put(w, path, text);
}

/* As of a thread or cgroup that has ended: the file is there, but cannot be read. */
static void has_ended(const struct world *w, const char *path)
{
	char whole[512];

	put(w, path, "");
	snprintf(whole, sizeof(whole), "%s%s", w->dir, path);
	assert_int_equal(unlink(whole), 0);
	assert_int_equal(symlink("/proc/self/mem", whole), 0);
}

static void is_gone(const struct world *w, const char *path)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", w->dir, path);
	assert_int_equal(unlink(whole), 0);
}

/* A thread as it is after so many microseconds: less than take() lets pass. */
static void thread_is(const struct world *w, int tid, unsigned int run_us, unsigned int wait_us,
		      unsigned int slices)
{
	put_of(w, tid, "schedstat", "%u000 %u000 %u\n", run_us, wait_us, slices);
}

static void is_on(const struct world *w, int tid, int cpu)
{
	put_of(w, tid, "stat",
	       "%d (a ) b) R 1 1 1 0 -1 4194560 1 0 0 0 9 9 0 0 20 0 4 0 99 1 1 1 1 1 1 1 1 0 0 0 "
	       "0 0 0 0 17 %d 0 0 0 9 0 0 0 0 0 0 0 0 0\n", tid, cpu);
}

static void has_migrated(const struct world *w, int tid, unsigned int times)
{
	put_of(w, tid, "sched",
	       "CPU 0/KVM (%d, #threads: 3)\n-------\nse.exec_start  :  1.0\n"
	       "se.nr_migrations                             : %20u\nnr_switches : 9\n",
	       tid, times);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	strcpy(w->dir, "/tmp/kvmtop-host.XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	w->env = (struct env){ .root = w->dir, .arch = arch_by_name("SVM") };
	w->guests = guests_new(&w->env);
	w->fields = fields_new();
	put(w, "/proc/self/schedstat", "1 2 3\n");
	put(w, "/proc/stat", "cpu  1 1 1 1 1 1 1 1 0 0\nintr 0\n");
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[64];

	host_provider.close(w->host);
	sample_release(&w->sample);
	field_set_release(&w->want.fields);
	fields_free(w->fields);
	guests_free(w->guests);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

static void begin(struct world *w, unsigned int nr_vcpus)
{
	struct provider_args args = { .env = &w->env, .guests = w->guests, .fields = w->fields,
					      .source = SOURCE };

	w->guest = guests_add_fake(w->guests, PID, "db1", nr_vcpus);
	assert_int_equal(host_provider.open(&args, &w->host, &w->error), 0);
	for (uint32_t i = 0; i < fields_count(w->fields); i++)
		field_set_add(&w->want.fields, i);
	assert_int_equal(host_provider.want(w->host, &w->want, &w->error), 0);
}

static void take(struct world *w)
{
	passed_ns += 3000 * US;
	sample_reset(&w->sample);
	assert_int_equal(host_provider.collect(w->host, &w->sample, &w->error), 0);
	assert_true(w->sample.time_ns[SOURCE] > 0);
}

#define NONE UINT64_MAX

static uint64_t value_of(const struct world *w, uint32_t guest, int32_t vcpu, const char *name)
{
	uint32_t field = fields_find(w->fields, name);
	uint64_t value = NONE;

	assert_int_not_equal(field, FIELD_NONE);
	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		const struct row *row = &w->sample.rows[i];

		if (row->key.guest != guest || row->key.vcpu != vcpu || row->key.field != field)
			continue;
		assert_int_equal(value, NONE); /* no key twice */
		assert_int_equal(row->flags, fields_get(w->fields, field)->part == HOST_QUOTA ?
						     ROW_FROM_ZERO : 0);
		value = row->count;
	}
	return value;
}

static uint64_t of_vcpu(const struct world *w, int32_t vcpu, const char *name)
{
	return value_of(w, w->guest, vcpu, name);
}

static uint64_t of_cpu(const struct world *w, int32_t cpu, const char *name)
{
	return value_of(w, GUEST_NONE, cpu, name);
}

TEST(times_and_places, setup, teardown)
{
	struct world *w = *state;

	thread_is(w, 101, 1000, 500, 10);
	is_on(w, 101, 3);
	has_migrated(w, 101, 7);
	put_of(w, 101, "status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n");
	begin(w, 2); /* nothing is known of the second one, which has just ended */
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(run)"), 1000 * US);
	assert_int_equal(of_vcpu(w, 0, "thread(waited)"), 500 * US);
	assert_int_equal(of_vcpu(w, 0, "thread(cpu)"), 3);
	assert_int_equal(of_vcpu(w, 0, "thread(affinity)"), 5);
	assert_int_equal(of_vcpu(w, 0, "thread(migrations)"), 7);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), NONE); /* there is no cgroup */
	assert_int_equal(of_vcpu(w, 1, "thread(run)"), NONE);
	assert_int_equal(of_vcpu(w, 1, "thread(cpu)"), NONE);
	thread_is(w, 101, 1600, 700, 11);
	is_on(w, 101, 12);
	has_migrated(w, 101, 9);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(run)"), 1600 * US);
	assert_int_equal(of_vcpu(w, 0, "thread(waited)"), 700 * US);
	assert_int_equal(of_vcpu(w, 0, "thread(cpu)"), 12);
	assert_int_equal(of_vcpu(w, 0, "thread(migrations)"), 9);
}

static void is_in_state(const struct world *w, int tid, const char *state)
{
	put_of(w, tid, "status", "Name:\tx\nState:\t%s\nCpus_allowed_list:\t0-3\n", state);
}

/* Of whole intervals: before the first reading, and while it also ran, that is not known. */
TEST(a_thread_that_is_stopped, setup, teardown)
{
	struct world *w = *state;
	uint64_t stopped_ns, first_ns;

	thread_is(w, 101, 1000, 500, 10);
	is_in_state(w, 101, "T (stopped)");
	begin(w, 1);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(stopped)"), 0);
	first_ns = w->sample.time_ns[SOURCE];
	take(w);
	stopped_ns = of_vcpu(w, 0, "thread(stopped)");
	assert_int_equal(stopped_ns, w->sample.time_ns[SOURCE] - first_ns);
	is_in_state(w, 101, "S (sleeping)");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(stopped)"), stopped_ns);
	thread_is(w, 101, 1001, 500, 11);
	is_in_state(w, 101, "t (tracing stop)");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(stopped)"), stopped_ns);
	take(w);
	assert_true(of_vcpu(w, 0, "thread(stopped)") > stopped_ns);
}

static uint64_t swapped(struct world *w, int anon_mib, int shared_mib, int huge_mib, int swap_mib)
{
	put_of(w, 101, "status",
	       "Name:\tx\nVmRSS:\t1 kB\nRssAnon:\t%d kB\nRssShmem:\t%d kB\nVmSwap:\t%d kB\n"
	       "HugetlbPages:\t%d kB\n",
	       anon_mib << 10, shared_mib << 10, swap_mib << 10, huge_mib << 10);
	take(w);
	return of_vcpu(w, -1, "memory(swapped)");
}

TEST(memory_that_is_swapped_out, setup, teardown)
{
	struct world *w = *state;

	put(w, "/proc/swaps", "Filename\tType\n/dev/vdb partition\n");
	begin(w, 2);
	take(w);
	assert_int_equal(of_vcpu(w, -1, "memory(swapped)"), NONE);
	assert_int_equal(swapped(w, 300, 0, 0, 100), 250);
	assert_int_equal(swapped(w, 100, 0, 200, 100), 250);
	assert_int_equal(swapped(w, 64, 0, 0, 0), 0);
	assert_int_equal(swapped(w, 43, 0, 0, 20), NONE);   /* less than 64 MiB */
	assert_int_equal(swapped(w, 70, 100, 0, 20), NONE); /* most of it is shared */
}

TEST(a_host_without_swap, setup, teardown)
{
	struct world *w = *state;

	put(w, "/proc/swaps", "Filename\tType\n");
	begin(w, 1);
	assert_int_equal(fields_find(w->fields, "memory(swapped)"), FIELD_NONE);
	put_of(w, 101, "status", "Name:\tx\nRssAnon:\t%d kB\n", 100 << 10);
	take(w);
}

TEST(huge_pages_of_the_host, setup, teardown)
{
#define MM "/sys/kernel/mm/"
#define THP MM "transparent_hugepage/enabled"
#define FREE(size) MM "hugepages/hugepages-" size "kB/free_hugepages"
	static const struct {
		const char *file, *text;
		uint64_t has;
	} hosts[] = {
		{ MM "ksm/run", "0\n", NONE },
		{ FREE("2048"), "0\n", 0 },
		{ THP, "always madvise [never]\n", 0 },
		{ FREE("1048576"), "3\n", 1 },
		{ FREE("1048576"), "0\n", 0 },
		{ THP, "always [madvise] never\n", 1 },
	};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		uint32_t field;
		uint64_t has = NONE;

		put(w, hosts[i].file, hosts[i].text);
		begin(w, 1);
		take(w);
		field = fields_find(w->fields, "memory(huge_pages)");
		for (size_t j = 0; j < w->sample.nr_rows; j++) {
			const struct row *row = &w->sample.rows[j];

			if (row->key.field != field)
				continue;
			has = row->count;
			assert_true(row->key.guest == GUEST_NONE && row->key.vcpu == -1);
		}
		assert_int_equal(has, hosts[i].has);
		host_provider.close(w->host);
		w->host = NULL;
	}
}

/* A thread that did not run is where it was, and its other files are not read. */
TEST(a_thread_that_rests_is_not_read, setup, teardown)
{
	struct world *w = *state;

	thread_is(w, 101, 1000, 500, 10);
	is_on(w, 101, 3);
	has_migrated(w, 101, 7);
	begin(w, 1);
	take(w);
	is_on(w, 101, 4);
	has_migrated(w, 101, 8);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(cpu)"), 3);
	assert_int_equal(of_vcpu(w, 0, "thread(migrations)"), 7);
}

/* Where the kernel does not count them, times of 0 would be wrong. */
TEST(without_schedstat_there_are_no_times, setup, teardown)
{
	struct world *w = *state;

	put(w, "/proc/self/schedstat", "0 0 0\n");
	thread_is(w, 101, 0, 0, 0);
	is_on(w, 101, 3);
	has_migrated(w, 101, 7);
	begin(w, 1);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(run)"), NONE);
	assert_int_equal(of_vcpu(w, 0, "thread(waited)"), NONE);
	is_on(w, 101, 4);
	has_migrated(w, 101, 8);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(cpu)"), 4);
	assert_int_equal(of_vcpu(w, 0, "thread(migrations)"), 8);
}

/* ---- quotas */

static void throttled_in(const struct world *w, const char *cgroup, unsigned int us)
{
	char path[256], text[128];

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.stat", cgroup);
	snprintf(text, sizeof(text), "usage_usec 1\nnr_throttled 1\nthrottled_usec %u\n", us);
	put(w, path, text);
}

/*
 * The kernel counts a wait when it is over: no interval has more of it than there was time beside
 * what ran, and later ones have the rest.
 */
TEST(a_long_wait_is_spread, setup, teardown)
{
	struct world *w = *state;
	uint64_t begin_ns, wait_ns, before_ns;

	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	before_ns = 10 * US;
	thread_is(w, 101, 10 + 1000, 10 + 12000, 2);
	/* Of three ms each, or more on a busy machine. */
	for (int i = 0; i < 7 && before_ns < (10 + 12000) * US; i++) {
		begin_ns = w->sample.time_ns[SOURCE];
		take(w);
		wait_ns = of_vcpu(w, 0, "thread(waited)") - before_ns;
		before_ns += wait_ns;
		/* In the first one a millisecond was run. */
		assert_in_range(wait_ns, 1, w->sample.time_ns[SOURCE] - begin_ns -
						    (i ? 0 : 1000 * US));
	}
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(waited)"), (10 + 12000) * US);
}

/* Each has the part that it waited; what is above throttles, too. */
TEST(quotas_of_cgroups, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 101, "cgroup", "0::/machine.slice/db1/vcpu0\n");
	put_of(w, 102, "cgroup", "0::/machine.slice/db1\n");
	put_of(w, 103, "cgroup", "0::/machine.slice\n");
	throttled_in(w, "/machine.slice/db1/vcpu0", 1000);
	throttled_in(w, "/machine.slice/db1", 5000);
	put(w, "/sys/fs/cgroup/machine.slice/cpu.stat", "usage_usec 1\n"); /* has no quota */
	for (int tid = 101; tid <= 103; tid++)
		thread_is(w, tid, 10, 10, 1);
	begin(w, 3);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 0);
	assert_int_equal(of_vcpu(w, 1, "thread(throttled)"), 0);
	assert_int_equal(of_vcpu(w, 2, "thread(throttled)"), NONE);
	thread_is(w, 101, 20, 10 + 300, 2);
	thread_is(w, 102, 20, 10 + 100, 2);
	thread_is(w, 103, 20, 10 + 900, 2);
	throttled_in(w, "/machine.slice/db1/vcpu0", 1000 + 50);
	throttled_in(w, "/machine.slice/db1", 5000 + 80);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), (50 + 60) * US);
	assert_int_equal(of_vcpu(w, 1, "thread(throttled)"), 20 * US);
	/* Never more than it waited. */
	thread_is(w, 101, 20, 10 + 310, 3);
	throttled_in(w, "/machine.slice/db1/vcpu0", 1000 + 50 + 90);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), (50 + 60 + 10) * US);
}

/* As the cgroup of a service that is started again. */
TEST(a_cgroup_that_is_made_again, setup, teardown)
{
	static const char stat[] = "/sys/fs/cgroup/db1/cpu.stat";
	struct world *w = *state;

	put_of(w, 101, "cgroup", "0::/db1\n");
	has_ended(w, stat);
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	is_gone(w, stat);
	throttled_in(w, "/db1", 1000);
	take(w);
	take(w);
	thread_is(w, 101, 20, 10 + 300, 2);
	throttled_in(w, "/db1", 1000 + 50);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 50 * US);
}

/* Without a quota the kernel's file is there, too. One that never ran out has throttled nothing. */
TEST(only_where_a_quota_is_in_force, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 101, "cgroup", "0::/db1\n");
	put(w, "/sys/fs/cgroup/db1/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), NONE);
	put(w, "/sys/fs/cgroup/db1/cpu.stat", "nr_periods 3\nnr_throttled 0\nthrottled_usec 0\n");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 0);
}

/* Where cgroups are mounted is the machine's choice. */
TEST(cgroups_that_are_mounted_elsewhere, setup, teardown)
{
	struct world *w = *state;

	put(w, "/proc/mounts", "none /odd\\040place cgroup2 rw 0 0\n");
	put_of(w, 101, "cgroup", "0::/db1/vcpu0\n");
	put(w, "/odd place/db1/cpu.stat", "nr_periods 1\nthrottled_usec 1000\n");
	put(w, "/odd place/db1/cpu.max", "20000 100000\n");
	put(w, "/sys/fs/cgroup/db1/cpu.stat", "nr_periods 0\nthrottled_usec 0\n");
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	thread_is(w, 101, 20, 10 + 300, 2);
	put(w, "/odd place/db1/cpu.stat", "nr_periods 2\nthrottled_usec 1050\n");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 50 * US);
	assert_int_not_equal(fields_find(w->fields, "thread(throttled)(/odd place/db1/cpu.max: 0.2 "
						    "CPUs)"), FIELD_NONE);
}

TEST(quotas_of_cgroups_v1, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 101, "cgroup", "9:cpuset:/\n4:cpuacct,cpu:/lxc/db1\n0::/elsewhere\n");
	put(w, "/sys/fs/cgroup/cpuacct,cpu/lxc/db1/cpu.stat",
	    "nr_periods 1\nnr_throttled 1\nthrottled_time 7000\n");
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	thread_is(w, 101, 20, 60, 2);
	put(w, "/sys/fs/cgroup/cpuacct,cpu/lxc/db1/cpu.stat",
	    "nr_periods 1\nnr_throttled 1\nthrottled_time 47000\n");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 40 * US);
}

/* The quota that stops the thread is named, with its limit: the one that throttled most. */
TEST(the_quota_is_named, setup, teardown)
{
	static const char own[] = "thread(throttled)(/sys/fs/cgroup/db1/vcpu0/cpu.max: 0.2 CPUs)";
	static const char above[] = "thread(throttled)(/sys/fs/cgroup/db1/cpu.max: 1 CPU)";
	static const char v1[] =
		"thread(throttled)(/sys/fs/cgroup/cpu/web1/cpu.cfs_quota_us: 2.5 CPUs)";
	struct world *w = *state;

	put_of(w, 101, "cgroup", "0::/db1/vcpu0\n");
	throttled_in(w, "/db1/vcpu0", 1000);
	throttled_in(w, "/db1", 5000);
	put(w, "/sys/fs/cgroup/db1/vcpu0/cpu.max", "20000 100000\n");
	put(w, "/sys/fs/cgroup/db1/cpu.max", "100000 100000\n");
	put_of(w, 102, "cgroup", "4:cpu:/web1\n");
	put(w, "/sys/fs/cgroup/cpu/web1/cpu.stat", "nr_periods 1\nthrottled_time 1000\n");
	put(w, "/sys/fs/cgroup/cpu/web1/cpu.cfs_quota_us", "250000\n");
	put(w, "/sys/fs/cgroup/cpu/web1/cpu.cfs_period_us", "100000\n");
	for (int tid = 101; tid <= 102; tid++)
		thread_is(w, tid, 10, 10, 1);
	begin(w, 2);
	take(w);
	thread_is(w, 101, 20, 110, 2);
	thread_is(w, 102, 20, 110, 2);
	throttled_in(w, "/db1/vcpu0", 1000 + 50);
	throttled_in(w, "/db1", 5000 + 20);
	put(w, "/sys/fs/cgroup/cpu/web1/cpu.stat", "nr_periods 2\nthrottled_time 41000\n");
	take(w);
	assert_int_equal(of_vcpu(w, 0, own), 70 * US);
	assert_int_equal(of_vcpu(w, 1, v1), 40 * US);
	thread_is(w, 101, 20, 210, 3);
	throttled_in(w, "/db1", 5000 + 20 + 30);
	take(w);
	assert_int_equal(of_vcpu(w, 0, above), 30 * US);
	assert_int_equal(of_vcpu(w, 1, v1), 40 * US);
}

/* A limit that is changed all the time: what has no name any more is not charged to another one. */
TEST(more_quotas_than_are_named, setup, teardown)
{
	enum { MOST = 256 };
	static const char name[] = "thread(throttled)(/sys/fs/cgroup/db1/cpu.max: %g CPUs)";
	struct world *w = *state;
	char text[128];

	put_of(w, 101, "cgroup", "0::/db1\n");
	throttled_in(w, "/db1", 1000);
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	for (unsigned int i = 1; i <= MOST + 2; i++) {
		/* At the end again as it was at first. */
		unsigned int limit = i == MOST + 2 ? 1 : i;

		snprintf(text, sizeof(text), "%u 100000\n", (100 + limit) * 1000);
		put(w, "/sys/fs/cgroup/db1/cpu.max", text);
		thread_is(w, 101, 10 + i, 10 + 50 * i, 1 + i);
		throttled_in(w, "/db1", 1000 + 50 * i);
		take(w);
		assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), 50 * i * US);
		snprintf(text, sizeof(text), name, (100 + limit) / 100.0);
		if (i != MOST + 1) {
			assert_int_equal(of_vcpu(w, 0, text), 50 * US);
			continue;
		}
		assert_int_equal(fields_find(w->fields, text), FIELD_NONE);
		snprintf(text, sizeof(text), name, (100 + MOST) / 100.0);
		assert_int_equal(of_vcpu(w, 0, text), NONE);
	}
}

/* Where a quota cannot be read there may be one. */
TEST(a_hidden_quota_is_said, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 101, "cgroup", "0::/../pods/db1\n");
	put(w, "/sys/fs/cgroup/pods/db1/cpu.stat", "nr_periods 1\nthrottled_usec 5\n");
	thread_is(w, 101, 10, 10, 1);
	begin(w, 1);
	take(w);
	assert_string_equal(w->error.text,
			    "the quota of 1 vCPU is not known: its cgroup is outside of kvmtop's "
			    "cgroup namespace; run kvmtop in the host's (docker run "
			    "--cgroupns=host)");
	thread_is(w, 101, 20, 110, 2);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)"), NONE);
	assert_int_equal(of_vcpu(w, 0, "thread(throttled)(" HOST_QUOTA_HIDDEN ")"), 100 * US);
	w->error.text[0] = '\0';
}

/* ---- many threads, few descriptors */

/* With more vCPUs than have a turn in a sample, what is found at a turn is spread: none is lost. */
TEST(migrations_are_spread, setup, teardown)
{
	enum { TURNS = 3, NR = TURNS * HOST_THREADS_TURN };
	struct world *w = *state;
	uint64_t before = 100;

	for (int tid = PID + 1; tid <= PID + NR; tid++) {
		thread_is(w, tid, 10, 10, 1);
		has_migrated(w, tid, 100);
	}
	begin(w, NR);
	for (int i = 0; i < TURNS; i++)
		take(w);
	for (int tid = PID + 1; tid <= PID + NR; tid++) {
		thread_is(w, tid, 20, 10, 2);
		has_migrated(w, tid, 100 + 9);
	}
	/* The last vCPU has its turn last. The file of a thread that goes on running is read. */
	for (unsigned int i = 0; i < 2 * TURNS - 1; i++) {
		uint64_t now;

		for (int tid = PID + 1; tid <= PID + NR; tid++)
			thread_is(w, tid, 20, 10, 3 + i);
		take(w);
		now = of_vcpu(w, NR - 1, "thread(migrations)");
		assert_int_equal(now - before, i < TURNS - 1 ? 0 : 9 / TURNS);
		before = now;
	}
	assert_int_equal(before, 109);
	assert_int_equal(of_vcpu(w, 0, "thread(migrations)"), 109);
	/* The turn of a thread that rests by then has what the thread did before. */
	take(w);
	thread_is(w, PID + NR, 30, 10, 99);
	has_migrated(w, PID + NR, 109 + 9);
	for (unsigned int i = 0; i < 2 * TURNS; i++)
		take(w);
	assert_int_equal(of_vcpu(w, NR - 1, "thread(migrations)"), 118);
}

/* Guests that come and go do not end the turns of the others. */
TEST(all_have_a_turn_where_guests_come_and_go, setup, teardown)
{
	enum { TURNS = 3, NR = TURNS * HOST_THREADS_TURN };
	struct world *w = *state;

	for (int tid = PID + 1; tid <= PID + NR; tid++) {
		thread_is(w, tid, 10, 10, 1);
		has_migrated(w, tid, 100);
	}
	begin(w, NR);
	for (int i = 0; i < TURNS; i++) {
		guests_add_fake(w->guests, 1000 + 10 * i, "short", 1);
		take(w);
	}
	for (int vcpu = 0; vcpu < NR; vcpu++)
		assert_int_equal(of_vcpu(w, vcpu, "thread(migrations)"), 100);
}

static int lowest_descriptor(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

/* Whether the latest sample has the field of a vCPU, or of the guest. */
static bool has_row(const struct world *w, int32_t vcpu, const char *name)
{
	uint32_t field = fields_find(w->fields, name);

	for (size_t i = 0; i < w->sample.nr_rows; i++) {
		const struct key *key = &w->sample.rows[i].key;

		if (key->guest == w->guest && key->vcpu == vcpu && key->field == field)
			return true;
	}
	return false;
}

/* Files stay open; where that would take the last descriptors each reading opens them. */
TEST(few_descriptors, setup, teardown)
{
	struct world *w = *state;
	int lowest = lowest_descriptor();
	struct rlimit limit, few;
	int status;
	pid_t pid;

	thread_is(w, 101, 1000, 500, 10);
	thread_is(w, 105, 1000, 500, 10);
	put_of(w, 105, "comm", "IO iothread1\n");
	begin(w, 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	take(w); /* it may raise the limit */
	host_provider.close(w->host);
	w->host = NULL;
	assert_int_equal(lowest_descriptor(), lowest);
	begin(w, 1);
	take(w);
	assert_int_not_equal(lowest_descriptor(), lowest);
	host_provider.close(w->host);
	w->host = NULL;
	begin(w, 1);
	/* A limit that was lowered stays low: in a process of its own, and not root's. */
	few = (struct rlimit){ (rlim_t)lowest + 4, (rlim_t)lowest + 4 };
	assert_int_equal(chmod(w->dir, 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (setrlimit(RLIMIT_NOFILE, &few) < 0 || (!geteuid() && setuid(65534) < 0))
			_exit(2);
		take(w);
		take(w);
		if (!has_row(w, 0, "thread(run)") || !has_row(w, 0, "thread(waited)") ||
		    !has_row(w, -1, "vmm"))
			_exit(3);
		_exit(lowest_descriptor() != lowest);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- what else VMMs run */

static uint64_t of_vmm(const struct world *w, const char *name)
{
	return value_of(w, w->guest, -1, name);
}

TEST(other_threads_by_their_names, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 100, "comm", "qemu-system-x86\n");
	put_of(w, 101, "comm", "CPU 0/KVM\n"); /* the vCPU */
	put_of(w, 105, "comm", "IO iothread1\n");
	put_of(w, 106, "comm", "vhost-100\n");
	put_of(w, 107, "comm", "vhost-100\n");
	put_of(w, 108, "comm", "a\x1b)b\n");
	for (int tid = 100; tid <= 108; tid++)
		thread_is(w, tid, 1000, 0, 10);
	begin(w, 1);
	take(w);
	assert_int_equal(of_vmm(w, "vmm"), 0); /* it begins with the first look */
	assert_int_equal(of_vmm(w, "vmm(qemu-system-x86)"), 0);
	assert_int_equal(fields_find(w->fields, "vmm(CPU 0/KVM)"), FIELD_NONE);
	assert_int_not_equal(fields_find(w->fields, "vmm(a?)b)"), FIELD_NONE);
	for (int tid = 100; tid <= 108; tid++)
		thread_is(w, tid, 1000 + (unsigned int)tid, 0, 11);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(qemu-system-x86)"), 100 * US);
	assert_int_equal(of_vmm(w, "vmm(IO iothread1)"), 105 * US);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), (106 + 107) * US);
	assert_int_equal(of_vmm(w, "vmm"), (100 + 102 + 103 + 104 + 105 + 106 + 107 + 108) * US);
}

/* A program that gives each of its threads a name of its own must not fill the memory. */
TEST(too_many_names, setup, teardown)
{
	struct world *w = *state;

	for (int tid = 200; tid < 500; tid++) {
		put_of(w, tid, "comm", "worker-%c%c\n", 'a' + tid / 26 % 26, 'a' + tid % 26);
		thread_is(w, tid, 1000, 0, 10);
	}
	begin(w, 1);
	take(w);
	assert_int_not_equal(fields_find(w->fields, "vmm(other)"), FIELD_NONE);
	assert_int_not_equal(fields_find(w->fields, "vmm(worker-hs)"), FIELD_NONE); /* 200 */
	assert_int_equal(fields_find(w->fields, "vmm(worker-tf)"), FIELD_NONE); /* 499 */
	put_of(w, 600, "comm", "worker-hs\n");
	put_of(w, 601, "comm", "new\n");
	thread_is(w, 600, 1000, 0, 10);
	thread_is(w, 601, 1000, 0, 10);
	take(w);
	thread_is(w, 600, 1007, 0, 11);
	thread_is(w, 601, 1009, 0, 11);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(worker-hs)"), 7 * US);
	assert_int_equal(of_vmm(w, "vmm(other)"), 9 * US);
}

/* What a thread ran stays in the sums when it ends, and another one may have its number. */
TEST(threads_that_come_and_go, setup, teardown)
{
	struct world *w = *state;
	char path[128];

	put_of(w, 105, "comm", "worker\n");
	thread_is(w, 105, 10, 0, 1);
	begin(w, 1);
	take(w);
	thread_is(w, 105, 40, 0, 2);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(worker)"), 30 * US);
	snprintf(path, sizeof(path), "rm -r %s/proc/%d/task/105", w->dir, PID);
	assert_int_equal(system(path), 0);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(worker)"), 30 * US);
	put_of(w, 106, "comm", "worker\n");
	thread_is(w, 106, 500, 0, 1);
	take(w);
	thread_is(w, 106, 501, 0, 2);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(worker)"), 31 * US);
	assert_int_equal(of_vmm(w, "vmm"), 31 * US);
	/* One ends between two lists, and the next one with its number is in both. */
	put_of(w, 107, "comm", "worker\n");
	has_ended(w, "/proc/100/task/107/schedstat");
	take(w);
	is_gone(w, "/proc/100/task/107/schedstat");
	put_of(w, 107, "comm", "next\n");
	thread_is(w, 107, 500, 0, 1);
	take(w);
	thread_is(w, 107, 507, 0, 1);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(worker)"), 31 * US);
	assert_int_equal(of_vmm(w, "vmm(next)"), 7 * US);
}

static void kernel_thread_is(const struct world *w, int tid, const char *name, unsigned int run_us)
{
	char path[128], text[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", tid, tid);
	put(w, path, name);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", tid, tid);
	snprintf(text, sizeof(text), "%u000 0 10\n", run_us);
	put(w, path, text);
}

static void kernel_threads_are(const struct world *w, const char *list)
{
	put(w, "/proc/2/stat",
	    "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n");
	put(w, "/proc/2/task/2/children", list);
}

/* Before Linux 6.4 vhost's threads are the kernel's; their name is that of a thread of the VMM. */
TEST(kernel_threads_of_a_vmm, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 100, "comm", "qemu-system-x86\n");
	put_of(w, 105, "comm", "IO iothread1\n");
	thread_is(w, 100, 1000, 0, 10);
	thread_is(w, 105, 1000, 0, 10);
	kernel_thread_is(w, 3, "rcu_gp\n", 500);
	kernel_thread_is(w, 120, "vhost-100\n", 1000);
	kernel_thread_is(w, 121, "vhost-105\n", 2000);
	kernel_thread_is(w, 122, "kvm-pit/100\n", 3000);
	kernel_thread_is(w, 123, "vhost-999\n", 4000);
	kernel_threads_are(w, "3 120 121 122 123 ");
	begin(w, 1);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 0);
	kernel_thread_is(w, 3, "rcu_gp\n", 600);
	kernel_thread_is(w, 120, "vhost-100\n", 1001);
	kernel_thread_is(w, 121, "vhost-105\n", 2020);
	kernel_thread_is(w, 122, "kvm-pit/100\n", 3300);
	kernel_thread_is(w, 123, "vhost-999\n", 8000);
	thread_is(w, 105, 5000, 0, 11);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 21 * US);
	assert_int_equal(of_vmm(w, "vmm(kvm-pit)"), 300 * US);
	assert_int_equal(of_vmm(w, "vmm"), 4321 * US);
}

/* A number of one that has ended comes again; one that has just begun has its parent's name. */
TEST(kernel_threads_that_come_and_go, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 100, "comm", "qemu-system-x86\n");
	thread_is(w, 100, 1000, 0, 10);
	kernel_thread_is(w, 120, "kworker/0:1-events\n", 10);
	kernel_thread_is(w, 121, "vhost-100\n", 10);
	kernel_threads_are(w, "120 121 ");
	begin(w, 1);
	take(w);
	kernel_thread_is(w, 121, "vhost-100\n", 15);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 5 * US);
	kernel_thread_is(w, 120, "vhost-100\n", 70);
	kernel_thread_is(w, 122, "kthreadd\n", 0);
	kernel_threads_are(w, "121 120 122 ");
	take(w);
	kernel_thread_is(w, 120, "vhost-100\n", 90);
	kernel_thread_is(w, 122, "vhost-100\n", 0);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 25 * US);
	kernel_thread_is(w, 122, "vhost-100\n", 300);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 325 * US);
	kernel_threads_are(w, "121 ");
	kernel_thread_is(w, 121, "vhost-100\n", 16);
	kernel_thread_is(w, 120, "other\n", 5000);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 326 * US);
}

/* The newest are read first: a guest that begins on a large host has its threads at once. */
TEST(many_kernel_threads, setup, teardown)
{
	enum { NR = HOST_KERNEL_THREADS_TURN + 20 };
	struct world *w = *state;
	char list[NR * 6 + 1] = "";

	put_of(w, 100, "comm", "qemu-system-x86\n");
	thread_is(w, 100, 1000, 0, 10);
	for (int i = 0; i < NR; i++) {
		snprintf(list + strlen(list), 6, "%d ", 1000 + i);
		kernel_thread_is(w, 1000 + i, i == 0 || i == NR - 1 ? "vhost-100\n" : "md\n", 10);
	}
	kernel_threads_are(w, list);
	begin(w, 1);
	take(w);
	kernel_thread_is(w, 1000, "vhost-100\n", 20);
	kernel_thread_is(w, 1000 + NR - 1, "vhost-100\n", 11);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 1 * US);
	kernel_thread_is(w, 1000, "vhost-100\n", 25);
	take(w);
	assert_int_equal(of_vmm(w, "vmm(vhost)"), 6 * US);
}

/* In another pid namespace a process has the number of the kernel's parent of threads. */
TEST(processes_are_no_kernel_threads, setup, teardown)
{
	struct world *w = *state;

	put_of(w, 100, "comm", "qemu-system-x86\n");
	thread_is(w, 100, 1000, 0, 10);
	kernel_thread_is(w, 120, "vhost-100\n", 10);
	kernel_threads_are(w, "120 ");
	put(w, "/proc/2/stat", "2 (sh) S 0 0 0 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 9 0 0\n");
	begin(w, 1);
	take(w);
	assert_int_equal(fields_find(w->fields, "vmm(vhost)"), FIELD_NONE);
}

/* ---- CPUs */

TEST(cpus_and_where_they_are, setup, teardown)
{
	struct world *w = *state;
	uint64_t tick = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);

	put(w, "/proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\n"
			     "cpu0 1 2 4 1000 2000 8 16 32 99 99\n"
			     "cpu2 100 0 0 0 0 0 0 0 0 0\nintr 5\ncpux\n");
	put(w, "/sys/devices/system/node/online", "0-1\n");
	put(w, "/sys/devices/system/node/node0/cpulist", "0,8\n");
	put(w, "/sys/devices/system/node/node1/cpulist", "2-3\n");
	put(w, "/sys/devices/system/cpu/cpu0/topology/core_id", "5\n");
	put(w, "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,8\n");
	put(w, "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2\n");
	begin(w, 1);
	take(w);
	assert_int_equal(of_cpu(w, 0, "host_cpu(busy)"), 63 * tick);
	assert_int_equal(of_cpu(w, 0, "host_cpu(node)"), 0);
	assert_int_equal(of_cpu(w, 0, "host_cpu(core)"), 5);
	assert_int_equal(of_cpu(w, 0, "host_cpu(sibling)"), 8);
	assert_int_equal(of_cpu(w, 2, "host_cpu(busy)"), 100 * tick);
	assert_int_equal(of_cpu(w, 2, "host_cpu(node)"), 1);
	assert_int_equal(of_cpu(w, 2, "host_cpu(core)"), NONE);
	assert_int_equal(of_cpu(w, 2, "host_cpu(sibling)"), NONE);
	assert_int_equal(of_cpu(w, 1, "host_cpu(busy)"), NONE);
	/* One goes offline, another one comes. */
	put(w, "/proc/stat", "cpu  9 9 9 9 9 9 9 9 0 0\n"
			     "cpu2 101 0 0 0 0 0 0 0 0 0\ncpu8 7 0 0 0 0 0 0 0\nintr 5\n");
	take(w);
	assert_int_equal(of_cpu(w, 0, "host_cpu(busy)"), NONE);
	assert_int_equal(of_cpu(w, 0, "host_cpu(node)"), NONE);
	assert_int_equal(of_cpu(w, 2, "host_cpu(busy)"), 101 * tick);
	assert_int_equal(of_cpu(w, 8, "host_cpu(busy)"), 7 * tick);
	assert_int_equal(of_cpu(w, 8, "host_cpu(node)"), 0);
}

/* Of 100 MiB 40 are on node 0, where vCPU 0 is; some pages are huge ones. */
TEST(memory_far_away, setup, teardown)
{
	struct world *w = *state;
	char path[128];

	put(w, "/sys/devices/system/node/has_memory", "0-1\n");
	put(w, "/sys/devices/system/node/online", "0-1\n");
	put(w, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	put(w, "/sys/devices/system/node/node1/cpulist", "4-7\n");
	is_on(w, 101, 2);
	is_on(w, 102, 5);
	begin(w, 2);
	/* Reading it takes long, and no sample waits for that. */
	put(w, "/proc/100/numa_maps", "");
	snprintf(path, sizeof(path), "%s/proc/100/numa_maps", w->dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	take(w);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(remote)"), NONE);
	put(w, "/proc/100/numa_maps",
	    "7f0000000000 default anon=15360 dirty=9 N0=5120 N1=10240 kernelpagesize_kB=4\n"
	    "7f0100000000 default huge N0=10 N1=10 kernelpagesize_kB=2048\n"
	    "7f0200000000 default file=/usr/lib/N9=4 mapped=3\n");
	for (int i = 0; i < 10000 && of_vcpu(w, 0, "thread(remote)") == NONE; i++) {
		usleep(1000);
		take(w);
	}
	assert_int_equal(of_vcpu(w, 0, "thread(remote)"), 600);
	assert_int_equal(of_vcpu(w, 1, "thread(remote)"), 400);
	/* It is not read again in each sample. */
	assert_int_equal(unlink(path), 0);
	put(w, "/proc/100/numa_maps", "7f0000000000 default N1=20480 kernelpagesize_kB=4\n");
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(remote)"), 600);
}

/* What the second of two samples knows, as in "kvmtop why": memory of all guests with 64 MiB. */
TEST(memory_of_several_guests, setup, teardown)
{
	struct world *w = *state;
	uint32_t others[3];
	char path[128];

	put(w, "/sys/devices/system/node/has_memory", "0-1\n");
	put(w, "/sys/devices/system/node/online", "0-1\n");
	put(w, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	/* The last one can be written to when it is read: the others have been then. */
	snprintf(path, sizeof(path), "%s/proc/100/numa_maps", w->dir);
	put(w, "/proc/100/numa_maps", "");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (int i = 0; i < 3; i++) {
		int pid = 200 + 10 * i;

		others[i] = guests_add_fake(w->guests, pid, "other", 1);
		snprintf(path, sizeof(path), "/proc/%d/numa_maps", pid);
		put(w, path, i < 2 ? "7f0000000000 default N0=12288 N1=4096 kernelpagesize_kB=4\n" :
				     "7f0000000000 default N0=4095 N1=12288 kernelpagesize_kB=4\n");
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid + 1);
		put(w, path, "1 (a) R 1 1 1 0 -1 4194560 1 0 0 0 9 9 0 0 20 0 4 0 99 1 1 1 1 1 1 1 "
			     "1 0 0 0 0 0 0 0 17 2 0 0 0 9 0 0 0 0 0 0 0 0 0\n");
		snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, pid + 1);
		put(w, path, "1 2 3\n");
	}
	begin(w, 1);
	take(w);
	put(w, "/proc/100/numa_maps", "7f0000000000 default N0=1 N1=3 kernelpagesize_kB=4\n");
	take(w);
	for (int i = 0; i < 2; i++)
		assert_int_equal(value_of(w, others[i], 0, "thread(remote)"), 250);
	assert_int_equal(value_of(w, others[2], 0, "thread(remote)"), NONE);
}

/* The maps of a guest that holds its lock cannot be read; other guests' maps are. */
TEST(memory_that_is_never_read, setup, teardown)
{
	struct world *w = *state;
	char path[128];
	int fd;

	guests_add_fake(w->guests, 200, "first", 1);
	put(w, "/sys/devices/system/node/has_memory", "0-1\n");
	put(w, "/sys/devices/system/node/online", "0-1\n");
	put(w, "/sys/devices/system/node/node0/cpulist", "0-3\n");
	put(w, "/proc/200/numa_maps", "");
	snprintf(path, sizeof(path), "%s/proc/200/numa_maps", w->dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	is_on(w, 101, 2);
	put(w, "/proc/100/numa_maps",
	    "7f0000000000 default N0=12288 N1=4096 kernelpagesize_kB=4\n");
	begin(w, 1);
	take(w);
	passed_ns += 11 * 1000 * 1000 * US; /* longer than a reading may take */
	for (int i = 0; i < 10000 && of_vcpu(w, 0, "thread(remote)") == NONE; i++) {
		usleep(1000);
		take(w);
	}
	assert_int_equal(of_vcpu(w, 0, "thread(remote)"), 250);
	/* Lets the thread end, whether it waits for a writer, has not come to that, or gave up. */
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(unlink(path), 0);
	put(w, "/proc/200/numa_maps", "");
	close(fd);
}

TEST(one_node_has_no_far_memory, setup, teardown)
{
	struct world *w = *state;

	put(w, "/sys/devices/system/node/has_memory", "0\n");
	begin(w, 1);
	assert_int_equal(fields_find(w->fields, "thread(remote)"), FIELD_NONE);
}

/* It is a notice, and what is known of threads is there. */
TEST(cpus_that_cannot_be_read, setup, teardown)
{
	struct world *w = *state;
	char path[64];

	snprintf(path, sizeof(path), "%s/proc/stat", w->dir);
	assert_int_equal(unlink(path), 0);
	thread_is(w, 101, 1000, 500, 10);
	begin(w, 1);
	take(w);
	assert_string_equal(w->error.text, "cannot read /proc/stat: No such file or directory");
	assert_int_equal(of_vcpu(w, 0, "thread(run)"), 1000 * US);
}

TEST(what_is_not_wanted_is_not_read, setup, teardown)
{
	struct world *w = *state;

	thread_is(w, 101, 1000, 500, 10);
	put(w, "/proc/stat", "cpu0 1 2 4 1000 2000 8 16 32 99 99\n");
	begin(w, 1);
	field_set_clear(&w->want.fields);
	assert_int_equal(host_provider.want(w->host, &w->want, &w->error), 0);
	sample_reset(&w->sample);
	assert_int_equal(host_provider.collect(w->host, &w->sample, &w->error), -EAGAIN);
	field_set_add(&w->want.fields, fields_find(w->fields, "thread(waited)"));
	assert_int_equal(host_provider.want(w->host, &w->want, &w->error), 0);
	take(w);
	assert_int_equal(of_vcpu(w, 0, "thread(waited)"), 500 * US);
	assert_int_equal(of_cpu(w, 0, "host_cpu(busy)"), NONE);
}
