/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * password - whether a user's password is right, by bcrypt hashes and crypt(3).
 *
 * A check costs what the hash is meant to cost, some 50 ms. The latest right password of each
 * user is remembered, so that each scrape after the first costs a hundredth of that. Checking wrong
 * passwords takes at most a second at once, and after that a tenth of the time.
 */
#ifndef KVMTOP_SERVE_PASSWORD_H
#define KVMTOP_SERVE_PASSWORD_H

#include "serve/web_config.h"

struct passwords;

enum password_answer {
	PASSWORD_WRONG,
	PASSWORD_RIGHT,
	PASSWORD_LATER, /* not checked: there were too many wrong ones */
};

/* The config outlives them. NULL: no memory. */
struct passwords *passwords_new(const struct web_config *config);
void passwords_free(struct passwords *passwords);

/* From one thread. name or password NULL: the client gave none. */
enum password_answer password_check(struct passwords *passwords, const char *name,
				    const char *password);

#endif
