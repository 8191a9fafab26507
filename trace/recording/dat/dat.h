/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat - an open trace.dat of version 6 or 7, and the functions that both versions need.
 *
 * The functions return 0, -EINVAL if the file is truncated or damaged, or another -errno.
 */
#ifndef KVMTOP_TRACE_RECORDING_DAT_DAT_H
#define KVMTOP_TRACE_RECORDING_DAT_DAT_H

#include "trace/recording/dat/shift.h"
#include "trace/recording/tracing_data.h"

#define DAT_CPUS_MAX 65536
#define DAT_PAGE_MIN 256
#define DAT_PAGE_MAX (1 << 20)

/* The memory of strings in struct trace_info. */
struct dat_strings {
	char clock[32];
	char uname[3][128]; /* host, release, machine */
};

/*
 * kvmtop record makes no file for a guest, and writes the guest's pid as its trace_id. trace-cmd's
 * trace_ids are random numbers of 64 bits.
 */
#define DAT_PID_MAX 0x400000

struct dat_guest {
	char *name;
	uint64_t trace_id;
	int *tids;
	size_t nr_vcpus;
	int *others;
	size_t nr_others;
};

/* The pages of a CPU in the file. */
struct dat_cpu {
	int cpu;
	uint64_t offset, size;
	uint32_t page_size; /* 0: as the file's head has it */
	bool is_compressed; /* the number of chunks, then each chunk: its two sizes, its data */
};

/* A buffer: the main one has no name. */
struct dat_buffer {
	char name[TRACING_NAME_SIZE];
	char clock[32]; /* version 7; "": not said */
	uint64_t offset;
	struct dat_cpu *cpus; /* version 7 */
	size_t nr_cpus;
};

/* Uncompresses a block of `to_size` bytes: 0, -EINVAL if the block is damaged, or -ENOMEM. */
typedef int dat_inflate(const void *from, size_t from_size, void *to, size_t to_size);

/* From a clock's unit to ns: time * mult >> shift. mult 0: times are not converted. */
struct dat_scale {
	uint32_t mult, shift;
};

/* One file with all of its buffers. */
struct dat {
	struct event_types types;
	struct dat_strings strings;
	struct tracing_machine machine;
	dat_inflate *inflate; /* version 7 */
	struct dat_scale tsc;	  /* of the clocks that count cycles */
	struct dat_shift to_host; /* applied before the scale */
	uint64_t add_ns;	  /* added after the scale */
	bool has_late_clock;  /* older trace-cmd: the clock's name follows the table of CPUs */
	struct dat_guest *guests;
	size_t nr_guests, guests_room;
	struct dat_buffer *buffers;
	size_t nr_buffers, buffers_room;
	uint64_t pages_bytes; /* of all CPUs so far */
	uint64_t chunks_bytes; /* version 7: allocated for the chunks of all CPUs */
	uint32_t inflated;    /* version 7: bytes of all sections so far */
	uint32_t nr_sections; /* version 7: with formats or names */
};

/* Reads the machine, which follows the version, and initialises dat->types. */
int dat_read_machine(struct cursor *cursor, struct dat *dat);

/* Reads an option of `size` bytes at the cursor. Options that only one version has are skipped. */
int dat_read_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size);

/* Adds a buffer, all zero. NULL: no memory. */
struct dat_buffer *dat_new_buffer(struct dat *dat);

/* Adds a CPU's pages to the file's sources. */
int dat_add_cpu(struct trace_file *file, struct dat *dat, const struct dat_cpu *cpu);

/*
 * -EINVAL becomes 0 and a problem of the file: what was read before the damage is kept. Returns
 * any other err.
 */
int dat_forgive(const struct cursor *cursor, int err);

/*
 * text: the content of the kernel's trace_clock ("local [mono]"), or a clock's name, which is kept
 * in buf.
 */
void dat_set_clock(struct trace_info *info, char *buf, size_t size, const char *text);

/* The cursor is after the magic number. */
int dat6_open(struct trace_file *file, const struct cursor *from);
int dat7_open(struct trace_file *file, const struct cursor *from);

/* To be called for each buffer after all options: its clock is in ns if the file says how. */
void dat_settle_clock(struct trace_info *info, const struct dat *dat);

/* How to make times of this buffer nanoseconds. */
struct dat_scale dat_scale(const struct trace_info *info, const struct dat *dat);

/* For struct trace_reader. */
void dat_close(struct trace_file *file);
const char *dat_comm(const struct trace_event *event, const struct trace_file *file);
bool dat_guest(const struct trace_file *file, size_t i, struct trace_guest *ret_guest);

/* compression: its name in a file of version 7 ("zstd"). NULL: unknown. */
dat_inflate *dat_inflate_by_name(const char *compression);

enum {
	DAT_OPTION_DONE = 0,
	DAT_OPTION_CPUSTAT = 2,
	DAT_OPTION_BUFFER = 3,
	DAT_OPTION_CLOCK = 4,
	DAT_OPTION_UNAME = 5,
	DAT_OPTION_OFFSET = 7,
	DAT_OPTION_CPUS = 8,
	DAT_OPTION_TRACE_ID = 11,
	DAT_OPTION_TIME_SHIFT = 12,
	DAT_OPTION_GUEST = 13,
	DAT_OPTION_TSC2NSEC = 14,
	/* Version 7: the offsets of sections that are in the header of version 6. */
	DAT_OPTION_FTRACE_EVENTS = 17,
	DAT_OPTION_EVENT_FORMATS = 18,
	DAT_OPTION_COMMS = 21,
};

#endif
