// SPDX-License-Identifier: GPL-2.0-or-later
/* A moment is the same after packing and unpacking; bytes of any kind are no harm. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <errno.h>
#include <zstd.h>

#include "lib/array.h"
#include "history/pack.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define NR_FIELDS 65536

/* Of made-up fields. */
static uint32_t sum_of[NR_FIELDS];
static const struct sum_fields sum_fields = { sum_of, NR_FIELDS };

struct world {
	struct packer *packer;
	struct moment moment, read;
	struct packed packed;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->packer = packer_new();
	*state = w;
	srand(4711); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same moments each time */
	return w->packer ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *w = *state;

	moment_release(&w->moment);
	moment_release(&w->read);
	packed_release(&w->packed);
	packer_free(w->packer);
	free(w);
	return 0;
}

/* A few fields add up to others, and these perhaps to further ones. */
static void make_fields(void)
{
	for (uint32_t i = 0; i < NR_FIELDS; i++)
		sum_of[i] = i && rand() % 4 == 0 ? 1 + (uint32_t)rand() % i : 0;
}

/* Of any size up to 64 bits; small ones are as likely as large ones. */
static uint64_t any_number(void)
{
	uint64_t bits = (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();

	return bits >> rand() % 64;
}

static void make_changes(struct changes *changes, size_t nr)
{
	struct change change = { .key = { (uint32_t)(rand() % 2), -1, 0 } };

	changes_reset(changes);
	for (size_t i = 0; i < nr; i++) {
		struct change_timing timing = { .time_ns = any_number(), .max_ns = any_number() };
		uint64_t *counts;

		if (rand() % 3 == 0)
			timing.open_ns = any_number();
		if (rand() % 3 == 0)
			timing.open_before_ns = any_number();
		timing.first = (uint8_t)(rand() % HIST_BUCKETS);
		while (timing.first + timing.nr < HIST_BUCKETS && rand() % 8)
			timing.nr++;
		change.flags = (uint32_t)rand() & (CHANGE_NEW | CHANGE_HAS_RATE | CHANGE_ABSENT |
						   CHANGE_GONE | CHANGE_IS_TOTAL);
		change.sum = sum_of[change.key.field % NR_FIELDS];
		change.count = any_number();
		change.parent_before = rand() % 4 ? 0 : any_number();
		if (rand() % 3) {
			counts = changes_add_timed(changes, &change, &timing);
			assert_non_null(counts);
			for (int k = 0; k < timing.nr; k++)
				counts[k] = any_number();
		} else {
			changes_add(changes, &change);
		}
		change.key.field += 1 + (uint32_t)rand() % 200;
		if (rand() % 10 == 0) {
			change.key.vcpu += 1 + rand() % 3;
			change.key.field = (uint32_t)rand() % 3;
		}
		if (rand() % 40 == 0) {
			change.key.guest += 1 + (uint32_t)rand() % 1000;
			change.key.vcpu = rand() % 2 - 1;
		}
	}
}

static void pack(struct world *w)
{
	pack_moment(w->packer, &w->moment, &w->packed);
}

static int unpack(struct world *w, enum moment_part part, enum unpack_depth depth,
		  struct error *error)
{
	return unpack_rows(w->packer, part, &w->packed.parts[part], depth, &sum_fields, &w->read,
			   error);
}

static void check_changes(const struct changes *read, const struct changes *made,
			  enum unpack_depth depth)
{
	assert_int_equal(read->nr, made->nr);
	for (size_t i = 0; i < made->nr; i++) {
		const struct change *a = &read->list[i], *b = &made->list[i];
		const struct change_timing *x, *y;
		uint64_t hist[2][HIST_BUCKETS] = { { 0 } };

		assert_memory_equal(&a->key, &b->key, sizeof(a->key));
		assert_int_equal(a->flags, b->flags);
		assert_int_equal(a->count, b->count);
		assert_int_equal(a->parent_before, b->parent_before);
		assert_int_equal(!a->timing, !b->timing);
		if (!a->timing || depth == UNPACK_COUNTS)
			continue;
		x = &read->timings[a->timing - 1];
		y = &made->timings[b->timing - 1];
		assert_int_equal(x->time_ns, y->time_ns);
		assert_int_equal(x->open_ns, y->open_ns);
		assert_int_equal(x->open_before_ns, y->open_before_ns);
		assert_int_equal(x->max_ns, y->max_ns);
		changes_add_counts(read, x, hist[0]);
		changes_add_counts(made, y, hist[1]);
		if (depth == UNPACK_ALL)
			assert_memory_equal(hist[0], hist[1], sizeof(hist[0]));
		else
			assert_int_equal(x->nr, 0);
	}
}

/* Providers give rows in any order. */
TEST(rows_are_sorted, setup, teardown)
{
	static const size_t distances[] = { 1, 20, 3000 };
	struct world *w = *state;
	struct changes *changes = &w->moment.changes;
	struct error error = { "" };

	for (size_t i = 0; i < sizeof(distances) / sizeof(distances[0]); i++) {
		make_fields();
		make_changes(changes, 3000);
		for (size_t k = 0; k < changes->nr; k++) {
			size_t other = k + (size_t)rand() % distances[i];
			struct change change = changes->list[k];

			other = other < changes->nr ? other : k;
			changes->list[k] = changes->list[other];
			changes->list[other] = change;
		}
		w->moment.flags = 0;
		pack(w);
		assert_int_equal(unpack(w, PART_CHANGES, UNPACK_ALL, &error), 0);
		check_changes(&w->read.changes, changes, UNPACK_ALL);
		for (size_t k = 1; k < changes->nr; k++)
			assert_true(key_compare(&w->read.changes.list[k - 1].key,
						   &w->read.changes.list[k].key) < 0);
	}
}

TEST(a_moment_is_the_same_afterwards, setup, teardown)
{
	static const size_t sizes[] = { 0, 1, 2, 50, 3000 };
	struct world *w = *state;
	struct error error = { "" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_fields();
		make_changes(&w->moment.changes, sizes[i]);
		make_fields();
		make_changes(&w->moment.totals, sizes[i] / 2);
		w->moment.flags = MOMENT_HAS_TOTALS;
		for (int k = 0; k < SAMPLE_SOURCES; k++)
			w->moment.source_ns[k] = any_number();
		pack(w);
		for (enum unpack_depth depth = UNPACK_COUNTS; depth <= UNPACK_ALL; depth++) {
			assert_int_equal(unpack(w, PART_CHANGES, depth, &error), 0);
			check_changes(&w->read.changes, &w->moment.changes, depth);
			assert_memory_equal(w->read.source_ns, w->moment.source_ns,
					    sizeof(w->read.source_ns));
			assert_int_equal(unpack(w, PART_TOTALS, depth, &error), 0);
			check_changes(&w->read.totals, &w->moment.totals, depth);
		}
	}
}

enum { EXITS = 2, OTHER, WHOLE, GUEST, KVM, HALT, CPU, REASONS = 20, REASONS_END = 40 };

static void add_row(struct changes *changes, struct change change, uint32_t field, uint32_t sum,
		    uint64_t count)
{
	change.key.field = field;
	change.sum = sum;
	change.count = count;
	changes_add(changes, &change);
}

/*
 * The rows of vCPUs with exits, whose sum comes first, and with the parts of their time. Of each
 * part that is_off says, one number is not the sum.
 */
static void make_vcpus(struct changes *changes, int nr_vcpus, int is_off)
{
	uint64_t none[HIST_BUCKETS] = { 0 }, *counts, parts[3];

	changes_reset(changes);
	memset(sum_of, 0, sizeof(sum_of));
	sum_of[GUEST] = sum_of[KVM] = sum_of[HALT] = WHOLE + 1;
	for (uint32_t i = REASONS; i < REASONS_END; i++)
		sum_of[i] = i == REASONS + 8 ? 0 : EXITS + 1;
	for (int vcpu = 0; vcpu < nr_vcpus; vcpu++) {
		struct change of = { .key = { 7, vcpu, EXITS } }, reason = of;
		struct change_timing sum = { .max_ns = any_number(), .nr = HIST_BUCKETS };
		uint64_t *hist = changes_add_timed(changes, &of, &sum), count = 0;
		size_t row = changes->nr - 1, at = changes->nr_counts - HIST_BUCKETS;

		assert_non_null(hist);
		memcpy(hist, none, sizeof(none));
		add_row(changes, of, OTHER, 0, any_number());
		for (int i = 0; i < 3; i++)
			parts[i] = any_number() >> 8;
		add_row(changes, of, WHOLE, 0, parts[0] + parts[1] + parts[2] + (is_off == 1));
		add_row(changes, of, GUEST, WHOLE + 1, parts[0]);
		add_row(changes, of, KVM, WHOLE + 1, parts[1]);
		add_row(changes, of, HALT, WHOLE + 1, parts[2]);
		add_row(changes, of, CPU, 0, 3);
		reason.sum = EXITS + 1;
		for (reason.key.field = REASONS; reason.key.field < REASONS_END;
		     reason.key.field++) {
			struct change_timing timing = { .time_ns = any_number() >> 8,
							.open_ns = any_number() >> 8, .first = 3,
							.nr = (uint8_t)(rand() % 6) };

			if (reason.key.field == REASONS + 8) /* of no sum */
				add_row(changes, of, reason.key.field++, 0, 5);
			reason.count = any_number() >> 8;
			counts = changes_add_timed(changes, &reason, &timing);
			assert_non_null(counts);
			for (int k = 0; k < timing.nr; k++) {
				counts[k] = any_number() >> 8;
				changes->counts[at + 3 + (size_t)k] += counts[k];
			}
			count += reason.count;
			changes->timings[changes->list[row].timing - 1].time_ns += timing.time_ns;
			changes->timings[changes->list[row].timing - 1].open_ns += timing.open_ns;
		}
		changes->list[row].count = count + (is_off == 2);
		changes->timings[changes->list[row].timing - 1].time_ns += is_off == 3;
		changes->timings[changes->list[row].timing - 1].open_ns += is_off == 6;
		changes->counts[at] += is_off == 4;
	}
}

static size_t size_of_changes(const struct world *w)
{
	return w->packed.parts[PART_CHANGES].size + w->packed.parts[PART_HISTS].size;
}

static void check_all_depths(struct world *w)
{
	for (enum unpack_depth depth = UNPACK_COUNTS; depth <= UNPACK_ALL; depth++) {
		assert_int_equal(unpack(w, PART_CHANGES, depth, NULL), 0);
		check_changes(&w->read.changes, &w->moment.changes, depth);
	}
}

/* What others add up to takes no room, and comes back to the digit; what is off is stored. */
TEST(sums_are_made_again, setup, teardown)
{
	static const int sizes[] = { 1, 2, 30 };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size[7];

		for (int is_off = 0; is_off < 7; is_off++) {
			srand(815); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time */
			make_vcpus(&w->moment.changes, sizes[i], is_off);
			for (size_t k = 0; is_off == 5 && k < w->moment.changes.nr; k++)
				w->moment.changes.list[k].sum = 0;
			w->moment.flags = 0;
			pack(w);
			size[is_off] = size_of_changes(w);
			pack(w); /* again */
			assert_int_equal(size_of_changes(w), size[is_off]);
			check_all_depths(w);
		}
		for (int is_off = 1; is_off < 7 && i; is_off++)
			assert_true(size[0] < size[is_off]);
	}
}

/* Histograms are not looked at unless they are wanted. */
TEST(counts_need_no_histograms, setup, teardown)
{
	struct world *w = *state;
	struct blob *hists = &w->packed.parts[PART_HISTS];

	make_vcpus(&w->moment.changes, 100, 0);
	w->moment.flags = 0;
	pack(w);
	hists->bytes[hists->size - 1] ^= 1;
	for (enum unpack_depth depth = UNPACK_COUNTS; depth < UNPACK_ALL; depth++) {
		assert_int_equal(unpack(w, PART_CHANGES, depth, NULL), 0);
		check_changes(&w->read.changes, &w->moment.changes, depth);
	}
	assert_int_equal(unpack(w, PART_CHANGES, UNPACK_ALL, NULL), -EBADMSG);
}

TEST(an_inventory_is_the_same_afterwards, setup, teardown)
{
	struct world *w = *state;
	const struct guest *guest;
	struct guest full = { .pid = 300, .name = "full", .vmm = "qemu" };
	struct error error = { "" };

	w->moment.flags = MOMENT_HAS_GUESTS;
	w->moment.guests = guests_new(NULL);
	guests_add_fake(w->moment.guests, 100, "web", 3);
	guests_add_fake(w->moment.guests, 200, "db", 0);
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		memset(full.words.text[i], 'a' + (char)i, WORD_SIZE - 1);
	guests_add(w->moment.guests, &full);
	pack(w);
	assert_int_equal(unpack_guests(w->packer, &w->packed.parts[PART_GUESTS], &w->read, &error),
			 0);
	assert_int_equal(guests_count(w->read.guests), 3);
	guest = guests_at(w->read.guests, 0);
	assert_string_equal(guest->name, "web");
	assert_string_equal(guest->vmm, "qemu");
	assert_int_equal(guest->pid, 100);
	assert_int_equal(guest->nr_vcpus, 3);
	assert_true(guest->is_named);
	assert_string_equal(guest->words.text[WORD_TITLE], "");
	assert_int_equal(guests_at(w->read.guests, 1)->pid, 200);
	assert_memory_equal(&guests_at(w->read.guests, 2)->words, &full.words,
			    sizeof(full.words));
}

static void check_long_exit(const struct long_exit *read, const struct long_exit *made)
{
	assert_int_equal(read->end_ns, made->end_ns);
	assert_int_equal(read->took_ns, made->took_ns);
	assert_int_equal(read->user_ns, made->user_ns);
	assert_int_equal(read->polled_ns, made->polled_ns);
	assert_int_equal(read->knows_wait, made->knows_wait);
	assert_int_equal(read->waited_ns, made->knows_wait ? made->waited_ns : 0);
	assert_int_equal(read->pc, made->pc);
	assert_string_equal(read->symbol, made->symbol);
	assert_int_equal(read->guest, made->guest);
	assert_int_equal(read->vcpu, made->vcpu);
	assert_int_equal(read->cpu, made->cpu);
	assert_int_equal(read->reason, made->reason);
	assert_int_equal(read->argument, made->argument);
}

static void make_long_exits(struct moment *moment, size_t nr)
{
	long_exits_reset(&moment->long_exits);
	moment->time_ns = UINT64_C(1790000000000000000);
	moment->long_exits.longer_ns = 1000000;
	moment->long_exits.lost = any_number() >> 8;
	for (size_t i = 0; i < nr; i++) {
		struct long_exit exit = {
			.end_ns = moment->time_ns - (any_number() >> 20) + (i == 0 ? 12345 : 0),
			.took_ns = any_number(),
			.user_ns = any_number(),
			.polled_ns = any_number(),
			.knows_wait = i % 2,
			.waited_ns = any_number() >> 1,
			.pc = any_number(),
			.guest = i % 3 ? (uint32_t)i : GUEST_NONE,
			.vcpu = (int32_t)(i % 5) - 1,
			.cpu = i % 7 ? (uint32_t)i : LONG_EXITS_NO_CPU,
			.reason = (uint32_t)i,
			.argument = i % 4 ? (uint32_t)(i * i) : FIELD_NONE,
		};

		if (i % 2)
			memset(exit.symbol, 'f', i % sizeof(exit.symbol));
		long_exits_add(&moment->long_exits, &exit);
	}
}

static int unpack_long(struct world *w, struct error *error)
{
	return unpack_long_exits(w->packer, &w->packed.parts[PART_LONG_EXITS], w->moment.time_ns,
				 &w->read.long_exits, error);
}

TEST(long_exits, setup, teardown)
{
	static const size_t sizes[] = { 0, 1, LONG_EXITS_KEPT };
	struct world *w = *state;
	struct long_exits *made = &w->moment.long_exits, *read = &w->read.long_exits;

	/* Where they are not listed there is no part: it is not the same as none. */
	pack(w);
	assert_int_equal(w->packed.parts[PART_LONG_EXITS].size, 0);
	assert_int_equal(unpack_long(w, NULL), 0);
	assert_int_equal(read->longer_ns, 0);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		make_long_exits(&w->moment, sizes[i]);
		pack(w);
		assert_int_equal(unpack_long(w, NULL), 0);
		assert_int_equal(read->longer_ns, 1000000);
		assert_int_equal(read->lost, made->lost);
		assert_int_equal(read->nr, sizes[i]);
		for (size_t k = 0; k < read->nr; k++)
			check_long_exit(long_exits_at(read, k), long_exits_at(made, k));
	}
	/* More than a moment has are damage. */
	make_long_exits(&w->moment, LONG_EXITS_KEPT + 1);
	pack(w);
	assert_int_equal(unpack_long(w, NULL), -EBADMSG);
	assert_int_equal(read->nr + read->longer_ns, 0);
}

/* With the guests' functions, too, a part has its limit. */
TEST(the_largest_list_of_long_exits, setup, teardown)
{
	struct world *w = *state;

	make_long_exits(&w->moment, LONG_EXITS_KEPT);
	for (size_t i = 0; i < LONG_EXITS_KEPT; i++) {
		char *symbol = w->moment.long_exits.list[i].symbol;

		for (size_t k = 0; k + 1 < LONG_EXITS_SYMBOL; k++)
			symbol[k] = (char)('a' + rand() % 26);
	}
	pack(w);
	assert_true(w->packed.parts[PART_LONG_EXITS].size < 40000);
}

/* A guest with so many vCPUs, of which each takes two bytes before compression. */
static void make_bomb(struct blob *blob, uint32_t nr_vcpus)
{
	/* One guest: id, pid, start, name, VMM, words, flags, VMs. */
	static const unsigned char guest[] = { 1, 1, 7, 9, 1, 'a', 1, 'b',
						0, 0, 0, 0, 0, 0, 0, 1 };
	size_t size = sizeof(guest) + 5 + 2 * (size_t)nr_vcpus, room = ZSTD_compressBound(size);
	unsigned char *plain = calloc(1, size);

	assert_non_null(plain);
	memcpy(plain, guest, sizeof(guest));
	for (int i = 0; i < 5; i++)
		plain[sizeof(guest) + i] = (unsigned char)((nr_vcpus >> 7 * i & 127) |
							   (i < 4 ? 128 : 0));
	array_grow_unset(&blob->bytes, &blob->room, room);
	blob->size = ZSTD_compress(blob->bytes, room, plain, size, 1);
	assert_false(ZSTD_isError(blob->size));
	free(plain);
}

TEST(a_few_bytes_do_not_claim_all_memory, setup, teardown)
{
	static const uint32_t sizes[] = { 1000000, 4000000, 60000000 };
	struct world *w = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct blob bomb = { 0 };
		struct rusage before, after;
		int err;

		make_bomb(&bomb, sizes[i]);
		getrusage(RUSAGE_SELF, &before);
		err = unpack_guests(w->packer, &bomb, &w->read, NULL);
		getrusage(RUSAGE_SELF, &after);
		assert_int_equal(err, i ? -EBADMSG : 0);
		assert_true(after.ru_maxrss - before.ru_maxrss < 256 << 10); /* KiB */
		blob_release(&bomb);
	}
	assert_int_equal(guests_count(w->read.guests), 0);
}

TEST(an_id_that_no_guest_can_have_is_damage, setup, teardown)
{
	struct world *w = *state;
	struct vcpu vcpu = { .tid = 100 };
	struct guest guest = { .id = UINT32_MAX, .pid = 100, .vcpus = &vcpu, .nr_vcpus = 1 };
	struct error error = { "" };

	w->moment.flags = MOMENT_HAS_GUESTS;
	w->moment.guests = guests_new(NULL);
	guests_put(w->moment.guests, &guest);
	pack(w);
	assert_int_equal(unpack_guests(w->packer, &w->packed.parts[PART_GUESTS], &w->read, &error),
			 -EBADMSG);
	assert_string_equal(error.text, "a sample in the history is damaged");
}

/* One bit anywhere in the compressed bytes. */
TEST(a_changed_bit_is_seen, setup, teardown)
{
	struct world *w = *state;

	make_fields();
	make_changes(&w->moment.changes, 60);
	pack(w);
	for (enum moment_part part = PART_CHANGES; part <= PART_HISTS; part++) {
		struct blob *blob = &w->packed.parts[part];
		const size_t size = blob->size;

		for (size_t i = 0; i < 8 * size; i++) {
			struct error error = { "" };

			blob->bytes[i / 8] ^= (unsigned char)(1 << i % 8);
			if (unpack(w, PART_CHANGES, UNPACK_ALL, &error) != 0)
				assert_string_not_equal(error.text, "");
			else /* a bit that means nothing */
				check_changes(&w->read.changes, &w->moment.changes, UNPACK_ALL);
			blob->bytes[i / 8] ^= (unsigned char)(1 << i % 8);
		}
		for (blob->size = 0; blob->size < size; blob->size++)
			assert_int_equal(unpack(w, PART_CHANGES, UNPACK_ALL, NULL), -EBADMSG);
	}
}

/* Compresses some bytes again after some of them became others. */
static void damage(struct blob *blob)
{
	unsigned long long size = ZSTD_getFrameContentSize(blob->bytes, blob->size);
	unsigned char *plain = malloc(size + 1);

	assert_non_null(plain);
	assert_int_equal(ZSTD_decompress(plain, size + 1, blob->bytes, blob->size), size);
	for (int k = rand() % 4; k >= 0 && size; k--)
		plain[(size_t)rand() % size] = (unsigned char)rand();
	if (size && rand() % 8 == 0)
		size = (size_t)rand() % size;
	array_grow(&blob->bytes, &blob->room, ZSTD_compressBound(size));
	blob->size = ZSTD_compress(blob->bytes, blob->room, plain, size, 1);
	free(plain);
}

/* Damages that zstd does not see, as it compressed them: each number of the columns is checked. */
TEST(any_numbers_are_no_harm, setup, teardown)
{
	struct world *w = *state;
	size_t nr = unit_rounds(2000), nr_good = 0;

	for (size_t i = 0; i < nr; i++) {
		enum moment_part part = (enum moment_part)(i % MOMENT_PARTS);
		int err;

		make_changes(&w->moment.changes, 20);
		if (i % 50 == 0)
			make_fields();
		make_changes(&w->moment.totals, 20);
		guests_free(w->moment.guests);
		w->moment.guests = guests_new(NULL);
		guests_add_fake(w->moment.guests, 100, "web", 3);
		make_long_exits(&w->moment, 20);
		w->moment.flags = MOMENT_HAS_TOTALS | MOMENT_HAS_GUESTS;
		pack(w);
		damage(&w->packed.parts[part]);
		if (part == PART_GUESTS)
			err = unpack_guests(w->packer, &w->packed.parts[part], &w->read, NULL);
		else if (part == PART_LONG_EXITS)
			err = unpack_long(w, NULL);
		else
			err = unpack(w, part < PART_TOTALS ? PART_CHANGES : PART_TOTALS,
				     UNPACK_ALL, NULL);
		if (err)
			assert_int_equal(err, -EBADMSG);
		else
			nr_good++; /* a number became another */
	}
	assert_true(nr_good > nr / 10 && nr_good < nr / 10 * 9);
}
