// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_pattern - any text as a pattern, any text to search: no crash, no hang, no match out of
 * bounds.
 *
 * The first line of the input is the pattern, the rest is searched.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *copy(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static int is_plain(const char *text)
{
	while (isalnum((unsigned char)*text) || *text == '_')
		text++;
	return !*text;
}

/* Words mean themselves: strstr() has the answer. */
static void check_word(const struct pattern *pattern, const char *subject)
{
	const char *word = pattern_text(pattern), *found = strstr(subject, word);

	if (pattern_match(pattern, subject) != (found ? found - subject + (long)strlen(word) : -1))
		abort();
}

static void check(const struct pattern *pattern, const char *text, const char *subject)
{
	long end = pattern_match(pattern, subject);

	if (strcmp(pattern_text(pattern), text) != 0)
		abort();
	if (end < -1 || end > (long)strlen(subject))
		abort();
	if (pattern_match(pattern, "kvm_exit(HLT)") > 13)
		abort();
	if (pattern_match(pattern, subject) != end)
		abort();
	if (is_plain(text) && is_plain(subject))
		check_word(pattern, subject);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t len = newline ? (size_t)(newline - data) : size;
	char *text = copy(data, len), *subject = copy(data + len, size - len);
	struct pattern *pattern;
	struct error error = { "" };

	if (pattern_new(text, &pattern, &error) == 0) {
		check(pattern, text, subject + !!newline);
		pattern_free(pattern);
	} else if (!error.text[0]) {
		abort();
	}
	free(subject);
	free(text);
	return 0;
}
