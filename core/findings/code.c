// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What rules about code measure, where stacks were sampled: of the time of a vCPU's exits the part
 * with one of the host's functions in the stack; or of its exits the part that one function of the
 * guest's kernel made.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings/measure.h"
#include "lib/array.h"
#include "lib/xalloc.h"

#define LEAST_NS UINT64_C(100000000) /* less is ten samples, which may be chance */
#define LEAST_EXITS 100
#define LEAST_BY_VMM 10 /* per cent of a reason's time that is the VMM's */
/* An interval has few samples; so long after it they count half. */
#define HALF_NS 10e9
#define ALL_CODE 0 /* as a function: the root's, which no rule names */

/* Of a function, or of a stack: the rules that name it, as bits. */
struct words {
	uint64_t in, but;
};

/* What a rule measures of a vCPU: in one function, or all of it (ALL_CODE). */
struct code_sum {
	struct key key; /* the field: the function and the rule, see add_function() */
	uint64_t sum;
};

struct code {
	const struct stacks *stacks;
	uint64_t now_ns; /* of the latest sample in the sums below */
	struct words *functions; /* by number, nr_functions; they never change */
	size_t nr_functions, room_functions;
	uint8_t *ranks; /* of words of a rule: each function has one for each rule about code */
	size_t room_ranks;
	struct words *nodes; /* by number, of the stacks up to them */
	size_t room_nodes;
	uint64_t rules, by_vmm, of_guest; /* the rules about code, as bits */
	uint64_t *reasons, *by_vmm_ns; /* by field: the time of exits, and the VMM's of it */
	size_t nr_reasons, room_reasons, room_by_vmm;
	struct code_sum *sums;
	size_t nr_sums, room_sums;
	struct key_index index;
};

void code_free(struct code *code)
{
	if (!code)
		return;
	free(code->functions);
	free(code->ranks);
	free(code->nodes);
	free(code->reasons);
	free(code->by_vmm_ns);
	free(code->sums);
	key_index_release(&code->index);
	free(code);
}

static struct code *code_new(const struct stacks *stacks)
{
	struct code *code = xcalloc(1, sizeof(*code));
	const struct rule *rule;

	code->stacks = stacks;
	for (size_t i = 0; (rule = rule_at(i)); i++) {
		if (rule->measure != MEASURE_CODE)
			continue;
		code->rules |= UINT64_C(1) << i;
		code->by_vmm |= (uint64_t)rule->code.by_vmm << i;
		code->of_guest |= (uint64_t)!rule->code.words << i;
	}
	return code;
}

/* ---- which rules name a function, and are about a stack */

static uint8_t *rank_of(const struct code *code, uint32_t function, uint32_t rule)
{
	uint64_t before = code->rules & ((UINT64_C(1) << rule) - 1);
	size_t nr_rules = (size_t)__builtin_popcountll(code->rules);

	return &code->ranks[function * nr_rules + (size_t)__builtin_popcountll(before)];
}

static struct words words_of(const struct code *code, uint32_t number)
{
	const struct stack_function *function = stacks_function_at(code->stacks, number);
	struct words words = { 0 };

	if (function->side == FUNCTION_GUEST_KERNEL && strncmp(function->name, "0x", 2) != 0)
		return (struct words){ .in = code->of_guest };
	if (function->side != FUNCTION_KERNEL && function->side != FUNCTION_VMM)
		return words;
	for (uint64_t rest = code->rules & ~code->of_guest; rest; rest &= rest - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(rest);
		const struct rule_code *of = &rule_at(i)->code;
		size_t rank = rule_find_function(of->words, function->name);

		words.in |= (uint64_t)(rank > 0) << i;
		*rank_of(code, number, i) = (uint8_t)rank;
		words.but |= (uint64_t)(of->but && rule_find_function(of->but, function->name))
			     << i;
	}
	return words;
}

static void look_at_functions(struct code *code)
{
	size_t nr = stacks_count_functions(code->stacks);

	array_grow(&code->functions, &code->room_functions, nr);
	array_grow(&code->ranks, &code->room_ranks,
		   nr * (size_t)__builtin_popcountll(code->rules));
	for (; code->nr_functions < nr; code->nr_functions++)
		code->functions[code->nr_functions] =
			words_of(code, (uint32_t)code->nr_functions);
}

/* A node has a greater number than its parent. */
static void look_at_stacks(struct code *code)
{
	uint32_t nr = stacks_count_nodes(code->stacks);

	array_grow(&code->nodes, &code->room_nodes, nr);
	code->nodes[STACK_ROOT] = (struct words){ 0 };
	for (uint32_t i = 1; i < nr; i++) {
		const struct stack_node *node = stacks_node_at(code->stacks, i);
		const struct words *parent = &code->nodes[node->parent];
		const struct words *own = &code->functions[node->function];

		code->nodes[i].in = parent->in | own->in;
		code->nodes[i].but = parent->but | own->but;
	}
}

/* ---- exits that the VMM answers */

static bool is_of_vmm(const struct code *code, uint32_t node)
{
	while (node != STACK_ROOT) {
		const struct stack_node *at = stacks_node_at(code->stacks, node);

		if (stacks_function_at(code->stacks, at->function)->side == FUNCTION_VMM)
			return true;
		node = at->parent;
	}
	return false;
}

static void look_at_reasons(struct measure *measure, const struct stack_sums *sums)
{
	struct code *code = measure->code;

	code->nr_reasons = fields_count(measure->facts->fields);
	array_grow(&code->reasons, &code->room_reasons, code->nr_reasons);
	array_grow(&code->by_vmm_ns, &code->room_by_vmm, code->nr_reasons);
	for (size_t i = 0; i < sums->nr; i++) {
		const struct stack_item *item = &sums->list[i];
		uint32_t reason = stacks_node_at(code->stacks, item->key.field)->reason;

		if (reason == FIELD_NONE || item->ns <= 0)
			continue;
		code->reasons[reason] += (uint64_t)item->ns;
		if (is_of_vmm(code, item->key.field))
			code->by_vmm_ns[reason] += (uint64_t)item->ns;
	}
}

static uint64_t rules_of(const struct measure *measure, uint32_t reason)
{
	const struct code *code = measure->code;
	uint64_t rules = measure->rules[reason].what & code->rules;

	if (code->by_vmm_ns[reason] < code->reasons[reason] * LEAST_BY_VMM / 100 ||
	    !code->by_vmm_ns[reason])
		rules &= ~code->by_vmm;
	return rules;
}

/* ---- sums */

/* Of the functions that the rule names the one with the first word, the innermost of several. */
static uint32_t find_function(const struct code *code, uint32_t node, uint32_t rule)
{
	uint32_t found = 0;

	for (; node != STACK_ROOT; node = stacks_node_at(code->stacks, node)->parent) {
		uint32_t at = stacks_node_at(code->stacks, node)->function;

		if (code->functions[at].in >> rule & 1 &&
		    (!found || *rank_of(code, at, rule) < *rank_of(code, found, rule)))
			found = at;
	}
	return found;
}

static void add_sum(struct code *code, const struct key *key, uint64_t more)
{
	size_t at = key_index_add(&code->index, code->sums, sizeof(*code->sums), code->nr_sums,
				  key);

	if (at == code->nr_sums) {
		array_grow_unset(&code->sums, &code->room_sums, at + 1);
		code->sums[code->nr_sums++] = (struct code_sum){ .key = *key };
	}
	code->sums[at].sum += more;
}

static void add_function(struct code *code, const struct key *of, uint32_t function, uint32_t rule,
			 uint64_t more)
{
	const struct key key = { of->guest, of->vcpu, function * RULES_MAX + rule };

	add_sum(code, &key, more);
}

static void add_item(const struct measure *measure, const struct stack_item *item)
{
	struct code *code = measure->code;
	uint32_t node = item->key.field, reason = stacks_node_at(code->stacks, node)->reason;
	const struct words *words = &code->nodes[node];

	if (reason == FIELD_NONE)
		return;
	for (uint64_t rest = rules_of(measure, reason); rest; rest &= rest - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(rest);
		bool is_guest = code->of_guest >> i & 1;
		uint64_t more = is_guest ? item->exits : item->ns > 0 ? (uint64_t)item->ns : 0;
		const struct key of = { item->key.guest, item->key.vcpu, 0 };

		if (!more)
			continue;
		add_function(code, &of, ALL_CODE, i, more);
		if (words->in >> i & 1 && !(words->but >> i & 1))
			add_function(code, &of, find_function(code, node, i), i, more);
	}
}

static void fade_one(uint64_t *sum, double part)
{
	*sum = (uint64_t)((double)*sum * part);
}

/* From now on samples so far count only this part; sums of 0 are forgotten. */
static void fade(struct code *code, double part)
{
	size_t nr = code->nr_sums;

	code->nr_sums = 0;
	key_index_clear(&code->index);
	for (size_t i = 0; i < nr; i++) {
		struct code_sum sum = code->sums[i];

		fade_one(&sum.sum, part);
		if (sum.sum)
			add_sum(code, &sum.key, sum.sum);
	}
	for (size_t i = 0; i < code->nr_reasons; i++) {
		fade_one(&code->reasons[i], part);
		fade_one(&code->by_vmm_ns[i], part);
	}
}

/* Of the host's functions all count, of the guest's the one that makes most exits. */
static void count_sum(struct measure *measure, const struct code_sum *sum)
{
	uint32_t rule = sum->key.field % RULES_MAX, function = sum->key.field / RULES_MAX;
	bool is_guest = measure->code->of_guest >> rule & 1;
	const struct key of = { sum->key.guest, sum->key.vcpu, 0 };
	struct rule_counts *counts = measure_make_counts(measure, &of, rule);

	if (function == ALL_CODE) {
		counts->in_all = sum->sum;
		return;
	}
	if (sum->sum > counts->in_function) {
		counts->in_function = sum->sum;
		counts->function = function;
	}
	counts->in_code = is_guest ? counts->in_function : counts->in_code + sum->sum;
}

static void drop_chance(struct measure *measure)
{
	for (size_t i = 0; i < measure->nr_counts; i++) {
		struct rule_counts *counts = &measure->counts[i];
		bool is_guest = measure->code->of_guest >> counts->rule & 1;

		if (counts->in_code < (is_guest ? LEAST_EXITS : LEAST_NS))
			counts->in_code = 0;
	}
}

/* A sample counts once, however often its findings are wanted. */
static void take_latest(struct measure *measure, const struct stack_sums *sums)
{
	const struct stats *stats = measure->facts->stats;
	struct code *code = measure->code;
	uint64_t now_ns = 0;

	for (uint32_t i = 0; i < SAMPLE_SOURCES; i++)
		now_ns = stats->time_ns[i] > now_ns ? stats->time_ns[i] : now_ns;
	if (!measure->facts->latest_stacks)
		fade(code, 0);
	else if (now_ns > code->now_ns)
		fade(code, exp2(-(double)(now_ns - code->now_ns) / HALF_NS));
	else
		return;
	code->now_ns = now_ns;
	look_at_functions(code);
	look_at_stacks(code);
	look_at_reasons(measure, sums);
	for (size_t i = 0; i < sums->nr; i++)
		add_item(measure, &sums->list[i]);
}

void code_take(struct measure *measure)
{
	const struct facts *facts = measure->facts;
	const struct stack_sums *sums = facts->latest_stacks ? facts->latest_stacks :
							       &facts->stats->stacks;
	struct code *code = measure->code;

	if (code && code->stacks != facts->stacks) {
		code_free(code);
		measure->code = code = NULL;
	}
	if (!facts->stacks || (!code && !sums->nr))
		return;
	if (!code)
		measure->code = code = code_new(facts->stacks);
	take_latest(measure, sums);
	for (size_t i = 0; i < code->nr_sums; i++)
		count_sum(measure, &code->sums[i]);
	drop_chance(measure);
}

const char *measure_function(const struct measure *measure, const struct rule_counts *counts)
{
	return counts->in_function ?
		       stacks_function_at(measure->facts->stacks, counts->function)->name : NULL;
}
