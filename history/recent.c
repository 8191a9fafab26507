// SPDX-License-Identifier: GPL-2.0-or-later
/* A queue of packed moments; their sizes add up to a limit. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "history/recent.h"

#define MALLOC_BYTES 16 /* of the allocator, for each piece of memory, on average */

struct recent {
	pthread_mutex_t lock; /* of all below but the segment */
	struct segment segment;
	size_t size, limit; /* bytes of the parts; of all */
	struct packed *list; /* a circle of `room` slots; first is the oldest */
	size_t first, nr, room;
	uint64_t first_id;
};

struct recent *recent_new(size_t limit, const struct segment *segment)
{
	struct recent *recent = calloc(1, sizeof(*recent));

	if (!recent)
		return NULL;
	pthread_mutex_init(&recent->lock, NULL);
	recent->segment = *segment;
	recent->limit = limit;
	recent->first_id = 1;
	return recent;
}

/* i < room */
static struct packed *at(struct recent *recent, size_t i)
{
	size_t slot = recent->first + i;

	return &recent->list[slot < recent->room ? slot : slot - recent->room];
}

/* What a moment takes beside its slot. */
static size_t size_of(const struct packed *packed)
{
	size_t size = 0;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += packed->parts[i].bytes ? packed->parts[i].size + MALLOC_BYTES : 0;
	return size;
}

static size_t whole_size(const struct recent *recent)
{
	return recent->size + recent->room * sizeof(*recent->list);
}

static void drop_first(struct recent *recent)
{
	struct packed *oldest = at(recent, 0);

	recent->size -= size_of(oldest);
	packed_release(oldest);
	recent->first = recent->first + 1 < recent->room ? recent->first + 1 : 0;
	recent->first_id++;
	recent->nr--;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	while (recent->nr)
		drop_first(recent);
	free(recent->list);
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

/* The oldest moment has totals: what comes after it would be unknown without. */
static void keep_limit(struct recent *recent)
{
	while (whole_size(recent) > recent->limit && recent->nr > 1) {
		do {
			drop_first(recent);
		} while (recent->nr > 1 && !(at(recent, 0)->flags & MOMENT_HAS_TOTALS));
	}
}

static int grow(struct recent *recent)
{
	struct packed *list;
	size_t room = recent->room ? 2 * recent->room : 64;

	if (recent->nr < recent->room)
		return 0;
	list = calloc(room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < recent->nr; i++)
		list[i] = *at(recent, i);
	free(recent->list);
	recent->list = list;
	recent->room = room;
	recent->first = 0;
	return 0;
}

/* Takes no more memory than the parts need, and leaves theirs to the next moment. */
static int copy(const struct packed *from, struct packed *ret_packed)
{
	struct packed to = *from;
	int err = 0;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++) {
		size_t size = from->parts[i].size;

		to.parts[i] = (struct blob){ .bytes = size ? malloc(size) : NULL, .size = size,
					     .room = size };
		if (to.parts[i].bytes)
			memcpy(to.parts[i].bytes, from->parts[i].bytes, size);
		else if (size)
			err = -ENOMEM;
	}
	if (err)
		packed_release(&to);
	else
		*ret_packed = to;
	return err;
}

int recent_add(struct recent *recent, const struct packed *packed)
{
	struct packed kept;
	int err = copy(packed, &kept);

	if (err)
		return err;
	pthread_mutex_lock(&recent->lock);
	err = grow(recent);
	if (!err) {
		recent->size += size_of(&kept);
		*at(recent, recent->nr++) = kept;
		keep_limit(recent);
	}
	pthread_mutex_unlock(&recent->lock);
	if (err)
		packed_release(&kept);
	return err;
}

static int sink_add(void *state, const struct moment *moment, const struct packed *packed,
		    struct why *why)
{
	int err = recent_add(state, packed);

	(void)moment;
	return err ? why_set(why, err, "out of memory") : 0;
}

struct sink recent_sink(struct recent *recent)
{
	return (struct sink){ .state = recent, .add = sink_add };
}

/* ---- reading */

static struct stored stored_at(struct recent *recent, size_t i)
{
	const struct packed *packed = at(recent, i);

	return (struct stored){
		.id = recent->first_id + i,
		.segment = 1,
		.flags = packed->flags,
		.time_ns = packed->time_ns,
		.elapsed_ns = packed->elapsed_ns,
	};
}

/* The index of a moment, or of the oldest where it was dropped; nr: there is none. */
static size_t index_of(const struct recent *recent, uint64_t id)
{
	uint64_t i = id < recent->first_id ? 0 : id - recent->first_id;

	return i < recent->nr ? (size_t)i : recent->nr;
}

static int recent_find(void *state, uint64_t time_ns, struct stored *ret_stored, struct why *why)
{
	struct recent *recent = state;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	if (recent->nr) {
		size_t i = recent->nr - 1;

		while (i && at(recent, i)->time_ns > time_ns)
			i--;
		*ret_stored = stored_at(recent, i);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_step(void *state, uint64_t id, bool is_back, struct stored *ret_stored,
		     struct why *why)
{
	struct recent *recent = state;
	uint64_t to = is_back ? id - 1 : id + 1;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	if (!is_back && to < recent->first_id)
		to = recent->first_id;
	if (to >= recent->first_id && index_of(recent, to) < recent->nr) {
		*ret_stored = stored_at(recent, index_of(recent, to));
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_find_flagged(void *state, uint64_t id, uint32_t flags, struct stored *ret_stored,
			     struct why *why)
{
	struct recent *recent = state;
	int err = -ENOENT;

	(void)why;
	pthread_mutex_lock(&recent->lock);
	for (size_t i = id < recent->first_id ? 0 : index_of(recent, id) + 1; err && i-- > 0;) {
		if (i < recent->nr && at(recent, i)->flags & flags) {
			*ret_stored = stored_at(recent, i);
			err = 0;
		}
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_read(void *state, uint64_t id, enum moment_part part, struct blob *blob,
		     struct why *why)
{
	struct recent *recent = state;
	const struct blob *from;
	int err = -ENOENT;

	pthread_mutex_lock(&recent->lock);
	if (id >= recent->first_id && index_of(recent, id) < recent->nr) {
		from = &at(recent, index_of(recent, id))->parts[part];
		err = array_grow(&blob->bytes, &blob->room, from->size);
		if (!err && from->size)
			memcpy(blob->bytes, from->bytes, from->size);
		blob->size = err ? 0 : from->size;
	}
	pthread_mutex_unlock(&recent->lock);
	return err == -ENOENT ? why_set(why, err, "this sample is not in memory any more") : err;
}

static int recent_fields(void *state, uint32_t segment, uint32_t first, stored_field_fn take,
		       void *arg, struct why *why)
{
	(void)state;
	(void)segment;
	(void)first;
	(void)take;
	(void)arg;
	(void)why;
	return 0;
}

static int recent_segment(void *state, uint32_t segment, struct segment *ret_segment,
			struct why *why)
{
	const struct recent *recent = state;

	(void)segment;
	(void)why;
	*ret_segment = recent->segment;
	return 0;
}

struct store recent_store(struct recent *recent)
{
	static const struct store_type type = {
		.find = recent_find,
		.step = recent_step,
		.find_flagged = recent_find_flagged,
		.read = recent_read,
		.fields = recent_fields,
		.segment = recent_segment,
	};

	return (struct store){ .type = &type, .state = recent };
}
