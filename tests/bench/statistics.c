// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * statistics - what a sample of the provider "stats" costs on a host of 25 guests with 8 vCPUs
 * each, which hold the kernel's statistics as QEMU does: real VMs in processes of their own.
 *
 * Prints the CPU milliseconds of a sample (median and least), and beside it what its system calls
 * take alone. Ends with 1 when the target is missed; where no VM can be made, it says so and ends
 * with 0.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "cmd/demo/vm.h"
#include "tests/worlds/held_stats.h"
#include "providers/providers.h"
#include "providers/stats/held.h"

#define GUESTS 25
#define VCPUS 8
#define ROUNDS 101
#define TARGET_MS 0.5

/* Writes 0 when its VM is there, else x; ends with its parent. */
static void be_guest(int ready)
{
	const struct demo_plan plan = { .rounds = 1, .vcpus = VCPUS };
	struct error error = { "" };
	struct demo_vm *vm;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (demo_vm_new(&plan, &vm, &error) < 0 || hold_stats(&error) < 0) {
		printf("statistics: not here: %s\n", error.text);
		fflush(stdout);
		if (write(ready, "x", 1) != 1)
			pause();
		_exit(1);
	}
	if (write(ready, "", 1) == 1)
		pause();
	_exit(0);
}

static pid_t pids[GUESTS];

/* False: a VM could not be made. */
static bool make_guests(void)
{
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return false;
	for (int i = 0; i < GUESTS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			be_guest(ready[1]);
		if (pids[i] < 0 || read(ready[0], &byte, 1) != 1 || byte)
			return false;
	}
	return true;
}

static int want_all(void *stats, const struct fields *fields)
{
	struct want want = { .scope = WANT_EACH };
	struct error error = { "" };
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(fields); i++)
		field_set_add(&want.fields, i);
	if (!err)
		err = stats_provider.want(stats, &want, &error);
	field_set_release(&want.fields);
	return err;
}

/* How long each sample took; 0 or -errno. */
static int measure(const struct env *env, double *ret_ms, size_t *ret_rows)
{
	struct provider_args args = { .env = env, .guests = guests_new(env), .fields = fields_new(),
					      .source = PROVIDER_STATS };
	struct sample sample = { 0 };
	struct error error = { "" };
	void *stats = NULL;
	int err = args.guests && args.fields ? stats_provider.open(&args, &stats, &error) : -1;

	if (!err)
		err = want_all(stats, args.fields);
	for (int i = -1; !err && i < ROUNDS; i++) { /* the first one makes room */
		double begun = cpu_ms();

		sample_reset(&sample);
		err = stats_provider.collect(stats, &sample, &error);
		if (i >= 0)
			ret_ms[i] = cpu_ms() - begun;
	}
	*ret_rows = sample.nr_rows;
	stats_provider.close(stats);
	sample_release(&sample);
	fields_free(args.fields);
	guests_free(args.guests);
	return err;
}

/* Looks into a guest's process as a sample does, and does nothing with the bytes. 0 or -errno. */
static int look(const struct env *env, int guest, const struct held *held, size_t tail_at)
{
	static char bytes[STATS_BYTES_MAX];
	struct held_look look;
	int err = held_look(env, pids[guest], held, &look);

	if (err)
		return err;
	for (size_t i = 0; !err && i < held->nr; i++) {
		ssize_t len = held_read(&look, held->fds[i].fd, bytes, tail_at, sizeof(bytes));

		err = len < 0 ? (int)len : 0;
	}
	held_look_away(&look);
	return err;
}

/* Where a sample reads on from; 0 after an error. */
static size_t find_tail(const struct env *env, const struct held *held)
{
	static char bytes[STATS_BYTES_MAX];
	struct stats_layout *layout = NULL;
	struct held_look look;
	size_t tail_at = 0;
	ssize_t len;

	if (!held->nr || held_look(env, pids[0], held, &look) < 0)
		return 0;
	len = held_read(&look, held->fds[held->nr - 1].fd, bytes, 0, sizeof(bytes));
	held_look_away(&look);
	if (len > 0 && stats_layout_parse(bytes, (size_t)len, &layout) == 0)
		tail_at = layout->tail_at;
	stats_layout_free(layout);
	return tail_at;
}

/* How long the system calls of each sample took; 0 or -errno. */
static int measure_calls(const struct env *env, double *ret_ms)
{
	struct held held[GUESTS];
	size_t tail_at;
	int err = 0;

	for (int i = 0; i < GUESTS; i++)
		held[i] = HELD_NOTHING;
	for (int i = 0; !err && i < GUESTS; i++)
		err = held_find(env, pids[i], &held[i]);
	tail_at = find_tail(env, &held[0]);
	for (int round = 0; !err && round < ROUNDS; round++) {
		double begun = cpu_ms();

		for (int i = 0; !err && i < GUESTS; i++)
			err = look(env, i, &held[i], tail_at);
		ret_ms[round] = cpu_ms() - begun;
	}
	for (int i = 0; i < GUESTS; i++)
		held_release(&held[i]);
	return err;
}

int main(void)
{
	static double ms[ROUNDS], calls_ms[ROUNDS];
	struct error error = { "" };
	struct env env;
	size_t nr_rows;
	double middle, calls;

	if (!make_guests())
		return 0;
	if (env_init(&env, "", &error) < 0 || measure(&env, ms, &nr_rows) < 0 ||
	    measure_calls(&env, calls_ms) < 0)
		return 1;
	middle = median(ms, ROUNDS);
	printf("%d vCPUs, %zu rows, CPU ms of a sample: median %.2f, least %.2f\n", GUESTS * VCPUS,
	       nr_rows, middle, ms[0]);
	calls = median(calls_ms, ROUNDS);
	printf("its system calls alone: median %.2f, least %.2f\n", calls, calls_ms[0]);
	printf("%s: target %.1f ms\n", middle <= TARGET_MS ? "ok" : "MISSED",
	       TARGET_MS);
	env_release(&env);
	return middle > TARGET_MS;
}
