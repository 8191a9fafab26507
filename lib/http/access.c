// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the keys of the file, and compares passwords with hashes. */
#include <crypt.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/settings.h"
#include "lib/http/access.h"
#include "lib/xalloc.h"

#define NS_PER_S UINT64_C(1000000000)

/* Checking passwords takes at most so much CPU time at once, and later one part of the time. */
#define AT_ONCE_NS INT64_C(1000000000)
#define SHARE 10

#define BCRYPT_LENGTH 60

/* ---- the file ---- */

static int take_tls(const struct setting *setting)
{
	struct web_config *config = setting->to;
	const char *text = setting_text(setting);

	if (!text)
		return -EINVAL;
	if (strcmp(setting->key, "cert_file") == 0)
		return setting_path(setting, &config->cert_file);
	if (strcmp(setting->key, "key_file") == 0)
		return setting_path(setting, &config->key_file);
	if (strcmp(setting->key, "min_version") == 0) {
		config->only_tls13 = strcmp(text, "TLS13") == 0;
		if (config->only_tls13 || strcmp(text, "TLS12") == 0)
			return 0;
		return setting_bad(setting, "the value must be TLS12 or TLS13");
	}
	if (strcmp(setting->key, "client_auth_type") == 0 && strcmp(text, "NoClientCert") == 0)
		return 0;
	return setting_bad(setting, "kvmtop has no such setting; it has cert_file, key_file and "
				    "min_version");
}

static int take_user(const struct setting *setting)
{
	struct web_config *config = setting->to;
	const char *hash = setting_text(setting);

	if (!hash)
		return -EINVAL;
	if (strlen(hash) != BCRYPT_LENGTH || strncmp(hash, "$2", 2) != 0 || hash[3] != '$')
		return setting_bad(setting, "the password must be a bcrypt hash, as htpasswd -nB "
					    "prints it");
	array_grow(&config->users, &config->room_users, config->nr_users + 1);
	config->users[config->nr_users++] =
		(struct web_user){ xstrdup(setting->key), xstrdup(hash) };
	return 0;
}

static int take_http(const struct setting *setting)
{
	return strcmp(setting->key, "http2") == 0 ?
		       0 : setting_bad(setting, "kvmtop has no such setting; it has http2");
}

static int take_section(const struct setting *setting)
{
	const struct web_config *config = setting->to;
	int err;

	if (strcmp(setting->key, "basic_auth_users") == 0)
		return setting_each(setting, take_user);
	if (strcmp(setting->key, "http_server_config") == 0)
		return setting_each(setting, take_http);
	if (strcmp(setting->key, "tls_server_config") != 0)
		return setting_bad(setting, "kvmtop has no such section; it has tls_server_config "
					    "and basic_auth_users");
	err = setting_each(setting, take_tls);
	if (!err && !config->cert_file != !config->key_file)
		return setting_bad(setting, "cert_file and key_file are needed together");
	return err;
}

int web_config_parse(const char *text, size_t size, struct web_config *config, struct error *error)
{
	return settings_parse(text, size, ".", take_section, config, error);
}

int web_config_read(const char *path, struct web_config *config, struct error *error)
{
	return settings_read(path, take_section, config, error);
}

void web_config_release(struct web_config *config)
{
	free(config->cert_file);
	free(config->key_file);
	for (size_t i = 0; i < config->nr_users; i++) {
		free(config->users[i].name);
		free(config->users[i].hash);
	}
	free(config->users);
	*config = (struct web_config){ .cert_file = NULL };
}

/* ---- users */

/* The latest password of a user that was right. */
struct right {
	bool is_known;
	uint64_t hash;
};

struct passwords {
	const struct web_config *config;
	struct crypt_data data;
	uint64_t key[2];     /* of the hashes of right passwords */
	int64_t left_ns;     /* for checks, */
	uint64_t counted_ns; /* at this moment */
	struct login *waiting; /* by turn */
	size_t nr_waiting, max;
	uint64_t turn; /* of the login that was checked last */
	struct right right[]; /* by user */
};

/* ---- SipHash-2-4: a hash with a key, which cannot be foreseen or inverted without the key ---- */

/* J.-P. Aumasson, D. J. Bernstein: "SipHash: a fast short-input PRF", 2012. */
static uint64_t siphash_rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static void siphash_rounds(uint64_t v[4], unsigned int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static uint64_t siphash(const uint64_t key[2], const void *bytes, size_t size)
{
	uint64_t v[4] = {
		key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573),
	};

	for (size_t at = 0; at <= size; at += 8) {
		size_t left = size - at < 8 ? size - at : 8;
		uint64_t word = 0;

		memcpy(&word, (const char *)bytes + at, left);
		word = le64toh(word);
		if (left < 8)
			word |= (uint64_t)size << 56;
		v[3] ^= word;
		siphash_rounds(v, 2);
		v[0] ^= word;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- checking passwords ---- */

int passwords_new(const struct web_config *config, size_t max, struct passwords **ret_passwords,
		  struct error *error)
{
	struct passwords *passwords;
	uint64_t key[2];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return error_set(error, -EIO, "the system has no random numbers, which passwords "
					      "need");
	passwords = xcalloc(1, sizeof(*passwords) +
			       config->nr_users * sizeof(passwords->right[0]));
	passwords->config = config;
	passwords->max = max;
	passwords->left_ns = AT_ONCE_NS;
	passwords->counted_ns = clock_now_ns();
	memcpy(passwords->key, key, sizeof(key));
	*ret_passwords = passwords;
	return 0;
}

void passwords_free(struct passwords *passwords)
{
	if (!passwords)
		return;
	explicit_bzero(passwords, sizeof(*passwords) + passwords->config->nr_users *
						       sizeof(passwords->right[0]));
	free(passwords);
}

/* The number of a user; nr_users: there is none of this name. */
static size_t find_user(const struct web_config *config, const char *name)
{
	size_t user = 0;

	while (user < config->nr_users && strcmp(config->users[user].name, name) != 0)
		user++;
	return user;
}

static bool is_remembered(const struct passwords *passwords, size_t user, const char *password)
{
	return user < passwords->config->nr_users && passwords->right[user].is_known &&
	       siphash(passwords->key, password, strlen(password)) == passwords->right[user].hash;
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

/* On a busy machine a check takes longer, and costs others no more. */
static int64_t thread_cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * (int64_t)NS_PER_S + used.tv_nsec;
}

static enum password_answer check(struct passwords *passwords, const char *name,
				  const char *password)
{
	const struct web_config *config = passwords->config;
	size_t user = find_user(config, name);
	int64_t begin_ns = thread_cpu_ns();
	const char *hash, *made;
	bool is_right;

	if (is_remembered(passwords, user, password))
		return PASSWORD_RIGHT;
	/* An unknown user takes as long: the time does not reveal which users exist. */
	hash = config->users[user % config->nr_users].hash;
	made = crypt_r(password, hash, &passwords->data);
	is_right = made && made[0] != '*' && is_same(made, hash) && user < config->nr_users;
	passwords->left_ns -= thread_cpu_ns() - begin_ns;
	if (!is_right)
		return PASSWORD_WRONG;
	passwords->right[user] = (struct right){
		true, siphash(passwords->key, password, strlen(password))
	};
	return PASSWORD_RIGHT;
}

/* ---- waiting */

static void forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void answer(struct passwords *passwords, struct login *login,
		   enum password_answer with)
{
	DL_DELETE(passwords->waiting, login);
	passwords->nr_waiting--;
	forget(login->name);
	forget(login->password);
	login->name = login->password = NULL;
	login->answer = with;
	login->nr_wrong += with == PASSWORD_WRONG;
}

static void insert(struct passwords *passwords, struct login *login)
{
	struct login *other, *before = NULL;

	for (other = passwords->waiting; other; other = other->next) {
		if (other->turn <= login->turn)
			before = other;
	}
	if (before)
		DL_APPEND_ELEM(passwords->waiting, before, login);
	else
		DL_PREPEND(passwords->waiting, login);
}

/* An address with many logins has its turn as often as one with a single login. */
static void queue(struct passwords *passwords, struct login *login)
{
	const struct login *other;

	login->turn = passwords->turn + 1;
	for (other = passwords->waiting; other; other = other->next) {
		if (client_address_is_same(&other->address, &login->address))
			login->turn = other->turn + 1;
	}
	insert(passwords, login);
	passwords->nr_waiting++;
}

static size_t count_of(const struct passwords *passwords, const struct client_address *address)
{
	const struct login *other;
	size_t nr = 0;

	for (other = passwords->waiting; other; other = other->next)
		nr += client_address_is_same(&other->address, address);
	return nr;
}

void password_ask(struct passwords *passwords, struct login *login,
		  const char *name, const char *password)
{
	const struct web_config *config = passwords->config;

	login->answer = PASSWORD_WRONG;
	if (!name || !password || !config->nr_users)
		return;
	login->answer = PASSWORD_RIGHT;
	if (is_remembered(passwords, find_user(config, name), password))
		return;
	login->answer = PASSWORD_LATER;
	if (passwords->nr_waiting == passwords->max ||
	    count_of(passwords, &login->address) == PASSWORDS_OF_ADDRESS)
		return;
	login->name = xstrdup(name);
	login->password = xstrdup(password);
	if (!login->name || !login->password) {
		forget(login->name);
		forget(login->password);
		return;
	}
	login->since_ns = clock_now_ns();
	login->answer = PASSWORD_WAITS;
	queue(passwords, login);
}

void password_leave(struct passwords *passwords, struct login *login)
{
	if (login->answer == PASSWORD_WAITS)
		answer(passwords, login, PASSWORD_LATER);
}

/* How long it takes until there is time for a check again. */
static uint64_t count_time(struct passwords *passwords)
{
	uint64_t now_ns = clock_now_ns();

	passwords->left_ns += (int64_t)((now_ns - passwords->counted_ns) / SHARE);
	if (passwords->left_ns > AT_ONCE_NS)
		passwords->left_ns = AT_ONCE_NS;
	passwords->counted_ns = now_ns;
	return passwords->left_ns > 0 ? 0 : (uint64_t)(1 - passwords->left_ns) * SHARE;
}

/*
 * A login that needs no check: its password is remembered by now, or it has waited for too long.
 * NULL: none.
 */
static struct login *work_at_once(struct passwords *passwords)
{
	const struct web_config *config = passwords->config;
	struct login *login;

	for (login = passwords->waiting; login; login = login->next) {
		bool is_right = is_remembered(passwords, find_user(config, login->name),
					      login->password);

		if (!is_right &&
		    clock_now_ns() - login->since_ns < PASSWORD_WAIT_S * NS_PER_S)
			continue;
		answer(passwords, login, is_right ? PASSWORD_RIGHT : PASSWORD_LATER);
		return login;
	}
	return NULL;
}

/*
 * The next login: of the first one's address, the one with a client that was wrong least often. It
 * and the first one change places.
 */
static struct login *next_login(struct passwords *passwords)
{
	struct login *first = passwords->waiting, *login = first;
	uint64_t turn;

	for (struct login *other = first; other; other = other->next) {
		if (client_address_is_same(&other->address, &first->address) &&
		    other->nr_wrong < login->nr_wrong)
			login = other;
	}
	passwords->turn = first->turn;
	if (login != first) {
		turn = login->turn;
		DL_DELETE(passwords->waiting, first);
		first->turn = turn;
		insert(passwords, first);
	}
	return login;
}

struct login *passwords_work(struct passwords *passwords, uint64_t *ret_ns)
{
	struct login *login = work_at_once(passwords);

	*ret_ns = UINT64_MAX;
	if (login || !passwords->waiting)
		return login;
	*ret_ns = count_time(passwords);
	if (*ret_ns)
		return NULL;
	login = next_login(passwords);
	answer(passwords, login, check(passwords, login->name, login->password));
	return login;
}
