/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query - what is asked about a host, or all hosts, in Prometheus' language. */
#ifndef KVMTOP_HISTORY_FLEET_QUERY_H
#define KVMTOP_HISTORY_FLEET_QUERY_H

#include <stdbool.h>

/* The hosts with their guests, where the server has the sums of our recording rules. */
#define QUERY_HOSTS "instance:kvmtop_guest_info:count"

/* MEMBERS: a host's guests, or the hosts. DURATIONS: of a host only. */
enum question {
	ASK_EXITS, ASK_EXIT_SECONDS, ASK_SECONDS, ASK_MEMBERS, ASK_FINDINGS, ASK_DURATIONS,
	QUESTIONS,
	QUESTIONS_OF_ALL = ASK_DURATIONS
};

/* A text within the quotes of a query; the caller's to free. */
char *query_quote(const char *text);

/*
 * The query for counters of a host, or for rates of all hosts. host: quoted; NULL: all. has_sums:
 * the server has the sums of our recording rules. The caller's to free.
 */
char *query_make(enum question question, const char *host, bool has_sums);

#endif
