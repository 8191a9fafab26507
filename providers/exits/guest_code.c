// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes paths of the tree of calls from the program counters at which guests left. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/field.h"
#include "lib/array.h"
#include "lib/hash.h"
#include "providers/exits/stacks.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define NAME_SIZE 256

/* What was counted for a key: in the map and in a slot of the thread's record. */
struct counted {
	UT_hash_handle hh;
	struct exits_pc_key key;
	struct exits_pc_sum given; /* what samples have of it */
	struct exits_pc_sum now;
	bool is_in_map, is_in_slot, was_absent;
};

struct exits_guest_code {
	struct exits_guest_code_config config;
	struct guest_functions *functions;
	struct exits_long_cells cells;
	struct counted *counted;
	uint64_t lost_ns; /* as of the call before */
	/* Of a reading. */
	struct exits_pc_key *keys, *idle;
	struct exits_pc_sum *sums;
	uint32_t nr_idle; /* entries of the map to which nothing was added */
};

struct exits_guest_code *exits_guest_code_new(const struct exits_guest_code_config *config)
{
	struct exits_guest_code *code = xcalloc(1, sizeof(*code));

	code->config = *config;
	code->functions = guest_functions_new(&config->functions);
	code->keys = xcalloc(EXITS_PCS, sizeof(*code->keys));
	code->idle = xcalloc(EXITS_PCS, sizeof(*code->idle));
	code->sums = xcalloc(EXITS_PCS, sizeof(*code->sums));
	return code;
}

static void forget(struct exits_guest_code *code, struct counted *counted)
{
	HASH_DEL(code->counted, counted);
	free(counted);
}

void exits_guest_code_free(struct exits_guest_code *code)
{
	struct counted *counted, *next;

	if (!code)
		return;
	HASH_ITER(hh, code->counted, counted, next)
		forget(code, counted);
	guest_functions_free(code->functions);
	free(code->keys);
	free(code->idle);
	free(code->sums);
	free(code);
}

/* ---- the vCPU and the function of a count */

static const volatile struct exits_thread *record_of(const struct exits_guest_code *code,
						     const struct exits_pc_key *key)
{
	const struct exits_bpf *bpf = code->config.bpf;

	return key->record < bpf->max_threads ? exits_bpf_thread(bpf, key->record) : NULL;
}

static const struct guest *guest_of(const struct exits_guest_code *code,
				    const struct exits_pc_key *key,
				    struct exits_vcpu_id *ret_owner)
{
	const volatile struct exits_thread *record = record_of(code, key);
	bool may_name;

	*ret_owner = (struct exits_vcpu_id){ GUEST_NONE, -1 };
	if (record && record->tid)
		exits_threads_owner(code->config.threads, record, ret_owner, &may_name);
	return guests_find(code->config.functions.guests, ret_owner->guest);
}

static bool is_of_kernel(const struct exits_pc_key *key)
{
	return (int64_t)key->pc < 0;
}

/* ---- paths */

static uint32_t function_of(struct exits_guest_code *code, const struct exits_pc_key *key,
			    uint32_t guest)
{
	const volatile struct exits_thread *record = record_of(code, key);
	struct stacks *stacks = code->config.stacks;
	char name[NAME_SIZE];

	if (!key->pc || !record || exits_long_is_protected(&code->cells, record))
		return stacks_function(stacks, "[unknown]", FUNCTION_GUEST);
	if (key->pc == EXITS_PC_USER)
		return stacks_function(stacks, "[user]", FUNCTION_GUEST_USER);
	if (key->pc == EXITS_PC_NESTED)
		return stacks_function(stacks, "[nested guest]", FUNCTION_GUEST);
	guest_functions_name(code->functions, guest, key->pc, name, sizeof(name));
	return stacks_function(stacks, name, FUNCTION_GUEST_KERNEL);
}

static void add(struct exits_guest_code *code, const struct counted *counted, struct stack_sums *to)
{
	const struct exits_pc_key *key = &counted->key;
	const struct exits_code *exit = &code->config.bpf->codes[key->cell % EXITS_CELLS];
	uint32_t reason = exits_names_cell(code->config.names, exit);
	struct stack_item item = {
		.ns = (int64_t)(counted->now.ns - counted->given.ns),
		.count = counted->now.count - counted->given.count,
	};
	struct exits_vcpu_id owner;
	uint32_t node;

	guest_of(code, key, &owner);
	node = stacks_exit(code->config.stacks, fields_get(code->config.fields, reason)->label,
			   reason, exits_names_flags(code->config.names, exit) & REASON_IDLE);
	node = stacks_call(code->config.stacks, node, function_of(code, key, owner.guest));
	item.key = (struct key){ owner.guest, owner.index, node };
	stack_sums_add(to, &item);
}

/* ---- what is new */

static struct counted *count(struct exits_guest_code *code, const struct exits_pc_key *key,
			     const struct exits_pc_sum *sum)
{
	struct counted *counted;

	HASH_FIND(hh, code->counted, key, sizeof(*key), counted);
	if (!counted) {
		counted = xcalloc(1, sizeof(*counted));
		counted->key = *key;
		hash_add(code->counted, key, counted);
	}
	counted->now.ns += sum->ns;
	counted->now.count += sum->count;
	return counted;
}

/* False: it is free, or changes its key. */
static bool read_slot(const volatile struct exits_pc_slot *slot, struct exits_pc_slot *ret_slot)
{
	ret_slot->pc = slot->pc;
	ret_slot->cell = slot->cell;
	ret_slot->sum.count = slot->sum.count;
	ret_slot->sum.ns = slot->sum.ns;
	return ret_slot->sum.count && slot->sum.count >= ret_slot->sum.count &&
	       slot->pc == ret_slot->pc && slot->cell == ret_slot->cell;
}

static void count_slots(struct exits_guest_code *code, uint32_t number)
{
	const volatile struct exits_thread *record = exits_bpf_thread(code->config.bpf, number);

	for (size_t i = 0; record->tid && i < ARRAY_SIZE(record->pcs); i++) {
		struct exits_pc_key key = { .record = number };
		struct exits_pc_slot slot;

		if (!read_slot(&record->pcs[i], &slot))
			continue;
		key.pc = slot.pc;
		key.cell = slot.cell;
		count(code, &key, &slot.sum)->is_in_slot = true;
	}
}

static void want_name(struct exits_guest_code *code, const struct exits_pc_key *key)
{
	struct exits_vcpu_id owner;
	const struct guest *guest = is_of_kernel(key) ? guest_of(code, key, &owner) : NULL;

	if (guest)
		guest_functions_want(code->functions, guest, (pid_t)record_of(code, key)->tid,
				     key->pc);
}

/* While the guest's names are read its counts wait. */
static bool has_names(const struct exits_guest_code *code, const struct exits_pc_key *key)
{
	struct exits_vcpu_id owner;

	guest_of(code, key, &owner);
	return !is_of_kernel(key) || !guest_functions_are_being_read(code->functions, owner.guest);
}

bool exits_guest_code_is_ready(const struct exits_guest_code *code)
{
	return guest_functions_are_ready(code->functions);
}

/*
 * A sum is too small, or absent, when it moves from the slot to the map meanwhile: next time it is
 * whole. An entry of the map that is idle is to be removed: to another one the program may be
 * adding just then.
 */
static void give(struct exits_guest_code *code, struct counted *counted, struct stack_sums *to)
{
	bool is_new = counted->now.count > counted->given.count;
	bool is_absent = !counted->is_in_map && !counted->is_in_slot;
	bool is_idle = counted->now.count == counted->given.count && !counted->is_in_slot;

	if (is_new && has_names(code, &counted->key)) {
		add(code, counted, to);
		counted->given = counted->now;
	} else if (is_idle || (is_absent && counted->was_absent)) {
		if (counted->is_in_map)
			code->idle[code->nr_idle++] = counted->key;
		forget(code, counted);
		return;
	}
	counted->was_absent = is_absent;
	counted->now = (struct exits_pc_sum){ 0 };
	counted->is_in_map = counted->is_in_slot = false;
}

void exits_guest_code_take(struct exits_guest_code *code, const struct exits_pc_key *keys,
			   const struct exits_pc_sum *sums, uint32_t nr, struct stack_sums *to)
{
	struct counted *counted, *next;

	code->nr_idle = 0;
	exits_long_look(&code->cells, code->config.names, code->config.bpf->codes, true);
	for (uint32_t i = 0; i < nr; i++)
		count(code, &keys[i], &sums[i])->is_in_map = true;
	for (uint32_t i = 0; i < code->config.bpf->max_threads; i++)
		count_slots(code, i);
	HASH_ITER(hh, code->counted, counted, next) {
		if (counted->now.count > counted->given.count)
			want_name(code, &counted->key);
	}
	guest_functions_prepare(code->functions);
	HASH_ITER(hh, code->counted, counted, next)
		give(code, counted, to);
}

static void remove_entry(const struct exits_guest_code *code, const struct exits_pc_key *key)
{
	bpf_map_delete_elem(bpf_map__fd(code->config.bpf->program->maps.pcs), key);
}

int exits_guest_code_collect(struct exits_guest_code *code, struct stack_sums *sums,
			     struct error *error)
{
	const struct exits_program *program = code->config.bpf->program;
	uint64_t lost_ns = program->bss->lost_pc_ns;
	uint32_t batch, nr = EXITS_PCS;
	int err = bpf_map_lookup_batch(bpf_map__fd(program->maps.pcs), NULL, &batch, code->keys,
				       code->sums, &nr, NULL);

	if (err && err != -ENOENT) /* that is: these are all */
		return error_set(error, err, "cannot read where guests left: %s", strerror(-err));
	exits_guest_code_take(code, code->keys, code->sums, nr, sums);
	for (uint32_t i = 0; i < code->nr_idle; i++)
		remove_entry(code, &code->idle[i]);
	guest_functions_report(code->functions, error);
	sums->lost_ns = lost_ns - code->lost_ns;
	code->lost_ns = lost_ns;
	return 0;
}

void exits_guest_code_release(struct exits_guest_code *code, uint32_t number)
{
	struct counted *counted, *next;

	HASH_ITER(hh, code->counted, counted, next) {
		if (counted->key.record != number)
			continue;
		remove_entry(code, &counted->key);
		forget(code, counted);
	}
}
