/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format - reads the format of an event, as the kernel's `format` files and recordings have it.
 *
 * The text comes from a recording: any text is safe. It is read strictly, line by line:
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
#ifndef KVMTOP_TRACE_FORMAT_H
#define KVMTOP_TRACE_FORMAT_H

#include "trace/event.h"

#define FORMAT_IDS 65536 /* common_type has 16 bits */

struct format {
	char *text; /* all strings below point into it */
	const char *name, *print;
	uint32_t id; /* below FORMAT_IDS */
	struct trace_field *fields;
	size_t nr_fields;
};

/* 0, -EINVAL if a line is not as above, or -ENOMEM. */
int format_read(const char *text, size_t size, struct format *ret_format);
void format_release(struct format *format); /* takes zeroes, too */

#endif
