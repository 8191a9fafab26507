/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access - who may read from a server: how many clients, TLS and users, from a file as Prometheus'
 * exporter-toolkit has it, and whether a user's password is right, by bcrypt hashes and crypt(3).
 *
 *	tls_server_config:
 *	  cert_file: server.crt		(PEM; paths are relative to the folder of the file)
 *	  key_file: server.key
 *	  min_version: TLS12		(or TLS13)
 *	basic_auth_users:
 *	  NAME: $2y$10$...		(bcrypt, as htpasswd -nB prints it)
 *	http_server_config:
 *	  http2: false			(has no effect: there is HTTP 1.1 only)
 *
 * The toolkit's other settings are refused by name, because they would have no effect.
 *
 * A check costs what the hash is meant to cost, some 50 ms. The latest right password of each user
 * is remembered by a keyed hash, which costs nothing: it always passes at once. Any other waits for
 * its check, each address in turn, and of an address the client first that was wrong least often.
 * All checks take at most a second of CPU time at once, and after that a tenth of the time.
 */
#ifndef KVMTOP_LIB_HTTP_ACCESS_H
#define KVMTOP_LIB_HTTP_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/error.h"

/*
 * ---- clients of a server, of which none may keep others out
 *
 * A client has CLIENT_LIMIT_S for each answer, from its connection or the answer before on. When
 * there are as many clients as may be, or as one address may have, the one that has had no answer
 * for longest is ended for the new one. Clients that wait for the server stay.
 *
 * A client is ended by shutdown() of its socket; who owns the socket finds that out, closes it, and
 * then removes the client.
 */

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

/* ---- the file */

struct web_user {
	char *name, *hash;
};

/* Zero-initialised has neither TLS nor users. */
struct web_config {
	char *cert_file, *key_file; /* NULL: no TLS */
	bool only_tls13;
	struct web_user *users;
	size_t nr_users, room_users;
};

/*
 * Reads a file. config is zero-initialised; whatever is returned, web_config_release() frees what
 * it got. 0, or -errno with error, which begins with the path.
 */
int web_config_read(const char *path, struct web_config *config, struct error *error);

/* The same of text in the current folder; error begins with the line. */
int web_config_parse(const char *text, size_t size, struct web_config *config, struct error *error);

void web_config_release(struct web_config *config);

/* ---- passwords */

#define PASSWORD_WAIT_S 60 /* then it is not checked */
#define PASSWORDS_OF_ADDRESS 48 /* that wait at once */

struct passwords;

enum password_answer {
	PASSWORD_WRONG,
	PASSWORD_RIGHT,
	PASSWORD_LATER, /* not checked: too many wait, or it has waited for too long */
	PASSWORD_WAITS, /* the answer comes from passwords_work() */
};

/*
 * What a client asks, also again: in its own memory, zero-initialised, and there until the answer.
 */
struct login {
	struct client_address address;
	enum password_answer answer;
	unsigned int nr_wrong; /* answers that this client had */
	char *name, *password; /* while it waits */
	uint64_t turn, since_ns;
	struct login *prev, *next;
};

/* The config outlives them; at most `max` logins wait. 0, or -errno with error. */
int passwords_new(const struct web_config *config, size_t max, struct passwords **ret_passwords,
		  struct error *error);
void passwords_free(struct passwords *passwords); /* no login waits; NULL is fine */

/* Sets the answer of a login with an address. name or password NULL: the client gave none. */
void password_ask(struct passwords *passwords, struct login *login,
		  const char *name, const char *password);

/*
 * Answers a login that waits, which may take as long as a check. NULL: none has an answer now;
 * ret_ns is how long that stays so, UINT64_MAX: none waits.
 */
struct login *passwords_work(struct passwords *passwords, uint64_t *ret_ns);

/* Answers a login with PASSWORD_LATER, if it waits. */
void password_leave(struct passwords *passwords, struct login *login);

#endif
