// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares passwords with hashes. */
#include <crypt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "serve/password.h"

/* Checking wrong passwords takes at most so long at once, and later one part in so many. */
#define WRONG_AT_ONCE_NS INT64_C(1000000000)
#define WRONG_SHARE 10

/* A hash that is fast to make; it is in this program's memory only. */
struct quick_hash {
	char text[CRYPT_OUTPUT_SIZE]; /* "": none */
};

struct passwords {
	const struct web_config *config;
	struct crypt_data data;
	char salt[40];
	int64_t left_ns;     /* for wrong passwords, */
	uint64_t counted_ns; /* at this moment */
	struct quick_hash right[]; /* by user: of the latest password that was right */
};

struct passwords *passwords_new(const struct web_config *config)
{
	struct passwords *passwords = calloc(1, sizeof(*passwords) +
					     config->nr_users * sizeof(passwords->right[0]));
	unsigned char random[8];

	if (!passwords)
		return NULL;
	passwords->config = config;
	passwords->left_ns = WRONG_AT_ONCE_NS;
	passwords->counted_ns = clock_now_ns();
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
	explicit_bzero(passwords, sizeof(*passwords) + passwords->config->nr_users *
						       sizeof(passwords->right[0]));
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

static struct quick_hash hash_quickly(struct passwords *passwords, const char *password)
{
	const char *made = crypt_r(password, passwords->salt, &passwords->data);
	struct quick_hash hash = { "" };

	if (made && made[0] != '*')
		snprintf(hash.text, sizeof(hash.text), "%s", made);
	return hash;
}

/* Whether there is time left for a password that may be wrong. */
static bool has_time(struct passwords *passwords)
{
	uint64_t now_ns = clock_now_ns();

	passwords->left_ns += (int64_t)((now_ns - passwords->counted_ns) / WRONG_SHARE);
	if (passwords->left_ns > WRONG_AT_ONCE_NS)
		passwords->left_ns = WRONG_AT_ONCE_NS;
	passwords->counted_ns = now_ns;
	return passwords->left_ns > 0;
}

enum password_answer password_check(struct passwords *passwords, const char *name,
				    const char *password)
{
	const struct web_config *config = passwords->config;
	size_t user = 0;
	struct quick_hash hash;
	uint64_t begin_ns;

	if (!name || !password || !config->nr_users)
		return PASSWORD_WRONG;
	while (user < config->nr_users && strcmp(config->users[user].name, name) != 0)
		user++;
	hash = hash_quickly(passwords, password);
	if (user < config->nr_users && hash.text[0] &&
	    is_same(hash.text, passwords->right[user].text))
		return PASSWORD_RIGHT;
	if (!has_time(passwords))
		return PASSWORD_LATER;
	begin_ns = clock_now_ns();
	/* An unknown user takes as long: the time does not tell which users there are. */
	if (matches(passwords, password, config->users[user % config->nr_users].hash) &&
	    user < config->nr_users) {
		passwords->right[user] = hash;
		return PASSWORD_RIGHT;
	}
	passwords->left_ns -= (int64_t)(clock_now_ns() - begin_ns);
	return PASSWORD_WRONG;
}
