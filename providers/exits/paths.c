// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes paths of functions from stacks, each once. */
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "core/facts/field.h"
#include "lib/hash.h"
#include "lib/xalloc.h"
#include "providers/exits/stacks.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define NAME_SIZE 256
#define KNOWN_MOST 65536 /* paths: 9 MiB */
#define SWITCH_FRAMES 12 /* the frames of our own program and its event are among the first */

/* The path of a stack, by a key without its thread; pc is the guest's function in it. */
struct known_stack {
	UT_hash_handle hh;
	struct exits_stack_key key;
	uint32_t node;
};

/* A stack that the kernel keeps: many paths may have it. */
struct kept_stack {
	UT_hash_handle hh;
	uint64_t hash;
};

struct exits_paths {
	struct exits_stacks_config config;
	struct functions *functions;
	struct known_stack *known;
	struct kept_stack *kept;
};

struct exits_paths *exits_paths_new(const struct exits_stacks_config *config)
{
	struct exits_paths *paths = xcalloc(1, sizeof(*paths));

	paths->config = *config;
	paths->functions = functions_new(config->env);
	return paths;
}

void exits_paths_free(struct exits_paths *paths)
{
	if (!paths)
		return;
	hash_free(paths->known, free);
	hash_free(paths->kept, free);
	functions_free(paths->functions);
	free(paths);
}

void exits_paths_begin(struct exits_paths *paths)
{
	functions_look_again(paths->functions);
}

void exits_paths_report(const struct exits_paths *paths, struct error *error)
{
	functions_report(paths->functions, error);
}

/* The functions of a stack, the innermost first. */
struct path {
	uint32_t functions[EXITS_FRAMES];
	size_t nr;
};

/* False: the stack is not there. */
static bool read_frames(const struct exits_paths *paths, uint64_t hash, uint64_t *ret_at)
{
	int fd = bpf_map__fd(paths->config.bpf->stacks->maps.stack_frames);

	return hash && bpf_map_lookup_elem(fd, &hash, ret_at) == 0;
}

static void name_stack(struct exits_paths *paths, const struct exits_stack_key *key,
		       enum function_side side, struct path *path)
{
	bool is_kernel = side == FUNCTION_KERNEL;
	uint64_t at[EXITS_FRAMES];
	char name[NAME_SIZE];

	path->nr = 0;
	if (!read_frames(paths, is_kernel ? key->kernel : key->user, at))
		return;
	for (size_t i = 0; i < EXITS_FRAMES && at[i]; i++) {
		uint64_t address = i ? at[i] - 1 : at[i]; /* a call is before its return */

		if (is_kernel)
			functions_of_kernel(paths->functions, address, name, sizeof(name));
		else
			functions_of_process(paths->functions, (pid_t)key->tgid, address, name,
					     sizeof(name));
		/* What is called from here on belongs to our program. */
		if (is_kernel && key->state == EXITS_STACK_OFF && i < SWITCH_FRAMES &&
		    strcmp(name, "__schedule") == 0)
			path->nr = 0;
		path->functions[path->nr++] = stacks_function(paths->config.stacks, name, side);
	}
}

/*
 * The outermost functions of a thread, such as the C library's, may have no frame pointer: what the
 * walk finds in its place is no code.
 */
static void drop_no_code(const struct exits_paths *paths, struct path *user)
{
	uint32_t unknown = stacks_function(paths->config.stacks, "[unknown]", FUNCTION_VMM);

	while (user->nr > 1 && user->functions[user->nr - 1] == unknown)
		user->nr--;
}

static uint32_t add_calls(struct stacks *stacks, uint32_t node, const struct path *path)
{
	for (size_t i = path->nr; i-- > 0;)
		node = stacks_call(stacks, node, path->functions[i]);
	return node;
}

static uint32_t add_call(struct stacks *stacks, uint32_t node, const char *name,
			 enum function_side side)
{
	return stacks_call(stacks, node, stacks_function(stacks, name, side));
}

/*
 * Where kvm_exit never fires, an exit is the one that user space has, until it has the next one:
 * what KVM does meanwhile is not part of it.
 */
static bool is_in_exit(const struct exits_paths *paths, const struct exits_code *code,
		       const struct path *kernel)
{
	uint32_t run = stacks_function(paths->config.stacks, "kvm_vcpu_ioctl", FUNCTION_KERNEL);
	size_t i = 0;

	while (i < kernel->nr && kernel->functions[i] != run)
		i++;
	return code->kind == EXITS_VMEXIT || i == kernel->nr;
}

static uint32_t exit_of(struct exits_paths *paths, const struct exits_stack_key *key,
			const struct path *kernel)
{
	const struct fields *fields = paths->config.fields;
	struct exits_argument_key argument = key->argument;
	const struct exits_code *code;
	uint32_t field, node;

	code = key->cell < EXITS_CELLS ? &paths->config.bpf->codes[key->cell] : NULL;
	if (!code || !is_in_exit(paths, code, kernel))
		return stacks_no_exit(paths->config.stacks);
	field = exits_names_cell(paths->config.names, code);
	node = stacks_exit(paths->config.stacks, fields_get(fields, field)->label, field,
			   exits_names_flags(paths->config.names, code) & REASON_IDLE);
	if (key->pc)
		node = stacks_call(paths->config.stacks, node, (uint32_t)key->pc);
	if (!argument.kind)
		return node;
	/* The reader of exits has named it already, if there is room for its name. */
	field = exits_names_argument(paths->config.names, &argument, code, false);
	return stacks_argument(paths->config.stacks, node, fields_get(fields, field)->label, field);
}

static uint32_t make_node(struct exits_paths *paths, const struct exits_stack_key *key)
{
	struct stacks *to = paths->config.stacks;
	bool is_off = key->state == EXITS_STACK_OFF;
	/* A thread that sleeps in KVM's halt has no stacks. */
	bool has_kernel = key->kernel || (!key->user && !is_off);
	struct path kernel, user;
	uint32_t node;

	if (key->state == EXITS_STACK_GUEST)
		return add_call(to, stacks_no_exit(to), "[guest]", FUNCTION_GUEST);
	name_stack(paths, key, FUNCTION_KERNEL, &kernel);
	name_stack(paths, key, FUNCTION_VMM, &user);
	drop_no_code(paths, &user);
	node = exit_of(paths, key, &kernel);
	if (key->state == EXITS_STACK_LATE)
		return add_call(to, node, "[interrupts off]", FUNCTION_KERNEL);
	node = add_calls(to, node, &user);
	node = add_calls(to, node, &kernel);
	if (has_kernel ? !kernel.nr : key->user && !user.nr)
		node = add_call(to, node, "[unknown]", has_kernel ? FUNCTION_KERNEL : FUNCTION_VMM);
	if (is_off)
		node = add_call(to, node, "[off CPU]", FUNCTION_OFF);
	return node;
}

/* hash 0: there is none. */
static void keep(struct exits_paths *paths, uint64_t hash)
{
	if (hash)
		(void)hash_get(paths->kept, hash, &hash);
}

uint32_t exits_paths_node(struct exits_paths *paths, const struct exits_stack_key *of,
			  uint32_t guest_function)
{
	struct exits_stack_key key = *of;
	struct known_stack *known;

	key.tid = key.record = 0;
	key.pc = guest_function;
	HASH_FIND(hh, paths->known, &key, sizeof(key), known);
	if (known)
		return known->node;
	known = xcalloc(1, sizeof(*known));
	known->key = key;
	stacks_charge(paths->config.stacks, key.tgid);
	known->node = make_node(paths, &key);
	stacks_charge(paths->config.stacks, 0);
	hash_add(paths->known, key, known);
	keep(paths, key.kernel);
	keep(paths, key.user);
	return known->node;
}

bool exits_paths_are_many(const struct exits_paths *paths)
{
	return HASH_COUNT(paths->kept) >= EXITS_STACKS / 2 ||
	       HASH_COUNT(paths->known) >= KNOWN_MOST;
}

static int compare_hashes(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void exits_paths_forget(struct exits_paths *paths, uint64_t *stay, size_t nr)
{
	int fd = bpf_map__fd(paths->config.bpf->stacks->maps.stack_frames);
	uint64_t hash, *last = NULL, gone = 0;

	if (nr)
		qsort(stay, nr, sizeof(*stay), compare_hashes);
	hash_free(paths->known, free);
	hash_free(paths->kept, free);
	while (bpf_map_get_next_key(fd, last, &hash) == 0) {
		if (gone) /* not before: the next key is after it */
			bpf_map_delete_elem(fd, &gone);
		last = &hash;
		gone = nr && bsearch(&hash, stay, nr, sizeof(*stay), compare_hashes) ? 0 : hash;
		if (!gone)
			keep(paths, hash);
	}
	if (gone)
		bpf_map_delete_elem(fd, &gone);
}
