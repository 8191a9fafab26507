// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account - what a sample of the provider "account" costs on a host of 25 guests with 8 vCPUs each:
 * real VMs in processes of their own.
 *
 * Prints the CPU milliseconds of a sample (median and least), beside it what the readings of the
 * kernel take alone, and what one of all tasks takes. Ends with 1 when the target is missed; where
 * no VM can be made, or BPF does not work, it says so and ends with 0.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "cmd/demo/vm.h"
#include "lib/clock.h"
#include "providers/account/account.h"
#include "providers/providers.h"

#define GUESTS 25
#define VCPUS 8
#define ROUNDS 101
#define TARGET_MS 1.0

/* Writes 0 when its VM is there, else x; ends with its parent. */
static void be_guest(int ready)
{
	const struct demo_plan plan = { .rounds = 1, .vcpus = VCPUS };
	struct error error = { "" };
	struct demo_vm *vm;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (demo_vm_new(&plan, &vm, &error) < 0) {
		printf("account: not here: %s\n", error.text);
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

static int want_all(void *account, const struct fields *fields)
{
	struct want want = { .scope = WANT_EACH };
	struct error error = { "" };
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(fields); i++)
		field_set_add(&want.fields, i);
	if (!err)
		err = account_provider.want(account, &want, &error);
	field_set_release(&want.fields);
	return err;
}

/* How long each sample took; 0 or -errno. */
static int measure(const struct env *env, double *ret_ms, size_t *ret_rows)
{
	struct provider_args args = { .env = env, .guests = guests_new(env), .fields = fields_new(),
					      .source = PROVIDER_ACCOUNT };
	struct sample sample = { 0 };
	struct error error = { "" };
	void *account = NULL;
	int err = guests_refresh(args.guests, clock_now_ns(), &error);

	if (!err)
		err = account_provider.open(&args, &account, &error);
	if (err)
		printf("account: not here: %s\n", error.text);
	if (!err)
		err = want_all(account, args.fields);
	for (int i = -1; !err && i < ROUNDS; i++) { /* the first one makes room */
		double begun = cpu_ms();

		sample_reset(&sample);
		err = account_provider.collect(account, &sample, &error);
		if (i >= 0)
			ret_ms[i] = cpu_ms() - begun;
	}
	*ret_rows = sample.nr_rows;
	account_provider.close(account);
	sample_release(&sample);
	fields_free(args.fields);
	guests_free(args.guests);
	return err;
}

static void take_nothing(void *arg, const struct account_head *head, const char *bytes)
{
	(void)arg;
	(void)head;
	(void)bytes;
}

/* What the readings of a sample take, and one of all tasks; 0 or -errno. */
static int measure_readings(const struct env *env, double *ret_ms, double *ret_all_ms)
{
	struct account_layout layouts[ACCOUNT_LAYOUTS] = { 0 };
	struct account_reader *reader;
	struct error error = { "" };
	int err = account_reader_new(env, layouts, &reader, &error);

	if (err)
		return err;
	for (int round = -1; !err && round < ROUNDS; round++) { /* the first one makes links */
		double begun = cpu_ms(), one;

		for (int i = 0; !err && i < GUESTS; i++)
			err = account_read(reader, pids[i], take_nothing, NULL);
		one = cpu_ms() - begun;
		begun = cpu_ms();
		if (!err)
			err = account_read(reader, 0, take_nothing, NULL);
		if (round < 0)
			continue;
		ret_ms[round] = one;
		ret_all_ms[round] = cpu_ms() - begun;
	}
	account_reader_free(reader);
	for (int i = 0; i < ACCOUNT_LAYOUTS; i++)
		free(layouts[i].counters);
	return err;
}

int main(void)
{
	static double ms[ROUNDS], readings_ms[ROUNDS], all_ms[ROUNDS];
	struct error error = { "" };
	struct env env;
	size_t nr_rows;
	double middle, readings, all;

	if (!make_guests() || env_init(&env, "", &error) < 0 || measure(&env, ms, &nr_rows) < 0)
		return 0;
	if (measure_readings(&env, readings_ms, all_ms) < 0)
		return 1;
	middle = median(ms, ROUNDS);
	printf("%d vCPUs, %zu rows, CPU ms of a sample: median %.2f, least %.2f\n", GUESTS * VCPUS,
	       nr_rows, middle, ms[0]);
	readings = median(readings_ms, ROUNDS);
	all = median(all_ms, ROUNDS);
	printf("reading the kernel alone: median %.2f, least %.2f; by all tasks: %.2f, %.2f\n",
	       readings, readings_ms[0], all, all_ms[0]);
	printf("%s: target %.1f ms\n", middle <= TARGET_MS ? "ok" : "MISSED",
	       TARGET_MS);
	env_release(&env);
	return middle > TARGET_MS;
}
