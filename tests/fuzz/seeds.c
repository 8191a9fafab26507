// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A fuzz target with nothing but its seeds, and no byte at all: a case each. It is linked with one
 * target, by any compiler, and goes by its name: seeds_NAME reads tests/fuzz/corpus/NAME/.
 */
#include <errno.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED_MAX (1 << 20)

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak)); /* few targets have it */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t load(const char *path, uint8_t *bytes)
{
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(bytes, 1, SEED_MAX, file) : SEED_MAX;

	if (size == SEED_MAX) {
		fprintf(stderr, "%s: cannot be read, or is too large\n", path);
		exit(1);
	}
	fclose(file);
	return size;
}

/* Memory of just this size: a byte behind it is an error. A crash has the name before it. */
static void run(const char *name, const uint8_t *bytes, size_t size, size_t nr)
{
	uint8_t *data = malloc(size);

	if (!data && size)
		exit(1);
	if (size)
		memcpy(data, bytes, size);
	fprintf(stderr, "%s\n", name);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	printf("ok %zu - %s\n", nr, name);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[SEED_MAX];
	char pattern[128];
	glob_t found = { .gl_pathc = 0 };

	snprintf(pattern, sizeof(pattern), "tests/fuzz/corpus/%s/*",
		 program_invocation_short_name + strlen("seeds_"));
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	run("no byte", bytes, 0, 1);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			run(found.gl_pathv[i], bytes, load(found.gl_pathv[i], bytes), i + 2);
	}
	printf("1..%zu\n", found.gl_pathc + 1);
	globfree(&found);
	return 0;
}
