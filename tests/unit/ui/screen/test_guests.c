// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests to choose from with arrows: the chosen one is seen, and how many are not. */
#include "tests/worlds/screen_world.h"

static void many_guests(struct world *w)
{
	char name[32];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "vm-%02d", i);
		guests_add_fake(w->guests, 1000 + i, name, 2);
	}
	w->screen.page = PAGE_GUESTS;
	w->screen.has_prompt = true;
	prompt_begin(&w->screen.prompt, "Guest: ", "");
}

static void the_chosen_one_is_seen(void **state)
{
	struct world *w = *state;

	many_guests(w);
	w->screen.chosen_guest = guests_by_pid(w->guests, 1050)->id;
	picture(w, 80, 10);
	assert_string_equal(line(w, 4), "    1047    2  vm-47");
	assert_string_equal(line(w, 7), "    1050    2  vm-50");
	assert_string_equal(line(w, 8), "         and 47 more above, 49 below");
	assert_int_equal(w->screen.page_rows, 4);
	assert_int_equal(w->grid.cells[7 * w->grid.cols + 16].style, STYLE_SELECTED);
	w->screen.chosen_guest = guests_by_pid(w->guests, 1048)->id;
	picture(w, 80, 10);
	assert_string_equal(line(w, 4), "    1047    2  vm-47");
	w->screen.chosen_guest = guests_by_pid(w->guests, 1002)->id;
	picture(w, 80, 10);
	assert_string_equal(line(w, 4), "    1002    2  vm-02");
	w->screen.chosen_guest = guests_by_pid(w->guests, 1099)->id;
	picture(w, 80, 10);
	assert_string_equal(line(w, 8), "         and 96 more above, 0 below");
}

/* What is typed leaves fewer than there is room for: nothing stays scrolled away. */
static void what_is_typed_comes_into_sight(void **state)
{
	struct world *w = *state;

	many_guests(w);
	w->screen.chosen_guest = guests_by_pid(w->guests, 1099)->id;
	picture(w, 80, 10);
	w->screen.chosen_guest = GUEST_ANY;
	prompt_begin(&w->screen.prompt, "Guest: ", "-7");
	picture(w, 80, 20);
	assert_string_equal(line(w, 4), "    1070    2  vm-70");
	assert_string_equal(line(w, 13), "    1079    2  vm-79");
	assert_string_equal(line(w, 14), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_chosen_one_is_seen),
		TEST(what_is_typed_comes_into_sight),
	};

	return cmocka_run_group_tests_name("screen_guests", tests, NULL, NULL);
}
