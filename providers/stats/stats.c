/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats - KVM's own counters by vCPU, from the statistics that VMMs hold descriptors of.
 *
 * They are the counters of debugfs, under the same names, where debugfs cannot be read: under
 * lockdown, and by users who may look into the VMM's process. A VMM that holds no descriptors has
 * none, see held.h. Every sample takes them anew and keeps none open.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "host/guest_proc.h"
#include "providers/providers.h"
#include "providers/stats/held.h"

/* A VMM may open descriptors later: it is searched again in these samples. */
#define LOOKS_AT_FIRST 8
#define LOOKS_LATER 64

struct holder {
	struct holder *next;
	uint32_t guest;
	pid_t pid;
	struct held held;
	size_t nr_vcpus; /* that the guest had when it was searched */
	unsigned int nr_samples; /* since then */
	bool is_searched; /* false: it has never been, or holds something else by now */
	bool is_late;	  /* the guest came while others were watched */
	bool is_there, is_refused;
};

struct kernel_stats {
	struct provider_args args;
	struct stats_layout *layouts;
	struct holder *holders;
	struct field_set wanted;
	enum want_scope scope;
	uint32_t guest;
	bool is_watching; /* there was a sample: guests found later are late */
	char bytes[STATS_BYTES_MAX];
};

/* ---- layouts */

/* Parents before their children. part: see kvm_counter_add(). */
static void add_fields(const struct kernel_stats *stats, struct stats_layout *layout,
		       unsigned int part)
{
	const struct provider_args *args = &stats->args;

	for (int is_child = 0; is_child <= 1; is_child++) {
		for (size_t i = 0; i < layout->nr_counters; i++) {
			struct stats_counter *counter = &layout->counters[i];

			if (kvm_counter_is_child(args->env, counter->name) == (is_child != 0))
				kvm_counter_add(args, counter->name, counter->kind, part,
						&counter->field);
		}
	}
}

static void mark_wanted(const struct kernel_stats *stats, struct stats_layout *layout)
{
	for (size_t i = 0; i < layout->nr_counters; i++) {
		struct stats_counter *counter = &layout->counters[i];

		counter->is_wanted = field_set_has(&stats->wanted, counter->field);
	}
}

static int get_layout(struct kernel_stats *stats, size_t size, struct held_fd *fd)
{
	struct stats_layout *layout = stats->layouts;

	while (layout && !stats_layout_fits(layout, stats->bytes, 0, size))
		layout = layout->next;
	if (!layout) {
		int err = stats_layout_parse(stats->bytes, size, &layout);

		if (err)
			return err;
		layout->next = stats->layouts;
		stats->layouts = layout;
		add_fields(stats, layout, fd->vcpu < 0 ? 0 : EVENT_BY_VCPU);
		mark_wanted(stats, layout);
	}
	fd->layout = layout;
	return 0;
}

/* ---- guests */

static struct holder *get_holder(struct kernel_stats *stats, const struct guest *guest)
{
	struct holder *holder = stats->holders;

	while (holder && holder->guest != guest->id)
		holder = holder->next;
	if (holder)
		return holder;
	holder = xcalloc(1, sizeof(*holder));
	holder->guest = guest->id;
	holder->pid = guest->pid;
	holder->held = HELD_NOTHING;
	holder->is_late = stats->is_watching;
	holder->next = stats->holders;
	stats->holders = holder;
	return holder;
}

static void drop_gone(struct kernel_stats *stats)
{
	struct holder **at = &stats->holders;

	while (*at) {
		struct holder *gone = *at;

		if (gone->is_there) {
			at = &gone->next;
			continue;
		}
		*at = gone->next;
		held_release(&gone->held);
		free(gone);
	}
}

static void forget(struct kernel_stats *stats)
{
	for (struct holder *holder = stats->holders; holder; holder = holder->next)
		holder->is_there = false;
	drop_gone(stats);
	stats->is_watching = false;
}

/* How many vCPUs have statistics. */
static size_t held_vcpus(const struct held *held)
{
	return held->nr - (held->nr && held->fds[0].vcpu < 0);
}

static bool is_due(const struct holder *holder, const struct guest *guest)
{
	if (!holder->is_searched || holder->nr_vcpus != guest->nr_vcpus)
		return true;
	return held_vcpus(&holder->held) < guest->nr_vcpus &&
	       (holder->nr_samples < LOOKS_AT_FIRST || holder->nr_samples % LOOKS_LATER == 0);
}

/* -ENOSYS: system calls are filtered. */
static bool is_refusal(int err)
{
	return err == -EPERM || err == -EACCES || err == -ENOSYS;
}

/* Searches the guest's process if it may hold other descriptors than are known. 0 or -errno. */
static int search(const struct kernel_stats *stats, struct holder *holder,
		  const struct guest *guest)
{
	int err;

	if (!is_due(holder, guest)) {
		holder->nr_samples++;
		return 0;
	}
	if (holder->nr_vcpus != guest->nr_vcpus)
		holder->nr_samples = 0;
	holder->nr_samples++;
	holder->nr_vcpus = guest->nr_vcpus;
	err = held_find(stats->args.env, guest->pid, &holder->held);
	holder->is_searched = !err;
	holder->is_refused = is_refusal(err);
	return proc_has_failed(err) && !holder->is_refused ? err : 0;
}

/* Brings the list of guests up to date; the ones that the scope has are there. 0 or -errno. */
static int update(struct kernel_stats *stats)
{
	const struct guest *guest;
	int err = 0;

	for (struct holder *holder = stats->holders; holder; holder = holder->next)
		holder->is_there = false;
	for (size_t i = 0; !err && (guest = guests_at(stats->args.guests, i)); i++) {
		struct holder *holder = get_holder(stats, guest);

		holder->is_there = true;
		if (stats->scope != WANT_GUEST || stats->guest == guest->id)
			err = search(stats, holder, guest);
	}
	drop_gone(stats);
	return err;
}

/* ---- rows */

static void add_rows(const struct kernel_stats *stats, const struct holder *holder,
		     const struct held_fd *fd, uint32_t flags, struct sample *sample)
{
	const struct stats_layout *layout = fd->layout;

	for (size_t i = 0; i < layout->nr_counters; i++) {
		const struct stats_counter *counter = &layout->counters[i];
		struct key key = { holder->guest, fd->vcpu, counter->field };
		struct timing timing;
		uint64_t value;

		if (!counter->is_wanted)
			continue;
		value = stats_counter_value(counter, stats->bytes);
		if (!counter->has_durations) {
			sample_add(sample, key, value, flags);
			continue;
		}
		stats_counter_timing(counter, stats->bytes, &timing);
		sample_add_timed(sample, key, value, flags, &timing);
	}
}

/* Reads a descriptor; sample NULL: only what it has. 0 or -errno. */
static int read_fd(struct kernel_stats *stats, struct held_look *look, struct holder *holder,
		   struct held_fd *fd, struct sample *sample)
{
	bool is_from_zero = stats->args.options.include_past || (holder->is_late && !fd->layout);
	size_t from = fd->layout ? fd->layout->tail_at : 0;
	ssize_t len = held_read(look, fd->fd, stats->bytes, from, sizeof(stats->bytes));
	int err = len < 0 ? (int)len : 0;

	if (!err && !fd->layout)
		err = get_layout(stats, (size_t)len, fd);
	else if (!err && !stats_layout_fits(fd->layout, stats->bytes, from, (size_t)len))
		err = -EBADF;
	if (err || !sample)
		return err;
	add_rows(stats, holder, fd, is_from_zero ? ROW_FROM_ZERO : 0, sample);
	return 0;
}

/*
 * Reads what a guest's VMM holds. A process that ended, or holds something else by now, is no
 * error. 0 or -errno.
 */
static int read_holder(struct kernel_stats *stats, struct holder *holder, struct sample *sample)
{
	struct held_look look;
	int err;

	if (!holder->held.nr)
		return 0;
	err = held_look(stats->args.env, holder->pid, &holder->held, &look);
	if (!err) {
		for (size_t i = 0; !err && i < holder->held.nr; i++)
			err = read_fd(stats, &look, holder, &holder->held.fds[i], sample);
		held_look_away(&look);
	}
	holder->is_refused = is_refusal(err);
	holder->is_searched = err != -EBADF;
	if (err == -EINVAL || err == -ENOENT) /* what it holds is not understood */
		holder->held.nr = 0;
	return descriptors_are_short(err) ? err : 0;
}

static int read_all(struct kernel_stats *stats, struct sample *sample, uint64_t *ret_time_ns)
{
	int err = update(stats);

	*ret_time_ns = clock_now_ns();
	for (struct holder *holder = stats->holders; !err && holder; holder = holder->next) {
		if (stats->scope != WANT_GUEST || stats->guest == holder->guest)
			err = read_holder(stats, holder, sample);
	}
	stats->is_watching = true;
	return err;
}

/* ---- words */

/* How many guests in the scope have no statistics. */
struct missing {
	size_t nr, without, refused;
	bool is_hidden; /* no guest is known, and some processes may not be looked into */
};

static struct missing find_missing(const struct kernel_stats *stats)
{
	struct missing missing = { 0 };

	for (const struct holder *holder = stats->holders; holder; holder = holder->next) {
		if (stats->scope == WANT_GUEST && stats->guest != holder->guest)
			continue;
		missing.nr++;
		missing.refused += holder->is_refused;
		missing.without += !holder->is_refused && !holder->held.nr;
	}
	missing.is_hidden = !missing.nr && guests_denied_at(stats->args.guests, 0);
	return missing;
}

static bool is_denied(const struct missing *missing)
{
	return missing->refused || missing->is_hidden;
}

/* Yama's restriction of ptrace(2), which is what reading another process counts as. */
static int yama(const struct env *env)
{
	char path[PATH_MAX], text[16] = "";

	env_path(env, path, sizeof(path), "/proc/sys/kernel/yama/ptrace_scope");
	return read_small(path, text, sizeof(text)) > 0 ? atoi(text) : 0;
}

static int say_refused(const struct env *env, const struct missing *missing, int err,
		       struct error *error)
{
	const char *remedy = "CAP_SYS_PTRACE is needed";

	if (yama(env) > 2)
		remedy = "kernel.yama.ptrace_scope is 3, which forbids it until the next boot";
	else if (geteuid() == 0)
		remedy = "CAP_SYS_PTRACE is needed, and pidfd_getfd if system calls are filtered";
	if (missing->is_hidden)
		return error_set(error, err, "no right to look for guests: %s", remedy);
	return error_set(error, err, "no right to the statistics of %zu of %zu guests: %s",
			 missing->refused, missing->nr, remedy);
}

static int say_none(const struct missing *missing, int err, struct error *error)
{
	if (missing->without == missing->nr)
		return error_set(error, err,
				 "no guest here holds statistics: QEMU 8.1 and later do");
	return error_set(error, err, "%zu of %zu guests hold no statistics: QEMU 8.1 and later do",
			 missing->without, missing->nr);
}

static int say_missing(const struct kernel_stats *stats, int err, struct error *error)
{
	struct missing missing = find_missing(stats);

	if (is_denied(&missing))
		return say_refused(stats->args.env, &missing, err, error);
	return missing.without || err ? say_none(&missing, err, error) : 0;
}

/* ---- the provider */

static void stats_close(void *opened)
{
	struct kernel_stats *stats = opened;

	if (!stats)
		return;
	forget(stats);
	while (stats->layouts) {
		struct stats_layout *layout = stats->layouts;

		stats->layouts = layout->next;
		stats_layout_free(layout);
	}
	field_set_release(&stats->wanted);
	free(stats);
}

/* The fields are known once a descriptor has been read: that is tried. */
static int stats_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct kernel_stats *stats = xcalloc(1, sizeof(*stats));
	uint64_t time_ns;
	int err;

	stats->args = *args;
	err = guests_refresh(args->guests, clock_now_ns(), error);
	if (!err)
		err = read_all(stats, NULL, &time_ns);
	if (!err && !stats->layouts) {
		struct missing missing = find_missing(stats);

		err = say_missing(stats, is_denied(&missing) ? -EPERM : -ENOENT, error);
	}
	forget(stats);
	if (err)
		stats_close(stats);
	else
		*ret_state = stats;
	return err;
}

static int stats_want(void *opened, const struct want *want, struct error *error)
{
	struct kernel_stats *stats = opened;

	(void)error;
	/* What the present guests have counted up to now is no part of the answer. */
	for (struct holder *holder = stats->holders; holder; holder = holder->next)
		holder->is_late = false;
	stats->scope = want->scope;
	stats->guest = want->guest;
	field_set_copy(&stats->wanted, &want->fields);
	for (struct stats_layout *layout = stats->layouts; layout; layout = layout->next)
		mark_wanted(stats, layout);
	return 0;
}

static bool is_anything_wanted(const struct kernel_stats *stats)
{
	for (const struct stats_layout *layout = stats->layouts; layout; layout = layout->next) {
		for (size_t i = 0; i < layout->nr_counters; i++) {
			if (layout->counters[i].is_wanted)
				return true;
		}
	}
	return false;
}

static int stats_collect(void *opened, struct sample *sample, struct error *error)
{
	struct kernel_stats *stats = opened;
	uint64_t time_ns = clock_now_ns();
	int err = 0;

	if (!is_anything_wanted(stats)) {
		forget(stats);
	} else {
		err = read_all(stats, sample, &time_ns);
		if (!err)
			say_missing(stats, 0, error);
	}
	if (descriptors_are_short(err)) {
		error_set(error, 0, "cannot read statistics: %s: raise the limit with ulimit -n",
			  strerror(-err));
		return -EAGAIN;
	}
	if (!err)
		sample->time_ns[stats->args.source] = time_ns;
	return err;
}

const struct provider stats_provider = {
	.name = "stats",
	.help = "KVM's own counters by vCPU, as VMMs hold them (QEMU 8.1); under lockdown, too",
	.is_always_by_guest = true,
	.instead_of = &debugfs_provider,
	.open = stats_open,
	.want = stats_want,
	.collect = stats_collect,
	.close = stats_close,
};
