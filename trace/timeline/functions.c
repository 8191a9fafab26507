// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes slices of begins and ends, with a stack of open calls for each thread. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/json_items.h"
#include "lib/text.h"
#include "trace/timeline/timeline.h"

#define DEPTH_MAX 10000	    /* nested calls; deeper calls are left out */
#define EVENT_MAX (1 << 20) /* bytes of one */
#define NAME_SIZE 160
#define DEFAULT_NAME "?"

/* A call that has not returned. */
struct frame {
	int64_t begin_ns;
	int64_t last_ns; /* the latest return of a function that this call has called */
	char *name;
	struct timeline_args *args; /* NULL: none */
};

struct traced_process {
	int64_t pid;
	int32_t number; /* 0: not in the timeline yet */
	char name[NAME_SIZE];
	UT_hash_handle hh;
};

struct thread_id {
	int64_t pid, tid;
};

struct traced_thread {
	struct thread_id id;
	size_t nr; /* threads are numbered by their first event */
	struct traced_process *process;
	char name[NAME_SIZE];
	struct frame *frames;
	size_t depth, room;
	size_t left_out; /* calls beyond DEPTH_MAX */
	int64_t last_ns; /* the latest return of any call */
	int64_t nr_unbegun; /* calls with an end but no begin in the trace */
	UT_hash_handle hh;
};

struct call_drawer {
	const struct functions_config *config;
	struct timeline_out *out;
	struct traced_process *processes;
	struct traced_thread *threads;
	struct functions_span span;
};

/* ---- times ---- */

const char *decimal_read(const char *text, unsigned int decimals, uint64_t *ret_number)
{
	uint64_t number = 0;
	bool has_point = false;

	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text) || (*text == '.' && !has_point); text++) {
		if (*text == '.') {
			has_point = true;
			continue;
		}
		if (has_point && !decimals)
			continue;
		decimals -= has_point;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (unsigned int)(*text - '0'), &number))
			return NULL;
	}
	for (; decimals; decimals--) {
		if (__builtin_mul_overflow(number, 10, &number))
			return NULL;
	}
	*ret_number = number;
	return text;
}

bool functions_time(const char *text, uint64_t *ret_time)
{
	const char *end = decimal_read(text, 3, ret_time);

	return end && !*end;
}

static int64_t host_ns(const struct call_drawer *functions, const struct traced_thread *thread,
		       uint64_t time)
{
	const struct functions_config *config = functions->config;
	struct timeline_clock *clock = &functions->out->clock;

	if (config->offset)
		time -= (uint64_t)config->offset(config->state, thread->nr, time);
	if (!clock->has_base)
		timeline_clock_begin(clock, time);
	return timeline_clock_ns(clock, time);
}

/* ---- drawing ---- */

static int32_t process_number(struct call_drawer *functions, struct traced_process *process)
{
	char name[2 * NAME_SIZE];

	if (!process->number) {
		snprintf(name, sizeof(name), "%s%s%s", functions->config->name,
			 process->name[0] ? ": " : "", process->name);
		process->number = out_process(functions->out, name);
	}
	return process->number;
}

static void draw_frame(struct call_drawer *functions, struct traced_thread *thread,
		       const struct frame *frame, int64_t end_ns, bool is_cut,
		       const struct timeline_args *args)
{
	const struct functions_config *config = functions->config;
	struct timeline_event event = {
		.name = frame->name ? frame->name : DEFAULT_NAME,
		.category = is_cut ? "function,cut" : "function",
		.track = thread->id.tid,
		.ns = frame->begin_ns,
	};

	if (config->has_cut && (end_ns <= config->from_ns || frame->begin_ns >= config->to_ns))
		return;
	if (config->has_cut && end_ns > config->to_ns) {
		end_ns = config->to_ns;
		event.category = "function,cut";
	}
	event.process = process_number(functions, thread->process);
	out_slice(functions->out, &event, end_ns, args);
}

/* ---- calls ---- */

static void frame_release(struct frame *frame)
{
	free(frame->name);
	free(frame->args);
}

/*
 * A call begins. Times are coarse and may be equal, but slices must nest: the call begins after its
 * caller, and not before the end of the call before it.
 */
static void push(struct traced_thread *thread, int64_t ns, const char *name,
		 const struct timeline_args *args)
{
	const struct frame *caller = thread->depth ? &thread->frames[thread->depth - 1] : NULL;
	int64_t before_ns = caller ? caller->last_ns : thread->last_ns;

	if (thread->depth == DEPTH_MAX) {
		thread->left_out++;
		return;
	}
	if (caller && ns <= caller->begin_ns)
		ns = caller->begin_ns + 1;
	if (ns < before_ns)
		ns = before_ns;
	*array_add(thread->frames, thread->depth, thread->room) = (struct frame){
		.begin_ns = ns,
		.last_ns = ns,
		.name = xstrdup(name),
		.args = args_copy(args),
	};
}

/*
 * A call that began before the times that are drawn begins with them, 1 ns after its caller, so
 * that the slices nest. Whether this call does. depth: how many callers it has.
 */
static bool clip(const struct functions_config *config, struct frame *frame, size_t depth,
		 int64_t end_ns)
{
	if (!config->has_cut || frame->begin_ns >= config->from_ns)
		return false;
	frame->begin_ns = config->from_ns + (int64_t)depth;
	if (frame->begin_ns > end_ns)
		frame->begin_ns = end_ns;
	return true;
}

/* The innermost call returns. args: from its end event. */
static void pop(struct call_drawer *functions, struct traced_thread *thread, int64_t ns,
		bool is_cut, const struct timeline_args *args)
{
	struct frame *frame = &thread->frames[--thread->depth];
	struct timeline_args all; /* of its begin and its end */

	args_clear(&all);
	if (frame->args)
		args_join(&all, frame->args);
	args_join(&all, args);
	if (ns < frame->last_ns)
		ns = frame->last_ns;
	if (thread->depth)
		frame[-1].last_ns = ns; /* the caller's */
	thread->last_ns = ns;
	is_cut |= clip(functions->config, frame, thread->depth, ns);
	draw_frame(functions, thread, frame, ns, is_cut, &all);
	frame_release(frame);
}

/*
 * Draws a call that already ran when the trace began. The later such a call ends, the further out
 * it is: each begins 1 ns before the one that ended earlier.
 */
static void draw_unbegun(struct call_drawer *functions, struct traced_thread *thread, int64_t ns,
			 const char *name, const struct timeline_args *args)
{
	const struct functions_config *config = functions->config;
	struct frame frame = { .begin_ns = functions->span.first_ns };

	if (config->has_cut && frame.begin_ns < config->from_ns)
		frame.begin_ns = config->from_ns;
	frame.begin_ns -= ++thread->nr_unbegun;
	if (ns < thread->last_ns)
		ns = thread->last_ns;
	thread->last_ns = ns;
	frame.name = xstrdup(name);
	draw_frame(functions, thread, &frame, ns, true, args);
	frame_release(&frame);
}

/* The depth of the open call with this name, or 0. Without a name: the innermost call. */
static size_t find_call(const struct traced_thread *thread, const char *name)
{
	size_t depth = thread->depth;

	if (!*name || strcmp(name, DEFAULT_NAME) == 0)
		return depth;
	while (depth && strcmp(thread->frames[depth - 1].name, name) != 0)
		depth--;
	return depth;
}

static void end_call(struct call_drawer *functions, struct traced_thread *thread, int64_t ns,
		     const char *name, const struct timeline_args *args)
{
	const struct timeline_args none = { .used = 0 };
	size_t depth = find_call(thread, name);

	if (thread->left_out) {
		thread->left_out--;
		return;
	}
	if (!depth) {
		/* The ending call encloses all open calls, so they have ended, too. */
		while (thread->depth)
			pop(functions, thread, ns, true, &none);
		draw_unbegun(functions, thread, ns, *name ? name : DEFAULT_NAME, args);
		return;
	}
	while (thread->depth > depth)
		pop(functions, thread, ns, true, &none);
	pop(functions, thread, ns, false, args);
}

/* ---- events ---- */

static const char *text_member(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value) || !value)
		return "";
	return json_object_get_string(value);
}

static bool number_member(struct json_object *object, const char *name, int64_t *ret_number)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value) ||
	    !json_object_is_type(value, json_type_int))
		return false;
	*ret_number = json_object_get_int64(value);
	return true;
}

static void copy_args(struct call_drawer *functions, struct json_object *event,
		      struct timeline_args *args)
{
	struct json_object *object;
	const char *kept;

	args_clear(args);
	if (!json_object_object_get_ex(event, "args", &object) ||
	    !json_object_is_type(object, json_type_object))
		return;
	json_object_object_foreach(object, name, value) {
		kept = out_keep(functions->out, name);
		if (json_object_is_type(value, json_type_string))
			args_add_text(args, kept, json_object_get_string(value),
				      (size_t)json_object_get_string_len(value));
		else if (json_object_is_type(value, json_type_int))
			args_add_number(args, kept, json_object_get_int64(value));
	}
}

/* In uftrace's output, the main thread has no tid. */
static struct traced_thread *get_thread(struct call_drawer *functions, struct json_object *event)
{
	struct thread_id id = { 0, 0 };
	struct traced_thread *thread;

	number_member(event, "pid", &id.pid);
	if (!number_member(event, "tid", &id.tid))
		id.tid = id.pid;
	HASH_FIND(hh, functions->threads, &id, sizeof(id), thread);
	if (thread)
		return thread;
	thread = xcalloc(1, sizeof(*thread));
	thread->id = id;
	thread->nr = HASH_COUNT(functions->threads);
	thread->last_ns = INT64_MIN;
	thread->process = hash_get(functions->processes, pid, &id.pid);
	hash_add(functions->threads, id, thread);
	return thread;
}

static void take_name(struct call_drawer *functions, struct json_object *event)
{
	const char *what = text_member(event, "name");
	struct traced_thread *thread;
	struct json_object *args;
	const char *name;

	if (strcmp(what, "process_name") != 0 && strcmp(what, "thread_name") != 0)
		return;
	thread = get_thread(functions, event);
	if (!json_object_object_get_ex(event, "args", &args))
		return;
	name = text_member(args, "name");
	text_put(what[0] == 'p' ? thread->process->name : thread->name, NAME_SIZE, "%s", name);
}

static int take_call(struct call_drawer *functions, struct json_object *event, char kind)
{
	const char *name = text_member(event, "name");
	struct timeline_args args;
	struct traced_thread *thread;
	uint64_t time;
	int64_t ns;

	if (!functions_time(text_member(event, "ts"), &time))
		return -EINVAL;
	thread = get_thread(functions, event);
	ns = host_ns(functions, thread, time);
	if (!functions->span.has_events)
		functions->span.first_ns = functions->span.last_ns = ns;
	functions->span.has_events = true;
	if (ns > functions->span.last_ns)
		functions->span.last_ns = ns;
	copy_args(functions, event, &args);
	if (kind == 'B')
		push(thread, ns, *name ? name : DEFAULT_NAME, &args);
	else
		end_call(functions, thread, ns, name, &args);
	return 0;
}

static int take_event(struct call_drawer *functions, struct json_object *event)
{
	const char *kind = json_object_is_type(event, json_type_object) ?
		text_member(event, "ph") : "";

	if (!*kind)
		return -EINVAL;
	if (*kind == 'M')
		take_name(functions, event);
	if (*kind == 'B' || *kind == 'E')
		return take_call(functions, event, *kind);
	return 0;
}

/* ---- the stream ---- */

static void end_thread(struct call_drawer *functions, struct traced_thread *thread)
{
	const struct timeline_args none = { .used = 0 };
	char name[NAME_SIZE + 32];

	while (thread->depth)
		pop(functions, thread, functions->span.last_ns, true, &none);
	if (thread->process->number) {
		snprintf(name, sizeof(name), "thread %" PRId64, thread->id.tid);
		out_track(functions->out, thread->process->number, thread->id.tid,
			  thread->name[0] ? thread->name : name, (int64_t)thread->nr);
	}
	free(thread->frames);
	free(thread);
}

static void functions_end(struct call_drawer *functions)
{
	struct traced_thread *thread, *next_thread;

	HASH_ITER(hh, functions->threads, thread, next_thread) {
		HASH_DEL(functions->threads, thread);
		end_thread(functions, thread);
	}
	hash_free(functions->processes, free);
}

static int read_events(struct call_drawer *functions, struct json_items *items, const char *path,
		       struct error *error)
{
	struct json_object *event;
	struct progress *progress = functions->config->progress;
	int got = 1, err = 0;

	if (!json_items_begin(items, "\"traceEvents\""))
		return !items->offset && !json_items_has_more(items) ?
			       error_set(error, -ENODATA, "%s: is empty: write a Chrome trace with "
					 "uftrace dump --chrome", path) :
			       error_set(error, -EINVAL, "%s: not a Chrome trace: write one with "
					 "uftrace dump --chrome", path);
	while (!err && (got = json_items_next(items, &event)) > 0) {
		err = take_event(functions, event);
		json_object_put(event);
		if (progress)
			progress_step(progress, items->offset, functions->config->total);
	}
	if (!err && !got)
		return 0;
	return error_set(error, -EINVAL, "%s: %s at offset %" PRIu64 ": write it again, as with "
			 "uftrace dump --chrome", path, json_items_has_more(items) ?
			 "not an event of a Chrome trace" : "ends too early,", items->offset);
}

int timeline_functions(FILE *in, const char *path, const struct functions_config *config,
		       struct timeline_out *out, struct functions_span *ret_span,
		       struct error *error)
{
	struct call_drawer functions = { .config = config, .out = out };
	struct json_items *items =
		json_items_new(in, NULL, 0, JSON_TOKENER_DEFAULT_DEPTH, EVENT_MAX);
	int err = read_events(&functions, items, path, error);

	json_items_free(items);
	functions_end(&functions);
	*ret_span = functions.span;
	return err;
}
