/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clients - the clients of a server, of which none may keep others out.
 *
 * A client has CLIENT_LIMIT_S for each answer, from its connection or the answer before on. When
 * there are as many clients as may be, or as one address may have, the one that has had no answer
 * for longest is ended for the new one. Clients that wait for the server stay.
 *
 * A client is ended by shutdown() of its socket; who owns the socket finds that out, closes it, and
 * then removes the client.
 */
#ifndef KVMTOP_LIB_HTTP_CLIENTS_H
#define KVMTOP_LIB_HTTP_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define CLIENT_LIMIT_S 20 /* for an answer */
#define CLIENTS_OF_ADDRESS 64

/* An IPv4 address; the network of an IPv6 address, which may have any address in it. */
struct client_address {
	sa_family_t family; /* others than AF_INET and AF_INET6 are all the same, without a limit */
	unsigned char bytes[8];
};

struct client {
	int fd;
	struct client_address address;
	uint64_t since_ns; /* its connection, or its latest answer */
	bool waits;	   /* for the server */
	bool is_ended;
	struct client *prev, *next;
};

/* Zero-initialised has none. */
struct clients {
	struct client *list; /* by since_ns, the oldest first */
	size_t nr, max;
};

struct client_address client_address_of(const struct sockaddr *address);
bool client_address_is_same(const struct client_address *a, const struct client_address *b);

/* Adds a client, with its fd and address. Another one, or itself, may be ended for that. */
void clients_add(struct clients *clients, struct client *client, uint64_t now_ns);
void clients_remove(struct clients *clients, struct client *client);
void clients_answered(struct clients *clients, struct client *client, uint64_t now_ns);

/* Ends the connections that have had their time. */
void clients_end_late(struct clients *clients, uint64_t now_ns);

#endif
