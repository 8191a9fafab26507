// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps moments in order, and the limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "history/fleet/cache.h"
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
	array_grow(&caches->list, &caches->room, caches->nr + 1);
	caches->list[caches->nr++] = cache;
	return i;
}

void caches_release(struct caches *caches)
{
	for (size_t i = 0; i < caches->nr; i++) {
		struct cache *cache = caches->list[i];

		while (cache->nr)
			cache_drop(caches, cache, cache->nr - 1);
		scope_free(cache->scope);
		free(cache->slots);
		free(cache);
	}
	free(caches->list);
}

static size_t size_of(const struct packed *packed)
{
	size_t size = sizeof(struct slot);

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += packed->parts[i].room;
	return size;
}

size_t cache_index(const struct cache *cache, uint64_t at)
{
	size_t low = 0, high = cache->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cache->slots[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cache_has(const struct cache *cache, uint64_t at)
{
	size_t i = cache_index(cache, at);

	return i < cache->nr && cache->slots[i].at == at;
}

void cache_drop(struct caches *caches, struct cache *cache, size_t i)
{
	caches->size -= size_of(&cache->slots[i].packed);
	packed_release(&cache->slots[i].packed);
	memmove(&cache->slots[i], &cache->slots[i + 1], (--cache->nr - i) * sizeof(*cache->slots));
}

/* The first or the last moment: which is further away from the ones that are wanted. */
static size_t furthest(const struct cache *cache, uint64_t wanted_first, uint64_t wanted_last)
{
	uint64_t first = cache->slots[0].at, last = cache->slots[cache->nr - 1].at;
	uint64_t before = wanted_first > first ? wanted_first - first : 0;
	uint64_t after = last > wanted_last ? last - wanted_last : 0;

	return after > before ? cache->nr - 1 : 0;
}

void caches_keep_limit(struct caches *caches, uint32_t kept, uint64_t first, uint64_t last)
{
	struct cache *of = caches->list[kept];

	for (size_t i = 0; i < caches->nr; i++) {
		struct cache *cache = caches->list[i];

		while (caches->size > CACHES_LIMIT && cache != of && cache->nr)
			cache_drop(caches, cache, 0);
	}
	while (caches->size > CACHES_LIMIT && of->nr > 1)
		cache_drop(caches, of, furthest(of, first, last));
}

void cache_add(struct caches *caches, uint32_t number, struct slot *slot)
{
	struct cache *cache = caches->list[number];
	size_t i = cache_index(cache, slot->at);

	if (cache_has(cache, slot->at))
		return;
	array_grow(&cache->slots, &cache->room, cache->nr + 1);
	memmove(&cache->slots[i + 1], &cache->slots[i], (cache->nr - i) * sizeof(*cache->slots));
	cache->slots[i] = *slot;
	cache->nr++;
	caches->size += size_of(&slot->packed);
	slot->packed = (struct packed){ .flags = 0 };
}

void made_take(void *arg, uint64_t at, uint64_t run, struct packed *packed)
{
	struct made *made = arg;

	array_grow(&made->slots, &made->room, made->nr + 1);
	made->slots[made->nr++] = (struct slot){ at, run, *packed };
	*packed = (struct packed){ .flags = 0 };
}

void made_release(struct made *made)
{
	for (size_t i = 0; i < made->nr; i++)
		packed_release(&made->slots[i].packed);
	free(made->slots);
}
