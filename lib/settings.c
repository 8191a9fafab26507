// SPDX-License-Identifier: GPL-2.0-or-later
/* Cuts lines in place; libyaml makes a document of YAML, and its mappings are walked here. */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "lib/file.h"
#include "lib/settings.h"
#include "lib/xalloc.h"

#define FILE_MAX (1 << 20)

/* ---- name = value ---- */

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	end = text + strlen(text);
	while (end > text && strchr(" \t\r", end[-1]))
		*--end = '\0';
	return text;
}

int assignment_parse(char *line, char **ret_name, char **ret_value, struct error *error)
{
	char *name, *value;

	line[strcspn(line, "#")] = '\0';
	name = trim(line);
	if (!*name)
		return 0;
	value = strchr(name, '=');
	if (!value)
		return error_set(error, -EINVAL, "\"%s\": not \"name = value\"", name);
	*value++ = '\0';
	*ret_name = trim(name);
	*ret_value = trim(value);
	return 1;
}

/* ---- YAML ---- */

int setting_bad(const struct setting *setting, const char *what)
{
	return error_set(setting->error, -EINVAL, "line %zu: %s: %s",
			 setting->value->start_mark.line + 1, setting->key, what);
}

const char *setting_text(const struct setting *setting)
{
	if (setting->value->type == YAML_SCALAR_NODE)
		return (const char *)setting->value->data.scalar.value;
	setting_bad(setting, "the value must be a text");
	return NULL;
}

int setting_path(const struct setting *setting, char **path)
{
	const char *text = setting_text(setting);
	char *whole = NULL;

	if (!text)
		return -EINVAL;
	if (*text)
		whole = xasprintf("%s%s%s", *text == '/' ? "" : setting->folder,
				  *text == '/' ? "" : "/", text);
	free(*path);
	*path = whole;
	return 0;
}

int setting_each(const struct setting *setting, setting_take *take)
{
	const yaml_node_t *node = setting->value;
	int err = 0;

	if (node->type == YAML_SCALAR_NODE && !node->data.scalar.length)
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return setting_bad(setting, "there must be keys with values below it");
	for (const yaml_node_pair_t *at = node->data.mapping.pairs.start;
	     !err && at < node->data.mapping.pairs.top; at++) {
		const yaml_node_t *key = yaml_document_get_node(setting->document, at->key);
		struct setting pair = *setting;

		pair.parent = setting;
		pair.value = yaml_document_get_node(setting->document, at->value);
		if (!key || !pair.value || key->type != YAML_SCALAR_NODE)
			return setting_bad(setting, "each key must be a text");
		pair.key = (const char *)key->data.scalar.value;
		err = take(&pair);
	}
	return err;
}

int setting_items(const struct setting *setting, setting_take *take)
{
	const yaml_node_t *node = setting->value;
	int err = 0;

	if (node->type != YAML_SEQUENCE_NODE)
		return setting_bad(setting, "the value must be a list: [TEXT]");
	for (const yaml_node_item_t *at = node->data.sequence.items.start;
	     !err && at < node->data.sequence.items.top; at++) {
		struct setting item = *setting;

		item.value = yaml_document_get_node(setting->document, *at);
		err = take(&item);
	}
	return err;
}

int settings_parse(const char *text, size_t size, const char *folder, setting_take *take, void *to,
		   struct error *error)
{
	yaml_parser_t parser;
	yaml_document_t document;
	struct setting whole = {
		.key = "the file",
		.to = to,
		.error = error,
		.document = &document,
		.folder = folder,
	};
	int err = 0;

	if (!yaml_parser_initialize(&parser))
		out_of_memory();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (yaml_parser_load(&parser, &document)) {
		whole.value = yaml_document_get_root_node(&document);
		if (whole.value)
			err = setting_each(&whole, take);
		yaml_document_delete(&document);
	} else {
		err = error_set(error, -EINVAL, "line %zu: %s", parser.problem_mark.line + 1,
				parser.problem ? parser.problem : "not YAML");
	}
	yaml_parser_delete(&parser);
	return err;
}

int settings_read(const char *path, setting_take *take, void *to, struct error *error)
{
	struct error line = { "" };
	char *text, *copy;
	size_t size;
	int err = read_whole(path, FILE_MAX, &text, &size);

	if (!err) {
		copy = xstrdup(path);
		err = settings_parse(text, size, dirname(copy), take, to, &line);
		free(copy);
		free(text);
	}
	return err ? error_set(error, err,
			       "%s: %s", path, line.text[0] ? line.text : strerror(-err)) :
		     0;
}
