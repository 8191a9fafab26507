/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_config - TLS and users of a server, from a file as Prometheus' exporter-toolkit has it.
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
 */
#ifndef KVMTOP_LIB_HTTP_WEB_CONFIG_H
#define KVMTOP_LIB_HTTP_WEB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

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
 * it got. 0, or -errno with why, which begins with the path.
 */
int web_config_read(const char *path, struct web_config *config, struct error *why);

/* The same of text in the current folder; why begins with the line. */
int web_config_parse(const char *text, size_t size, struct web_config *config, struct error *why);

void web_config_release(struct web_config *config);

#endif
