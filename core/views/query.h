/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query - what the user asked for, and which fields must be counted to answer it.
 */
#ifndef KVMTOP_CORE_VIEWS_QUERY_H
#define KVMTOP_CORE_VIEWS_QUERY_H

#include "arch/exit_kind.h"
#include "core/views/rollup.h"

struct findings;
struct pattern;
struct thresholds;
struct view;
struct view_row;
struct view_type;

/*
 * What the shown numbers are about: Enter narrows it, Backspace widens it again. A query has these
 * members as its own, and as its scope.
 */
#define SCOPE_MEMBERS \
	uint32_t guest; /* GUEST_ALL, or one guest only */ \
	int32_t vcpu; /* only this vCPU of the guest, if has_vcpu */ \
	uint32_t cpu; /* only vCPUs that are on this host CPU */ \
	uint32_t reason; /* only this exit reason, a field */ \
	uint32_t argument; /* only exits with this argument, a field */ \
	uint32_t function; /* only stacks with this function, a number of facts->stacks */ \
	bool has_vcpu, has_cpu, has_reason, has_argument, has_function;

struct scope { SCOPE_MEMBERS };

/* What the user asked for. */
struct query {
	const struct view_type *type;
	const struct pattern *filter; /* NULL: everything; outlives the query */
	union {
		struct { SCOPE_MEMBERS };
		struct scope scope;
	};
	const struct vcpu_key *only;  /* these vCPUs only, nr_only of them; 0: all */
	size_t nr_only;
	bool is_by_name;	      /* guests that get the guest's name later are meant, too */

	/* The rows, and their order: */
	bool children;		      /* all trees open */
	struct field_set open;	      /* else the trees that are open */
	size_t sort;		      /* column */
	bool reverse;
	bool flat;		      /* children are sorted among all rows, not below parents */
	bool zeros;		      /* with rows that are 0 */
	bool marks_shared_names;      /* see view_row.shares_name */
	bool folds_ended;	      /* what has ended is one row, if there is more than one */
	bool opens_ended;	      /* with the rows themselves below it */
	size_t most_rows;	      /* of a tree: of more, small ones are left out; 0: none is */

	/* Exits, view_exits: */
	enum exit_kind event;	      /* what is counted, */
	unsigned int groups;	      /* and a row for each of these; 0: for each reason */
	bool joins_names;	      /* guests of one name are one guest */

	/* Code, view_where: */
	uint32_t stack_hz;	      /* see struct want */
	bool has_guest_code;
	bool by_argument;	      /* exits are told apart by their arguments */

	/* Long exits, view_long_exits: */
	uint64_t longer_ns;	      /* exits that took longer, */
	bool has_halts;		      /* halts, too, */
	bool has_arguments;	      /* with what they were about, */
	bool is_latest;		      /* only what came with the latest sample, */
	uint64_t after_ns;	      /* and what ended after this time, */
	uint64_t until_ns;	      /* and until then; 0: no limit */

	/* Exits, waits and interrupts, view_exits, view_who and view_interrupts: */
	uint64_t since_ns; /* what counts: all since the start, this long; 0: the last interval */

	/* Findings, view_why: */
	const struct thresholds *thresholds; /* NULL: the defaults */
	const struct findings *followed;     /* a live screen's; NULL: the latest sample's */
};

/*
 * What a filter selects, in every view: the fields that it names, their children, and the arguments
 * of exit reasons that it selects. A filter names a field if it matches, anywhere, one of the
 * field's names: the listed name, "kvm_exit(HLT)"; kvm_stat's name; the label, "HLT"; the name in
 * the dictionary. Trees show less: the children of a named parent only while the tree is open.
 *
 * True without a filter.
 */
bool query_selects(const struct query *query, const struct fields *fields,
		   const struct field *field);
/* Whether the filter selects any field that the query's view shows. */
bool query_selects_any(const struct query *query, const struct fields *fields);

/* Whether the filter names the field itself; true without a filter. */
bool query_names(const struct query *query, const struct field *field);

/*
 * The counter of timed exits that the query is about: the best one (see exits_choose()), unless the
 * filter selects only fields of another one.
 */
struct exits query_exits(const struct query *query, const struct facts *facts, bool by_guest);

/*
 * The fields that must be counted for the query. In a tree, "exit.*HLT" names the
 * child kvm_exit(HLT), "exit" its parent, and "kvm_exit$" the parent without any child. The whole
 * rule is in query.c.
 */
void query_wants(const struct query *query, const struct fields *fields, struct field_set *ret_set);

/* For struct view_type: a view that shows exits. */
bool query_wants_exits(const struct query *query, const struct field *field);
/* What such a view needs: the counts of exits, and the time of the vCPUs. */
bool query_needs_exits(const struct field *field);

/* Whether any field of the query was counted for the guests that the query asks for. */
bool query_is_counted(const struct query *query, const struct facts *facts);

/*
 * How long the interval of the view's counts and rates was, in ns; 0: not known. Each source has an
 * interval of its own.
 */
uint64_t query_elapsed_ns(const struct query *query, const struct facts *facts);

/* Why the view cannot have rows, and where the numbers are; NULL: it can. */
const char *query_lacks(const struct query *query, const struct facts *facts);

/* The duration, in ns, from which long exits are listed for the query; 0: none are. */
uint64_t query_wants_longer(const struct query *query);

/* How often a second the code of vCPU threads is sampled for the query; 0: it is not. */
uint32_t query_wants_stacks(const struct query *query);

/* Whether samples have the guest's code, and each exit is counted by it. */
bool query_wants_guest_code(const struct query *query);

/* The column to sort by when the user chose none. */
size_t query_default_sort(const struct query *query);

/* Whether the query asks for the guest, or for any vCPU of it. */
bool query_has_guest(const struct query *query, uint32_t guest);

/* The keys that the query asks for: by guest and vCPU. */
static inline struct keys query_keys(const struct query *query)
{
	return (struct keys){
		.guest = query->guest, .has_vcpu = query->has_vcpu, .vcpu = query->vcpu,
		.only = query->only, .nr_only = query->nr_only,
	};
}

static inline bool query_has_key(const struct query *query, const struct key *key)
{
	const struct keys keys = query_keys(query);

	return keys_have(&keys, key);
}

/* Whether the query is about one guest, and that guest has ended. */
bool query_is_of_ended(const struct query *query, const struct facts *facts);

/* Changes the query to all vCPUs, on any host CPU, and all reasons of this guest. */
void query_narrow(struct query *query, uint32_t guest);

/* Changes the query to any host CPU, and all reasons, arguments and functions. */
void query_widen(struct query *query);

/*
 * Changes the query to the code of what the row is of: an exit reason, an argument, a long exit, of
 * the row's guest and vCPU if it has them.
 */
bool query_enter_code(struct query *query, const struct view_row *row, const struct facts *facts);

/*
 * Makes a view of a query and the facts: its rows, sorted. Texts stay valid until the guests are
 * refreshed.
 */
void view_build(struct view *view, const struct query *query, const struct facts *facts);

#endif
