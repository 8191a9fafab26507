// SPDX-License-Identifier: GPL-2.0-or-later
/* What a query needs counted: filters, children, open rows. */
#include "tests/unit/unit.h"
#include "tests/worlds/view_world.h"
#include "core/views/view.h"

enum {
	EXIT, EXIT_HLT, EXIT_MSR, EXIT_WFX, ENTRY, USER, USER_IO, PIO, MMU,
	EXITS, PAGES, INSN, INSN_DIAG,
	NR_FIELDS
};

static const struct field specs[] = {
	[EXIT] = { .name = "kvm_exit", .parent = FIELD_NONE, .exit_rank = 1 },
	[EXIT_HLT] = { .name = "kvm_exit(HLT)", .parent = EXIT },
	[EXIT_MSR] = { .name = "kvm_exit(MSR_WRITE)", .parent = EXIT },
	[EXIT_WFX] = { .name = "kvm_exit(WFx)", .alias = "kvm_exit(WFI)", .parent = EXIT },
	[ENTRY] = { .name = "kvm_entry", .parent = FIELD_NONE },
	[USER] = { .name = "kvm_userspace_exit", .parent = FIELD_NONE, .exit_rank = 2 },
	[USER_IO] = { .name = "kvm_userspace_exit(IO)", .parent = USER },
	[PIO] = { .name = "kvm_pio", .parent = FIELD_NONE },
	[MMU] = { .name = "kvm_mmu_get_page", .parent = FIELD_NONE, .is_extra = true },
	[EXITS] = { .name = "exits", .alias = "vm_exits", .parent = FIELD_NONE, .exit_rank = 1 },
	[PAGES] = { .name = "pages_4k", .parent = FIELD_NONE, .kind = FIELD_GAUGE },
	[INSN] = { .name = "exit_instruction", .alias = "instr", .parent = FIELD_NONE },
	[INSN_DIAG] = { .name = "instruction_diag", .parent = INSN },
};

static int setup(void **state)
{
	return world_setup(state, specs, NR_FIELDS, &view_events);
}

/* The names that the query wants, with blanks between. */
static const char *wanted(struct world *world, const char *filter)
{
	size_t len = 0;

	set_filter(world, filter);
	query_wants(&world->query, world->fields, &world->wanted);
	world->text[0] = '\0';
	for (uint32_t i = 0; i < fields_count(world->fields); i++) {
		if (field_set_has(&world->wanted, i))
			len += (size_t)sprintf(world->text + len, "%s%s", len ? " " : "",
					       fields_get(world->fields, i)->name);
	}
	return world->text;
}

TEST(flaw_D3_reasons_are_not_counted_unasked, setup, teardown)
{
	assert_string_equal(wanted(*state, NULL), "kvm_exit kvm_entry kvm_userspace_exit kvm_pio "
						  "exits pages_4k exit_instruction");
}

TEST(flaw_E4_filter_selects_parents_without_children, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(wanted(world, "kvm_exit"), "kvm_exit");
	assert_string_equal(wanted(world, "exit"),
			    "kvm_exit kvm_userspace_exit exits exit_instruction");
	assert_string_equal(wanted(world, "pio|entry"), "kvm_entry kvm_pio");
	assert_string_equal(wanted(world, "nothing"), "");
	assert_string_equal(wanted(world, "^kvm_exit$"), "kvm_exit");
}

TEST(flaw_B5_a_child_brings_its_parent, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(wanted(world, "HLT"), "kvm_exit kvm_exit(HLT)");
	assert_string_equal(wanted(world, "exit.*HLT"), "kvm_exit kvm_exit(HLT)");
	assert_string_equal(wanted(world, "^HLT$"), "kvm_exit kvm_exit(HLT)");
	assert_string_equal(wanted(world, "kvm_exit(HLT)"), "kvm_exit kvm_exit(HLT)");
	assert_string_equal(wanted(world, "kvm_userspace_exit\\("),
			    "kvm_userspace_exit kvm_userspace_exit(IO)");
	assert_string_equal(wanted(world, "kvm_(pio|userspace_exit\\(I)"),
			    "kvm_userspace_exit kvm_userspace_exit(IO) kvm_pio");
	assert_string_equal(wanted(world, "\\)"), "kvm_exit kvm_exit(HLT) kvm_exit(MSR_WRITE) "
						  "kvm_exit(WFx) kvm_userspace_exit "
						  "kvm_userspace_exit(IO)");
}

TEST(kvm_stats_names_match_too, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(wanted(world, "WFI"), "kvm_exit kvm_exit(WFx)");
	assert_string_equal(wanted(world, "WFx"), "kvm_exit kvm_exit(WFx)");
	assert_string_equal(wanted(world, "vm_exits"), "exits");
}

TEST(children_without_brackets, setup, teardown)
{
	struct world *world = *state;

	assert_string_equal(wanted(world, "diag"), "exit_instruction instruction_diag");
	/* The parent's name matches: nothing says that the child was meant. */
	assert_string_equal(wanted(world, "instruction"), "exit_instruction");
	assert_string_equal(wanted(world, "instr"), "exit_instruction");
	world->query.children = true;
	assert_string_equal(wanted(world, "instruction"), "exit_instruction instruction_diag");
}

TEST(extras_are_counted_when_named, setup, teardown)
{
	struct world *world = *state;
	const struct field child = { .name = "kvm_mmu_get_page(x)", .parent = MMU };
	const struct field costly = { .name = "kvm_entry(costly)", .parent = ENTRY,
				      .is_extra = true };
	uint32_t id;

	id = fields_add(world->fields, &child);
	id = fields_add(world->fields, &costly);
	assert_string_equal(wanted(world, "mmu"), "kvm_mmu_get_page");
	world->query.children = true;
	assert_string_equal(wanted(world, "mmu"), "kvm_mmu_get_page kvm_mmu_get_page(x)");
	assert_string_equal(wanted(world, "costly"), "kvm_entry kvm_entry(costly)");
	wanted(world, NULL);
	assert_false(field_set_has(&world->wanted, MMU));
	assert_false(field_set_has(&world->wanted, NR_FIELDS));
	assert_false(field_set_has(&world->wanted, id));
}

TEST(children_mode_opens_all_trees, setup, teardown)
{
	struct world *world = *state;

	world->query.children = true;
	assert_string_equal(wanted(world, NULL),
			    "kvm_exit kvm_exit(HLT) kvm_exit(MSR_WRITE) kvm_exit(WFx) kvm_entry "
			    "kvm_userspace_exit kvm_userspace_exit(IO) kvm_pio "
			    "exits pages_4k exit_instruction instruction_diag");
	assert_string_equal(wanted(world, "userspace"),
			    "kvm_userspace_exit kvm_userspace_exit(IO)");
	/* Says that it wants no children, as it does in kvm_stat. */
	assert_string_equal(wanted(world, "kvm_exit$"), "kvm_exit");
}

TEST(rows_open_one_by_one, setup, teardown)
{
	struct world *world = *state;

	field_set_add(&world->query.open, USER);
	assert_string_equal(wanted(world, "kvm_.*exit"),
			    "kvm_exit kvm_userspace_exit kvm_userspace_exit(IO)");
	assert_string_equal(wanted(world, "exit$"), "kvm_exit kvm_userspace_exit "
						    "kvm_userspace_exit(IO)");
	assert_string_equal(wanted(world, "pio"), "kvm_pio");
	field_set_del(&world->query.open, USER);
	assert_string_equal(wanted(world, "kvm_.*exit"), "kvm_exit kvm_userspace_exit");
}

TEST(a_child_pulled_parent_does_not_open, setup, teardown)
{
	struct world *world = *state;

	field_set_add(&world->query.open, EXIT);
	assert_string_equal(wanted(world, "HLT"), "kvm_exit kvm_exit(HLT)");
}

TEST(the_set_is_emptied_first, setup, teardown)
{
	struct world *world = *state;

	field_set_add(&world->wanted, 5000);
	wanted(world, "pio");
	assert_false(field_set_has(&world->wanted, 5000));
	assert_true(field_set_has(&world->wanted, PIO));
}

TEST(the_guests_view_needs_what_counts_exits, setup, teardown)
{
	struct world *world = *state;

	world->query.type = &view_guests;
	assert_string_equal(wanted(world, NULL), "kvm_exit kvm_userspace_exit exits");
	assert_string_equal(wanted(world, "pio|pages"), "kvm_pio");
	assert_string_equal(wanted(world, "HLT"), "kvm_exit kvm_exit(HLT)");
}

TEST(a_filter_that_ends_nowhere, setup, teardown)
{
	struct world *world = *state;

	/* It matches every name, extras too, but says nothing of children. */
	assert_string_equal(wanted(world, ""),
			    "kvm_exit kvm_entry kvm_userspace_exit kvm_pio kvm_mmu_get_page "
			    "exits pages_4k exit_instruction");
}

TEST(names, setup, teardown)
{
	struct world *world = *state;
	const struct fields *fields = world->fields;

	set_filter(world, NULL);
	assert_true(query_names(&world->query, fields_get(fields, MMU)));
	set_filter(world, "vm_e");
	assert_true(query_names(&world->query, fields_get(fields, EXITS)));
	assert_true(query_names(&world->query, fields_get(fields, EXIT_HLT)));
	assert_false(query_names(&world->query, fields_get(fields, PIO)));
	set_filter(world, "^HLT$");
	assert_true(query_names(&world->query, fields_get(fields, EXIT_HLT)));
	assert_false(query_names(&world->query, fields_get(fields, EXIT)));
}

/* The Guests view shows no trees: reasons that cannot be seen are not counted. */
TEST(open_trees_cost_nothing_where_there_are_none, setup, teardown)
{
	struct world *world = *state;

	world->query.type = &view_guests;
	world->query.children = true;
	assert_string_equal(wanted(world, NULL), "kvm_exit kvm_userspace_exit exits");
	assert_string_equal(wanted(world, "HLT"), "kvm_exit kvm_exit(HLT)");
}

/* Only a tree of calls has rows that stand for what they call. */
TEST(a_tree_has_its_own_order, setup, teardown)
{
	struct query query = { .type = &view_where };

	assert_int_equal(query_default_sort(&query), view_column(&view_where, COL_SELF_SHARE));
	query.children = true;
	assert_int_equal(query_default_sort(&query), view_column(&view_where, COL_TIME));
	query.type = &view_events;
	assert_int_equal(query_default_sort(&query), view_column(&view_events, COL_RATE));
}
