/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_perf_limits - the perf engine where the kernel says no: rights, sizes, descriptors, CPUs.
 */
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "lib/file.h"
#include "tests/unit/unit.h"
#include "tests/worlds/perf_world.h"

TEST(test_offline, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *horse = &f->horses[0];

	need_events(f);
	horse_start(horse, 0);
	add_plain(f, CALL_INTERVAL);
	add_plain(f, CALL_IOPRIO);
	open_engine(f);
	want_first(f, 2);
	add_cpu(f, 0);
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	horse_work(horse, CALL_INTERVAL, 1000);
	horse_work(horse, CALL_IOPRIO, 500);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 1000);

	/* Counts that no sample has seen yet survive, too. */
	horse_work(horse, CALL_IOPRIO, 7);
	played_offline(f->engine);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 1000);
	assert_int_equal(count_of(f, GUEST_NONE, 1), 507);
	assert_int_equal(read_count(f, GUEST_NONE, 1), 507);
	played_offline(NULL);

	/* It is back: everything is counted anew and added to what there was. */
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	horse_work(horse, CALL_INTERVAL, 30);
	horse_work(horse, CALL_IOPRIO, 3);
	assert_int_equal(read_count(f, GUEST_NONE, 0), 1030);
	assert_int_equal(count_of(f, GUEST_NONE, 1), 510);
	horse_end(horse);
}

/* The kernel reads at most 16 KiB of one group at once: 1023 events. */
TEST(test_many_events, setup, teardown)
{
	struct fixture *f = *state;
	struct horse *horse = &f->horses[0];

	need_events(f);
	horse_start(horse, 0);
	for (int i = 0; i < 1200; i++)
		add_plain(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, f->nr_counters);
	add_cpu(f, 0);
	retarget(f, ENGINE_KEEP_NONE);
	wait_ready(f);
	horse_work(horse, CALL_INTERVAL, 33);
	read_sample(f);
	assert_string_equal(f->error.text, "");
	assert_int_equal(f->sample.nr_rows, f->nr_counters);
	for (uint32_t i = 0; i < f->nr_counters; i++)
		assert_int_equal(count_of(f, GUEST_NONE, i), 33);
	assert_true(played_groups(f->engine) > 1);

	/* What they counted outlives them. */
	horse_work(horse, CALL_INTERVAL, 4);
	f->nr_targets = 0;
	retarget(f, GUEST_NONE);
	read_sample(f);
	for (uint32_t i = 0; i < f->nr_counters; i++)
		assert_int_equal(count_of(f, GUEST_NONE, i), 37);
	horse_end(horse);
}

TEST(test_refused_filter, setup, teardown)
{
	struct fixture *f = *state;

	need_events(f);
	add_plain(f, CALL_INTERVAL);
	add_counter(f, any_event, "no_such_field==1");
	add_child(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 3);
	target_host(f);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 8);
	read_sample(f);
	assert_int_equal(count_of(f, GUEST_NONE, 0), 8);
	assert_int_equal(count_of(f, GUEST_NONE, 1), ABSENT);
	assert_int_equal(count_of(f, GUEST_NONE, 2), 8);
	assert_string_equal(f->error.text, "1 events not counted: Invalid argument");
	want_first(f, 1);
	wait_ready(f);
	read_sample(f);
	assert_string_equal(f->error.text, "");
}

/* ---- descriptors: in a child, whose limits may be lowered */

#define EXPECT(claim) ((claim) ? (void)0 : child_fail(__LINE__, #claim))

_Noreturn static void child_fail(int line, const char *claim)
{
	fprintf(stderr, "# %s:%d: not so: %s\n", __FILE__, line, claim);
	_exit(1);
}

static void in_child(struct fixture *f, void (*test)(struct fixture *f))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		test(f);
		perf_engine.close(f->engine);
		EXPECT(count_fds() == f->nr_fds);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool has_sys_resource(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[0].effective & 1u << CAP_SYS_RESOURCE;
}

static void drop_sys_resource(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2];

	EXPECT(syscall(SYS_capget, &header, data) == 0);
	data[0].effective &= ~(1u << CAP_SYS_RESOURCE);
	data[0].permitted &= ~(1u << CAP_SYS_RESOURCE);
	EXPECT(syscall(SYS_capset, &header, data) == 0);
}

static struct rlimit limit_now(void)
{
	struct rlimit limit;

	EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	return limit;
}

static void set_limit(rlim_t soft, rlim_t hard)
{
	struct rlimit limit = { soft, hard };

	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void open_forty(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		add_plain(f, CALL_INTERVAL);
	for (int i = 0; i < 30; i++)
		add_child(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 1);
	target_host(f);
	wait_ready(f);
	want_first(f, 40);
	wait_ready(f);
	make_calls(CALL_INTERVAL, 21);
	read_sample(f);
}

static void raised_within_hard(struct fixture *f)
{
	drop_sys_resource();
	set_limit(32, 4096);
	open_forty(f);
	EXPECT(f->sample.nr_rows == 40);
	EXPECT(!f->error.text[0]);
	EXPECT(limit_now().rlim_cur > 40 * f->nr_targets);
	EXPECT(limit_now().rlim_max == 4096);
}

static void raised_beyond_hard(struct fixture *f)
{
	set_limit(32, 32);
	open_forty(f);
	EXPECT(f->sample.nr_rows == 40);
	EXPECT(!f->error.text[0]);
}

/* kvm_stat sets the limit to what it needs, even if that is less than it had. */
static void never_lowered(struct fixture *f)
{
	drop_sys_resource();
	set_limit(3000, 4000);
	open_forty(f);
	EXPECT(limit_now().rlim_cur == 3000);
	EXPECT(limit_now().rlim_max == 4000);
}

static unsigned long number_before(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	EXPECT(at && at > text + 1);
	at--;
	while (at > text && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return strtoul(at, NULL, 10);
}

/* Plain events come first, and what is shown was counted on every CPU. */
static void too_few(struct fixture *f)
{
	rlim_t limit = f->nr_fds + 20 * (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t nr;

	drop_sys_resource();
	set_limit(16, limit);
	open_forty(f);
	nr = (uint32_t)f->sample.nr_rows;
	EXPECT(nr >= 10 && nr < 20);
	for (uint32_t i = 0; i < nr; i++)
		EXPECT(count_of(f, GUEST_NONE, i) == 21);
	EXPECT(number_before(f->error.text, " events not counted") == 40 - nr);
	EXPECT(strstr(f->error.text, "ulimit -n"));
	EXPECT(number_before(f->error.text, ": raise it") == limit);
	EXPECT(limit_now().rlim_cur == limit);
	*f->nr_needed = number_before(f->error.text, " descriptors needed");
}

/* The number that is named suffices. */
static void enough(struct fixture *f)
{
	drop_sys_resource();
	set_limit(8, *f->nr_needed);
	open_forty(f);
	EXPECT(f->sample.nr_rows == 40);
	EXPECT(!f->error.text[0]);
}

/* One set fits, the other fits, both at once do not: opening comes before closing. */
static void one_after_the_other(struct fixture *f)
{
	rlim_t limit = f->nr_fds + 30 * (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);

	drop_sys_resource();
	set_limit(limit, limit);
	for (int i = 0; i < 40; i++)
		add_plain(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 20);
	target_host(f);
	wait_ready(f);
	field_set_clear(&f->wanted);
	for (uint32_t i = 20; i < 40; i++)
		field_set_add(&f->wanted, i);
	perf_engine.want(f->engine, &f->wanted);
	for (int i = 0; i < 500 && f->sample.nr_rows < 20; i++) {
		sleep_ms(10);
		read_sample(f);
	}
	EXPECT(f->sample.nr_rows == 20);
	EXPECT(!f->error.text[0]);
	make_calls(CALL_INTERVAL, 6);
	read_sample(f);
	for (uint32_t i = 20; i < 40; i++)
		EXPECT(count_of(f, GUEST_NONE, i) == 6);
}

TEST(test_descriptors, setup, teardown)
{
	struct fixture *f = *state;

	need_events(f);
	f->nr_needed = mmap(NULL, sizeof(*f->nr_needed), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->nr_needed, MAP_FAILED);
	in_child(f, too_few);
	in_child(f, enough);
	munmap(f->nr_needed, sizeof(*f->nr_needed));
	in_child(f, raised_within_hard);
	in_child(f, never_lowered);
	in_child(f, one_after_the_other);
}

TEST(test_descriptors_beyond_hard, setup, teardown)
{
	struct fixture *f = *state;

	need_events(f);
	if (!has_sys_resource()) {
		print_message("no CAP_SYS_RESOURCE here\n");
		skip();
	}
	in_child(f, raised_beyond_hard);
}

/* A program that is started from here must not keep the events open. */
TEST(test_closed_on_exec, setup, teardown)
{
	struct fixture *f = *state;
	FILE *ls;
	char line[256];
	int nr = 0;

	need_events(f);
	add_plain(f, CALL_INTERVAL);
	open_engine(f);
	want_first(f, 1);
	target_host(f);
	wait_ready(f);
	ls = popen("ls -l /proc/self/fd", "re");
	assert_non_null(ls);
	while (fgets(line, sizeof(line), ls)) {
		assert_null(strstr(line, "perf_event"));
		nr++;
	}
	pclose(ls);
	assert_true(nr > 2);
}

TEST(test_probe, setup, teardown)
{
	struct fixture *f = *state;
	pid_t pid;
	int status;

	need_events(f);
	assert_int_equal(perf_engine.probe(&f->env, &f->error), 0);
	assert_int_equal(count_fds(), f->nr_fds);
	pid = fork();
	if (pid == 0) {
		char text[16];

		EXPECT(setuid(65534) == 0);
		EXPECT(read_small("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text)) > 0);
		if (atoi(text) <= 0)
			_exit(0);
		EXPECT(perf_engine.probe(&f->env, &f->error) == -EACCES);
		EXPECT(strstr(f->error.text, "cap_perfmon"));
		EXPECT(strstr(f->error.text, "perf_event_paranoid is "));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

GROUP(wait_for_turn);
