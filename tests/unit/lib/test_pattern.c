// SPDX-License-Identifier: GPL-2.0-or-later
/* Regular expressions as users and enemies type them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "lib/text.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"

static struct pattern *compile(const char *text)
{
	struct error error = { "" };
	struct pattern *pattern = NULL;

	assert_int_equal(pattern_new(text, &pattern, &error), 0);
	assert_string_equal(error.text, "");
	return pattern;
}

static long match(const char *text, const char *subject)
{
	struct pattern *pattern = compile(text);
	long end = pattern_match(pattern, subject);

	pattern_free(pattern);
	return end;
}

/* Which of the characters around an error is meant depends on PCRE2's version. */
static void refuses(const char *text, const char *reason)
{
	struct pattern *untouched = (struct pattern *)&errno, *pattern = untouched;
	struct error error = { "" };
	char wanted[sizeof(error.text)];
	unsigned long position;
	char *end;

	assert_int_equal(pattern_new(text, &pattern, &error), -EINVAL);
	assert_ptr_equal(pattern, untouched);
	snprintf(wanted, sizeof(wanted),
		 "\"%s\" is not a valid regular expression: %s at position ", text, reason);
	assert_memory_equal(error.text, wanted, strlen(wanted));
	position = strtoul(error.text + strlen(wanted), &end, 10);
	assert_string_equal(end, "");
	assert_int_in_range(position, 1, strlen(text) + 1);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

TEST(flaw_E4_matches_anywhere)
{
	assert_int_equal(match("exit", "kvm_exit"), 8);
	assert_int_equal(match("exit", "kvm_userspace_exit(IO)"), 18);
	assert_int_equal(match("^exit", "kvm_exit"), -1);
	assert_int_equal(match("kvm_exit$", "kvm_exit(HLT)"), -1);
	assert_int_equal(match("kvm_exit$", "kvm_exit"), 8);
}

TEST(tells_where_the_first_match_ends)
{
	assert_int_equal(match("kvm_exit(HLT)", "kvm_exit(HLT)"), 13); /* as it is written */
	assert_int_equal(match("kvm_exit(HLT)", "kvm_exit(HLT) too"), -1);
	assert_int_equal(match("kvm_exit(HLT)", "kvm_exitHLT"), 11);
	assert_int_equal(match("kvm", "kvm_kvm"), 3);
	assert_int_equal(match("exit.*HLT", "kvm_exit(HLT)"), 12);
	assert_int_equal(match("", "kvm_exit"), 0);
	assert_int_equal(match("", ""), 0);
	assert_int_equal(match("a", ""), -1);
	assert_int_equal(match("^", "x"), 0);
}

TEST(case_matters_with_a_capital)
{
	assert_int_equal(match("hlt", "kvm_exit(HLT)"), 12);
	assert_int_equal(match("HLT", "kvm_exit(hlt)"), -1);
	assert_int_equal(match("[A-Z]", "kvm_exit"), -1);
	assert_int_equal(match("\\Whlt", "kvm_exit(HLT)"), 12); /* an escape is no capital */
	assert_int_equal(match("\\\\H|HLT", "kvm_exit(hlt)"), -1);
	assert_int_equal(match("(?i)HLT", "kvm_exit(hlt)"), 12);
}

TEST(speaks_pythons_dialect)
{
	assert_int_equal(match("kvm_(pio|userspace_exit\\(I)", "kvm_userspace_exit(IO)"), 20);
	assert_int_equal(match("(?P<x>k)vm(?!_exit)", "kvm_exit"), -1);
	assert_int_equal(match("(?P<x>v)m_(?P=x)", "kvm_v"), 5);
	assert_int_equal(match("\\bkvm\\w+\\b", "a kvm_pio b"), 9);
}

TEST(keeps_its_text)
{
	char text[] = "a.c";
	struct pattern *pattern = compile(text);

	text[0] = 'x';
	assert_string_equal(pattern_text(pattern), "a.c");
	pattern_free(pattern);
	pattern_free(NULL);
}

TEST(errors_name_the_position)
{
	refuses("kvm_(", "missing closing parenthesis");
	refuses("*", "quantifier does not follow a repeatable item");
	refuses("ab[z-a]c", "range out of order in character class");
}

TEST(the_error_of_a_long_pattern_is_not_cut_off)
{
	char text[4096];
	struct pattern *pattern = NULL;
	struct error error;

	memset(text, 'a', sizeof(text));
	strcpy(text + 4000, "(");
	assert_int_equal(pattern_new(text, &pattern, &error), -EINVAL);
	assert_non_null(strstr(error.text, "aaa...\" is not"));
	assert_non_null(strstr(error.text, "missing closing parenthesis at position 4002"));
}

TEST(errors_may_be_ignored)
{
	struct pattern *pattern = NULL;

	assert_int_equal(pattern_new("(", &pattern, NULL), -EINVAL);
	assert_null(pattern);
}

TEST(invalid_utf8_is_refused_in_patterns)
{
	struct pattern *pattern = NULL;
	struct error error;

	assert_int_equal(pattern_new("a\xff", &pattern, &error), -EINVAL);
	assert_non_null(strstr(error.text, "UTF-8 error"));
	assert_int_equal(pattern_new("\xc3", &pattern, &error), -EINVAL);
	/* A single byte in the middle of a character would match nonsense. */
	assert_int_equal(pattern_new("\\C", &pattern, &error), -EINVAL);
}

TEST(utf8_counts_characters)
{
	assert_int_equal(match("^.$", "\xc3\xa4"), 2);
	assert_int_equal(match("\xc3\xa4", "gast-\xc3\xa4"), 7);
	assert_int_equal(match("^.$", "\xf0\x9f\x90\xa7"), 4);
}

TEST(invalid_utf8_in_subjects_matches_nothing)
{
	static const char *const subjects[] = {
		"\xff", "kvm\xff", "\xc3", "\xc0\x80", "\x80kvm",
		"\xed\xa0\x80", "kvm\xf8\x88\x80\x80", "\xf4\x90\x80\x80",
	};
	static const char *const patterns[] = { "kvm", ".", ".*", "[^a]", "\\W", "$" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		for (size_t j = 0; j < sizeof(subjects) / sizeof(subjects[0]); j++)
			assert_int_equal(match(patterns[i], subjects[j]), -1);
	}
}

/*
 * Each against a text that makes it try everything, as often as a query of 400 fields does. They
 * end in a class: a literal that the text lacks would let PCRE2 give up before it began.
 */
TEST(hostile_patterns_end_quickly)
{
	static const char *const patterns[] = {
		"(a+)+$",	 "(a|a)+$",	     "(a|aa)*[bc]$", "(.*)*[xy]$",
		"^(a?){40}a{40}$", "(.*.*.*.*.*)[bc]", "(.+)+[^a!]",   "((a*)*)*[bc]",
		"(?=(a+)+[bc])", "(a|a)+[bc]",
	};
	char subject[61];

	memset(subject, 'a', 59);
	strcpy(subject + 59, "!");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct pattern *pattern = compile(patterns[i]);
		uint64_t start = now_ms();

		for (int j = 0; j < 400; j++)
			pattern_match(pattern, subject);
		/* 60 to 300 ms, with sanitizers too: PCRE2 itself is not instrumented. */
		if (now_ms() - start > 3000)
			fail_msg("%s took %llu ms", patterns[i],
				 (unsigned long long)(now_ms() - start));
		pattern_free(pattern);
	}
}

TEST(hostile_patterns_end_on_long_texts_too)
{
	size_t size = 1 << 20;
	char *subject = malloc(size);
	uint64_t start = now_ms();

	assert_non_null(subject);
	memset(subject, 'a', size - 2);
	strcpy(subject + size - 2, "!");
	assert_int_equal(match("(a+)+$", subject), -1);
	assert_int_equal(match("(a|b|ab)*[cd]", subject), -1);
	assert_true(now_ms() - start < 5000);
	free(subject);
}

/* What ran into a limit is not the same as no match. */
TEST(a_limit_is_no_answer)
{
	struct error error = { "" };
	struct pattern *pattern;

	assert_int_equal(pattern_new("(\\w+_?)+INTERRUPT", &pattern, &error), 0);
	assert_int_equal(pattern_match(pattern, "EXTERNAL_INTERRUPT"), 18);
	assert_int_equal(pattern_match(pattern, "hlt"), -1);
	assert_int_equal(pattern_check(pattern, &error), 0);
	assert_int_equal(pattern_match(pattern, "kvm_nested_vmexit_inject(EXTERNAL_INTERRUPT)"),
			 -1);
	assert_int_equal(pattern_check(pattern, &error), -EINVAL);
	assert_non_null(strstr(error.text, "match limit exceeded"));
	pattern_free(pattern);
}

/* 2,000 groups make a step of the match large: the limit on memory stops it. */
TEST(hostile_patterns_do_not_eat_the_memory)
{
	size_t nr = 2000;
	char *text = calloc(1, 2 * nr + 16), subject[8192];
	long before;

	assert_non_null(text);
	for (size_t i = 0; i < nr; i++)
		strcpy(text + 2 * i, "()");
	strcpy(text + 2 * nr, "(?:.|b)*([xy])");
	before = peak_kib();
	memset(subject, 'a', sizeof(subject));
	subject[sizeof(subject) - 1] = '\0';
	assert_int_equal(match(text, subject), -1);
	assert_true(peak_kib() - before < 100 * 1024); /* without the limit: 300 MiB */
	free(text);
}
