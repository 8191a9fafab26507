// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages on a disk that is too small: the oldest of every CPU stay, and what is there is right. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "tests/unit/unit.h"
#include "trace/tracer/tracer.h"

#define NR 3
#define KIB 1024
#define STEP (64 * KIB) /* what is given up at once */

/* Files of words that count up, each from its CPU's number times 2^24 on. */
struct world {
	struct pages cpus[NR];
	int out;
};

static int a_file(void)
{
	struct error error;
	int fd = file_without_name(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", &error);

	assert_true(fd >= 0);
	return fd;
}

static void fill(struct world *w, size_t cpu, size_t bytes)
{
	uint32_t *words = malloc(bytes);

	assert_non_null(words);
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		words[i] = (uint32_t)(cpu << 24 | i);
	assert_int_equal(pwrite(w->cpus[cpu].file, words, bytes, 0), bytes);
	w->cpus[cpu].bytes = bytes;
	free(words);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	for (size_t i = 0; i < NR; i++)
		w->cpus[i].file = a_file();
	w->out = a_file();
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	for (size_t i = 0; i < NR; i++)
		close(w->cpus[i].file);
	close(w->out);
	free(w);
	return 0;
}

static void is_there(const struct world *w, size_t cpu, uint64_t at)
{
	uint64_t bytes = w->cpus[cpu].bytes;
	uint32_t *words = malloc(bytes + 1);

	assert_non_null(words);
	assert_int_equal(pread(w->out, words, bytes, (off_t)at), bytes);
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		assert_int_equal(words[i], cpu << 24 | i);
	free(words);
}

static uint64_t room_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST(the_cpu_with_most_gives_up, setup, teardown)
{
	struct world *w = *state;

	fill(w, 0, 128 * KIB);
	fill(w, 2, 256 * KIB);
	assert_false(pages_fit(w->cpus, NR, 384 * KIB));
	assert_true(pages_fit(w->cpus, NR, 384 * KIB - 1));
	assert_int_equal(w->cpus[0].bytes, 128 * KIB);
	assert_int_equal(w->cpus[2].bytes, 256 * KIB - STEP);
	assert_true(room_of(w->cpus[2].file) <= 256 * KIB - STEP);
	assert_true(pages_fit(w->cpus, NR, 128 * KIB));
	assert_int_equal(w->cpus[0].bytes, STEP);
	assert_int_equal(w->cpus[2].bytes, STEP);
	assert_true(pages_fit(w->cpus, NR, 0));
	assert_false(pages_give_up(w->cpus, NR));
}

TEST(more_is_given_up_of_much, setup, teardown)
{
	struct world *w = *state;

	fill(w, 1, 128 * STEP);
	assert_true(pages_give_up(w->cpus, NR));
	assert_int_equal(w->cpus[1].bytes, 126 * STEP);
}

TEST(what_has_moved_is_not_given_up, setup, teardown)
{
	struct world *w = *state;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	fill(w, 0, 4 * page);
	w->cpus[0].moved = 2 * page + 8;
	assert_true(pages_give_up(w->cpus, NR));
	assert_int_equal(w->cpus[0].bytes, 2 * page);
	assert_int_equal(w->cpus[0].moved, 2 * page);
	assert_false(pages_give_up(w->cpus, NR));
}

TEST(moving_frees, setup, teardown)
{
	struct world *w = *state;

	fill(w, 0, 192 * KIB);
	fill(w, 1, 320 * KIB);
	assert_int_equal(pages_move(w->cpus, NR, 0, w->out, 64 * KIB), 0);
	assert_int_equal(pages_move(w->cpus, NR, 1, w->out, 256 * KIB), 0);
	assert_int_equal(pages_move(w->cpus, NR, 2, w->out, 576 * KIB), 0);
	assert_int_equal(w->cpus[0].bytes, 192 * KIB);
	assert_int_equal(w->cpus[1].bytes, 320 * KIB);
	assert_int_equal(room_of(w->cpus[0].file) + room_of(w->cpus[1].file), 0);
	is_there(w, 0, 64 * KIB);
	is_there(w, 1, 256 * KIB);
}

TEST(what_has_no_place_is_left_out, setup, teardown)
{
	struct world *w = *state;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int err;

	signal(SIGXFSZ, SIG_IGN);
	fill(w, 0, 320 * KIB);
	limit_file_size(64 * KIB + 2 * STEP + 100);
	err = pages_move(w->cpus, NR, 0, w->out, 64 * KIB);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(w->cpus[0].bytes % page, 0);
	assert_int_equal(w->cpus[0].bytes, 2 * STEP / page * page);
	is_there(w, 0, 64 * KIB);
}
