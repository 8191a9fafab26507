// SPDX-License-Identifier: GPL-2.0-or-later
/* The worst finding of a live screen: when it comes, when it goes, and when another is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/findings/findings.h"
#include "tests/unit/unit.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct findings));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	findings_release(*state);
	free(*state);
	return 0;
}

/*
 * A sample with the findings of a text: "m0 C2" is a minor one of rule 0, a critical one of rule 2.
 * A capital letter costs more. Rules from 5 on are of guest 2.
 */
static const char *sample(struct findings *followed, const char *text)
{
	struct finding list[4];
	struct findings findings = { .list = list, .nr = 0 };
	const struct finding *worst;
	static char name[8];

	for (const char *at = text; *at; at += at[2] ? 3 : 2)
		list[findings.nr++] = (struct finding){
			.rule = rule_at((size_t)(at[1] - '0')),
			.guest = at[1] < '5' ? 1 : 2,
			.severity = strchr("cC", *at) ? SEVERITY_CRITICAL : SEVERITY_MINOR,
			.has_cost = true,
			.cost = strchr("MC", *at) ? 0.09 : 0.05,
		};
	findings_follow(followed, &findings);
	worst = findings_named(followed);
	if (!worst)
		return "-";
	snprintf(name, sizeof(name), "%zu", rule_index(worst->rule));
	return name;
}

static void shows(struct findings *followed, const char *const (*samples)[2])
{
	for (; (*samples)[0]; samples++)
		assert_string_equal(sample(followed, (*samples)[0]), (*samples)[1]);
}

TEST(comes_with_the_third_sample, setup, teardown)
{
	shows(*state, (const char *const[][2]){ { "", "-" }, { "m0", "-" }, { "m0", "-" },
						{ "", "-" }, { "m0", "-" }, { "m0", "-" },
						{ "m0", "0" }, { NULL } });
	assert_int_equal(findings_count_steady(*state), 1);
}

TEST(goes_with_the_third_sample_without, setup, teardown)
{
	shows(*state, (const char *const[][2]){ { "m0", "-" }, { "m0", "-" }, { "m0", "0" },
						{ "", "0" }, { "", "0" }, { "m0", "0" },
						{ "", "0" }, { "", "0" }, { "", "-" }, { NULL } });
	assert_int_equal(findings_count_steady(*state), 0);
}

TEST(another_is_named_only_if_it_is_more_severe, setup, teardown)
{
	shows(*state, (const char *const[][2]){ { "m0 M1", "-" }, { "m0 M1", "-" },
						{ "m0 M1", "1" }, { "M0 m1", "1" },
						{ "C0 M1", "0" }, { "M0 M1", "0" },
						{ "M1", "0" }, { "M1", "0" }, { "M1", "1" },
						{ "M1 C2", "1" }, { "M1 C2", "1" },
						{ "M1 C2", "2" }, { NULL } });
	assert_int_equal(findings_count_steady(*state), 2);
}

TEST(of_several_that_are_more_severe_the_costliest_is_named, setup, teardown)
{
	shows(*state, (const char *const[][2]){ { "m0", "-" }, { "m0", "-" }, { "m0", "0" },
						{ "m0 c1 C2", "0" }, { "m0 c1 C2", "0" },
						{ "m0 c1 C2", "2" }, { "m0 C1 c2", "2" },
						{ NULL } });
}

TEST(turning_to_a_guest_keeps_what_it_has, setup, teardown)
{
	struct findings *followed = *state;

	shows(followed, (const char *const[][2]){ { "m0 C5", "-" }, { "m0 C5", "-" },
						  { "m0 C5", "5" }, { NULL } });
	findings_narrow(followed, GUEST_ALL);
	assert_int_equal(findings_count_steady(followed), 2);
	findings_narrow(followed, 1);
	assert_int_equal(findings_count_steady(followed), 1);
	assert_int_equal(findings_named(followed)->guest, 1);
	shows(followed, (const char *const[][2]){ { "", "0" }, { "m0", "0" }, { NULL } });
	findings_narrow(followed, 2);
	assert_null(findings_named(followed));
}
