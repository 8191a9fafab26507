// SPDX-License-Identifier: GPL-2.0-or-later
/* Which programs of the provider "who" run in exits: what these take is kvmtop's own cost. */
#include <stdio.h>
#include <stdlib.h>

#include "providers/providers.h"
#include "tests/unit/unit.h"

static size_t count_programs(void *who, const struct fields *fields, enum field_use use,
			     bool *ret_is_refused)
{
	struct want want = { .scope = WANT_EACH };
	struct programs programs = { .nr = 0 };
	struct error error = { "" };
	size_t nr;

	for (uint32_t i = 0; i < fields_count(fields); i++) {
		if (fields_get(fields, i)->use == use)
			field_set_add(&want.fields, i);
	}
	*ret_is_refused = who_provider.want(who, &want, &error) < 0 || error.text[0];
	if (*ret_is_refused)
		print_message("%s\n", error.text);
	who_provider.programs(who, &programs);
	nr = programs.nr;
	free(programs.list);
	field_set_release(&want.fields);
	return nr;
}

TEST(the_scheduler_runs_no_exit)
{
	struct fields *fields = fields_new();
	struct error error = { "" };
	struct guests *guests;
	struct env env;
	void *who = NULL;
	bool is_refused = true, has_no_interrupts;
	size_t nr;

	assert_int_equal(env_init(&env, "", &error), 0);
	guests = guests_new(&env);
	if (who_provider.open(&(struct provider_args){ .env = &env, .fields = fields,
						       .guests = guests, .source = PROVIDER_WHO },
			      &who, &error) < 0)
		print_message("%s\n", error.text);
	if (who) {
		assert_int_equal(count_programs(who, fields, USE_WAIT, &is_refused), 0);
		nr = count_programs(who, fields, USE_INTERRUPT, &has_no_interrupts);
		assert_true(has_no_interrupts || nr > 0);
	}
	who_provider.close(who);
	guests_free(guests);
	fields_free(fields);
	env_release(&env);
	if (is_refused)
		skip();
}
