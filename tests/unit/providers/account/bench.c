// SPDX-License-Identifier: GPL-2.0-or-later
/* Real VMs in processes of their own, and the provider that reads them. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/demo/demo.h"
#include "providers/providers.h"
#include "tests/unit/providers/account/bench.h"
#include "tests/unit/unit.h"

/* ---- guests */

pid_t latest_heir;

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

pid_t start_guest(int vms)
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

void stop_guest(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- the provider */

static void want(struct bench *bench, enum want_scope scope)
{
	struct want want = { .scope = scope };

	for (uint32_t i = 0; i < fields_count(bench->fields); i++)
		field_set_add(&want.fields, i);
	assert_int_equal(account_provider.want(bench->state, &want, &bench->error), 0);
	field_set_release(&want.fields);
}

void bench_begin(struct bench *bench, int vms)
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

int bench_collect(struct bench *bench)
{
	bench->error.text[0] = '\0';
	sample_reset(&bench->sample);
	return account_provider.collect(bench->state, &bench->sample, &bench->error);
}

void bench_end(struct bench *bench)
{
	account_provider.close(bench->state);
	sample_release(&bench->sample);
	guests_free(bench->guests);
	fields_free(bench->fields);
	env_release(&bench->env);
	stop_guest(bench->guest);
}
