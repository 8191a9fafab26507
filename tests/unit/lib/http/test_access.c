// SPDX-License-Identifier: GPL-2.0-or-later
/* Right passwords pass, however many wrong ones there are; the others wait for their turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static ssize_t random_numbers(void *bytes, size_t size, unsigned int flags);

#define getrandom random_numbers
#include <sys/random.h>
#include "lib/http/access.c" /* NOLINT(bugprone-suspicious-include): its insides */
#include "tests/unit/unit.h"

#define NR 60

/* The password is "secret"; a check takes a ms. */
static char hash[] = "$2b$04$ctzl7SRfiNSSZlMYgV9iJ.YZ1Ea9y1.0QV/3IM4xzSM80nO0w6twu";
static char name[] = "prom";
static struct web_user user = { name, hash };
static const struct web_config config = { .users = &user, .nr_users = 1 };
static struct passwords *passwords;
static struct login all[NR];

static int setup(void **state)
{
	(void)state;
	memset(all, 0, sizeof(all));
	return passwords_new(&config, NR, &passwords, NULL);
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR; i++)
		password_leave(passwords, &all[i]);
	passwords_free(passwords);
	return 0;
}

static enum password_answer ask(size_t i, const char *address, const char *as, const char *password)
{
	struct sockaddr_in ip4 = { .sin_family = AF_INET, .sin_addr = { inet_addr(address) } };

	all[i].address = client_address_of((struct sockaddr *)&ip4);
	password_ask(passwords, &all[i], as, password);
	return all[i].answer;
}

/* Waits for the next check. */
static size_t work(void)
{
	uint64_t end_ns = clock_now_ns() + 10 * NS_PER_S, idle_ns;
	const struct login *login;

	do {
		login = passwords_work(passwords, &idle_ns);
	} while (!login && clock_now_ns() < end_ns);
	assert_non_null(login);
	return (size_t)(login - all);
}

static void a_right_one_is_remembered(void **state)
{
	uint64_t idle_ns;

	(void)state;
	assert_int_equal(ask(0, "192.0.2.1", "prom", "secret"), PASSWORD_WAITS);
	assert_int_equal(work(), 0);
	assert_int_equal(all[0].answer, PASSWORD_RIGHT);
	assert_int_equal(ask(0, "192.0.2.1", "prom", "secret"), PASSWORD_RIGHT);
	assert_int_equal(ask(1, "192.0.2.1", NULL, NULL), PASSWORD_WRONG);
	assert_int_equal(ask(1, "192.0.2.1", "prom", "secret2"), PASSWORD_WAITS);
	assert_int_equal(ask(2, "192.0.2.1", "nobody", "secret"), PASSWORD_WAITS);
	assert_int_equal(work(), 1);
	assert_int_equal(work(), 2);
	assert_int_equal(all[1].answer, PASSWORD_WRONG);
	assert_int_equal(all[2].answer, PASSWORD_WRONG);
	assert_null(passwords_work(passwords, &idle_ns));
	assert_true(idle_ns == UINT64_MAX);
}

/* Many wrong ones of one address come first. */
static void each_address_has_its_turn(void **state)
{
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < PASSWORDS_OF_ADDRESS; i++)
		assert_int_equal(ask(i, "192.0.2.1", "prom", "wrong"), PASSWORD_WAITS);
	assert_int_equal(ask(NR - 2, "192.0.2.1", "prom", "wrong"), PASSWORD_LATER);
	assert_int_equal(ask(NR - 1, "192.0.2.2", "prom", "secret"), PASSWORD_WAITS);
	while (all[NR - 1].answer == PASSWORD_WAITS) {
		work();
		nr++;
	}
	assert_int_equal(all[NR - 1].answer, PASSWORD_RIGHT);
	assert_true(nr <= 2);
	/* Who asked for the same meanwhile has an answer, too, and whoever asks later. */
	assert_int_equal(ask(NR - 2, "192.0.2.1", "prom", "secret"), PASSWORD_RIGHT);
}

/* A client that tries one password after the other comes after others of its address. */
static void who_was_wrong_comes_last(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		ask(i, "192.0.2.1", "prom", "wrong");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(work(), i);
	for (size_t i = 0; i < 3; i++)
		ask(i, "192.0.2.1", "prom", "wrong too");
	ask(3, "192.0.2.2", "prom", "wrong");
	ask(4, "192.0.2.1", "prom", "wrong");
	assert_int_equal(work(), 4);
	assert_int_equal(work(), 3); /* the other address has its turn */
	for (size_t i = 0; i < 3; i++)
		assert_true(work() < 3);
}

/* A check is paid from a tenth of the time: a minute of checks takes ten to be made up for. */
static void checks_take_a_part_of_the_time(void **state)
{
	const int64_t minute_ns = INT64_C(60) * (int64_t)NS_PER_S;
	uint64_t idle_ns;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		ask(i, "192.0.2.1", "prom", "wrong");
	passwords->left_ns = AT_ONCE_NS;
	assert_non_null(passwords_work(passwords, &idle_ns));
	assert_true(passwords->left_ns < AT_ONCE_NS);
	passwords->left_ns = -minute_ns;
	assert_null(passwords_work(passwords, &idle_ns));
	assert_in_range(idle_ns, 9 * (uint64_t)minute_ns, 10 * (uint64_t)minute_ns + SHARE);
	passwords->counted_ns -= idle_ns;
	assert_non_null(passwords_work(passwords, &idle_ns));
}

static void sleep_long(int signal)
{
	(void)signal;
	poll(NULL, 0, 300);
}

/* What other programs take of the CPU does not count: else a busy machine would lock out. */
static void a_check_costs_cpu_time(void **state)
{
	const struct itimerval soon = { .it_value.tv_usec = 100 };
	uint64_t idle_ns;

	(void)state;
	ask(0, "192.0.2.1", "prom", "wrong");
	signal(SIGALRM, sleep_long);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_non_null(passwords_work(passwords, &idle_ns));
	assert_true(passwords->left_ns > AT_ONCE_NS / 2 + AT_ONCE_NS / 4);
}

/* The vectors of the paper's authors: the key 00 01 02 ..., and the text as far. */
static void siphash_is_siphash(void **state)
{
	const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
	unsigned char text[15];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)i;
	assert_true(siphash(key, text, 0) == UINT64_C(0x726fdb47dd0e0e31));
	assert_true(siphash(key, text, 8) == UINT64_C(0x93f5f5799a932462));
	assert_true(siphash(key, text, 15) == UINT64_C(0xa129ca6149be45e5));
}

static bool has_no_numbers;

static ssize_t random_numbers(void *bytes, size_t size, unsigned int flags)
{
	(void)flags;
	memset(bytes, 7, size);
	return has_no_numbers ? -1 : (ssize_t)size;
}

/* Nobody may read because nobody can be asked. */
static void without_random_numbers_there_is_no_server(void **state)
{
	struct passwords *none = NULL;
	struct error error = { "" };

	(void)state;
	has_no_numbers = true;
	assert_int_equal(passwords_new(&config, NR, &none, &error), -EIO);
	has_no_numbers = false;
	assert_null(none);
	assert_string_equal(error.text,
			    "the system has no random numbers, which passwords need");
}

UNIT(test_access)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_right_one_is_remembered, setup, teardown),
		cmocka_unit_test_setup_teardown(each_address_has_its_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(who_was_wrong_comes_last, setup, teardown),
		cmocka_unit_test_setup_teardown(checks_take_a_part_of_the_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_check_costs_cpu_time, setup, teardown),
		cmocka_unit_test(siphash_is_siphash),
		cmocka_unit_test(without_random_numbers_there_is_no_server),
	};

	return cmocka_run_group_tests_name("password", tests, NULL, NULL);
}
