// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of counter names. */
#include <errno.h>
#include <fnmatch.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "providers/kvm_counter.h"

/* What the name of a counter means. */
struct trait {
	const char *pattern; /* fnmatch(3) */
	enum field_kind kind;
	uint8_t exit_rank;
	bool is_idle;
	bool is_time;
};

/*
 * The first match counts; a name without a match is a counter. *_hist files are histograms: the sum
 * of their buckets is a counter of how often it happened, too (kernels print the first only).
 */
static const struct trait traits[] = {
	{ .pattern = "*_ns", .is_time = true },
	{ .pattern = "max_*", .kind = FIELD_PEAK },
	{ .pattern = "pages*", .kind = FIELD_GAUGE },
	{ .pattern = "hugepages", .kind = FIELD_GAUGE },
	{ .pattern = "num_*_pages", .kind = FIELD_GAUGE },
	{ .pattern = "lpages", .kind = FIELD_GAUGE },
	{ .pattern = "largepages", .kind = FIELD_GAUGE },
	{ .pattern = "nx_lpage_splits", .kind = FIELD_GAUGE },
	{ .pattern = "nx_largepages_splits", .kind = FIELD_GAUGE },
	{ .pattern = "mmu_unsync", .kind = FIELD_GAUGE },
	{ .pattern = "guest_mode", .kind = FIELD_GAUGE },
	{ .pattern = "blocking", .kind = FIELD_GAUGE },
	{ .pattern = "synic_auto_eoi_used", .kind = FIELD_GAUGE },
	{ .pattern = "exits", .exit_rank = 1 },
	{ .pattern = "sum_exits", .exit_rank = 1 },
	{ .pattern = "halt_exits", .is_idle = true },
	{ .pattern = "wf[ei]_exit_stat", .is_idle = true },
	{ .pattern = "wrs_exit_stat", .is_idle = true },
	{ .pattern = "idle_exits", .is_idle = true },
	{ .pattern = "wait_exits", .is_idle = true },
	{ .pattern = "exit_wait_state", .is_idle = true },
};

static const struct trait *trait_of(const char *name)
{
	static const struct trait plain = { .kind = FIELD_COUNTER };

	for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
		if (fnmatch(traits[i].pattern, name, 0) == 0)
			return &traits[i];
	}
	return &plain;
}

static const char *parent_of(const struct env *env, const char *name)
{
	return env->arch->debugfs_parent ? env->arch->debugfs_parent(name) : NULL;
}

bool kvm_counter_is_child(const struct env *env, const char *name)
{
	return parent_of(env, name) != NULL;
}

void kvm_counter_add(const struct provider_args *args, const char *name, enum field_kind kind,
		     unsigned int part, uint32_t *ret_field)
{
	const struct trait *trait = trait_of(name);
	const char *parent = parent_of(args->env, name);
	struct field spec = {
		.name = name,
		.parent = parent ? fields_find(args->fields, parent) : FIELD_NONE,
		.source = args->source,
		.kind = trait->kind == FIELD_COUNTER ? kind : trait->kind,
		.part = part,
		.exit_rank = trait->exit_rank,
		.is_idle = trait->is_idle,
	};
	uint32_t id = FIELD_NONE;

	if (!trait->is_time)
		id = fields_add(args->fields, &spec);
	if (id != FIELD_NONE && fields_get(args->fields, id)->source != args->source)
		id = FIELD_NONE;
	*ret_field = id;
}

uint64_t kvm_counter_level(uint64_t value)
{
	return value > INT64_MAX ? 0 : value;
}
