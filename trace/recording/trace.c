// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens recordings with the reader of their kind, and merges their events by time. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "trace/recording/kinds.h"
#include "trace/recording/reader.h"
#include "trace/recording/repeats.h"
#include "trace/recording/trace.h"
#include "trace/recording/window.h"

#define COMM_SIZE 64
#define RECORD_LEAST 32 /* bytes to read from a pipe to find its kind */
#define RECORD_MAX 64 /* bytes of the largest record */

/* Pointers to the items stay valid when the list grows. */
struct list {
	void **items;
	size_t nr, room;
};

struct problem {
	struct trace_problem problem;
	char text[160];
};

struct trace {
	struct list files, types, problems, sources, repeats;
	/* The sources with an event, as a binary heap: the earliest event is at 0. */
	struct trace_source **heap;
	size_t nr_heap;
	struct trace_source *last; /* of the last event; NULL: none yet, or the end */
	bool is_single;	     /* it needs no merging */
	char *comm; /* of COMM_SIZE: the last result of trace_comm() */
	bool has_records; /* trace_open_records() */
	void *shared[NR_TRACE_KINDS]; /* by kind */
};

static int list_add(struct list *list, void *item)
{
	array_grow(&list->items, &list->room, list->nr + 1);
	list->items[list->nr++] = item;
	return 0;
}

static void list_release(struct list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
}

/* Adds a zeroed item at the end of the list. NULL: no memory. */
static void *list_new(struct list *list, size_t size)
{
	void *item = calloc(1, size);

	if (item && list_add(list, item) == 0)
		return item;
	free(item);
	return NULL;
}

/* ---- for the readers */

int trace_add_source(struct trace *trace, struct trace_source *source)
{
	source->order = (uint32_t)trace->sources.nr;
	source->file->info.has_events = true;
	if (list_add(&trace->sources, source) == 0)
		return 0;
	source->free(source);
	return -ENOMEM;
}

/* Whether it is a further buffer: the main one holds fd and priv. */
static bool is_part(const struct trace_file *file)
{
	return file->index != file->info.main;
}

struct trace_file *trace_add_part(struct trace_file *file)
{
	struct trace_file *part = list_new(&file->trace->files, sizeof(*part));

	if (!part)
		return NULL;
	*part = *file;
	part->index = (uint32_t)file->trace->files.nr - 1;
	part->info.has_events = false;
	part->done = 0;
	return part;
}

const struct trace_type *trace_add_type(struct trace *trace, const struct trace_type *type)
{
	struct trace_type *added = list_new(&trace->types, sizeof(*added));

	if (!added)
		return NULL;
	*added = *type;
	added->index = (uint32_t)trace->types.nr - 1;
	return added;
}

void **trace_shared(struct trace_file *file)
{
	return &file->trace->shared[file->reader->kind];
}

void trace_add_problem(struct trace_file *file, uint64_t offset, const char *fmt, ...)
{
	struct problem *problem = list_new(&file->trace->problems, sizeof(*problem));
	va_list args;

	if (!problem)
		return;
	problem->problem.path = file->info.path;
	problem->problem.offset = offset;
	problem->problem.text = problem->text;
	va_start(args, fmt);
	vsnprintf(problem->text, sizeof(problem->text), fmt, args);
	va_end(args);
}

void trace_clean_text(char *text, size_t size)
{
	if (!utf8_clean(text, strlen(text), text, size))
		text[0] = '\0';
}

void source_free_window(struct trace_source *source)
{
	window_release(source->window);
	free(source);
}

void source_init(struct trace_source *source, struct trace_file *file)
{
	*source = (struct trace_source){ .file = file };
	source->event = (struct trace_event){
		.file = file->index,
		.cpu = -1,
		.pid = -1,
		.tid = -1,
		.vcpu = -1,
		.has_time = true,
	};
}

/* ---- opening */

/* A file that is being opened. */
struct opened {
	const char *path;
	int fd;
	uint64_t size;
	uint8_t bytes[HEAD_SIZE];
	struct head head;
};

static int read_head(struct opened *opened, size_t least, struct error *why)
{
	while (opened->head.len < least) {
		ssize_t got = read(opened->fd, opened->bytes + opened->head.len,
				   HEAD_SIZE - opened->head.len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set(why, -errno, "%s: %s", opened->path, strerror(errno));
		if (got == 0)
			break;
		opened->head.len += (size_t)got;
	}
	return 0;
}

/* The file of the trace that has this file open already, by another path perhaps; NULL: none. */
static const struct trace_file *find_open(const struct trace *trace, const struct stat *st)
{
	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];
		struct stat open;

		if (!is_part(file) && file->fd >= 0 && fstat(file->fd, &open) == 0 &&
		    open.st_dev == st->st_dev && open.st_ino == st->st_ino)
			return file;
	}
	return NULL;
}

/* Opens a path, or standard input, and reads the first bytes. */
static int open_path(const struct trace *trace, const char *path, struct opened *opened,
		     struct error *why)
{
	bool is_stdin = strcmp(path, "-") == 0;
	const struct trace_file *same;
	size_t least = HEAD_SIZE;
	struct stat st;

	opened->path = is_stdin ? "standard input" : path;
	opened->head = (struct head){ opened->bytes, 0 };
	opened->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (opened->fd < 0)
		return error_set(why, -errno, "%s: %s", opened->path, strerror(errno));
	if (fstat(opened->fd, &st) < 0)
		return error_set(why, -errno, "%s: %s", opened->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return error_set(why, -EISDIR, "%s: is a folder, not a recording (perf record "
				 "makes one with --threads: record without it)", opened->path);
	same = trace->has_records || S_ISCHR(st.st_mode) ? NULL : find_open(trace, &st);
	if (same)
		return error_set(why, -EEXIST, "%s and %s are one file: name it once",
				 same->info.path, opened->path);
	opened->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	/* Records from a pipe are printed at once, so no more bytes are awaited than needed. */
	if (trace->has_records && !S_ISREG(st.st_mode))
		least = RECORD_LEAST;
	return read_head(opened, least, why);
}

bool trace_is_recording(const char *path)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	const struct trace none = { .nr_heap = 0 };
	struct stat st;
	bool is_one = false;

	if (opened && stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		is_one = open_path(&none, path, opened, &(struct error){ "" }) == 0 &&
			 trace_event_reader(TRACE_ANY, &opened->head);
		if (opened->fd >= 0)
			close(opened->fd);
	}
	free(opened);
	return is_one;
}

static int check_kind(struct trace *trace, const struct opened *opened,
		      const struct trace_reader *reader, struct error *why)
{
	const struct trace_file *first = trace->files.nr ? trace->files.items[0] : NULL;

	if (!reader && trace->has_records)
		return -EINVAL; /* with why */
	if (!reader && opened->head.len == 0)
		return error_set(why, -EINVAL, "%s: the file is empty", opened->path);
	if (!reader && trace_head_is_text(&opened->head))
		return error_set(why, -EINVAL, "%s: is text, as trace-cmd report, perf script and "
				 "tracefs print it: give the recording itself (trace.dat, "
				 "perf.data); kvmtop record makes one", opened->path);
	if (!reader)
		return error_set(why, -EINVAL, "%s: not a recording in a known format; kvmtop -r "
				 "shows histories", opened->path);
	if (first && first->reader->kind != reader->kind && !trace->has_records)
		return error_set(why, -EINVAL, "%s is %s, but %s is %s: read them separately",
				 first->info.path, first->reader->name, opened->path, reader->name);
	if (!opened->size && !reader->reads_pipes &&
	    lseek(opened->fd, 0, SEEK_CUR) < 0)
		return error_set(why, -ESPIPE, "%s: a %s cannot be read from a pipe: name the "
					     "file", opened->path,
				 reader->name);
	return 0;
}

/* Takes ownership of opened->fd. */
static int add_file(struct trace *trace, const struct opened *opened,
		    const struct trace_reader *reader, struct error *why)
{
	struct trace_file *file = list_new(&trace->files, sizeof(*file));

	if (!file) {
		close(opened->fd);
		return -ENOMEM;
	}
	file->info = (struct trace_info){
		.kind = reader->kind,
		.path = opened->path,
		.size = opened->size,
		.clock_name = "",
		.arch = "",
		.cpu_vendor = "",
		.release = "",
		.host = "",
		.instance = "",
	};
	file->trace = trace;
	file->reader = reader;
	file->has_records = trace->has_records;
	file->index = file->info.main = (uint32_t)trace->files.nr - 1;
	file->fd = opened->fd;
	return reader->open(file, &opened->head, why);
}

/* `empty`: the kind to assume for an empty file. */
static int open_file(struct trace *trace, const char *path, enum trace_kind kind,
		     enum trace_kind empty, struct error *why)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	const struct trace_reader *reader = NULL;
	int err = opened ? 0 : -ENOMEM;

	if (!err)
		err = open_path(trace, path, opened, why);
	if (!err) {
		kind = opened->head.len ? kind : empty;
		reader = trace->has_records ?
				 trace_record_reader(kind, &opened->head, opened->path, why) :
				 trace_event_reader(kind, &opened->head);
		err = check_kind(trace, opened, reader, why);
	}
	if (!err)
		err = add_file(trace, opened, reader, why);
	else if (opened && opened->fd >= 0)
		close(opened->fd);
	free(opened);
	return err;
}

static const char *buffer_name(const struct trace_info *info)
{
	return info->instance[0] ? info->instance : "top";
}

/* "top, first, second" */
static void list_buffers(const struct trace *trace, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < trace->files.nr && len < size; i++) {
		const struct trace_file *file = trace->files.items[i];

		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					buffer_name(&file->info));
	}
}

/* 0, or -EINVAL with why if no file has such a buffer. */
static int choose_buffer(struct trace *trace, const char *name, struct error *why)
{
	size_t nr = 0, nr_files = 0;
	char names[160];

	for (size_t i = 0; i < trace->files.nr; i++) {
		struct trace_file *file = trace->files.items[i];

		file->info.is_left_out = strcmp(buffer_name(&file->info), name) != 0;
		file->info.has_events &= !file->info.is_left_out;
		nr_files += !file->info.is_left_out;
	}
	if (nr_files == 0) {
		list_buffers(trace, names, sizeof(names));
		return error_set(why, -EINVAL,
				 "\"%s\": no such buffer; there are: %s", name, names);
	}
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];

		if (source->file->info.is_left_out)
			source->free(source);
		else
			trace->sources.items[nr++] = source;
	}
	trace->sources.nr = nr;
	return 0;
}

const struct trace_info *trace_clock_info(const struct trace *trace)
{
	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];

		if (file->info.has_events)
			return &file->info;
	}
	return trace_file(trace, 0);
}

bool trace_has_two_clocks(const struct trace *trace, const struct trace_info **ret_one,
			  const struct trace_info **ret_other)
{
	const struct trace_info *first = NULL, *info;

	for (size_t i = 0; (info = trace_file(trace, i)); i++) {
		if (info->host_id || !info->has_events)
			continue;
		if (first && strcmp(info->clock_name, first->clock_name) != 0) {
			*ret_one = first;
			*ret_other = info;
			return true;
		}
		first = first ? first : info;
	}
	return false;
}

/* All buffers of a file must have the same clock, and the clocks of all files the same unit. */
static int check_clocks(const struct trace *trace, struct error *why)
{
	const struct trace_info *first = trace_clock_info(trace), *info;

	for (size_t i = 1; (info = trace_file(trace, i)); i++) {
		bool is_one_file = info->main == first->main;

		if (!info->has_events || (info->clock == first->clock &&
		    !(is_one_file && strcmp(info->clock_name, first->clock_name) != 0)))
			continue;
		if (is_one_file)
			return error_set(why, -EINVAL, "%s: its buffers \"%s\" and \"%s\" have "
					 "different clocks (%s, %s): choose one with --buffer",
					 info->path, buffer_name(first), buffer_name(info),
					 first->clock_name, info->clock_name);
		return error_set(why, -EINVAL, "%s and %s have different clocks: read them "
				 "separately", first->path, info->path);
	}
	return 0;
}

/*
 * The kind of the first file that is not empty. The other files are of this kind, or empty:
 * kvmtrace and acrntrace make a file for each CPU, also for idle CPUs.
 */
static enum trace_kind find_kind(const struct trace *trace, const char *const *paths, size_t nr)
{
	struct opened *opened = calloc(1, sizeof(*opened));
	const struct trace_reader *reader = NULL;
	struct stat st;
	struct error why;

	for (size_t i = 0; opened && i < nr && !reader; i++) {
		/* A pipe cannot be read twice. */
		if (stat(paths[i], &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (open_path(trace, paths[i], opened, &why) < 0 || opened->head.len == 0)
			reader = NULL;
		else if (trace->has_records)
			reader = trace_record_reader(TRACE_ANY, &opened->head, paths[i], &why);
		else
			reader = trace_event_reader(TRACE_ANY, &opened->head);
		if (opened->fd >= 0)
			close(opened->fd);
	}
	free(opened);
	return reader ? reader->kind : TRACE_ANY;
}

static struct trace *trace_new(void)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (trace)
		trace->comm = malloc(COMM_SIZE);
	if (trace && trace->comm)
		return trace;
	free(trace);
	return NULL;
}

int trace_open_records(const char *const *paths, size_t nr, enum trace_kind kind,
		       trace_failed *failed, void *arg, struct trace **ret_trace)
{
	struct trace *trace = trace_new();
	enum trace_kind empty = kind;

	if (!trace)
		return -ENOMEM;
	trace->has_records = true;
	if (kind == TRACE_ANY)
		empty = find_kind(trace, paths, nr);
	for (size_t i = 0; i < nr; i++) {
		struct error why = { "" };
		int err = open_file(trace, paths[i], kind, empty, &why);

		if (err == -ENOMEM) {
			trace_close(trace);
			return err;
		}
		if (err)
			failed(arg, err, &why);
	}
	*ret_trace = trace;
	return 0;
}

int trace_open(const char *const *paths, size_t nr, enum trace_kind kind, const char *buffer,
	       struct trace **ret_trace, struct error *why)
{
	struct trace *trace = trace_new();
	enum trace_kind empty;
	int err = 0;

	if (!trace)
		return -ENOMEM;
	empty = kind == TRACE_ANY ? find_kind(trace, paths, nr) : kind;
	if (nr == 0)
		err = error_set(why, -EINVAL, "no recording is named");
	for (size_t i = 0; i < nr && !err; i++)
		err = open_file(trace, paths[i], kind, empty, why);
	if (!err && buffer)
		err = choose_buffer(trace, buffer, why);
	if (!err)
		err = check_clocks(trace, why);
	if (err) {
		trace_close(trace);
		return err;
	}
	*ret_trace = trace;
	return 0;
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];

		source->free(source);
	}
	for (size_t i = trace->files.nr; i-- > 0;) {
		struct trace_file *file = trace->files.items[i];

		if (!is_part(file) && file->reader->close)
			file->reader->close(file);
		if (!is_part(file) && file->fd >= 0)
			close(file->fd);
	}
	free(trace->sources.items);
	free(trace->heap);
	free(trace->comm);
	list_release(&trace->files);
	list_release(&trace->types);
	list_release(&trace->problems);
	list_release(&trace->repeats);
	for (size_t i = 0; i < NR_TRACE_KINDS; i++)
		free(trace->shared[i]);
	free(trace);
}

/* ---- repeats: buffers of one file may have recorded the same events */

/* The first source of a CPU in a file with all its buffers. */
struct first_source {
	struct {
		uint64_t file; /* of the main buffer */
		uint64_t cpu;
	} key;
	struct trace_source *source;
	UT_hash_handle hh;
};

/* Finds or adds the first source of the CPU of this one. NULL: no memory. */
static struct trace_source *first_of_cpu(struct first_source **table, struct trace_source *source)
{
	struct first_source *first, *new;

	new = calloc(1, sizeof(*new));
	if (!new)
		return NULL;
	new->key.file = source->file->info.main;
	new->key.cpu = source->event.cpu;
	new->source = source;
	HASH_FIND(hh, *table, &new->key, sizeof(new->key), first);
	if (first) {
		free(new);
		return first->source;
	}
	hash_add(*table, key, new);
	return source;
}

/* Buffers of one file may have recorded the same events of a CPU. */
static int watch_repeats(struct trace *trace)
{
	struct first_source *table = NULL, *entry, *next;
	int err = 0;

	for (size_t i = 0; i < trace->sources.nr && !err; i++) {
		struct trace_source *source = trace->sources.items[i];
		struct trace_source *first = first_of_cpu(&table, source);

		if (first && first->file == source->file)
			continue;
		if (first && !first->repeats)
			first->repeats = list_new(&trace->repeats, sizeof(struct repeats));
		if (first && first->repeats)
			source->repeats = first->repeats;
		else
			err = -ENOMEM;
	}
	HASH_ITER(hh, table, entry, next) {
		HASH_DEL(table, entry);
		free(entry);
	}
	return err;
}

static bool is_repeat(const struct trace_source *source)
{
	const struct trace_file *file = source->file;

	return repeats_has(source->repeats, file->index - file->info.main, &source->event);
}

/* ---- merging */

static bool is_before(const struct trace_source *a, const struct trace_source *b)
{
	if (a->event.time != b->event.time)
		return a->event.time < b->event.time;
	return a->order < b->order;
}

static inline void sift_down(struct trace *trace, size_t i)
{
	struct trace_source **heap = trace->heap, *source = heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= trace->nr_heap)
			break;
		if (child + 1 < trace->nr_heap && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], source))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = source;
}

/* The first event of every source: 1, or -errno. */
static __attribute__((noinline)) int begin(struct trace *trace)
{
	if (trace->heap)
		return 1; /* at the end */
	if (watch_repeats(trace) < 0)
		return -ENOMEM;
	trace->heap = calloc(trace->sources.nr + 1, sizeof(trace->heap[0]));
	if (!trace->heap)
		return -ENOMEM;
	trace->nr_heap = 0;
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];
		int got = source->next(source);

		if (got < 0)
			return got;
		if (got > 0)
			trace->heap[trace->nr_heap++] = source;
	}
	for (size_t i = trace->nr_heap / 2; i-- > 0;)
		sift_down(trace, i);
	return 1;
}

/*
 * For several sources, and at the begin and the end of one. got: 1 if the last event's source has
 * a new event, 0 if the source has ended.
 */
static __attribute__((noinline)) int merge(struct trace *trace, int got,
					   const struct trace_event **ret_event)
{
	struct trace_source *source;

	for (;;) {
		if (got == 0 && trace->nr_heap)
			trace->heap[0] = trace->heap[--trace->nr_heap];
		if (trace->nr_heap > 1)
			sift_down(trace, 0);
		source = trace->nr_heap ? trace->heap[0] : NULL;
		if (!source || !source->repeats || !is_repeat(source))
			break;
		got = source->next(source);
		if (got < 0)
			return got;
	}
	trace->last = source;
	trace->is_single = source && trace->nr_heap == 1 && !source->repeats;
	if (source)
		*ret_event = &source->event;
	return source != NULL;
}

/* Reads the next event of the last event's source. A single source needs no merging. */
int trace_next(struct trace *trace, const struct trace_event **ret_event)
{
	struct trace_source *source = trace->last;
	int got = source ? source->next(source) : begin(trace);

	if (got < 0)
		return got;
	if (got == 0 || !trace->is_single)
		return merge(trace, got, ret_event);
	*ret_event = &source->event;
	return 1;
}

bool trace_may_wait(const struct trace *trace)
{
	const struct window *window = trace->nr_heap ? trace->heap[0]->window : NULL;

	return window && window_left(window) < RECORD_MAX;
}

/* ---- facts about the trace */

const struct trace_info *trace_file(const struct trace *trace, size_t i)
{
	const struct trace_file *file = i < trace->files.nr ? trace->files.items[i] : NULL;

	return file ? &file->info : NULL;
}

const struct trace_problem *trace_problem(const struct trace *trace, size_t i)
{
	const struct problem *problem = i < trace->problems.nr ? trace->problems.items[i] : NULL;

	return problem ? &problem->problem : NULL;
}

void trace_progress(const struct trace *trace, uint64_t *ret_done, uint64_t *ret_total)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];

		done += file->done;
		total += is_part(file) ? 0 : file->info.size;
	}
	for (size_t i = 0; i < trace->sources.nr; i++) {
		const struct trace_source *source = trace->sources.items[i];

		done += source->window ? window_offset(source->window) : 0;
	}
	*ret_done = done;
	*ret_total = total;
}

const char *trace_comm(const struct trace *trace, const struct trace_event *event)
{
	const struct trace_file *file = trace->files.items[event->file];
	const char *raw = file->reader->comm ? file->reader->comm(event, file) : "";

	if (!utf8_clean(raw, strlen(raw), trace->comm, COMM_SIZE))
		trace->comm[0] = '\0';
	return trace->comm;
}

bool trace_guest(const struct trace *trace, size_t file, size_t i, struct trace_guest *ret_guest)
{
	const struct trace_file *of = trace->files.items[file];

	return of->reader->guest && of->reader->guest(of, i, ret_guest);
}

int64_t trace_guest_of(const struct trace *trace, size_t file, int32_t tid,
		       struct trace_guest *ret_guest, int32_t *ret_vcpu)
{
	for (size_t i = 0; tid >= 0 && trace_guest(trace, file, i, ret_guest); i++) {
		for (size_t vcpu = 0; vcpu < ret_guest->nr_vcpus; vcpu++) {
			if (ret_guest->tids[vcpu] != tid)
				continue;
			*ret_vcpu = (int32_t)vcpu;
			return (int64_t)i;
		}
		for (size_t other = 0; other < ret_guest->nr_others; other++) {
			if (ret_guest->others[other] != tid)
				continue;
			*ret_vcpu = -1;
			return (int64_t)i;
		}
	}
	return -1;
}

uint32_t trace_word(const struct trace *trace, const struct trace_event *event, unsigned int i)
{
	const struct trace_info *info = trace_file(trace, event->file);
	bool is_local_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct trace_field field = {
		.offset = 4 * i,
		.size = 4,
		.flags = info->is_big_endian != is_local_big ? TRACE_FIELD_SWAP : 0,
	};

	return (uint32_t)trace_field_number(&field, event);
}
