// SPDX-License-Identifier: GPL-2.0-or-later
/* Rules of kvmtrace_format: what they print is what Python printed, and errors name the line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "trace/rules/rules.h"

static const struct rules_record record = {
	.event = 0x20001,
	.tsc = 5750000,
	.has_tsc = true,
	.pid = 1,
	.vcpu = 2,
	.cpu = 7,
	.vm = 3,
	.words = { 0, 255, 1ull << 63, 65, 0, 6, 7 },
};

static char printed[65536];

static const char *print(enum trace_kind kind, const struct rules_record *what, uint64_t mhz,
			 const char *rules_text)
{
	struct rules_record of_kind = *what;
	struct rules_values values = {
		.record = &of_kind,
		.reltsc = 12,
		.reltsc_is_negative = true,
		.mhz = mhz,
	};
	struct error error = { "" };
	struct rules *rules = NULL;
	FILE *out;

	if (rules_parse("rules", rules_text, strlen(rules_text), &rules, &error))
		fail_msg("%s", error.text);
	of_kind.kind = kind;
	out = fmemopen(printed, sizeof(printed), "w");
	assert_non_null(out);
	printed[0] = '\0';
	rules_print(rules, &values, out);
	fclose(out);
	rules_free(rules);
	return printed;
}

/* The one rule of the event, and its line without the newline. */
static void prints(enum trace_kind kind, uint64_t mhz, const char *template, const char *want)
{
	char text[256];
	size_t len;

	snprintf(text, sizeof(text), "0x20001 %s\n", template);
	print(kind, &record, mhz, text);
	len = strlen(printed);
	assert_true(len > 0 && printed[len - 1] == '\n');
	printed[len - 1] = '\0';
	if (strcmp(printed, want) != 0)
		fail_msg("%s: got \"%s\", wanted \"%s\"", template, printed, want);
}

struct example {
	const char *template, *want;
};

/* All of these are what Python 2.7 printed. */
TEST(numbers_are_laid_out_as_by_python)
{
	static const struct example examples[] = {
		{ "%(3)x|%(3)o|%(3)d", "8000000000000000|1000000000000000000000|"
				       "9223372036854775808" },
		{ "%(2)-05d|%(2)-5x|%(2)05x", "255  |ff   |000ff" },
		{ "%(reltsc)05d|%(relts)x|%(reltsc)6d|%(reltsc)s", "-0012|-c|   -12|-12" },
		{ "%(2)X|%(2)x|%(1)x|%(1)d", "FF|ff|0|0" },
		{ "%(2)+ d|%(2) d|%(2)u|%(2)i|%(2)+06d|%(2) 6d",
		  "+255| 255|255|255|+00255|   255" },
		{ "%(4)c|%(4)5c|%(4)-5c|%(4)05c|", "A|    A|A    |    A|" },
		{ "%(2)05s|%(2)+s|%(2)-5s|", "  255|255|255  |" },
		{ "100%%|%%(1)d", "100%|%(1)d" },
		{ "%(tsc)d %(ts)d %(event)d %(pid)d %(vcpu)d", "5750000 5750000 131073 1 2" },
		{ "a\tb  ", "a\tb  " },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		prints(TRACE_KVMTRACE, 0, examples[i].template, examples[i].want);
}

TEST(a_frequency_makes_seconds_of_the_tsc)
{
	static const struct example examples[] = {
		{ "%(tsc)d|%(tsc)x|%(tsc)s|%(tsc)8s|%(tsc)-8s|", "5|5|5.75|    5.75|5.75    |" },
		{ "%(tsc)+d|%(tsc)010d|%(reltsc)d", "+5|0000000005|-12" },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		prints(TRACE_KVMTRACE, 1, examples[i].template, examples[i].want);
	prints(TRACE_KVMTRACE, 2400, "%(tsc)s", "0.00239583333333");
	prints(TRACE_KVMTRACE, 575, "%(tsc)s", "0.01");
}

TEST(acrn_has_vms_and_cpus)
{
	prints(TRACE_ACRN, 0, "%(cpu)d %(vm)d %(vcpu)d", "7 3 2");
}

TEST(bytes_of_text_have_signs)
{
	struct rules_record text = { .event = 0xff, .is_signed = true };

	text.words[0] = 'k';
	text.words[1] = (uint64_t)-2;
	assert_string_equal(print(TRACE_ACRN, &text, 0, "0xff %(1)c%(2)d%(3)c%(2)c\n"), "k-2");
	assert_string_equal(printed + 4, "?\n");
}

TEST(the_later_rule_holds_and_0_is_for_the_rest)
{
	static const char rules[] = "#0x20001 no\n\n0x20001 first\n131073\t\f second\n0 rest";
	struct rules_record other = record;

	other.event = 5;
	assert_string_equal(print(TRACE_KVMTRACE, &record, 0, rules), "second\n");
	assert_string_equal(print(TRACE_KVMTRACE, &other, 0, rules), "rest\n");
	assert_string_equal(print(TRACE_ACRN, &other, 0, rules), "");
	assert_string_equal(print(TRACE_KVMTRACE, &other, 0, "1 x\n"), "");
	assert_string_equal(print(TRACE_KVMTRACE, &record, 0, ""), "");
}

TEST(what_is_no_character_is_a_question_mark)
{
	prints(TRACE_KVMTRACE, 0, "%(event)c%(3)c%(reltsc)c", "???");
	prints(TRACE_ACRN, 0, "%(2)c%(3)c%(reltsc)c%(4)c", "???A");
}

static void refuses(const char *text, const char *want)
{
	struct rules *untouched = (struct rules *)&errno, *rules = untouched;
	struct error error = { "" };

	assert_int_equal(rules_parse("rules", text, strlen(text), &rules, &error), -EINVAL);
	assert_ptr_equal(rules, untouched);
	if (strncmp(error.text, want, strlen(want)) != 0)
		fail_msg("%s: got \"%s\", wanted \"%s\"", text, error.text, want);
}

TEST(errors_name_the_line)
{
	refuses("# x\n\n 0x1 text\n", "rules:3: a rule begins with its event");
	refuses("   \n", "rules:1: a rule begins");
	refuses("\r\n", "rules:1: a rule begins");
	refuses("1 a\n0x2\n", "rules:2: an event without a template");
	refuses("1 a\n0x2  \t \n3 c\n", "rules:2: an event without a template");
	refuses("x1 a\n", "rules:1: an event is a number");
	refuses("0x1g a\n", "rules:1: an event is a number");
	refuses("-1 a\n", "rules:1: an event is a number");
	refuses("1 %d\n", "rules:1: a conversion without a field");
	refuses("1 %(2)d %10.3s\n", "rules:1: a conversion without a field");
	refuses("1 %(2)*d\n", "rules:1: unknown conversion");
	refuses("99999999999999999999 a\n", "rules:1: an event is a number");
	refuses("0x10000+1 a\n", "rules:1: an event is a number");
	refuses("+1 a\n", "rules:1: an event is a number");
	refuses("1L a\n", "rules:1: an event is a number");
	refuses("18446744073709551616 a\n", "rules:1: an event is a number");
	refuses("1 50%\n", "rules:1: a \"%\" at the end");
	refuses("1 %(1)\n", "rules:1: unknown conversion");
	refuses("1 %(1)#x\n", "rules:1: unknown conversion");
	refuses("1 %(1).2d\n", "rules:1: unknown conversion");
	refuses("1 %(1)f\n", "rules:1: unknown conversion");
	refuses("1 %5%\n", "rules:1: a conversion without a field");
	refuses("1 %(1\n", "rules:1: a field's name without");
	refuses("1 %(x)d\n", "rules:1: unknown field");
	refuses("1 %()d\n", "rules:1: unknown field");
	refuses("1 %(0)d\n", "rules:1: unknown field");
	refuses("1 %(17)d\n", "rules:1: unknown field");
	refuses("1 %(01)d\n", "rules:1: unknown field");
	refuses("1 %(1)q\n", "rules:1: unknown conversion");
	refuses("1 %(1)ld\n", "rules:1: unknown conversion");
	refuses("1 %(1)10001d\n", "rules:1: a width over 10000");
}

TEST(nul_bytes_are_bytes)
{
	static const char text[] = "1 a\0%(1)d\n1 %(1)\0d\n";
	struct rules *rules = NULL;
	struct error error = { "" };

	assert_int_equal(rules_parse("rules", text, 10, &rules, &error), 0);
	rules_free(rules);
	assert_int_equal(rules_parse("rules", text, sizeof(text) - 1, &rules, &error), -EINVAL);
	assert_non_null(strstr(error.text, "rules:2: unknown conversion"));
}
