// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VM exits of every guest, vCPU and reason, what they took, and what they were about.
 *
 * The BPF program counts while a view wants it to; field.h says what the rows are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "clock.h"
#include "providers/bpf_attach.h"
#include "providers/descriptors.h"
#include "providers/exits_bpf.h"
#include "providers/exits_captured.h"
#include "providers/exits_names.h"
#include "providers/exits_threads.h"
#include "providers/provider.h"

#define THREADS_SPARE 256 /* for guests that are yet to come */

struct exits {
	struct provider_site site;
	void *captured; /* its state, where a captured machine is looked at */
	const struct split *exit;
	struct exits_names *names;
	struct exits_bpf *bpf; /* NULL: nothing is wanted */
	struct exits_threads *threads;
	uint32_t max_threads;
	uint32_t *ended; /* records to be released */
	uint32_t nr_ended;
	bool has_arguments, has_wait;
	uint32_t flags; /* of the next sample's rows */
};

static int exits_probe(const struct env *env, struct why *why)
{
	if (env_is_captured(env))
		return exits_captured_probe(env, why);
	if (!env->tracefs)
		return why_set(why, -ENOENT, "tracefs is not mounted: mount -t tracefs tracefs "
					     "/sys/kernel/tracing");
	return bpf_probe(env, why);
}

/* The exit of a machine whose reasons are known; of others only what reaches user space counts. */
static const struct split *find_exit(const struct env *env)
{
	const struct split *split = env->arch->splits;

	for (; split && split->event; split++) {
		if (split->entry_event &&
		    tracefs_event_file_exists(NULL, split->system, split->event, "id"))
			return split;
	}
	return NULL;
}

static int open_names(struct exits *exits, struct why *why)
{
	const struct split *user = &arch_userspace_split;

	if (tracefs_set_tracing_dir((char *)(uintptr_t)exits->site.env->tracefs))
		return -ENOMEM;
	exits->exit = find_exit(exits->site.env);
	if (!exits->exit && !tracefs_event_file_exists(NULL, user->system, user->event, "id"))
		return why_set(why, -ENOENT, "no KVM events in %s/events: load the kvm module",
			       exits->site.env->tracefs);
	return exits_names_new(&exits->site, exits->exit, &exits->names);
}

static void stop(struct exits *exits)
{
	exits_bpf_close(exits->bpf);
	exits_threads_free(exits->threads);
	free(exits->ended);
	exits->bpf = NULL;
	exits->threads = NULL;
	exits->ended = NULL;
}

static void exits_close(void *state)
{
	struct exits *exits = state;

	if (!exits)
		return;
	exits_captured_close(exits->captured);
	stop(exits);
	exits_names_free(exits->names);
	free(exits);
}

static int exits_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	struct exits *exits = calloc(1, sizeof(*exits));
	int err;

	if (!exits)
		return -ENOMEM;
	exits->site = *site;
	if (env_is_captured(site->env))
		err = exits_captured_open(site, &exits->captured, why);
	else
		err = open_names(exits, why);
	if (err) {
		exits_close(exits);
		return err;
	}
	*ret_state = exits;
	return 0;
}

static uint32_t count_vcpus(const struct guests *guests)
{
	const struct guest *guest;
	size_t nr = 0;

	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		nr += guest->nr_vcpus;
	return (uint32_t)nr;
}

static int start(struct exits *exits, struct why *why)
{
	uint32_t vcpus = count_vcpus(exits->site.guests);
	struct exits_bpf_config config = {
		.env = exits->site.env,
		.exit = exits->exit,
		.max_threads = vcpus + vcpus / 4 + THREADS_SPARE,
		.has_arguments = exits->has_arguments,
	};
	int err = exits_bpf_open(&config, &exits->bpf, why);

	if (err)
		return err;
	exits->max_threads = config.max_threads;
	exits->ended = calloc(config.max_threads, sizeof(*exits->ended));
	exits->threads = exits_threads_new(&(struct exits_threads_config){
		.env = exits->site.env,
		.guests = exits->site.guests,
		.names = exits->names,
		.fields = exits->site.fields,
		.codes = exits_bpf_codes(exits->bpf),
		.max_threads = config.max_threads,
		.is_timed = exits_bpf_is_timed(exits->bpf),
	});
	exits->flags = ROW_FROM_ZERO;
	descriptors_raise(config.max_threads + DESCRIPTORS_SPARE);
	if (exits->threads && exits->ended)
		return 0;
	stop(exits);
	return -ENOMEM;
}

static bool is_wanted(const struct exits *exits, const struct want *want, enum field_use use)
{
	for (uint32_t i = 0; i < fields_count(exits->site.fields); i++) {
		const struct field *field = fields_get(exits->site.fields, i);

		if (field->use == use && field->source == exits->site.source &&
		    field_set_has(&want->fields, i))
			return true;
	}
	return false;
}

/* A question that needs other events is begun anew; else what is counted goes on. */
static int exits_want(void *state, const struct want *want, struct why *why)
{
	struct exits *exits = state;
	bool has_arguments, has_any;

	if (exits->captured)
		return exits_captured_want(exits->captured, want, why);
	has_arguments = is_wanted(exits, want, USE_ARGUMENT);
	exits->has_wait = is_wanted(exits, want, USE_TIME);
	has_any = has_arguments || exits->has_wait || is_wanted(exits, want, USE_EXIT);
	exits->flags = 0;
	if (exits->bpf && (!has_any || has_arguments != exits->has_arguments))
		stop(exits);
	exits->has_arguments = has_arguments;
	return has_any && !exits->bpf ? start(exits, why) : 0;
}

static void take_threads(struct exits *exits)
{
	exits->nr_ended = 0;
	for (uint32_t i = 0; i < exits->max_threads; i++) {
		const volatile struct exits_thread *record = exits_bpf_thread(exits->bpf, i);

		if (record->tid && !exits_threads_take(exits->threads, record))
			exits->ended[exits->nr_ended++] = i;
	}
}

static int add_arguments(struct exits *exits, struct sample *sample)
{
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	long nr = exits_bpf_arguments(exits->bpf, &keys, &cells);
	int err = 0;

	for (long i = 0; i < nr && !err; i++)
		err = exits_threads_argument(exits->threads, &keys[i], &cells[i], sample,
					     exits->flags);
	return err;
}

static void release_threads(struct exits *exits)
{
	for (uint32_t i = 0; i < exits->nr_ended; i++) {
		exits_threads_release(exits->threads, exits->ended[i]);
		exits_bpf_free_thread(exits->bpf, exits->ended[i]);
	}
}

static void say_lost(const struct exits *exits, struct why *why)
{
	struct exits_bpf_lost lost = exits_bpf_lost(exits->bpf);

	if (lost.exits)
		why_set(why, 0, "%llu exits lost: there is room for %u vCPU threads; begin anew "
				"for more", (unsigned long long)lost.exits, exits->max_threads);
	else if (lost.arguments)
		why_set(why, 0, "%llu arguments not told apart: there are too many",
			(unsigned long long)lost.arguments);
}

static int exits_collect(void *state, struct sample *sample, struct why *why)
{
	struct exits *exits = state;
	uint64_t now;
	int err;

	if (exits->captured)
		return exits_captured_collect(exits->captured, sample, why);
	if (!exits->bpf)
		return -EAGAIN;
	now = clock_now_ns();
	exits_threads_begin(exits->threads, now, exits->has_wait);
	take_threads(exits);
	err = add_arguments(exits, sample);
	if (!err)
		err = exits_threads_end(exits->threads, sample, exits->flags);
	release_threads(exits);
	exits->flags = ROW_FROM_ZERO | ROW_WHOLE_INTERVAL;
	sample->time_ns[exits->site.source] = now;
	say_lost(exits, why);
	return err;
}

const struct provider exits_provider = {
	.name = "exits",
	.help = "VM exits by guest, vCPU and reason, with their time, counted by BPF",
	.is_always_by_guest = true,
	.is_of_exits = true,
	.probe = exits_probe,
	.open = exits_open,
	.want = exits_want,
	.collect = exits_collect,
	.close = exits_close,
};
