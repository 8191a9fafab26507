// SPDX-License-Identifier: GPL-2.0-or-later
/* A table says what the keys of the file mean. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/read.h"
#include "lib/settings.h"
#include "history/fleet/http.h"

#define FILE_MAX (1 << 20)

enum value { VALUE_TEXT, VALUE_PATH, VALUE_CONTENTS, VALUE_BOOL, VALUE_BEARER };

#define TO(member) offsetof(struct http_access, member)

static const struct key {
	const char *section, *name;
	enum value value;
	size_t to;
} keys[] = {
	{ "basic_auth", "username", VALUE_TEXT, TO(user) },
	{ "basic_auth", "password", VALUE_TEXT, TO(password) },
	{ "basic_auth", "password_file", VALUE_CONTENTS, TO(password) },
	{ "authorization", "type", VALUE_BEARER, 0 },
	{ "authorization", "credentials", VALUE_TEXT, TO(bearer) },
	{ "authorization", "credentials_file", VALUE_CONTENTS, TO(bearer) },
	{ "tls_config", "ca_file", VALUE_PATH, TO(ca_file) },
	{ "tls_config", "cert_file", VALUE_PATH, TO(cert_file) },
	{ "tls_config", "key_file", VALUE_PATH, TO(key_file) },
	{ "tls_config", "insecure_skip_verify", VALUE_BOOL, TO(trusts_any) },
};

/* The first line of the file that the setting names. */
static int take_contents(const struct setting *setting, char **text)
{
	char *path = NULL, *line;
	size_t size;
	int err = setting_path(setting, &path);

	if (err || !path)
		return err;
	err = read_whole(path, FILE_MAX, &line, &size);
	if (err) {
		why_set(setting->why, err, "%s: %s", path, strerror(-err));
	} else {
		line[strcspn(line, "\r\n")] = '\0';
		free(*text);
		*text = line;
	}
	free(path);
	return err;
}

static int take_value(const struct setting *setting, const struct key *key)
{
	const char *text = setting_text(setting);
	void *to = (char *)setting->to + key->to;

	if (!text)
		return -EINVAL;
	switch (key->value) {
	case VALUE_TEXT:
		free(*(char **)to);
		*(char **)to = xstrdup(text);
		return 0;
	case VALUE_PATH:
		return setting_path(setting, to);
	case VALUE_CONTENTS:
		return take_contents(setting, to);
	case VALUE_BOOL:
		*(bool *)to = strcmp(text, "true") == 0;
		if (*(bool *)to || strcmp(text, "false") == 0)
			return 0;
		return setting_bad(setting, "the value must be true or false");
	case VALUE_BEARER:
		break;
	}
	if (strcasecmp(text, "Bearer") == 0)
		return 0;
	return setting_bad(setting, "the only type is Bearer");
}

static int take_key(const struct setting *setting)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].section, setting->parent->key) == 0 &&
		    strcmp(keys[i].name, setting->key) == 0)
			return take_value(setting, &keys[i]);
	}
	return setting_bad(setting, "kvmtop has no such setting; man kvmtop-export lists "
				    "--http-config");
}

static int take_section(const struct setting *setting)
{
	const struct http_access *access = setting->to;
	int err = setting_each(setting, take_key);

	if (!err && access->bearer && (access->user || access->password))
		return setting_bad(setting, "basic_auth and authorization: give only one of them");
	return err;
}

int access_parse(const char *text, size_t size, const char *folder, struct http_access *access,
		 struct why *why)
{
	return settings_parse(text, size, folder, take_section, access, why);
}

int access_read(const char *path, struct http_access *access, struct why *why)
{
	return settings_read(path, take_section, access, why);
}

void access_release(struct http_access *access)
{
	free(access->user);
	free(access->password);
	free(access->bearer);
	free(access->ca_file);
	free(access->cert_file);
	free(access->key_file);
	*access = (struct http_access){ .user = NULL };
}
