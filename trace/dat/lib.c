// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace.dat that at most libtracecmd reads: of version 7, with another compression than zstd.
 *
 * Each CPU of each buffer is a source. A record's loss is what the kernel wrote into the ring's
 * page: so many events are missing before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "trace/dat/dat.h"

#define PROBE_SECONDS 20

/*
 * In libtracecmd, but not in its header: what else the file says. Weak, so that a library without
 * them does, and nothing is known then.
 */
extern const char *tracecmd_get_trace_clock(struct tracecmd_input *handle) __attribute__((weak));
extern const char *tracecmd_get_uname(struct tracecmd_input *handle) __attribute__((weak));

/* One file with all of its buffers. */
struct lib {
	struct tracecmd_input *handle;
	struct tracecmd_input **instances;
	int nr_instances;
	struct tep_types types;
	struct dat_strings strings;
};

struct lib_source {
	struct source source;
	struct lib *lib;
	struct tracecmd_input *handle;
	struct tep_record *record;
	bool is_held; /* the record's loss was given out, itself not yet */
	int cpu;
};

static int free_record(struct lib_source *lib)
{
	if (lib->record)
		tracecmd_free_record(lib->record);
	lib->record = NULL;
	return 0;
}

/* The record's loss is an event before it. */
static int give_loss(struct lib_source *lib)
{
	struct trace_event *event = &lib->source.event;

	lib->is_held = true;
	event->time = lib->record->ts;
	event->type = NULL;
	event->lost = lib->record->missed_events;
	return 1;
}

static int next(struct source *source)
{
	struct lib_source *lib = (struct lib_source *)source;
	struct trace_event *event = &source->event;
	int err;

	if (!lib->is_held) {
		free_record(lib);
		lib->record = tracecmd_read_data(lib->handle, lib->cpu);
		if (!lib->record)
			return 0;
		if (lib->record->missed_events)
			return give_loss(lib);
	}
	lib->is_held = false;
	event->time = lib->record->ts;
	event->lost = 0;
	if (lib->record->offset > source->file->done &&
	    lib->record->offset <= source->file->info.size)
		source->file->done = lib->record->offset;
	err = lib->record->size < 8 ? -EINVAL :
				      tep_types_set(&lib->lib->types, event, lib->record->data,
						    (uint32_t)lib->record->size);
	if (err == -EINVAL)
		trace_add_problem(source->file, 0, "a record of %d bytes", lib->record->size);
	return err ? (err == -EINVAL ? 0 : err) : 1;
}

static void free_source(struct source *source)
{
	free_record((struct lib_source *)source);
	free(source);
}

static int add_cpus(struct trace_file *file, struct lib *lib, struct tracecmd_input *handle)
{
	struct lib_source *source;
	int err = 0;

	for (int cpu = 0; cpu < file->info.nr_cpus && !err; cpu++) {
		source = calloc(1, sizeof(*source));
		if (!source)
			return -ENOMEM;
		source_init(&source->source, file);
		source->source.next = next;
		source->source.free = free_source;
		source->source.event.cpu = cpu;
		source->lib = lib;
		source->handle = handle;
		source->cpu = cpu;
		err = trace_add_source(file->trace, &source->source);
	}
	return err;
}

static int add_instances(struct trace_file *file, struct lib *lib)
{
	int nr = tracecmd_buffer_instances(lib->handle), err = 0;

	if (nr <= 0)
		return 0;
	lib->instances = calloc((size_t)nr, sizeof(struct tracecmd_input *));
	if (!lib->instances)
		return -ENOMEM;
	for (int i = 0; i < nr && !err; i++) {
		struct tracecmd_input *handle = tracecmd_buffer_instance_handle(lib->handle, i);
		struct trace_file *part = handle ? trace_add_part(file) : NULL;

		if (!handle)
			continue;
		lib->instances[lib->nr_instances++] = handle;
		if (!part)
			return -ENOMEM;
		part->info.instance = tracecmd_buffer_instance_name(lib->handle, i);
		err = add_cpus(part, lib, handle);
	}
	return err;
}

/*
 * The library ends the process at some files that make no sense. A child tries it first: 0, or
 * -EINVAL when the child did not come back well.
 */
static int probe(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		struct tracecmd_input *handle;

		/* What the library or libc says when it dies is no news, and its memory neither. */
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		prctl(PR_SET_DUMPABLE, 0);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGFPE, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		alarm(PROBE_SECONDS);
		handle = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
		_exit(handle ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EINVAL;
}

static int set_info(struct trace_file *file, struct lib *lib)
{
	struct tep_handle *tep = tracecmd_get_tep(lib->handle);
	const char *clock = tracecmd_get_trace_clock ? tracecmd_get_trace_clock(lib->handle) : NULL;
	const char *uname = tracecmd_get_uname ? tracecmd_get_uname(lib->handle) : NULL;

	file->info.version = 7;
	file->info.nr_cpus = tep_get_cpus(tep);
	file->info.is_big_endian = tep_is_file_bigendian(tep);
	file->info.trace_id = tracecmd_get_traceid(lib->handle);
	if (clock)
		dat_set_clock(&file->info, &lib->strings, clock);
	if (uname)
		dat_set_uname(&file->info, &lib->strings, uname);
	tep_types_init(&lib->types, file, tep);
	return add_cpus(file, lib, lib->handle);
}

/* Either it is damaged, or the library is without that compression, as Debian's is without zlib. */
static void add_unreadable(struct trace_file *file, const struct head *head)
{
	trace_add_problem(file, 0,
			  "libtracecmd cannot read it: damaged, or its compression \"%.32s\" is "
			  "not known here (trace-cmd convert --compression none)",
			  dat_compression(head));
}

static int open_lib(struct trace_file *file, const struct head *head, struct why *why)
{
	struct lib *lib;
	int err;

	(void)why;
	tep_set_loglevel(TEP_LOG_NONE);
	tracecmd_set_loglevel(TEP_LOG_NONE);
	file->info.clock_name = "local";
	err = probe(file->info.path);
	if (err == -EINVAL)
		add_unreadable(file, head);
	if (err)
		return err == -EINVAL ? 0 : err;
	lib = file->priv = calloc(1, sizeof(*lib));
	if (!lib)
		return -ENOMEM;
	lib->handle = tracecmd_open(file->info.path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!lib->handle) {
		add_unreadable(file, head);
		return 0;
	}
	err = set_info(file, lib);
	return err ? err : add_instances(file, lib);
}

static void close_lib(struct trace_file *file)
{
	struct lib *lib = file->priv;

	if (!lib)
		return;
	tep_types_release(&lib->types);
	for (int i = 0; i < lib->nr_instances; i++)
		tracecmd_close(lib->instances[i]);
	free(lib->instances);
	if (lib->handle)
		tracecmd_close(lib->handle);
	free(lib);
}

static const char *comm_of(const struct trace_event *event, const struct trace_file *file)
{
	const struct lib *lib = file->priv;

	return lib && lib->handle ? tep_types_comm(&lib->types, event->tid) : "";
}

/* The library tells by the guest's trace_id, which its own file in the stream has. */
static bool guest_of(const struct trace_file *file, size_t i, struct trace_guest *ret_guest)
{
	const struct lib *lib = file->priv;
	const struct trace_info *other;

	for (size_t j = 0; lib && lib->handle && (other = trace_file(file->trace, j)); j++) {
		int nr = 0;

		if (other->kind != TRACE_DAT || !other->trace_id || other->instance[0] ||
		    tracecmd_get_guest_cpumap(lib->handle, other->trace_id, &ret_guest->name, &nr,
					      &ret_guest->tids) < 0 ||
		    i-- > 0)
			continue;
		ret_guest->trace_id = other->trace_id;
		ret_guest->pid = -1;
		ret_guest->nr_vcpus = (size_t)nr;
		return true;
	}
	return false;
}

static bool is_kind(const struct head *head)
{
	return dat_is_kind(head) && !dat_is_readable(head);
}

const struct reader trace_lib_reader = {
	.kind = TRACE_DAT,
	.name = "trace.dat",
	.is_kind = is_kind,
	.open = open_lib,
	.close = close_lib,
	.comm = comm_of,
	.guest = guest_of,
};
