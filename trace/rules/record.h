/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - a record of kvmtrace, xentrace or ACRN, with the fields that rules can name.
 */
#ifndef KVMTOP_TRACE_RULES_RECORD_H
#define KVMTOP_TRACE_RULES_RECORD_H

#include "trace/recording/trace.h"

#define RULES_WORDS 16

struct rules_record {
	enum trace_kind kind;
	uint64_t event;
	uint64_t tsc; /* 0 if the record has none */
	bool has_tsc;
	bool is_signed; /* the words are int64_t */
	uint32_t pid, vcpu, cpu, vm; /* 0 where the kind has none */
	uint64_t words[RULES_WORDS]; /* 0 where there are fewer */
};

/* Makes a record of an event from trace_open_records(). */
void rules_record_set(struct rules_record *record, const struct trace *trace,
		      const struct trace_event *event);

#endif
