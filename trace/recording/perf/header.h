/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header - the header of perf.data. If perf wrote to a pipe, parts of it are among the records.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, uapi/linux/perf_event.h.
 */
#ifndef KVMTOP_TRACE_RECORDING_PERF_HEADER_H
#define KVMTOP_TRACE_RECORDING_PERF_HEADER_H

#include "lib/hash.h"
#include "trace/recording/tracing_data.h"

#define PERF_NAME_SIZE 128
#define PERF_ATTRS_MAX 4096
#define PERF_IDS_MAX (1u << 22) /* of a pipe: an id for each event on each CPU */

/* Which fields the samples of an event have. */
struct perf_layout {
	uint64_t sample_type, read_format;
	bool has_sample_id; /* records other than samples have time, thread and CPU, too */
	bool counts_by_thread; /* counts in samples are of the sample's thread, whatever their id */
};

/*
 * An event by its id: the kernel gives an event one for each CPU, each thread, or both. Only events
 * that do not have the first layout, or have a group's counts in their samples.
 */
struct perf_id {
	uint64_t id;
	uint32_t layout;
	uint16_t tracepoint; /* its number; 0: it is none */
	bool is_of_thread; /* of one thread; else it may be of all threads of a CPU */
	UT_hash_handle hh;
};

struct perf_header {
	bool swap;
	bool is_piped; /* perf wrote to a pipe: the members below come from records */
	uint64_t data_at, data_size;
	struct perf_layout *layouts;
	size_t nr_layouts, layouts_room;
	struct perf_id *ids; /* a hash */
	uint64_t nr_ids; /* of all layouts */
	char clock[32], vendor[32], arch[PERF_NAME_SIZE], release[PERF_NAME_SIZE],
		host[PERF_NAME_SIZE];
};

/*
 * Reads the header, sets file->info, and parses the formats into types. 0, or -errno with why.
 * Damage is a problem of the file, and what was read before the damage is kept. A stream is refused
 * unless perf wrote it to a pipe.
 */
int perf_header_read(struct trace_file *file, const struct head *head, bool is_stream,
		     struct perf_header *header, struct event_types *types, struct error *why);
void perf_header_release(struct perf_header *header);

/* The layout of the event with this id, or else the first layout; there must be one. */
const struct perf_layout *perf_header_layout(const struct perf_header *header, uint64_t id);

/* NULL: not known. */
const struct perf_id *perf_header_id(const struct perf_header *header, uint64_t id);

/* Takes a record of perf's that says which CPU and which thread each id is of. */
void perf_header_take_index(struct perf_header *header, const uint8_t *at, size_t size);

/* The size of the whole header if perf wrote to a pipe. */
#define PERF_PIPE_HEADER_SIZE 16

/*
 * Add parts of the header that perf writes among the records of a pipe: an event with its ids, a
 * feature, the formats. A damaged or unknown part is skipped. 0 or -ENOMEM.
 */
int perf_header_add_attr(struct trace_file *file, struct perf_header *header, const uint8_t *at,
			 size_t size);
int perf_header_add_feature(struct trace_file *file, struct perf_header *header,
			    struct event_types *types, const uint8_t *at, size_t size);
int perf_header_add_formats(struct trace_file *file, struct event_types *types, const uint8_t *at,
			    size_t size);

#endif
