/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reader - the inside of a stream of recordings, and the interface to the readers of each kind.
 *
 * A reader is one file that exports a `const struct trace_reader`, listed in open.c. It opens a
 * file as one or several sources, each in order of time (a CPU of it, as a rule); trace.c merges
 * them.
 */
#ifndef KVMTOP_TRACE_RECORDING_READER_H
#define KVMTOP_TRACE_RECORDING_READER_H

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/error.h"
#include "host/kallsyms.h"
#include "trace/recording/event.h"

/* One file of the stream. */
struct trace_file {
	struct trace_info info;
	struct trace *trace;
	const struct trace_reader *reader;
	uint32_t index;
	int fd;	       /* closed by trace.c */
	char *folder;  /* the recording is this folder; NULL: it is a file */
	char *name;    /* of this file in the folder */
	void *priv;    /* the reader's; of a further buffer the main one's, as fd and types */
	struct event_types *types; /* trace.dat, perf.data: what its priv has of them; else NULL */
	struct trace_guest *guests; /* a further buffer has the main one's */
	size_t nr_guests, guests_room;
	struct guest_tid *guest_tids; /* of all of them, sorted; made when one is looked for */
	size_t nr_guest_tids;
	struct kallsyms *symbols; /* of the kernel; NULL: none, or has_looked is not set yet */
	bool has_looked;
	uint64_t done; /* bytes read, for the progress */
	uint64_t first_time, last_time; /* of the events that were given out, of any at all: */
	bool has_given;
};

#define REPEATS_EVENTS 16

/*
 * The last events of a CPU, in all buffers of a trace.dat. Two buffers that recorded an event have
 * it with the same content, each with the time at which it was written there. On a CPU these times
 * differ by what it takes to write an event, or by an interrupt; on a host that is a guest itself
 * by some ms, for which its vCPU has no CPU. Zero-initialised is empty.
 */
struct repeats {
	struct {
		uint64_t time, hash; /* hash: of the content */
		uint64_t buffers;    /* a bit for each buffer that had the event */
	} events[REPEATS_EVENTS];
	unsigned int next; /* in events: the oldest, which the next event replaces */
};

#define REPEATS_UNITS 10000000 /* of the clock: repeats that are further apart are two events */
#define REPEATS_BUFFERS 64 /* in each file; events of further buffers are no repeats */

/* Whether the event of this buffer is a repeat of another buffer's. Keeps it if not. */
bool repeats_has(struct repeats *repeats, unsigned int buffer, const struct trace_event *event);

/* Yields events of one file in order of time. Each reader's own structure begins with it. */
struct trace_source {
	struct trace_event event; /* the current one */
	struct trace_file *file;
	struct window *window; /* acrn, kvmtrace: what it reads; else NULL */
	uint32_t order; /* of two events of the same time, the one with the lower order is first */
	/* Sets event to the next one. False: at the end, or where the file is damaged. */
	bool (*next)(struct trace_source *source);
	void (*free)(struct trace_source *source);
	struct repeats *repeats; /* of its file and CPU, if several buffers have the CPU */
	uint64_t key; /* of its file and CPU */
	UT_hash_handle hh;
};

/* The first bytes of a file, which show its kind. */
struct head {
	const uint8_t *bytes;
	size_t len; /* less than HEAD_SIZE: the whole file */
};

#define FOLDER_HEAD "data" /* of a recording that is a folder: the file that is opened first */

#define HEAD_SIZE 4096

struct trace_reader {
	enum trace_kind kind;
	const char *name;
	bool reads_pipes, has_events, has_records; /* events: trace_open() */
	bool reads_folders;
	bool (*is_kind)(const struct head *head);
	/*
	 * Sets file->info and adds sources. fd is at the file's begin; the first bytes of a pipe
	 * are in `head`. Damage inside the file is a problem, not an error.
	 */
	int (*open)(struct trace_file *file, const struct head *head, struct error *error);
	void (*close)(struct trace_file *file); /* after its sources; NULL: nothing to do */
	/*
	 * The kernel's list of symbols as it is in /proc/kallsyms, with a NUL after ret_size bytes,
	 * to be freed. NULL: the file has none. The member may be NULL.
	 */
	char *(*read_symbols)(struct trace_file *file, size_t *ret_size);
	/* See trace_locate() and trace_count_maps(); NULL: there are no stacks. */
	bool (*locate)(const struct trace_file *file, const struct trace_event *event,
		       uint64_t address, bool is_kernel, struct trace_place *ret_place);
	uint32_t (*count_maps)(const struct trace_file *file, const struct trace_event *event);
};

/* The readers, for the list in open.c. */
extern const struct trace_reader trace_dat_reader, perf_data_reader, acrn_reader, kvmtrace_reader;

/* Whether the bytes look like records of ACRN's, though no event is known. */
bool acrn_looks_like(const struct head *head);

/* Pointers to the items stay valid when the list grows. */
struct trace_list {
	void **items;
	size_t nr, room;
};

/* What has a time, as a binary heap: the earliest is at 0. Zero-initialised is empty. */
struct queue {
	struct queued {
		uint64_t time, order; /* of the same time, the one with the lower order is first */
		void *item;
	} *heap;
	size_t nr, room;
};

static inline bool queued_before(const struct queued *a, const struct queued *b)
{
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static inline void queue_add(struct queue *queue, const struct queued *added)
{
	size_t i = queue->nr++;

	array_grow_unset(&queue->heap, &queue->room, queue->nr);
	for (; i > 0 && queued_before(added, &queue->heap[(i - 1) / 2]); i = (i - 1) / 2)
		queue->heap[i] = queue->heap[(i - 1) / 2];
	queue->heap[i] = *added;
}

/* The first one goes; another one may come into its place. NULL: none does. */
static inline void queue_replace(struct queue *queue, const struct queued *by)
{
	struct queued *heap = queue->heap, added = by ? *by : heap[--queue->nr];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < queue->nr; i = child) {
		if (child + 1 < queue->nr && queued_before(&heap[child + 1], &heap[child]))
			child++;
		if (queued_before(&added, &heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = added;
}

struct trace {
	struct trace_list files, pieces, types, problems, sources, repeats;
	struct queue queue; /* sources with an event: the first one's was given last */
	bool has_begun;
	bool has_records;  /* trace_open_records(): each record is given out as it is */
	bool wants_stacks; /* see trace_want_stacks() */
};

/* Adds a zeroed item of `size` bytes at the end. */
void *trace_list_add(struct trace_list *list, size_t size);

/* A further file after this one: another buffer of it. */
struct trace_file *trace_add_part(struct trace_file *file);

/*
 * A further file of a recording that is a folder, with problems and progress of its own. Events in
 * it are events of the main file: of sources that were added for that.
 */
struct trace_file *trace_add_piece(struct trace_file *file, int fd, const char *name,
				   uint64_t size);

/* Whether it is a further buffer: the main one holds fd and priv. */
static inline bool trace_is_part(const struct trace_file *file)
{
	return file->index != file->info.main;
}

/*
 * Adds a source of `size` bytes, which its free() releases: a reader's structure that begins with
 * it. Of the event all is unknown but the file.
 */
void *trace_add_source(struct trace_file *file, size_t size,
		       bool (*next)(struct trace_source *source),
		       void (*release)(struct trace_source *source));

/* The type's strings and fields stay the caller's. */
const struct trace_type *trace_add_type(struct trace *trace, const struct trace_type *type);

/* Adds a problem: at which offset a file is damaged, and how. */
void trace_add_problem(struct trace_file *file, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a problem: why a file could not be opened. */
void trace_add_failure(struct trace *trace, const char *line);

/* A text of the file, of `size` bytes with its NUL, is made fit to be shown: see utf8_clean(). */
void trace_clean_text(char *text, size_t size);

/*
 * ---- the bytes of a recording: numbers at an address, a cursor to read from an offset, and a
 * window for files that are read from begin to end
 */

#define IS_BIG_HERE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* Numbers at addresses that need not be aligned; swap: not in this machine's byte order. */
static inline uint16_t bytes_u16(const uint8_t *at, bool swap)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap16(value) : value;
}

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

/* Reads up to `size` bytes at an offset of the file: how many there were, or -errno. */
ssize_t bytes_read(const struct trace_file *file, void *buf, size_t size, uint64_t offset);

#define CURSOR_TEXT_MAX (1 << 20) /* bytes of most texts */

/*
 * An offset in a file, or in memory, to read from. After an error the cursor stays at its offset,
 * and what is read is 0 or "": callers check err once, after several reads.
 */
struct cursor {
	struct trace_file *file;
	uint64_t at;
	int err; /* -EINVAL: the file has ended or makes no sense; or another -errno of a read */
	bool swap; /* the file's numbers are not in this machine's byte order */
	/* If set, this is read instead of the file; `at` counts from its begin. */
	const uint8_t *memory;
	uint64_t size;
};

uint64_t cursor_end(const struct cursor *cursor); /* where the file, or the memory, ends */
void cursor_get(struct cursor *cursor, void *buf, size_t size);
uint16_t cursor_u16(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
void cursor_skip(struct cursor *cursor, uint64_t size);
void cursor_name(struct cursor *cursor, char *name, size_t size); /* up to a NUL */
/* A text of `size` bytes and a NUL after it, to be freed; or NULL. most: larger is damage. */
char *cursor_text(struct cursor *cursor, uint64_t size, size_t most);
/* What was read must be so, else it is an error. Returns whether there was none so far. */
bool cursor_check(struct cursor *cursor, bool makes_sense);

/*
 * A file of any size, or a pipe, read piece by piece. Hands out pointers into the piece that was
 * read last, which hold until more is wanted: nothing is copied for each record.
 */
struct window {
	const uint8_t *at, *end; /* what is left of the piece */
	uint64_t offset;	 /* of `end` in the file */
	uint64_t limit;		 /* in the file: no more is read; UINT64_MAX: there is none */
	uint8_t *buf;
	size_t room; /* bytes of buf */
	struct trace_file *file;
	int err; /* -errno of a read that failed, else 0 */
};

#define WINDOW_PIECE (256 * 1024) /* bytes; the fastest size between 32 KiB and 4 MiB */

/* From `head` on, which was just read from the file. Reads pieces of about `piece` bytes. */
void window_init(struct window *window, struct trace_file *file, const struct head *head,
		 size_t piece);
void window_release(struct window *window);

/* Goes to an offset of a plain file, to read up to a limit. */
void window_seek(struct window *window, uint64_t offset, uint64_t limit);

static inline size_t window_left(const struct window *window)
{
	return (size_t)(window->end - window->at);
}

#define WINDOW_WANT_MAX 65536

bool window_read(struct window *window, size_t size);

/* Reads more if need be: whether there are `size` bytes, at most WINDOW_WANT_MAX, at window->at. */
static inline bool window_want(struct window *window, size_t size)
{
	return window_left(window) >= size || window_read(window, size);
}

/*
 * At the end of a file's records: what keeps the file from being read to its end, an incomplete
 * record of `size` bytes, or that there is nothing, is a problem of the file. Gives the memory
 * back. Returns false.
 */
bool window_end(struct window *window, size_t size);

/* The offset of window->at in the file. */
static inline uint64_t window_offset(const struct window *window)
{
	return window->offset - window_left(window);
}

#endif
