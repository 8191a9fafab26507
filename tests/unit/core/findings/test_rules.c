// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_rules - the exits that rules choose by name: each name is one that a kernel prints or an
 * architecture's table has, and none is a halt.
 */
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "core/findings/rules.h"
#include "lib/array.h"
#include "lib/file.h"
#include "tests/unit/unit.h"

/* What takes a name of a reason: the reason's flags tell the halts. */
typedef void (*name_fn)(const char *name, unsigned int flags);

static void each_reason(const struct split *split, const char *format, name_fn take)
{
	size_t prefix = split->prefix ? strlen(split->prefix) : 0;
	struct reasons reasons;

	reasons_of(split, format, &reasons);
	for (size_t i = 0; i < reasons.nr; i++) {
		const char *name = reasons.list[i].name;
		bool is_whole = strncmp(name, split->prefix ? split->prefix : "", prefix) != 0;

		take(name + (is_whole ? 0 : prefix), reasons.list[i].flags);
	}
	reasons_release(&reasons);
}

/* Of the split's table, and of each kernel's list in tests/formats that has the event. */
static void each_name(const struct split *split, name_fn take)
{
	char pattern[128], text[16384];
	glob_t files;

	each_reason(split, NULL, take);
	snprintf(pattern, sizeof(pattern), "tests/formats/{%s-,linux-*/%s.}*", split->event,
		 split->event);
	if (glob(pattern, GLOB_BRACE, NULL, &files) != 0)
		return;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		assert_true(read_small(files.gl_pathv[i], text, sizeof(text)) > 0);
		each_reason(split, text, take);
	}
	globfree(&files);
}

static void each_vm_exit(name_fn take)
{
	const struct arch *arch;

	for (size_t i = 0; (arch = arch_at(i)); i++) {
		for (const struct split *split = arch->splits; split->event; split++)
			each_name(split, take);
	}
}

static const char *rule_id, *words; /* the text that is looked at, and of which rule */
static char word[64];		    /* one of its words */
static bool is_found;

static void find_word(const char *name, unsigned int flags)
{
	(void)flags;
	is_found = is_found || strcmp(name, word) == 0;
}

static void is_no_halt(const char *name, unsigned int flags)
{
	if (flags & REASON_IDLE && rule_has_word(words, name))
		fail_msg("%s: %s is a halt, and halts never match: their time is time(idle), "
			 "time(poll)",
			 rule_id, name);
}

/* Each word is the name of an exit of this kind. */
static void are_names(bool is_of_kvm)
{
	const char *rest = words;

	while (rest && *rest) {
		size_t len = strcspn(rest, "|");

		snprintf(word, sizeof(word), "%.*s", (int)len, rest);
		is_found = false;
		if (is_of_kvm)
			each_vm_exit(find_word);
		else
			each_name(&arch_userspace_split, find_word);
		/* KVM_RUN returned an error of its own. */
		if (!is_found && (is_of_kvm || strcmp(word, "error") != 0))
			fail_msg("%s: no kernel names an exit %s", rule_id, word);
		rest += len + (rest[len] == '|');
	}
}

/* Where a choice has no parent its words are fields, not reasons. */
static bool chooses_reasons(const struct rule_fields *choice)
{
	return (choice->use == USE_EXIT || choice->use == USE_EXIT_PART) && choice->parents;
}

TEST(rules_name_exits_that_kernels_have)
{
	const struct rule *rule;
	size_t nr = 0;

	for (size_t at = 0; (rule = rule_at(at)); at++) {
		const struct rule_fields *choices[] = { &rule->what, &rule->less, &rule->named };

		rule_id = rule->id;
		for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
			bool is_of_kvm;

			if (!chooses_reasons(choices[i]))
				continue;
			is_of_kvm = strncmp(choices[i]->parents, "vmexit", 6) == 0;
			words = choices[i]->words;
			are_names(is_of_kvm);
			words = choices[i]->but;
			are_names(is_of_kvm);
			nr += choices[i]->words || choices[i]->but;
		}
	}
	assert_true(nr >= 9);
}

/* A rule that names one would find nothing. */
TEST(rules_name_no_halts)
{
	const struct rule *rule;

	for (size_t at = 0; (rule = rule_at(at)); at++) {
		const struct rule_fields *choices[] = { &rule->what, &rule->less, &rule->named };

		rule_id = rule->id;
		for (size_t i = 0; i < 2 * ARRAY_SIZE(choices); i++) {
			const struct rule_fields *choice = choices[i / 2];

			if (!chooses_reasons(choice))
				continue;
			words = i % 2 ? choice->but : choice->words;
			each_vm_exit(is_no_halt);
			each_name(&arch_userspace_split, is_no_halt);
		}
	}
}
