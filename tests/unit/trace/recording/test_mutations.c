// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_mutations - recordings with a few wrong bytes, read by each reader, reported and looked at:
 * no crash.
 *
 * The same bytes are changed in every run. `make fuzz` looks further.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <glob.h>

#include "tests/fuzz/trace_fuzz.h"
#include "tests/unit/unit.h"
#include "tests/worlds/trace_world_linux.h"

#define MUTATIONS 100 /* of each kind */
#define CHANGES_MAX 4
#define FORMAT_MAX 65536
#define FORMATS_MAX 16

struct random {
	uint64_t state;
};

/* xorshift64 */
static uint64_t random_next(struct random *random)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state;
}

/* Half of the changes hit the first 8 KiB, where headers and formats are. */
static size_t random_place(struct random *random, size_t size)
{
	size_t most = random_next(random) % 2 && size > 8192 ? 8192 : size;

	return random_next(random) % most;
}

static void change(struct random *random, uint8_t *data, size_t size)
{
	static const uint8_t odd[] = { 0, 1, 0x7f, 0x80, 0xff, '[', ']', '(', ')', '"', '\n', ';' };
	size_t at = random_place(random, size);

	switch (random_next(random) % 3) {
	case 0:
		data[at] ^= (uint8_t)(1 << random_next(random) % 8);
		break;
	case 1:
		data[at] = (uint8_t)random_next(random);
		break;
	default:
		data[at] = odd[random_next(random) % sizeof(odd)];
	}
}

static void mutate(const uint8_t *seed, size_t size, enum trace_kind kind, unsigned long nr)
{
	struct random random = { 0x9e3779b97f4a7c15 + size };
	uint8_t *data = malloc(size);

	assert_non_null(data);
	for (unsigned long i = 0; i < nr; i++) {
		size_t len = random_next(&random) % 8 ? size : random_next(&random) % size + 1;

		memcpy(data, seed, size);
		for (uint64_t n = random_next(&random) % CHANGES_MAX + 1; n; n--)
			change(&random, data, size);
		fuzz_recording(data, len, kind);
	}
	free(data);
}

static size_t load(const char *path, char *data, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t size;

	assert_non_null(file);
	size = fread(data, 1, room, file);
	fclose(file);
	assert_true(size > 0 && size < room);
	return size;
}

/* The seeds of the reader's fuzz target. */
static void mutate_seeds(const char *pattern, enum trace_kind kind)
{
	static char data[1 << 20];
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t size = load(found.gl_pathv[i], data, sizeof(data));

		mutate((const uint8_t *)data, size, kind,
		       unit_rounds(MUTATIONS) / found.gl_pathc + 1);
	}
	globfree(&found);
}

static void trace_dat(void **state)
{
	(void)state;
	mutate_seeds("tests/fuzz/corpus/trace_dat/*", TRACE_DAT);
}

static void perf_data(void **state)
{
	(void)state;
	mutate_seeds("tests/fuzz/corpus/trace_perf/*", TRACE_PERF);
}

static void acrn(void **state)
{
	(void)state;
	mutate_seeds("tests/fuzz/corpus/trace_acrn/*", TRACE_ACRN);
}

static void kvmtrace(void **state)
{
	(void)state;
	mutate_seeds("tests/fuzz/corpus/trace_kvmtrace/*", TRACE_KVMTRACE);
}

/* Formats of kernels, in which nearly every changed byte is. */
static void formats_of_kernels(void **state)
{
	static char texts[FORMATS_MAX][FORMAT_MAX];
	const char *formats[FORMATS_MAX];
	struct bytes file = { 0 }, event = { 0 };
	struct ring ring;
	glob_t found;

	(void)state;
	assert_int_equal(glob("tests/formats/*.format", 0, NULL, &found), 0);
	assert_true(found.gl_pathc <= FORMATS_MAX);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		texts[i][load(found.gl_pathv[i], texts[i], FORMAT_MAX)] = '\0';
		formats[i] = texts[i];
	}
	ring_init(&ring, 0);
	put_common(&event, 1511, 77);
	for (unsigned int i = 0; i < 14; i++)
		put_u32(&event, i);
	ring_add(&ring, 1000, &event);
	put_dat6(&file, &ring, 1, formats, (uint32_t)found.gl_pathc, "[local]");
	mutate(file.data, file.len, TRACE_DAT, unit_rounds(MUTATIONS));
	bytes_release(&file);
	bytes_release(&event);
	globfree(&found);
}

UNIT(test_mutations)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_dat),
		cmocka_unit_test(formats_of_kernels),
		cmocka_unit_test(perf_data),
		cmocka_unit_test(acrn),
		cmocka_unit_test(kvmtrace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
