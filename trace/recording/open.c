// SPDX-License-Identifier: GPL-2.0-or-later
/* The kinds of recordings, and opening files with the reader of their kind. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "trace/recording/reader.h"
#include "trace/recording/trace.h"

#define RECORD_LEAST 32 /* bytes to read from a pipe to find its kind */
#define CTF "a trace of LTTng's kind (CTF): record with kvmtop, perf or trace-cmd instead"

/* ---- kinds */

/* In this order a file's head is looked at: only the first two kinds always have a mark. */
static const struct trace_reader *const readers[] = {
	&trace_dat_reader, &perf_data_reader, &kvmtrace_reader, &acrn_reader,
};

static bool reads(const struct trace_reader *reader, bool has_records)
{
	return has_records ? reader->has_records : reader->has_events;
}

static const struct trace_reader *by_kind(enum trace_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (readers[i]->kind == kind)
			return readers[i];
	}
	return NULL;
}

const char *trace_kind_name(enum trace_kind kind)
{
	const struct trace_reader *reader = by_kind(kind);

	return reader ? reader->name : "any";
}

int trace_kind_by_name(const char *name, bool has_records, enum trace_kind *ret_kind,
		       struct error *error)
{
	char names[80] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if (!reads(readers[i], has_records))
			continue;
		if (strcmp(readers[i]->name, name) == 0) {
			*ret_kind = readers[i]->kind;
			return 0;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					readers[i]->name);
	}
	return error_set(error, -EINVAL, "\"%s\": the format must be one of %s", name, names);
}

/*
 * Control characters but white space are in no text. Each record has zero bytes: the high bytes of
 * kvmtrace's vCPU, of ACRN's event number.
 */
static bool is_text(const struct head *head)
{
	for (size_t i = 0; i < head->len; i++) {
		if (head->bytes[i] < ' ' && !isspace(head->bytes[i]))
			return false;
	}
	return head->len > 0;
}

/* By a file's first bytes. Records of no known event are kvmtrace's: its old files have no mark. */
static const struct trace_reader *find_reader(const struct head *head, bool has_records)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		if ((readers[i]->has_events || has_records) && readers[i]->is_kind(head))
			return readers[i];
	}
	if (!has_records || !head->len || is_text(head))
		return NULL;
	return acrn_looks_like(head) ? &acrn_reader : &kvmtrace_reader;
}

/* ---- files */

/* A file that is being opened. */
struct opened {
	const char *path;
	char *folder; /* the path is this folder; NULL: it is a file, or given away */
	int fd; /* -1: not open, or given away */
	const struct trace_reader *reader; /* NULL: the file is empty or unknown */
	struct stat st;
	uint8_t bytes[HEAD_SIZE];
	struct head head;
};

static int read_head(struct opened *opened, size_t least, struct error *error)
{
	while (opened->head.len < least) {
		ssize_t got = read(opened->fd, opened->bytes + opened->head.len,
				   HEAD_SIZE - opened->head.len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set(error, -errno, "%s: %s", opened->path, strerror(errno));
		if (got == 0)
			break;
		opened->head.len += (size_t)got;
	}
	return 0;
}

/*
 * Goes from the folder to the file in it that has the header. Not a pipe: opening one waits for its
 * writer.
 */
static int enter_folder(struct opened *opened, struct error *error)
{
	int fd = openat(opened->fd, FOLDER_HEAD, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t len = strlen(opened->path);
	int err = fd < 0 ? -errno : 0;
	bool is_ctf = err == -ENOENT && faccessat(opened->fd, "metadata", F_OK, 0) == 0;

	close(opened->fd);
	opened->fd = fd;
	if (!err && fstat(fd, &opened->st) < 0)
		err = -errno;
	if (!err && !S_ISREG(opened->st.st_mode))
		err = -ENOENT;
	if (is_ctf)
		return error_set(error, -EISDIR, "%s: is " CTF, opened->path);
	if (err == -ENOENT)
		return error_set(error, -EISDIR, "%s: is a folder without a file \"" FOLDER_HEAD
				 "\", so not a recording of perf record --threads", opened->path);
	if (err)
		return error_set(error, err, "%s/" FOLDER_HEAD ": %s", opened->path,
				 strerror(-err));
	while (len > 1 && opened->path[len - 1] == '/')
		len--;
	opened->folder = xasprintf("%.*s", (int)len, opened->path);
	return 0;
}

static void release_opened(struct opened *opened)
{
	free(opened->folder);
	if (opened->fd >= 0)
		close(opened->fd);
	opened->folder = NULL;
	opened->fd = -1;
}

/* Opens a path, or standard input, and reads the first bytes. */
static int open_path(struct opened *opened, const char *path, bool has_records, struct error *error)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int err = 0;

	*opened = (struct opened){ .path = is_stdin ? "standard input" : path };
	opened->head.bytes = opened->bytes;
	opened->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (opened->fd < 0 || fstat(opened->fd, &opened->st) < 0)
		return error_set(error, -errno, "%s: %s", opened->path, strerror(errno));
	if (S_ISDIR(opened->st.st_mode) && !is_stdin)
		err = enter_folder(opened, error);
	if (err)
		return err;
	/* Records from a pipe are printed at once, so no more bytes are awaited than needed. */
	return read_head(opened, has_records && !S_ISREG(opened->st.st_mode) ? RECORD_LEAST :
			 HEAD_SIZE, error);
}

/* Its events would be counted twice, though the two paths may differ. */
static int check_once(const struct opened *list, size_t i, struct error *error)
{
	for (size_t k = 0; k < i && !S_ISCHR(list[i].st.st_mode); k++) {
		if (list[k].st.st_dev == list[i].st.st_dev &&
		    list[k].st.st_ino == list[i].st.st_ino)
			return error_set(error, -EEXIST, "%s and %s are one file: name it once",
					 list[k].path, list[i].path);
	}
	return 0;
}

/* What cannot be read, by a file's first bytes. */
static const struct {
	const char *bytes, *what;
} unreadable[] = {
	{ "\x1f\x8b", "compressed with gzip: unpack it first" },
	{ "\xfd" "7zXZ", "compressed with xz: unpack it first" },
	{ "\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first" },
	{ "BZh", "compressed with bzip2: unpack it first" },
	{ "\xc1\x1f\xfc\xc1", CTF },
	{ "/* CTF", CTF },
};

static const char *unreadable_kind(const struct head *head)
{
	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
		size_t len = strlen(unreadable[i].bytes);

		if (head->len >= len && !memcmp(head->bytes, unreadable[i].bytes, len))
			return unreadable[i].what;
	}
	return NULL;
}

static int no_reader(const struct opened *opened, bool has_records, struct error *error)
{
	const char *path = opened->path, *what = unreadable_kind(&opened->head);

	if (!opened->head.len)
		return error_set(error, -EINVAL, "%s: the file is empty", path);
	if (what)
		return error_set(error, -EINVAL, "%s: is %s", path, what);
	if (has_records)
		return error_set(error, -EINVAL,
				 "%s: is text, not records of kvmtrace or ACRN", path);
	if (is_text(&opened->head))
		return error_set(error, -EINVAL,
				 "%s: is text, as trace-cmd report, perf script and "
				 "tracefs print it: give the recording itself (trace.dat, "
				 "perf.data); kvmtop record makes one",
				 path);
	return error_set(error, -EINVAL, "%s: not a recording in a known format; kvmtop -r shows "
			 "histories", path);
}

static int check_reader(const struct trace *trace, const struct opened *opened,
			const struct trace_reader *reader, struct error *error)
{
	const struct trace_file *first = trace->files.nr ? trace->files.items[0] : NULL;

	if (opened->folder && !reader->reads_folders)
		return error_set(error, -EISDIR, "%s: is a folder: name the %s in it", opened->path,
				 reader->name);
	if (!reads(reader, trace->has_records))
		return error_set(error, -EINVAL, "%s: is %s, not records of kvmtrace or ACRN: "
				 "kvmtop report reads it", opened->path, reader->name);
	if (first && first->reader != reader && !trace->has_records)
		return error_set(error, -EINVAL, "%s is %s, but %s is %s: read them separately",
				 first->info.path, first->reader->name, opened->path, reader->name);
	if (!S_ISREG(opened->st.st_mode) && !reader->reads_pipes &&
	    lseek(opened->fd, 0, SEEK_CUR) < 0)
		return error_set(error, -ESPIPE, "%s: a %s cannot be read from a pipe: name the "
				 "file", opened->path, reader->name);
	return 0;
}

/* Takes over the opened one's fd. */
static int add_file(struct trace *trace, struct opened *opened, const struct trace_reader *reader,
		    struct error *error)
{
	struct trace_file *file;
	int err;

	if (!reader)
		return no_reader(opened, trace->has_records, error);
	err = check_reader(trace, opened, reader, error);
	if (err)
		return err;
	file = trace_list_add(&trace->files, sizeof(*file));
	file->info = (struct trace_info){
		.kind = reader->kind,
		.path = opened->folder ? opened->folder : opened->path,
		.size = S_ISREG(opened->st.st_mode) ? (uint64_t)opened->st.st_size : 0,
		.clock_name = "",
		.arch = "",
		.cpu_vendor = "",
		.release = "",
		.host = "",
		.instance = "",
	};
	file->trace = trace;
	file->reader = reader;
	file->index = file->info.main = (uint32_t)trace->files.nr - 1;
	file->fd = opened->fd;
	opened->fd = -1;
	file->folder = opened->folder;
	file->name = opened->folder ? xstrdup(FOLDER_HEAD) : NULL;
	opened->folder = NULL;
	return reader->open(file, &opened->head, error);
}

/* Opens the i-th path of the list and finds its reader. */
static int open_one(const struct trace *trace, struct opened *list, size_t i, const char *path,
		    enum trace_kind kind, struct error *error)
{
	struct opened *opened = &list[i];
	int err = open_path(opened, path, trace->has_records, error);

	if (!err && !trace->has_records)
		err = check_once(list, i, error);
	if (!err)
		opened->reader = kind == TRACE_ANY ?
					 find_reader(&opened->head, trace->has_records) :
					 by_kind(kind);
	if (err)
		release_opened(opened);
	return err;
}

/* Among files of records, one that cannot be opened is a problem: 0. Else returns err. */
static int forgive(struct trace *trace, int err, const struct error *error)
{
	if (!err || !trace->has_records)
		return err;
	trace_add_failure(trace, error->text);
	return 0;
}

/*
 * Empty files get the reader of the first file that is not: kvmtrace and acrntrace make a file for
 * each CPU, also for idle CPUs.
 */
static int open_files(struct trace *trace, const char *const *paths, size_t nr,
		      enum trace_kind kind, struct error *error)
{
	struct opened *list = xcalloc(nr, sizeof(*list));
	const struct trace_reader *first = NULL;
	size_t nr_opened = 0;
	int err = 0;

	for (; nr_opened < nr && !err; nr_opened++) {
		struct opened *opened = &list[nr_opened];

		err = forgive(trace,
			      open_one(trace, list, nr_opened, paths[nr_opened], kind, error),
			      error);
		if (!first && opened->reader && reads(opened->reader, trace->has_records))
			first = opened->reader;
	}
	for (size_t i = 0; i < nr_opened; i++) {
		const struct trace_reader *reader = list[i].head.len ? list[i].reader : first;

		if (list[i].fd >= 0 && !err)
			err = forgive(trace, add_file(trace, &list[i], reader, error), error);
		release_opened(&list[i]);
	}
	free(list);
	return err;
}

bool trace_is_recording(const char *path)
{
	struct opened *opened = xcalloc(1, sizeof(*opened));
	struct error error;
	bool is_one = false;

	if (stat(path, &opened->st) == 0 &&
	    (S_ISREG(opened->st.st_mode) || S_ISDIR(opened->st.st_mode))) {
		const struct trace_reader *reader = open_path(opened, path, false, &error) == 0 ?
						    find_reader(&opened->head, false) : NULL;

		is_one = reader && (!opened->folder || reader->reads_folders);
		release_opened(opened);
	}
	free(opened);
	return is_one;
}

/* ---- buffers and clocks */

const char *trace_buffer_name(const struct trace_info *info)
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
					trace_buffer_name(&file->info));
	}
}

/* 0, or -EINVAL with error if no file has such a buffer. */
static int choose_buffer(struct trace *trace, const char *name, struct error *error)
{
	size_t nr = 0, nr_files = 0;
	char names[160];

	for (size_t i = 0; i < trace->files.nr; i++) {
		struct trace_file *file = trace->files.items[i];

		file->info.is_left_out = strcmp(trace_buffer_name(&file->info), name) != 0;
		file->info.has_events &= !file->info.is_left_out;
		nr_files += !file->info.is_left_out;
	}
	if (nr_files == 0) {
		list_buffers(trace, names, sizeof(names));
		return error_set(error, -EINVAL, "\"%s\": no such buffer; there are: %s", name,
				 names);
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

/* All buffers of a file must have the same clock, and the clocks of all files the same unit. */
static int check_clocks(const struct trace *trace, struct error *error)
{
	const struct trace_info *first = trace_clock_info(trace), *info;

	for (size_t i = 1; (info = trace_file(trace, i)); i++) {
		bool is_one_file = info->main == first->main;

		if (!info->has_events || (info->clock == first->clock &&
		    !(is_one_file && strcmp(info->clock_name, first->clock_name) != 0)))
			continue;
		if (is_one_file)
			return error_set(error, -EINVAL, "%s: its buffers \"%s\" and \"%s\" have "
					 "different clocks (%s, %s): choose one with --buffer",
					 info->path, trace_buffer_name(first),
					 trace_buffer_name(info), first->clock_name,
					 info->clock_name);
		return error_set(error, -EINVAL, "%s and %s have different clocks: read them "
				 "separately", first->path, info->path);
	}
	return 0;
}

struct trace *trace_open_records(const char *const *paths, size_t nr, enum trace_kind kind)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));
	struct error error;

	trace->has_records = true;
	open_files(trace, paths, nr, kind, &error);
	return trace;
}

int trace_open(const char *const *paths, size_t nr, enum trace_kind kind, const char *buffer,
	       struct trace **ret_trace, struct error *error)
{
	struct trace *trace = xcalloc(1, sizeof(*trace));
	int err = nr ? open_files(trace, paths, nr, kind, error) :
		       error_set(error, -EINVAL, "no recording is named");

	if (!err && buffer)
		err = choose_buffer(trace, buffer, error);
	if (!err)
		err = check_clocks(trace, error);
	if (err)
		trace_close(trace);
	else
		*ret_trace = trace;
	return err;
}
