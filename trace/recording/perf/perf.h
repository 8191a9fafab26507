/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf - perf.data: its header, its records one after the other, and the fields of samples.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, uapi/linux/perf_event.h.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_PERF_H
#define KVMTOP_TRACE_RECORDING_PERF_PERF_H

#include <zstd.h>

#include "lib/hash.h"
#include "trace/recording/event_types.h"

#define PERF_MAGIC "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"
#define PERF_MAGIC_SIZE 8
#define PERF_PIPE_HEADER_SIZE 16 /* of the whole header if perf wrote to a pipe */
#define PERF_NAME_SIZE 128
#define PERF_ATTRS_MAX 4096
#define STACK_PERIOD UINT64_MAX
#define PERF_IDS_MAX (1u << 22) /* an id for each event on each CPU */

/* ---- the header; if perf wrote to a pipe, parts of it are among the records */

/* Where fields of one word each are, counted in words of 8 bytes; -1: the record has no such. */
struct perf_places {
	int8_t nr; /* words that are there, also of fields that kvmtop does not need */
	int8_t thread, time, cpu, id, period;
};

/* Which fields the samples of an event have. */
struct perf_layout {
	uint64_t sample_type, read_format;
	/* The time that a sample stands for, in ns; STACK_PERIOD: its period; 0: none. */
	uint64_t stack_ns;
	struct perf_places sample; /* from the sample's begin */
	struct perf_places last; /* at the end of other records, from the first of them */
	bool has_sample_id; /* records other than samples have time, thread and CPU, too */
};

/*
 * An event by its id: the kernel gives an event one for each CPU, each thread, or both. Only events
 * that do not have the first layout.
 */
struct perf_id {
	uint64_t id;
	uint32_t layout;
	UT_hash_handle hh;
};

/* ---- samples */

/* The fields of a record that kvmtop needs. */
struct perf_sample {
	uint64_t time;
	int32_t pid, tid, cpu;
	uint32_t raw_size;
	const uint8_t *raw; /* NULL: none */
	uint64_t period;
	bool is_of_several; /* stands for several events */
	const uint8_t *chain; /* NULL: no stack, or it stands for no time */
	uint32_t nr_chain;
	uint64_t stack_ns;
	uint64_t id; /* of the sample's own event; 0: the sample does not have it */
	/* The type and flags of a record that changes maps; raw is the rest, id its offset. */
	uint32_t map_type;
	uint16_t map_misc;
};

/* ---- samples and losses that wait until no earlier one can come */

struct perf_entry {
	struct perf_sample sample; /* it points to bytes */
	int64_t lost; /* 0: a sample */
	uint8_t *bytes;
	size_t room;
	uint64_t order; /* of two records of the same time, the one with the lower order is first */
	struct perf_entry *next; /* of its run, or in the list of free entries */
};

/* Zero-initialised is empty. */
struct perf_waiting {
	struct queue runs; /* lists of entries sorted by time and order */
	struct perf_entry *latest; /* the end of the run that grows; NULL: none does */
	struct perf_entry *free;
	size_t bytes; /* of all entries */
	uint64_t order; /* of the next entry */
};

/* A new entry is dropped after use, and used again. Drop takes NULL. */
struct perf_entry *perf_waiting_new(struct perf_waiting *waiting);
void perf_waiting_drop(struct perf_waiting *waiting, struct perf_entry *entry);

/* Copies the bytes of the entry's sample, and adds the entry. */
void perf_waiting_add(struct perf_waiting *waiting, struct perf_entry *entry, int64_t lost);

/* Takes the earliest entry out, of at least one. */
struct perf_entry *perf_waiting_take(struct perf_waiting *waiting);

void perf_waiting_release(struct perf_waiting *waiting);

struct perf_piece;

/*
 * ---- maps.c: where the code of processes and of the kernel is, as records say. Zero-initialised
 * is nowhere.
 */
#define PERF_MAPS_MAX (1u << 20) /* parts of maps and of long paths, and processes: some 230 MB */

struct perf_maps {
	struct perf_waiting waiting; /* records, until an event has their time */
	struct process_maps *processes; /* a hash */
	struct file_id *ids;		/* a hash: the build ids of files */
	size_t nr_ids, nr;		/* nr: parts of all maps, and of their paths */
	uint64_t nr_left_out;		/* records without room for them */
	uint64_t left_out_at;		/* the offset of the first of them */
};

/* Takes records MMAP, MMAP2, COMM, FORK and EXIT of a time, and the feature that has build ids. */
void perf_maps_take(struct perf_maps *maps, const struct perf_piece *piece, uint64_t time,
		    bool swap);
void perf_maps_take_ids(struct perf_maps *maps, struct cursor *cursor, uint64_t size);

/* The reader's functions, see trace_locate(), trace_count_maps() and trace_symbols(). */
bool perf_maps_locate(const struct trace_file *file, const struct trace_event *event,
		      uint64_t address, bool is_kernel, struct trace_place *ret_place);
uint32_t perf_maps_count(const struct trace_file *file, const struct trace_event *event);
char *perf_maps_symbols(struct trace_file *file, size_t *ret_size);
void perf_maps_release(struct perf_maps *maps);

struct perf_header {
	bool swap;
	struct perf_maps maps;
	bool is_piped; /* perf wrote to a pipe: the members below come from records */
	bool has_pieces; /* perf record --threads: the folder has further files with records */
	bool has_members; /* events without samples, see perf_header_read() */
	uint64_t data_at, data_size;
	struct perf_layout *layouts;
	size_t nr_layouts, layouts_room;
	struct perf_id *ids; /* a hash */
	uint64_t nr_ids; /* of all layouts */
	char clock[32], vendor[32], arch[PERF_NAME_SIZE], release[PERF_NAME_SIZE],
		host[PERF_NAME_SIZE];
};

/*
 * Reads the header, sets file->info, and parses the formats into file->types. 0, or -errno with
 * error. Damage is a problem of the file, and what was read before the damage is kept. So are
 * events that have no samples, because perf only counted them (perf record -e '{a,b}:S'). A stream
 * is refused unless perf wrote it to a pipe.
 */
int perf_header_read(struct trace_file *file, const struct head *head, bool is_stream,
		     struct perf_header *header, struct error *error);
void perf_header_release(struct perf_header *header);

/* The layout of the event with this id, or else the first layout; there must be one. */
const struct perf_layout *perf_header_layout(const struct perf_header *header, uint64_t id);

/*
 * Takes a part of the header that perf writes among the records: an event with its ids, or a
 * feature. A damaged one, or any other record, is skipped.
 */
void perf_header_take(struct trace_file *file, struct perf_header *header,
		      const struct perf_piece *piece);
/* The formats, which follow a record of a pipe. */
void perf_header_add_formats(struct trace_file *file, const uint8_t *at, size_t size);

/* ---- records, one after the other, also those in compressed records (perf record -z) */

#define PERF_RECORD_HEADER_SIZE 8
#define PERF_RECORD_MAX 65536 /* a record's size has 16 bits */

/* Zero-initialised, except file, swap, window and room. */
struct perf_records {
	struct trace_file *file;
	struct window window;
	bool swap;
	uint8_t *inflated; /* what compressed records have in them */
	size_t room;	   /* bytes of inflated: at least twice PERF_RECORD_MAX */
	size_t at, end;	   /* in inflated: the part that was not returned yet */
	ZSTD_DStream *inflater;
	ZSTD_inBuffer packed; /* the data to uncompress next, in the window */
	bool is_inflating;
	uint64_t record_at; /* offset of the current record, or of the compressed record around */
};

/* One record, valid until the next one. */
struct perf_piece {
	uint32_t type;
	uint16_t misc; /* flags; their meaning depends on the type */
	const uint8_t *at; /* after the record's header */
	size_t size;
	uint64_t offset; /* in the file */
};

/* The next record. False: at the end, or at a damaged record, which is a problem of the file. */
bool perf_records_next(struct perf_records *records, struct perf_piece *ret_piece);

/*
 * Reads `size` bytes of data that is not a record, after a record. The caller frees *ret_data;
 * ret_data NULL: the data is skipped. False: the file has fewer bytes, which is a problem of it.
 */
bool perf_records_data(struct perf_records *records, uint64_t size, uint8_t **ret_data);

void perf_records_release(struct perf_records *records);

/* ---- folders */

/*
 * Adds the files data.0, data.1 ... of the folder as pieces of the file. What is missing or cannot
 * be opened is a problem. Returns how many were added.
 */
size_t perf_folder_open(struct trace_file *file);

/* ---- reading samples */

/* Parses a sample of `size` bytes at `at`, after the record's header. False: it is damaged. */
bool perf_sample_read(const struct perf_header *header, const uint8_t *at, size_t size,
		      struct perf_sample *ret_sample);

/* Parses the fields at the end of a record that is not a sample. */
void perf_sample_read_last(const struct perf_header *header, const uint8_t *at, size_t size,
			   struct perf_sample *ret_sample);

/* The addresses of the kernel and of the process in a sample that has a stack. */
void perf_sample_stack(const struct perf_sample *sample, bool swap, struct trace_stack *stack);

/* Sets where the fields are, which the sample type says. */
void perf_layout_find_places(struct perf_layout *layout);

#endif
