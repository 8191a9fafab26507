// SPDX-License-Identifier: GPL-2.0-or-later
/* An interval has the sums of its changes, wherever it begins and ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "history/interval.h"
#include "history/past.h"
#include "core/provider.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)
#define NR_GUESTS 6
#define NR_VCPUS 2
#define NR_MOMENTS 300
#define NR_SEGMENTS 3

enum { HLT, MSR, WRITES, PAGES, NR_FIELDS };

static const struct field specs[] = {
	[HLT] = { .name = "vmexit(HLT)", .use = USE_EXIT, .source = PROVIDER_EXITS },
	[MSR] = { .name = "vmexit(MSR)", .use = USE_EXIT, .source = PROVIDER_EXITS },
	[WRITES] = { .name = "kvm_pio", .source = PROVIDER_TRACEPOINT },
	[PAGES] = { .name = "pages", .kind = FIELD_GAUGE, .source = PROVIDER_TRACEPOINT },
};

/* A key's numbers. */
struct numbers {
	uint64_t count, time_ns, max_ns; /* time: of what ended */
	uint64_t open_ns, spent_ns;	 /* what is open now; the time as it passed */
	uint64_t hist[HIST_BUCKETS];
};

/* By guest (0: any), vCPU and field; the index NR_GUESTS + 1 is that of STATS_ENDED. */
struct table {
	struct numbers of[NR_GUESTS + 2][NR_VCPUS][NR_FIELDS];
};

#define ENDED (NR_GUESTS + 1)

/* A moment as the test knows it, and as it is stored. */
struct made {
	struct stored stored;
	struct packed packed;
	struct table changes;
	bool is_alive[NR_GUESTS + 1];
};

static struct made made[NR_MOMENTS];
static struct packer *packer;
static struct table totals;
static bool is_alive[NR_GUESTS + 1]; /* 0: something of the host is counted, too */
static uint32_t seed;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

/* The store's ids are others than ours. */
static uint32_t id_of(uint32_t field)
{
	return (field + 3) % NR_FIELDS;
}

/* ---- the store ---- */

static int find(void *store, uint64_t time_ns, struct stored *ret_stored, struct error *error)
{
	(void)store;
	(void)error;
	*ret_stored = made[0].stored;
	for (size_t i = 0; i < NR_MOMENTS && made[i].stored.time_ns <= time_ns; i++)
		*ret_stored = made[i].stored;
	return 0;
}

static size_t index_of(uint64_t id)
{
	for (size_t i = 0; i < NR_MOMENTS; i++) {
		if (made[i].stored.id == id)
			return i;
	}
	fail_msg("no moment %" PRIu64, id);
	return 0;
}

static int step(void *store, uint64_t id, bool is_back, struct stored *ret_stored,
		struct error *error)
{
	size_t i = index_of(id);

	(void)store;
	(void)error;
	if (is_back ? i == 0 : i == NR_MOMENTS - 1)
		return -ENOENT;
	*ret_stored = made[is_back ? i - 1 : i + 1].stored;
	return 0;
}

static int find_flagged(void *store, uint64_t id, uint32_t flags, struct stored *ret_stored,
			struct error *error)
{
	uint32_t segment = 0;

	(void)store;
	(void)error;
	for (size_t i = NR_MOMENTS; i-- > 0;) {
		const struct stored *stored = &made[i].stored;

		if (stored->id > id)
			continue;
		segment = segment ? segment : stored->segment;
		if (stored->segment != segment)
			return -ENOENT;
		if (stored->flags & flags) {
			*ret_stored = *stored;
			return 0;
		}
	}
	return -ENOENT;
}

static int read_part(void *store, uint64_t id, enum moment_part part, struct blob *blob,
		     struct error *error)
{
	const struct blob *from = &made[index_of(id)].packed.parts[part];

	(void)store;
	(void)error;
	assert_true(from->size > 0);
	array_grow(&blob->bytes, &blob->room, from->size);
	memcpy(blob->bytes, from->bytes, from->size);
	blob->size = from->size;
	return 0;
}

static int fields(void *store, uint32_t first, stored_field_fn take, void *arg,
		  struct error *error)
{
	int err = 0;

	(void)store;
	(void)error;
	for (uint32_t id = first; id < NR_FIELDS && !err; id++) {
		for (uint32_t i = 0; i < NR_FIELDS; i++) {
			struct field spec = specs[i];

			spec.parent = spec.reason = FIELD_NONE;
			if (id_of(i) == id)
				err = take(arg, id, &spec);
		}
	}
	return err;
}

static int segment(void *store, uint32_t number, struct segment *ret_segment, struct error *error)
{
	(void)store;
	(void)number;
	(void)error;
	*ret_segment = (struct segment){ .host = "alpha", .boot_id = "a" };
	return 0;
}

static const struct store_type store_type = {
	.find = find,
	.step = step,
	.find_flagged = find_flagged,
	.read = read_part,
	.fields = fields,
	.segment = segment,
};
static const struct store store = { .type = &store_type };

/* ---- a machine ---- */

static void add(struct changes *list, uint32_t guest, uint32_t vcpu, uint32_t field,
		uint32_t flags, const struct numbers *numbers)
{
	struct change change = {
		.key = { guest == ENDED ? STATS_ENDED : guest,
			 guest == ENDED || !guest ? -1 : (int32_t)vcpu, id_of(field) },
		.flags = flags,
		.count = numbers ? numbers->count : 0,
	};
	struct change_timing timing = { 0 };
	uint64_t *counts;

	if (!numbers || specs[field].use != USE_EXIT) {
		changes_add(list, &change);
		return;
	}
	timing.time_ns = numbers->time_ns;
	timing.open_ns = numbers->open_ns;
	timing.open_before_ns = numbers->time_ns + numbers->open_ns - numbers->spent_ns;
	timing.max_ns = numbers->max_ns;
	timing.nr = HIST_BUCKETS;
	while (timing.nr && !numbers->hist[timing.nr - 1])
		timing.nr--;
	counts = changes_add_timed(list, &change, &timing);
	assert_non_null(counts);
	memcpy(counts, numbers->hist, timing.nr * sizeof(*counts));
}

static void sum_up(struct numbers *sum, const struct numbers *more)
{
	sum->count += more->count;
	sum->time_ns += more->time_ns;
	sum->spent_ns += more->spent_ns;
	sum->open_ns = more->open_ns;
	sum->max_ns = more->max_ns > sum->max_ns ? more->max_ns : sum->max_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		sum->hist[i] += more->hist[i];
}

static void run(struct made *moment, struct moment *to, uint32_t guest, uint32_t vcpu,
		uint32_t field)
{
	struct numbers *change = &moment->changes.of[guest][vcpu][field];
	struct numbers *total = &totals.of[guest][vcpu][field];
	bool is_level = specs[field].kind != FIELD_COUNTER;
	unsigned int bucket = random_below(HIST_BUCKETS);

	if (random_below(3) == 0) {
		if (!total->open_ns)
			return;
		change->open_ns = total->open_ns + 1000; /* it goes on */
		change->spent_ns = 1000;
		add(&to->changes, guest, vcpu, field, 0, change);
		sum_up(total, change);
		return;
	}
	change->count = 1 + random_below(100);
	if (specs[field].use == USE_EXIT) {
		change->hist[bucket] = change->count;
		change->time_ns = change->count * (64ULL << bucket);
		change->spent_ns = change->time_ns;
		/* What was open has ended, and perhaps another one has begun. */
		change->time_ns += total->open_ns;
		change->open_ns = change->count % 2 ? change->count : 0;
		change->spent_ns += change->open_ns;
		change->max_ns = (64ULL << bucket) + random_below(64);
		if (change->max_ns < total->max_ns) /* no new longest */
			change->max_ns = 0;
	}
	add(&to->changes, guest, vcpu, field, 0, change);
	if (is_level)
		total->count = change->count;
	else
		sum_up(total, change);
}

static bool has_key(uint32_t guest, uint32_t vcpu, uint32_t field)
{
	if (guest == ENDED)
		return vcpu == 0 && specs[field].kind == FIELD_COUNTER;
	return guest ? is_alive[guest] && (specs[field].use == USE_EXIT || vcpu == 0) :
		       is_alive[0] && vcpu == 0 && specs[field].use == USE_EVENT;
}

static struct changes forgotten; /* since the latest totals */

/* A guest is forgotten: STATS_ENDED has its totals, and so have the next totals. */
static void forget(struct moment *to, uint32_t guest)
{
	for (uint32_t field = 0; field < NR_FIELDS; field++) {
		struct numbers *ended = &totals.of[ENDED][0][field];

		for (uint32_t vcpu = 0; vcpu < NR_VCPUS; vcpu++) {
			if (!has_key(guest, vcpu, field))
				continue;
			if (specs[field].kind == FIELD_COUNTER)
				sum_up(ended, &totals.of[guest][vcpu][field]);
			add(&forgotten, guest, vcpu, field, CHANGE_GONE,
			    &totals.of[guest][vcpu][field]);
			totals.of[guest][vcpu][field] = (struct numbers){ 0 };
			add(&to->changes, guest, vcpu, field, CHANGE_GONE, NULL);
		}
		if (specs[field].kind == FIELD_COUNTER)
			add(&to->changes, ENDED, 0, field, CHANGE_IS_TOTAL, ended);
	}
	is_alive[guest] = false;
}

#define NR_KEYS ((ENDED + 1) * NR_VCPUS * NR_FIELDS)
#define GUEST_OF(k) ((k) / NR_FIELDS / NR_VCPUS)
#define VCPU_OF(k) ((k) / NR_FIELDS % NR_VCPUS)
#define FIELD_OF(k) ((k) % NR_FIELDS)

static struct guests *inventory(void)
{
	struct guests *guests = guests_new(NULL);

	for (uint32_t i = 1; i <= NR_GUESTS; i++) {
		struct guest guest = { .id = i, .pid = (pid_t)(100 + i), .start_ticks = i,
				       .vmm = "qemu", .nr_vms = 1 };

		snprintf(guest.name, sizeof(guest.name), "web%u", i);
		if (is_alive[i])
			guests_put(guests, &guest);
	}
	return guests;
}

static void pack(struct made *moment, struct moment *to)
{
	if (moment->stored.flags & MOMENT_HAS_TOTALS) {
		to->totals = forgotten;
		forgotten = (struct changes){ 0 };
		moment->stored.flags |= to->totals.nr ? MOMENT_HAS_FORGOTTEN : 0;
		for (uint32_t k = 0; k < NR_KEYS; k++) {
			uint32_t guest = GUEST_OF(k), vcpu = VCPU_OF(k), field = FIELD_OF(k);

			if (has_key(guest, vcpu, field))
				add(&to->totals, guest, vcpu, field, 0,
				    &totals.of[guest][vcpu][field]);
		}
	}
	if (moment->stored.flags & MOMENT_HAS_GUESTS)
		to->guests = inventory();
	to->flags = moment->stored.flags;
	to->time_ns = moment->stored.time_ns;
	to->elapsed_ns = moment->stored.elapsed_ns;
	to->source_ns[PROVIDER_EXITS] = 7 + moment->stored.time_ns;
	pack_moment(packer, to, &moment->packed);
}

static uint32_t flags_of(size_t i)
{
	static unsigned int since;
	uint32_t flags = i % (NR_MOMENTS / NR_SEGMENTS) == 0 ? MOMENT_FIRST :
			 random_below(60) == 0		     ? MOMENT_RESET :
			 random_below(60) == 0		     ? MOMENT_AFTER_LOSS : 0;

	if (flags || ++since == 12) {
		flags |= MOMENT_HAS_TOTALS | MOMENT_HAS_GUESTS;
		since = 0;
	}
	return flags;
}

static void make(size_t i, uint64_t time_ns)
{
	struct made *now = &made[i];
	struct moment to = { 0 };

	now->stored = (struct stored){
		.id = 3 * i + 5,
		.segment = (uint32_t)(i / (NR_MOMENTS / NR_SEGMENTS) + 1),
		.flags = flags_of(i),
		.time_ns = time_ns,
	};
	if (now->stored.flags & MOMENT_FIRST) {
		totals = (struct table){ 0 };
		is_alive[0] = now->stored.segment != 2;
		for (uint32_t guest = 1; guest <= NR_GUESTS; guest++)
			is_alive[guest] = true;
	} else {
		now->stored.elapsed_ns = SECOND;
	}
	if (now->stored.flags & MOMENT_RESET)
		totals = (struct table){ 0 };
	for (uint32_t guest = 1; guest <= NR_GUESTS; guest++) {
		if (is_alive[guest] && random_below(100) == 0) {
			forget(&to, guest);
			now->stored.flags |= MOMENT_HAS_GUESTS;
		}
		now->is_alive[guest] = is_alive[guest];
	}
	for (uint32_t k = 0; k < NR_KEYS; k++) {
		uint32_t guest = GUEST_OF(k), vcpu = VCPU_OF(k), field = FIELD_OF(k);

		if (guest != ENDED && has_key(guest, vcpu, field))
			run(now, &to, guest, vcpu, field);
	}
	pack(now, &to);
	moment_release(&to);
}

static int make_all(void **state)
{
	(void)state;
	packer = packer_new();
	for (size_t i = 0; i < NR_MOMENTS; i++) {
		/* A gap before each segment. */
		make(i, (1000 + i + i / (NR_MOMENTS / NR_SEGMENTS) * 50) * SECOND);
	}
	return 0;
}

static int release_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR_MOMENTS; i++)
		packed_release(&made[i].packed);
	changes_release(&forgotten);
	packer_free(packer);
	return 0;
}

/* ---- what the interval should say ---- */

static uint64_t edge_of(const struct numbers *numbers)
{
	unsigned int top = HIST_BUCKETS;

	while (top && !numbers->hist[top - 1])
		top--;
	if (!top)
		return 0;
	return hist_edge_ns(top - 1) < numbers->time_ns ? hist_edge_ns(top - 1) : numbers->time_ns;
}

/* The sums from `first` to `last`. ENDED has the guests that its inventories lack. */
static uint64_t sum_all(size_t first, size_t last, struct table *ret_sums, struct table *ret_most)
{
	uint64_t elapsed_ns = 0;

	*ret_sums = (struct table){ 0 };
	*ret_most = (struct table){ 0 };
	for (size_t i = first; i <= last; i++) {
		elapsed_ns += made[i].stored.elapsed_ns;
		if (!made[i].stored.elapsed_ns)
			continue;
		for (uint32_t k = 0; k < NR_KEYS; k++) {
			uint32_t guest = GUEST_OF(k), vcpu = VCPU_OF(k), field = FIELD_OF(k);
			const struct numbers *change = &made[i].changes.of[guest][vcpu][field];
			struct numbers *most = &ret_most->of[guest][vcpu][field];
			uint64_t longest_ns = change->max_ns ? change->max_ns : edge_of(change);

			if (specs[field].kind != FIELD_COUNTER)
				continue;
			sum_up(&ret_sums->of[guest][vcpu][field], change);
			most->max_ns = longest_ns > most->max_ns ? longest_ns : most->max_ns;
		}
	}
	return elapsed_ns;
}

/* The pids tell the guests. */
static void add_row(const struct sample *sample, const struct row *row,
		    const struct guests *guests, const struct fields *names, struct table *sums)
{
	const struct row_given *given = &sample->givens[row->given - 1];
	const struct guest *known = guests_find(guests, row->key.guest);
	uint32_t guest = known				? (uint32_t)known->pid - 100 :
			 row->key.guest == STATS_ENDED ? ENDED : 0;
	struct numbers *numbers;
	uint32_t field = 0;

	while (strcmp(specs[field].name, fields_get(names, row->key.field)->name) != 0)
		field++;
	numbers = &sums->of[guest][row->key.vcpu > 0 ? 1 : 0][field];
	numbers->count += row->count;
	if (!given->is_timed)
		return;
	numbers->time_ns += given->timing.delta_ended_ns;
	numbers->spent_ns += given->timing.delta_ns;
	numbers->open_ns = given->timing.open_ns;
	numbers->max_ns = given->timing.max_ns;
	for (unsigned int i = 0; i < given->timing.nr; i++)
		numbers->hist[given->timing.first + i] += given->timing.counts[i];
}

/* What a player says. Returns the length of the interval. */
static uint64_t play_source(struct interval *interval, uint32_t source, const struct want *want,
			    struct table *sums)
{
	const struct provider *player = history_players[source];
	const struct provider_args args = { .fields = interval_fields(interval), .source = source,
					    .recording = &interval };
	struct sample sample = { 0 };
	struct error error = { "" };
	uint64_t elapsed_ns;
	void *state;

	assert_int_equal(player->open(&args, &state, &error), 0);
	assert_int_equal(player->want(state, want, &error), 0);
	assert_int_equal(player->rewind(state), 1);
	assert_int_equal(player->collect(state, &sample, &error), 0);
	assert_true(sample.is_given && sample.time_ns[source]);
	elapsed_ns = sample.elapsed_ns[source];
	for (size_t i = 0; i < sample.nr_rows; i++)
		add_row(&sample, &sample.rows[i], interval_guests(interval),
			interval_fields(interval), sums);
	sample_release(&sample);
	player->close(state);
	return elapsed_ns;
}

static uint64_t play(struct interval *interval, struct table *ret_sums)
{
	struct want want = { .scope = WANT_EACH };
	uint64_t elapsed_ns;

	*ret_sums = (struct table){ 0 };
	for (uint32_t i = 0; i < fields_count(interval_fields(interval)); i++)
		field_set_add(&want.fields, i);
	elapsed_ns = play_source(interval, PROVIDER_EXITS, &want, ret_sums);
	assert_int_equal(play_source(interval, PROVIDER_TRACEPOINT, &want, ret_sums), elapsed_ns);
	field_set_release(&want.fields);
	return elapsed_ns;
}

static void compare_keys(const struct table *got, const struct table *want,
			 const struct table *most, size_t first, size_t last)
{
	for (uint32_t k = 0; k < NR_KEYS; k++) {
		uint32_t guest = GUEST_OF(k), vcpu = VCPU_OF(k), field = FIELD_OF(k);
		const struct numbers *a = &got->of[guest][vcpu][field];
		const struct numbers *b = &want->of[guest][vcpu][field];

		if (specs[field].kind != FIELD_COUNTER)
			continue;
		if (a->count != b->count || a->time_ns != b->time_ns ||
		    a->spent_ns != b->spent_ns ||
		    memcmp(a->hist, b->hist, sizeof(a->hist)) != 0)
			fail_msg("%zu to %zu: guest %u vCPU %u field %u: %" PRIu64
				 ", wanted %" PRIu64, first, last, guest, vcpu, field, a->count,
				 b->count);
		/* The longest: at least the exact one, at most what each moment allows. */
		if (specs[field].use == USE_EXIT && guest != ENDED)
			assert_true(a->max_ns >= b->max_ns &&
				    a->max_ns <= most->of[guest][vcpu][field].max_ns + b->time_ns);
	}
}

static void check(size_t first, size_t last)
{
	struct table got, want, most;
	struct error error = { "" };
	struct interval *interval;
	uint64_t elapsed_ns;
	int err;

	interval = interval_new(store, NULL);
	err = interval_read(interval, made[first].stored.time_ns - 1, made[last].stored.time_ns,
			    &error);
	if (err)
		fail_msg("%zu to %zu: %d %s", first, last, err, error.text);
	assert_int_equal(interval_first(interval)->id, made[first].stored.id);
	assert_int_equal(interval_last(interval)->id, made[last].stored.id);
	elapsed_ns = sum_all(first, last, &want, &most);
	assert_int_equal(interval_elapsed_ns(interval), elapsed_ns);
	assert_int_equal(play(interval, &got), elapsed_ns);
	compare_keys(&got, &want, &most, first, last);
	interval_free(interval);
}

TEST(sums_are_those_of_the_changes)
{
	check(0, NR_MOMENTS - 1);
	check(0, 0);
	check(NR_MOMENTS - 1, NR_MOMENTS - 1);
	for (size_t i = 0; i + 1 < NR_MOMENTS; i++)
		check(i, i + 1);
	for (size_t i = 0; i < unit_rounds(150); i++) {
		size_t first = random_below(NR_MOMENTS);

		check(first, first + random_below((uint32_t)(NR_MOMENTS - first)));
	}
}

TEST(levels_are_the_latest)
{
	const size_t last = NR_MOMENTS - 1;
	struct table got;
	struct error error = { "" };
	struct interval *interval;

	/* The gauge of a guest that did not change it in the interval. */
	for (size_t first = last - 20; first <= last; first++) {
		interval = interval_new(store, NULL);
		assert_int_equal(interval_read(interval, made[first].stored.time_ns - 1,
					   made[last].stored.time_ns, &error), 0);
		play(interval, &got);
		for (uint32_t guest = 0; guest <= NR_GUESTS; guest++) {
			uint64_t level = 0;

			for (size_t i = NR_MOMENTS; i-- > 0 && !level;)
				level = made[i].changes.of[guest][0][PAGES].count;
			if (made[last].is_alive[guest] || !guest)
				assert_int_equal(got.of[guest][0][PAGES].count, level);
		}
		interval_free(interval);
	}
}

TEST(spans_without_a_moment)
{
	const struct {
		uint64_t from_ns, to_ns;
	} cases[] = {
		{ 0, made[0].stored.time_ns - 1 },
		{ made[NR_MOMENTS - 1].stored.time_ns, UINT64_MAX },
		{ made[5].stored.time_ns, made[6].stored.time_ns - 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error error = { "" };
		struct interval *interval;

		interval = interval_new(store, NULL);
		assert_int_equal(interval_read(interval, cases[i].from_ns, cases[i].to_ns, &error),
				 -ENOENT);
		assert_int_equal(interval_first(interval)->id, 0);
		interval_free(interval);
	}
}

GROUP(make_all, release_all);
