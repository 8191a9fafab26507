// SPDX-License-Identifier: GPL-2.0-or-later
/* A filter by any name that the program lists means the same in every view. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "core/monitor.h"
#include "cmd/source.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"

/* A captured machine: its events, and its exits with their times. */
struct world {
	struct env env;
	struct monitor *monitor;
	const struct facts *facts;
	struct pattern *filter;
	struct query query;
	struct view view;
	const char *name; /* that is filtered by */
	bool is_exact;	  /* the filter is ^name$ */
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct monitor_config config = { .providers = 1U << PROVIDER_TRACEPOINT |
						      1U << PROVIDER_EXITS };

	assert_non_null(world);
	assert_int_equal(env_init(&world->env, "tests/sysroot/amd", NULL), 0);
	config.env = &world->env;
	config.list = providers_of(config.env);
	assert_int_equal(monitor_open(&config, &world->monitor, &(struct error){ "" }), 0);
	assert_int_equal(monitor_find_guests(world->monitor, NULL), 0);
	world->facts = monitor_facts(world->monitor);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	view_release(&world->view);
	monitor_close(world->monitor);
	pattern_free(world->filter);
	env_release(&world->env);
	free(world);
	return 0;
}

static void look(struct world *world, const struct view_type *type, const char *filter)
{
	struct pattern *old = world->filter;

	assert_int_equal(pattern_new(filter, &world->filter, NULL), 0);
	world->query = (struct query){
		.type = type, .filter = world->filter, .sort = view_default_sort(type),
	};
	assert_int_equal(monitor_want(world->monitor, &world->query, NULL), 0);
	pattern_free(old);
	for (int i = 0; i < 2; i++)
		monitor_sample(world->monitor);
	view_build(&world->view, &world->query, world->facts);
}

/* ---- what must be shown, by the listed names alone */

static const struct field *get(const struct world *world, uint32_t id)
{
	return id == FIELD_NONE ? NULL : fields_get(world->facts->fields, id);
}

static bool is_named(const struct world *world, const struct field *field)
{
	if (!field)
		return false;
	return world->is_exact ? strcmp(field->listed, world->name) == 0 :
				 strstr(field->listed, world->name) != NULL;
}

static bool is_selected(const struct world *world, const struct field *field)
{
	const struct field *reason = NULL;

	if (field->use == USE_ARGUMENT)
		reason = get(world, field->reason);
	return is_named(world, field) || is_named(world, get(world, field->parent)) ||
	       (reason && is_selected(world, reason));
}

/* Exits to user space are shown where no VM exits are selected. */
static uint8_t rank_shown(const struct world *world)
{
	for (uint32_t i = 0; i < fields_count(world->facts->fields); i++) {
		const struct field *field = get(world, i);

		if (field->use == USE_EXIT && field->exit_rank == 1 && is_selected(world, field))
			return 1;
	}
	return 2;
}

static bool is_shown(const struct world *world, const struct field *field, enum field_use use)
{
	return field->use == use && field->parent != FIELD_NONE && is_selected(world, field) &&
	       (use != USE_EXIT || field->exit_rank == rank_shown(world));
}

/* What was counted of it in all guests and vCPUs. */
static uint64_t total_of(const struct world *world, uint32_t id)
{
	uint64_t total = 0;

	for (size_t i = 0; i < world->facts->stats->nr; i++) {
		const struct stats_item *stat = &world->facts->stats->list[i];

		if (stat->key.field == id)
			total += stat->total;
	}
	return total;
}

static uint64_t count_in(const struct view_row *row, const struct view *view)
{
	const struct cell *cell = &row->cells[view_column_by_id(view->type, "total")];

	return cell->type == CELL_COUNT ? cell->count : 0;
}

/* ---- the views */

static void rows_are_those_selected(const struct world *world, enum field_use use)
{
	const struct view *view = &world->view;
	bool is_any = false;

	for (uint32_t id = 0; id < fields_count(world->facts->fields); id++) {
		const struct field *field = get(world, id);
		uint64_t shown = 0, wanted = 0;

		for (size_t i = 0; i < view->nr_rows; i++)
			shown += view->rows[i].field == id ? count_in(&view->rows[i], view) : 0;
		if (is_shown(world, field, use))
			wanted = total_of(world, id);
		if (shown != wanted)
			fail_msg("filter %s, view %s: %s has %d of %d", world->name,
				 view->type->name, field->name, (int)shown, (int)wanted);
		is_any |= wanted > 0;
	}
	assert_int_equal(view->nr_rows > 0, is_any);
	/* Where there are no rows, the program says why. */
	assert_true(is_any || !query_selects_any(&world->query, world->facts->fields) ||
		    use == USE_ARGUMENT);
}

static void vcpus_are_those_selected(const struct world *world)
{
	uint64_t wanted = 0;

	for (uint32_t id = 0; id < fields_count(world->facts->fields); id++) {
		if (is_shown(world, get(world, id), USE_EXIT))
			wanted += total_of(world, id);
	}
	assert_int_equal(count_in(&world->view.total, &world->view), wanted);
	if (!wanted)
		assert_string_equal(world->view.note, "The filter matches no exit so far.");
}

/* A reason counts by itself where its event is not named. */
static bool is_event_shown(const struct world *world, const struct field *field)
{
	return field->use == USE_EVENT && is_named(world, field) &&
	       !is_named(world, get(world, field->parent));
}

static void events_are_those_selected(const struct world *world)
{
	uint64_t shown = 0, wanted = 0;

	for (uint32_t id = 0; id < fields_count(world->facts->fields); id++) {
		if (is_event_shown(world, get(world, id)))
			wanted += total_of(world, id);
	}
	for (size_t i = 0; i < world->view.nr_rows; i++) {
		const struct view_row *row = &world->view.rows[i];

		if (world->query.type == &view_guests)
			shown += count_in(row, &world->view);
		else if (is_event_shown(world, get(world, row->field)))
			shown += count_in(row, &world->view);
		else /* it came along */
			assert_true(row->can_open);
	}
	if (shown != wanted)
		fail_msg("filter %s, view %s: %d of %d", world->name, world->query.type->name,
			 (int)shown, (int)wanted);
}

static void filter_by_name(struct world *world, const char *filter)
{
	look(world, &view_events, filter);
	events_are_those_selected(world);
	look(world, &view_guests, filter);
	events_are_those_selected(world);
	look(world, &view_exits, filter);
	rows_are_those_selected(world, USE_EXIT);
	look(world, &view_vcpus, filter);
	vcpus_are_those_selected(world);
	look(world, &view_hotspots, filter);
	rows_are_those_selected(world, USE_ARGUMENT);
}

TEST(every_listed_name, setup, teardown)
{
	struct world *world = *state;
	uint32_t nr = fields_count(world->facts->fields);
	char exact[256];

	assert_true(nr > 280);
	for (uint32_t id = 0; id < nr; id++) {
		const struct field *field = get(world, id);

		if (field->use == USE_TIME || field->use == USE_CPU)
			continue;
		world->name = field->listed;
		world->is_exact = false;
		filter_by_name(world, field->listed);
		world->is_exact = true;
		snprintf(exact, sizeof(exact), "^\\Q%s\\E$", field->listed);
		filter_by_name(world, exact);
	}
}

/* What a view shows below an event, and names of former versions and of kvm_stat. */
TEST(other_names, setup, teardown)
{
	static const struct {
		const struct view_type *type;
		const char *filter;
	} cases[] = {
		{ &view_exits, "^io$" },	    { &view_exits, "vmexit\\(io" },
		{ &view_vcpus, "^io$" },	    { &view_vcpus, "^vmexit\\(io\\)$" },
		{ &view_events, "^io$" },	    { &view_guests, "^io$" },
		{ &view_hotspots, "^io$" },	    { &view_hotspots, "vmexit(io)" },
		{ &view_hotspots, "^0x3f8 write" }, { &view_hotspots, "^ioport\\(io 0x3f8" },
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		look(world, cases[i].type, cases[i].filter);
		assert_true(count_in(&world->view.total, &world->view) > 0);
		assert_true(query_selects_any(&world->query, world->facts->fields));
	}
}
