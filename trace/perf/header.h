/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header - what perf.data says before its records, or among them when it was written to a pipe.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, uapi/linux/perf_event.h.
 */
#ifndef KVMTOP_TRACE_PERF_HEADER_H
#define KVMTOP_TRACE_PERF_HEADER_H

#include "trace/tracing_data.h"

#define PERF_NAME_SIZE 128
#define PERF_ATTRS_MAX 4096

/* Where things are in a sample, by the event's sample_type. */
struct perf_layout {
	uint64_t sample_type, read_format;
	bool has_sample_id; /* records that are no samples say when and where, too */
};

/* Events by the number that the kernel gave each: several layouts are rare. */
struct perf_id {
	uint64_t id;
	uint32_t layout;
};

struct perf_header {
	bool swap;
	bool is_piped; /* written to a pipe: what else is here comes as records */
	uint64_t data_at, data_size;
	struct perf_layout *layouts;
	size_t nr_layouts, layouts_room;
	struct perf_id *ids; /* sorted */
	size_t nr_ids, ids_room;
	char clock[32], vendor[32], arch[PERF_NAME_SIZE], release[PERF_NAME_SIZE],
		host[PERF_NAME_SIZE];
};

/*
 * Reads the header into it, sets file->info, and parses the formats into types. 0, or -errno; what
 * makes no sense is a problem of the file's, and what was found before it remains. A stream can
 * only be what perf wrote to a pipe.
 */
int perf_header_read(struct trace_file *file, const struct head *head, bool is_stream,
		     struct perf_header *header, struct tep_types *types, struct why *why);
void perf_header_release(struct perf_header *header);

/* That of the event of this id, or the first; there are some. */
const struct perf_layout *perf_header_layout(const struct perf_header *header, uint64_t id);

/* Of a file that was written to a pipe: its header's size, which is all there is. */
#define PERF_PIPE_HEADER_SIZE 16

/*
 * What perf puts among the records then: an event with its ids, a feature, the formats. 0 also
 * where it makes no sense to us (then it is left out), or -ENOMEM.
 */
int perf_header_add_attr(struct trace_file *file, struct perf_header *header, const uint8_t *at,
			 size_t size);
int perf_header_add_feature(struct trace_file *file, struct perf_header *header,
			    struct tep_types *types, const uint8_t *at, size_t size);
int perf_header_add_formats(struct trace_file *file, struct tep_types *types, const uint8_t *at,
			    size_t size);

#endif
