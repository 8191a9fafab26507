/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_exits_captured - any text as the exits of a captured machine: no crash, no row that is
 * unasked, no key twice.
 */
#include <stdlib.h>
#include <string.h>

#include "providers/captured_exits.c" /* NOLINT(bugprone-suspicious-include): it reads a file */
#include "tests/worlds/fake_guest.h"

#define READS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct fields *fields, const struct field_set *wanted,
		       const struct sample *sample)
{
	for (size_t i = 0; i < sample->nr_rows; i++) {
		const struct key *key = &sample->rows[i].key;

		if (key->field >= fields_count(fields) || !field_set_has(wanted, key->field) ||
		    key->guest != 1 || key->vcpu < 0 || key->vcpu > 1)
			abort();
		for (size_t k = 0; k < i; k++) {
			if (memcmp(key, &sample->rows[k].key, sizeof(*key)) == 0)
				abort();
		}
	}
}

static void play(void *captured, const struct fields *fields)
{
	struct want want = { .scope = WANT_EACH };
	struct why why;

	/* Every other field. */
	for (uint32_t i = 0; i < fields_count(fields); i += 2)
		field_set_add(&want.fields, i);
	exits_captured_want(captured, &want, &why);
	for (int i = 0; i < READS; i++) {
		struct sample sample = { 0 };

		if (exits_captured_collect(captured, &sample, &why) < 0)
			abort();
		check_rows(fields, &want.fields, &sample);
		sample_release(&sample);
	}
	field_set_release(&want.fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct env env = { .root = "/nowhere" };
	struct guests *guests;
	struct fields *fields = fields_new();
	struct provider_site site = { .env = &env, .fields = fields };
	void *captured;

	env.arch = arch_by_name("SVM");
	guests = guests_new(&env);
	guests_add_fake(guests, 100, "db1", 2); /* its threads are 101 and 102 */
	site.guests = guests;
	if (captured_new(&site, strndup((const char *)data, size), &captured) < 0)
		abort();
	play(captured, fields);
	exits_captured_close(captured);
	fields_free(fields);
	guests_free(guests);
	return 0;
}
