/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_format - reads the format of a trace event, as the kernel's `format` files and recordings
 * have it.
 *
 * The text may come from a recording: any text is safe. It is read strictly, line by line:
 *
 *	name: kvm_exit
 *	ID: 1511
 *	format:
 *		field:unsigned int exit_reason;	offset:8;	size:4;	signed:0;
 *
 *	print fmt: ...
 *
 * The print format is kept as it is, for reasons_of(), which reads any text.
 */
#ifndef KVMTOP_ARCH_EVENT_FORMAT_H
#define KVMTOP_ARCH_EVENT_FORMAT_H

#include <stddef.h>
#include <stdint.h>

enum {
	TRACE_FIELD_SIGNED = 1 << 0,
	TRACE_FIELD_ARRAY = 1 << 1,   /* of several values, or a string of fixed size */
	TRACE_FIELD_STRING = 1 << 2,  /* text, with TRACE_FIELD_ARRAY or TRACE_FIELD_DYNAMIC */
	TRACE_FIELD_DYNAMIC = 1 << 3, /* its offset and size are in the event: __data_loc */
	TRACE_FIELD_SWAP = 1 << 4,    /* not in this machine's byte order */
	TRACE_FIELD_COMMON = 1 << 5,  /* of all events: common_pid */
};

struct trace_field {
	const char *name; /* "exit_reason" */
	uint32_t offset;  /* in the event's data */
	uint32_t size;	  /* bytes, of all of an array */
	unsigned int flags; /* TRACE_FIELD_* */
};

#define FORMAT_IDS 65536 /* common_type has 16 bits */

struct format {
	char *text; /* all strings below point into it */
	const char *name, *print;
	uint32_t id; /* below FORMAT_IDS */
	struct trace_field *fields;
	size_t nr_fields;
};

/* 0, or -EINVAL if a line is not as above. */
int format_read(const char *text, size_t size, struct format *ret_format);
void format_release(struct format *format); /* takes zeroes, too */

/* By its name; NULL: there is none. */
const struct trace_field *format_field(const struct format *format, const char *name);

#endif
