/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - the interface between trace.c and the readers of each kind of recording.
 *
 * A reader is one file that exports a `const struct trace_reader`, listed in kinds.c. It opens a
 * file as one or several sources, each in order of time (a CPU of it, as a rule); trace.c merges
 * them.
 */
#ifndef KVMTOP_TRACE_RECORDING_READER_H
#define KVMTOP_TRACE_RECORDING_READER_H

#include "lib/error.h"
#include "trace/recording/event.h"

struct trace;

/* One file of the stream. */
struct trace_file {
	struct trace_info info;
	struct trace *trace;
	const struct trace_reader *reader;
	uint32_t index;
	int fd;	       /* closed by trace.c */
	void *priv;    /* the reader's; of a further buffer the main one's, as fd */
	uint64_t done; /* bytes read, for the progress; not of sources with a window */
	bool has_records; /* trace_open_records(): each record is given out as it is */
};

/* Yields events of one file in order of time. Each reader's own structure begins with it. */
struct trace_source {
	struct trace_event event; /* the current one */
	struct trace_file *file;
	struct window *window; /* acrn, kvmtrace, xentrace: what it reads; else NULL */
	struct repeats *repeats; /* of its file and CPU, where the file has several buffers */
	uint32_t order; /* of two events of the same time, the one with the lower order is first */
	/* Sets event to the next one. 1; 0 at the end or where the file is damaged; or -errno. */
	int (*next)(struct trace_source *source);
	void (*free)(struct trace_source *source);
};

/* The first bytes of a file, which tell its kind. */
struct head {
	const uint8_t *bytes;
	size_t len; /* less than HEAD_SIZE: the whole file */
};

#define HEAD_SIZE 4096

struct trace_reader {
	enum trace_kind kind;
	const char *name;
	bool reads_pipes;
	bool (*is_kind)(const struct head *head);
	/* Readers of records: whether the bytes look like records, though no event is known. */
	bool (*looks_like)(const struct head *head);
	/*
	 * Sets file->info and adds sources. fd is at the file's begin, but for a pipe: its first
	 * bytes are in `head`. Damage inside the file is a problem, not an error.
	 */
	int (*open)(struct trace_file *file, const struct head *head, struct error *why);
	void (*close)(struct trace_file *file); /* after its sources; NULL: nothing to do */
	const char *(*comm)(const struct trace_event *event, const struct trace_file *file);
	bool (*guest)(const struct trace_file *file, size_t i, struct trace_guest *ret_guest);
};

/* The trace takes the source over, and frees it also when this fails: 0 or -ENOMEM. */
int trace_add_source(struct trace *trace, struct trace_source *source);

/* A further file after this one: another buffer of it. NULL: no memory. */
struct trace_file *trace_add_part(struct trace_file *file);

/* The type's strings and fields stay the caller's. NULL: no memory. */
const struct trace_type *trace_add_type(struct trace *trace, const struct trace_type *type);

/* A pointer for each kind, shared by its files; freed with free(). */
void **trace_shared(struct trace_file *file);

/* Adds a problem: at which offset a file is damaged, and how. */
void trace_add_problem(struct trace_file *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A text of the file, of `size` bytes with its NUL, is made fit to be shown: see utf8_clean(). */
void trace_clean_text(char *text, size_t size);

/* A source's event before the first: everything unknown. */
void source_init(struct trace_source *source, struct trace_file *file);

/* For struct trace_source's free: of a source that is the first member, and has a window. */
void source_free_window(struct trace_source *source);

/* The readers, for the lists of kinds.c. */
extern const struct trace_reader trace_dat_reader, perf_data_reader, acrn_reader, kvmtrace_reader,
	xentrace_reader;

/* Numbers at addresses that need not be aligned; swap: not in this machine's byte order. */
static inline uint32_t bytes_u32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t bytes_u64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

#endif
