/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache - moments of a Prometheus that are in memory, by scope; all scopes have one limit.
 */
#ifndef KVMTOP_HISTORY_FLEET_CACHE_H
#define KVMTOP_HISTORY_FLEET_CACHE_H

#include "history/recent.h"

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
void cache_made(void *arg, uint64_t at, uint64_t stretch, struct packed *packed);

/* Takes what was made. */
void cache_take(struct cache *cache, struct kept *made);

#endif
