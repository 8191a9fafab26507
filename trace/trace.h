/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace - recordings as one stream of events, ordered by time.
 *
 * Reads trace-cmd's trace.dat (versions 6 and 7), perf's perf.data (file mode), the files of ACRN's
 * acrntrace and those of kvmtrace. Several files, and the CPUs in them, are merged. Memory is
 * bounded by what is open at once (CPUs), never by the size of a file.
 *
 *	err = trace_open(paths, nr, TRACE_ANY, &trace, &why);
 *	while ((got = trace_next(trace, &event)) > 0) {
 *		if (!event->type)
 *			event->lost events are missing here;
 *		else if (event->type == my_type)
 *			number = trace_field_number(my_field, event);
 *	}
 *	for (i = 0; (problem = trace_problem(trace, i)); i++)
 *		the rest of this file could not be read;
 *	trace_close(trace);
 *
 * What makes no sense in a file ends that file, not the stream: it becomes a problem with the
 * place it was found at, and the other files go on. Only -ENOMEM is an error of trace_next().
 *
 * A type stays where it is until trace_close(). Whoever wants some of them looks at each new one
 * once (its index says whether it is new), asks for the fields by name then, and compares pointers
 * or indexes from there on.
 */
#ifndef KVMTOP_TRACE_TRACE_H
#define KVMTOP_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/why.h"

enum trace_kind {
	TRACE_ANY,	/* to trace_open(): look what it is */
	TRACE_DAT,	/* trace-cmd */
	TRACE_PERF,	/* perf record, perf kvm stat record */
	TRACE_ACRN,	/* acrntrace: one file for each physical CPU */
	TRACE_KVMTRACE, /* kvmtrace: one file for each CPU */
};

const char *trace_kind_name(enum trace_kind kind); /* "trace.dat", "perf.data", "acrn", ... */

/* By that name, for --input-format. Returns 0, or -EINVAL with why: none of that name. */
int trace_kind_by_name(const char *name, enum trace_kind *ret_kind, struct why *why);

/* What the words of time in a file are. One of them for a whole stream, or it cannot be opened. */
enum trace_clock {
	TRACE_CLOCK_NS,	    /* nanoseconds of some clock of the host */
	TRACE_CLOCK_CYCLES, /* a TSC */
	TRACE_CLOCK_COUNT,  /* trace.dat's "counter": an order, no time */
};

enum {
	TRACE_FIELD_SIGNED = 1 << 0,
	TRACE_FIELD_ARRAY = 1 << 1,   /* of several values, or a string of fixed size */
	TRACE_FIELD_STRING = 1 << 2,  /* text, with TRACE_FIELD_ARRAY or TRACE_FIELD_DYNAMIC */
	TRACE_FIELD_DYNAMIC = 1 << 3, /* its place is in the event: __data_loc */
	TRACE_FIELD_SWAP = 1 << 4,    /* in the byte order that this machine has not */
};

struct trace_field {
	const char *name; /* "exit_reason" */
	uint32_t offset;  /* in the event's data */
	uint32_t size;	  /* bytes, of all of an array */
	unsigned int flags; /* TRACE_FIELD_* */
};

/*
 * One kind of event. Each trace.dat and perf.data of a stream has types of its own, the files of
 * acrn and kvmtrace share theirs.
 */
struct trace_type {
	uint32_t index;	    /* counts from 0 over the whole stream */
	uint32_t file;	    /* see trace_file() */
	uint64_t id;	    /* the file's number for it */
	const char *system; /* "kvm"; "acrn", "kvmtrace" */
	const char *name;   /* "kvm_exit"; "VM_EXIT", "VMEXIT" ...; "unknown" of no known id */
	const struct trace_field *fields;
	size_t nr_fields;
	const char *format; /* the text of its format file for reasons_of(), or NULL */
};

/*
 * One event. Valid, with all it points to, until the next trace_next().
 *
 * acrn: data is the payload of 16 bytes, n_data in `words` (0: the file does not say).
 * kvmtrace: data is the extra words, 4 bytes each, `words` of them.
 */
struct trace_event {
	uint64_t time;	 /* unit: struct trace_info.clock */
	const struct trace_type *type; /* NULL: a loss; then only time, cpu, file, lost are set */
	const void *data; /* the record; of trace.dat, perf.data with common_ fields */
	uint32_t size;	 /* bytes of data */
	uint32_t file;	 /* see trace_file() */
	uint64_t id;	 /* the file's number of the event, also where type says "unknown" */
	uint64_t offset; /* of the record in its file; 0 where nobody knows (trace.dat) */
	int64_t lost;	 /* of a loss: how many, -1: some */
	/*
	 * What does one thing after the other, so that an exit and the next entry belong together:
	 * a thread; of kvmtrace a vCPU, of acrn a vCPU if it says so, else a CPU. A number without
	 * further meaning.
	 */
	uint64_t strand;
	int32_t cpu;	 /* -1 in this and the next three: not known */
	int32_t pid;	 /* the process: perf.data and kvmtrace only; acrn: the VM's number */
	int32_t tid;	 /* the thread: not acrn, not kvmtrace */
	int32_t vcpu;	 /* if this very event says so; others of the strand may */
	uint16_t words;	 /* acrn, kvmtrace: see above */
	bool has_time;	 /* kvmtrace's may have none: then it has the time of the one before it */
};

/* What a file says of itself. Strings are "" and numbers 0 or -1 where it does not. */
struct trace_info {
	enum trace_kind kind;
	const char *path;
	enum trace_clock clock;
	const char *clock_name; /* "local", "mono", "x86-tsc" ... */
	const char *arch;	/* uname's machine, "x86_64" */
	const char *cpu_vendor; /* perf: "GenuineIntel", "AuthenticAMD" ... */
	const char *release;	/* uname's release */
	const char *host;	/* uname's node name */
	const char *instance;	/* trace.dat: the buffer's name, "" for the main one */
	int version;		/* trace.dat: 6, 7 */
	int nr_cpus;
	uint32_t tsc_khz;	/* of a clock in cycles */
	bool is_big_endian;
	uint64_t trace_id;	/* trace.dat: what guest's and host's files name it by */
	uint64_t host_id;	/* of a guest's: the host's trace_id; its times are the host's */
	uint64_t size;		/* bytes; 0: not a plain file */
};

/* A place up to which a file could be read. */
struct trace_problem {
	const char *path;
	uint64_t offset;
	const char *text; /* "record of 8 bytes, needs 32"; without path and offset */
};

struct trace;

/*
 * Opens files as one stream; "-" is standard input, for acrn and kvmtrace. TRACE_ANY finds the kind
 * from what is in them; all must be of one kind and clock. Buffers of a trace.dat (instances) are
 * files of their own in the stream. A guest's trace.dat that trace-cmd recorded together with its
 * host's has the host's time, any other its own.
 *
 * Returns 0, or -errno with why. A file that ends too early opens, and is a problem; so is an empty
 * one among others. A file of no known kind does not open (-EINVAL), nor does a folder (-EISDIR).
 */
int trace_open(const char *const *paths, size_t nr, enum trace_kind kind, struct trace **ret_trace,
	       struct why *why);
void trace_close(struct trace *trace); /* takes NULL */

/* 1 with the next event, 0 at the end, or -errno. */
int trace_next(struct trace *trace, const struct trace_event **ret_event);

/* The i-th file, NULL past the end. What it says may only be known after the first trace_next(). */
const struct trace_info *trace_file(const struct trace *trace, size_t i);

/* The i-th problem so far, NULL past the end. At most one for each file and CPU. */
const struct trace_problem *trace_problem(const struct trace *trace, size_t i);

/* Bytes read of bytes to read, for a progress bar; total 0: nobody knows. */
void trace_progress(const struct trace *trace, uint64_t *ret_done, uint64_t *ret_total);

/*
 * The name of a thread as the recording has it, "" where not; '?' for what nobody should print.
 * Valid until the next one is asked for.
 */
const char *trace_comm(const struct trace *trace, const struct trace_event *event);

/*
 * The guests a host's trace.dat names (kvmtop record, trace-cmd record -A): their names, and which
 * host thread is which vCPU. The i-th of a file, false past the end. tids has nr_vcpus entries, by
 * vCPU.
 */
struct trace_guest {
	const char *name;
	uint64_t trace_id; /* of the guest's own file */
	int32_t pid;	   /* the process, in kvmtop's own recordings; else -1 */
	const int *tids;
	size_t nr_vcpus;
};

bool trace_guest(const struct trace *trace, size_t file, size_t i, struct trace_guest *ret_guest);

/* Which guest a thread belongs to, and as which vCPU: the guest's i, or -1 if a file names none. */
int64_t trace_guest_of(const struct trace *trace, size_t file, int32_t tid,
		       struct trace_guest *ret_guest, int32_t *ret_vcpu);

/* By name; NULL: this type has none. */
const struct trace_field *trace_field(const struct trace_type *type, const char *name);

/* A number of 1, 2, 4 or 8 bytes, else 0; a signed one is extended to 64 bits. */
static inline uint64_t trace_field_number(const struct trace_field *field,
					  const struct trace_event *event)
{
	const uint8_t *at = (const uint8_t *)event->data + field->offset;
	bool is_signed = field->flags & TRACE_FIELD_SIGNED;
	bool swap = field->flags & TRACE_FIELD_SWAP;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	if (field->offset > event->size || field->size > event->size - field->offset)
		return 0;
	switch (field->size) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)*at : *at;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		u16 = swap ? __builtin_bswap16(u16) : u16;
		return is_signed ? (uint64_t)(int16_t)u16 : u16;
	case 4:
		memcpy(&u32, at, sizeof(u32));
		u32 = swap ? __builtin_bswap32(u32) : u32;
		return is_signed ? (uint64_t)(int32_t)u32 : u32;
	case 8:
		memcpy(&u64, at, sizeof(u64));
		return swap ? __builtin_bswap64(u64) : u64;
	default:
		return 0;
	}
}

/*
 * Where an array, a string or a dynamic field lies, and how many bytes it has there; NULL when
 * that is outside the event. A string need not end in a NUL.
 */
const void *trace_field_data(const struct trace_field *field, const struct trace_event *event,
			     size_t *ret_size);

/* The i-th extra word of kvmtrace or acrn in this machine's byte order; 0 where there is none. */
uint32_t trace_word(const struct trace *trace, const struct trace_event *event, unsigned int i);

#endif
