// SPDX-License-Identifier: GPL-2.0-or-later
/* Keys that come and go, in an array where the last element replaces a removed one. */
#include "core/facts/key.h"
#include "tests/unit/unit.h"

#define KEYS 3000

struct element {
	struct key key;
	uint32_t number;
};

struct world {
	struct key_index index;
	struct element list[KEYS];
	uint32_t nr;
	bool is_in[KEYS];
};

static struct key key_of(uint32_t i)
{
	return (struct key){ i % 20, (int32_t)(i / 20 % 5) - 1, i / 100 };
}

static void add(struct world *world, uint32_t number)
{
	struct key key = key_of(number);

	assert_int_equal(key_index_add(&world->index, world->list, sizeof(struct element),
				       world->nr, &key), world->nr);
	world->list[world->nr++] = (struct element){ key, number };
	assert_int_equal(key_index_add(&world->index, world->list, sizeof(struct element),
				       world->nr, &key), world->nr - 1);
	world->is_in[number] = true;
}

static void remove_key(struct world *world, uint32_t number)
{
	struct key key = key_of(number);
	uint32_t *slot = key_index_slot(&world->index, world->list, &key), at = *slot - 1;
	struct element last = world->list[world->nr - 1];

	assert_int_equal(world->list[at].number, number);
	key_index_remove(&world->index, world->list, slot);
	if (last.number != number)
		*key_index_slot(&world->index, world->list, &last.key) = at + 1;
	world->list[at] = last;
	world->nr--;
	world->is_in[number] = false;
}

static void expect_all(const struct world *world)
{
	for (uint32_t i = 0; i < KEYS; i++) {
		struct key key = key_of(i);
		uint32_t slot = *key_index_slot(&world->index, world->list, &key);

		assert_int_equal(slot != 0, world->is_in[i]);
		if (slot)
			assert_int_equal(world->list[slot - 1].number, i);
	}
}

TEST(keys_come_and_go)
{
	static struct world world;
	uint32_t random = 1;

	world.index.size = sizeof(*world.list);
	for (uint32_t i = 0; i < 40 * KEYS; i++) {
		uint32_t number;

		random = random * 1664525 + 1013904223;
		number = (random >> 8) % KEYS;
		if (world.is_in[number])
			remove_key(&world, number);
		else
			add(&world, number);
		if (i % KEYS == 0)
			expect_all(&world);
	}
	expect_all(&world);
	for (uint32_t i = 0; i < KEYS; i++) {
		if (world.is_in[i])
			remove_key(&world, i);
	}
	expect_all(&world);
	for (size_t i = 0; i < world.index.nr_slots; i++)
		assert_int_equal(world.index.slots[i], 0);
	key_index_release(&world.index);
}
