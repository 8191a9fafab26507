/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server - an HTTP server in a thread of its own, by libmicrohttpd.
 *
 * It answers GET and HEAD, to a bounded number of connections, in all and of an address, each of
 * which ends when nothing happens for ten seconds, or a request takes longer than twenty. The
 * library is loaded when a server is started: it brings TLS and a dozen libraries with it, which
 * nothing else in the program needs.
 */
#ifndef KVMTOP_LIB_HTTP_SERVER_H
#define KVMTOP_LIB_HTTP_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/error.h"
#include "lib/output.h"

/*
 * ---- address.c: where a server listens: ADDRESS:PORT, [ADDRESS]:PORT, unix:PATH or systemd.
 *
 * :PORT is every address of this machine; PORT alone is the loopback interface. "systemd" is a
 * socket that systemd passes, see sd_listen_fds(3).
 */

/* A listening socket. */
struct listener {
	int fd;	      /* the caller closes it */
	bool is_open; /* other machines can reach it */
	bool is_unix; /* a unix socket that was made, with its place and file: */
	struct output place;
	dev_t dev;
	ino_t ino;
};

/* Whether the text is an address at all; opens nothing. 0, or -EINVAL with error. */
int address_check(const char *text, struct error *error);

/* Opens a listening socket; a unix socket by the rule of lib/output.h. 0, or -errno with error. */
int address_listen(const char *text, struct listener *ret_listener, struct error *error);

/* Removes the file of a unix socket, unless another program has made one there meanwhile. */
void address_remove(struct listener *listener);

/* ---- server.c */

#define SERVER_CONNECTIONS 2000 /* at once; and at most half of the descriptors */

/* What a server sends: bytes that several clients may be reading, slowly. */
struct document {
	atomic_uint nr_holders;
	const char *type; /* Content-Type */
	bool is_gzip;
	size_t size;
	char bytes[];
};

/* A copy of the bytes, compressed or as they are, with one holder. */
struct document *document_new(const char *type, const char *bytes, size_t size, bool is_gzip);

struct document *document_hold(struct document *document); /* returns it; NULL is fine */
void document_drop(struct document *document); /* the last one frees it; NULL is fine */

struct server_request {
	const char *path; /* "/metrics" */
	bool takes_gzip;
};

struct server_config {
	const char *address; /* see address_listen() */
	const char *web_config; /* a file, see access.h; NULL: none */
	/*
	 * From the server's thread. Returns a status, 200 or 404 and so on, and a document, which
	 * the server drops; NULL: the server sends a line about the status.
	 */
	unsigned int (*answer)(void *arg, const struct server_request *request,
			       struct document **ret_document);
	void *arg;
};

/* Lines about a status name it: -r URL knows by it what it asks. */
#define SERVER_NAME "kvmtop export"

struct server;

/*
 * Signals that are blocked when it is called stay blocked in its thread. ret_is_open: other
 * machines can reach it. 0, or -errno with error.
 */
int server_start(const struct server_config *config, struct server **ret_server,
		 bool *ret_is_open, struct error *error);
void server_stop(struct server *server); /* NULL is fine */

#endif
