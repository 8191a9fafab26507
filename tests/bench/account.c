// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account - what a sample of the provider "account" costs, with real VMs in processes of their own:
 * on a host of 3 guests with 9 vCPUs, and on one of 100 with 1,000 among 5,000 processes.
 *
 * Prints the CPU milliseconds of a sample (median and least), of one without counters, for the
 * inventory alone, and of the search of all tasks that comes every 10 s. Then VMs come and go while
 * they are read, and nothing may stay of them. Ends with 1 when a target is missed; where no VM can
 * be made, or BPF does not work, it says so and ends with 0.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/measure.h"
#include "cmd/demo/demo.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "providers/account/account.h"
#include "providers/providers.h"

#define ROUNDS 51
#define OTHER_FILES 8 /* of a process without a VM */
#define COMING 10000  /* VMs, each with a vCPU, that come and go */

/* A guest has two VMs with half of the vCPUs each, as a VM of the demo has at most 8. */
struct host {
	int guests, vcpus, others;
	double sample_ms, walk_ms; /* the targets */
};

static const struct host hosts[] = {
	{ 3, 3, 0, 1.0, 20.0 },
	{ 100, 10, 4900, 3.0, 20.0 },
};

static int add_vm(uint32_t vcpus)
{
	const struct demo_plan plan = { .rounds = 1, .vcpus = vcpus };
	struct error error = { "" };
	struct demo_vm *vm;
	int err = vcpus ? demo_vm_new(&plan, &vm, &error) : 0;

	if (err)
		printf("account: not here: %s\n", error.text);
	return err;
}

/* Writes 0 when all is there, else x; ends with its parent. */
static void be_process(int ready, int vcpus)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = add_vm((uint32_t)vcpus / 2);
	if (!err)
		err = add_vm((uint32_t)(vcpus - vcpus / 2));
	for (int i = 0; i < OTHER_FILES && !vcpus; i++)
		err |= open("/dev/null", O_RDONLY) < 0;
	if (write(ready, err ? "x" : "", 1) == 1)
		pause();
	_exit(0);
}

static pid_t pids[5000];
static size_t nr_pids;

static bool make_process(int vcpus)
{
	int ready[2];
	char byte = 'x';
	pid_t pid;

	if (pipe(ready) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		be_process(ready[1], vcpus);
	close(ready[1]);
	if (pid > 0)
		pids[nr_pids++] = pid;
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		byte = 'x';
	close(ready[0]);
	return !byte;
}

static bool make_host(const struct host *host)
{
	bool is_made = true;

	for (int i = 0; i < host->guests && is_made; i++)
		is_made = make_process(host->vcpus);
	for (int i = 0; i < host->others && is_made; i++)
		is_made = make_process(0);
	return is_made;
}

static void end_host(void)
{
	for (size_t i = 0; i < nr_pids; i++)
		kill(pids[i], SIGKILL);
	for (size_t i = 0; i < nr_pids; i++)
		waitpid(pids[i], NULL, 0);
	nr_pids = 0;
}

/* ---- the provider */

struct opened {
	const struct provider *provider;
	struct provider_args args;
	struct sample sample;
	void *state;
};

static int want_all(struct opened *opened)
{
	struct want want = { .scope = WANT_EACH };
	struct error error = { "" };
	int err;

	for (uint32_t i = 0; i < fields_count(opened->args.fields); i++)
		field_set_add(&want.fields, i);
	err = opened->provider->want(opened->state, &want, &error);
	field_set_release(&want.fields);
	return err;
}

static int begin(struct opened *opened, const struct provider *provider, const struct env *env)
{
	struct error error = { "" };
	int err;

	*opened = (struct opened){ .provider = provider };
	opened->args = (struct provider_args){ .env = env, .guests = guests_new(env),
					       .fields = fields_new(),
					       .source = PROVIDER_ACCOUNT };
	err = provider->open(&opened->args, &opened->state, &error);
	if (err)
		printf("account: not here: %s\n", error.text);
	return err ? err : want_all(opened);
}

static int collect(struct opened *opened)
{
	struct error error = { "" };
	int err;

	sample_reset(&opened->sample);
	err = opened->provider->collect(opened->state, &opened->sample, &error);
	if (err)
		printf("account: %s\n", error.text);
	return err;
}

static void end(struct opened *opened)
{
	opened->provider->close(opened->state);
	sample_release(&opened->sample);
	fields_free(opened->args.fields);
	guests_free(opened->args.guests);
}

static int measure(const struct provider *provider, const struct env *env, double *ret_ms,
		   size_t *ret_rows)
{
	struct opened opened;
	int err = begin(&opened, provider, env);

	for (int i = -4; !err && i < ROUNDS; i++) { /* the first ones search, and make room */
		double begun = cpu_ms();

		err = collect(&opened);
		if (i >= 0)
			ret_ms[i] = cpu_ms() - begun;
	}
	*ret_rows = opened.sample.nr_rows;
	end(&opened);
	return err;
}

static void take_nothing(void *arg, const struct account_head *head, const char *bytes)
{
	(void)arg;
	(void)head;
	(void)bytes;
}

static int measure_walks(double *ret_ms)
{
	struct account_reader *reader;
	struct error error = { "" };
	int err = account_reader_new(NULL, &reader, &error);

	if (err)
		return err;
	for (int i = -1; !err && i < ROUNDS; i++) {
		double begun = cpu_ms();

		err = account_read(reader, 0, false, take_nothing, NULL);
		if (i >= 0)
			ret_ms[i] = cpu_ms() - begun;
	}
	account_reader_free(reader);
	return err;
}

static bool is_missed(double ms, double target_ms)
{
	printf("%s: target %.1f ms\n", ms <= target_ms ? "ok" : "MISSED", target_ms);
	return ms > target_ms;
}

/* How many targets are missed; < 0: not here. */
static int measure_host(const struct host *host, const struct env *env)
{
	static double ms[ROUNDS];
	size_t nr_rows, nr_none;
	double middle;
	int missed;

	if (!make_host(host) || measure(&account_provider, env, ms, &nr_rows) < 0)
		return -1;
	middle = median(ms, ROUNDS);
	printf("%d vCPUs in %d guests, %d processes, %zu rows, CPU ms of a sample: median %.2f, "
	       "least %.2f\n", host->vcpus * host->guests, host->guests,
	       host->guests + host->others, nr_rows, middle, ms[0]);
	missed = is_missed(middle, host->sample_ms);
	if (measure(&inventory_provider, env, ms, &nr_none) < 0)
		return -1;
	printf("for the inventory alone: median %.2f, least %.2f\n", median(ms, ROUNDS), ms[0]);
	if (measure_walks(ms) < 0)
		return -1;
	middle = median(ms, ROUNDS);
	printf("a search of all tasks: median %.2f, least %.2f\n", middle, ms[0]);
	return missed + is_missed(middle, host->walk_ms);
}

/* ---- VMs that come and go */

static void come_and_go(int nr)
{
	const struct demo_plan plan = { .rounds = 1, .vcpus = 1 };
	struct error error = { "" };
	struct demo_vm *vm;

	for (int i = 0; i < nr; i++) {
		if (demo_vm_new(&plan, &vm, &error) < 0)
			_exit(1);
		demo_vm_free(vm);
	}
	_exit(0);
}

/* How many targets are missed. */
static int read_while_they_come(const struct env *env)
{
	int fds = dup(STDOUT_FILENO), status = -1, after, err;
	unsigned long samples = 0; /* that had a VM */
	struct opened opened;
	pid_t pid;

	err = begin(&opened, &account_provider, env);
	close(fds);
	pid = fork();
	if (pid == 0)
		come_and_go(COMING);
	while (!err && waitpid(pid, &status, WNOHANG) == 0) {
		err = collect(&opened);
		samples += opened.sample.nr_rows > 0;
	}
	if (!err)
		err = collect(&opened);
	if (guests_by_pid(opened.args.guests, pid))
		err = -EEXIST;
	end(&opened);
	after = dup(STDOUT_FILENO);
	close(after);
	if (err || status)
		kill(pid, SIGKILL);
	err = err || status || !samples || after > fds;
	printf("%d VMs came and went, %lu samples had one; %d more descriptors\n%s\n", COMING,
	       samples, after - fds, err ? "MISSED" : "ok");
	return err;
}

int main(void)
{
	struct error error = { "" };
	struct env env;
	int missed = 0, nr = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (env_init(&env, "", &error) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(hosts) && nr >= 0; i++) {
		nr = measure_host(&hosts[i], &env);
		missed += nr > 0 ? nr : 0;
		end_host();
	}
	if (nr >= 0)
		missed += read_while_they_come(&env);
	env_release(&env);
	return missed > 0;
}
