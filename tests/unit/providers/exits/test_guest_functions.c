// SPDX-License-Identifier: GPL-2.0-or-later
/* How often, and how many at a time, guests' memory is read that has no end or no symbols. */
#include <errno.h>
#include <unistd.h>

#include "host/guest_symbols.h"
#include "lib/clock.h"
#include "providers/account/account.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

/* The kernel's part, and the search in the memory, are the test's. */
static uint64_t the_clock(void);
static int check_account(const struct env *env, struct error *error);
static int make_reader(const struct arch *arch, struct account_reader **ret_reader,
		    struct error *error);
static int read_guest(struct account_reader *reader, pid_t pid, pid_t tid,
		     struct account_guest *ret_guest);
static void drop_reader(struct account_reader *reader);
static int find_symbols(struct guest_memory *memory, const struct guest_registers *registers,
		     struct guest_symbols **ret_symbols, struct error *error);

#define clock_now_ns the_clock
#define account_check check_account
#define account_guest_reader_new make_reader
#define account_read_guest read_guest
#define account_reader_free drop_reader
#define guest_symbols_find find_symbols
#include "providers/exits/guest_functions.c" /* NOLINT(bugprone-suspicious-include) */

#define SECOND UINT64_C(1000000000)
#define GUESTS 40

static uint64_t now_ns;
static atomic_int result, nr_found;
static atomic_bool is_stuck;

static uint64_t the_clock(void)
{
	return now_ns;
}

static int check_account(const struct env *env, struct error *error)
{
	(void)env;
	(void)error;
	return 0;
}

static int make_reader(const struct arch *arch, struct account_reader **ret_reader,
		    struct error *error)
{
	(void)arch;
	(void)error;
	*ret_reader = (struct account_reader *)&now_ns; /* never looked into */
	return 0;
}

static int read_guest(struct account_reader *reader, pid_t pid, pid_t tid,
		     struct account_guest *ret_guest)
{
	(void)reader;
	(void)pid;
	(void)tid;
	*ret_guest = (struct account_guest){ .nr = 0 };
	return 0;
}

static void drop_reader(struct account_reader *reader)
{
	(void)reader;
}

static int find_symbols(struct guest_memory *memory, const struct guest_registers *registers,
		     struct guest_symbols **ret_symbols, struct error *error)
{
	(void)memory;
	(void)registers;
	(void)ret_symbols;
	(void)error;
	nr_found++;
	while (is_stuck)
		usleep(1000);
	return result;
}

struct world {
	struct env env;
	struct guests *guests;
	struct guest_functions *functions;
	uint32_t ids[GUESTS];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error error = { "" };

	assert_non_null(w);
	assert_int_equal(env_init(&w->env, "", &error), 0);
	w->guests = guests_new(NULL);
	for (size_t i = 0; i < GUESTS; i++) /* all have this process' memory */
		w->ids[i] = guests_add_fake(w->guests, getpid(), "web", 1);
	w->functions = guest_functions_new(&(struct guest_functions_config){
		.env = &w->env, .guests = w->guests, .reads_memory = true });
	now_ns = 100 * SECOND;
	nr_found = 0;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	is_stuck = false;
	guest_functions_free(w->functions);
	while (nr_readings)
		usleep(1000);
	guests_free(w->guests);
	env_release(&w->env);
	free(w);
	return 0;
}

/* A sample, each second, in which so many guests want names; no reading goes on after it. */
static void samples(struct world *w, size_t nr_guests, int nr)
{
	for (int i = 0; i < nr; i++) {
		for (size_t g = 0; g < nr_guests; g++)
			guest_functions_want(w->functions, w->ids[g], getpid(),
					     UINT64_C(0xffffffff81000000));
		guest_functions_prepare(w->functions);
		while (nr_readings && !is_stuck)
			usleep(100);
		now_ns += SECOND;
	}
}

/* Memory full of what looks like tables: the pauses are 2, 4, 8 ... 60 s. */
TEST(too_much_makes_pauses_longer, setup, teardown)
{
	struct world *w = *state;

	result = -E2BIG;
	samples(w, 1, 600);
	assert_in_range(nr_found, 10, 16);
	nr_found = 0;
	result = -ENOENT; /* a guest that boots */
	samples(w, 1, 120);
	nr_found = 0;
	samples(w, 1, 60);
	assert_in_range(nr_found, 20, 30);
}

/* Memory that never comes has a bound, also of guests that are gone. */
TEST(readings_without_end_are_bounded, setup, teardown)
{
	struct world *w = *state;

	is_stuck = true;
	samples(w, GUESTS, 3);
	assert_int_equal(nr_readings, READINGS_MAX);
	guest_functions_free(w->functions);
	w->functions = guest_functions_new(&(struct guest_functions_config){
		.env = &w->env, .guests = w->guests, .reads_memory = true });
	samples(w, GUESTS, 3);
	assert_int_equal(nr_readings, READINGS_MAX);
	is_stuck = false;
	while (nr_readings)
		usleep(100);
	nr_found = 0;
	result = -ENOENT;
	samples(w, GUESTS, 6);
	assert_in_range(nr_found, GUESTS, 3 * GUESTS);
}

TEST(one_costly_reading_at_a_time, setup, teardown)
{
	struct world *w = *state;

	result = -E2BIG;
	samples(w, 10, 1);
	samples(w, 10, 3);
	now_ns += 100 * SECOND;
	is_stuck = true;
	samples(w, 10, 3);
	assert_int_equal(nr_readings, 1);
}
