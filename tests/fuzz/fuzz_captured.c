/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_captured - any text as the counters and as the exits of a captured machine: no crash, no row
 * that is not wanted, no key twice.
 */
#include "lib/array.h"
#include "providers/playback/captured.c" /* NOLINT(bugprone-suspicious-include): it reads a file */
#include "core/provider.h"
#include "tests/worlds/fake_guest.h"

#define READS 5

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct captured *make(const struct provider_args *args, key_fn key_of, const uint8_t *data,
			     size_t size)
{
	struct captured *captured = calloc(1, sizeof(*captured));

	if (!captured)
		abort();
	captured->args = *args;
	captured->key_of = key_of;
	captured->file = (struct captured_file){ .args = &captured->args,
						 .text = strndup((const char *)data, size) };
	captured->file.next = captured->file.text;
	return captured;
}

static void add_events(struct fields *fields)
{
	static const char *const names[] = { "kvm_exit(HLT)", "kvm_pio", "kvmmmu:kvm_exit" };
	struct field field = { .name = "kvm_exit", .parent = FIELD_NONE };

	field.parent = fields_add(fields, &field);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct field child = { .name = names[i], .parent = i ? FIELD_NONE : field.parent };

		fields_add(fields, &child);
	}
}

static void check_rows(const struct want *want, const struct sample *sample)
{
	for (size_t i = 0; i < sample->nr_rows; i++) {
		const struct key *key = &sample->rows[i].key;

		if (!field_set_has(&want->fields, key->field) || key->guest > 1 || key->vcpu > 1)
			abort();
		for (size_t k = 0; k < i; k++) {
			if (memcmp(key, &sample->rows[k].key, sizeof(*key)) == 0)
				abort();
		}
	}
}

/* Every other field is wanted. */
static void play(struct captured *captured, uint32_t guest)
{
	struct want want = { .guest = guest };
	struct error error;

	for (uint32_t i = 0; i < fields_count(captured->args.fields); i += 2)
		field_set_add(&want.fields, i);
	if (captured_want(captured, &want, &error) < 0)
		abort();
	for (unsigned int i = 0; i < READS; i++) {
		struct sample sample = { 0 };

		want.scope = (enum want_scope)(i % (WANT_EACH + 1));
		if (captured_collect(captured, &sample, &error) < 0)
			abort();
		check_rows(&want, &sample);
		sample_release(&sample);
	}
	field_set_release(&want.fields);
	captured_close(captured);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct env env = { .root = "/nowhere" };
	struct provider_args args = { .env = &env, .fields = fields_new() };
	struct fields *exit_fields = fields_new();
	struct guests *guests;
	struct captured *exits;
	uint32_t guest;

	env.arch = arch_by_name("SVM");
	guests = guests_new(&env);
	guest = guests_add_fake(guests, 100, "db1", 2); /* its threads are 101 and 102 */
	args.guests = guests;
	add_events(args.fields);
	play(make(&args, event_key, data, size), guest);
	fields_free(args.fields);
	args.fields = exit_fields;
	exits = make(&args, exit_key, data, size);
	add_exit_fields(exits);
	play(exits, guest);
	fields_free(exit_fields);
	guests_free(guests);
	return 0;
}
