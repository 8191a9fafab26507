// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes paths of the tree of calls from the program counters at which guests left. */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
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
	uint64_t given; /* what samples have of it */
	uint64_t now;
	bool is_in_map, is_in_slot, was_absent;
};

struct exits_guest_code {
	struct exits_stacks_config config;
	struct exits_long_cells cells;
	struct counted *counted;
	uint64_t lost; /* as of the call before */
	/* For one reading: */
	struct exits_pc_key *keys, *idle;
	uint64_t *counts;
	uint32_t nr_idle; /* entries of the map to which nothing was added */
};

struct exits_guest_code *exits_guest_code_new(const struct exits_stacks_config *config)
{
	struct exits_guest_code *code = xcalloc(1, sizeof(*code));

	code->config = *config;
	code->lost = config->bpf->bss->lost_pcs;
	code->keys = xcalloc(EXITS_PCS, sizeof(*code->keys));
	code->idle = xcalloc(EXITS_PCS, sizeof(*code->idle));
	code->counts = xcalloc(EXITS_PCS, sizeof(*code->counts));
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
	free(code->keys);
	free(code->idle);
	free(code->counts);
	free(code);
}

/* ---- the guest and the function of an address */

static const volatile struct exits_thread *record_of(const struct exits_guest_code *code,
						     uint32_t number)
{
	const struct exits_bpf *bpf = code->config.bpf;

	return number < bpf->max_threads ? exits_bpf_thread(bpf, number) : NULL;
}

static struct exits_vcpu_id owner_of(const struct exits_guest_code *code, uint32_t number)
{
	const volatile struct exits_thread *record = record_of(code, number);
	struct exits_vcpu_id owner = { GUEST_NONE, -1 };
	bool may_name;

	if (record && record->tid)
		exits_threads_owner(code->config.threads, record, &owner, &may_name);
	return owner;
}

static bool is_of_kernel(uint64_t pc)
{
	return (int64_t)pc < 0;
}

void exits_guest_code_want(struct exits_guest_code *code, uint32_t number, uint64_t pc)
{
	const volatile struct exits_thread *record = record_of(code, number);

	if (record)
		guest_functions_want(code->config.functions, owner_of(code, number).guest,
				     (pid_t)record->tid, pc);
}

bool exits_guest_code_function(struct exits_guest_code *code, uint32_t number, uint64_t pc,
			       uint32_t *ret_function)
{
	const volatile struct exits_thread *record = record_of(code, number);
	enum function_side side = FUNCTION_GUEST;
	uint32_t guest = owner_of(code, number).guest;
	char name[NAME_SIZE] = "[unknown]";

	if (is_of_kernel(pc) && guest_functions_are_being_read(code->config.functions, guest))
		return false;
	if (!pc || !record || exits_long_is_protected(&code->cells, record)) {
		/* It stays so. */
	} else if (pc == EXITS_PC_USER) {
		strcpy(name, "[user]");
		side = FUNCTION_GUEST_USER;
	} else if (pc == EXITS_PC_NESTED) {
		strcpy(name, "[nested guest]");
	} else {
		if (!guest_functions_name(code->config.functions, guest, pc, false, name,
					  sizeof(name)))
			snprintf(name, sizeof(name), "0x%" PRIx64, pc);
		side = FUNCTION_GUEST_KERNEL;
	}
	stacks_charge(code->config.stacks, record ? record->tgid : 0);
	*ret_function = stacks_function(code->config.stacks, name, side);
	stacks_charge(code->config.stacks, 0);
	return true;
}

/* ---- what is new */

static struct counted *count_code(struct exits_guest_code *code, const struct exits_pc_key *key,
				  uint64_t more)
{
	struct counted *counted = hash_get(code->counted, key, key);

	counted->now += more;
	return counted;
}

/* False: it is free, or changes its key. */
static bool read_slot(const volatile struct exits_pc_slot *slot, struct exits_pc_slot *ret_slot)
{
	ret_slot->pc = slot->pc;
	ret_slot->cell = slot->cell;
	ret_slot->count = slot->count;
	return ret_slot->count && slot->count >= ret_slot->count && slot->pc == ret_slot->pc &&
	       slot->cell == ret_slot->cell;
}

static void count_slots(struct exits_guest_code *code, uint32_t number)
{
	const volatile struct exits_thread *record = exits_bpf_thread(code->config.bpf, number);
	uint32_t extra = record->tid ? record->extra : 0;
	const volatile struct exits_extra *has =
		extra ? &exits_bpf_thread(code->config.bpf, extra - 1)->has : NULL;

	for (size_t i = 0; has && i < ARRAY_SIZE(has->pcs); i++) {
		struct exits_pc_key key = { .record = number };
		struct exits_pc_slot slot;

		if (!read_slot(&has->pcs[i], &slot))
			continue;
		key.pc = slot.pc;
		key.cell = slot.cell;
		count_code(code, &key, slot.count)->is_in_slot = true;
	}
}

/* False: while the guest's names are read its counts wait. */
static bool add_code(struct exits_guest_code *code, const struct counted *counted,
		     struct stack_sums *to)
{
	const struct exits_pc_key *key = &counted->key;
	const struct exits_code *exit = &code->config.bpf->codes[exits_cell_of(key->cell)];
	uint32_t reason = exits_names_cell(code->config.names, exit), node, function;
	struct exits_vcpu_id owner = owner_of(code, key->record);
	struct stack_item item = { .exits = counted->now - counted->given };

	if (!exits_guest_code_function(code, key->record, key->pc, &function))
		return false;
	node = stacks_exit(code->config.stacks, fields_get(code->config.fields, reason)->label,
			   reason, exits_names_flags(code->config.names, exit) & REASON_IDLE);
	stacks_charge(code->config.stacks, record_of(code, key->record)->tgid);
	item.key = (struct key){ owner.guest, owner.index,
				 stacks_call(code->config.stacks, node, function) };
	stacks_charge(code->config.stacks, 0);
	stack_sums_add(to, &item);
	return true;
}

/*
 * A count is too small, or absent, when it moves from the slot to the map meanwhile: next time it
 * is whole. An entry of the map that is idle is to be removed: to another one the program may be
 * adding just then.
 */
static void give(struct exits_guest_code *code, struct counted *counted, struct stack_sums *to)
{
	bool is_new = counted->now > counted->given;
	bool is_absent = !counted->is_in_map && !counted->is_in_slot;
	bool is_idle = counted->now == counted->given && !counted->is_in_slot;

	if (is_new) {
		if (add_code(code, counted, to))
			counted->given = counted->now;
	} else if (is_idle || (is_absent && counted->was_absent)) {
		if (counted->is_in_map)
			code->idle[code->nr_idle++] = counted->key;
		forget(code, counted);
		return;
	}
	counted->was_absent = is_absent;
	counted->now = 0;
	counted->is_in_map = counted->is_in_slot = false;
}

void exits_guest_code_take(struct exits_guest_code *code, const struct exits_pc_key *keys,
			   const uint64_t *counts, uint32_t nr, struct stack_sums *to)
{
	struct counted *counted, *next;

	code->nr_idle = 0;
	exits_long_look(&code->cells, code->config.names, code->config.bpf->codes, true);
	for (uint32_t i = 0; i < nr; i++)
		count_code(code, &keys[i], counts[i])->is_in_map = true;
	for (uint32_t i = 0; i < code->config.bpf->max_threads; i++)
		count_slots(code, i);
	HASH_ITER(hh, code->counted, counted, next) {
		if (counted->now > counted->given)
			exits_guest_code_want(code, counted->key.record, counted->key.pc);
	}
	guest_functions_prepare(code->config.functions);
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
	const struct exits_bpf *bpf = code->config.bpf;
	uint64_t lost = bpf->bss->lost_pcs;
	uint32_t batch, nr = EXITS_PCS;
	int fd = bpf_map__fd(bpf->program->maps.pcs);
	int err = bpf_map_lookup_batch(fd, NULL, &batch, code->keys, code->counts, &nr, NULL);

	if (err && err != -ENOENT) /* that is: these are all */
		return error_set(error, err, "cannot read where guests left: %s", strerror(-err));
	exits_guest_code_take(code, code->keys, code->counts, nr, sums);
	for (uint32_t i = 0; i < code->nr_idle; i++)
		remove_entry(code, &code->idle[i]);
	sums->lost_exits += lost - code->lost;
	code->lost = lost;
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
