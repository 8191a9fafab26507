/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http - queries a server, several at a time, within a time limit.
 *
 * libcurl is loaded with the first server. Redirections are not followed: user and password
 * go to no other server.
 */
#ifndef KVMTOP_HISTORY_FLEET_HTTP_H
#define KVMTOP_HISTORY_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

#define HTTP_ANSWER_MAX ((size_t)32 << 20) /* bytes of the answers of a call, uncompressed */

/* What a server wants of its clients. NULL: nothing is given. */
struct http_access {
	char *user, *password;
	char *bearer;		    /* a token, instead of user and password */
	char *ca_file;		    /* PEM: who may sign the server's certificate */
	char *cert_file, *key_file; /* PEM: the client's own */
	bool trusts_any;	    /* the server's certificate is not checked */
	char *proxy_url;	    /* NULL: as http_proxy and its like in the environment say */
	char **headers;		    /* "NAME: VALUE", or "NAME;" */
	size_t nr_headers;
};

/*
 * User, password and TLS for a server, from a file for promtool --http.config.file.
 *
 *	basic_auth:
 *	  username: NAME
 *	  password: TEXT		(or password_file: FILE)
 *	authorization:
 *	  credentials: TOKEN		(or credentials_file: FILE; type: Bearer)
 *	tls_config:
 *	  ca_file: FILE			(PEM, as the others)
 *	  cert_file: FILE
 *	  key_file: FILE
 *	  insecure_skip_verify: false
 *	http_headers:
 *	  X-Scope-OrgID:		(a tenant of Mimir, Cortex or Thanos; any other header)
 *	    values: [TEXT]		(or secrets: [TEXT], or files: [FILE])
 *	proxy_url: http://HOST:PORT
 *
 * Paths are relative to the folder of the file. Prometheus' other settings are refused by name,
 * because they would have no effect.
 */

/*
 * access is zero-initialised; whatever is returned, access_release() frees what it got. 0, or
 * -errno with error, which begins with the path.
 */
int access_read(const char *path, struct http_access *access, struct error *error);

/* Parses a file's text; names of files in it are relative to folder. error begins with the line. */
int access_parse(const char *text, size_t size, const char *folder, struct http_access *access,
		 struct error *error);

void access_release(struct http_access *access);

struct http;

/*
 * url: "http://HOST:PORT/PREFIX" or https; without either it is http. What access has outlives
 * this. 0, or -errno with error: -ENOENT: there is no libcurl.
 */
int http_open(const char *url, const struct http_access *access, struct http **ret_http,
	      struct error *error);
void http_close(struct http *http);

/* A form that is sent, and what comes back. */
struct http_query {
	const char *path; /* "/api/v1/query" */
	char *form;	  /* "query=up&time=1", see http_escape() */
	/* The answer, of any status; free(body) when done. */
	long status;
	char *body; /* NULL: it is empty */
	size_t size, room;
};

/*
 * Sends all queries at once. 0, or -errno with error when one has no answer: -ECANCELED after
 * http_stop(), -ETIMEDOUT, -EFBIG, -EIO.
 */
int http_send(struct http *http, struct http_query *queries, size_t nr, long timeout_ms,
	      struct error *error);

/* Frees the forms and the answers. */
void http_drop(struct http_query *queries, size_t nr);

const char *http_url(const struct http *http);

/* From another thread: http_send() returns soon, now and whenever it is called. */
void http_stop(struct http *http);

/* The text for a form; the caller's to free. */
char *http_escape(const char *text);

#endif
