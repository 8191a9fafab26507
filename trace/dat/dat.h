/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dat - what is known of an open trace.dat of either version, and the parts that both have.
 *
 * The functions return 0, -EINVAL where the file has ended or makes no sense, or another -errno.
 */
#ifndef KVMTOP_TRACE_DAT_DAT_H
#define KVMTOP_TRACE_DAT_DAT_H

#include "trace/dat/shift.h"
#include "trace/tracing_data.h"

#define DAT_CPUS_MAX 65536

/* Strings of struct trace_info, as a file has them. */
struct dat_strings {
	char clock[32];
	char uname[3][128]; /* host, release, machine */
};

/*
 * Where a guest has no file of its own, as in kvmtop's recordings, its trace_id is its process;
 * trace-cmd's are random numbers of 64 bits.
 */
#define DAT_PID_MAX 0x400000

struct dat_guest {
	char *name;
	uint64_t trace_id;
	int *tids;
	size_t nr_vcpus;
};

/* Where the pages of a CPU lie. */
struct dat_cpu {
	int cpu;
	uint64_t offset, size;
	bool is_compressed; /* in chunks: how many, then of each both its sizes and what is in it */
};

/* A buffer: the main one has no name. */
struct dat_buffer {
	char name[TRACING_NAME_SIZE];
	uint64_t offset;
	struct dat_cpu *cpus; /* version 7 */
	size_t nr_cpus;
};

/* Uncompresses a block: 0, -EINVAL if `from` is not `to_size` bytes compressed, or -ENOMEM. */
typedef int dat_inflate(const void *from, size_t from_size, void *to, size_t to_size);

/* One file with all of its buffers. */
struct dat {
	struct tep_types types;
	struct dat_strings strings;
	struct tracing_machine machine;
	dat_inflate *inflate; /* version 7 */
	uint32_t mult, shift; /* from TSC to ns; mult 0: as it is */
	struct dat_shift to_host; /* comes before that */
	uint64_t add_ns;	  /* comes after it */
	bool has_late_clock;  /* older trace-cmd: behind the table of CPUs */
	struct dat_guest *guests;
	size_t nr_guests, guests_room;
	struct dat_buffer *buffers;
	size_t nr_buffers, buffers_room;
};

/* Behind the version: the machine; sets dat->types up. */
int dat_read_machine(struct cursor *cursor, struct dat *dat);

/* An option of `size` bytes at the cursor, if it is one that both versions have. */
int dat_read_option(struct cursor *cursor, struct dat *dat, uint16_t id, uint32_t size);

/* A buffer more, all zero, or NULL. */
struct dat_buffer *dat_new_buffer(struct dat *dat);

/* A source of the file's. */
int dat_add_cpu(struct trace_file *file, struct dat *dat, const struct dat_cpu *cpu);

/* What makes no sense is the file's problem, and what was found before it remains: err, or 0. */
int dat_forgive(const struct cursor *cursor, int err);

/* From the text of the kernel's trace_clock ("local [mono]") or a clock's name. */
void dat_set_clock(struct trace_info *info, struct dat_strings *strings, const char *text);

/* From "Linux HOST RELEASE MACHINE". */
void dat_set_uname(struct trace_info *info, struct dat_strings *strings, const char *text);

/* The cursor is behind the magic. */
int dat6_open(struct trace_file *file, const struct cursor *from);
int dat7_open(struct trace_file *file, const struct cursor *from);

/* For struct reader. */
void dat_close(struct trace_file *file);
const char *dat_comm(const struct trace_event *event, const struct trace_file *file);
/* When the options are known: times that can be nanoseconds will be. */
void dat_settle_clock(struct trace_file *file, struct dat *dat);
bool dat_guest(const struct trace_file *file, size_t i, struct trace_guest *ret_guest);

/* By the name that version 7 has for its compression ("zstd"); NULL: one that is not known. */
dat_inflate *dat_inflate_by_name(const char *compression);

enum {
	DAT_OPTION_DONE = 0,
	DAT_OPTION_BUFFER = 3,
	DAT_OPTION_CLOCK = 4,
	DAT_OPTION_UNAME = 5,
	DAT_OPTION_OFFSET = 7,
	DAT_OPTION_CPUS = 8,
	DAT_OPTION_TRACE_ID = 11,
	DAT_OPTION_TIME_SHIFT = 12,
	DAT_OPTION_GUEST = 13,
	DAT_OPTION_TSC2NSEC = 14,
	/* Version 7: the places of what version 6 has in its header. */
	DAT_OPTION_FTRACE_EVENTS = 17,
	DAT_OPTION_EVENT_FORMATS = 18,
	DAT_OPTION_COMMS = 21,
};

#endif
