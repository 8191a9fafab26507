// SPDX-License-Identifier: GPL-2.0-or-later
/* The dictionary of what can be counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "core/facts/field.h"

struct field_entry {
	struct field field; /* this file frees its strings */
	uint32_t id;
	UT_hash_handle hh;
};

struct fields {
	struct field_entry **list; /* by number; entries do not move, as others point to them */
	uint32_t nr;
	size_t room;
	struct field_entry *by_name;
};

struct fields *fields_new(void)
{
	return xcalloc(1, sizeof(struct fields));
}

static void entry_free(struct field_entry *entry)
{
	if (!entry)
		return;
	free((char *)(uintptr_t)entry->field.name);
	free((char *)(uintptr_t)entry->field.listed);
	free((char *)(uintptr_t)entry->field.label);
	free((char *)(uintptr_t)entry->field.alias);
	free(entry);
}

void fields_free(struct fields *fields)
{
	if (!fields)
		return;
	HASH_CLEAR(hh, fields->by_name);
	for (uint32_t i = 0; i < fields->nr; i++)
		entry_free(fields->list[i]);
	free(fields->list);
	free(fields);
}

#define WAIT_NAME(part, name) [WAIT_##part] = (name),

const char *wait_part_name(enum wait_part part)
{
	static const char *const names[WAIT_PARTS] = { WAIT_LIST(WAIT_NAME) };

	return names[part];
}

void wait_name_culprit(char *buf, size_t size, const struct field *field)
{
	if (!field->alias || field->part == WAIT_OWN || strcmp(field->alias, field->label) == 0)
		text_put(buf, size, "%s", field->label);
	else if (field->part == WAIT_GUEST)
		text_put(buf, size, "%s %s", field->alias, field->label);
	else
		text_put(buf, size, "%s of %s", field->label, field->alias);
}

/* Waiting and polling are no parts of their own. */
bool field_adds_up(const struct field *spec)
{
	return spec->parent != FIELD_NONE &&
	       (spec->use == USE_EXIT || (spec->use == USE_TIME && time_adds_up(spec->part)));
}

static struct field_entry *entry_new(const struct field *spec, const struct field *parent)
{
	struct field_entry *entry = xcalloc(1, sizeof(*entry));
	size_t len = parent ? strlen(parent->name) : 0;
	const char *brackets = NULL, *label = spec->label ? spec->label : spec->name;

	/* What a child's name has after the parent's: "(HLT)". */
	if (parent && strncmp(spec->name, parent->name, len) == 0 && spec->name[len] == '(')
		brackets = spec->name + len;
	entry->field = *spec;
	entry->field.adds_up = field_adds_up(spec);
	entry->field.name = xstrdup(spec->name);
	entry->field.alias = spec->alias ? xstrdup(spec->alias) : NULL;
	len = strlen(label);
	if (brackets && !spec->label) { /* the text between them; brackets in a reason stay */
		label = brackets + 1;
		len = strlen(label) - (brackets[strlen(brackets) - 1] == ')');
	}
	entry->field.label = xstrndup(label, len);
	entry->field.listed = brackets && !spec->listed ?
				      xasprintf("%s%s", parent->listed, brackets) :
				      xstrdup(spec->listed ? spec->listed : spec->name);
	return entry;
}

/*
 * If a provider failed before it counted anything, the next provider sets the properties of its
 * fields. The numbers of the fields, and so their names, stay.
 */
static void take_over(struct field *field, const struct field *spec)
{
	struct field old = *field;

	*field = *spec;
	field->name = old.name;
	field->listed = old.listed;
	field->label = old.label;
	field->alias = old.alias;
	field->has_children = old.has_children;
	field->adds_up = field_adds_up(spec);
}

uint32_t fields_add(struct fields *fields, const struct field *spec)
{
	struct field *parent = NULL;
	struct field_entry *entry;

	HASH_FIND_STR(fields->by_name, spec->name, entry);
	if (entry) {
		if (entry->field.is_abandoned)
			take_over(&entry->field, spec);
		return entry->id;
	}
	array_grow(&fields->list, &fields->room, fields->nr + 1);
	if (spec->parent < fields->nr)
		parent = &fields->list[spec->parent]->field;
	entry = entry_new(spec, parent);
	HASH_ADD_KEYPTR(hh, fields->by_name, entry->field.name, strlen(entry->field.name), entry);
	entry->id = fields->nr;
	fields->list[fields->nr++] = entry;
	if (parent)
		parent->has_children = true;
	return entry->id;
}

void fields_set_pid(struct fields *fields, uint32_t id, int32_t pid)
{
	fields->list[id]->field.pid = pid;
}

void fields_abandon(struct fields *fields, uint32_t source)
{
	for (uint32_t i = 0; i < fields->nr; i++) {
		if (fields->list[i]->field.source == source)
			fields->list[i]->field.is_abandoned = true;
	}
}

uint32_t fields_count(const struct fields *fields)
{
	return fields->nr;
}

const struct field *fields_get(const struct fields *fields, uint32_t id)
{
	return &fields->list[id]->field;
}

/* An entry begins with its field. */
const struct field *const *fields_all(const struct fields *fields)
{
	return (const struct field *const *)fields->list;
}

uint32_t fields_find(const struct fields *fields, const char *name)
{
	struct field_entry *entry;

	HASH_FIND_STR(fields->by_name, name, entry);
	return entry ? entry->id : FIELD_NONE;
}

bool field_set_has_use(const struct field_set *set, const struct fields *fields, enum field_use use)
{
	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (fields_get(fields, i)->use == use && field_set_has(set, i))
			return true;
	}
	return false;
}

void field_set_add(struct field_set *set, uint32_t id)
{
	uint32_t word = id / 64;

	array_grow(&set->words, &set->room, word + 1);
	if (word >= set->nr_words)
		set->nr_words = word + 1;
	set->words[word] |= UINT64_C(1) << (id % 64);
}

void field_set_del(struct field_set *set, uint32_t id)
{
	if (id / 64 < set->nr_words)
		set->words[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

void field_set_clear(struct field_set *set)
{
	if (set->nr_words)
		memset(set->words, 0, set->nr_words * sizeof(*set->words));
}

void field_set_copy(struct field_set *to, const struct field_set *from)
{
	field_set_clear(to);
	to->nr_words = from->nr_words;
	array_grow(&to->words, &to->room, to->nr_words);
	if (from->nr_words)
		memcpy(to->words, from->words, from->nr_words * sizeof(*from->words));
}

void field_set_release(struct field_set *set)
{
	free(set->words);
	*set = (struct field_set){ 0 };
}
