// SPDX-License-Identifier: GPL-2.0-or-later
/* Which stacks the kernel goes on to keep when there may be too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "providers/bpf/bpf.h"
#include "providers/exits/program.h"
#include "providers/exits/stacks.h"
#include "tests/unit/unit.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define STACKS 100

static struct exits_bpf *open_programs(const struct env *env)
{
	const struct exits_bpf_config config = { .env = env, .max_threads = 1, .stack_hz = 99 };
	struct error error = { "" };
	struct exits_bpf *bpf = NULL;

	if (bpf_probe(env, &error) < 0 || exits_bpf_open(&config, &bpf, &error) < 0)
		print_message("BPF is not to be had here: %s\n", error.text);
	return bpf;
}

/* The stack of a thread that sleeps is needed when it is back, however many others there are. */
static void stacks_of_sleepers_stay(void **state)
{
	uint64_t frames[EXITS_FRAMES] = { 1 }, stay[] = { 70, 1000, 3 };
	struct error error = { "" };
	struct exits_bpf *bpf;
	struct exits_paths *paths;
	struct env env;
	int fd;

	(void)state;
	assert_int_equal(env_init(&env, "", &error), 0);
	bpf = env.tracefs ? open_programs(&env) : NULL;
	if (!bpf) {
		env_release(&env);
		skip();
	}
	paths = exits_paths_new(&(struct exits_stacks_config){ .env = &env, .bpf = bpf });
	fd = bpf_map__fd(bpf->program->maps.stack_frames);
	for (uint64_t hash = 1; hash <= STACKS; hash++)
		assert_int_equal(bpf_map_update_elem(fd, &hash, frames, BPF_ANY), 0);
	exits_paths_forget(paths, stay, 3);
	for (uint64_t hash = 1; hash <= STACKS; hash++)
		assert_int_equal(bpf_map_lookup_elem(fd, &hash, frames) == 0,
				 hash == 3 || hash == 70);
	exits_paths_forget(paths, stay, 0);
	for (uint64_t hash = 1; hash <= STACKS; hash++)
		assert_int_not_equal(bpf_map_lookup_elem(fd, &hash, frames), 0);
	assert_false(exits_paths_are_many(paths));
	exits_paths_free(paths);
	exits_bpf_close(bpf);
	env_release(&env);
}

UNIT(test_paths)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_of_sleepers_stay),
	};

	return cmocka_run_group_tests_name("paths", tests, NULL, NULL);
}
