/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope - a host, or all hosts, as Prometheus has it: queries, and moments made of answers.
 *
 * Facts of a host are counters by guest, vCPU and reason at a time, as they were scraped. Of all
 * hosts the server makes rates, and each host is a guest of the inventory. Moments stay in memory
 * up to a limit.
 */
#ifndef KVMTOP_HISTORY_FLEET_SCOPE_H
#define KVMTOP_HISTORY_FLEET_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/hash.h"
#include "core/provider.h"
#include "core/facts/shared_fields.h"
#include "history/pack.h"
#include "history/recent.h"
#include "history/fleet/http.h"

/*
 * ---- prometheus.c: queries about a host, or all hosts, in Prometheus' language; and the answers
 * of its HTTP API, series with their points.
 *
 * The text of an answer is a stranger's: what is damaged, nested too deep, or no number is refused
 * or left out, and never a crash. The memory that it takes depends on the largest series, which has
 * a limit.
 */

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

/* ---- scopes */

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
 * scraped, and where that differs, as the first one is. 0, or -errno with error.
 */
int scope_common_read(struct http *http, double interval_s, long timeout_ms,
		      struct scope_common *common, struct error *error);

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
 * same stretch.
 */
typedef void (*scope_moment_fn)(void *arg, uint64_t at, uint64_t stretch,
				const struct moment *moment, const struct packed *packed);

/*
 * Makes moments of the answers to these queries. Where they follow the latest ones of the scope,
 * they go on from these. 0, or -errno with error, as answer_read().
 */
int scope_take(struct scope *scope, uint64_t first, uint64_t last,
	       const struct http_query *queries, scope_moment_fn take, void *arg,
	       struct error *error);

/*
 * lines.c: what answers say of a host's guests, or of all hosts: a line for each key, in it a cell
 * for each time.
 *
 * The cells of one host have counters; the cells of all hosts have what happened in the step that
 * ends then.
 */
#define LINES_STEPS 33 /* cells of a line */
#define MEMBERS_MAX 20000 /* guests or hosts: labels are a stranger's */

/* A guest of the host; or, of all hosts, a host. */
struct member {
	struct guest guest; /* its name is the label's value */
	size_t room_vcpus;
	bool is_there[LINES_STEPS]; /* at these times */
	UT_hash_handle hh;
};

struct line_cell {
	bool has_count;
	uint64_t count, ns;
};

/* What one key was at each time. */
struct line {
	struct key key;
	bool is_timed;
	/* How many took at most as long as the edge of a bucket; < 0: not known. NULL: none is. */
	double (*counts)[HIST_BUCKETS];
	UT_hash_handle hh;
	struct line_cell cells[]; /* struct lines' nr */
};

struct lines {
	struct fields *fields; /* the dictionary, not owned */
	uint64_t step_ns;
	bool is_all; /* members are hosts */
	struct member *members;
	uint32_t last_member;
	struct exit_fields exits;
	uint32_t waited, throttled, finding, guests; /* the last: of all hosts */
	struct line *lines;
	size_t nr_lines, size; /* how many there are, and their bytes */
	uint64_t first; /* the time of the first cell, in steps */
	unsigned int nr; /* of cells */
};

/* Adds the fields. Zeroed before, except for fields, step_ns and is_all. */
void lines_init(struct lines *lines);
void lines_release(struct lines *lines);

/* Empty lines of nr cells, at most LINES_STEPS, and no member is there; the members stay known. */
void lines_begin(struct lines *lines, uint64_t first, unsigned int nr);

/* Frees the lines: there are many of all hosts, and they are not needed between answers. */
void lines_clear(struct lines *lines);

/*
 * Puts a series of the answer to a query into lines. 0, or -EFBIG: there are more than a fleet
 * has.
 */
int lines_take(struct lines *lines, enum query query, const struct answer_series *series);

/* Time and histogram of a cell. */
void line_timing(const struct line *line, unsigned int cell, struct timing *ret_timing);

/* ---- moments of a Prometheus that are in memory, by scope; all scopes have one limit */

#define CACHES_LIMIT ((size_t)64 << 20) /* bytes */

/* The moments of a scope. A moment's id is which multiple of the interval it is at. */
struct cache {
	char host[GUEST_NAME_SIZE]; /* "": all hosts */
	struct scope *scope;	    /* the thread's; NULL: not queried yet */
	struct kept kept;
};

/* Zero-initialised is empty. */
struct caches {
	struct cache **list;
	size_t nr, room;
};

/* The index of the cache of a host, "" of all; where there is none, it is made. */
uint32_t caches_find(struct caches *caches, const char *host);

/* Drops the oldest moments of other scopes first; of this one the moments first to last stay. */
void caches_keep_limit(struct caches *caches, uint32_t number, uint64_t first, uint64_t last);

/* Frees scopes and moments. */
void caches_release(struct caches *caches);

/*
 * A moment of a scope, by its index: its id has the number of the scope above, and which multiple
 * of the interval it is below.
 */
struct stored cache_stored(const struct caches *caches, uint32_t number, size_t i);
#define SCOPE_SHIFT 40

/* A scope_moment_fn: arg is a struct kept, of moments that the thread has made. */
void cache_made(void *arg, uint64_t at, uint64_t stretch, const struct moment *moment,
		const struct packed *packed);

/* Takes what was made. */
void cache_take(struct cache *cache, struct kept *made);

#endif
