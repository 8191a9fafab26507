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

#include "lib/hash.h"
#include "lib/error.h"
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
	uint64_t done; /* bytes read, for the progress */
	uint64_t first_time, last_time; /* of the events that were given out, of any at all: */
	bool has_given;
	bool has_records; /* trace_open_records(): each record is given out as it is */
};

#define REPEATS_EVENTS 16

/*
 * The last events of a CPU, in all buffers of a trace.dat. Two buffers that recorded an event have
 * it with the same content, each with the time at which it was written there. On a CPU these times
 * differ by what it takes to write an event, or by an interrupt. Zero-initialised is empty.
 */
struct repeats {
	struct {
		uint64_t time, hash; /* hash: of the content */
		uint64_t buffers;    /* a bit for each buffer that had the event */
	} events[REPEATS_EVENTS];
	unsigned int next; /* in events: the oldest, which the next event replaces */
};

#define REPEATS_UNITS 1000000 /* of the clock: repeats that are further apart are two events */
#define REPEATS_BUFFERS 64 /* in each file; events of further buffers are no repeats */

/* Whether the event of this buffer is a repeat of another buffer's. Keeps it if not. */
bool repeats_has(struct repeats *repeats, unsigned int buffer, const struct trace_event *event);

/* Yields events of one file in order of time. Each reader's own structure begins with it. */
struct trace_source {
	struct trace_event event; /* the current one */
	struct trace_file *file;
	struct window *window; /* acrn, kvmtrace, xentrace: what it reads; else NULL */
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
	/* Whether the bytes look like records of this kind, though no event is known; or NULL. */
	bool (*looks_like)(const struct head *head);
	/*
	 * Sets file->info and adds sources. fd is at the file's begin, but for a pipe: its first
	 * bytes are in `head`. Damage inside the file is a problem, not an error.
	 */
	int (*open)(struct trace_file *file, const struct head *head, struct error *error);
	void (*close)(struct trace_file *file); /* after its sources; NULL: nothing to do */
};

/* The readers, for the list in open.c. */
extern const struct trace_reader trace_dat_reader, perf_data_reader, acrn_reader, kvmtrace_reader,
	xentrace_reader;

/* Pointers to the items stay valid when the list grows. */
struct trace_list {
	void **items;
	size_t nr, room;
};

struct trace {
	struct trace_list files, pieces, types, problems, sources, repeats;
	/* The sources with an event, as a binary heap: the event given last is at 0. */
	struct trace_source **heap; /* NULL: no event was given yet */
	size_t nr_heap;
	bool has_records;
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

#endif
