/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * password - whether a user's password is right, by bcrypt hashes and crypt(3).
 *
 * A check costs what the hash is meant to cost, some 50 ms; the latest right one is remembered, so
 * that each scrape after the first costs a hundredth of that.
 */
#ifndef KVMTOP_SERVE_PASSWORD_H
#define KVMTOP_SERVE_PASSWORD_H

#include <stdbool.h>

#include "serve/web_config.h"

struct passwords;

/* The config outlives them. NULL: no memory. */
struct passwords *passwords_new(const struct web_config *config);
void passwords_free(struct passwords *passwords);

/* From one thread. name or password NULL: the client gave none. */
bool password_is_right(struct passwords *passwords, const char *name, const char *password);

#endif
