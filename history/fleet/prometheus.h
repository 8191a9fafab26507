/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus - queries about a host, or all hosts, in Prometheus' language; and the answers of its
 * HTTP API: series with their points.
 *
 * The text of an answer is a stranger's: what is damaged, nested too deep, or no number is refused
 * or left out, and never a crash. The memory that it takes depends on the largest series, which has
 * a limit.
 */
#ifndef KVMTOP_HISTORY_FLEET_PROMETHEUS_H
#define KVMTOP_HISTORY_FLEET_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/* The hosts with their guests, where the server has the sums of our recording rules. */
#define QUERY_HOSTS "instance:kvmtop_guest_info:count"

/* MEMBERS: a host's guests, or the hosts. DURATIONS: of a host only. */
enum query {
	QUERY_EXITS, QUERY_EXIT_SECONDS, QUERY_SECONDS, QUERY_MEMBERS, QUERY_FINDINGS,
	QUERY_DURATIONS,
	QUERIES,
	QUERIES_OF_ALL = QUERY_DURATIONS
};

/* A text within the quotes of a query; the caller's to free. */
char *query_quote(const char *text);

/*
 * The query for counters of a host, or for rates of all hosts. host: quoted; NULL: all. has_sums:
 * the server has the sums of our recording rules. The caller's to free.
 */
char *query_make(enum query query, const char *host, bool has_sums);

/* ---- answers */

/* Valid during the call that has it. */
struct answer_series {
	struct json_object *labels, *points;
	bool is_single; /* points is one point, and not an array of points */
};

/* Called for each series. 0 goes on; else answer_read() returns it. */
typedef int (*answer_fn)(void *arg, const struct answer_series *series);

/*
 * Reads the answer to a query. status: HTTP's. 0, or -errno with error: -EACCES: the server wants
 * a user; -EINVAL: it refused the query; -EBADMSG: this is no Prometheus' answer.
 */
int answer_read(long status, const char *text, size_t size, answer_fn take, void *arg,
		struct error *error);

/* The value of a label, cleaned as names of guests are, in ret_text. False: it has none. */
bool answer_label(const struct answer_series *series, const char *name, char *ret_text,
		  size_t size);

size_t answer_points(const struct answer_series *series);

/* A point's time, and its value, which is 0 or more. False: it is no number. */
bool answer_point(const struct answer_series *series, size_t i, uint64_t *ret_time_ns,
		  double *ret_value);

#endif
