// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The code of a recording's vCPUs, by samples with stacks: names them, and adds up the time of each
 * in the exit that was open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/env.h"
#include "host/functions.h"
#include "host/kallsyms.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "trace/exits/recording.h"

#define KNOWN_MAX 65536
#define THREADS_MAX 16384 /* that have samples, and so do not end */
#define NAME_SIZE 256

/* A stack of a process, and its path below the root. */
struct known_stack {
	UT_hash_handle hh;
	uint32_t node;
	bool is_in_kvm; /* KVM_RUN is in it */
	struct stack_of {
		int32_t pid;
		uint32_t file, maps, nr_kernel;
		uint64_t addresses[];
	} key;
};

struct code_sum_key {
	const struct recorded_thread *thread;
	const struct exit_count *exit; /* NULL: none was open */
	uint64_t node;
};

struct code_sum {
	UT_hash_handle hh;
	struct code_sum_key key;
	int64_t ns;
	uint64_t count;
};

struct recorded_code {
	const struct trace *trace;
	struct env env; /* of this machine's files */
	struct functions *functions;
	struct recorded_kernel {
		bool has_tried, is_this;
	} *kernels; /* by file */
	size_t room_kernels;
	struct stacks *stacks; /* of functions alone */
	struct known_stack *known;
	struct code_sum *sums;
	size_t nr_threads;
	uint64_t lost_ns;
};

struct recorded_code *recorded_code_new(const struct trace *trace)
{
	struct recorded_code *code = xcalloc(1, sizeof(*code));

	code->trace = trace;
	code->env.root = "";
	code->functions = functions_new(&code->env);
	code->stacks = stacks_new();
	return code;
}

void recorded_code_free(struct recorded_code *code)
{
	if (!code)
		return;
	hash_free(code->known, free);
	hash_free(code->sums, free);
	free(code->kernels);
	functions_free(code->functions);
	stacks_free(code->stacks);
	free(code);
}

/* ---- names */

/* Whether it was recorded here since the kernel was booted: addresses change with that. */
static bool is_of_this_kernel(const struct recorded_code *code, size_t file,
			      const struct trace_place *place)
{
	const char *symbol = strchr(place->path, ']');

	return symbol && functions_kernel_is(code->functions, place->build_id,
					     trace_file(code->trace, file)->release, symbol + 1,
					     place->begin);
}

/* "kvm_vcpu_ioctl"; else "kvm.ko+0x1234", "[kernel]+0x1234". */
static void name_of_kernel(struct recorded_code *code, const struct trace_event *event,
			   uint64_t address, char *buf, size_t size)
{
	const struct kallsyms *symbols = trace_symbols(code->trace, event->file);
	const char *name = symbols ? kallsyms_function(symbols, address) : NULL;
	struct recorded_kernel *kernel;
	struct trace_place place;
	bool is_image;

	if (name) {
		name_put(buf, size, "%s", name);
		return;
	}
	if (!trace_locate(code->trace, event, address, true, &place)) {
		snprintf(buf, size, "[kernel]");
		return;
	}
	array_grow(&code->kernels, &code->room_kernels, event->file + 1);
	kernel = &code->kernels[event->file];
	is_image = strncmp(place.path, "[kernel", 7) == 0; /* and no module: "[kvm]" */
	if (is_image && !kernel->has_tried)
		kernel->is_this = is_of_this_kernel(code, event->file, &place);
	kernel->has_tried |= is_image;
	if (kernel->is_this)
		functions_of_kernel(code->functions, address, buf, size);
	else if (is_image)
		snprintf(buf, size, "[kernel]+0x%" PRIx64, place.offset);
	else
		snprintf(buf, size, "%s+0x%" PRIx64, path_base(place.path), place.offset);
}

static void name_of_process(struct recorded_code *code, const struct trace_event *event,
			    uint64_t address, char *buf, size_t size)
{
	struct trace_place place;

	if (trace_locate(code->trace, event, address, false, &place))
		functions_of_file(code->functions, place.path, place.build_id, place.offset, buf,
				  size);
	else
		snprintf(buf, size, "[unknown]");
}

static void make_path(struct recorded_code *code, const struct trace_event *event,
		      struct known_stack *known)
{
	const struct trace_stack *stack = event->stack;
	uint32_t node = STACK_ROOT;
	char name[NAME_SIZE];

	for (uint32_t i = stack->nr; i-- > 0;) {
		bool is_kernel = i < stack->nr_kernel;
		/* A call is before its return. */
		uint64_t at = stack->addresses[i] - (i && i != stack->nr_kernel);

		if (is_kernel)
			name_of_kernel(code, event, at, name, sizeof(name));
		else
			name_of_process(code, event, at, name, sizeof(name));
		known->is_in_kvm |= is_kernel && (!strcmp(name, "kvm_vcpu_ioctl") ||
						  !strcmp(name, "kvm_arch_vcpu_ioctl_run"));
		node = stacks_call(code->stacks, node,
				   stacks_function(code->stacks, name,
						   is_kernel ? FUNCTION_KERNEL : FUNCTION_VMM));
	}
	known->node = node;
}

static const struct known_stack *look_up(struct recorded_code *code,
					 const struct trace_event *event)
{
	const struct trace_stack *stack = event->stack;
	size_t size = stack->nr * sizeof(stack->addresses[0]);
	struct known_stack *made = xcalloc(1, sizeof(*made) + size), *known;

	made->key.pid = event->pid;
	made->key.file = event->file;
	made->key.maps = trace_count_maps(code->trace, event);
	made->key.nr_kernel = stack->nr_kernel;
	memcpy(made->key.addresses, stack->addresses, size);
	size += sizeof(made->key);
	HASH_FIND(hh, code->known, &made->key, size, known);
	if (known) {
		free(made);
		return known;
	}
	if (HASH_COUNT(code->known) == KNOWN_MAX)
		hash_free(code->known, free);
	make_path(code, event, made);
	HASH_ADD_KEYPTR(hh, code->known, &made->key, size, made);
	return made;
}

/* ---- samples */

/* The thread of a vCPU; a thread in KVM_RUN is one. NULL: it is none, or there are too many. */
static struct recorded_thread *thread_of(struct recorded_code *code, struct table *table,
					 const struct trace_event *event, bool is_in_kvm)
{
	struct recorded_thread *thread = table_find_tid(table, event, event->tid);

	if (!thread && is_in_kvm && code->nr_threads < THREADS_MAX)
		thread = table_thread(table, event);
	if (!thread || thread->is_others || !(thread->is_vcpu || is_in_kvm))
		return NULL;
	if (!thread->has_code && code->nr_threads == THREADS_MAX)
		return NULL;
	thread->is_vcpu = true;
	if (!thread->has_code) {
		thread->has_code = true;
		code->nr_threads++;
	}
	return thread;
}

/* As live: where KVM traces no exits an exit to user space ends before KVM_RUN begins. */
static const struct exit_count *exit_of(const struct recorded_thread *thread, bool is_in_kvm)
{
	const struct thread_state *state = table_state(thread);

	const struct exit_count *exit = state_open(state, EXITS_VMEXIT);

	return exit || is_in_kvm ? exit : state_open(state, EXITS_USERSPACE);
}

static void add_sum(struct recorded_code *code, const struct code_sum_key *key, uint64_t ns)
{
	struct code_sum *sum;

	HASH_FIND(hh, code->sums, key, sizeof(*key), sum);
	if (!sum && HASH_COUNT(code->sums) == STACKS_SUMS) {
		code->lost_ns += ns;
		return;
	}
	if (!sum) {
		sum = xcalloc(1, sizeof(*sum));
		sum->key = *key;
		hash_add(code->sums, key, sum);
	}
	stack_ns_add(&sum->ns, (int64_t)ns);
	sum->count++;
}

struct recorded_thread *recorded_code_find(struct recorded_code *code, struct table *table,
					   const struct trace_event *event,
					   uint32_t *ret_node, bool *ret_is_in_kvm)
{
	const struct known_stack *known;

	if (!event->stack->nr || event->tid < 0)
		return NULL;
	known = look_up(code, event);
	*ret_node = known->node;
	if (ret_is_in_kvm)
		*ret_is_in_kvm = known->is_in_kvm;
	return thread_of(code, table, event, known->is_in_kvm);
}

const struct stacks *recorded_code_stacks(const struct recorded_code *code)
{
	return code->stacks;
}

void recorded_code_add(struct recorded_code *code, struct pairing *pairing,
		       const struct trace_event *event)
{
	struct code_sum_key key = { .thread = NULL };
	bool is_in_kvm;
	uint32_t node;
	struct recorded_thread *thread = recorded_code_find(code, &pairing->table, event, &node,
							    &is_in_kvm);

	if (!thread)
		return;
	pairing_see(pairing, event->time);
	thread->last = event->time;
	key.thread = thread;
	key.exit = exit_of(thread, is_in_kvm);
	key.node = node;
	add_sum(code, &key, event->stack->ns);
}

/* ---- the sums of a sample */

static uint32_t call_of(const struct stacks *from, uint32_t node, struct stacks *to, uint32_t exit)
{
	const struct stack_node *at = stacks_node_at(from, node);
	const struct stack_function *function;

	if (node == STACK_ROOT)
		return exit;
	function = stacks_function_at(from, at->function);
	return stacks_call(to, call_of(from, at->parent, to, exit),
			   stacks_function(to, function->name, function->side));
}

void recorded_code_sums(const struct recording *recording, const struct fields *fields,
			struct stacks *to, struct stack_sums *ret_sums)
{
	const struct recorded_code *code = recording->code;
	const struct code_sum *sum;

	if (!code)
		return;
	for (sum = code->sums; sum; sum = sum->hh.next) {
		const struct recorded_vcpu *vcpu = &recording->vcpus[sum->key.thread->index];
		const struct exit_count *exit = sum->key.exit;
		bool is_known = exit && exit->field;
		uint32_t reason = is_known ? exit->field - 1 : FIELD_NONE, node;

		node = stacks_exit(to, is_known ? fields_get(fields, reason)->label : "[no exit]",
				   reason, is_known && fields_get(fields, reason)->is_idle);
		stack_sums_add(ret_sums, &(struct stack_item){
			.key = { vcpu->guest, vcpu->vcpu,
				 call_of(code->stacks, (uint32_t)sum->key.node, to, node) },
			.ns = sum->ns,
			.count = sum->count,
		});
	}
	ret_sums->lost_ns += code->lost_ns;
	ret_sums->clock = "Samples are the recording's.";
}
