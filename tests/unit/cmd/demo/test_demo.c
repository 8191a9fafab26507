/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_demo - the demo guest makes exactly the exits of its plan, and nothing of it remains. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/demo/demo.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"

#define PAUSE_MS 60000 /* of a plan: what waits for its end has not been stopped */

static const struct demo_plan sleeper = {
	.pio = 1, .mmio = 1, .cpuid = 1, .pause_us = 60000000, .vcpus = 2,
};

/* Skips the test where no VM can be made; finds that out without the code under test. */
static void need_kvm(void)
{
	int kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int vm_fd = kvm_fd < 0 ? -1 : ioctl(kvm_fd, KVM_CREATE_VM, 0);
	const char *reason = vm_fd < 0 ? strerror(errno) : NULL;

	if (vm_fd >= 0)
		close(vm_fd);
	if (kvm_fd >= 0)
		close(kvm_fd);
#if !defined(__x86_64__) && !defined(__aarch64__)
	reason = "there is no code for this kind of machine";
#endif
	if (!reason)
		return;
	print_message("no VM can be made here: %s\n", reason);
	skip();
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void sleep_ms(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- exact counts */

/* What a plan of one vCPU and one round makes of an event. */
struct expectation {
	const char *event;
	uint32_t pio, mmio, cpuid, mark; /* factors */
};

static const struct expectation expectations[] = {
#ifdef __aarch64__
	{ "kvm_hvc_arm64", 1, 0, 0, 0 },
	{ "kvm_mmio", 0, 1, 0, 1 },
	{ "kvm_sys_access", 0, 0, 1, 0 },
	{ "kvm_userspace_exit", 0, 1, 0, 1 },
#else
	{ "kvm_pio", 1, 0, 0, 0 },
	{ "kvm_mmio", 0, 1, 0, 0 },
	{ "kvm_cpuid", 0, 0, 1, 0 },
	{ "kvm_userspace_exit", 1, 1, 0, 1 },
#endif
};

#define NR_EVENTS (sizeof(expectations) / sizeof(expectations[0]))

static uint64_t expected(const struct expectation *e, const struct demo_plan *plan)
{
	uint64_t in_round = (uint64_t)e->pio * plan->pio + (uint64_t)e->mmio * plan->mmio +
			    (uint64_t)e->cpuid * plan->cpuid + e->mark;

	return in_round * plan->rounds * plan->vcpus;
}

static int tracepoint_id(const char *event)
{
	static const char *const folders[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int id = -1;

	for (size_t i = 0; id < 0 && i < 2; i++) {
		char path[128];
		FILE *file;

		snprintf(path, sizeof(path), "%s/events/kvm/%s/id", folders[i], event);
		file = fopen(path, "re");
		if (!file)
			continue;
		if (fscanf(file, "%d", &id) != 1)
			id = -1;
		fclose(file);
	}
	return id;
}

/* Counts in this process and all threads and processes it starts from now on. */
static int open_counter(const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.inherit = 1,
	};
	int id = tracepoint_id(event);

	if (id < 0)
		return -1;
	attr.config = (uint64_t)id;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void need_counters(int *ret_fds)
{
	for (size_t i = 0; i < NR_EVENTS; i++) {
		ret_fds[i] = open_counter(expectations[i].event);
		if (ret_fds[i] >= 0)
			continue;
		print_message("the tracepoint %s cannot be counted: no tracefs or not allowed\n",
			      expectations[i].event);
		while (i)
			close(ret_fds[--i]);
		skip();
	}
}

static uint64_t read_counter(int fd)
{
	uint64_t count = 0;

	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	return count;
}

static void assert_counts(const int *fds, const struct demo_plan *plan)
{
	for (size_t i = 0; i < NR_EVENTS; i++) {
		uint64_t got = read_counter(fds[i]), want = expected(&expectations[i], plan);

		if (got != want)
			fail_msg("%s: %llu instead of %llu", expectations[i].event,
				 (unsigned long long)got, (unsigned long long)want);
	}
}

/* All steps, until the rounds are done or stop_fd can be read. */
static int demo_run(const struct demo_plan *plan, int stop_fd, struct error *error)
{
	struct demo_vm *vm = NULL;
	int err = demo_vm_new(plan, &vm, error);

	if (!vm)
		return err;
	demo_vm_go(vm);
	err = demo_vm_wait(vm, stop_fd, error);
	demo_vm_free(vm);
	return err;
}

static void check_plan(const struct demo_plan *plan)
{
	int fds[NR_EVENTS];
	struct error error;

	need_kvm();
	need_counters(fds);
	assert_int_equal(demo_run(plan, -1, &error), 0);
	assert_counts(fds, plan);
	for (size_t i = 0; i < NR_EVENTS; i++)
		close(fds[i]);
}

TEST(test_counts_of_one_round)
{
	const struct demo_plan plan = {
		.pio = 1000, .mmio = 700, .cpuid = 300, .rounds = 1, .vcpus = 1,
	};

	check_plan(&plan);
}

TEST(test_counts_of_many_rounds)
{
	const struct demo_plan plan = {
		.pio = 11, .mmio = 7, .cpuid = 3, .rounds = 50, .pause_us = 500, .vcpus = 3,
	};

	check_plan(&plan);
}

TEST(test_counts_of_one_kind)
{
	static const struct demo_plan plans[] = {
		{ .pio = 5, .rounds = 2, .vcpus = 1 },
		{ .mmio = 5, .rounds = 2, .vcpus = 1 },
		{ .cpuid = 5, .rounds = 2, .vcpus = 1 },
		{ .rounds = 2, .vcpus = 8 },
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		check_plan(&plans[i]);
}

TEST(test_nothing_before_go)
{
	const struct demo_plan plan = { .pio = 5, .mmio = 5, .cpuid = 5, .rounds = 1, .vcpus = 2 };
	const struct demo_plan still = { .vcpus = 2 }; /* no rounds: all counts are 0 */
	int fds[NR_EVENTS];
	struct demo_vm *vm;
	struct error error;

	need_kvm();
	need_counters(fds);
	assert_int_equal(demo_vm_new(&plan, &vm, &error), 0);
	sleep_ms(20);
	assert_counts(fds, &still);
	demo_vm_go(vm);
	assert_int_equal(demo_vm_wait(vm, -1, &error), 0);
	sleep_ms(20);
	assert_counts(fds, &plan);
	demo_vm_free(vm);
	for (size_t i = 0; i < NR_EVENTS; i++)
		close(fds[i]);
}

/* ---- demo_run() */

static int nr_entries(const char *path)
{
	DIR *dir = opendir(path);
	int nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

TEST(test_run_leaves_nothing)
{
	const struct demo_plan good = { .pio = 3, .rounds = 3, .vcpus = 4 }, bad = { .vcpus = 9 };
	sigset_t before, after;
	struct error error;
	int nr_fds;

	need_kvm();
	sigprocmask(SIG_SETMASK, NULL, &before);
	nr_fds = nr_entries("/proc/self/fd");
	assert_int_equal(demo_run(&good, -1, &error), 0);
	assert_int_equal(demo_run(&bad, -1, &error), -EINVAL);
	assert_int_equal(nr_entries("/proc/self/fd"), nr_fds);
	sigprocmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < NSIG; sig++)
		assert_int_equal(sigismember(&before, sig), sigismember(&after, sig));
}

TEST(test_bad_plan)
{
	const struct demo_plan none = { .vcpus = 0 }, many = { .vcpus = 9 };
	struct error error = { "" };

	assert_int_equal(demo_run(&none, -1, &error), -EINVAL);
	assert_string_equal(error.text, "a demo guest has 1 to 8 vCPUs, not 0");
	assert_int_equal(demo_run(&many, -1, NULL), -EINVAL);
}

/* In a pause, in exits to user space, in exits the kernel handles. */
TEST(test_run_stops)
{
	static const struct demo_plan plans[] = {
		{ .pio = 1, .pause_us = 60000000, .vcpus = 2 },
		{ .pio = UINT32_MAX, .vcpus = 2 },
		{ .mmio = UINT32_MAX, .vcpus = 2 },
		{ .cpuid = UINT32_MAX, .vcpus = 2 },
		{ .vcpus = 2 },
	};
	const struct itimerspec in_50_ms = { .it_value.tv_nsec = 50000000 };

	need_kvm();
	for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
		int stop_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		int64_t start_ms = now_ms();
		struct error error;

		timerfd_settime(stop_fd, 0, &in_50_ms, NULL);
		assert_int_equal(demo_run(&plans[i], stop_fd, &error), 0);
		assert_int_in_range(now_ms() - start_ms, 50, PAUSE_MS - 1);
		close(stop_fd);
	}
}

/* ---- demo_start() */

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

/* The rest of the first line of a file of proc(5) that begins so; "" when there is none. */
static const char *proc_line(pid_t pid, const char *file, const char *begin)
{
	static char line[256];
	const char *rest = "";
	char path[64];
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	stream = fopen(path, "re");
	while (stream && !rest[0] && fgets(line, sizeof(line), stream)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, begin, strlen(begin)))
			rest = line + strlen(begin);
	}
	if (stream)
		fclose(stream);
	return rest;
}

static uint64_t signal_set(pid_t pid, const char *name)
{
	return strtoull(proc_line(pid, "status", name), NULL, 16);
}

static bool has_thread(pid_t pid, const char *comm)
{
	char path[64], file[64];
	struct dirent *entry;
	bool has_it = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && !has_it && (entry = readdir(dir))) {
		snprintf(file, sizeof(file), "task/%.20s/comm", entry->d_name);
		has_it = !strcmp(proc_line(pid, file, ""), comm);
	}
	if (dir)
		closedir(dir);
	return has_it;
}

TEST(test_child_is_known_by_its_names)
{
	struct error error;
	pid_t pid;

	need_kvm();
	assert_int_equal(demo_start(&sleeper, &pid, &error), 0);
	assert_string_equal(proc_line(pid, "comm", ""), "kvmtop-demo");
	assert_true(has_thread(pid, "vcpu0"));
	assert_true(has_thread(pid, "vcpu1"));
	assert_false(has_thread(pid, "vcpu2"));
	demo_stop(pid);
}

static void do_nothing(int sig)
{
	(void)sig;
}

TEST(test_child_keeps_nothing_of_its_parent)
{
	sigset_t term;
	struct error error;
	pid_t pid;
	int err;

	need_kvm();
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	signal(SIGUSR2, do_nothing);
	signal(SIGHUP, SIG_IGN);
	err = demo_start(&sleeper, &pid, &error);
	signal(SIGHUP, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &term, NULL);
	assert_int_equal(err, 0);

	/* The two above 31 are libc's own, and may have been ignored by the parent. */
	assert_int_equal(signal_set(pid, "SigIgn:") & 0x7fffffff, 1u << (SIGINT - 1));
	assert_int_equal(signal_set(pid, "SigBlk:"), 0);
	assert_int_equal(signal_set(pid, "SigCgt:") & 1u << (SIGUSR2 - 1), 0);
	for (int fd = 0; fd < 3; fd++) {
		char path[64], target[64] = "";

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
		assert_true(readlink(path, target, sizeof(target) - 1) > 0);
		assert_string_equal(target, "/dev/null");
	}
	demo_stop(pid);
}

TEST(test_stop)
{
	struct error error;
	int64_t start_ms;
	pid_t pid;

	need_kvm();
	for (int is_frozen = 0; is_frozen < 2; is_frozen++) {
		assert_int_equal(demo_start(&sleeper, &pid, &error), 0);
		kill(pid, is_frozen ? SIGSTOP : SIGINT);
		sleep_ms(20);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		start_ms = now_ms();
		demo_stop(pid);
		assert_int_in_range(now_ms() - start_ms, 0, PAUSE_MS - 1);
		assert_int_equal(waitpid(pid, NULL, 0), -1);
		assert_true(is_gone(pid));
	}
	demo_stop(0); /* would be the whole process group */
	demo_stop(-1);
}

TEST(test_child_ends_with_its_rounds)
{
	const struct demo_plan plan = { .pio = 9, .mmio = 8, .cpuid = 7, .rounds = 2, .vcpus = 2 };
	int fds[NR_EVENTS], status;
	struct error error;
	pid_t pid;

	need_kvm();
	need_counters(fds);
	assert_int_equal(demo_start(&plan, &pid, &error), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_counts(fds, &plan);
	for (size_t i = 0; i < NR_EVENTS; i++)
		close(fds[i]);
}

/* Forks a process that starts a demo guest, writes its pid and sleeps. */
static pid_t fork_starter(pid_t *ret_pid)
{
	int fds[2];
	pid_t starter, pid = 0;

	assert_int_equal(pipe(fds), 0);
	starter = fork();
	if (!starter) {
		alarm(30);
		if (demo_start(&sleeper, &pid, NULL) || write(fds[1], &pid, sizeof(pid)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	assert_true(starter > 0);
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	close(fds[0]);
	*ret_pid = pid;
	return starter;
}

/* As its subreaper this process is the one who sees how the orphan ends. */
TEST(test_dies_with_its_parent)
{
	pid_t starter, pid;
	int status = 0;

	need_kvm();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	starter = fork_starter(&pid);
	assert_false(is_gone(pid));
	kill(starter, SIGKILL);
	assert_int_equal(waitpid(starter, NULL, 0), starter);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* ---- what can be wrong with /dev/kvm */

struct outcome {
	int run_err, start_err;
	struct error run_why, start_why;
};

static int hide_dev(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	return mount("tmpfs", "/dev", "tmpfs", 0, NULL) ? -errno : 0;
}

static int put_null_in_place(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	return mount("/dev/null", "/dev/kvm", NULL, MS_BIND, NULL) ? -errno : 0;
}

static int become_nobody(void)
{
	const uid_t nobody = 65534;

	if (syscall(SYS_setgroups, 0, NULL) || setresgid(nobody, nobody, nobody) ||
	    setresuid(nobody, nobody, nobody))
		return -errno;
	return access("/dev/kvm", R_OK | W_OK) ? 0 : -EEXIST;
}

/* Tries both functions that run the guest, in a process for which something is wrong. */
static void try_where(int (*make_wrong)(void), struct outcome *ret_outcome)
{
	struct outcome outcome = { 0 };
	int fds[2], status = -1;
	pid_t pid, child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (!child) {
		alarm(30);
		if (make_wrong())
			_exit(2);
		outcome.run_err = demo_run(&sleeper, -1, &outcome.run_why);
		outcome.start_err = demo_start(&sleeper, &pid, &outcome.start_why);
		if (waitpid(-1, NULL, WNOHANG) != -1) /* a zombie, or still running */
			_exit(3);
		_exit(write(fds[1], &outcome, sizeof(outcome)) == sizeof(outcome) ? 0 : 4);
	}
	close(fds[1]);
	assert_true(child > 0);
	*ret_outcome = outcome;
	(void)!read(fds[0], ret_outcome, sizeof(*ret_outcome));
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		print_message("/dev/kvm cannot be taken away (not root, or it is everybody's)\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void assert_both(const struct outcome *outcome, int err, const char *text)
{
	assert_int_equal(outcome->run_err, err);
	assert_non_null(strstr(outcome->run_why.text, text));
	assert_int_equal(outcome->start_err, err);
	assert_string_equal(outcome->start_why.text, outcome->run_why.text);
}

TEST(test_no_kvm)
{
	struct outcome outcome;

	need_kvm();
	try_where(hide_dev, &outcome);
	assert_both(&outcome, -ENOENT, "/dev/kvm does not exist");
}

TEST(test_not_kvm)
{
	struct outcome outcome;

	need_kvm();
	try_where(put_null_in_place, &outcome);
	assert_both(&outcome, -EPROTO, "/dev/kvm does not speak version 12");
}

TEST(test_not_allowed)
{
	struct outcome outcome;

	need_kvm();
	try_where(become_nobody, &outcome);
	assert_both(&outcome, -EACCES, "group kvm");
}

TEST(test_default_is_gentle)
{
	const struct demo_plan *plan = &demo_default;
	uint64_t exits = (plan->pio + plan->mmio + plan->cpuid + 1) * (uint64_t)plan->vcpus;

	assert_int_equal(plan->rounds, 0);
	assert_int_in_range(plan->vcpus, 1, 2);
	assert_true(plan->pio && plan->mmio && plan->cpuid && plan->pause_us);
	assert_int_in_range(exits * 1000000 / plan->pause_us, 3000, 6000);
}
