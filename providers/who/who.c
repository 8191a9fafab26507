// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * who - how long vCPUs wait for a CPU, and what has it meanwhile.
 *
 * The programs are in the kernel only while a field is wanted. They measure the threads of vCPUs
 * that the inventory has. What ran is a field of the dictionary, which has its name, and the rows
 * of a vCPU add up to its waits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/xalloc.h"
#include "host/guest_proc.h"
#include "host/machine.h"
#include "providers/bpf/bpf.h"
#include "providers/providers.h"
#include "providers/who/interrupts.h"
#include "providers/who/members.h"
#include "providers/who/program.h"

#define NAMES_MAX 2048 /* of what ran; what comes later has none of its own */
#define CULPRITS_MAX 16384 /* with a name */
#define NAME_SIZE (GUEST_NAME_SIZE + 2 * WHO_NAME + 48)

_Static_assert(WHO_BUCKETS == HIST_BUCKETS, "the program's buckets are the sample's");

/* What had the CPU while a vCPU waited. */
struct culprit {
	struct key key; /* of the vCPU; and of the field */
	pid_t waiter;
	uint64_t count, ns, max_ns; /* since the waiter is measured */
};

struct who {
	struct provider_args args;
	struct who_bpf *bpf; /* NULL: no wait is wanted */
	struct who_interrupts *interrupts;
	uint32_t waits, preempted, in_kernel; /* fields */
	struct who_members members;
	bool has_changed; /* the members, since the latest sample */
	struct culprit *culprits;
	size_t nr_culprits, room_culprits;
	struct key_index index;
	struct key *asked; /* in this sample: the pid in place of a guest; field */
	size_t nr_asked, room_asked;
	struct key_index asked_index;
	size_t nr_names;
	enum want_scope scope;
	uint32_t guest;
};

/* ---- what ran */

/* "waits(guest 4110 web2 vCPU 0)" */
static uint32_t field_of(struct who *who, const struct who_names *names)
{
	char name[NAME_SIZE], pid[16] = "";
	const struct field field = {
		.name = name,
		.label = *names->thread ? names->thread : wait_part_name(names->part),
		.alias = *names->owner ? names->owner : NULL,
		.parent = who->waits,
		.source = who->args.source,
		.use = USE_WAIT,
		.part = names->part,
	};
	uint32_t id;

	if (names->pid)
		snprintf(pid, sizeof(pid), " %d", (int)names->pid);
	snprintf(name, sizeof(name), "waits(%s%s%s%s%s%s)", wait_part_name(names->part), pid,
		 *names->owner ? " " : "", names->owner, *names->thread ? " " : "",
		 names->thread);
	id = fields_find(who->args.fields, name);
	if (id != FIELD_NONE)
		return id;
	if (*names->thread && who->nr_names++ >= NAMES_MAX)
		return field_of(who, &(struct who_names){ .part = names->part });
	return fields_add(who->args.fields, &field);
}

static uint32_t field_of_time(struct who *who, const struct who_member *waiter,
			      const struct who_time *time)
{
	struct key ran_key = { .field = FIELD_NONE };
	struct who_names names = { .part = WAIT_UNKNOWN };
	const struct who_member *ran;

	ran = time->kind == WHO_VCPU ? who_members_find(&who->members, (pid_t)time->ran_tid) : NULL;
	if (ran)
		ran_key = (struct key){ ran->guest, ran->vcpu, FIELD_NONE };
	who_names_of(who->args.guests, time, ran ? &ran_key : NULL, waiter->guest, &names);
	return field_of(who, &names);
}

static bool is_wanted(const struct who *who, uint32_t guest)
{
	return who->scope != WANT_GUEST || who->guest == guest;
}

/* Its number in the list. Beyond the limit, what ran is told apart by its kind alone. */
static size_t find_culprit(struct who *who, const struct who_member *waiter, uint32_t field)
{
	struct key key = { waiter->guest, waiter->vcpu, field };
	const enum wait_part part = (enum wait_part)fields_get(who->args.fields, field)->part;
	size_t at;

	if (who->nr_culprits >= CULPRITS_MAX &&
	    !*key_index_slot(&who->index, who->culprits, &key))
		key.field = field_of(who, &(struct who_names){ .part = part });
	at = key_index_add(&who->index, who->culprits, sizeof(*who->culprits), who->nr_culprits,
			   &key);
	if (at == who->nr_culprits) {
		*array_add(who->culprits, who->nr_culprits, who->room_culprits) =
			(struct culprit){ .key = key, .waiter = waiter->tid };
	}
	return at;
}

/* It may have ended, and another one may have its number. */
static bool runs_still(const struct who *who, int32_t pid, const char *expected)
{
	char name[WHO_NAME + 1];

	if (env_read_line(who->args.env, name, sizeof(name), "/proc/%d/comm", (int)pid) < 0)
		return false;
	return strncmp(name, expected, WHO_NAME) == 0;
}

static void begin_asking(struct who *who)
{
	who->nr_asked = 0;
	key_index_clear(&who->asked_index);
}

/* Whether it is asked for in this sample for the first time. */
static bool begin_question(struct who *who, int32_t pid, uint32_t field)
{
	struct key key = { .guest = (uint32_t)pid, .field = field };
	size_t at = key_index_add(&who->asked_index, who->asked, sizeof(*who->asked),
				  who->nr_asked, &key);

	if (at < who->nr_asked) /* of another vCPU's pair */
		return false;
	*array_add(who->asked, who->nr_asked, who->room_asked) = key;
	return true;
}

/* If several have the name, the one that was found last; one that has ended has no pid. */
static void keep_pid(struct who *who, const struct who_time *time, uint32_t field)
{
	const struct field *of = fields_get(who->args.fields, field);
	bool is_process = of->part == WAIT_PROCESS, has_run;
	int32_t pid = (int32_t)(is_process ? time->ran_pid : time->ran_tid);

	if (!of->alias || (!is_process && of->part != WAIT_VMM && of->part != WAIT_VHOST))
		return; /* another kind; or its name is one too many */
	if (!begin_question(who, pid, field))
		return;
	has_run = runs_still(who, pid, is_process ? time->process : time->thread);
	if (has_run || of->pid == pid)
		fields_set_pid(who->args.fields, field, has_run ? pid : 0);
}

/* Adds a pair to the row of its vCPU and field: names of several pairs may be the same. */
static void take_time(void *arg, const struct who_time *time, uint64_t count, uint64_t ns,
		      uint32_t *field)
{
	struct who *who = arg;
	const struct who_member *waiter = who_members_find(&who->members, (pid_t)time->tid);
	struct culprit *culprit;
	size_t at;

	if (!waiter || waiter->number == WHO_NO_RECORD)
		return;
	if (*field == FIELD_NONE)
		*field = field_of_time(who, waiter, time);
	keep_pid(who, time, *field);
	at = find_culprit(who, waiter, *field); /* which may move the list */
	culprit = &who->culprits[at];
	culprit->count += count;
	culprit->ns += ns;
	if (time->max_ns > culprit->max_ns)
		culprit->max_ns = time->max_ns;
}

/* Forgets culprits of threads that are no longer measured. */
static void forget_culprits(struct who *who)
{
	size_t nr = 0;

	key_index_clear(&who->index);
	for (size_t i = 0; i < who->nr_culprits; i++) {
		const struct culprit culprit = who->culprits[i];
		const struct who_member *waiter =
			who_members_find(&who->members, culprit.waiter);

		if (!waiter || waiter->number == WHO_NO_RECORD ||
		    waiter->guest != culprit.key.guest || waiter->vcpu != culprit.key.vcpu)
			continue;
		key_index_add(&who->index, who->culprits, sizeof(*who->culprits), nr, &culprit.key);
		who->culprits[nr++] = culprit;
	}
	who->nr_culprits = nr;
}

/* ---- rows */

static void add_culprits(struct who *who, struct sample *sample)
{
	for (size_t i = 0; i < who->nr_culprits; i++) {
		const struct culprit *culprit = &who->culprits[i];
		const struct timing timing = { .time_ns = culprit->ns, .max_ns = culprit->max_ns };

		/* A key that is new here is new to the programs, too. */
		if (is_wanted(who, culprit->key.guest))
			sample_add_timed(sample, culprit->key, culprit->count, ROW_NEW, &timing);
	}
}

/* How long the thread has waited since it is measured. A program may just set both. */
static uint64_t waited_ns(const struct who *who, const struct who_member *member)
{
	const struct who_record *record = who_bpf_record(who->bpf, member->number);
	uint64_t seen_ns = __atomic_load_n(&record->seen_ns, __ATOMIC_ACQUIRE);
	uint64_t first_ns = record->first_ns;

	return seen_ns > first_ns ? seen_ns - first_ns : 0;
}

/*
 * The programs go on while pairs are read one after another. What the pairs add up to is the wait,
 * if it has been that long at some moment meanwhile: it has not if some found no place.
 */
static uint64_t time_of_wait(const struct who *who, const struct who_member *member)
{
	uint64_t now_ns = waited_ns(who, member);

	if (member->charged_ns < member->waited_ns)
		return member->waited_ns;
	return member->charged_ns < now_ns ? member->charged_ns : now_ns;
}

static void add_waits(const struct who *who, const struct who_member *member, struct sample *sample)
{
	const struct who_record *record = who_bpf_record(who->bpf, member->number);
	struct key key = { member->guest, member->vcpu, who->waits };
	uint64_t begun_ns = record->begun_ns - record->first_ns;
	struct timing timing = { .time_ns = time_of_wait(who, member), .max_ns = record->max_ns };

	if (record->queue && timing.time_ns > begun_ns)
		timing.open_ns = timing.time_ns - begun_ns;
	memcpy(timing.hist, record->hist, sizeof(timing.hist));
	sample_add_timed(sample, key, record->waits, ROW_NEW, &timing);
	key.field = who->preempted;
	sample_add(sample, key, record->preempted, ROW_NEW);
	key.field = who->in_kernel;
	sample_add(sample, key, record->in_kernel, ROW_NEW);
}

/* ---- the provider */

static void stop_counting(struct who *who)
{
	who_bpf_close(who->bpf);
	who->bpf = NULL;
	who->nr_culprits = 0;
	key_index_clear(&who->index);
	who_members_forget(&who->members);
}

static void who_close(void *state)
{
	struct who *who = state;

	if (!who)
		return;
	stop_counting(who);
	who_interrupts_free(who->interrupts);
	who_members_release(&who->members);
	free(who->culprits);
	key_index_release(&who->index);
	free(who->asked);
	key_index_release(&who->asked_index);
	free(who);
}

static uint32_t add_field(const struct who *who, enum wait_part part)
{
	return fields_add(who->args.fields,
			  &(struct field){ .name = wait_part_name(part), .parent = FIELD_NONE,
					   .source = who->args.source, .use = USE_WAIT,
					   .part = part });
}

static int who_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct who *who;
	int err;

	if (env_is_captured(args->env))
		return error_set(error, -ENOTSUP, "only a running kernel can be asked");
	err = bpf_probe(args->env, error);
	if (!err)
		err = trace_check_lockdown(args->env, error);
	if (err)
		return err;
	who = xcalloc(1, sizeof(*who));
	who->args = *args;
	who_members_init(&who->members, args->guests);
	who->waits = add_field(who, WAIT_ALL);
	who->preempted = add_field(who, WAIT_PREEMPTED);
	who->in_kernel = add_field(who, WAIT_IN_KERNEL);
	who->interrupts = who_interrupts_new(args);
	*ret_state = who;
	return 0;
}

static int who_want(void *state, const struct want *want, struct error *error)
{
	struct who *who = state;
	int err = 0;

	who->scope = want->scope;
	who->guest = want->guest;
	if (!field_set_has(&want->fields, who->waits)) {
		stop_counting(who);
	} else if (!who->bpf) {
		err = who_bpf_open(&who->bpf, error);
		who->members.generation = UINT64_MAX; /* the programs have no thread yet */
	}
	if (!err)
		who_interrupts_want(who->interrupts, &want->fields, error);
	return err;
}

static void say_left_out(const struct who *who, struct error *error)
{
	uint64_t lost_ms = (who_bpf_lost_ns(who->bpf) + 500000) / 1000000;

	if (who->members.nr_left_out)
		error_set(error, 0, "the waits of %zu vCPUs are not measured: there is room for %u",
			  who->members.nr_left_out, WHO_VCPUS);
	else if (lost_ms) /* less is nothing in the sums */
		error_set(error, 0, "%.3f s of waits are not in the list: too many different "
			  "threads ran", (double)lost_ms / 1e3);
}

/* Takes how long each thread has waited, and then what its pairs add up to. */
static void take_pairs(struct who *who)
{
	for (size_t i = 0; i < who->members.nr; i++) {
		struct who_member *member = &who->members.list[i];

		member->charged_ns = 0;
		if (member->number != WHO_NO_RECORD)
			member->waited_ns = waited_ns(who, member);
	}
	begin_asking(who);
	who_bpf_take(who->bpf, take_time, who);
	for (size_t i = 0; i < who->nr_culprits; i++) {
		struct who_member *member =
			who_members_find(&who->members, who->culprits[i].waiter);

		if (member)
			member->charged_ns += who->culprits[i].ns;
	}
}

static void collect_waits(struct who *who, struct sample *sample, struct error *error)
{
	take_pairs(who);
	for (size_t i = 0; i < who->members.nr; i++) {
		const struct who_member *member = &who->members.list[i];

		if (member->number != WHO_NO_RECORD && is_wanted(who, member->guest))
			add_waits(who, member, sample);
	}
	add_culprits(who, sample);
	say_left_out(who, error);
}

/* What is counted under the thread's number is still an earlier thread's. */
static bool is_reused(const struct who *who, const struct who_member *member)
{
	return member->is_there && pid_list_has(&who->members.ended, member->tid);
}

static bool vcpu_of(void *arg, pid_t tid, struct key *ret_key)
{
	const struct who *who = arg;
	const struct who_member *member = who_members_find(&who->members, tid);

	if (!member || !is_wanted(who, member->guest) || is_reused(who, member))
		return false;
	*ret_key = (struct key){ .guest = member->guest, .vcpu = member->vcpu };
	return true;
}

static bool has_ended(void *arg, pid_t tid)
{
	const struct who *who = arg;
	const struct who_member *member = who_members_find(&who->members, tid);

	if (pid_list_has(&who->members.ended, tid))
		return true;
	return member ? !member->is_there : !proc_of_thread(who->args.env, tid);
}

/* The vCPUs without an interrupt. */
static void add_quiet(const struct who *who, struct sample *sample)
{
	for (size_t i = 0; i < who->members.nr; i++) {
		const struct who_member *member = &who->members.list[i];

		if (member->is_there && is_wanted(who, member->guest))
			who_interrupts_add_none(who->interrupts,
						(struct key){ member->guest, member->vcpu, 0 },
						sample);
	}
}

static void who_look(void *state)
{
	struct who *who = state;

	if (!who->bpf && !who_interrupts_are_measured(who->interrupts))
		return;
	if (!who_members_update(&who->members, who->bpf))
		return;
	forget_culprits(who);
	who->has_changed = true;
}

static int who_collect(void *state, struct sample *sample, struct error *error)
{
	struct who *who = state;
	bool has_interrupts = who_interrupts_are_measured(who->interrupts);
	int err = 0;

	if (!who->bpf && !has_interrupts)
		return -EAGAIN;
	who_look(who);
	sample->time_ns[who->args.source] = clock_now_ns();
	if (who->bpf)
		collect_waits(who, sample, error);
	if (has_interrupts)
		err = who_interrupts_collect(who->interrupts, vcpu_of, who, sample, error);
	if (has_interrupts && !err)
		add_quiet(who, sample);
	if (who->has_changed && has_interrupts)
		who_interrupts_forget(who->interrupts, has_ended, who);
	who->has_changed = false;
	who->members.ended.nr = 0;
	return err;
}

/* The other programs are the scheduler's. */
static void who_programs(void *state, struct programs *programs)
{
	const struct who *who = state;

	who_interrupts_programs(who->interrupts, programs);
}

const struct provider who_provider = {
	ABOUT_WHO,
	.open = who_open,
	.want = who_want,
	.collect = who_collect,
	.look = who_look,
	.programs = who_programs,
	.close = who_close,
};
