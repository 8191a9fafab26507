// SPDX-License-Identifier: GPL-2.0-or-later
/* The dictionary of fields and the sets of them. */
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "core/facts/field.h"
#include "core/facts/shared_fields.h"
#include "tests/unit/unit.h"

static uint32_t add(struct fields *fields, const char *name, uint32_t parent, const char *alias)
{
	struct field spec = { .name = name, .parent = parent, .alias = alias };
	uint32_t id = FIELD_NONE;

	id = fields_add(fields, &spec);
	return id;
}

TEST(empty_dictionary)
{
	struct fields *fields = fields_new();

	assert_int_equal(fields_count(fields), 0);
	assert_int_equal(fields_find(fields, "kvm_exit"), FIELD_NONE);
	fields_free(fields);
	fields_free(NULL);
}

TEST(numbers_are_dense_and_found_by_name)
{
	struct fields *fields = fields_new();

	assert_int_equal(add(fields, "kvm_exit", FIELD_NONE, NULL), 0);
	assert_int_equal(add(fields, "kvm_entry", FIELD_NONE, NULL), 1);
	assert_int_equal(add(fields, "kvm_exit(HLT)", 0, NULL), 2);
	assert_int_equal(fields_count(fields), 3);
	assert_int_equal(fields_find(fields, "kvm_exit(HLT)"), 2);
	assert_int_equal(fields_find(fields, "kvm_exi"), FIELD_NONE);
	assert_int_equal(fields_find(fields, "HLT"), FIELD_NONE);
	assert_int_equal(fields_get(fields, 2)->parent, 0);
	fields_free(fields);
}

TEST(same_name_same_number)
{
	struct fields *fields = fields_new();
	struct field gauge = { .name = "pages", .parent = FIELD_NONE, .kind = FIELD_GAUGE };
	uint32_t first = add(fields, "pages", FIELD_NONE, NULL), again = FIELD_NONE;

	again = fields_add(fields, &gauge);
	assert_int_equal(again, first);
	assert_int_equal(fields_count(fields), 1);
	assert_int_equal(fields_get(fields, first)->kind, FIELD_COUNTER);
	fields_free(fields);
}

TEST(strings_are_copied)
{
	struct fields *fields = fields_new();
	char name[] = "kvm_exit", alias[] = "exit";
	uint32_t id = add(fields, name, FIELD_NONE, alias);

	memset(name, 'x', sizeof(name) - 1);
	memset(alias, 'x', sizeof(alias) - 1);
	assert_string_equal(fields_get(fields, id)->name, "kvm_exit");
	assert_string_equal(fields_get(fields, id)->label, "kvm_exit");
	assert_string_equal(fields_get(fields, id)->alias, "exit");
	fields_free(fields);
}

TEST(all_of_the_spec_is_kept)
{
	struct fields *fields = fields_new();
	const struct field spec = { .name = "a", .parent = FIELD_NONE, .source = 3,
				    .kind = FIELD_PEAK, .is_idle = true, .is_extra = true,
				    .exit_rank = 2 };
	uint32_t id;

	id = fields_add(fields, &spec);

	const struct field *field = fields_get(fields, id);

	assert_int_equal(field->source, 3);
	assert_int_equal(field->kind, FIELD_PEAK);
	assert_true(field->is_idle && field->is_extra);
	assert_int_equal(field->exit_rank, 2);
	assert_null(field->alias);
	fields_free(fields);
}

/* As debugfs' counters, which a VMM's statistics have too: one of the two providers has failed. */
TEST(an_abandoned_field_is_the_next_providers)
{
	struct fields *fields = fields_new();
	struct field spec = { .name = "pages", .parent = FIELD_NONE, .source = 1 };
	const struct field *field;
	uint32_t id, again;

	id = fields_add(fields, &spec);
	fields_abandon(fields, 1);
	spec.source = 2;
	spec.kind = FIELD_GAUGE;
	again = fields_add(fields, &spec);
	assert_int_equal(again, id);
	field = fields_get(fields, id);
	assert_int_equal(field->source, 2);
	assert_int_equal(field->kind, FIELD_GAUGE);
	assert_false(field->is_abandoned);
	assert_string_equal(field->name, "pages");
	assert_string_equal(field->label, "pages");
	fields_free(fields);
}

TEST(labels)
{
	static const struct {
		const char *name, *label;
	} cases[] = {
		{ "kvm_exit(HLT)", "HLT" },
		{ "kvm_exit(#0x41)", "#0x41" },
		{ "kvm_exit(f(x))", "f(x)" },
		{ "kvm_exit()", "" },
		{ "kvm_exit(open", "open" },
		{ "kvm_exitless", "kvm_exitless" },
		{ "instruction_diag", "instruction_diag" },
		{ "other(HLT)", "other(HLT)" },
	};
	struct fields *fields = fields_new();
	uint32_t parent = add(fields, "kvm_exit", FIELD_NONE, NULL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t id = add(fields, cases[i].name, parent, NULL);

		assert_string_equal(fields_get(fields, id)->label, cases[i].label);
		assert_string_equal(fields_get(fields, id)->name, cases[i].name);
	}
	fields_free(fields);
}

TEST(brackets_without_a_parent_are_part_of_the_name)
{
	struct fields *fields = fields_new();
	uint32_t id = add(fields, "kvm_exit(HLT)", FIELD_NONE, NULL);

	assert_string_equal(fields_get(fields, id)->label, "kvm_exit(HLT)");
	fields_free(fields);
}

TEST(a_parent_knows_that_it_has_children)
{
	struct fields *fields = fields_new();
	uint32_t parent = add(fields, "kvm_exit", FIELD_NONE, NULL);
	uint32_t other = add(fields, "kvm_entry", FIELD_NONE, NULL);

	assert_false(fields_get(fields, parent)->has_children);
	add(fields, "kvm_exit(HLT)", parent, NULL);
	assert_true(fields_get(fields, parent)->has_children);
	assert_false(fields_get(fields, other)->has_children);
	fields_free(fields);
}

/* What L2 ran is of the guest, and what blocked the VMM is of all that blocked. */
TEST(which_rows_add_up_to_their_parent)
{
	static const struct {
		enum field_use use;
		unsigned int part;
		bool adds_up;
	} cases[] = {
		{ USE_EXIT, 0, true },		{ USE_EVENT, 0, false },
		{ USE_ARGUMENT, 0, false },	{ USE_TIME, TIME_GUEST, true },
		{ USE_TIME, TIME_KVM, true },	{ USE_TIME, TIME_USER, true },
		{ USE_TIME, TIME_POLL, true },	{ USE_TIME, TIME_IDLE, true },
		{ USE_TIME, TIME_BLOCK, true }, { USE_TIME, TIME_WAIT, true },
		{ USE_TIME, TIME_L2, false },	{ USE_TIME, TIME_BLOCK_USER, false },
		{ USE_EXIT_PART, EXIT_IDLE, false },
	};
	struct fields *fields = fields_new();
	uint32_t parent = add(fields, "parent", FIELD_NONE, NULL), id;
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct field spec = { .name = name, .parent = parent, .use = cases[i].use,
				      .part = cases[i].part };

		snprintf(name, sizeof(name), "child %zu", i);
		id = fields_add(fields, &spec);
		assert_int_equal(fields_get(fields, id)->adds_up, cases[i].adds_up);
		assert_ptr_equal(fields_all(fields)[id], fields_get(fields, id));
	}
	assert_false(fields_get(fields, parent)->adds_up);
	fields_free(fields);
}

TEST(fields_do_not_move_as_it_grows)
{
	struct fields *fields = fields_new();
	uint32_t id = add(fields, "first", FIELD_NONE, NULL);
	const struct field *first = fields_get(fields, id);
	char name[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "event_%d", i);
		add(fields, name, FIELD_NONE, NULL);
	}
	assert_ptr_equal(fields_get(fields, id), first);
	assert_string_equal(first->name, "first");
	assert_int_equal(fields_find(fields, "event_4999"), 5000);
	fields_free(fields);
}

TEST(set_members)
{
	static const uint32_t ids[] = { 0, 1, 63, 64, 65, 127, 128, 1000 };
	struct field_set set = { 0 };

	assert_false(field_set_has(&set, 0));
	field_set_del(&set, 5);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_false(field_set_has(&set, ids[i]));
		field_set_add(&set, ids[i]);
		assert_true(field_set_has(&set, ids[i]));
	}
	assert_false(field_set_has(&set, 62));
	assert_false(field_set_has(&set, 999));
	assert_false(field_set_has(&set, FIELD_NONE));
	field_set_del(&set, 64);
	assert_false(field_set_has(&set, 64));
	assert_true(field_set_has(&set, 63) && field_set_has(&set, 65));
	field_set_del(&set, 100000);
	field_set_clear(&set);
	for (uint32_t i = 0; i < 2000; i++)
		assert_false(field_set_has(&set, i));
	field_set_release(&set);
	assert_null(set.words);
	field_set_clear(&set);
	field_set_release(&set);
}

static void assert_same_set(const struct field_set *a, const struct field_set *b)
{
	for (uint32_t i = 0; i < 2000; i++)
		assert_int_equal(field_set_has(a, i), field_set_has(b, i));
}

TEST(sets_are_copied_over_what_was_there)
{
	struct field_set from = { 0 }, to = { 0 };

	field_set_add(&to, 900);
	field_set_add(&from, 7);
	field_set_add(&from, 127);
	field_set_copy(&to, &from);
	assert_same_set(&to, &from);
	assert_false(field_set_has(&to, 900));
	field_set_add(&from, 8);
	assert_false(field_set_has(&to, 8));

	struct field_set empty = { 0 }, fresh = { 0 };

	field_set_copy(&fresh, &from);
	assert_same_set(&fresh, &from);
	field_set_copy(&to, &empty);
	assert_same_set(&to, &empty);
	field_set_release(&fresh);
	field_set_release(&from);
	field_set_release(&to);
}

#define LONG_50 "12345678901234567890123456789012345678901234567890"
#define LONG_200 LONG_50 LONG_50 LONG_50 LONG_50

/* Names that differ at their end are two fields, however long they are. */
TEST(long_names_stay_two)
{
	static const struct exit_events events;
	struct fields *fields = fields_new();
	struct exit_fields exits;
	struct host_fields host;
	uint32_t a, b;

	exit_fields_add(fields, 0, &events, 0, &exits);
	host_fields_add(fields, 1, &host);
	a = exit_fields_reason(&exits, EXITS_VMEXIT, LONG_200 "a", LONG_200 "A", false);
	b = exit_fields_reason(&exits, EXITS_VMEXIT, LONG_200 "b", LONG_200 "B", false);
	assert_int_not_equal(a, b);
	assert_string_equal(fields_get(fields, b)->name, "vmexit(" LONG_200 "b)");
	assert_int_not_equal(exit_fields_exit_part(&exits, EXITS_VMEXIT, a, EXIT_BLOCKED),
			     exit_fields_exit_part(&exits, EXITS_VMEXIT, b, EXIT_BLOCKED));
	assert_int_not_equal(exit_fields_argument(&exits, EXITS_FIRST_ARGUMENT, LONG_200, a, "1"),
			     exit_fields_argument(&exits, EXITS_FIRST_ARGUMENT, LONG_200, b, "2"));
	host.parts[HOST_THREAD] = host_fields_add_part(fields, 1, HOST_THREAD);
	assert_int_not_equal(host_fields_thread(&host, LONG_50 LONG_50 "a"),
			     host_fields_thread(&host, LONG_50 LONG_50 "b"));
	fields_free(fields);
}
