// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of moments, and the one of a live screen. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/recent.h"

#define MOMENT_MAX ((size_t)64 << 20) /* bytes; see sink_add() */
#define MAY_WAIT 256 /* keys; packing them takes some 30 µs */
#define THREAD_BYTES ((size_t)128 << 10) /* of a recorder: its stack, and what malloc() keeps */

#define ALLOCATION 16 /* bytes that malloc() adds */

/* ---- a list */

static size_t bytes_of(const struct kept_moment *moment)
{
	size_t size = 0;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += moment->sizes[i];
	return size;
}

static size_t size_of(const struct kept_moment *moment)
{
	return sizeof(*moment) + bytes_of(moment) + ALLOCATION;
}

struct kept_moment kept_copy(uint64_t id, uint64_t stretch, const struct moment *moment,
			     const struct packed *packed)
{
	struct kept_moment copy = {
		.id = id,
		.stretch = stretch,
		.time_ns = moment->time_ns,
		.elapsed_ns = moment->elapsed_ns,
		.flags = moment->flags,
	};
	unsigned char *at;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		copy.sizes[i] = (uint32_t)packed->parts[i].size;
	copy.bytes = at = xmalloc(bytes_of(&copy) + 1);
	for (unsigned int i = 0; i < MOMENT_PARTS; i++) {
		if (copy.sizes[i])
			memcpy(at, packed->parts[i].bytes, copy.sizes[i]);
		at += copy.sizes[i];
	}
	return copy;
}

size_t kept_index(const struct kept *kept, uint64_t id)
{
	return array_lower_bound(kept->nr, i, kept->list[i].id < id);
}

bool kept_has(const struct kept *kept, uint64_t id)
{
	size_t i = kept_index(kept, id);

	return i < kept->nr && kept->list[i].id == id;
}

void kept_take(struct kept *kept, const struct kept_moment *moment)
{
	size_t i = kept_index(kept, moment->id);

	if (kept_has(kept, moment->id)) {
		free(moment->bytes);
		return;
	}
	array_grow(&kept->list, &kept->room, kept->nr + 1);
	memmove(&kept->list[i + 1], &kept->list[i], (kept->nr++ - i) * sizeof(*kept->list));
	kept->list[i] = *moment;
	kept->size += size_of(moment);
}

void kept_drop(struct kept *kept, size_t first, size_t nr)
{
	for (size_t i = first; i < first + nr; i++) {
		kept->size -= size_of(&kept->list[i]);
		free(kept->list[i].bytes);
	}
	kept->nr -= nr;
	memmove(&kept->list[first], &kept->list[first + nr],
		(kept->nr - first) * sizeof(*kept->list));
}

void kept_release(struct kept *kept)
{
	if (kept->nr)
		kept_drop(kept, 0, kept->nr);
	free(kept->list);
	*kept = (struct kept){ 0 };
}

int kept_read(const struct kept *kept, uint64_t id, enum moment_part part, struct blob *blob,
	      struct error *error)
{
	const struct kept_moment *moment;
	const unsigned char *from;

	if (!kept_has(kept, id))
		return error_set(error, -ENOENT, "this sample is not in memory any more");
	moment = &kept->list[kept_index(kept, id)];
	from = moment->bytes;
	for (unsigned int i = 0; i < part; i++)
		from += moment->sizes[i];
	array_grow_unset(&blob->bytes, &blob->room, moment->sizes[part]);
	if (moment->sizes[part])
		memcpy(blob->bytes, from, moment->sizes[part]);
	blob->size = moment->sizes[part];
	return 0;
}

/* ---- the past of a live screen */

struct recent {
	pthread_mutex_t lock; /* of all below but the next two */
	struct segment segment;
	const struct fields *fields;
	size_t limit, work; /* bytes: of all; to make a moment */
	struct kept kept; /* each id is one more than the id before */
	uint64_t last_id;
};

struct recent *recent_new(size_t limit, const struct segment *segment, const struct fields *fields)
{
	struct recent *recent = xcalloc(1, sizeof(*recent));

	recent->segment = *segment;
	recent->fields = fields;
	recent->limit = limit;
	pthread_mutex_init(&recent->lock, NULL);
	return recent;
}

void recent_free(struct recent *recent)
{
	if (!recent)
		return;
	kept_release(&recent->kept);
	pthread_mutex_destroy(&recent->lock);
	free(recent);
}

/* The next moment that can be the oldest: without totals, what follows it would be unknown. */
static size_t next_oldest(const struct kept *kept)
{
	size_t next = 1;

	while (next < kept->nr && !(kept->list[next].flags & MOMENT_HAS_TOTALS))
		next++;
	return next;
}

static size_t whole_size(const struct recent *recent)
{
	const struct kept *kept = &recent->kept;

	return kept->size + (kept->room - kept->nr) * sizeof(*kept->list) + recent->work +
	       THREAD_BYTES;
}

static int ring_add(struct recent *recent, const struct moment *moment, const struct packed *packed)
{
	struct kept *kept = &recent->kept;
	struct kept_moment copy;
	size_t size = 0, next;

	for (unsigned int i = 0; i < MOMENT_PARTS; i++)
		size += packed->parts[i].size;
	if (size > MOMENT_MAX)
		return -EFBIG;
	copy = kept_copy(++recent->last_id, 0, moment, packed);
	kept_take(kept, &copy);
	if (packed->work > recent->work)
		recent->work = packed->work;
	while (whole_size(recent) > recent->limit &&
	       (next = next_oldest(kept)) < kept->nr)
		kept_drop(kept, 0, next);
	return 0;
}

int recent_add(struct recent *recent, const struct moment *moment, const struct packed *packed)
{
	int err;

	pthread_mutex_lock(&recent->lock);
	err = ring_add(recent, moment, packed);
	pthread_mutex_unlock(&recent->lock);
	return err;
}

int recent_write(void *arg, const struct facts *facts, uint64_t offset_ns)
{
	struct recent_writer *writer = arg;
	int err;

	if (!writer->has_begun) {
		writer->has_begun = true;
		moment_skip(&writer->taker, facts);
		return 0;
	}
	if (!writer->packer)
		writer->packer = packer_new();
	moment_take(&writer->taker, facts, writer->start_ns + offset_ns, &writer->moment);
	pack_moment(writer->packer, &writer->moment, &writer->packed);
	err = recent_add(writer->recent, &writer->moment, &writer->packed);
	moment_release(&writer->moment); /* large of many threads, and the next one needs memory */
	return err;
}

void recent_writer_release(struct recent_writer *writer)
{
	moment_taker_release(&writer->taker);
	moment_release(&writer->moment);
	packer_free(writer->packer);
	packed_release(&writer->packed);
}

static int sink_add(void *state, const struct moment *moment, const struct packed *packed,
		    struct error *error)
{
	int err = recent_add(state, moment, packed);

	return err ? error_set(error, err, "a sample of more than 64 MiB is not kept") : 0;
}

/* The oldest totals are dropped with all moments that need them: with a quarter of them at most. */
static bool sink_wants_totals(void *state)
{
	const struct recent *recent = state;
	size_t work = recent->work + THREAD_BYTES;
	size_t room = recent->limit > work ? recent->limit - work : 0;
	size_t since = recent->kept.nr, size = 0;

	while (since && !(recent->kept.list[since - 1].flags & MOMENT_HAS_TOTALS))
		size += size_of(&recent->kept.list[--since]);
	return since && size + size_of(&recent->kept.list[since - 1]) > room / 4;
}

struct sink recent_sink(struct recent *recent)
{
	return (struct sink){ .state = recent, .add = sink_add,
			      .wants_totals = sink_wants_totals, .may_wait = MAY_WAIT };
}

/* ---- reading */

static struct stored stored_at(const struct recent *recent, size_t i)
{
	const struct kept_moment *moment = &recent->kept.list[i];

	return (struct stored){
		.id = moment->id,
		.segment = 1,
		.flags = moment->flags,
		.time_ns = moment->time_ns,
		.elapsed_ns = moment->elapsed_ns,
	};
}

static int recent_find(void *state, uint64_t time_ns, struct stored *ret_stored,
		       struct error *error)
{
	struct recent *recent = state;
	int err = -ENOENT;

	(void)error;
	pthread_mutex_lock(&recent->lock);
	if (recent->kept.nr) {
		size_t i = recent->kept.nr - 1;

		while (i && recent->kept.list[i].time_ns > time_ns)
			i--;
		*ret_stored = stored_at(recent, i);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_step(void *state, uint64_t id, bool is_back, struct stored *ret_stored,
		       struct error *error)
{
	struct recent *recent = state;
	int err = -ENOENT;
	size_t i;

	(void)error;
	pthread_mutex_lock(&recent->lock);
	i = kept_index(&recent->kept, is_back ? id : id + 1);
	if (is_back ? i > 0 : i < recent->kept.nr) {
		*ret_stored = stored_at(recent, is_back ? i - 1 : i);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_run(void *state, uint64_t from_ns, uint64_t to_ns, uint64_t before_id,
		      struct stored *ret_first, struct stored *ret_last, struct error *error)
{
	struct recent *recent = state;
	const struct kept_moment *list;
	size_t last, first;

	(void)error;
	pthread_mutex_lock(&recent->lock);
	list = recent->kept.list;
	last = kept_index(&recent->kept, before_id);
	while (last && (list[last - 1].time_ns <= from_ns || list[last - 1].time_ns > to_ns))
		last--;
	first = last;
	while (first && list[first - 1].time_ns > from_ns && list[first - 1].time_ns <= to_ns)
		first--;
	if (last) {
		*ret_first = stored_at(recent, first);
		*ret_last = stored_at(recent, last - 1);
	}
	pthread_mutex_unlock(&recent->lock);
	return last ? 0 : -ENOENT;
}

static int recent_find_flagged(void *state, uint64_t id, uint32_t flags, struct stored *ret_stored,
			       struct error *error)
{
	struct recent *recent = state;
	int err = -ENOENT;
	size_t i;

	(void)error;
	pthread_mutex_lock(&recent->lock);
	i = kept_index(&recent->kept, id + 1);
	while (i && !(recent->kept.list[i - 1].flags & flags))
		i--;
	if (i) {
		*ret_stored = stored_at(recent, i - 1);
		err = 0;
	}
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_read(void *state, uint64_t id, enum moment_part part, struct blob *blob,
		       struct error *error)
{
	struct recent *recent = state;
	int err;

	pthread_mutex_lock(&recent->lock);
	err = kept_read(&recent->kept, id, part, blob, error);
	pthread_mutex_unlock(&recent->lock);
	return err;
}

static int recent_fields(void *state, uint32_t first, stored_field_fn take, void *arg,
			 struct error *error)
{
	const struct recent *recent = state;
	int err = 0;

	(void)error;
	for (uint32_t id = first; !err && id < fields_count(recent->fields); id++)
		err = take(arg, id, fields_get(recent->fields, id));
	return err;
}

static int recent_segment(void *state, uint32_t segment, struct segment *ret_segment,
			struct error *error)
{
	const struct recent *recent = state;

	(void)segment;
	(void)error;
	*ret_segment = recent->segment;
	return 0;
}

struct store recent_store(struct recent *recent)
{
	static const struct store_type type = {
		.find = recent_find,
		.step = recent_step,
		.run = recent_run,
		.find_flagged = recent_find_flagged,
		.read = recent_read,
		.fields = recent_fields,
		.segment = recent_segment,
		.has_long_exits = true,
	};

	return (struct store){ .type = &type, .state = recent };
}
