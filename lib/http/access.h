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
 * a thread that runs only when no other thread wants the CPU.
 */
#ifndef KVMTOP_LIB_HTTP_ACCESS_H
#define KVMTOP_LIB_HTTP_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/error.h"

/*
 * ---- where clients are from: an IPv4 address, or the network of an IPv6 address, which may have
 * any address in it. 127.0.0.0/8 is one address: a user of this machine has all of them.
 */

struct client_address {
	sa_family_t family; /* others than AF_INET and AF_INET6 are all the same */
	unsigned char bytes[8];
};

struct client_address client_address_of(const struct sockaddr *address);
bool client_address_is_same(const struct client_address *a, const struct client_address *b);

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

/* Parses text; file names in it are relative to the current folder. error begins with the line. */
int web_config_parse(const char *text, size_t size, struct web_config *config, struct error *error);

void web_config_release(struct web_config *config);

/* ---- passwords */

struct passwords;

enum password_answer {
	PASSWORD_UNKNOWN, /* it must be checked */
	PASSWORD_WRONG,
	PASSWORD_RIGHT,
};

/* What a client asks: in its own memory, and there until it has its answer. */
struct login {
	struct client_address address;
	enum password_answer answer;
	char *name, *password; /* while it waits */
	struct login *prev, *next;
};

/*
 * The config outlives them. on_answer: in the thread that checks, which is done with the login. 0,
 * or -errno with error.
 */
int passwords_new(const struct web_config *config, void (*on_answer)(struct login *login),
		  struct passwords **ret_passwords, struct error *error);

/* Answers the logins that wait with PASSWORD_WRONG. NULL is fine. */
void passwords_free(struct passwords *passwords);

/* What is known without a check. name or password NULL: the client gave none. */
enum password_answer passwords_know(struct passwords *passwords, const char *name,
				    const char *password);

/*
 * Lets a login with an address wait for its check. The next one is the newest of another address
 * than the one before, if there is any: who asks again and again is not ahead of others.
 */
void passwords_check(struct passwords *passwords, struct login *login, const char *name,
		     const char *password);

#endif
