/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope - a host, or all hosts, as Prometheus has it: queries, and moments made of answers.
 *
 * Facts of a host are counters by guest, vCPU and reason at a time, as they were scraped. Of all
 * hosts the server makes rates, and each host is a guest of the inventory.
 */
#ifndef KVMTOP_HISTORY_FLEET_SCOPE_H
#define KVMTOP_HISTORY_FLEET_SCOPE_H

#include "history/fleet/http.h"
#include "history/fleet/prometheus.h"
#include "history/pack.h"

/* What all scopes of a server have in common. */
struct scope_common {
	struct fields *fields; /* the dictionary of all moments */
	uint64_t step_ns;      /* the time from one moment to the next */
	/*
	 * How many hosts the server has sums of, by packaging/contrib/prometheus/kvmtop.rules.yml;
	 * 0: it has no such rules, and adds up for each query.
	 */
	uint64_t nr_summed;
	int64_t ahead_ns; /* the server's clock less ours */
};

/*
 * Queries the server for all of it but the fields. interval_s: the step; 0: as the hosts are
 * scraped, and where that differs, as the first one is. 0, or -errno with why.
 */
int scope_common_read(struct http *http, double interval_s, long timeout_ms,
		      struct scope_common *common, struct why *why);

struct scope;

/* From one thread. number: > 0; host: the label "instance", NULL: all hosts. */
struct scope *scope_new(const struct scope_common *common, uint32_t number, const char *host);
void scope_free(struct scope *scope);

/*
 * How many steps may be queried at once: the server has to work for each, and the answers to all
 * queries together should have no more than a megabyte.
 */
unsigned int scope_steps(const struct scope_common *common, bool is_all);

/* How many of QUERIES it has, from the first on. */
unsigned int scope_queries(const struct scope *scope);

/*
 * The queries for the times first * step to last * step, with the step before them where that
 * is needed. Forms are the caller's to free.
 */
void scope_make_queries(const struct scope *scope, uint64_t first, uint64_t last,
			struct http_query ret_queries[QUERIES]);

/*
 * Takes a moment that was made, at a multiple of the step. Totals go on to the next moment of the
 * same run.
 */
typedef void (*scope_moment_fn)(void *arg, uint64_t at, uint64_t run, struct packed *packed);

/*
 * Makes moments of the answers to these queries. Where they follow the latest ones of the scope,
 * they go on from these. 0, or -errno with why, as answer_read().
 */
int scope_take(struct scope *scope, uint64_t first, uint64_t last,
	       const struct http_query *queries, scope_moment_fn take, void *arg,
	       struct why *why);

#endif
