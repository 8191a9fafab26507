// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VM exits of every guest, vCPU and reason, with their times and arguments.
 *
 * The BPF program counts while a view wants exits; core/facts/field.h lists the rows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/exits/stacks.h"
#include "providers/exits/threads.h"
#include "providers/providers.h"

/* Records for the vCPU threads that begin before the next sample: 1.5 MiB. */
#define SPARE 512

struct exits_state {
	struct provider_args args;
	const struct split *exit;
	struct exits_names *names;
	struct exits_bpf *bpf; /* NULL: nothing is wanted */
	struct exits_threads *threads;
	bool has_failed; /* the latest sample: the next one begins anew */
	uint32_t nr_used; /* records, in the latest sample */
	uint32_t *ended; /* the records of threads that have ended */
	uint32_t nr_ended;
	struct exits_bpf_lost lost; /* as of the previous sample */
	uint32_t lost_field;	    /* of their number; has_lost: it is wanted */
	bool has_lost, has_arguments;
	struct exits_long_list long_exits;
	uint32_t stack_hz; /* 0: no stacks are wanted */
	bool has_guest_code; /* with the guest's code */
	struct exits_stacks *stacks; /* NULL: none are sampled */
	struct guest_functions *functions; /* NULL: no guest's functions are named */
	struct error no_stacks; /* why */
	uint32_t flags; /* of the next sample's rows */
	uint64_t generation; /* of the inventory, whose sleeping vCPUs have records */
	unsigned int looks_left; /* for these */
};

/* The machine's exit event; NULL: its reasons are not known, and only exits to user space count. */
static const struct split *find_exit(const struct env *env)
{
	const struct split *split = env->arch->splits;

	for (; split && split->event; split++) {
		if (split->entry_event &&
		    trace_event_exists(env, split->system, split->event))
			return split;
	}
	return NULL;
}

/* Whether programs find its reason, in types that a module has. */
static int check_exit(const struct env *env, const struct split *exit, struct error *error)
{
	if (exit->place == EXIT_NOWHERE)
		return error_set(error, -ENOTSUP, "%s has its reason in its record only: it is "
					      "counted without times", exit->event);
	if (exit->module && !env_has(env, "/sys/module/%s", exit->module))
		return error_set(error, -ENOENT, "load the module %s", exit->module);
	return 0;
}

static int open_names(struct exits_state *exits, struct error *error)
{
	const struct split *user = &arch_userspace_split;
	unsigned int parts = EXIT_FIELDS_PARTS & ~EXIT_FIELDS_AWAY;
	uint64_t id;
	int err;

	exits->exit = find_exit(exits->args.env);
	err = exits->exit ? check_exit(exits->args.env, exits->exit, error) : 0;
	if (err)
		return err;
	err = trace_event_id(exits->args.env, user->system, user->event, &id);
	if (err && (!exits->exit || err != -ENOENT))
		return trace_why_none(exits->args.env, err == -ENOENT ? 0 : err, error);
	exits->names = exits_names_new(&exits->args, exits->exit, parts);
	return 0;
}

static void stop(struct exits_state *exits)
{
	exits_stacks_free(exits->stacks);
	guest_functions_free(exits->functions);
	exits_long_forget(&exits->long_exits);
	exits->stacks = NULL;
	exits->functions = NULL;
	exits_bpf_close(exits->bpf);
	exits_threads_free(exits->threads);
	free(exits->ended);
	exits->bpf = NULL;
	exits->threads = NULL;
	exits->ended = NULL;
	exits->has_failed = false;
}

static void exits_close(void *state)
{
	struct exits_state *exits = state;

	if (!exits)
		return;
	stop(exits);
	exits_names_free(exits->names);
	free(exits);
}

/* Exits and arguments that could not be counted. */
static void add_lost_field(struct exits_state *exits)
{
	const struct field lost = {
		.name = "lost_exits",
		.parent = FIELD_NONE,
		.source = exits->args.source,
		.use = USE_EVENT,
		.is_extra = true,
	};

	exits->lost_field = fields_add(exits->args.fields, &lost);
}

static int exits_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct exits_state *exits = xcalloc(1, sizeof(*exits));
	int err;

	exits->args = *args;
	err = trace_check(args->env, error);
	if (!err)
		err = bpf_probe_exits(args->env, error);
	if (!err)
		err = open_names(exits, error);
	if (!err)
		add_lost_field(exits);
	if (err) {
		exits_close(exits);
		return err;
	}
	*ret_state = exits;
	return 0;
}

/* How many records are needed; with the guest's code a vCPU has two. used: so many are. */
static uint32_t room_for(const struct exits_state *exits, uint32_t used)
{
	uint32_t nr = (uint32_t)guests_count_vcpus(exits->args.guests);

	if (exits->has_guest_code)
		nr *= 2;
	if (nr < used)
		nr = used;
	return nr + nr / 4 + SPARE;
}

/* A new vCPU's thread may be found before it falls asleep: there are two looks. */
static void find_sleepers(struct exits_state *exits)
{
	uint64_t generation = guests_generation(exits->args.guests);

	if (exits->generation != generation)
		exits->looks_left = 2;
	exits->generation = generation;
	if (!exits->looks_left)
		return;
	exits->looks_left--;
	exits_asleep_find(exits->bpf, exits->args.guests);
}

static int begin(struct exits_state *exits, struct error *error)
{
	uint32_t max_threads = exits->bpf->max_threads;
	int err;

	exits_long_set(&exits->long_exits, exits->bpf, exits->names);
	err = exits_bpf_attach(exits->bpf, error);
	if (err)
		return err;
	exits->generation = UINT64_MAX; /* the programs have no record yet */
	find_sleepers(exits);
	for (int part = 0; exits->bpf->sees_away && part < TIME_PARTS; part++) {
		if (EXIT_FIELDS_AWAY >> part & 1)
			exits_names_add_part(exits->names, (enum time_part)part);
	}
	exits->threads = exits_threads_new(&(struct exits_threads_config){
		.env = exits->args.env,
		.guests = exits->args.guests,
		.names = exits->names,
		.fields = exits->args.fields,
		.codes = exits->bpf->codes,
		.records = &exits->bpf->records,
		.max_threads = max_threads,
		.is_timed = exits->bpf->is_timed,
		.sees_away = exits->bpf->sees_away,
		.clock = clock_now_ns,
	});
	exits->ended = xcalloc(max_threads, sizeof(*exits->ended));
	exits->lost = (struct exits_bpf_lost){ 0 };
	exits->flags = ROW_FROM_ZERO;
	return 0;
}

static int add_threads(struct exits_state *exits, struct error *error)
{
	uint32_t max_threads = exits->bpf->max_threads + EXITS_CHUNK;
	uint32_t *ended = xreallocarray(exits->ended, max_threads, sizeof(*ended));

	exits->ended = ended;
	exits_threads_grow(exits->threads, max_threads);
	return exits_bpf_add_threads(exits->bpf, error);
}

/*
 * Makes room before it is needed: for the vCPUs of the inventory, which it may find before they
 * run, and for as many threads as have run. Where there can be no more it is tried again.
 */
static void make_room(struct exits_state *exits, uint32_t threads, struct error *error)
{
	int err = 0;

	while (!err && exits->bpf->max_threads < room_for(exits, threads) - SPARE / 2)
		err = add_threads(exits, error);
}

/* Exits are counted without stacks, too. */
static void sample_stacks(struct exits_state *exits)
{
	const struct exits_stacks_config config = {
		.env = exits->args.env,
		.guests = exits->args.guests,
		.functions = exits->has_guest_code ? exits->functions : NULL,
		.names = exits->names,
		.bpf = exits->bpf,
		.threads = exits->threads,
		.fields = exits->args.fields,
		.stacks = exits->args.stacks,
	};

	if (exits->bpf->config.stack_hz)
		exits_stacks_new(&config, &exits->stacks, &exits->no_stacks);
}

static void name_functions(struct exits_state *exits)
{
	const struct provider_options *options = &exits->args.options;

	if (exits->has_guest_code || exits->long_exits.longer_ns)
		exits->functions = guest_functions_new(&(struct guest_functions_config){
			.env = exits->args.env,
			.guests = exits->args.guests,
			.files = options->kallsyms,
			.nr_files = options->nr_kallsyms,
			.reads_memory = options->reads_guests,
		});
}

static struct exits_bpf_config config_of(const struct exits_state *exits)
{
	return (struct exits_bpf_config){
		.env = exits->args.env,
		.exit = exits->exit,
		.max_threads = room_for(exits, 0),
		.has_arguments = exits->has_arguments,
		.has_long = exits->long_exits.longer_ns,
		.stack_hz = exits->stack_hz,
		.has_cycles = exits->stack_hz && exits_stacks_have_cycles(exits->args.env),
		.has_pcs = exits->has_guest_code,
	};
}

static int start(struct exits_state *exits, struct error *error)
{
	const struct exits_bpf_config config = config_of(exits);
	int err;

	err = exits_bpf_open(&config, &exits->bpf, error);
	if (err)
		return err;
	err = begin(exits, error);
	if (err) {
		stop(exits);
		return err;
	}
	name_functions(exits);
	sample_stacks(exits);
	return 0;
}

/* Other programs join those that count, leave them, or take their place. */
static int change(struct exits_state *exits, struct error *error)
{
	const struct exits_bpf_config before = exits->bpf->config, config = config_of(exits);
	int err;

	if (before.stack_hz != config.stack_hz || before.has_pcs != config.has_pcs) {
		exits_stacks_free(exits->stacks);
		exits->stacks = NULL;
	}
	if (!config.has_pcs && !config.has_long) {
		guest_functions_free(exits->functions);
		exits->functions = NULL;
	}
	if (!config.has_long)
		exits_long_forget(&exits->long_exits);
	if (before.has_arguments != config.has_arguments)
		exits_threads_forget_arguments(exits->threads);
	if (config.has_pcs && !before.has_pcs)
		make_room(exits, exits->nr_used, error);
	exits_long_set(&exits->long_exits, exits->bpf, exits->names);
	err = exits_bpf_change(exits->bpf, &config, error);
	if (err)
		return err;
	if (!exits->functions)
		name_functions(exits);
	if (!exits->stacks)
		sample_stacks(exits);
	return 0;
}

static bool is_wanted(const struct exits_state *exits, const struct want *want, enum field_use use)
{
	for (uint32_t i = 0; i < fields_count(exits->args.fields); i++) {
		const struct field *field = fields_get(exits->args.fields, i);

		if (field->use == use && field->source == exits->args.source &&
		    field_set_has(&want->fields, i))
			return true;
	}
	return false;
}

/*
 * Whether stats keep all rows but those of arguments: a row that they had dropped would begin with
 * all it has counted.
 */
static bool wants_all(const struct exits_state *exits, const struct want *want)
{
	for (uint32_t i = 0; i < fields_count(exits->args.fields); i++) {
		const struct field *field = fields_get(exits->args.fields, i);

		if (field->source == exits->args.source && field->use != USE_ARGUMENT &&
		    !field->is_extra && !field_set_has(&want->fields, i))
			return false;
	}
	return true;
}

/* What is wanted of long exits. They are all listed from now on if that is more than before. */
static void want_long(struct exits_state *exits, const struct want *want)
{
	struct exits_long_list *list = &exits->long_exits;

	if (!exits->bpf || !list->longer_ns || want->longer_ns < list->longer_ns ||
	    (want->has_halts && !list->has_halts))
		list->since_ns = clock_real_ns();
	list->longer_ns = want->longer_ns;
	list->has_halts = want->has_halts;
}

/* Whether other programs are wanted than the ones that count. */
static bool is_other(const struct exits_state *exits)
{
	const struct exits_bpf_config *now = &exits->bpf->config;

	return now->has_arguments != exits->has_arguments ||
	       now->has_long != (exits->long_exits.longer_ns != 0) ||
	       now->stack_hz != exits->stack_hz || now->has_pcs != exits->has_guest_code;
}

/* The programs go on counting, also where more of them are wanted. */
static int exits_want(void *state, const struct want *want, struct error *error)
{
	struct exits_state *exits = state;
	struct error mended = { "" }; /* by a new start */
	bool has_any;

	exits->has_arguments = is_wanted(exits, want, USE_ARGUMENT);
	exits->has_lost = field_set_has(&want->fields, exits->lost_field);
	exits->has_failed = false;
	has_any = exits->has_arguments || is_wanted(exits, want, USE_TIME) ||
		  is_wanted(exits, want, USE_EXIT);
	exits->stack_hz = want->stack_hz;
	exits->has_guest_code = want->has_guest_code;
	want_long(exits, want);
	if (!has_any || (exits->bpf && is_other(exits) && change(exits, &mended) < 0))
		stop(exits);
	if (!wants_all(exits, want))
		exits->flags = 0;
	if (has_any && !exits->bpf)
		return start(exits, error);
	if (has_any)
		exits_long_set(&exits->long_exits, exits->bpf, exits->names);
	return 0;
}

/* There is a time in L2 from the first exit of L2 on. */
static void look_for_nested(struct exits_state *exits)
{
	if (exits_bpf_look_for_nested(exits->bpf))
		exits_names_add_part(exits->names, TIME_L2);
}

static void take_threads(struct exits_state *exits)
{
	exits->nr_used = exits->nr_ended = 0;
	for (uint32_t i = 0; i < exits->bpf->max_threads; i++) {
		const volatile struct exits_thread *record = exits_bpf_thread(exits->bpf, i);
		/* The number is written before the tid, and may be seen after it: next time. */
		bool is_used = record->tid && record->number == i;

		exits->nr_used += is_used || record->is_further;
		if (is_used && exits_threads_take(exits->threads, record))
			exits->ended[exits->nr_ended++] = i;
	}
}

static int add_arguments(struct exits_state *exits, struct error *error)
{
	const struct exits_argument_key *keys;
	const struct exits_cell *cells;
	long nr = exits_bpf_arguments(exits->bpf, &keys, &cells, error);

	for (long i = 0; i < nr; i++)
		exits_threads_argument(exits->threads, &keys[i], &cells[i],
				       exits_bpf_is_over(exits->bpf, &keys[i]));
	return nr < 0 ? (int)nr : 0;
}

static void add_lost(const struct exits_state *exits, struct sample *sample)
{
	const struct key key = { GUEST_NONE, -1, exits->lost_field };

	if (exits->has_lost)
		sample_add(sample, key, exits->lost.exits + exits->lost.arguments +
			   exits->lost.missed, exits->flags);
}

static int read_all(struct exits_state *exits, struct sample *sample, struct error *error)
{
	uint64_t now_ns;
	int err;

	look_for_nested(exits);
	exits_threads_begin(exits->threads);
	now_ns = clock_now_ns(); /* to attach programs takes a while */
	take_threads(exits);
	err = add_arguments(exits, error);
	if (!err)
		err = exits_long_collect(&exits->long_exits, exits->bpf, exits->threads,
					 exits->names, exits->functions, sample);
	if (!err && exits->stacks)
		err = exits_stacks_collect(exits->stacks, &sample->stacks, error);
	if (exits->functions)
		guest_functions_report(exits->functions, error);
	if (exits->stack_hz && !exits->stacks)
		snprintf(sample->stacks.none, sizeof(sample->stacks.none), "%.255s",
			 exits->no_stacks.text);
	if (!err) {
		exits_threads_end(exits->threads, sample, exits->flags);
		add_lost(exits, sample);
	}
	exits->flags = ROW_NEW;
	sample->time_ns[exits->args.source] = now_ns;
	return err;
}

static void release_threads(struct exits_state *exits)
{
	for (uint32_t i = 0; i < exits->nr_ended; i++) {
		exits_threads_release(exits->threads, exits->ended[i]);
		if (exits->stacks)
			exits_stacks_release(exits->stacks, exits->ended[i]);
	}
	exits_bpf_end_sample(exits->bpf, exits->ended, exits->nr_ended);
}

/* How much was lost since the previous sample. */
static struct exits_bpf_lost lost_since(struct exits_state *exits)
{
	struct exits_bpf_lost before = exits->lost;

	exits->lost = exits_bpf_lost(exits->bpf);
	return (struct exits_bpf_lost){ exits->lost.exits - before.exits,
					exits->lost.arguments - before.arguments,
					exits->lost.long_exits - before.long_exits,
					exits->lost.missed - before.missed };
}

static void say_lost(const struct exits_bpf_lost *lost, struct error *error)
{
	if (lost->exits)
		error_set(error, 0,
			  "%llu exits lost: more vCPU threads, or reasons of theirs, began "
			  "at once than there was room for",
			  (unsigned long long)lost->exits);
	else if (lost->arguments)
		error_set(error, 0,
			  "%llu arguments not counted: there are too many different ones, "
			  "or more vCPU threads began at once than there was room for",
			  (unsigned long long)lost->arguments);
	else if (lost->missed)
		error_set(error, 0,
			  "%llu exits or arguments not counted: the kernel was at work on "
			  "another BPF program or map on that CPU",
			  (unsigned long long)lost->missed);
	else if (lost->long_exits)
		error_set(error, 0, "%llu long exits not listed: there were too many at once",
			  (unsigned long long)lost->long_exits);
}

static int exits_collect(void *state, struct sample *sample, struct error *error)
{
	struct exits_state *exits = state;
	struct exits_bpf_lost lost;
	int err = exits->has_failed ? start(exits, error) : 0;

	if (err)
		return err;
	exits->has_failed = false;
	if (!exits->bpf)
		return -EAGAIN;
	find_sleepers(exits);
	lost = lost_since(exits);
	err = read_all(exits, sample, error);
	if (err) {
		stop(exits); /* a part of it was read, and would be counted twice */
		exits->has_failed = true;
		return err;
	}
	sample->long_exits.lost = lost.long_exits;
	sample->lost = lost.exits + lost.arguments + lost.long_exits + lost.missed;
	release_threads(exits);
	make_room(exits, exits->nr_used, error);
	say_lost(&lost, error);
	return 0;
}

static bool exits_is_ready(void *state)
{
	const struct exits_state *exits = state;

	return !exits->functions || guest_functions_are_ready(exits->functions);
}

static void exits_add_programs(void *state, struct programs *programs)
{
	const struct exits_state *exits = state;

	if (exits->bpf)
		exits_programs(exits->bpf, programs);
}

static bool exits_count_event(void *state, const char *event, uint64_t *ret_count)
{
	const struct exits_state *exits = state;

	return exits->bpf && exits_event_count(exits->bpf, event, ret_count);
}

const struct provider exits_provider = {
	ABOUT_EXITS,
	.open = exits_open,
	.want = exits_want,
	.is_ready = exits_is_ready,
	.collect = exits_collect,
	.programs = exits_add_programs,
	.count_event = exits_count_event,
	.close = exits_close,
};
