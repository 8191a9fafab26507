// SPDX-License-Identifier: GPL-2.0-or-later
/* From counts by program counter to paths of guests' functions: nothing twice, and all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/facts/shared_fields.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "providers/exits/stacks.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"
#include "tests/unit/unit.h"
#include "tests/worlds/thread_records.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define RECORDS 3
#define EXTRA 2 /* the record with the slots of the first one */
#define ENTRIES 4

enum { CELL_OTHER, CELL_HLT, CELL_MSR, CELL_VMGEXIT };

/* A machine with SVM: the codes are the processor's. */
static const struct exits_code codes[EXITS_CELLS] = {
	[CELL_HLT] = { 0x78, EXITS_VMEXIT, 1, 0 },
	[CELL_MSR] = { 0x7c, EXITS_VMEXIT, 1, 0 },
	[CELL_VMGEXIT] = { 0x403, EXITS_VMEXIT, 1, 0 },
};

struct world {
	struct env env;
	struct guests *guests;
	struct fields *fields;
	struct stacks *stacks;
	struct exits_names *names;
	struct exits_threads *threads;
	struct exits_thread records[RECORDS];
	struct exits_program program; /* without maps: nothing can be removed from them */
	struct exits_program__bss bss;
	struct exits_bpf bpf;
	struct guest_kallsyms file;
	struct guest_functions *functions;
	struct exits_guest_code *code;
	struct exits_pc_key keys[ENTRIES]; /* of the map */
	uint64_t counts[ENTRIES];
	uint32_t nr;
	struct stack_sums taken;
	uint32_t guest; /* its vCPU 0 is this very thread */
};

static void begin_code(struct world *w, size_t nr_files)
{
	exits_guest_code_free(w->code);
	guest_functions_free(w->functions);
	w->functions = guest_functions_new(&(struct guest_functions_config){
		.env = &w->env, .guests = w->guests, .files = &w->file, .nr_files = nr_files });
	w->code = exits_guest_code_new(&(struct exits_stacks_config){
		.env = &w->env, .guests = w->guests, .functions = w->functions,
		.names = w->names, .bpf = &w->bpf, .threads = w->threads, .fields = w->fields,
		.stacks = w->stacks });
}

static int setup(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 t send_ipi\n"
				   "ffffffff81000200 T next\n";
	struct vcpu vcpus[] = { { .index = 0, .tid = getpid() } };
	const struct guest web1 = { .pid = getpid(), .name = "web1", .vmm = "qemu",
				    .is_named = true, .nr_vms = 1, .vcpus = vcpus, .nr_vcpus = 1 };
	struct world *w = calloc(1, sizeof(*w));
	struct error error = { "" };
	struct provider_args args;

	assert_non_null(w);
	assert_int_equal(env_init(&w->env, "", &error), 0);
	w->guests = guests_new(NULL);
	w->fields = fields_new();
	w->stacks = stacks_new();
	w->guest = guests_add(w->guests, &web1);
	args = (struct provider_args){ .env = &w->env, .guests = w->guests, .fields = w->fields };
	w->names = exits_names_new(&args, &arch_by_name("SVM")->splits[0], EXIT_FIELDS_PARTS);
	w->threads = exits_threads_new(&(struct exits_threads_config){
		.env = &w->env, .guests = w->guests, .names = w->names, .fields = w->fields,
		.codes = codes, .max_threads = RECORDS, .is_timed = true, .clock = clock_now_ns });
	w->bpf = (struct exits_bpf){ .config = { .max_threads = RECORDS, .has_pcs = true },
				     .max_threads = RECORDS, .codes = codes,
				     .program = &w->program, .bss = &w->bss,
				     .records = { w->records, RECORDS, { NULL } } };
	w->file.guest = "web1";
	assert_int_equal(kallsyms_parse(strdup(text), sizeof(text) - 1, "f", &w->file.symbols,
					&error), 0);
	begin_code(w, 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	exits_guest_code_free(w->code);
	guest_functions_free(w->functions);
	kallsyms_free(w->file.symbols);
	exits_threads_free(w->threads);
	exits_names_free(w->names);
	stack_sums_release(&w->taken);
	stacks_free(w->stacks);
	fields_free(w->fields);
	guests_free(w->guests);
	env_release(&w->env);
	free(w);
	return 0;
}

/* A slot of the record of this thread. */
static void slot(struct world *w, size_t i, uint64_t pc, uint32_t cell, uint64_t count)
{
	struct exits_thread *record = &w->records[0];

	record->tid = record->tgid = (uint32_t)getpid();
	record->vcpu = EXITS_NO_VCPU;
	record->first_ns = 1;
	record_reason(record, cell);
	record->extra = EXTRA + 1;
	w->records[EXTRA].has.pcs[i] = (struct exits_pc_slot){ .pc = pc, .cell = cell,
							       .count = count };
}

static void entry(struct world *w, uint32_t i, uint64_t pc, uint32_t cell, uint64_t count)
{
	w->keys[i] = (struct exits_pc_key){ .pc = pc, .record = 0, .cell = cell };
	w->counts[i] = count;
}

/* "MSR;_text 3,hlt;[user] 1": the paths of this sample, in their order. */
static const char *take(struct world *w)
{
	static char text[512];
	size_t at = 0;

	text[0] = '\0';
	stack_sums_reset(&w->taken);
	exits_threads_begin(w->threads);
	exits_threads_take(w->threads, &w->records[0]);
	exits_guest_code_take(w->code, w->keys, w->counts, w->nr, &w->taken);
	for (size_t i = 0; i < w->taken.nr; i++) {
		const struct stack_item *item = &w->taken.list[i];
		const struct stack_node *node = stacks_node_at(w->stacks, item->key.field);
		const struct stack_node *exit = stacks_node_at(w->stacks, node->parent);

		assert_int_equal(item->key.guest, w->guest);
		assert_int_equal(item->key.vcpu, 0);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s;%s %d", i ? "," : "",
				       stacks_function_at(w->stacks, exit->function)->name,
				       stacks_function_at(w->stacks, node->function)->name,
				       (int)item->exits);
	}
	return text;
}

TEST(new_counts_only, setup, teardown)
{
	struct world *w = *state;

	slot(w, 3, KERNEL + 0x10, CELL_MSR, 3);
	slot(w, 9, EXITS_PC_USER, CELL_MSR, 2);
	assert_string_equal(take(w), "msr;0xffffffff81000010 3,msr;[user] 2");
	assert_string_equal(take(w), "");
	slot(w, 3, KERNEL + 0x10, CELL_MSR, 4);
	assert_string_equal(take(w), "msr;0xffffffff81000010 1");
}

/* Addresses of one function are one function. */
TEST(names_by_the_file, setup, teardown)
{
	struct world *w = *state;
	char name[32];

	begin_code(w, 1);
	slot(w, 0, KERNEL + 0x10, CELL_MSR, 3);
	slot(w, 1, KERNEL + 0x100, CELL_MSR, 5);
	slot(w, 2, KERNEL + 0x1ff, CELL_MSR, 6);
	slot(w, 3, KERNEL + 0x1ff, CELL_HLT, 7);
	slot(w, 4, KERNEL - 1, CELL_MSR, 8);
	slot(w, 5, 0, CELL_MSR, 9);
	slot(w, 6, EXITS_PC_NESTED, CELL_MSR, 1);
	assert_string_equal(take(w), "msr;_text 3,msr;send_ipi 11,hlt;send_ipi 7,"
				     "msr;0xffffffff80ffffff 8,msr;[unknown] 9,"
				     "msr;[nested guest] 1");
	assert_true(guest_functions_name(w->functions, w->guest, KERNEL + 0x105, true, name,
					 sizeof(name)));
	assert_string_equal(name, "send_ipi+0x5");
	assert_false(guest_functions_name(w->functions, w->guest, KERNEL - 1, true, name,
					  sizeof(name)));
	w->file.guest = "web2"; /* another one's file */
	begin_code(w, 1);
	memset(&w->records[EXTRA], 0, sizeof(w->records[EXTRA]));
	slot(w, 0, KERNEL + 0x10, CELL_MSR, 3);
	assert_string_equal(take(w), "msr;0xffffffff81000010 3");
}

/* From the slot to the map, and back: a moment at which neither has all is waited for. */
TEST(counts_that_move, setup, teardown)
{
	struct world *w = *state;

	slot(w, 0, KERNEL, CELL_MSR, 5);
	take(w);
	slot(w, 0, 0, CELL_MSR, 0);
	assert_string_equal(take(w), "");
	w->nr = 1;
	entry(w, 0, KERNEL, CELL_MSR, 6);
	assert_string_equal(take(w), "msr;0xffffffff81000000 1");
	slot(w, 1, KERNEL, CELL_MSR, 2);
	assert_string_equal(take(w), "msr;0xffffffff81000000 2");
	slot(w, 1, KERNEL, CELL_MSR, 3);
	entry(w, 0, KERNEL, CELL_MSR, 7);
	assert_string_equal(take(w), "msr;0xffffffff81000000 2");
}

/* What found no room in the map is gone, and begins at 0 when it is there again. */
TEST(counts_that_are_lost, setup, teardown)
{
	struct world *w = *state;

	slot(w, 0, KERNEL, CELL_MSR, 5);
	take(w);
	slot(w, 0, 0, CELL_MSR, 0);
	take(w);
	take(w);
	slot(w, 0, KERNEL, CELL_MSR, 2);
	assert_string_equal(take(w), "msr;0xffffffff81000000 2");
}

/* An entry that is idle is removed from the map, and begins at 0 when it is there again. */
TEST(idle_entries, setup, teardown)
{
	struct world *w = *state;

	slot(w, 0, KERNEL, CELL_HLT, 1);
	w->nr = 1;
	entry(w, 0, KERNEL, CELL_MSR, 5);
	assert_string_equal(take(w), "msr;0xffffffff81000000 5,hlt;0xffffffff81000000 1");
	assert_string_equal(take(w), "");
	entry(w, 0, KERNEL, CELL_MSR, 2);
	assert_string_equal(take(w), "msr;0xffffffff81000000 2");
}

/* Its program counters are no one's business, or are what is left from its start. */
TEST(a_guest_that_is_protected, setup, teardown)
{
	struct world *w = *state;

	slot(w, 0, KERNEL, CELL_MSR, 5);
	slot(w, 1, KERNEL, CELL_VMGEXIT, 1);
	assert_string_equal(take(w), "msr;[unknown] 5,vmgexit;[unknown] 1");
}

TEST(a_record_of_another_thread, setup, teardown)
{
	struct world *w = *state;

	slot(w, 0, KERNEL, CELL_MSR, 5);
	take(w);
	exits_guest_code_release(w->code, 1);
	assert_string_equal(take(w), "");
	exits_guest_code_release(w->code, 0);
	slot(w, 0, KERNEL, CELL_MSR, 2);
	assert_string_equal(take(w), "msr;0xffffffff81000000 2");
}
