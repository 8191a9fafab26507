// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What kvmtop itself takes of an exit: how long its BPF programs run, by the kernel's run counts.
 *
 * The kernel counts runs only while a process asks for that (BPF_ENABLE_STATS, Linux 5.8), and the
 * counting takes longer than some programs. So it is on for a window of 10 ms: at the start, and
 * later only while the finding that this is too much is near, as each window interrupts all CPUs.
 * What the programs take of an exit is the median of means of some exits each: one stall of a CPU
 * is not in it. The programs are the ones that providers say run in exits.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "core/facts/stats.h"
#include "providers/bpf/bpf.h"
#include "providers/providers.h"

#define PART_NS 2000000L /* of a window; has a mean of its own */
#define PARTS 5
#define EXITS_LEAST 16	 /* a part with fewer is added to the next one */
#define MEANS 9		 /* the latest ones that the result is the median of, */
#define MEANS_LEAST 3	 /* and how many it needs */
#define PAUSE_FIRST_NS UINT64_C(1000000000) /* between windows; doubled each time */
#define PAUSE_NS UINT64_C(30000000000)
#define TRIES 6 /* windows without a result, after which exits are so few that it matters to none */
/* A part of a vCPU's time: half of what is a finding (rules.c). */
#define NEAR 0.015
#define NOT_KNOWN_NS 5000 /* taken for the result until there is one */

/* The runs of all programs since they were loaded, while the kernel counted runs. */
struct runs {
	uint64_t ns;
	uint64_t exits, user_exits; /* runs of a program on such an event */
};

struct cost {
	struct provider_args args;
	uint32_t field;
	bool is_wanted;
	struct programs programs; /* in a window */
	struct runs runs;    /* of the next mean */
	uint64_t means[MEANS];
	size_t nr_means;     /* so far */
	uint64_t exit_ns;    /* the latest result; 0: none yet */
	unsigned int nr_tries; /* windows without a result */
	uint64_t due_ns;     /* when the next window may begin, */
	uint64_t pause_ns;   /* and how long after it the one after it */
};

/* ---- the kernel's counts */

static bool is_exit(const struct env *env, const char *event)
{
	const struct split *split = env->arch->splits;

	while (split && split->event && !(split->entry_event && strcmp(split->event, event) == 0))
		split++;
	return split && split->event;
}

static int add_program(const struct env *env, const struct program *program, struct runs *runs)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	bool is_user_exit;

	if (bpf_obj_get_info_by_fd(program->fd, &info, &size) < 0)
		return -errno;
	runs->ns += info.run_time_ns;
	if (!program->event)
		return 0;
	is_user_exit = strcmp(arch_userspace_split.event, program->event) == 0;
	if (is_exit(env, program->event) && info.run_cnt > runs->exits)
		runs->exits = info.run_cnt;
	if (is_user_exit && info.run_cnt > runs->user_exits)
		runs->user_exits = info.run_cnt;
	return 0;
}

static int count_runs(const struct cost *cost, struct runs *ret_runs)
{
	struct runs runs = { 0 };
	int err = 0;

	for (size_t i = 0; i < cost->programs.nr && !err; i++)
		err = add_program(cost->args.env, &cost->programs.list[i], &runs);
	*ret_runs = runs;
	return err;
}

/* ---- windows */

/* Where KVM traces no VM exits, the exits to user space are the exits. */
static void add_mean(struct cost *cost)
{
	uint64_t exits = cost->runs.exits ? cost->runs.exits : cost->runs.user_exits;

	if (exits < EXITS_LEAST)
		return;
	cost->means[cost->nr_means++ % MEANS] = (cost->runs.ns + exits / 2) / exits;
	cost->runs = (struct runs){ 0 };
}

static int compare_means(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void conclude(struct cost *cost)
{
	size_t nr = cost->nr_means < MEANS ? cost->nr_means : MEANS;
	uint64_t sorted[MEANS];

	cost->nr_tries++;
	if (nr < MEANS_LEAST)
		return;
	memcpy(sorted, cost->means, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_means);
	cost->exit_ns = sorted[nr / 2];
}

/* A signal does not shorten a part: on a busy host few exits would be in it. */
static void wait_part(void)
{
	uint64_t end_ns = clock_now_ns() + PART_NS;
	const struct timespec end = { .tv_sec = (time_t)(end_ns / 1000000000),
				      .tv_nsec = (long)(end_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR &&
	       clock_now_ns() < end_ns)
		;
}

/* The parts of a window, while runs are counted. 0 or -errno. */
static int count_parts(struct cost *cost)
{
	struct runs begin, end;
	int err = count_runs(cost, &begin);

	for (int i = 0; i < PARTS && !err; i++, begin = end) {
		wait_part();
		err = count_runs(cost, &end);
		if (err)
			break;
		cost->runs.ns += end.ns - begin.ns;
		cost->runs.exits += end.exits - begin.exits;
		cost->runs.user_exits += end.user_exits - begin.user_exits;
		add_mean(cost);
	}
	return err;
}

static int look(struct cost *cost)
{
	int stats, err;

	cost->programs.nr = 0;
	if (cost->args.find_programs)
		cost->args.find_programs(cost->args.monitor, &cost->programs);
	if (!cost->programs.nr)
		return 0;
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		return -errno;
	err = count_parts(cost);
	close(stats);
	if (!err)
		conclude(cost);
	return err;
}

/* Whether the programs take much of any vCPU's time, by its exits of the interval before. */
static bool is_near(const struct cost *cost)
{
	const struct stats *stats = cost->args.stats;
	uint64_t exit_ns = cost->exit_ns ? cost->exit_ns : NOT_KNOWN_NS;

	for (size_t i = 0; stats && i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];
		const struct field *field = fields_get(cost->args.fields, stat->key.field);

		if (field->use == USE_EXIT && field->parent == FIELD_NONE && stat->has_rate &&
		    stat->key.vcpu >= 0 && stat->rate_per_s * (double)exit_ns / 1e9 >= NEAR)
			return true;
	}
	return false;
}

/* The first windows may have few exits. */
static bool is_window_due(struct cost *cost, uint64_t now_ns)
{
	if (now_ns < cost->due_ns)
		return false;
	cost->due_ns = now_ns + cost->pause_ns;
	cost->pause_ns = cost->exit_ns || cost->pause_ns > PAUSE_NS ? PAUSE_NS :
								       2 * cost->pause_ns;
	return (!cost->exit_ns && cost->nr_tries < TRIES) || is_near(cost);
}

/* ---- the provider */

static void cost_close(void *state)
{
	struct cost *cost = state;

	if (!cost)
		return;
	free(cost->programs.list);
	free(cost);
}

static int cost_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct cost *cost;
	int err, stats;

	if (env_is_captured(args->env))
		return error_set(error, -ENOTSUP, "no program counts on a captured machine");
	err = bpf_probe_exits(args->env, error);
	if (err)
		return err;
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0)
		return error_set(error, -errno, "the kernel does not count the runs of our BPF "
						"programs: %s", strerror(errno));
	close(stats);
	cost = xcalloc(1, sizeof(*cost));
	cost->args = *args;
	cost->field = host_fields_add_part(args->fields, args->source, HOST_COST);
	*ret_state = cost;
	return 0;
}

static int cost_want(void *state, const struct want *want, struct error *error)
{
	struct cost *cost = state;

	(void)error;
	cost->is_wanted = field_set_has(&want->fields, cost->field);
	/* Other programs may run from now on. */
	cost->runs = (struct runs){ 0 };
	cost->nr_means = cost->nr_tries = 0;
	cost->exit_ns = cost->due_ns = 0;
	cost->pause_ns = PAUSE_FIRST_NS;
	return 0;
}

static int cost_collect(void *state, struct sample *sample, struct error *error)
{
	struct cost *cost = state;
	uint64_t now_ns = clock_now_ns();
	int err = 0;

	if (!cost->is_wanted)
		return -EAGAIN;
	if (is_window_due(cost, now_ns))
		err = look(cost);
	if (err)
		return error_set(error, err, "cannot count the runs of our BPF programs: %s",
				 strerror(-err));
	if (!cost->exit_ns)
		return -EAGAIN;
	sample->time_ns[cost->args.source] = clock_now_ns();
	sample_add(sample, (struct key){ GUEST_NONE, -1, cost->field }, cost->exit_ns, 0);
	return 0;
}

const struct provider cost_provider = {
	ABOUT_COST,
	.open = cost_open,
	.want = cost_want,
	.collect = cost_collect,
	.close = cost_close,
};
