// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the instance, enables its events, and moves its pages. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracefs.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/process.h"
#include "host/machine.h"
#include "trace/tracer/tracer.h"

#define PIPE_BYTES (1 << 20)
#define WAKE_PERCENT "10" /* of the ring; low, as events arrive while the pages are moved */

/* ---- the instance ---- */

static int instance_new(struct ring *ring, struct error *error)
{
	char name[32];

	snprintf(name, sizeof(name), RING_NAME_PREFIX "%d", (int)getpid());
	ring->instance = tracefs_instance_create(name);
	if (ring->instance && !tracefs_instance_is_new(ring->instance)) {
		tracefs_instance_destroy(ring->instance);
		tracefs_instance_free(ring->instance);
		ring->instance = tracefs_instance_create(name);
	}
	if (!ring->instance)
		return error_set(error, -errno, "cannot make %s in the instances of tracefs: %s%s",
				 name, strerror(errno), unless_root(": run as root"));
	if (!tracefs_instance_is_new(ring->instance))
		return error_set(error, -EBUSY,
				 "%s in the instances of tracefs is in use, as by a kvmtop in "
				 "another container: try again", name);
	/* A kvmtop outside of this process's pid namespace takes it for a killed recorder's. */
	ring->hold = tracefs_instance_file_open(ring->instance, "tracing_on", O_RDONLY);
	if (tracefs_trace_off(ring->instance) < 0)
		return error_set(error, -EIO, "cannot write tracing_on of %s", name);
	return 0;
}

static int write_setting(struct ring *ring, const char *file, const char *text, struct error *error)
{
	errno = 0;
	if (tracefs_instance_file_write(ring->instance, file, text) >= 0)
		return 0;
	return error_set(error, errno ? -errno : -EIO, "the kernel refuses \"%s\" as %s: %s", text,
			 file, strerror(errno ? errno : EIO));
}

static int set_clock(struct ring *ring, const char *clock, struct error *error)
{
	int err = write_setting(ring, "trace_clock", clock, error);
	char *list = err == -EINVAL ?
			     tracefs_instance_file_read(ring->instance, "trace_clock", NULL) : NULL;

	if (!list)
		return err;
	for (char *at = list; (at = strpbrk(at, "[]\n"));) /* the present clock is in brackets */
		memmove(at, at + 1, strlen(at));
	error_set(error, err, "no clock is called \"%s\"; there are: %s", clock, list);
	free(list);
	return err;
}

static int set_size(struct ring *ring, unsigned long kib, struct error *error)
{
	char text[32];
	int err;

	snprintf(text, sizeof(text), "%lu", kib);
	err = write_setting(ring, "buffer_size_kb", text, error);
	if (err != -ENOMEM)
		return err;
	return error_set(error, err,
			 "no memory for a buffer of %lu KiB on each CPU: lower --buffer-size",
			 kib);
}

int ring_add_tids(struct ring *ring, const pid_t *tids, size_t nr, struct error *error)
{
	char text[32];
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		snprintf(text, sizeof(text), "%d", (int)tids[i]);
		errno = 0;
		if (tracefs_instance_file_append(ring->instance, "set_event_pid", text) < 0)
			err = error_set(error, errno ? -errno : -EIO, "set_event_pid: %s",
					strerror(errno ? errno : EIO));
	}
	return err;
}

static int settings(struct ring *ring, const struct ring_config *config, struct error *error)
{
	int err = 0;

	/* poll() returns when the ring is this full. Kernels before 5.0 return at once. */
	tracefs_instance_file_write(ring->instance, "buffer_percent", WAKE_PERCENT);
	if (config->clock)
		err = set_clock(ring, config->clock, error);
	if (!err && config->kib)
		err = set_size(ring, config->kib, error);
	/* Later children of the guest's threads belong to the guest, too. */
	if (config->nr_tids)
		tracefs_option_enable(ring->instance, TRACEFS_OPTION_EVENT_FORK);
	return err ? err : ring_add_tids(ring, config->tids, config->nr_tids, error);
}

/* ---- events ---- */

/* The kernel's reason is in a tracefs file, after the last colon of its first line. */
static int filter_error(struct ring *ring, const char *name, const char *filter,
			struct error *error)
{
	char *text = tracefs_error_last(ring->instance);
	char *reason = text;

	if (reason)
		reason[strcspn(reason, "\n")] = '\0';
	for (char *at = reason; at && (at = strstr(at, ": ")); at += 2)
		reason = at + 2;
	error_set(error, -EINVAL, "the kernel refuses the filter \"%s\" for %s%s%s", filter, name,
		  reason ? ": " : "", reason ? reason : "");
	free(text);
	return -EINVAL;
}

static bool has_event(const struct ring *ring, const char *system, const char *name)
{
	for (size_t i = 0; i < ring->nr_events; i++) {
		if (strcmp(ring->events[i].system, system) == 0 &&
		    strcmp(ring->events[i].name, name) == 0)
			return true;
	}
	return false;
}

static int add_event(struct ring *ring, const char *system, const char *name, const char *filter,
		     struct error *error)
{
	if (filter && tracefs_event_file_write(ring->instance, system, name, "filter", filter) < 0)
		return filter_error(ring, name, filter, error);
	if (has_event(ring, system, name))
		return 0;
	*array_add(ring->events, ring->nr_events, ring->events_room) =
		(struct ring_event){ xstrdup(system), xstrdup(name) };
	errno = 0;
	if (tracefs_event_enable(ring->instance, system, name) < 0)
		return error_set(error, errno ? -errno : -EIO, "cannot record %s: %s", name,
				 strerror(errno ? errno : EIO));
	return 0;
}

/* pattern: "kvm_exit" or "kvm:kvm_exit", with shell wildcards. NULL: all systems but kvmmmu. */
static bool matches(const char *pattern, const char *system, const char *name)
{
	char full[256];

	if (!pattern)
		return strcmp(system, "kvmmmu") != 0;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	return fnmatch(pattern, strchr(pattern, ':') ? full : name, 0) == 0;
}

static int choose_of_system(struct ring *ring, const char *system, const char *pattern,
			    const char *filter, size_t *nr, struct error *error)
{
	char **names = tracefs_system_events(NULL, system);
	int err = 0;

	for (size_t i = 0; !err && names && names[i]; i++) {
		/* Files of the system's folder that are not events. */
		if (!matches(pattern, system, names[i]) ||
		    !tracefs_event_file_exists(NULL, system, names[i], "format"))
			continue;
		err = add_event(ring, system, names[i], filter, error);
		++*nr;
	}
	tracefs_list_free(names);
	return err;
}

static int choose_events(struct ring *ring, const char *pattern, const char *filter,
			 struct error *error)
{
	char **systems = tracefs_event_systems(NULL);
	size_t nr = 0;
	int err = 0;

	for (size_t i = 0; !err && systems && systems[i]; i++) {
		if (strncmp(systems[i], "kvm", 3) == 0)
			err = choose_of_system(ring, systems[i], pattern, filter, &nr, error);
	}
	tracefs_list_free(systems);
	if (err || nr)
		return err;
	if (pattern)
		return error_set(error, -ENOENT, "no KVM event is called \"%s\"; kvmtop -f help "
					     "lists them", pattern);
	return error_set(error, -ENOENT, "the kernel has no KVM events: is its module loaded?");
}

static int choose_all(struct ring *ring, const struct ring_config *config, struct error *error)
{
	int err = 0;

	if (!config->nr_choices)
		err = choose_events(ring, NULL, config->filter, error);
	for (size_t i = 0; !err && i < config->nr_choices; i++)
		err = choose_events(ring, config->choices[i].pattern, config->choices[i].filter,
				    error);
	if (!err && config->sched)
		err = add_event(ring, "sched", "sched_switch", NULL, error);
	if (!err && config->sched)
		err = add_event(ring, "sched", "sched_waking", NULL, error);
	return err;
}

/* ---- the rings of the CPUs ---- */

static int cpu_open(struct ring *ring, size_t i, const char *folder, struct error *error)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%zu/trace_pipe_raw", i);
	if (!tracefs_file_exists(ring->instance, file))
		return 0;
	ring->raw[i] = tracefs_instance_file_open(ring->instance, file,
						  O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (ring->raw[i] < 0)
		return error_set(error, -EACCES, "%s cannot be opened", file);
	ring->pages[i].file = file_without_name(folder, error);
	return ring->pages[i].file < 0 ? ring->pages[i].file : 0;
}

static int cpus_open(struct ring *ring, const struct ring_config *config, struct error *error)
{
	size_t nr = config->nr_cpus;
	int err = 0;

	descriptors_raise(2 * nr + DESCRIPTORS_SPARE);
	ring->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	ring->page = xmalloc(ring->page_bytes);
	ring->raw = xcalloc(nr, sizeof(*ring->raw));
	ring->pages = xcalloc(nr, sizeof(*ring->pages));
	ring->nr_cpus = nr;
	for (size_t i = 0; i < nr; i++)
		ring->raw[i] = ring->pages[i].file = -1;
	for (size_t i = 0; !err && i < ring->nr_cpus; i++)
		err = cpu_open(ring, i, config->folder, error);
	if (!err && pipe2(ring->pipe, O_CLOEXEC) < 0)
		err = -errno;
	if (!err)
		fcntl(ring->pipe[1], F_SETPIPE_SZ, PIPE_BYTES); /* may fail: a smaller pipe works */
	return err;
}

int ring_new(const struct ring_config *config, struct ring **ret_ring, struct error *error)
{
	struct ring *ring = xcalloc(1, sizeof(*ring));
	int err;

	ring->hold = ring->pipe[0] = ring->pipe[1] = -1;
	if (tracefs_set_tracing_dir((char *)(uintptr_t)config->tracefs) < 0)
		out_of_memory(); /* it copies the path, and no more */
	err = instance_new(ring, error);
	if (!err)
		err = settings(ring, config, error);
	if (!err)
		err = choose_all(ring, config, error);
	if (!err)
		err = cpus_open(ring, config, error);
	if (err)
		ring_free(ring);
	else
		*ret_ring = ring;
	return err;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	for (size_t i = 0; i < ring->nr_cpus; i++) {
		close_fd(ring->raw[i]);
		close_fd(ring->pages[i].file);
	}
	close_fd(ring->pipe[0]);
	close_fd(ring->pipe[1]);
	close_fd(ring->hold);
	if (ring->instance) {
		tracefs_instance_destroy(ring->instance);
		tracefs_instance_free(ring->instance);
	}
	for (size_t i = 0; i < ring->nr_events; i++) {
		free(ring->events[i].system);
		free(ring->events[i].name);
	}
	free(ring->events);
	free(ring->raw);
	free(ring->pages);
	free(ring->page);
	free(ring);
}

/* ---- while it records ---- */

int ring_begin(struct ring *ring, struct error *error)
{
	if (tracefs_trace_on(ring->instance) < 0)
		return error_set(error, -EIO, "cannot write tracing_on");
	return 0;
}

void ring_end(struct ring *ring)
{
	tracefs_trace_off(ring->instance);
}

static int cpu_drain(struct ring *ring, size_t i, struct error *error)
{
	struct pages *pages = &ring->pages[i];
	int err = 0;

	while (!err && ring->raw[i] >= 0) {
		ssize_t n = splice(ring->raw[i], NULL, ring->pipe[1], NULL, PIPE_BYTES,
				   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);

		if (n == 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
			break;
		if (n < 0)
			return error_set(error, -errno, "trace_pipe_raw: %s", strerror(errno));
		err = pages_splice(pages, ring->pipe[0], (size_t)n, error);
		pages->bytes -= pages->bytes % ring->page_bytes; /* a full disk may cut a page */
	}
	return err;
}

int ring_drain(struct ring *ring, struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < ring->nr_cpus; i++)
		err = cpu_drain(ring, i, error);
	/* All CPUs' pages will be in one file, so the file size limit holds for their sum. */
	return !err && ring_bytes(ring) > pages_most() ? pages_error(EFBIG, error) : err;
}

/* Partly filled pages can be had with read() only, not with splice(). */
static int cpu_drain_rest(struct ring *ring, size_t i, struct error *error)
{
	int err = cpu_drain(ring, i, error);

	while (!err && ring->raw[i] >= 0) {
		ssize_t n = read(ring->raw[i], ring->page, ring->page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		memset(ring->page + n, 0, ring->page_bytes - (size_t)n);
		err = pages_append(&ring->pages[i], ring->page, ring->page_bytes, error);
	}
	return err;
}

int ring_drain_rest(struct ring *ring, struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < ring->nr_cpus; i++)
		err = cpu_drain_rest(ring, i, error);
	return err;
}

/* ---- counts and files ---- */

uint64_t ring_bytes(const struct ring *ring)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < ring->nr_cpus; i++)
		bytes += ring->pages[i].bytes;
	return bytes;
}

static uint64_t stat_of(const char *stats, const char *name)
{
	const char *at = stats ? strstr(stats, name) : NULL;

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

void ring_count(const struct ring *ring, struct ring_counts *ret_counts)
{
	struct ring_counts counts = { 0, 0 };

	for (size_t i = 0; i < ring->nr_cpus; i++) {
		char file[64], *stats;

		if (ring->raw[i] < 0)
			continue;
		snprintf(file, sizeof(file), "per_cpu/cpu%zu/stats", i);
		stats = ring_read(ring, file);
		counts.read += stat_of(stats, "\nread events: ");
		counts.lost += stat_of(stats, "\noverrun: ") + stat_of(stats, "\ndropped events: ");
		free(stats);
	}
	*ret_counts = counts;
}

char *ring_read(const struct ring *ring, const char *file)
{
	return tracefs_instance_file_read(ring->instance, file, NULL);
}
