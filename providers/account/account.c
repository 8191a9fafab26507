// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account - KVM's own statistics of each VM and vCPU, with its histograms of halts; and inventory,
 * the same without statistics.
 *
 * They are the counters of debugfs, under the same names, of every VMM, under lockdown, too. KVM
 * counts them whether or not they are read, so a guest pays nothing. Each reading shows which
 * process holds which vCPUs, and which threads run them, for the inventory of guests.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/xalloc.h"
#include "core/facts/shared_fields.h"
#include "core/guests/follow.h"
#include "host/guest_proc.h"
#include "host/machine.h"
#include "providers/account/account.h"
#include "providers/account/times.h"
#include "providers/providers.h"

#define LOG_128_NS 7 /* the last of the kernel's buckets that is in our first one */

/* A guest that is read. */
struct watched {
	struct followed of;
	bool is_late; /* it came while others were watched */
};

/* A VM or vCPU that the sample has. */
struct seen {
	uint32_t guest;
	int32_t vcpu; /* -1: the VM itself */
	uint64_t vm;
	size_t row; /* its first one */
	size_t others; /* how many were seen when the latest one with this number was; 0: none */
};

/* A VM, its process, and the guest of which it was the latest VM when it ended. */
struct known_vm {
	uint64_t vm;
	pid_t pid;
	uint32_t guest;
	UT_hash_handle hh;
};

/* The last statistics of a VM or vCPU. */
struct ended_part {
	struct account_head head;
	char *bytes;
	bool was_there; /* its process was, in the sample before */
	bool is_done;
};

struct account {
	struct provider_args args;
	struct account_reader *reader;
	bool notes_vms; /* the last statistics of VMs are wanted */
	struct known_vm *vms;
	struct ended_part *ended; /* not in a sample yet */
	size_t nr_ended, room_ended;
	struct vm_watch watch;
	struct vm_part *parts; /* of the present reading */
	size_t nr_parts, room_parts;
	struct account_layout layouts[ACCOUNT_LAYOUTS];
	struct account_times times;
	/* Counters of a vCPU's halts; NULL: KVM has none, and the vCPU's times are not known. */
	const struct account_counter *halt_ns, *halt_hist;
	uint32_t time_fields[TIME_PARTS]; /* that are wanted, else FIELD_NONE */
	bool has_times; /* any of these */
	struct follow watched; /* struct watched */
	struct seen *seen; /* of the latest process, or of all that ended */
	size_t nr_seen, room_seen;
	size_t *latest; /* by number + 1, the same count for the latest one */
	size_t room_latest;
	enum want_scope scope;
	uint32_t guest;
	bool is_anything_wanted;
	bool is_watching; /* there was a sample: guests found later are late */
};

/* ---- layouts */

void account_layout_add(struct account_layout *layout, const char *name, size_t at,
			unsigned int nr)
{
	struct account_counter *counter;

	if (!nr || at > ACCOUNT_BYTES_MAX || nr > (ACCOUNT_BYTES_MAX - at) / sizeof(uint64_t) ||
	    strlen(name) >= sizeof(counter->name))
		return;
	counter = array_add(layout->counters, layout->nr, layout->room);
	*counter = (struct account_counter){ .at = at, .nr = nr, .field = FIELD_NONE };
	strcpy(counter->name, name);
}

static const struct account_counter *find_counter(const struct account_layout *layout,
						  const char *name, size_t length, const char *end)
{
	for (size_t i = 0; i < layout->nr; i++) {
		const struct account_counter *counter = &layout->counters[i];

		if (strncmp(counter->name, name, length) == 0 &&
		    strcmp(counter->name + length, end) == 0)
			return counter;
	}
	return NULL;
}

/* halt_wait_ns is the sum of the durations in halt_wait_hist. */
void account_layout_end(struct account_layout *layout)
{
	for (size_t i = 0; i < layout->nr; i++) {
		struct account_counter *counter = &layout->counters[i];
		const char *suffix = strrchr(counter->name, '_');
		const struct account_counter *sum = NULL;

		if (counter->nr > 1 && suffix && strcmp(suffix, "_hist") == 0)
			sum = find_counter(layout, counter->name,
					   (size_t)(suffix - counter->name), "_ns");
		counter->has_durations = sum != NULL;
		counter->sum_at = sum ? sum->at : 0;
	}
}

/* Parents before their children. part: see kvm_counter_add(). */
static void add_fields(const struct account *account, struct account_layout *layout,
		       unsigned int part)
{
	for (int is_child = 0; is_child <= 1; is_child++) {
		for (size_t i = 0; i < layout->nr; i++) {
			struct account_counter *counter = &layout->counters[i];

			if (kvm_counter_is_child(account->args.env, counter->name) !=
			    (is_child != 0))
				continue;
			kvm_counter_add(&account->args, counter->name, FIELD_COUNTER, part,
					&counter->field);
			if (counter->field != FIELD_NONE)
				counter->kind = fields_get(account->args.fields,
							   counter->field)->kind;
		}
	}
}

/* The parts that are known without a program on exits. */
static const enum time_part known_parts[] = { TIME_WHOLE, TIME_IDLE, TIME_BLOCK };

static void add_times(struct account *account)
{
	struct exit_fields fields = { .fields = account->args.fields,
				      .source = account->args.source };
	const struct account_layout *layout = &account->layouts[ACCOUNT_VCPU];

	account->halt_ns = find_counter(layout, "halt_wait", strlen("halt_wait"), "_ns");
	account->halt_hist = find_counter(layout, "halt_wait", strlen("halt_wait"), "_hist");
	if (!account->halt_ns || !account->halt_hist)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known_parts); i++)
		exit_fields_add_part(&fields, known_parts[i]);
}

/* ---- guests */

static void begin_watched(void *arg, void *item)
{
	const struct account *account = arg;
	struct watched *watched = item;

	watched->is_late = account->is_watching;
}

static void drop_watched(void *arg, void *item)
{
	const struct account *account = arg;
	const struct watched *watched = item;

	account_forget(account->reader, watched->of.pid);
}

static struct watched *watched_at(const struct account *account, size_t i)
{
	return (struct watched *)account->watched.list + i;
}

/* ---- rows */

/*
 * The kernel's bucket i has what is below 2^i ns, its last one the rest: today 2^30 ns and more. So
 * the bucket of ours that has these is open to its end, too, and nothing counts as longer.
 */
void account_timing_add(const struct account_counter *counter, const char *bytes,
			struct timing *timing)
{
	uint64_t time_ns, max_ns = 0;

	memcpy(&time_ns, bytes + counter->sum_at, sizeof(time_ns));
	timing->time_ns += time_ns;
	for (unsigned int i = 0; i < counter->nr; i++) {
		unsigned int bucket = i > LOG_128_NS ? i - LOG_128_NS : 0;
		uint64_t count;

		memcpy(&count, bytes + counter->at + i * sizeof(count), sizeof(count));
		if (!count)
			continue;
		if (bucket >= HIST_BUCKETS)
			bucket = HIST_BUCKETS - 1;
		timing->hist[bucket] += (uint32_t)count;
		max_ns = i + 1 < counter->nr ? hist_edge_ns(bucket) : INT64_MAX;
	}
	if (max_ns > timing->max_ns)
		timing->max_ns = max_ns;
}

static uint64_t sum_of(const struct account_counter *counter, const char *bytes, bool is_level)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < counter->nr; i++) {
		uint64_t value;

		memcpy(&value, bytes + counter->at + i * sizeof(value), sizeof(value));
		sum += is_level ? kvm_counter_level(value) : value;
	}
	return sum;
}

struct reading {
	struct account *account;
	struct sample *sample;
};

/* Adds the bytes to the rows from seen->row on, or to new ones after the last. */
static void add_rows(const struct reading *reading, const struct seen *seen, uint32_t flags,
		     const struct account_layout *layout, const char *bytes)
{
	struct sample *sample = reading->sample;
	size_t at = seen->row;

	for (size_t i = 0; i < layout->nr; i++) {
		const struct account_counter *counter = &layout->counters[i];
		struct key key = { seen->guest, seen->vcpu, counter->field };
		struct row *row;
		uint64_t value;

		if (!counter->is_wanted)
			continue;
		if (at == sample->nr_rows && counter->has_durations)
			sample_add_timed(sample, key, 0, flags, &(struct timing){ 0 });
		else if (at == sample->nr_rows)
			sample_add(sample, key, 0, flags);
		row = &sample->rows[at++];
		value = sum_of(counter, bytes, counter->kind != FIELD_COUNTER);
		if (counter->kind != FIELD_PEAK)
			row->count += value;
		else if (value > row->count)
			row->count = value;
		if (counter->has_durations)
			account_timing_add(counter, bytes, &sample->timings[row->timing - 1]);
	}
}

static void add_time(const struct reading *reading, const struct seen *seen, enum time_part part,
		     uint32_t flags, uint64_t ns)
{
	struct sample *sample = reading->sample;
	struct key key = { seen->guest, seen->vcpu, reading->account->time_fields[part] };
	size_t at = seen->row;

	while (at < sample->nr_rows && !key_equal(&sample->rows[at].key, &key))
		at++;
	if (at < sample->nr_rows)
		sample->rows[at].count += ns;
	else
		sample_add(sample, key, ns, flags);
}

static void add_times_of(const struct reading *reading, const struct seen *seen, uint32_t flags,
			 const struct account_head *head, const char *bytes)
{
	struct account *account = reading->account;
	struct account_halts halts;
	uint64_t parts[TIME_PARTS];

	if (!account->has_times || head->vcpu < 0)
		return;
	halts.ns = sum_of(account->halt_ns, bytes, false);
	halts.count = sum_of(account->halt_hist, bytes, false);
	if (!account_times_read(&account->times, head, halts, parts))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known_parts); i++) {
		if (account->time_fields[known_parts[i]] != FIELD_NONE)
			add_time(reading, seen, known_parts[i], flags, parts[known_parts[i]]);
	}
}

static void forget_seen(struct account *account)
{
	while (account->nr_seen)
		account->latest[account->seen[--account->nr_seen].vcpu + 1] = 0;
}

/*
 * A process may hold a descriptor twice, which counts once, and two VMs, which add up: false where
 * this was added already.
 */
static bool begin_rows(const struct reading *reading, uint32_t guest,
		       const struct account_head *head, struct seen *ret_seen)
{
	struct account *account = reading->account;
	size_t slot = head->vcpu < 0 ? 0 : (size_t)head->vcpu + 1;
	struct seen seen = { guest, head->vcpu < 0 ? -1 : head->vcpu, head->vm,
			     reading->sample->nr_rows, 0 };

	array_grow(&account->latest, &account->room_latest, slot + 1);
	seen.others = account->latest[slot];
	for (size_t i = seen.others; i; i = account->seen[i - 1].others) {
		if (account->seen[i - 1].guest != guest) /* parts of VMs that ended, in any order */
			continue;
		if (account->seen[i - 1].vm == seen.vm)
			return false;
		seen.row = account->seen[i - 1].row;
	}
	*array_add(account->seen, account->nr_seen, account->room_seen) = seen;
	account->latest[slot] = account->nr_seen;
	*ret_seen = seen;
	return true;
}

static bool is_wanted(const struct account *account, const struct watched *watched)
{
	return account->scope != WANT_GUEST || account->guest == watched->of.guest;
}

static struct known_vm *find_vm(struct account *account, uint64_t vm)
{
	struct known_vm *known;

	HASH_FIND(hh, account->vms, &vm, sizeof(vm), known);
	return known;
}

static void note_vm(struct account *account, uint64_t vm, pid_t pid)
{
	struct known_vm *known = hash_get(account->vms, vm, &vm);

	known->pid = pid;
	known->guest = GUEST_NONE;
}

/* What a process holds, for the inventory. */
static void add_part(struct account *account, const struct account_head *head)
{
	*array_add(account->parts, account->nr_parts, account->room_parts) = (struct vm_part){
		.pid = (pid_t)head->pid,
		.vcpu = head->vcpu < 0 ? -1 : head->vcpu,
		.tid = (pid_t)head->tid,
		.vm = head->vm,
	};
}

static void take_record(void *arg, const struct account_head *head, const char *bytes)
{
	const struct reading *reading = arg;
	struct account *account = reading->account;
	bool include_past = account->args.options.include_past;
	const struct account_layout *layout =
		&account->layouts[head->vcpu < 0 ? ACCOUNT_VM : ACCOUNT_VCPU];
	const struct watched *watched;
	const struct guest *guest;
	struct seen seen;
	uint32_t flags;

	add_part(account, head);
	if (account->notes_vms && head->vcpu < 0)
		note_vm(account, head->vm, (pid_t)head->pid);
	if (!head->size || head->size != layout->size)
		return;
	guest = guests_by_pid(account->args.guests, (pid_t)head->pid);
	watched = guest ? follow_find(&account->watched, guest->id) : NULL;
	if (guest && account->nr_seen && account->seen[0].guest != guest->id)
		forget_seen(account);
	if (!watched || !is_wanted(account, watched) ||
	    !begin_rows(reading, guest->id, head, &seen))
		return;
	flags = watched->is_late || include_past ? ROW_FROM_ZERO : 0;
	add_rows(reading, &seen, flags, layout, bytes);
	add_times_of(reading, &seen, flags, head, bytes);
}

/* ---- VMs that have begun and ended since the sample before */

static void take_begun(void *arg, const struct account_begun *begun)
{
	struct account *account = arg;

	if (account->notes_vms)
		note_vm(account, begun->vm, (pid_t)begun->pid);
	guests_note_start(account->args.guests, (pid_t)begun->pid, begun->now_ns, begun->comm,
			  begun->command, begun->size);
}

static void take_ended(void *arg, const struct account_head *head, const char *bytes)
{
	struct account *account = arg;
	struct ended_part *part = array_add(account->ended, account->nr_ended, account->room_ended);

	*part = (struct ended_part){ .head = *head, .bytes = xmalloc(head->size + 1) };
	memcpy(part->bytes, bytes, head->size);
}

/* The guest that the process was. Its vCPUs end before the VM's own statistics are taken. */
static uint32_t guest_of_ended(struct account *account, struct known_vm *vm,
			       const struct account_head *head)
{
	struct vcpu_thread thread = {
		.pid = vm->pid, .tid = head->tid ? (pid_t)head->tid : vm->pid,
		.vcpu = head->vcpu, .comm = "", .first_ns = head->thread.now_ns,
		.has_ended = true,
	};

	if (head->vcpu >= 0)
		vm->guest = guests_of_thread(account->args.guests, &thread, clock_now_ns());
	return vm->guest;
}

static void add_ended(struct account *account, const struct ended_part *part,
		      struct sample *sample)
{
	const struct account_head *head = &part->head;
	const struct account_layout *layout =
		&account->layouts[head->vcpu < 0 ? ACCOUNT_VM : ACCOUNT_VCPU];
	const struct reading reading = { account, sample };
	struct known_vm *vm = find_vm(account, head->vm);
	uint32_t guest = guest_of_ended(account, vm, head);
	const struct watched *watched = follow_find(&account->watched, guest);
	bool is_from_zero = account->args.options.include_past ||
			    (watched ? watched->is_late : account->is_watching);
	struct seen seen;

	if (guest == GUEST_NONE || head->size != layout->size ||
	    (account->scope == WANT_GUEST && account->guest != guest) ||
	    !begin_rows(&reading, guest, head, &seen))
		return;
	add_rows(&reading, &seen, is_from_zero ? ROW_FROM_ZERO : 0, layout, part->bytes);
}

static void add_ended_part(struct account *account, struct ended_part *part,
			   struct sample *sample)
{
	const struct known_vm *vm = find_vm(account, part->head.vm);
	bool is_there = vm && guests_by_pid(account->args.guests, vm->pid);

	if (vm && !is_there)
		add_ended(account, part, sample);
	part->is_done = !is_there || part->was_there;
	part->was_there = true;
}

static void drop_ended(struct account *account, const struct ended_part *part)
{
	struct known_vm *vm = find_vm(account, part->head.vm);

	if (vm && part->head.vcpu < 0) {
		HASH_DEL(account->vms, vm);
		free(vm);
	}
	free(part->bytes);
}

/*
 * Adds the last counts of guests that have ended. The process of a VM that is destroyed may be
 * about to end: it is looked at again in the next sample. What a process that goes on counted in a
 * VM that it has closed is no guest's any more.
 */
static void add_all_ended(struct account *account, struct sample *sample)
{
	size_t nr = 0, all;

	account_read_lives(account->reader);
	all = account->nr_ended;
	forget_seen(account);
	for (size_t i = 0; i < all; i++) {
		if (account->ended[i].head.vcpu >= 0)
			add_ended_part(account, &account->ended[i], sample);
	}
	for (size_t i = 0; i < all; i++) {
		if (account->ended[i].head.vcpu < 0)
			add_ended_part(account, &account->ended[i], sample);
	}
	for (size_t i = 0; i < all; i++) {
		if (account->ended[i].is_done)
			drop_ended(account, &account->ended[i]);
		else
			account->ended[nr++] = account->ended[i];
	}
	account->nr_ended = nr;
}

/* Reads the VMs of one process; pid 0: of all. */
static int read_process(struct account *account, pid_t pid, bool with_bytes, struct sample *sample)
{
	struct reading reading = { account, sample };
	int err;

	account->nr_parts = 0;
	forget_seen(account);
	err = account_read(account->reader, pid, with_bytes, take_record, &reading);
	if (!err)
		guests_report(account->args.guests, pid, account->parts, account->nr_parts);
	return err == -ESRCH ? 0 : err; /* it has ended */
}

/*
 * Before Linux 6.1 one process cannot be read alone. There, without counters, only the walks read:
 * what changes in the VMs of a guest is seen by the next one.
 */
static int read_all(struct account *account, struct sample *sample)
{
	bool reads_one = account_reads_one(account->reader);
	bool with_bytes = account->is_anything_wanted;
	bool walks = vm_watch_is_due(&account->watch, clock_now_ns());
	int err = 0;

	if (sample)
		add_all_ended(account, sample);
	if (reads_one && walks)
		err = read_process(account, 0, false, sample);
	follow_update(&account->watched);
	account->is_watching = true;
	if (!reads_one)
		return walks || with_bytes ? read_process(account, 0, with_bytes, sample) : 0;
	for (size_t i = 0; i < account->watched.nr && !err; i++) {
		const struct watched *watched = watched_at(account, i);

		if (is_wanted(account, watched))
			err = read_process(account, watched->of.pid, with_bytes, sample);
	}
	return err;
}

/* ---- the provider */

static void account_close(void *opened)
{
	struct account *account = opened;

	if (!account)
		return;
	if (account->reader) {
		vm_watch_release(&account->watch);
		guests_end_reports(account->args.guests);
	}
	follow_release(&account->watched);
	account_reader_free(account->reader);
	for (size_t i = 0; i < ACCOUNT_LAYOUTS; i++)
		free(account->layouts[i].counters);
	while (account->nr_ended)
		free(account->ended[--account->nr_ended].bytes);
	free(account->ended);
	hash_free(account->vms, free);
	account_times_release(&account->times);
	free(account->parts);
	free(account->seen);
	free(account->latest);
	free(account);
}

static int load_reader(struct account *account, bool with_bytes, struct error *error)
{
	const struct account_lives lives = {
		.begun = take_begun, .ended = with_bytes ? take_ended : NULL, .arg = account,
	};
	int err = account_reader_new(with_bytes ? account->layouts : NULL, &account->reader, error);

	if (err)
		return err;
	vm_watch_init(&account->watch);
	account->notes_vms = account_watch_lives(account->reader, &lives) && lives.ended;
	return 0;
}

static int inventory_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	int err = account_check(args->env, error);
	struct account *account;

	if (err)
		return err;
	account = xcalloc(1, sizeof(*account));
	account->args = *args;
	account->watched = (struct follow){ .guests = args->guests, .size = sizeof(struct watched),
					    .begin = begin_watched, .drop = drop_watched,
					    .arg = account };
	*ret_state = account;
	return 0;
}

static int account_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct account *account;
	void *state;
	int err = inventory_open(args, &state, error);

	if (err)
		return err;
	account = state;
	err = load_reader(account, true, error);
	if (err) {
		account_close(account);
		return err;
	}
	add_fields(account, &account->layouts[ACCOUNT_VM], 0);
	add_fields(account, &account->layouts[ACCOUNT_VCPU], EVENT_BY_VCPU);
	if (!args->options.has_times)
		add_times(account);
	*ret_state = account;
	return 0;
}

/* What vCPUs had slept before is no part of the answer. */
static void want_times(struct account *account, const struct field_set *wanted)
{
	account_times_release(&account->times);
	account->has_times = false;
	for (size_t i = 0; i < ARRAY_SIZE(known_parts); i++) {
		uint32_t *field = &account->time_fields[known_parts[i]];

		*field = fields_find(account->args.fields, exit_fields_part(known_parts[i]));
		if (*field != FIELD_NONE && !field_set_has(wanted, *field))
			*field = FIELD_NONE; /* or another provider's */
		account->has_times |= *field != FIELD_NONE;
	}
}

static int account_want(void *opened, const struct want *want, struct error *error)
{
	struct account *account = opened;

	(void)error;
	/* What the present guests have counted up to now is no part of the answer. */
	for (size_t i = 0; i < account->watched.nr; i++)
		watched_at(account, i)->is_late = false;
	account->scope = want->scope;
	account->guest = want->guest;
	want_times(account, &want->fields);
	account->is_anything_wanted = account->has_times;
	for (size_t k = 0; k < ACCOUNT_LAYOUTS; k++) {
		for (size_t i = 0; i < account->layouts[k].nr; i++) {
			struct account_counter *counter = &account->layouts[k].counters[i];

			counter->is_wanted = counter->field != FIELD_NONE &&
					     field_set_has(&want->fields, counter->field);
			account->is_anything_wanted |= counter->is_wanted;
		}
	}
	return 0;
}

/* Loading takes 40 ms: a screen has its first picture before that. */
static int inventory_want(void *opened, const struct want *want, struct error *error)
{
	struct account *account = opened;
	int err = account->reader ? 0 : load_reader(account, false, error);

	return err ? err : account_want(account, want, error);
}

static int account_collect(void *opened, struct sample *sample, struct error *error)
{
	struct account *account = opened;
	int err;

	if (account->is_anything_wanted)
		sample->time_ns[account->args.source] = clock_now_ns();
	if (account->has_times)
		account_set_clock(account->reader);
	err = read_all(account, sample);
	if (!err && account->has_times)
		account_times_sweep(&account->times);
	if (!err)
		return 0;
	error_set(error, err, "cannot read VMs and vCPUs: %s%s", strerror(-err),
		  descriptors_are_short(err) ? ": raise the limit with ulimit -n" : "");
	return descriptors_are_short(err) ? -EAGAIN : err;
}

/* It has no counters, so it adds no rows. */
static void inventory_look(void *opened)
{
	(void)read_all(opened, NULL);
}

const struct provider account_provider = {
	ABOUT_ACCOUNT,
	.open = account_open,
	.want = account_want,
	.collect = account_collect,
	.close = account_close,
};

const struct provider inventory_provider = {
	ABOUT_INVENTORY,
	.open = inventory_open,
	.want = inventory_want,
	.collect = account_collect,
	.look = inventory_look,
	.close = account_close,
};
