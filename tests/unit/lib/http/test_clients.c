// SPDX-License-Identifier: GPL-2.0-or-later
/* No client keeps others out of a server: not by taking its time, nor by being many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/http/access.h"
#include "tests/unit/unit.h"

#define NR 200
#define SECOND UINT64_C(1000000000)

static struct clients clients;
static struct client all[NR];
static int peers[NR];

static void add(size_t i, const char *address, uint64_t now_ns)
{
	struct sockaddr_in ip4 = { .sin_family = AF_INET, .sin_addr = { inet_addr(address) } };
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	peers[i] = fds[1];
	all[i] = (struct client){ .fd = fds[0],
				  .address = client_address_of((struct sockaddr *)&ip4) };
	clients_add(&clients, &all[i], now_ns);
}

static bool is_ended(size_t i)
{
	char byte;
	bool is_closed = recv(peers[i], &byte, 1, MSG_DONTWAIT) == 0;

	assert_int_equal(is_closed, all[i].is_ended);
	return is_closed;
}

static int setup(void **state)
{
	(void)state;
	clients = (struct clients){ .max = 100 };
	memset(all, 0, sizeof(all));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < NR; i++) {
		if (!all[i].prev)
			continue;
		clients_remove(&clients, &all[i]);
		close(all[i].fd);
		close(peers[i]);
	}
	assert_int_equal(clients.nr, 0);
	assert_null(clients.list);
	return 0;
}

static void a_request_has_a_time(void **state)
{
	(void)state;
	add(0, "192.0.2.1", 100 * SECOND);
	add(1, "192.0.2.1", 100 * SECOND);
	add(2, "192.0.2.1", 100 * SECOND);
	clients_answered(&clients, &all[1], 110 * SECOND);
	all[2].waits = true; /* for the server, which takes as long as it takes */
	clients_end_late(&clients, (100 + CLIENT_LIMIT_S) * SECOND - 1);
	assert_false(is_ended(0));
	clients_end_late(&clients, (100 + CLIENT_LIMIT_S) * SECOND);
	assert_true(is_ended(0));
	assert_false(is_ended(1));
	assert_false(is_ended(2));
	clients_end_late(&clients, (110 + CLIENT_LIMIT_S) * SECOND);
	assert_true(is_ended(1));
	assert_false(is_ended(2));
}

static void an_address_has_a_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < CLIENTS_OF_ADDRESS; i++)
		add(i, "192.0.2.1", i);
	clients_answered(&clients, &all[0], 1000);
	all[1].waits = true;
	add(CLIENTS_OF_ADDRESS, "192.0.2.2", 1001); /* another one has room */
	assert_false(is_ended(2));
	add(CLIENTS_OF_ADDRESS + 1, "192.0.2.1", 1002); /* the oldest goes for it */
	assert_true(is_ended(2));
	assert_false(is_ended(0));
	assert_false(is_ended(1));
	add(CLIENTS_OF_ADDRESS + 2, "192.0.2.1", 1003); /* although the library has not closed it */
	assert_true(is_ended(3));
	assert_false(is_ended(4));
}

static void a_new_client_has_a_place(void **state)
{
	char address[32];

	(void)state;
	for (size_t i = 0; i < 100; i++) {
		snprintf(address, sizeof(address), "192.0.2.%zu", i);
		add(i, address, i);
	}
	add(100, "198.51.100.1", 1000);
	assert_true(is_ended(0));
	assert_false(is_ended(1));
	assert_false(is_ended(100));
	for (size_t i = 1; i < 101; i++)
		all[i].waits = true;
	add(101, "198.51.100.1", 1001); /* all others wait for the server */
	assert_true(is_ended(101));
}

static void what_an_address_is(void **state)
{
	struct sockaddr_in6 one = { .sin6_family = AF_INET6 }, other = one;
	struct sockaddr_in ip4 = { .sin_family = AF_INET, .sin_addr = { inet_addr("192.0.2.1") } };
	struct client_address a, b;

	(void)state;
	inet_pton(AF_INET6, "2001:db8:0:1::1", &one.sin6_addr);
	inet_pton(AF_INET6, "2001:db8:0:1:ffff::2", &other.sin6_addr);
	a = client_address_of((struct sockaddr *)&one);
	b = client_address_of((struct sockaddr *)&other);
	assert_true(client_address_is_same(&a, &b)); /* a network is one client's */
	inet_pton(AF_INET6, "2001:db8:0:2::1", &other.sin6_addr);
	b = client_address_of((struct sockaddr *)&other);
	assert_false(client_address_is_same(&a, &b));
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &other.sin6_addr);
	a = client_address_of((struct sockaddr *)&ip4);
	b = client_address_of((struct sockaddr *)&other);
	assert_true(client_address_is_same(&a, &b));
}

UNIT(test_clients)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_request_has_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_has_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_client_has_a_place, setup, teardown),
		cmocka_unit_test(what_an_address_is),
	};

	return cmocka_run_group_tests_name("clients", tests, NULL, NULL);
}
