/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rule - a parsed rule: its template, cut into pieces of text and conversions.
 */
#ifndef KVMTOP_TRACE_RULES_RULE_H
#define KVMTOP_TRACE_RULES_RULE_H

#include "lib/hash.h"
#include "trace/rules/record.h"

enum rules_field {
	FIELD_TSC,
	FIELD_RELTSC,
	FIELD_EVENT,
	FIELD_PID,
	FIELD_VCPU,
	FIELD_CPU,
	FIELD_VM,
	FIELD_WORD, /* the first of RULES_WORDS */
	FIELD_ALL = FIELD_WORD + RULES_WORDS, /* without a name: Python prints the dictionary */
};

/* Text, or one conversion. */
struct rules_piece {
	const char *text; /* in the template; NULL: a conversion */
	size_t len;
	enum rules_field field;
	char conversion;
	bool has_zeros, is_left, has_sign, has_blank, is_alternate; /* 0 - + blank # */
	int width;
	int precision; /* -1: none */
};

struct print_rule {
	uint64_t event;
	char *template;
	size_t len;
	struct rules_piece *pieces;
	size_t nr_pieces, room;
	bool is_type_error; /* Python cannot fill it, whatever the record */
	UT_hash_handle hh;
};

struct rules {
	struct print_rule *by_event;
};

#endif
