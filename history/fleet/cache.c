// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps moments in order, and the limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "history/fleet/scope.h"

uint32_t caches_find(struct caches *caches, const char *host)
{
	struct cache *cache;
	uint32_t i = 0;

	while (i < caches->nr && strcmp(caches->list[i]->host, host) != 0)
		i++;
	if (i < caches->nr)
		return i;
	cache = xcalloc(1, sizeof(*cache));
	snprintf(cache->host, sizeof(cache->host), "%s", host);
	*array_add(caches->list, caches->nr, caches->room) = cache;
	return i;
}

void caches_release(struct caches *caches)
{
	for (size_t i = 0; i < caches->nr; i++) {
		struct cache *cache = caches->list[i];

		kept_release(&cache->kept);
		scope_free(cache->scope);
		free(cache);
	}
	free(caches->list);
}

/* The first or the last moment: which is further away from the ones that are wanted. */
static size_t furthest(const struct kept *kept, uint64_t wanted_first, uint64_t wanted_last)
{
	uint64_t first = kept->list[0].id, last = kept->list[kept->nr - 1].id;
	uint64_t before = wanted_first > first ? wanted_first - first : 0;
	uint64_t after = last > wanted_last ? last - wanted_last : 0;

	return after > before ? kept->nr - 1 : 0;
}

static size_t size_of_all(const struct caches *caches)
{
	size_t size = 0;

	for (size_t i = 0; i < caches->nr; i++)
		size += caches->list[i]->kept.size;
	return size;
}

void caches_keep_limit(struct caches *caches, uint32_t number, uint64_t first, uint64_t last)
{
	struct kept *of = &caches->list[number]->kept;

	for (size_t i = 0; i < caches->nr; i++) {
		struct kept *other = &caches->list[i]->kept;

		while (i != number && other->nr && size_of_all(caches) > CACHES_LIMIT)
			kept_drop(other, 0, 1);
	}
	while (of->nr > 1 && size_of_all(caches) > CACHES_LIMIT)
		kept_drop(of, furthest(of, first, last), 1);
}

/* Whether totals go on from the moment before: it is in memory, and of the same stretch. */
static bool goes_on(const struct kept *kept, size_t i)
{
	const struct kept_moment *moment = &kept->list[i];

	return i && moment[-1].id + 1 == moment->id && moment[-1].stretch == moment->stretch;
}

struct stored cache_stored(const struct caches *caches, uint32_t number, size_t i)
{
	const struct kept *kept = &caches->list[number]->kept;
	const struct kept_moment *moment = &kept->list[i];

	return (struct stored){
		.id = (uint64_t)(number + 1) << SCOPE_SHIFT | moment->id,
		.segment = number + 1,
		.flags = moment->flags | (goes_on(kept, i) ? 0 : MOMENT_AFTER_LOSS),
		.time_ns = moment->time_ns,
		.elapsed_ns = moment->elapsed_ns,
	};
}

void cache_made(void *arg, uint64_t at, uint64_t stretch, const struct moment *moment,
		const struct packed *packed)
{
	const struct kept_moment copy = kept_copy(at, stretch, moment, packed);

	kept_take(arg, &copy);
}

void cache_take(struct cache *cache, struct kept *made)
{
	for (size_t i = 0; i < made->nr; i++)
		kept_take(&cache->kept, &made->list[i]);
	made->nr = 0; /* the bytes are the cache's */
	kept_release(made);
}
