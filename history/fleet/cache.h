/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache - moments of a Prometheus that are in memory, by scope; all scopes have one limit.
 */
#ifndef KVMTOP_HISTORY_FLEET_CACHE_H
#define KVMTOP_HISTORY_FLEET_CACHE_H

#include "history/pack.h"

#define CACHES_LIMIT ((size_t)64 << 20) /* bytes */

/* The moments of a scope. */
struct cache {
	char host[GUEST_NAME_SIZE]; /* "": all hosts */
	struct scope *scope;	    /* the thread's; NULL: not queried yet */
	struct slot {
		uint64_t at;  /* which multiple of the interval */
		uint64_t run; /* its totals go on in the next moment of the same run */
		struct packed packed;
	} *slots; /* ascending */
	size_t nr, room;
};

/* Zero-initialised is empty. */
struct caches {
	struct cache **list;
	size_t nr, room;
	size_t size; /* bytes of all moments */
};

/* The index of the cache of a host, "" of all; where there is none, it is made. */
uint32_t caches_find(struct caches *caches, const char *host);

/* Drops the oldest moments of other scopes first; of `kept` the moments first to last stay. */
void caches_keep_limit(struct caches *caches, uint32_t kept, uint64_t first, uint64_t last);

/* Frees scopes and moments. */
void caches_release(struct caches *caches);

/* The index of the first moment that is not before this time. */
size_t cache_index(const struct cache *cache, uint64_t at);

bool cache_has(const struct cache *cache, uint64_t at);

/* Takes the moment, unless it is there already. */
void cache_add(struct caches *caches, uint32_t number, struct slot *slot);

void cache_drop(struct caches *caches, struct cache *cache, size_t i);

/* Moments that the thread has made, and not added yet. */
struct made {
	struct slot *slots;
	size_t nr, room;
};

/* A scope_moment_fn: arg is a struct made. */
void made_take(void *arg, uint64_t at, uint64_t run, struct packed *packed);
void made_release(struct made *made);

#endif
