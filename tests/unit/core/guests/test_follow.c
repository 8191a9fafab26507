/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_follow - lists that follow the inventory: what stays, begins and ends, and the turns. */
#include <string.h>

#include "core/guests/follow.h"
#include "tests/unit/unit.h"

struct item {
	struct followed of;
	int begun, kept;
};

static int nr_begun, nr_dropped;
static struct followed dropped;

static void begin(void *arg, void *item)
{
	assert_ptr_equal(arg, &nr_begun);
	assert_int_equal(((struct item *)item)->kept, 0);
	((struct item *)item)->begun = ++nr_begun;
}

static void drop(void *arg, void *item)
{
	assert_ptr_equal(arg, &nr_begun);
	dropped = ((struct item *)item)->of;
	nr_dropped++;
}

/* The inventory is these guests from now on; the vCPU of each one has the thread of its tid. */
static void put(struct guests *guests, const uint32_t *ids, size_t nr, pid_t tid)
{
	guests_clear(guests);
	for (size_t i = 0; i < nr; i++) {
		struct vcpu vcpus[] = { { .index = 0, .tid = tid }, { .index = 1, .tid = 0 },
					{ .index = 2, .tid = 900 + (pid_t)ids[i] } };
		struct guest guest = { .id = ids[i], .pid = 100 + (pid_t)ids[i], .vmm = "qemu",
				       .name = "x", .vcpus = vcpus, .nr_vcpus = 3 };

		guests_put(guests, &guest);
	}
}

static struct follow make(struct guests *guests, bool of_vcpus)
{
	nr_begun = nr_dropped = 0;
	return (struct follow){ .guests = guests, .size = sizeof(struct item),
				.of_vcpus = of_vcpus, .begin = begin, .drop = drop,
				.arg = &nr_begun };
}

static uint32_t take_turn(struct follow *follow)
{
	return ((struct item *)follow_take_turn(follow))->of.guest;
}

TEST(guests_come_and_go)
{
	struct guests *guests = guests_new(NULL);
	struct follow follow = make(guests, false);
	struct item *item;

	assert_true(follow_update(&follow));
	assert_false(follow_update(&follow));
	assert_null(follow_find(&follow, 1));
	put(guests, (uint32_t[]){ 2, 3, 7 }, 3, 50);
	assert_true(follow_update(&follow));
	assert_int_equal(follow.nr, 3);
	item = follow_find(&follow, 3);
	assert_int_equal(item->of.pid, 103);
	assert_int_equal(item->of.vcpu, -1);
	assert_int_equal(item->begun, 2);
	item->kept = 77;
	put(guests, (uint32_t[]){ 3, 8 }, 2, 50);
	assert_true(follow_update(&follow));
	assert_false(follow_update(&follow));
	assert_int_equal(follow.nr, 2);
	item = follow_find(&follow, 3);
	assert_int_equal(item->kept, 77);
	assert_int_equal(item->begun, 2);
	assert_null(follow_find(&follow, 2));
	assert_int_equal(nr_begun, 4);
	assert_int_equal(nr_dropped, 2);
	assert_int_equal(dropped.guest, 7);
	follow_release(&follow);
	assert_int_equal(nr_dropped, 4);
	guests_free(guests);
}

/* A vCPU without a thread is none; with another thread it is another one. */
TEST(threads_of_vcpus)
{
	struct guests *guests = guests_new(NULL);
	struct follow follow = make(guests, true);
	const struct item *list;

	put(guests, (uint32_t[]){ 2, 3 }, 2, 50);
	follow_update(&follow);
	assert_int_equal(follow.nr, 4);
	list = follow.list;
	assert_memory_equal(&list[0].of, (&(struct followed){ 2, 0, 50, 102 }), sizeof(list->of));
	assert_memory_equal(&list[3].of, (&(struct followed){ 3, 2, 903, 103 }), sizeof(list->of));
	put(guests, (uint32_t[]){ 3 }, 1, 51);
	follow_update(&follow);
	assert_int_equal(nr_begun, 5);
	assert_int_equal(nr_dropped, 3);
	assert_int_equal(dropped.tid, 50);
	follow_release(&follow);
	guests_free(guests);
}

/* Each has its turn, whoever comes and goes. */
TEST(turns_go_on)
{
	struct guests *guests = guests_new(NULL);
	struct follow follow = make(guests, false);

	put(guests, (uint32_t[]){ 2, 4, 6, 8 }, 4, 50);
	follow_update(&follow);
	assert_int_equal(take_turn(&follow), 2);
	assert_int_equal(take_turn(&follow), 4);
	put(guests, (uint32_t[]){ 1, 2, 8, 9 }, 4, 50);
	follow_update(&follow);
	assert_int_equal(take_turn(&follow), 8);
	assert_int_equal(take_turn(&follow), 9);
	assert_int_equal(take_turn(&follow), 1);
	assert_int_equal(take_turn(&follow), 2);
	put(guests, (uint32_t[]){ 1 }, 1, 50);
	follow_update(&follow);
	assert_int_equal(take_turn(&follow), 1);
	assert_int_equal(take_turn(&follow), 1);
	follow_release(&follow);
	guests_free(guests);
}
