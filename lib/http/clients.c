// SPDX-License-Identifier: GPL-2.0-or-later
/* A list in the order of the latest answers: who had none for longest is first. */
#include <netinet/in.h>
#include <string.h>
#include <utlist.h>

#include "lib/http/access.h"

#define NS_PER_S UINT64_C(1000000000)

struct client_address client_address_of(const struct sockaddr *address)
{
	struct client_address of = { .family = address ? address->sa_family : AF_UNSPEC };
	struct sockaddr_in6 ip6;
	struct sockaddr_in ip4;

	if (of.family == AF_INET) {
		memcpy(&ip4, address, sizeof(ip4));
		memcpy(of.bytes, &ip4.sin_addr, sizeof(ip4.sin_addr));
	} else if (of.family == AF_INET6) {
		memcpy(&ip6, address, sizeof(ip6));
		memcpy(of.bytes, &ip6.sin6_addr, sizeof(of.bytes));
		if (IN6_IS_ADDR_V4MAPPED(&ip6.sin6_addr)) {
			of.family = AF_INET;
			memcpy(of.bytes, &ip6.sin6_addr.s6_addr[12], sizeof(ip4.sin_addr));
		}
	}
	return of;
}

bool client_address_is_same(const struct client_address *a, const struct client_address *b)
{
	return a->family == b->family && memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

static void end(struct client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client->is_ended = true;
}

/* Ends the oldest of these that waits for nothing; where all wait, the new one. */
static void make_room(struct clients *clients, struct client *new, bool is_of_address)
{
	struct client *client;

	for (client = clients->list; client; client = client->next) {
		if (!client->waits && !client->is_ended &&
		    (!is_of_address || client_address_is_same(&client->address, &new->address)))
			break;
	}
	end(client ? client : new);
}

void clients_add(struct clients *clients, struct client *client, uint64_t now_ns)
{
	bool has_limit = client->address.family == AF_INET || client->address.family == AF_INET6;
	size_t nr = 0, nr_of_address = 0;
	const struct client *other;

	for (other = clients->list; other; other = other->next) {
		nr += !other->is_ended;
		nr_of_address += !other->is_ended &&
				 client_address_is_same(&other->address, &client->address);
	}
	if (has_limit && nr_of_address >= CLIENTS_OF_ADDRESS)
		make_room(clients, client, true);
	else if (nr >= clients->max)
		make_room(clients, client, false);
	client->since_ns = now_ns;
	DL_APPEND(clients->list, client);
	clients->nr++;
}

void clients_remove(struct clients *clients, struct client *client)
{
	DL_DELETE(clients->list, client);
	clients->nr--;
}

void clients_answered(struct clients *clients, struct client *client, uint64_t now_ns)
{
	DL_DELETE(clients->list, client);
	client->since_ns = now_ns;
	DL_APPEND(clients->list, client);
}

void clients_end_late(struct clients *clients, uint64_t now_ns)
{
	struct client *client;

	for (client = clients->list; client; client = client->next) {
		if (now_ns - client->since_ns < CLIENT_LIMIT_S * NS_PER_S)
			return;
		if (!client->waits && !client->is_ended)
			end(client);
	}
}
