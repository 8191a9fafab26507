// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares passwords with hashes. */
#include <crypt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "serve/password.h"

#define NAME_MAX_BYTES 256

struct passwords {
	const struct web_config *config;
	struct crypt_data data;
	char salt[40];
	/* The latest that was right: its user, and a hash of the password that is fast. */
	char name[NAME_MAX_BYTES];
	char hash[CRYPT_OUTPUT_SIZE];
};

struct passwords *passwords_new(const struct web_config *config)
{
	struct passwords *passwords = calloc(1, sizeof(*passwords));
	unsigned char random[8];

	if (!passwords)
		return NULL;
	passwords->config = config;
	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		free(passwords);
		return NULL;
	}
	snprintf(passwords->salt, sizeof(passwords->salt),
		 "$5$rounds=1000$%02x%02x%02x%02x%02x%02x%02x%02x$", random[0], random[1],
		 random[2], random[3], random[4], random[5], random[6], random[7]);
	return passwords;
}

void passwords_free(struct passwords *passwords)
{
	if (!passwords)
		return;
	explicit_bzero(passwords, sizeof(*passwords));
	free(passwords);
}

/* Takes the same time wherever they differ. */
static bool is_same(const char *a, const char *b)
{
	size_t len = strlen(a);
	unsigned char difference = 0;

	if (strlen(b) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		difference |= (unsigned char)(a[i] ^ b[i]);
	return !difference;
}

static bool matches(struct passwords *passwords, const char *password, const char *hash)
{
	const char *made = crypt_r(password, hash, &passwords->data);

	return made && made[0] != '*' && is_same(made, hash);
}

static void remember(struct passwords *passwords, const char *name, const char *password)
{
	const char *hash = crypt_r(password, passwords->salt, &passwords->data);

	passwords->hash[0] = '\0';
	if (!hash || hash[0] == '*' || strlen(name) >= sizeof(passwords->name))
		return;
	snprintf(passwords->hash, sizeof(passwords->hash), "%s", hash);
	snprintf(passwords->name, sizeof(passwords->name), "%s", name);
}

bool password_is_right(struct passwords *passwords, const char *name, const char *password)
{
	const struct web_config *config = passwords->config;
	const struct web_user *user = NULL;

	if (!name || !password || !config->nr_users)
		return false;
	if (passwords->hash[0] && strcmp(passwords->name, name) == 0 &&
	    matches(passwords, password, passwords->hash))
		return true;
	for (size_t i = 0; i < config->nr_users; i++) {
		if (strcmp(config->users[i].name, name) == 0)
			user = &config->users[i];
	}
	/* A user who is not known takes as long: names cannot be found out by the time. */
	if (!matches(passwords, password, user ? user->hash : config->users[0].hash) || !user)
		return false;
	remember(passwords, name, password);
	return true;
}
