// SPDX-License-Identifier: GPL-2.0-or-later
/* libyaml reads the text; here is what its keys mean. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/array.h"
#include "base/read.h"
#include "serve/web_config.h"

#define FILE_MAX (1 << 20)
#define BCRYPT_LENGTH 60

/* A value, its key, and what is read into. */
struct pair {
	yaml_document_t *document;
	const char *key;
	const yaml_node_t *value;
	struct web_config *config;
	struct why *why;
};

static int bad(const struct pair *pair, const char *what)
{
	return why_set(pair->why, -EINVAL, "line %zu: %s: %s", pair->value->start_mark.line + 1,
		       pair->key, what);
}

/* The text of a scalar; NULL with why: the value is something else. */
static const char *text_of(const struct pair *pair)
{
	if (pair->value->type == YAML_SCALAR_NODE)
		return (const char *)pair->value->data.scalar.value;
	bad(pair, "a text is wanted");
	return NULL;
}

/* Calls each for all pairs of a mapping; a value without text is an empty mapping. */
static int each_pair(const struct pair *parent, int (*each)(const struct pair *pair))
{
	const yaml_node_t *node = parent->value;
	int err = 0;

	if (node->type == YAML_SCALAR_NODE && !node->data.scalar.length)
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return bad(parent, "keys with values are wanted");
	for (const yaml_node_pair_t *at = node->data.mapping.pairs.start;
	     !err && at < node->data.mapping.pairs.top; at++) {
		const yaml_node_t *key = yaml_document_get_node(parent->document, at->key);
		struct pair pair = *parent;

		pair.value = yaml_document_get_node(parent->document, at->value);
		if (!key || !pair.value || key->type != YAML_SCALAR_NODE)
			return bad(parent, "a key is wanted");
		pair.key = (const char *)key->data.scalar.value;
		err = each(&pair);
	}
	return err;
}

static int take_path(const struct pair *pair, char **path)
{
	const char *text = text_of(pair);

	if (!text)
		return -EINVAL;
	free(*path);
	*path = *text ? strdup(text) : NULL;
	return *text && !*path ? -ENOMEM : 0;
}

static int take_version(const struct pair *pair)
{
	const char *text = text_of(pair);

	if (!text)
		return -EINVAL;
	if (strcmp(text, "TLS12") != 0 && strcmp(text, "TLS13") != 0)
		return bad(pair, "only TLS12 and TLS13 are possible");
	pair->config->only_tls13 = strcmp(text, "TLS13") == 0;
	return 0;
}

static int take_tls(const struct pair *pair)
{
	if (strcmp(pair->key, "cert_file") == 0)
		return take_path(pair, &pair->config->cert_file);
	if (strcmp(pair->key, "key_file") == 0)
		return take_path(pair, &pair->config->key_file);
	if (strcmp(pair->key, "min_version") == 0)
		return take_version(pair);
	if (strcmp(pair->key, "client_auth_type") == 0 &&
	    pair->value->type == YAML_SCALAR_NODE &&
	    strcmp((const char *)pair->value->data.scalar.value, "NoClientCert") == 0)
		return 0;
	return bad(pair, "kvmtop has no such setting; it has cert_file, key_file and min_version");
}

static int take_user(const struct pair *pair)
{
	struct web_config *config = pair->config;
	const char *hash = text_of(pair);
	struct web_user user;

	if (!hash)
		return -EINVAL;
	if (strlen(hash) != BCRYPT_LENGTH || strncmp(hash, "$2", 2) != 0 || hash[3] != '$')
		return bad(pair, "a bcrypt hash is wanted, as htpasswd -nB prints it");
	if (array_grow(&config->users, &config->room_users, config->nr_users + 1) < 0)
		return -ENOMEM;
	user = (struct web_user){ strdup(pair->key), strdup(hash) };
	config->users[config->nr_users++] = user;
	return user.name && user.hash ? 0 : -ENOMEM;
}

static int take_http(const struct pair *pair)
{
	return strcmp(pair->key, "http2") == 0 ? 0 : bad(pair, "kvmtop has no such setting");
}

static int take_section(const struct pair *pair)
{
	if (strcmp(pair->key, "tls_server_config") == 0)
		return each_pair(pair, take_tls);
	if (strcmp(pair->key, "basic_auth_users") == 0)
		return each_pair(pair, take_user);
	if (strcmp(pair->key, "http_server_config") == 0)
		return each_pair(pair, take_http);
	return bad(pair, "kvmtop has no such section; it has tls_server_config and "
			 "basic_auth_users");
}

static int take_document(yaml_document_t *document, struct web_config *config, struct why *why)
{
	const struct pair root = { document, "the file", yaml_document_get_root_node(document),
				   config, why };
	int err = root.value ? each_pair(&root, take_section) : 0;

	if (!err && !config->cert_file != !config->key_file)
		return why_set(why, -EINVAL, "line 1: cert_file and key_file go together");
	return err;
}

int web_config_parse(const char *text, size_t size, struct web_config *ret_config,
		     struct why *why)
{
	struct web_config config = { .cert_file = NULL };
	yaml_parser_t parser;
	yaml_document_t document;
	int err;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &document)) {
		err = why_set(why, -EINVAL, "line %zu: %s", parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "this is no YAML");
		yaml_parser_delete(&parser);
		return err;
	}
	err = take_document(&document, &config, why);
	yaml_document_delete(&document);
	yaml_parser_delete(&parser);
	if (err)
		web_config_release(&config);
	else
		*ret_config = config;
	return err;
}

/* Puts the folder of the file before a path that is relative. */
static int complete(char **path, const char *folder)
{
	char *whole;

	if (!*path || **path == '/')
		return 0;
	if (asprintf(&whole, "%s/%s", folder, *path) < 0)
		return -ENOMEM;
	free(*path);
	*path = whole;
	return 0;
}

static int complete_paths(struct web_config *config, const char *path)
{
	char *copy = strdup(path);
	const char *folder = copy ? dirname(copy) : NULL;
	int err = folder ? complete(&config->cert_file, folder) : -ENOMEM;

	if (!err)
		err = complete(&config->key_file, folder);
	free(copy);
	return err;
}

int web_config_read(const char *path, struct web_config *ret_config, struct why *why)
{
	struct web_config config = { .cert_file = NULL };
	struct why line = { "" };
	char *text;
	size_t size;
	int err = read_whole(path, FILE_MAX, &text, &size);

	if (err)
		return why_set(why, err, "%s: %s", path, strerror(-err));
	err = web_config_parse(text, size, &config, &line);
	free(text);
	if (!err)
		err = complete_paths(&config, path);
	if (err) {
		web_config_release(&config);
		return why_set(why, err, "%s: %s", path,
			       line.text[0] ? line.text : strerror(-err));
	}
	*ret_config = config;
	return 0;
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
