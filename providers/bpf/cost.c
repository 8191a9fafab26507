// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What kvmtop itself takes of an exit: how long its BPF programs run, by the kernel's run counts.
 *
 * The kernel counts runs only while a process asks for that (BPF_ENABLE_STATS, Linux 5.8), and the
 * counting takes longer than some programs. So it is on for WINDOW_NS now and then, and what the
 * programs take of an exit is the mean of such windows. The programs are found by the links that
 * this process holds, whichever provider attached them.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/bpf/bpf.h"
#include "providers/providers.h"

#define WINDOW_NS 10000000L
#define EXITS_LEAST 64 /* windows with fewer are added to the next one */
#define PAUSE_FIRST_NS UINT64_C(1000000000) /* doubled until a result is known */
#define PAUSE_NS UINT64_C(30000000000)
#define EVENT_SIZE 64

/* Of all programs since they were loaded, while runs were counted. */
struct runs {
	uint64_t ns;
	uint64_t exits, user_exits; /* of a program on such an event */
};

struct cost {
	struct provider_args args;
	uint32_t field;
	bool is_wanted;
	struct runs runs;    /* in the windows of the next result */
	uint64_t exit_ns;    /* the latest result; 0: none yet */
	uint64_t due_ns;     /* when the next window begins, */
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

static void add_program(const struct env *env, uint32_t id, const char *event, struct runs *runs)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0) {
		runs->ns += info.run_time_ns;
		if (is_exit(env, event) && info.run_cnt > runs->exits)
			runs->exits = info.run_cnt;
		if (strcmp(arch_userspace_split.event, event) == 0 &&
		    info.run_cnt > runs->user_exits)
			runs->user_exits = info.run_cnt;
	}
	close(fd);
}

static void add_link(const struct env *env, int fd, struct runs *runs)
{
	char event[EVENT_SIZE] = "";
	struct bpf_link_info info = { 0 };
	__u32 size = sizeof(info);

	info.raw_tracepoint.tp_name = (uintptr_t)event;
	info.raw_tracepoint.tp_name_len = sizeof(event);
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
	    info.type == BPF_LINK_TYPE_RAW_TRACEPOINT)
		add_program(env, info.prog_id, event, runs);
}

static int count_runs(const struct env *env, struct runs *ret_runs)
{
	DIR *dir = opendir("/proc/self/fd");
	struct runs runs = { 0 };
	const struct dirent *entry;
	char target[32];

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strstr(target, "bpf_link"))
			add_link(env, atoi(entry->d_name), &runs);
	}
	closedir(dir);
	*ret_runs = runs;
	return 0;
}

/* ---- windows */

/* A signal does not shorten the window: on a busy host few exits would be in it. */
static void wait_window(void)
{
	uint64_t end_ns = clock_now_ns() + WINDOW_NS;
	const struct timespec end = { .tv_sec = (time_t)(end_ns / 1000000000),
				      .tv_nsec = (long)(end_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR &&
	       clock_now_ns() < end_ns)
		;
}

/* Runs of this window are added. 0 or -errno. */
static int look(const struct env *env, struct runs *runs)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), err;
	struct runs begin, end;

	if (stats < 0)
		return -errno;
	err = count_runs(env, &begin);
	if (!err) {
		wait_window();
		err = count_runs(env, &end);
	}
	close(stats);
	if (err)
		return err;
	runs->ns += end.ns - begin.ns;
	runs->exits += end.exits - begin.exits;
	runs->user_exits += end.user_exits - begin.user_exits;
	return 0;
}

/* Where KVM traces no VM exits, the exits to user space are the exits. */
static void conclude(struct cost *cost)
{
	uint64_t exits = cost->runs.exits ? cost->runs.exits : cost->runs.user_exits;

	if (exits < EXITS_LEAST)
		return;
	cost->exit_ns = (cost->runs.ns + exits / 2) / exits;
	cost->runs = (struct runs){ 0 };
}

/* ---- the provider */

static void cost_close(void *state)
{
	free(state);
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
	if (now_ns >= cost->due_ns) {
		err = look(cost->args.env, &cost->runs);
		conclude(cost);
		now_ns = clock_now_ns();
		if (cost->exit_ns || cost->pause_ns > PAUSE_NS)
			cost->pause_ns = PAUSE_NS;
		cost->due_ns = now_ns + cost->pause_ns;
		cost->pause_ns *= 2;
	}
	if (err)
		return error_set(error, err, "cannot count the runs of our BPF programs: %s",
				 strerror(-err));
	if (!cost->exit_ns)
		return -EAGAIN;
	sample->time_ns[cost->args.source] = now_ns;
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
