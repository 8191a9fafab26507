// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks: which of them the kernel goes on to keep, and where samples are taken. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

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
TEST(stacks_of_sleepers_stay)
{
	uint64_t frames[EXITS_FRAMES] = { 1 }, stay[] = { 70, 1000, 3 };
	struct error error = { "" };
	struct exits_bpf *bpf;
	struct exits_paths *paths;
	struct env env;
	int fd;

	assert_int_equal(env_init(&env, "", &error), 0);
	bpf = env.tracefs ? open_programs(&env) : NULL;
	if (!bpf) {
		env_release(&env);
		skip();
	}
	paths = exits_paths_new(&(struct exits_stacks_config){ .env = &env, .bpf = bpf });
	fd = bpf_map__fd(bpf->stacks->maps.stack_frames);
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

/* The vCPUs of many guests are in few stacks, and each stack is forgotten if there are many. */
TEST(paths_that_share_stacks)
{
	struct exits_stack_key key = { .kernel = 1, .user = 3, .cell = EXITS_NO_CELL };
	struct error error = { "" };
	struct stacks *stacks = stacks_new();
	struct exits_paths *paths;
	struct exits_bpf *bpf;
	struct env env;

	assert_int_equal(env_init(&env, "", &error), 0);
	bpf = env.tracefs ? open_programs(&env) : NULL;
	if (!bpf) {
		stacks_free(stacks);
		env_release(&env);
		skip();
	}
	paths = exits_paths_new(&(struct exits_stacks_config){ .env = &env, .bpf = bpf,
							       .stacks = stacks });
	for (key.tgid = 1; key.tgid <= EXITS_STACKS; key.tgid++)
		exits_paths_node(paths, &key, 0);
	assert_false(exits_paths_are_many(paths));
	for (uint32_t i = 1; i < EXITS_STACKS / 4; i++) {
		key.kernel += 4;
		key.user += 4;
		exits_paths_node(paths, &key, 0);
		assert_int_equal(exits_paths_are_many(paths), i == EXITS_STACKS / 4 - 1);
	}
	exits_paths_forget(paths, NULL, 0);
	assert_false(exits_paths_are_many(paths));
	exits_paths_free(paths);
	exits_bpf_close(bpf);
	stacks_free(stacks);
	env_release(&env);
}

/* How many CPUs take samples: perf events of this process. */
static int count_events(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char target[64];
	int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		nr += strstr(target, "perf_event") != NULL;
	}
	closedir(dir);
	return nr;
}

/* Closing is the background's. */
static void wait_for_events(int nr)
{
	for (int i = 0; i < 200 && count_events() != nr; i++)
		usleep(10000);
	assert_int_equal(count_events(), nr);
}

static void put_online(const char *root, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

/* A CPU that comes takes samples, and one that went and came has a new event. */
TEST(samples_follow_cpus)
{
	static const char *const folders[] = { "/sys", "/sys/devices", "/sys/devices/system",
					       "/sys/devices/system/cpu" };
	char root[] = "/tmp/kvmtop-cpus.XXXXXX", path[256];
	struct env env, made_up;
	struct stack_sums sums = { 0 };
	struct error error = { "" };
	struct exits_stacks *stacks = NULL;
	struct exits_bpf *bpf;
	struct guests *guests;
	int before;

	assert_int_equal(env_init(&env, "", &error), 0);
	bpf = env.tracefs && sysconf(_SC_NPROCESSORS_ONLN) > 1 ? open_programs(&env) : NULL;
	if (!bpf) {
		env_release(&env);
		skip();
	}
	assert_non_null(mkdtemp(root));
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	made_up = env;
	made_up.root = root;
	put_online(root, "0\n");
	before = count_events();
	guests = guests_new(&made_up);
	assert_int_equal(exits_stacks_new(&(struct exits_stacks_config){
		.env = &made_up, .bpf = bpf, .guests = guests,
	}, &stacks, &error), 0);
	assert_int_equal(count_events(), before + 1);
	put_online(root, "0-1\n");
	assert_int_equal(exits_stacks_collect(stacks, &sums, &error), 0);
	assert_int_equal(count_events(), before + 2);
	put_online(root, "1\n");
	assert_int_equal(exits_stacks_collect(stacks, &sums, &error), 0);
	wait_for_events(before + 1);
	put_online(root, "0-1\n");
	assert_int_equal(exits_stacks_collect(stacks, &sums, &error), 0);
	assert_int_equal(count_events(), before + 2);
	exits_stacks_free(stacks);
	wait_for_events(before);
	stack_sums_release(&sums);
	guests_free(guests);
	exits_bpf_close(bpf);
	env_release(&env);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	unlink(path);
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		rmdir(path);
	}
	rmdir(root);
}
