/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event - an event of a recording, its type and fields, and the head of a file.
 *
 * These are the shapes that the readers of each kind fill, and that users of trace.h look at.
 */
#ifndef KVMTOP_TRACE_RECORDING_EVENT_H
#define KVMTOP_TRACE_RECORDING_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/event_format.h"

enum trace_kind {
	TRACE_ANY,	/* to trace_open(): look what it is */
	TRACE_DAT,	/* trace-cmd */
	TRACE_PERF,	/* perf record, perf kvm stat record */
	TRACE_ACRN,	/* acrntrace: one file for each physical CPU */
	TRACE_KVMTRACE, /* kvmtrace: one file for each CPU */
	NR_TRACE_KINDS,
};

/* The unit of the times in a file. All files of a stream must have the same. */
enum trace_clock {
	TRACE_CLOCK_NS,	    /* nanoseconds of some clock of the host */
	TRACE_CLOCK_CYCLES, /* a TSC */
	TRACE_CLOCK_COUNT,  /* trace.dat's "counter": an order, no time */
};

/* One kind of event. Each file of a stream has types of its own. */
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

#define STACK_ADDRESSES 128 /* of a stack; what is further out is left out */

/* A sample of the code that a thread was in. */
struct trace_stack {
	uint64_t ns; /* the time that it stands for */
	uint32_t nr, nr_kernel; /* addresses; the first nr_kernel of them are the kernel's */
	uint64_t addresses[STACK_ADDRESSES]; /* the innermost first */
};

/* What is at an address of a sample: a byte of a file, or of memory that is like one. */
struct trace_place {
	const char *path; /* "/usr/bin/qemu-system-x86_64", "[kernel.kallsyms]_text", "[vdso]" */
	uint64_t offset;  /* in it; of the kernel from its first byte on */
	uint64_t begin;	  /* of the kernel: the address of that */
	const char *build_id; /* "": not known */
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
	int64_t lost;	 /* of a loss: how many, -1: some */
	/* Not NULL: a sample, which has no data. Only after trace_want_stacks(). */
	const struct trace_stack *stack;
	/*
	 * The key by which an exit is paired with the next entry: a thread; for kvmtrace a vCPU;
	 * for acrn a vCPU if the record names it, else a CPU. The number has no other meaning.
	 */
	uint64_t thread_key;
	int32_t cpu;	 /* -1 here and in the next three members: not known */
	int32_t pid;	 /* the process: perf.data and kvmtrace only; acrn: the VM's number */
	int32_t tid;	 /* the thread: not acrn, not kvmtrace */
	int32_t vcpu;	 /* if this event names it; others of the thread may */
	uint16_t words;	 /* acrn, kvmtrace: see above */
	bool has_time;	 /* false (kvmtrace): time is the last event's */
};

/* What a file says about itself. Strings are "" and numbers 0 or -1 if it does not say. */
struct trace_info {
	enum trace_kind kind;
	const char *path;
	enum trace_clock clock;
	const char *clock_name; /* "local", "mono", "x86-tsc" ... */
	const char *arch;	/* uname's machine, "x86_64" */
	const char *cpu_vendor; /* "GenuineIntel", "AuthenticAMD" ...; not trace.dat */
	const char *release;	/* uname's release */
	const char *host;	/* uname's node name */
	const char *instance;	/* trace.dat: the buffer's name, "" for the main one */
	uint32_t main;		/* trace.dat: which trace_file() is the main buffer of this one */
	bool is_left_out;	/* this buffer was not chosen */
	bool has_events;	/* false: it is empty, or left out */
	int version;		/* trace.dat: 6, 7 */
	int nr_cpus;
	uint32_t tsc_khz;	/* of a clock in cycles */
	bool is_big_endian;
	/* trace.dat: the number by which files of guests and host refer to it */
	uint64_t trace_id;
	uint64_t host_id;	/* of a guest's: the host's trace_id; its times are the host's */
	uint64_t size;		/* bytes; 0: not a plain file */
};

/* A guest that a host's trace.dat names (kvmtop record, trace-cmd record -A). */
struct trace_guest {
	char *name;
	uint64_t trace_id; /* of the guest's own file */
	int32_t pid;	   /* the process, in kvmtop's own recordings; else -1 */
	int *tids;	   /* the host's threads, by vCPU */
	size_t nr_vcpus;
	int *others;	   /* further threads of its process, in kvmtop's own recordings */
	size_t nr_others;
};

/* By name; NULL: this type has none. */
const struct trace_field *trace_field(const struct trace_type *type, const char *name);

/* The number of a field that is signed, or not in this machine's byte order. */
static inline uint64_t trace_field_convert(const struct trace_field *field, uint64_t number)
{
	unsigned int unused = 64 - 8 * field->size;

	if (field->flags & TRACE_FIELD_SWAP)
		number = __builtin_bswap64(number) >> unused;
	if (field->flags & TRACE_FIELD_SIGNED)
		number = (uint64_t)((int64_t)(number << unused) >> unused);
	return number;
}

/* A number of 1, 2, 4 or 8 bytes, else 0; a signed one is extended to 64 bits. */
static inline uint64_t trace_field_number(const struct trace_field *field,
					  const struct trace_event *event)
{
	const uint8_t *at = (const uint8_t *)event->data + field->offset;
	uint64_t number;
	uint32_t u32;
	uint16_t u16;

	if (field->offset > event->size || field->size > event->size - field->offset)
		return 0;
	switch (field->size) {
	case 4:
		memcpy(&u32, at, sizeof(u32));
		number = u32;
		break;
	case 8:
		memcpy(&number, at, sizeof(number));
		break;
	case 2:
		memcpy(&u16, at, sizeof(u16));
		number = u16;
		break;
	case 1:
		number = *at;
		break;
	default:
		return 0;
	}
	if (field->flags & (TRACE_FIELD_SIGNED | TRACE_FIELD_SWAP))
		return trace_field_convert(field, number);
	return number;
}

/*
 * Where an array, a string or a dynamic field lies, and how many bytes it has there; NULL when
 * that is outside the event. A string need not end in a NUL.
 */
const void *trace_field_data(const struct trace_field *field, const struct trace_event *event,
			     size_t *ret_size);

#endif
