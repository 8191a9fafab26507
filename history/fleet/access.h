/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access - user, password and TLS for a server, from a file for promtool --http.config.file.
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
 *
 * Paths are relative to the folder of the file. Prometheus' other settings are refused by name,
 * because they would have no effect.
 */
#ifndef KVMTOP_HISTORY_FLEET_ACCESS_H
#define KVMTOP_HISTORY_FLEET_ACCESS_H

#include "history/fleet/http.h"

/*
 * access is zero-initialised; whatever is returned, access_release() frees what it got. 0, or
 * -errno with why, which begins with the path.
 */
int access_read(const char *path, struct http_access *access, struct why *why);

/* The same of text in this folder; why begins with the line. */
int access_parse(const char *text, size_t size, const char *folder, struct http_access *access,
		 struct why *why);

void access_release(struct http_access *access);

#endif
