// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the keys of the file, and compares passwords with hashes. */
#include <crypt.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/settings.h"
#include "lib/siphash.h"
#include "lib/http/access.h"
#include "lib/xalloc.h"

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
	*array_add(config->users, config->nr_users, config->room_users) =
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
	void (*on_answer)(struct login *login);
	uint64_t key[2]; /* of the hashes of right passwords */
	pthread_t thread;
	struct crypt_data data; /* the thread's */
	pthread_mutex_t lock;	/* for all below */
	pthread_cond_t is_asked;
	bool is_ending;
	struct login *waiting; /* the newest first */
	struct client_address latest; /* whose login had the latest check */
	struct right right[]; /* by user */
};

/* ---- checking passwords ---- */

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

/* Without the lock: it takes as long as the hash is meant to. */
static bool is_right(struct passwords *passwords, const char *name, const char *password)
{
	const struct web_config *config = passwords->config;
	size_t user = find_user(config, name);
	/* An unknown user takes as long: the time does not reveal which users exist. */
	const char *hash = config->users[user % config->nr_users].hash;
	const char *made = crypt_r(password, hash, &passwords->data);

	return made && made[0] != '*' && is_same(made, hash) && user < config->nr_users;
}

/* ---- waiting */

static void forget(char *text)
{
	explicit_bzero(text, strlen(text));
	free(text);
}

/* Answers a login that is no longer in the list. */
static void answer(const struct passwords *passwords, struct login *login,
		   enum password_answer with)
{
	forget(login->name);
	forget(login->password);
	login->name = login->password = NULL;
	login->answer = with;
	passwords->on_answer(login);
}

/* The newest login of another address than the latest; there is one of any. */
static struct login *next_login(const struct passwords *passwords)
{
	struct login *login;

	DL_FOREACH(passwords->waiting, login) {
		if (!client_address_is_same(&login->address, &passwords->latest))
			return login;
	}
	return passwords->waiting;
}

/* With the lock, which it drops for the check. */
static void check_next(struct passwords *passwords)
{
	struct login *login = next_login(passwords);
	size_t user = find_user(passwords->config, login->name);
	bool is = is_remembered(passwords, user, login->password);

	DL_DELETE(passwords->waiting, login);
	if (!is) {
		passwords->latest = login->address;
		pthread_mutex_unlock(&passwords->lock);
		is = is_right(passwords, login->name, login->password);
		pthread_mutex_lock(&passwords->lock);
	}
	if (is)
		passwords->right[user] = (struct right){
			true, siphash(passwords->key, login->password, strlen(login->password))
		};
	answer(passwords, login, is ? PASSWORD_RIGHT : PASSWORD_WRONG);
}

static void *run(void *arg)
{
	const struct sched_param param = { .sched_priority = 0 };
	struct passwords *passwords = arg;

	sched_setscheduler(0, SCHED_IDLE, &param); /* of this thread */
	pthread_mutex_lock(&passwords->lock);
	while (!passwords->is_ending) {
		if (passwords->waiting)
			check_next(passwords);
		else
			pthread_cond_wait(&passwords->is_asked, &passwords->lock);
	}
	pthread_mutex_unlock(&passwords->lock);
	return NULL;
}

int passwords_new(const struct web_config *config, void (*on_answer)(struct login *login),
		  struct passwords **ret_passwords, struct error *error)
{
	struct passwords *passwords;
	uint64_t key[2];
	int err;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return error_set(error, -EIO, "the system has no random numbers, which passwords "
					      "need");
	passwords = xcalloc(1, sizeof(*passwords) +
			       config->nr_users * sizeof(passwords->right[0]));
	passwords->config = config;
	passwords->on_answer = on_answer;
	memcpy(passwords->key, key, sizeof(key));
	pthread_mutex_init(&passwords->lock, NULL);
	pthread_cond_init(&passwords->is_asked, NULL);
	err = thread_start(&passwords->thread, run, passwords);
	if (err) {
		free(passwords);
		return error_set(error, err, "no thread for passwords: %s", strerror(-err));
	}
	*ret_passwords = passwords;
	return 0;
}

void passwords_free(struct passwords *passwords)
{
	struct login *login, *next;

	if (!passwords)
		return;
	pthread_mutex_lock(&passwords->lock);
	passwords->is_ending = true;
	pthread_cond_signal(&passwords->is_asked);
	pthread_mutex_unlock(&passwords->lock);
	pthread_join(passwords->thread, NULL);
	DL_FOREACH_SAFE(passwords->waiting, login, next)
		answer(passwords, login, PASSWORD_WRONG);
	pthread_cond_destroy(&passwords->is_asked);
	pthread_mutex_destroy(&passwords->lock);
	explicit_bzero(passwords, sizeof(*passwords) + passwords->config->nr_users *
						       sizeof(passwords->right[0]));
	free(passwords);
}

enum password_answer passwords_know(struct passwords *passwords, const char *name,
				    const char *password)
{
	bool is_known;

	if (!name || !password)
		return PASSWORD_WRONG;
	pthread_mutex_lock(&passwords->lock);
	is_known = is_remembered(passwords, find_user(passwords->config, name), password);
	pthread_mutex_unlock(&passwords->lock);
	return is_known ? PASSWORD_RIGHT : PASSWORD_UNKNOWN;
}

void passwords_check(struct passwords *passwords, struct login *login, const char *name,
		     const char *password)
{
	login->name = xstrdup(name);
	login->password = xstrdup(password);
	login->answer = PASSWORD_UNKNOWN;
	pthread_mutex_lock(&passwords->lock);
	DL_PREPEND(passwords->waiting, login);
	pthread_cond_signal(&passwords->is_asked);
	pthread_mutex_unlock(&passwords->lock);
}
