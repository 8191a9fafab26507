// SPDX-License-Identifier: GPL-2.0-or-later
/* Right passwords pass, however many wrong ones there are; the others wait for their check. */
#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "lib/http/access.h"
#include "tests/unit/unit.h"

#define NR 130

/* The password is "secret". */
static char hash[] = "$2b$04$ctzl7SRfiNSSZlMYgV9iJ.YZ1Ea9y1.0QV/3IM4xzSM80nO0w6twu";
static char name[] = "prom";
static struct web_user user = { name, hash };
static const struct web_config config = { .users = &user, .nr_users = 1 };
static struct passwords *passwords;
static struct login all[NR];
static size_t order[NR], nr_answered, nr_seen; /* the logins as they got their answers */
static sem_t is_answered;
static sem_t has_begun, may_go_on;
static atomic_bool is_held; /* a check waits until it may go on */
static atomic_uint nr_checks;

/* In this program crypt(3) knows one password, counts its calls, and waits while one is held. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has its own names */
char *crypt_r(const char *password, const char *setting, struct crypt_data *data)
{
	static char wrong[] = "*0";

	(void)setting;
	(void)data;
	nr_checks++;
	if (is_held) {
		sem_post(&has_begun);
		sem_wait(&may_go_on);
	}
	return strcmp(password, "secret") == 0 ? hash : wrong;
}

static void on_answer(struct login *login)
{
	order[nr_answered++ % NR] = (size_t)(login - all);
	sem_post(&is_answered);
}

static int setup(void **state)
{
	(void)state;
	memset(all, 0, sizeof(all));
	nr_answered = nr_seen = 0;
	nr_checks = 0;
	sem_init(&is_answered, 0, 0);
	sem_init(&has_begun, 0, 0);
	sem_init(&may_go_on, 0, 0);
	return passwords_new(&config, on_answer, &passwords, NULL);
}

static int teardown(void **state)
{
	(void)state;
	passwords_free(passwords);
	sem_destroy(&is_answered);
	return 0;
}

static void ask(size_t i, const char *address, const char *as, const char *password)
{
	struct sockaddr_in ip4 = { .sin_family = AF_INET, .sin_addr = { inet_addr(address) } };

	all[i].address = client_address_of((struct sockaddr *)&ip4);
	passwords_check(passwords, &all[i], as, password);
}

/* The answer of the next one that has any. */
static size_t next_answered(void)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 20;
	assert_int_equal(sem_timedwait(&is_answered, &end), 0);
	return order[nr_seen++ % NR];
}

TEST(a_right_one_is_remembered, setup, teardown)
{
	assert_int_equal(passwords_know(passwords, "prom", "secret"), PASSWORD_UNKNOWN);
	assert_int_equal(passwords_know(passwords, NULL, NULL), PASSWORD_WRONG);
	ask(0, "192.0.2.1", "prom", "secret");
	assert_int_equal(next_answered(), 0);
	assert_int_equal(all[0].answer, PASSWORD_RIGHT);
	assert_int_equal(passwords_know(passwords, "prom", "secret"), PASSWORD_RIGHT);
	assert_int_equal(passwords_know(passwords, "prom", "secret2"), PASSWORD_UNKNOWN);
	assert_int_equal(passwords_know(passwords, "nobody", "secret"), PASSWORD_UNKNOWN);
	ask(1, "192.0.2.1", "prom", "secret2");
	assert_int_equal(next_answered(), 1);
	ask(2, "192.0.2.1", "nobody", "secret");
	assert_int_equal(next_answered(), 2);
	assert_int_equal(all[1].answer, PASSWORD_WRONG);
	assert_int_equal(all[2].answer, PASSWORD_WRONG);
}

/* Others come while the first login has its check. */
static void hold(void)
{
	is_held = true;
	ask(0, "192.0.2.1", "prom", "wrong");
	sem_wait(&has_begun);
	is_held = false;
}

/* Many wrong ones of one address come first, and go on coming. */
TEST(each_address_has_its_turn, setup, teardown)
{
	hold();
	ask(NR - 1, "192.0.2.2", "prom", "secret");
	for (size_t i = 1; i < NR - 1; i++)
		ask(i, "192.0.2.1", "prom", "wrong");
	sem_post(&may_go_on);
	assert_int_equal(next_answered(), 0);
	assert_int_equal(next_answered(), NR - 1);
	assert_int_equal(all[NR - 1].answer, PASSWORD_RIGHT);
}

/* All addresses of this machine are one; of one address the newest comes first. */
TEST(the_newest_comes_first, setup, teardown)
{
	char address[32];
	hold();
	for (size_t i = 1; i < NR - 1; i++) {
		snprintf(address, sizeof(address), "127.0.1.%zu", i);
		ask(i, address, "prom", "wrong");
	}
	ask(NR - 1, "127.0.0.1", "prom", "secret");
	sem_post(&may_go_on);
	assert_int_equal(next_answered(), 0);
	assert_int_equal(next_answered(), NR - 1);
	assert_int_equal(all[NR - 1].answer, PASSWORD_RIGHT);
}

/* What waits with a password that turns out to be right needs no check of its own. */
TEST(who_asks_for_the_same_has_the_answer, setup, teardown)
{
	hold();
	ask(1, "192.0.2.3", "prom", "secret");
	ask(2, "192.0.2.3", "prom", "secret");
	sem_post(&may_go_on);
	assert_int_equal(next_answered(), 0);
	assert_int_equal(next_answered(), 2);
	assert_int_equal(next_answered(), 1);
	assert_int_equal(nr_checks, 2);
	assert_int_equal(all[1].answer, PASSWORD_RIGHT);
	assert_int_equal(all[2].answer, PASSWORD_RIGHT);
}

static bool has_no_numbers;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc has its own names */
ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	(void)flags;
	memset(bytes, 7, size);
	return has_no_numbers ? -1 : (ssize_t)size;
}

/* Nobody may read because nobody can be asked. */
TEST(without_random_numbers_there_is_no_server)
{
	struct passwords *none = NULL;
	struct error error = { "" };

	has_no_numbers = true;
	assert_int_equal(passwords_new(&config, on_answer, &none, &error), -EIO);
	has_no_numbers = false;
	assert_null(none);
	assert_string_equal(error.text,
			    "the system has no random numbers, which passwords need");
}
