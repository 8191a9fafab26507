/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat - an open trace.dat of version 6 or 7, and the functions that both versions need.
 *
 * What is read at a cursor leaves its error in the cursor.
 */
#ifndef KVMTOP_TRACE_RECORDING_DAT_DAT_H
#define KVMTOP_TRACE_RECORDING_DAT_DAT_H

#include "trace/recording/event_types.h"

/* More is damage: a few bytes of a file may claim much memory. */
#define DAT_CPUS_MAX 65536
#define DAT_BUFFERS_MAX 4096
#define DAT_GUESTS_MAX 4096 /* also of a recorder */
#define DAT_THREADS_MAX (1 << 20) /* the same: of guests, without their vCPUs */
#define DAT_SOURCES_MAX (1 << 16) /* CPUs in all buffers */
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

/* Uncompresses a block of `to_size` bytes. False: the block is damaged. */
typedef bool dat_inflate(const void *from, size_t from_size, void *to, size_t to_size);

/* From a clock's unit to ns: time * mult >> shift. mult 0: times are not converted. */
struct dat_scale {
	uint32_t mult, shift;
};

/*
 * Converts times in a guest's trace.dat to its host's clock.
 *
 * trace-cmd compares the two clocks while it records host and guest, and writes samples into the
 * guest's file: for each of the guest's CPUs, a time, an offset to add, and a factor to multiply
 * with before. If trace-cmd measured with messages (PTP), the offset is interpolated between two
 * samples; if the offset came from KVM, it is constant until the next sample.
 *
 * Source: man 5 trace-cmd.dat.v7 (TIME_SHIFT), trace-cmd's timestamp_host_sync().
 */
struct dat_shift {
	uint64_t host_id; /* trace_id of the host's file; 0: not a guest's file, times stay */
	bool interpolates;
	struct dat_shift_cpu *cpus;
	size_t nr_cpus;
};

void dat_shift_read(struct dat_shift *shift, struct cursor *cursor, uint32_t size);
void dat_shift_release(struct dat_shift *shift);

/* Converts a time of the guest's CPU to the host's clock. */
uint64_t dat_shift_time(const struct dat_shift *shift, int cpu, uint64_t time);

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
	struct dat_buffer *buffers;
	size_t nr_buffers, buffers_room;
	uint64_t pages_bytes; /* of all CPUs so far */
	uint32_t nr_sources;  /* CPUs so far */
	uint64_t chunks_bytes; /* version 7: allocated for the chunks of all CPUs */
	uint32_t inflated;    /* version 7: bytes of all sections so far */
	uint32_t nr_sections; /* version 7: with formats or names */
};

/* Reads the machine, which follows the version. */
void dat_read_machine(struct cursor *cursor, struct dat *dat);

/* Reads an option of `size` bytes at the cursor. Options that only one version has are skipped. */
void dat_read_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size);

/* Adds a buffer, all zero; NULL, and an error of the cursor: there are too many. */
struct dat_buffer *dat_new_buffer(struct cursor *cursor, struct dat *dat);

/* Adds a CPU's pages to the file's sources. False: they are not where they can be. */
bool dat_add_cpu(struct trace_file *file, struct dat *dat, const struct dat_cpu *cpu);

/* The cursor's error becomes a problem of the file: what was read before is kept. */
void dat_forgive(struct cursor *cursor);

/*
 * text: the content of the kernel's trace_clock ("local [mono]"), or a clock's name, which is kept
 * in buf.
 */
void dat_set_clock(struct trace_info *info, char *buf, size_t size, const char *text);

/* Add the file's sources. The cursor is after the magic number. */
void dat6_open(struct trace_file *file, struct cursor *cursor);
void dat7_open(struct trace_file *file, struct cursor *cursor);

/* See read_symbols of struct trace_reader; the cursor is where the types say. */
char *dat7_read_symbols(struct cursor *cursor, size_t *ret_size);

/* To be called for each buffer after all options: its clock is in ns if the file says how. */
void dat_settle_clock(struct trace_info *info, const struct dat *dat);

/* How to make times of this buffer nanoseconds. */
struct dat_scale dat_scale(const struct trace_info *info, const struct dat *dat);

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
	DAT_OPTION_SYMBOLS = 19,
	DAT_OPTION_COMMS = 21,
};

/*
 * One page of the kernel's ring buffer, record by record.
 *
 * A page has its time, the number of bytes in use, and records. Each record begins with a word: 5
 * bits say what it is, 27 bits are the time since the record before.
 *
 *	0	an event; its size is in the next word
 *	1-28	an event of so many words
 *	29	padding: of the size in the next word, or without a time up to the end
 *	30	a longer time since the record before: the next word has the higher bits
 *	31	the time itself, of which the highest five bits are the page's
 *
 * Nothing is read outside of the page, and each step goes forward. trace-cmd, the kernel's
 * trace_pipe_raw and kvmtop record write such pages.
 *
 * Source: the kernel's kernel/trace/ring_buffer.c, include/linux/ring_buffer.h.
 */
struct dat_page {
	uint64_t time; /* of the current event; before the first one, of the page */
	int64_t missed; /* events that are missing before the page; 0: none, -1: some */
	const uint8_t *data; /* the current event */
	uint32_t size;	     /* bytes of data */
	const uint8_t *at, *end; /* the part that was not read yet */
	bool swap, is_big_endian;
};

/* Pages of the machine on which they were written. */
struct page_format {
	uint32_t size; /* bytes of a page */
	bool is_32bit, swap;
};

/* Begins a page of format->size bytes, which must outlive it. False: it is damaged. */
bool page_begin(struct dat_page *page, const struct page_format *format, const uint8_t *bytes);

/* Sets the current event to the next one: 1, 0 at the end, or -EINVAL at a damaged record. */
int page_next(struct dat_page *page);

#endif
