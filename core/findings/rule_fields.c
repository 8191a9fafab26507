// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks up rules, and the words of a rule: the fields that it is measured by, and the remedy that
 * fits.
 */
#include <stdlib.h>
#include <string.h>

#include "arch/argument.h"
#include "core/findings/rules.h"
#include "lib/array.h"

const struct rule *rule_at(size_t i)
{
	return i < nr_finding_rules ? &finding_rules[i] : NULL;
}

const struct rule *rule_by_id(const char *id)
{
	for (size_t i = 0; i < nr_finding_rules; i++) {
		if (strcmp(finding_rules[i].id, id) == 0)
			return &finding_rules[i];
	}
	return NULL;
}

size_t rule_index(const struct rule *rule)
{
	return (size_t)(rule - finding_rules);
}

bool rule_has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = words; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, word, len) == 0 && (at[len] == '|' || !at[len]))
			return true;
	}
	return false;
}

static bool has_any(const char *words, const char *label)
{
	char copy[ARGUMENT_TEXT], *rest = copy, *word;

	strncpy(copy, label, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	while ((word = strsep(&rest, " "))) {
		if (*word && rule_has_word(words, word))
			return true;
	}
	return false;
}

/* The name that the argument's number has; NULL: none. */
static const char *name_of(const char *kind, const char *label)
{
	enum exit_kind of;

	return exit_kind_by_name(kind, &of, NULL) < 0 ?
		       NULL : argument_number_name(of, strtoull(label, NULL, 0));
}

static bool is_named(const char *words, const struct fields *fields, const struct field *field)
{
	const char *name = NULL;

	if (field->use == USE_ARGUMENT && field->parent != FIELD_NONE)
		name = name_of(fields_get(fields, field->parent)->name, field->label);
	if (name)
		return rule_has_word(words, name);
	return field->use == USE_ARGUMENT ? has_any(words, field->label) :
					    rule_has_word(words, field->label);
}

bool rule_fields_have(const struct rule_fields *choice, const struct fields *fields,
		      const struct field *field)
{
	if ((!choice->parents && !choice->words) || field->use != choice->use || field->is_idle ||
	    (choice->parents != NULL) != (field->parent != FIELD_NONE))
		return false;
	if (choice->parents &&
	    !rule_has_word(choice->parents, fields_get(fields, field->parent)->name))
		return false;
	return (!choice->words || is_named(choice->words, fields, field)) &&
	       (!choice->but || !is_named(choice->but, fields, field));
}

static bool is_of_event(const struct rule_fields *choice, const struct field *event)
{
	return choice->use == USE_EVENT && !choice->parents &&
	       rule_has_word(choice->words, event->name);
}

bool rules_need_event(const struct field *event)
{
	const struct rule *rule;

	for (size_t i = 0; (rule = rule_at(i)); i++) {
		if (is_of_event(&rule->what, event) || is_of_event(&rule->less, event))
			return true;
	}
	return false;
}

const char *rules_cpu_maker(const struct fields *fields)
{
	static const struct {
		const char *reason, *maker;
	} reasons[] = { { "npf", "AMD" }, { "EPT_VIOLATION", "Intel" }, { "DABT_LOW", "Arm" } };
	const char *maker = NULL;

	for (uint32_t i = 0; i < fields_count(fields); i++) {
		const struct field *field = fields_get(fields, i);

		if (field->parent == FIELD_NONE || field->use == USE_ARGUMENT)
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(reasons); j++) {
			if (strcmp(field->label, reasons[j].reason) != 0)
				continue;
			if (maker && maker != reasons[j].maker)
				return NULL;
			maker = reasons[j].maker;
		}
	}
	return maker;
}

const char *rule_remedy(const struct rule *rule, const char *cpu_maker,
			const struct fields *fields, const struct field *field)
{
	const struct rule_remedy *remedy = rule->remedies;

	while (remedy->words && !(field && is_named(remedy->words, fields, field)) &&
	       !(cpu_maker && rule_has_word(remedy->words, cpu_maker)))
		remedy++;
	return remedy->text;
}
