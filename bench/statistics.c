// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * statistics - what a sample of the provider "stats" costs on a host of 25 guests with 8 vCPUs
 * each, which hold the kernel's statistics as QEMU does: real VMs in processes of their own.
 *
 * Prints the CPU milliseconds of a sample (median and least). Ends with 1 when the target is
 * missed; where no VM can be made, it says so and ends with 0.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "demo/vm.h"
#include "providers/provider.h"

#define GUESTS 25
#define VCPUS 8
#define ROUNDS 101
#define TARGET_MS 0.5

/* Writes 0 when its VM is there, else x; ends with its parent. */
static void be_guest(int ready)
{
	const struct demo_plan plan = { .rounds = 1, .vcpus = VCPUS };
	struct why why = { "" };
	struct demo_vm *vm;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (demo_vm_new(&plan, &vm, &why) < 0 || demo_vm_hold_statistics(vm, &why) < 0) {
		printf("statistics: not here: %s\n", why.text);
		fflush(stdout);
		if (write(ready, "x", 1) != 1)
			pause();
		_exit(1);
	}
	if (write(ready, "", 1) == 1)
		pause();
	_exit(0);
}

/* False: a VM could not be made. */
static bool make_guests(void)
{
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		return false;
	for (int i = 0; i < GUESTS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			be_guest(ready[1]);
		if (pid < 0 || read(ready[0], &byte, 1) != 1 || byte)
			return false;
	}
	return true;
}

static int want_all(void *stats, const struct fields *fields)
{
	struct want want = { .scope = WANT_EACH };
	struct why why = { "" };
	int err = 0;

	for (uint32_t i = 0; !err && i < fields_count(fields); i++)
		err = field_set_add(&want.fields, i);
	if (!err)
		err = stats_provider.want(stats, &want, &why);
	field_set_release(&want.fields);
	return err;
}

/* How long each sample took; 0 or -errno. */
static int measure(const struct env *env, double *ret_ms, size_t *ret_rows)
{
	struct provider_args args = { env, guests_new(env), fields_new(), PROVIDER_STATS };
	struct sample sample = { 0 };
	struct why why = { "" };
	void *stats = NULL;
	int err = args.guests && args.fields ? stats_provider.open(&args, &stats, &why) : -1;

	if (!err)
		err = want_all(stats, args.fields);
	for (int i = -1; !err && i < ROUNDS; i++) { /* the first one makes room */
		double begun = cpu_ms();

		sample_reset(&sample);
		err = stats_provider.collect(stats, &sample, &why);
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

int main(void)
{
	static double ms[ROUNDS];
	struct why why = { "" };
	struct env env;
	size_t nr_rows;
	double middle;

	if (!make_guests())
		return 0;
	if (env_init(&env, "", &why) < 0 || measure(&env, ms, &nr_rows) < 0)
		return 1;
	middle = median(ms, ROUNDS);
	printf("%d vCPUs, %zu rows, CPU ms of a sample: median %.2f, least %.2f\n", GUESTS * VCPUS,
	       nr_rows, middle, ms[0]);
	printf("%s: target %.1f ms\n", middle <= TARGET_MS ? "ok" : "MISSED",
	       TARGET_MS);
	env_release(&env);
	return middle > TARGET_MS;
}
