// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perfetto's own trace format, protobuf: protos/perfetto/trace in its source has the messages.
 *
 * Each track is a sequence of packets, which begins with its clock and its defaults: so the times
 * of most of its events are small differences, and no event names its track. A name is sent once in
 * a sequence, and is a number from then on. A slice is two events: its begin, with name and
 * arguments, and its end, which closes the innermost open slice. An event before the last one of
 * its sequence has a whole time, of the trace's clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "trace/timeline/out.h"
#include "trace/timeline/packets.h"

/* ---- what is kept ---- */

struct interned_name {
	uint32_t number; /* the same in all sequences; from 1 */
	uint32_t kind;
	UT_hash_handle hh;
	char text[];
};

struct track_key {
	int64_t id; /* of a counter: its name's number */
	int32_t process;
	int32_t is_counter;
};

struct perfetto_track {
	struct track_key key;
	uint64_t sequence;
	int64_t last_ns;
	uint8_t head[16]; /* how the packets of its events begin */
	size_t head_len;
	uint64_t *has_names; /* a bit for each number of a name that was sent in the sequence */
	size_t nr_has_names; /* of 64 bits */
	UT_hash_handle hh;
};

#define RECENT_TRACKS 256 /* a power of two, as the next */
#define RECENT_NAMES 4096

struct perfetto {
	struct packets packets;
	struct interned_name *names[NR_NAME_KINDS];
	uint32_t nr_names;
	struct perfetto_track *tracks;
	uint64_t nr_sequences;
	struct perfetto_track *recent_tracks[RECENT_TRACKS]; /* by their ids */
	/* By the addresses of their texts, which tell all of a text that stays where it is. */
	struct {
		const char *text;
		struct interned_name *name;
	} recent_names[RECENT_NAMES];
};

#define SEQUENCE_OF_NAMES 1 /* of processes and tracks */

/* ---- tracks ---- */

static uint64_t uuid_of_process(int32_t process)
{
	return (uint64_t)process << 32;
}

static uint64_t uuid_of(const struct perfetto_track *track)
{
	return uuid_of_process(track->key.process) | track->sequence;
}

static void put_clock(struct packets *packets, uint64_t clock)
{
	size_t mark = message_begin(packets, CLOCKS_CLOCK);

	put_number(packets, CLOCK_ID, clock);
	put_number(packets, CLOCK_TIME, 0);
	if (clock == CLOCK_OF_SEQUENCE)
		put_number(packets, CLOCK_IS_DIFFERENCE, true);
	message_end(packets, mark);
}

/* As a packet would begin, which is not sent. */
static void make_head(struct packets *packets, struct perfetto_track *track)
{
	uint8_t *begin = packets->at;

	put_number(packets, PACKET_SEQUENCE, track->sequence);
	put_number(packets, PACKET_FLAGS, FLAG_NEEDS_NAMES);
	track->head_len = (size_t)(packets->at - begin);
	memcpy(track->head, begin, track->head_len);
	packets->at = begin;
}

static void begin_sequence(struct packets *packets, struct perfetto_track *track)
{
	size_t mark, inner;

	make_head(packets, track);
	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, track->sequence);
	put_number(packets, PACKET_FLAGS, FLAG_BEGINS);
	put_number(packets, PACKET_IS_FIRST, true);
	mark = message_begin(packets, PACKET_DEFAULTS);
	put_number(packets, DEFAULTS_CLOCK, CLOCK_OF_SEQUENCE);
	inner = message_begin(packets, DEFAULTS_EVENT);
	put_number(packets, EVENT_TRACK, uuid_of(track));
	message_end(packets, inner);
	message_end(packets, mark);
	mark = message_begin(packets, PACKET_CLOCKS);
	put_clock(packets, CLOCK_OF_SEQUENCE);
	put_clock(packets, CLOCK_OF_TRACE);
	message_end(packets, mark);
	packet_end(packets);
}

static struct perfetto_track *get_track(struct perfetto *perfetto, const struct track_key *key,
					bool *ret_is_new)
{
	size_t slot = (uint64_t)key->id % RECENT_TRACKS;
	struct perfetto_track **recent = &perfetto->recent_tracks[slot], *track;

	*ret_is_new = false;
	if (*recent && (*recent)->key.id == key->id && (*recent)->key.process == key->process &&
	    (*recent)->key.is_counter == key->is_counter)
		return *recent;
	HASH_FIND(hh, perfetto->tracks, key, sizeof(*key), track);
	if (!track) {
		track = xcalloc(1, sizeof(*track));
		track->key = *key;
		track->sequence = SEQUENCE_OF_NAMES + ++perfetto->nr_sequences;
		hash_add(perfetto->tracks, key, track);
		begin_sequence(&perfetto->packets, track);
		*ret_is_new = true;
	}
	*recent = track;
	return track;
}

static struct perfetto_track *thread_track(struct perfetto *perfetto, int32_t process, int64_t id)
{
	const struct track_key key = { .id = id, .process = process };
	bool is_new;

	return get_track(perfetto, &key, &is_new);
}

/* ---- names ---- */

/* Once for each name of a sequence, or where two names share a slot: not inlined, for the rest. */
#define SELDOM __attribute__((noinline, cold))

SELDOM static struct interned_name *find_name(struct perfetto *perfetto, enum name_kind kind,
					      const char *text)
{
	size_t len = strlen(text);
	struct interned_name *name;

	HASH_FIND(hh, perfetto->names[kind], text, len, name);
	if (!name) {
		name = xcalloc(1, sizeof(*name) + len + 1);
		memcpy(name->text, text, len);
		name->number = ++perfetto->nr_names;
		name->kind = kind;
		HASH_ADD_KEYPTR(hh, perfetto->names[kind], name->text, len, name);
	}
	return name;
}

static inline struct interned_name *get_name(struct perfetto *perfetto, enum name_kind kind,
					     const char *text)
{
	size_t slot = ((uintptr_t)text + kind) * UINT64_C(0x9e3779b97f4a7c15) >> 32 &
		      (RECENT_NAMES - 1);
	struct interned_name *name = perfetto->recent_names[slot].name;

	/* The text of an event's name may be another one at the same address. */
	if (perfetto->recent_names[slot].text == text && name->kind == kind &&
	    (kind != NAME_OF_EVENT || strcmp(name->text, text) == 0))
		return name;
	name = find_name(perfetto, kind, text);
	perfetto->recent_names[slot].text = text;
	perfetto->recent_names[slot].name = name;
	return name;
}

SELDOM static void send_name(struct packets *packets, struct perfetto_track *track,
			     const struct interned_name *name)
{
	size_t word = name->number / 64, mark, inner;

	array_grow(&track->has_names, &track->nr_has_names, word + 1);
	track->has_names[word] |= UINT64_C(1) << name->number % 64;
	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, track->sequence);
	mark = message_begin(packets, PACKET_NAMES);
	inner = message_begin(packets, name->kind);
	put_number(packets, NAME_NUMBER, name->number);
	put_text(packets, NAME_TEXT, name->text, strlen(name->text));
	message_end(packets, inner);
	message_end(packets, mark);
	packet_end(packets);
}

/* The number of the name, which is sent if it was not yet. No packet may be open. */
static inline uint32_t number_of(struct perfetto *perfetto, struct perfetto_track *track,
				 enum name_kind kind, const char *text)
{
	const struct interned_name *name = get_name(perfetto, kind, text);
	size_t word = name->number / 64;

	if (word >= track->nr_has_names || !(track->has_names[word] >> name->number % 64 & 1))
		send_name(&perfetto->packets, track, name);
	return name->number;
}

/* ---- events ---- */

static inline size_t begin_event(struct packets *packets, const struct perfetto_track *track,
				 enum event_type type)
{
	size_t mark;

	packet_begin(packets);
	memcpy(packets->at, track->head, sizeof(track->head));
	packets->at += track->head_len;
	mark = message_begin(packets, PACKET_EVENT);
	put_number(packets, EVENT_TYPE, type);
	return mark;
}

static void end_event(struct packets *packets, struct perfetto_track *track, size_t mark,
		      int64_t ns)
{
	message_end(packets, mark);
	if (ns >= track->last_ns) {
		put_number(packets, PACKET_TIME, (uint64_t)(ns - track->last_ns));
		track->last_ns = ns;
	} else {
		put_number(packets, PACKET_TIME, (uint64_t)ns);
		put_number(packets, PACKET_CLOCK, CLOCK_OF_TRACE);
	}
	packet_end(packets);
}

#define ARGS_MAX (sizeof(((struct timeline_args *)NULL)->data) / sizeof(struct timeline_arg))

static void put_arg(struct packets *packets, uint32_t name, const struct timeline_arg *arg)
{
	size_t mark = message_begin(packets, EVENT_ANNOTATION);

	put_number(packets, ANNOTATION_NAME, name);
	switch ((enum timeline_arg_kind)arg->kind) {
	case ARG_NUMBER:
		put_number(packets, ANNOTATION_INTEGER, (uint64_t)arg->number);
		break;
	case ARG_HEX:
		put_number(packets, ANNOTATION_POINTER, (uint64_t)arg->number);
		break;
	case ARG_TEXT:
		put_text(packets, ANNOTATION_TEXT, arg->text, arg->len);
		break;
	case ARG_DECIMAL:
		put_double(packets, ANNOTATION_DOUBLE, strtod(arg->text, NULL));
		break;
	}
	message_end(packets, mark);
}

static struct perfetto_track *put_event(struct perfetto *perfetto, enum event_type type,
					const struct timeline_event *event,
					const struct timeline_args *args)
{
	struct packets *packets = &perfetto->packets;
	struct perfetto_track *track = thread_track(perfetto, event->process, event->track);
	uint32_t name = number_of(perfetto, track, NAME_OF_EVENT, event->name);
	uint32_t category = number_of(perfetto, track, NAME_OF_CATEGORY, event->category);
	uint32_t numbers[ARGS_MAX];
	const struct timeline_arg *arg;
	size_t nr = 0, mark;

	for (arg = args_first(args); arg; arg = args_after(args, arg))
		numbers[nr++] = number_of(perfetto, track, NAME_OF_ARG, arg->name);
	mark = begin_event(packets, track, type);
	put_number(packets, EVENT_CATEGORY, category);
	put_number(packets, EVENT_NAME, name);
	arg = args_first(args);
	for (size_t i = 0; i < nr; i++, arg = args_after(args, arg))
		put_arg(packets, numbers[i], arg);
	if (event->flow)
		put_fixed(packets, event->ends_flow ? EVENT_FLOW_END : EVENT_FLOW, event->flow);
	end_event(packets, track, mark, event->ns);
	return track;
}

static void perfetto_slice(void *state, const struct timeline_event *event, int64_t end_ns,
			   const struct timeline_args *args)
{
	struct perfetto *perfetto = state;
	struct perfetto_track *track = put_event(perfetto, TYPE_BEGIN, event, args);
	size_t mark = begin_event(&perfetto->packets, track, TYPE_END);

	end_event(&perfetto->packets, track, mark, end_ns);
}

static void perfetto_instant(void *state, const struct timeline_event *event,
			     const struct timeline_args *args)
{
	put_event(state, TYPE_INSTANT, event, args);
}

/* ---- counters ---- */

static void describe_counter(struct packets *packets, const struct perfetto_track *track,
			     const struct timeline_event *event)
{
	size_t mark, inner;

	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, SEQUENCE_OF_NAMES);
	mark = message_begin(packets, PACKET_TRACK);
	put_number(packets, TRACK_UUID, uuid_of(track));
	put_number(packets, TRACK_PARENT, uuid_of_process(track->key.process));
	put_text(packets, TRACK_NAME, event->name, strlen(event->name));
	put_number(packets, TRACK_MERGES, MERGES_NEVER);
	inner = message_begin(packets, TRACK_COUNTER);
	put_text(packets, COUNTER_CATEGORY, event->category, strlen(event->category));
	message_end(packets, inner);
	message_end(packets, mark);
	packet_end(packets);
}

/* As an integer if it is one. */
static void put_value(struct packets *packets, const char *value)
{
	long long number;
	char *end;

	errno = 0;
	number = strtoll(value, &end, 10);
	if (!*end && !errno)
		put_number(packets, EVENT_INTEGER, (uint64_t)number);
	else
		put_double(packets, EVENT_DOUBLE, strtod(value, NULL));
}

static void perfetto_counter(void *state, const struct timeline_event *event, const char *value)
{
	struct perfetto *perfetto = state;
	const struct track_key key = {
		.id = get_name(perfetto, NAME_OF_EVENT, event->name)->number,
		.process = event->process,
		.is_counter = true,
	};
	bool is_new;
	struct perfetto_track *track = get_track(perfetto, &key, &is_new);
	size_t mark;

	if (is_new)
		describe_counter(&perfetto->packets, track, event);
	mark = begin_event(&perfetto->packets, track, TYPE_COUNTER);
	put_value(&perfetto->packets, value);
	end_event(&perfetto->packets, track, mark, event->ns);
}

/* ---- processes, tracks and the whole ---- */

/* A track of this number has all others below it: says how they are ordered. */
static void describe_all(struct packets *packets)
{
	size_t mark;

	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, SEQUENCE_OF_NAMES);
	put_number(packets, PACKET_FLAGS, FLAG_BEGINS);
	put_number(packets, PACKET_IS_FIRST, true);
	mark = message_begin(packets, PACKET_TRACK);
	put_number(packets, TRACK_UUID, 0);
	put_number(packets, TRACK_PROCESSES, ORDER_BY_RANK);
	put_number(packets, TRACK_THREADS, ORDER_BY_RANK);
	message_end(packets, mark);
	packet_end(packets);
}

static void *perfetto_begin(FILE *file)
{
	struct perfetto *perfetto = xcalloc(1, sizeof(*perfetto));

	packets_init(&perfetto->packets, file);
	describe_all(&perfetto->packets);
	return perfetto;
}

static void perfetto_process(void *state, int32_t process, const char *name)
{
	struct packets *packets = &((struct perfetto *)state)->packets;
	size_t mark, inner;

	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, SEQUENCE_OF_NAMES);
	mark = message_begin(packets, PACKET_TRACK);
	put_number(packets, TRACK_UUID, uuid_of_process(process));
	inner = message_begin(packets, TRACK_PROCESS);
	put_number(packets, PROCESS_PID, (uint64_t)process);
	put_text(packets, PROCESS_NAME, name, strlen(name));
	message_end(packets, inner);
	put_number(packets, TRACK_RANK, (uint64_t)process);
	message_end(packets, mark);
	packet_end(packets);
}

static void perfetto_track(void *state, int32_t process, int64_t id, const char *name,
			   int64_t order)
{
	struct packets *packets = &((struct perfetto *)state)->packets;
	const struct perfetto_track *track = thread_track(state, process, id);
	size_t mark, inner;

	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, SEQUENCE_OF_NAMES);
	mark = message_begin(packets, PACKET_TRACK);
	put_number(packets, TRACK_UUID, uuid_of(track));
	inner = message_begin(packets, TRACK_THREAD);
	put_number(packets, THREAD_PID, (uint64_t)process);
	put_number(packets, THREAD_TID, (uint64_t)id);
	put_text(packets, THREAD_NAME, name, strlen(name));
	message_end(packets, inner);
	put_number(packets, TRACK_RANK, (uint64_t)order);
	message_end(packets, mark);
	packet_end(packets);
}

/* What is said of the whole. */
static void describe_trace(struct packets *packets, const struct timeline_args *metadata)
{
	const struct timeline_arg *arg = args_first(metadata);
	size_t mark, inner;

	packet_begin(packets);
	put_number(packets, PACKET_SEQUENCE, SEQUENCE_OF_NAMES);
	mark = message_begin(packets, PACKET_ATTRIBUTES);
	for (; arg; arg = args_after(metadata, arg)) {
		inner = message_begin(packets, ATTRIBUTES_ATTRIBUTE);
		put_text(packets, ATTRIBUTE_KEY, arg->name, strlen(arg->name));
		if (arg->kind == ARG_TEXT || arg->kind == ARG_DECIMAL)
			put_text(packets, ATTRIBUTE_TEXT, arg->text, arg->len);
		else
			put_number(packets, ATTRIBUTE_INTEGER, (uint64_t)arg->number);
		message_end(packets, inner);
	}
	message_end(packets, mark);
	packet_end(packets);
}

static void track_free(struct perfetto_track *track)
{
	free(track->has_names);
	free(track);
}

static void perfetto_end(void *state, const struct timeline_args *metadata)
{
	struct perfetto *perfetto = state;

	describe_trace(&perfetto->packets, metadata);
	packets_release(&perfetto->packets);
	hash_free(perfetto->tracks, track_free);
	for (size_t kind = 0; kind < NR_NAME_KINDS; kind++)
		hash_free(perfetto->names[kind], free);
	free(perfetto);
}

const struct timeline_format timeline_perfetto = {
	.name = "perfetto",
	.begin = perfetto_begin,
	.process = perfetto_process,
	.track = perfetto_track,
	.slice = perfetto_slice,
	.instant = perfetto_instant,
	.counter = perfetto_counter,
	.end = perfetto_end,
};
