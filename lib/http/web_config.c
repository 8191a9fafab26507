// SPDX-License-Identifier: GPL-2.0-or-later
/* What the keys of the file mean. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/settings.h"
#include "lib/http/web_config.h"
#include "lib/xalloc.h"

#define BCRYPT_LENGTH 60

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

int web_config_parse(const char *text, size_t size, struct web_config *config, struct error *why)
{
	return settings_parse(text, size, ".", take_section, config, why);
}

int web_config_read(const char *path, struct web_config *config, struct error *why)
{
	return settings_read(path, take_section, config, why);
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
