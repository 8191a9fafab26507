/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_world - what the tests of stats begin with: the fields of the test, and no sample yet.
 */
#ifndef KVMTOP_TESTS_WORLDS_STATS_WORLD_H
#define KVMTOP_TESTS_WORLDS_STATS_WORLD_H

#include <stdlib.h>

#include "core/facts/stats.h"
#include "tests/unit/unit.h"

#define SECOND UINT64_C(1000000000)

struct world {
	struct fields *fields;
	struct stats *stats;
	struct sample sample;
	uint64_t now_ns;
};

/* The id of a field is its index in specs. */
static inline int world_setup(void **state, const struct field *specs, uint32_t nr)
{
	struct world *world = calloc(1, sizeof(*world));
	uint32_t id;

	assert_non_null(world);
	world->fields = fields_new();
	world->stats = stats_new();
	world->now_ns = SECOND;
	for (uint32_t i = 0; i < nr; i++) {
		id = fields_add(world->fields, &specs[i]);
		assert_int_equal(id, i);
	}
	*state = world;
	return 0;
}

static inline int world_teardown(void **state)
{
	struct world *world = *state;

	sample_release(&world->sample);
	stats_free(world->stats);
	fields_free(world->fields);
	free(world);
	return 0;
}

#endif
