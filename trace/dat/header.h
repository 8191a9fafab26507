/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header - the formats of events, as trace.dat (version 6) and perf.data have them.
 *
 * Both begin with the magic, a version and the machine, then texts with their sizes. All functions
 * return 0, -EINVAL where the file has ended or makes no sense, or another -errno.
 */
#ifndef KVMTOP_TRACE_DAT_HEADER_H
#define KVMTOP_TRACE_DAT_HEADER_H

#include "trace/tep_types.h"

#define DAT_MAGIC "\027\010\104tracing"
#define DAT_MAGIC_SIZE 10
#define DAT_NAME_SIZE 256

/* A place in a file that is read from there on. */
struct cursor {
	struct trace_file *file;
	uint64_t at;
	bool is_big_endian; /* the file's numbers */
	/* Not the file but this, from `at` 0 on; its place in the file is the caller's to know. */
	const uint8_t *memory;
	uint64_t size;
};

uint64_t cursor_end(const struct cursor *cursor); /* where the file, or the memory, ends */
int cursor_get(struct cursor *cursor, void *buf, size_t size);
int cursor_u16(struct cursor *cursor, uint16_t *ret);
int cursor_u32(struct cursor *cursor, uint32_t *ret);
int cursor_u64(struct cursor *cursor, uint64_t *ret);
int cursor_skip(struct cursor *cursor, uint64_t size);
int cursor_name(struct cursor *cursor, char *name, size_t size); /* up to a NUL */
/* A text of a given size, up to 1 MiB, with a NUL behind it; to be freed. */
int cursor_text(struct cursor *cursor, uint64_t size, char **ret_text);

struct dat_machine {
	bool is_big_endian, is_32bit;
	uint32_t page_size;
};

/* Behind magic and version: sets the cursor's byte order, too. */
int dat_header_machine(struct cursor *cursor, struct dat_machine *ret_machine);
void dat_set_machine(struct tep_handle *tep, const struct dat_machine *machine);

/* The parts of it, where they stand alone. */
int dat_header_events(struct cursor *cursor, struct tep_types *types, const char *system);
int dat_header_systems(struct cursor *cursor, struct tep_types *types);
int dat_header_comms(struct cursor *cursor, struct tep_types *types);

/* Up to the names of threads, which only some versions have. */
int dat_header_formats(struct cursor *cursor, struct tep_types *types, bool has_comms);

#endif
