// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account - KVM's own statistics of each VM and vCPU, with its histograms of halts.
 *
 * They are the counters of debugfs, under the same names, of every VMM, under lockdown, too. KVM
 * counts them whether or not they are read, so a guest pays nothing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/account/account.h"
#include "providers/providers.h"

#define LOG_128_NS 7 /* the last of the kernel's buckets that is in our first one */

/* A guest that is read. */
struct watched {
	uint32_t guest;
	pid_t pid;
	bool is_late; /* it came while others were watched */
	bool is_there;
};

/* A VM or vCPU that the sample has: the first one that its guest's process holds. */
struct seen {
	uint32_t guest;
	int32_t vcpu;
};

struct account {
	struct provider_args args;
	struct account_reader *reader;
	struct account_layout layouts[ACCOUNT_LAYOUTS];
	struct watched *watched;
	size_t nr_watched, room_watched;
	struct seen *seen; /* of the latest process */
	size_t nr_seen, room_seen;
	enum want_scope scope;
	uint32_t guest;
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
	array_grow(&layout->counters, &layout->room, layout->nr + 1);
	counter = &layout->counters[layout->nr++];
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

			if (kvm_counter_is_child(account->args.env, counter->name) ==
			    (is_child != 0))
				kvm_counter_add(&account->args, counter->name, FIELD_COUNTER, part,
						&counter->field);
		}
	}
}

/* ---- guests */

static struct watched *find_watched(const struct account *account, uint32_t guest)
{
	for (size_t i = 0; i < account->nr_watched; i++) {
		if (account->watched[i].guest == guest)
			return &account->watched[i];
	}
	return NULL;
}

static void drop(struct account *account, size_t i)
{
	account_forget(account->reader, account->watched[i].pid);
	account->watched[i] = account->watched[--account->nr_watched];
}

static void forget(struct account *account)
{
	while (account->nr_watched)
		drop(account, account->nr_watched - 1);
	account->is_watching = false;
}

/* Brings the list of guests up to date. */
static void update(struct account *account)
{
	const struct guest *guest;

	for (size_t i = 0; i < account->nr_watched; i++)
		account->watched[i].is_there = false;
	for (size_t i = 0; (guest = guests_at(account->args.guests, i)); i++) {
		struct watched *watched = find_watched(account, guest->id);

		if (!watched) {
			array_grow(&account->watched, &account->room_watched,
				   account->nr_watched + 1);
			watched = &account->watched[account->nr_watched++];
			*watched = (struct watched){ .guest = guest->id, .pid = guest->pid,
						     .is_late = account->is_watching };
		}
		watched->is_there = true;
	}
	for (size_t i = account->nr_watched; i-- > 0;) {
		if (!account->watched[i].is_there)
			drop(account, i);
	}
	account->is_watching = true;
}

/* ---- rows */

/*
 * The kernel's bucket i has what is below 2^i ns, its last one the rest: today 2^30 ns and more. So
 * the bucket of ours that has these is open to its end, too, and nothing counts as longer.
 */
static void make_timing(const struct account_counter *counter, const char *bytes,
			struct timing *ret_timing)
{
	*ret_timing = (struct timing){ 0 };
	memcpy(&ret_timing->time_ns, bytes + counter->sum_at, sizeof(ret_timing->time_ns));
	for (unsigned int i = 0; i < counter->nr; i++) {
		unsigned int bucket = i > LOG_128_NS ? i - LOG_128_NS : 0;
		uint64_t count;

		memcpy(&count, bytes + counter->at + i * sizeof(count), sizeof(count));
		if (!count)
			continue;
		if (bucket >= HIST_BUCKETS)
			bucket = HIST_BUCKETS - 1;
		ret_timing->hist[bucket] += (uint32_t)count;
		ret_timing->max_ns = i + 1 < counter->nr ? hist_edge_ns(bucket) : INT64_MAX;
	}
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

/* Whether the guest has this vCPU already: a process may hold two VMs, or a descriptor twice. */
static bool is_seen(struct account *account, uint32_t guest, int32_t vcpu)
{
	if (account->nr_seen && account->seen[0].guest != guest)
		account->nr_seen = 0;
	for (size_t i = 0; i < account->nr_seen; i++) {
		if (account->seen[i].vcpu == vcpu)
			return true;
	}
	array_grow(&account->seen, &account->room_seen, account->nr_seen + 1);
	account->seen[account->nr_seen++] = (struct seen){ guest, vcpu };
	return false;
}

struct reading {
	struct account *account;
	struct sample *sample;
};

static void add_rows(const struct reading *reading, const struct watched *watched, int32_t vcpu,
		     const struct account_layout *layout, const char *bytes)
{
	const struct provider_args *args = &reading->account->args;
	bool is_from_zero = watched->is_late || args->options.include_past;
	uint32_t flags = is_from_zero ? ROW_FROM_ZERO : 0;

	for (size_t i = 0; i < layout->nr; i++) {
		const struct account_counter *counter = &layout->counters[i];
		struct key key = { watched->guest, vcpu, counter->field };
		struct timing timing;
		uint64_t value;

		if (!counter->is_wanted)
			continue;
		value = sum_of(counter, bytes,
			       fields_get(args->fields, counter->field)->kind != FIELD_COUNTER);
		if (!counter->has_durations) {
			sample_add(reading->sample, key, value, flags);
			continue;
		}
		make_timing(counter, bytes, &timing);
		sample_add_timed(reading->sample, key, value, flags, &timing);
	}
}

static void take(void *arg, const struct account_head *head, const char *bytes)
{
	const struct reading *reading = arg;
	struct account *account = reading->account;
	int32_t vcpu = head->vcpu < 0 ? -1 : head->vcpu;
	const struct account_layout *layout =
		&account->layouts[vcpu < 0 ? ACCOUNT_VM : ACCOUNT_VCPU];
	const struct guest *guest = guests_by_pid(account->args.guests, (pid_t)head->pid);
	const struct watched *watched = guest ? find_watched(account, guest->id) : NULL;

	if (!watched || head->size != layout->size || is_seen(account, watched->guest, vcpu))
		return;
	if (account->scope != WANT_GUEST || account->guest == watched->guest)
		add_rows(reading, watched, vcpu, layout, bytes);
}

static int read_all(struct account *account, struct sample *sample)
{
	struct reading reading = { account, sample };
	int err = 0;

	update(account);
	account->nr_seen = 0;
	if (!account_reads_one(account->reader))
		return account_read(account->reader, 0, take, &reading);
	for (size_t i = 0; i < account->nr_watched && !err; i++) {
		const struct watched *watched = &account->watched[i];

		if (account->scope != WANT_GUEST || account->guest == watched->guest)
			err = account_read(account->reader, watched->pid, take, &reading);
		if (err == -ESRCH) /* it has ended */
			err = 0;
	}
	return err;
}

/* ---- the provider */

static void account_close(void *opened)
{
	struct account *account = opened;

	if (!account)
		return;
	if (account->reader)
		forget(account);
	account_reader_free(account->reader);
	for (size_t i = 0; i < ACCOUNT_LAYOUTS; i++)
		free(account->layouts[i].counters);
	free(account->watched);
	free(account->seen);
	free(account);
}

static int account_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct account *account = xcalloc(1, sizeof(*account));
	int err;

	account->args = *args;
	err = account_reader_new(args->env, account->layouts, &account->reader, error);
	if (err) {
		account_close(account);
		return err;
	}
	add_fields(account, &account->layouts[ACCOUNT_VM], 0);
	add_fields(account, &account->layouts[ACCOUNT_VCPU], EVENT_BY_VCPU);
	*ret_state = account;
	return 0;
}

static int account_want(void *opened, const struct want *want, struct error *error)
{
	struct account *account = opened;

	(void)error;
	/* What the present guests have counted up to now is no part of the answer. */
	for (size_t i = 0; i < account->nr_watched; i++)
		account->watched[i].is_late = false;
	account->scope = want->scope;
	account->guest = want->guest;
	for (size_t k = 0; k < ACCOUNT_LAYOUTS; k++) {
		for (size_t i = 0; i < account->layouts[k].nr; i++) {
			struct account_counter *counter = &account->layouts[k].counters[i];

			counter->is_wanted = counter->field != FIELD_NONE &&
					     field_set_has(&want->fields, counter->field);
		}
	}
	return 0;
}

static bool is_anything_wanted(const struct account *account)
{
	for (size_t k = 0; k < ACCOUNT_LAYOUTS; k++) {
		for (size_t i = 0; i < account->layouts[k].nr; i++) {
			if (account->layouts[k].counters[i].is_wanted)
				return true;
		}
	}
	return false;
}

static int account_collect(void *opened, struct sample *sample, struct error *error)
{
	struct account *account = opened;
	int err = 0;

	sample->time_ns[account->args.source] = clock_now_ns();
	if (is_anything_wanted(account))
		err = read_all(account, sample);
	else
		forget(account);
	if (!err)
		return 0;
	error_set(error, err, "cannot read KVM's statistics: %s%s", strerror(-err),
		  descriptors_are_short(err) ? ": raise the limit with ulimit -n" : "");
	return descriptors_are_short(err) ? -EAGAIN : err;
}

const struct provider account_provider = {
	.name = "account",
	.help = "KVM's own counters by vCPU, read by BPF; of every VMM, under lockdown, too",
	.is_always_by_guest = true,
	.instead_of = &debugfs_provider,
	.open = account_open,
	.want = account_want,
	.collect = account_collect,
	.close = account_close,
};
