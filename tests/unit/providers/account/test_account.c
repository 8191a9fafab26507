// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The account of this kernel, of real VMs in processes of their own: what it counts and reports,
 * what happens when it cannot be read, and that nothing stays. Cases that need KVM and BPF are
 * skipped where these are not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "cmd/demo/demo.h"
#include "lib/clock.h"
#include "providers/account/account.h"
#include "providers/providers.h"
#include "tests/unit/unit.h"

#define ROUNDS 7
#define WAIT_MS 5000

/* ---- guests */

static pid_t latest_heir; /* the child of the latest guest, with the same descriptors */

/* The rounds of VMs with two vCPUs each; then it waits to be killed. */
static void be_guest(int ready, int vms)
{
	const struct demo_plan plan = { .rounds = ROUNDS, .vcpus = 2, .pio = 1 };
	struct error error = { "" };
	struct demo_vm *vm;

	pid_t heir, parent = getpid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < vms; i++) {
		if (demo_vm_new(&plan, &vm, &error) < 0)
			_exit(1);
		demo_vm_go(vm);
		if (demo_vm_wait(vm, -1, &error) < 0)
			_exit(1);
	}
	heir = fork();
	if (heir == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			pause();
		_exit(0);
	}
	if (write(ready, &heir, sizeof(heir)) == sizeof(heir))
		pause();
	_exit(0);
}

/* 0: no VM can be made. */
static pid_t start_guest(int vms)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		be_guest(ready[1], vms);
	close(ready[1]);
	if (read(ready[0], &latest_heir, sizeof(latest_heir)) != sizeof(latest_heir)) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(ready[0]);
	return pid;
}

static void stop_guest(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- the provider */

struct bench {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	struct sample sample;
	struct error error;
	void *state;
	pid_t guest;
};

static void want(struct bench *bench, enum want_scope scope)
{
	struct want want = { .scope = scope };

	for (uint32_t i = 0; i < fields_count(bench->fields); i++)
		field_set_add(&want.fields, i);
	assert_int_equal(account_provider.want(bench->state, &want, &bench->error), 0);
	field_set_release(&want.fields);
}

/* Skips the case where there is no KVM or BPF. */
static void begin(struct bench *bench, int vms)
{
	struct provider_args args = { .env = &bench->env, .source = PROVIDER_ACCOUNT };

	*bench = (struct bench){ .guest = start_guest(vms) };
	if (!bench->guest) {
		print_message("no VM can be made here\n");
		skip();
	}
	assert_int_equal(env_init(&bench->env, "", &bench->error), 0);
	args.guests = bench->guests = guests_new(&bench->env);
	args.fields = bench->fields = fields_new();
	args.options.include_past = true;
	if (account_provider.open(&args, &bench->state, &bench->error) < 0) {
		print_message("%s\n", bench->error.text);
		stop_guest(bench->guest);
		skip();
	}
	want(bench, WANT_EACH);
}

static int collect(struct bench *bench)
{
	bench->error.text[0] = '\0';
	sample_reset(&bench->sample);
	return account_provider.collect(bench->state, &bench->sample, &bench->error);
}

static void end(struct bench *bench)
{
	account_provider.close(bench->state);
	sample_release(&bench->sample);
	guests_free(bench->guests);
	fields_free(bench->fields);
	env_release(&bench->env);
	stop_guest(bench->guest);
}

static uint64_t value(const struct bench *bench, const char *name, int32_t vcpu, size_t *ret_nr)
{
	const struct guest *guest = guests_by_pid(bench->guests, bench->guest);
	uint32_t field = fields_find(bench->fields, name);
	uint64_t sum = 0;

	*ret_nr = 0;
	assert_non_null(guest);
	for (size_t i = 0; i < bench->sample.nr_rows; i++) {
		const struct row *row = &bench->sample.rows[i];

		if (row->key.guest != guest->id || row->key.vcpu != vcpu ||
		    row->key.field != field)
			continue;
		sum += row->count;
		(*ret_nr)++;
	}
	return sum;
}

/* ---- cases */

static void two_vms_in_a_process_add_up(void **state)
{
	struct bench bench;
	size_t nr;

	(void)state;
	begin(&bench, 2);
	assert_int_equal(collect(&bench), 0);
	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		uint64_t exits = value(&bench, "exits", vcpu, &nr);

		assert_int_equal(nr, 1); /* no key twice */
#ifdef __x86_64__
		assert_int_equal(value(&bench, "halt_exits", vcpu, &nr), 2 * ROUNDS);
#endif
		assert_true(exits >= 2 * ROUNDS);
	}
	assert_int_equal(guests_by_pid(bench.guests, bench.guest)->nr_vms, 2);
	assert_int_equal(guests_by_pid(bench.guests, bench.guest)->nr_vcpus, 4);
	/* The second sample has each once, too. */
	assert_int_equal(collect(&bench), 0);
	value(&bench, "exits", 1, &nr);
	assert_int_equal(nr, 1);
	end(&bench);
}

/* Of the guest: what /proc and the names of threads tell without the kernel's word. */
static void compare_with_names(const struct bench *bench)
{
	const struct guest *guest = guests_by_pid(bench->guests, bench->guest), *other;
	struct guests *by_names = guests_new(&bench->env);
	struct error error = { "" };

	assert_int_equal(guests_refresh(by_names, clock_now_ns(), &error), 0);
	other = guests_by_pid(by_names, bench->guest);
	assert_non_null(other);
	assert_string_equal(guest->name, other->name);
	assert_int_equal(guest->nr_vcpus, other->nr_vcpus);
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		assert_int_equal(guest->vcpus[i].index, other->vcpus[i].index);
		assert_true(guest->vcpus[i].tid > guest->pid);
		assert_int_equal(guest->vcpus[i].tid, other->vcpus[i].tid);
	}
	guests_free(by_names);
}

static void the_kernel_and_names_agree(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, 1);
	assert_int_equal(collect(&bench), 0); /* no refresh before: the guest is found here */
	compare_with_names(&bench);
	assert_int_equal(guests_refresh(bench.guests, clock_now_ns(), &bench.error), 0);
	compare_with_names(&bench);
	end(&bench);
}

static void heirs_of_descriptors_are_no_guests(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, 1);
	assert_int_equal(collect(&bench), 0);
	assert_int_equal(kill(latest_heir, 0), 0);
	assert_null(guests_by_pid(bench.guests, latest_heir));
	end(&bench);
}

static void new_guests_are_found_at_once(void **state)
{
	struct bench bench;
	pid_t other;

	(void)state;
	begin(&bench, 1);
	for (int i = 0; i < 4; i++) /* the walks of the begin are over */
		assert_int_equal(collect(&bench), 0);
	other = start_guest(1);
	assert_int_equal(collect(&bench), 0);
	assert_non_null(guests_by_pid(bench.guests, other));
	stop_guest(other);
	assert_int_equal(collect(&bench), 0);
	assert_null(guests_by_pid(bench.guests, other));
	end(&bench);
}

/* The case of descriptors that are short. */
static void what_cannot_be_read_is_said(void **state)
{
	struct rlimit limit, few;
	struct bench bench;
	size_t nr;
	int err;

	(void)state;
	begin(&bench, 1);
	assert_int_equal(collect(&bench), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = (struct rlimit){ .rlim_cur = 3, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = collect(&bench);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err, -EAGAIN);
	assert_non_null(strstr(bench.error.text, "ulimit -n"));
	/* The guest has not ended because of that, and is read again. */
	assert_non_null(guests_by_pid(bench.guests, bench.guest));
	assert_int_equal(collect(&bench), 0);
	value(&bench, "exits", 0, &nr);
	assert_int_equal(nr, 1);
	end(&bench);
}

static void guests_end_while_they_are_read(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, 1);
	for (unsigned int i = 0; i < 20; i++) {
		struct timespec pause = { .tv_nsec = (long)i * 50000 };
		pid_t other = start_guest(1), killer;

		assert_int_equal(collect(&bench), 0);
		assert_non_null(guests_by_pid(bench.guests, other));
		killer = fork();
		if (killer == 0) {
			nanosleep(&pause, NULL);
			kill(other, SIGKILL);
			_exit(0);
		}
		for (int k = 0; k < 10; k++)
			assert_int_equal(collect(&bench), 0);
		waitpid(killer, NULL, 0);
		waitpid(other, NULL, 0);
		assert_int_equal(collect(&bench), 0);
		assert_null(guests_by_pid(bench.guests, other));
	}
	end(&bench);
}

/* ---- what is kept */

/* Waits for the event of KVM that the VM of the process is gone. */
static bool is_destroyed(int events, pid_t pid)
{
	struct timeval wait = { .tv_sec = WAIT_MS / 1000 };
	char text[4096], wanted[32];
	ssize_t n;

	snprintf(wanted, sizeof(wanted), "PID=%d", (int)pid);
	setsockopt(events, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	while ((n = recv(events, text, sizeof(text) - 1, 0)) > 0) {
		bool is_end = false, is_ours = false;

		text[n] = '\0';
		for (char *line = text; line < text + n; line += strlen(line) + 1) {
			is_end |= strcmp(line, "EVENT=destroy") == 0;
			is_ours |= strcmp(line, wanted) == 0;
		}
		if (is_end && is_ours)
			return true;
	}
	return false;
}

static void no_vm_is_kept(void **state)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int events = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_KOBJECT_UEVENT);
	struct bench bench;

	(void)state;
	begin(&bench, 1);
	assert_int_equal(bind(events, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(collect(&bench), 0);
	/* The links are there, and the guest is in the latest sample. */
	kill(latest_heir, SIGKILL);
	kill(bench.guest, SIGKILL);
	assert_true(is_destroyed(events, bench.guest));
	close(events);
	end(&bench);
}

#define IDS 64

struct ids {
	uint32_t programs[IDS], maps[IDS], links[IDS];
	size_t nr_programs, nr_maps, nr_links;
};

static void add_id(uint32_t *list, size_t *nr, const char *text, const char *key)
{
	const char *at = strstr(text, key);

	if (at && *nr < IDS)
		list[(*nr)++] = (uint32_t)strtoul(at + strlen(key), NULL, 10);
}

/* What this process has of BPF, by its descriptors. */
static void list_ids(struct ids *ret_ids)
{
	*ret_ids = (struct ids){ 0 };
	for (int fd = 0; fd < 256; fd++) {
		char path[64], text[1024];
		ssize_t n;
		int info;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		info = open(path, O_RDONLY | O_CLOEXEC);
		n = info < 0 ? 0 : read(info, text, sizeof(text) - 1);
		if (info >= 0)
			close(info);
		text[n > 0 ? n : 0] = '\0';
		add_id(ret_ids->programs, &ret_ids->nr_programs, text, "prog_id:");
		add_id(ret_ids->maps, &ret_ids->nr_maps, text, "map_id:");
		add_id(ret_ids->links, &ret_ids->nr_links, text, "link_id:");
	}
}

/* The kernel frees after a while. */
static void assert_gone(const uint32_t *list, size_t nr, int (*open_by_id)(uint32_t))
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (size_t i = 0; i < nr; i++) {
		int fd = open_by_id(list[i]), tries = 0;

		while (fd >= 0 && tries++ < WAIT_MS / 10) {
			close(fd);
			nanosleep(&pause, NULL);
			fd = open_by_id(list[i]);
		}
		assert_true(fd < 0);
	}
}

static void nothing_stays_in_the_kernel(void **state)
{
	struct bench bench;
	struct ids ids;

	(void)state;
	begin(&bench, 1);
	assert_int_equal(collect(&bench), 0);
	list_ids(&ids);
	assert_true(ids.nr_programs >= 1 && ids.nr_maps >= 1 && ids.nr_links >= 2);
	end(&bench);
	assert_gone(ids.links, ids.nr_links, bpf_link_get_fd_by_id);
	assert_gone(ids.programs, ids.nr_programs, bpf_prog_get_fd_by_id);
	assert_gone(ids.maps, ids.nr_maps, bpf_map_get_fd_by_id);
	list_ids(&ids);
	assert_int_equal(ids.nr_programs + ids.nr_maps + ids.nr_links, 0);
}

/* ---- histograms */

static void histograms_of_halts_are_durations(void **state)
{
	struct account_layout layout = { 0 };
	struct timing timing = { 0 };
	uint64_t bytes[40] = { 0 };

	(void)state;
	account_layout_add(&layout, "halt_wait_hist", 8, 32);
	account_layout_add(&layout, "halt_wait_ns", 0, 1);
	account_layout_add(&layout, "other_hist", 264, 4); /* nothing has its sum */
	account_layout_add(&layout, "too_long", 4000, 32);
	account_layout_end(&layout);
	assert_int_equal(layout.nr, 3);
	assert_true(layout.counters[0].has_durations);
	assert_int_equal(layout.counters[0].sum_at, 0);
	assert_false(layout.counters[2].has_durations);

	bytes[0] = 5000;
	bytes[1 + 3] = 2;   /* below 8 ns */
	bytes[1 + 7] = 1;   /* 64 to 128 ns: the last that is in our first bucket */
	bytes[1 + 12] = 40; /* 2,048 to 4,096 ns */
	account_timing_add(&layout.counters[0], (const char *)bytes, &timing);
	assert_int_equal(timing.time_ns, 5000);
	assert_int_equal(timing.hist[0], 3);
	assert_int_equal(timing.hist[5], 40);
	assert_int_equal(hist_edge_ns(5), 4096);
	assert_int_equal(timing.max_ns, 4096);
	/* Of another VM; the last bucket is open. */
	bytes[1 + 31] = 1;
	account_timing_add(&layout.counters[0], (const char *)bytes, &timing);
	assert_int_equal(timing.time_ns, 10000);
	assert_int_equal(timing.hist[5], 80);
	assert_int_equal(timing.hist[24], 1);
	assert_int_equal(timing.max_ns, INT64_MAX);
	free(layout.counters);
}

UNIT(test_account)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_vms_in_a_process_add_up),
		cmocka_unit_test(the_kernel_and_names_agree),
		cmocka_unit_test(heirs_of_descriptors_are_no_guests),
		cmocka_unit_test(new_guests_are_found_at_once),
		cmocka_unit_test(what_cannot_be_read_is_said),
		cmocka_unit_test(guests_end_while_they_are_read),
		cmocka_unit_test(no_vm_is_kept),
		cmocka_unit_test(nothing_stays_in_the_kernel),
		cmocka_unit_test(histograms_of_halts_are_durations),
	};

	return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
