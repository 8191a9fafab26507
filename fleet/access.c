// SPDX-License-Identifier: GPL-2.0-or-later
/* libyaml reads the text; a table says what its keys mean. */
#include <errno.h>
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/array.h"
#include "base/read.h"
#include "fleet/access.h"

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

/* What all functions work with. */
struct reading {
	yaml_document_t *document;
	const char *folder;
	struct http_access *access;
	struct why *why;
};

static int bad(const struct reading *reading, const yaml_node_t *node, const char *name,
	       const char *what)
{
	return why_set(reading->why, -EINVAL, "line %zu: %s: %s", node->start_mark.line + 1, name,
		       what);
}

/* 0, or -errno with why; the text is the caller's. */
static int read_contents(const struct reading *reading, const char *path, char **ret_text)
{
	size_t size;
	int err = read_whole(path, FILE_MAX, ret_text, &size);

	if (err)
		return why_set(reading->why, err, "%s: %s", path, strerror(-err));
	(*ret_text)[strcspn(*ret_text, "\r\n")] = '\0';
	return 0;
}

/* The value as a key wants it. */
static int make_text(const struct reading *reading, const struct key *key, const char *text,
		     char **ret_text)
{
	char *path;
	int err;

	if (key->value == VALUE_TEXT) {
		*ret_text = strdup(text);
		return *ret_text ? 0 : -ENOMEM;
	}
	if (asprintf(&path, "%s%s%s", text[0] == '/' ? "" : reading->folder,
		     text[0] == '/' ? "" : "/", text) < 0)
		return -ENOMEM;
	if (key->value == VALUE_PATH) {
		*ret_text = path;
		return 0;
	}
	err = read_contents(reading, path, ret_text);
	free(path);
	return err;
}

static int take_value(const struct reading *reading, const struct key *key,
		      const yaml_node_t *value)
{
	const char *text = value->type == YAML_SCALAR_NODE ?
				   (const char *)value->data.scalar.value : NULL;
	void *to = (char *)reading->access + key->to;
	char **member = to, *made = NULL;
	int err;

	if (!text)
		return bad(reading, value, key->name, "a text is wanted");
	if (key->value == VALUE_BOOL) {
		*(bool *)to = strcmp(text, "true") == 0;
		return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ?
			       0 : bad(reading, value, key->name, "true or false is wanted");
	}
	if (key->value == VALUE_BEARER)
		return strcasecmp(text, "Bearer") == 0 ?
			       0 : bad(reading, value, key->name, "only Bearer is possible");
	err = make_text(reading, key, text, &made);
	if (err)
		return err;
	free(*member);
	*member = made;
	return 0;
}

static const char *name_of(const struct reading *reading, int index)
{
	const yaml_node_t *node = yaml_document_get_node(reading->document, index);

	return node && node->type == YAML_SCALAR_NODE ?
		       (const char *)node->data.scalar.value : "";
}

static int take_key(const struct reading *reading, const char *section,
		    const yaml_node_pair_t *pair)
{
	const yaml_node_t *value = yaml_document_get_node(reading->document, pair->value);
	const char *name = name_of(reading, pair->key);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
			return take_value(reading, &keys[i], value);
	}
	return bad(reading, value, name, "kvmtop has no such setting");
}

/* The keys of a section; of the file, its sections. */
static int take_pairs(const struct reading *reading, const yaml_node_t *node, const char *section)
{
	int err = 0;

	if (node->type == YAML_SCALAR_NODE && !node->data.scalar.length)
		return 0; /* it is empty */
	if (node->type != YAML_MAPPING_NODE)
		return bad(reading, node, section ? section : "the file",
			   "keys with values are wanted");
	for (const yaml_node_pair_t *at = node->data.mapping.pairs.start;
	     !err && at < node->data.mapping.pairs.top; at++) {
		const yaml_node_t *value = yaml_document_get_node(reading->document, at->value);

		if (!value)
			return -EINVAL;
		err = section ? take_key(reading, section, at) :
				take_pairs(reading, value, name_of(reading, at->key));
	}
	return err;
}

int access_parse(const char *text, size_t size, const char *folder,
		 struct http_access *ret_access, struct why *why)
{
	struct http_access access = { .user = NULL };
	yaml_parser_t parser;
	yaml_document_t document;
	struct reading reading = { &document, folder, &access, why };
	const yaml_node_t *root;
	int err = 0;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &document)) {
		err = why_set(why, -EINVAL, "line %zu: %s", parser.problem_mark.line + 1,
			      parser.problem ? parser.problem : "this is no YAML");
		yaml_parser_delete(&parser);
		return err;
	}
	root = yaml_document_get_root_node(&document);
	if (root)
		err = take_pairs(&reading, root, NULL);
	yaml_document_delete(&document);
	yaml_parser_delete(&parser);
	if (err)
		access_release(&access);
	else
		*ret_access = access;
	return err;
}

int access_read(const char *path, struct http_access *ret_access, struct why *why)
{
	struct why line = { "" };
	char *text, *copy;
	size_t size;
	int err = read_whole(path, FILE_MAX, &text, &size);

	if (err)
		return why_set(why, err, "%s: %s", path, strerror(-err));
	copy = strdup(path);
	err = copy ? access_parse(text, size, dirname(copy), ret_access, &line) : -ENOMEM;
	free(copy);
	free(text);
	return err ? why_set(why, err, "%s: %s", path, line.text[0] ? line.text : strerror(-err)) :
		     0;
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
