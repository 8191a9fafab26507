// SPDX-License-Identifier: GPL-2.0-or-later
/* Merges the events of all sources by time, and keeps what the readers add. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/text.h"
#include "trace/recording/reader.h"
#include "trace/recording/event_types.h"
#include "trace/recording/trace.h"

#define RECORD_MAX 64 /* bytes of the largest record */
#define APART_UNITS UINT64_C(60000000000) /* of the clock: a minute, or half of one of a TSC */

static void *list_put(struct trace_list *list, void *item)
{
	return *array_add(list->items, list->nr, list->room) = item;
}

void *trace_list_add(struct trace_list *list, size_t size)
{
	return list_put(list, xcalloc(1, size));
}

static void list_release(struct trace_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i]);
	free(list->items);
}

/* ---- for the readers */

struct trace_file *trace_add_part(struct trace_file *file)
{
	struct trace_file *part = trace_list_add(&file->trace->files, sizeof(*part));

	*part = *file;
	part->index = (uint32_t)file->trace->files.nr - 1;
	part->info.has_events = false;
	part->done = 0;
	return part;
}

struct trace_file *trace_add_piece(struct trace_file *file, int fd, const char *name, uint64_t size)
{
	struct trace_file *piece = trace_list_add(&file->trace->pieces, sizeof(*piece));

	*piece = *file;
	piece->fd = fd;
	piece->name = xstrdup(name);
	piece->info.size = size;
	piece->done = 0;
	return piece;
}

void *trace_add_source(struct trace_file *file, size_t size,
		       bool (*next)(struct trace_source *source),
		       void (*release)(struct trace_source *source))
{
	struct trace_list *sources = &file->trace->sources;
	struct trace_source *source = trace_list_add(sources, size);

	file->info.has_events = true;
	source->file = file;
	source->order = (uint32_t)sources->nr - 1;
	source->next = next;
	source->free = release;
	source->event = (struct trace_event){
		.file = file->index,
		.cpu = -1,
		.pid = -1,
		.tid = -1,
		.vcpu = -1,
		.has_time = true,
	};
	return source;
}

const struct trace_type *trace_add_type(struct trace *trace, const struct trace_type *type)
{
	struct trace_type *added = trace_list_add(&trace->types, sizeof(*added));

	*added = *type;
	added->index = (uint32_t)trace->types.nr - 1;
	return added;
}

void trace_add_failure(struct trace *trace, const char *line)
{
	list_put(&trace->problems, xstrdup(line));
}

void trace_add_problem(struct trace_file *file, uint64_t offset, const char *fmt, ...)
{
	va_list args;
	char text[160];

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	list_put(&file->trace->problems,
		 xasprintf("%s%s%s: at byte %" PRIu64 ": %s", file->info.path,
			   file->folder ? "/" : "", file->folder ? file->name : "", offset, text));
}

void trace_clean_text(char *text, size_t size)
{
	if (!utf8_clean(text, strlen(text), text, size))
		text[0] = '\0';
}

static void close_file(struct trace_file *file)
{
	if (file->reader->close)
		file->reader->close(file);
	for (size_t i = 0; i < file->nr_guests; i++) {
		free(file->guests[i].name);
		free(file->guests[i].tids);
		free(file->guests[i].others);
	}
	free(file->guests);
	free(file->guest_tids);
	kallsyms_free(file->symbols);
	free(file->folder);
	free(file->name);
	close(file->fd);
}

void trace_close(struct trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];

		source->free(source);
	}
	for (size_t i = trace->files.nr; i-- > 0;) {
		if (!trace_is_part(trace->files.items[i]))
			close_file(trace->files.items[i]);
	}
	for (size_t i = 0; i < trace->pieces.nr; i++) {
		struct trace_file *piece = trace->pieces.items[i];

		free(piece->name);
		close(piece->fd);
	}
	free(trace->sources.items);
	free(trace->queue.heap);
	list_release(&trace->files);
	list_release(&trace->pieces);
	list_release(&trace->types);
	list_release(&trace->problems);
	list_release(&trace->repeats);
	free(trace);
}

void trace_want_stacks(struct trace *trace)
{
	trace->wants_stacks = true;
}

bool trace_locate(const struct trace *trace, const struct trace_event *event, uint64_t address,
		  bool is_kernel, struct trace_place *ret_place)
{
	const struct trace_file *file = trace->files.items[event->file];

	return file->reader->locate &&
	       file->reader->locate(file, event, address, is_kernel, ret_place);
}

uint32_t trace_count_maps(const struct trace *trace, const struct trace_event *event)
{
	const struct trace_file *file = trace->files.items[event->file];

	return file->reader->count_maps ? file->reader->count_maps(file, event) : 0;
}

/* ---- repeats */

/* The kernel's flags, which an interrupt between the two buffers may change. */
#define FLAGS_BEGIN 2
#define FLAGS_END 4

static uint64_t hash_bytes(uint64_t hash, const uint8_t *data, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		if (i < FLAGS_BEGIN || i >= FLAGS_END)
			hash = hash_byte(hash, data[i]);
	}
	return hash;
}

/* Hashes the format's fields: between them are bytes that the ring buffer had before. */
static uint64_t hash_of(const struct trace_event *event)
{
	const struct trace_type *type = event->type;
	uint64_t hash = event->size;

	if (!type->nr_fields)
		return hash_bytes(hash, event->data, 0, event->size);
	for (size_t i = 0; i < type->nr_fields; i++) {
		const struct trace_field *field = &type->fields[i];
		size_t size = 0, end = (size_t)field->offset + field->size;
		const char *data = field->flags & TRACE_FIELD_DYNAMIC ?
					   trace_field_data(field, event, &size) : NULL;

		hash = hash_bytes(hash, event->data, field->offset,
				  end < event->size ? end : event->size);
		for (size_t k = 0; data && k < size; k++)
			hash = hash_byte(hash, (uint8_t)data[k]);
	}
	return hash;
}

bool repeats_has(struct repeats *repeats, unsigned int buffer, const struct trace_event *event)
{
	uint64_t bit, hash;

	if (buffer >= REPEATS_BUFFERS || !event->type)
		return false;
	bit = UINT64_C(1) << buffer;
	hash = hash_of(event);
	for (unsigned int i = 0; i < REPEATS_EVENTS; i++) {
		unsigned int at = (repeats->next + i) % REPEATS_EVENTS; /* the oldest first */

		if (!repeats->events[at].buffers || repeats->events[at].hash != hash ||
		    repeats->events[at].buffers & bit ||
		    event->time - repeats->events[at].time > REPEATS_UNITS)
			continue;
		repeats->events[at].buffers |= bit;
		return true;
	}
	repeats->events[repeats->next].time = event->time;
	repeats->events[repeats->next].hash = hash;
	repeats->events[repeats->next].buffers = bit;
	repeats->next = (repeats->next + 1) % REPEATS_EVENTS;
	return false;
}

/* A CPU that several buffers of a file have needs a look for repeats. */
static void find_repeats(struct trace *trace)
{
	struct trace_source *table = NULL, *first;

	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];

		source->key = (uint64_t)source->file->info.main << 32 |
			      (uint32_t)source->event.cpu;
		HASH_FIND(hh, table, &source->key, sizeof(source->key), first);
		if (!first) {
			hash_add(table, key, source);
			continue;
		}
		if (first->file == source->file)
			continue;
		if (!first->repeats)
			first->repeats = trace_list_add(&trace->repeats, sizeof(struct repeats));
		source->repeats = first->repeats;
	}
	HASH_CLEAR(hh, table);
}

/* ---- merging */

static inline struct queued queued_source(struct trace_source *source)
{
	return (struct queued){ source->event.time, source->order, source };
}

static void begin_reading(struct trace *trace)
{
	trace->has_begun = true;
	find_repeats(trace);
	for (size_t i = 0; i < trace->sources.nr; i++) {
		struct trace_source *source = trace->sources.items[i];
		struct queued queued;

		if (!source->next(source))
			continue;
		queued = queued_source(source);
		queue_add(&trace->queue, &queued);
	}
}

/* The earliest source gets its next event. */
static inline void advance(struct trace *trace)
{
	struct trace_source *source = trace->queue.heap[0].item;
	bool has_next = source->next(source);
	struct queued queued = queued_source(source);

	queue_replace(&trace->queue, has_next ? &queued : NULL);
}

bool trace_next(struct trace *trace, const struct trace_event **ret_event)
{
	if (!trace->has_begun)
		begin_reading(trace);
	else if (trace->queue.nr)
		advance(trace);
	while (trace->queue.nr) {
		const struct trace_source *first = trace->queue.heap[0].item;
		struct trace_file *file = first->file;

		if (first->repeats && repeats_has(first->repeats, file->index - file->info.main,
						  &first->event)) {
			advance(trace);
			continue;
		}
		if (!file->has_given)
			file->first_time = first->event.time;
		file->has_given = true;
		file->last_time = first->event.time;
		*ret_event = &first->event;
		return true;
	}
	return false;
}

bool trace_may_wait(const struct trace *trace)
{
	const struct trace_source *first = trace->queue.nr ? trace->queue.heap[0].item : NULL;
	const struct window *window = first ? first->window : NULL;

	return window && window_left(window) < RECORD_MAX;
}

/* ---- facts about the trace */

const struct trace_info *trace_file(const struct trace *trace, size_t i)
{
	const struct trace_file *file = i < trace->files.nr ? trace->files.items[i] : NULL;

	return file ? &file->info : NULL;
}

bool trace_has_recorded(const struct trace *trace, const char *event)
{
	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];
		/* It has the formats of what was recorded, and no others. */
		bool lists_recorded = file->types && (file->info.kind == TRACE_PERF ||
						      (file->nr_guests && file->guests[0].pid > 0));

		for (size_t j = 0; lists_recorded && j < file->types->nr; j++) {
			const char *name = file->types->by_id[j].format.name;

			if (name && strcmp(name, event) == 0)
				return true;
		}
	}
	return false;
}

const struct trace_info *trace_clock_info(const struct trace *trace)
{
	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];

		if (file->info.has_events)
			return &file->info;
	}
	return trace_file(trace, 0);
}

bool trace_has_two_clocks(const struct trace *trace, const struct trace_info **ret_one,
			  const struct trace_info **ret_other)
{
	const struct trace_info *first = NULL, *info;

	for (size_t i = 0; (info = trace_file(trace, i)); i++) {
		if (info->host_id || !info->has_events)
			continue;
		if (first && strcmp(info->clock_name, first->clock_name) != 0) {
			*ret_one = first;
			*ret_other = info;
			return true;
		}
		first = first ? first : info;
	}
	return false;
}

/* Whether the events of `a` are long over when the ones of `b` begin. */
static bool is_long_before(const struct trace_file *a, const struct trace_file *b)
{
	return a->has_given && b->has_given && b->first_time > a->last_time &&
	       b->first_time - a->last_time > APART_UNITS;
}

bool trace_has_wrong_clock(const struct trace *trace, const struct trace_info **ret_one,
			   const struct trace_info **ret_other)
{
	for (size_t i = 1; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];

		for (size_t k = file->info.main; k < i && file->info.version == 7; k++) {
			const struct trace_file *other = trace->files.items[k];

			if (!is_long_before(file, other) && !is_long_before(other, file))
				continue;
			*ret_one = &other->info;
			*ret_other = &file->info;
			return true;
		}
	}
	return false;
}

const char *trace_problem(const struct trace *trace, size_t i)
{
	return i < trace->problems.nr ? trace->problems.items[i] : NULL;
}

void trace_progress(const struct trace *trace, uint64_t *ret_done, uint64_t *ret_total)
{
	uint64_t done = 0, total = 0;

	for (size_t i = 0; i < trace->files.nr; i++) {
		const struct trace_file *file = trace->files.items[i];

		done += file->done;
		total += trace_is_part(file) ? 0 : file->info.size;
	}
	for (size_t i = 0; i < trace->pieces.nr; i++) {
		const struct trace_file *piece = trace->pieces.items[i];

		done += piece->done;
		total += piece->info.size;
	}
	*ret_done = done;
	*ret_total = total;
}

const char *trace_comm(const struct trace *trace, const struct trace_event *event)
{
	const struct trace_file *file = trace->files.items[event->file];

	return file->types ? comms_get(&file->types->comms, event->tid) : "";
}

uint32_t trace_word(const struct trace *trace, const struct trace_event *event, unsigned int i)
{
	const struct trace_info *info = trace_file(trace, event->file);
	struct trace_field field = {
		.offset = 4 * i,
		.size = 4,
		.flags = info->is_big_endian != IS_BIG_HERE ? TRACE_FIELD_SWAP : 0,
	};

	return (uint32_t)trace_field_number(&field, event);
}
