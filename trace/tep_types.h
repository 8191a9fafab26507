/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tep_types - events with formats that libtraceevent has parsed, as types of the stream.
 */
#ifndef KVMTOP_TRACE_TEP_TYPES_H
#define KVMTOP_TRACE_TEP_TYPES_H

#include <event-parse.h>

#include "trace/reader.h"

/* An event by its number. */
struct tep_type {
	const struct trace_type *type;
	const struct trace_field *vcpu; /* NULL: it has none */
	struct trace_field *fields; /* the type's */
	char *format;		  /* the text of its format file; NULL: not known */
};

struct tep_types {
	struct trace_file *file;
	struct tep_handle *tep;
	struct tep_type *by_id;
	size_t nr;
	struct trace_field common_type, common_pid;
	unsigned int swap; /* TRACE_FIELD_SWAP, or 0: numbers are in this machine's byte order */
};

int tep_types_init(struct tep_types *types, struct trace_file *file); /* 0 or -ENOMEM */
void tep_types_release(struct tep_types *types); /* also where init failed, or on zeroes */

/* What the file was written on; until then, a machine like this one. */
void tep_types_set_machine(struct tep_types *types, bool is_big_endian, bool is_32bit);

/* Parses the text of a format file and keeps it: 0, -EINVAL or -ENOMEM. */
int tep_types_parse(struct tep_types *types, const char *text, size_t size, const char *system);

/*
 * Sets what an event's bytes say: type, id, tid, vcpu and thread_key. An event of no known format
 * gets the type "unknown". Returns 0 or -ENOMEM.
 */
int tep_types_set(struct tep_types *types, struct trace_event *event, const void *data,
		  uint32_t size);

/* The thread's name as libtraceevent knows it, or "". */
const char *tep_types_comm(const struct tep_types *types, int tid);

/* What a clock's name ("local", "x86-tsc" ...) says about its unit. */
enum trace_clock tep_clock(const char *name);

#endif
