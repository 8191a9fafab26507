// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches regular expressions by PCRE2, and writes bytes as digits. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <ctype.h>
#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/text.h"
#include "lib/xalloc.h"

#define WORD_MAX 64 /* longer words are not compared */

/* ---- regular expressions ---- */

/*
 * A user's pattern must not hang the screen or use up the memory: patterns like (a+)+$ end at these
 * limits. A query tries hundreds of names; a limit is reached in a fraction of a millisecond.
 */
#define MATCH_LIMIT 10000
#define HEAP_LIMIT_KIB 16384

int word_find(const char *const *words, size_t nr, const char *typed)
{
	size_t len = strlen(typed), nr_begin = 0, begins = 0;

	for (size_t i = 0; len && i < nr; i++) {
		if (strcasecmp(words[i], typed) == 0)
			return (int)i;
		if (strncasecmp(words[i], typed, len) != 0)
			continue;
		begins = i;
		nr_begin++;
	}
	return nr_begin == 1 ? (int)begins : -ENOENT;
}

/* How many letters differ, or are missing, or are too many (Levenshtein); b: WORD_MAX at most. */
static size_t word_distance(const char *a, const char *b)
{
	size_t costs[WORD_MAX + 1], len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		costs[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t before = costs[0]++;

		for (size_t j = 1; j <= len; j++) {
			bool is_other = tolower((unsigned char)a[i]) !=
					tolower((unsigned char)b[j - 1]);
			size_t changed = before + is_other, least;

			least = costs[j] < costs[j - 1] ? costs[j] : costs[j - 1];
			before = costs[j];
			costs[j] = changed <= least ? changed : least + 1;
		}
	}
	return costs[len];
}

const char *word_nearest(const char *const *words, size_t nr, const char *typed)
{
	size_t least = (strlen(typed) + 4) / 3;
	const char *nearest = NULL;

	for (size_t i = 0; i < nr && strlen(typed) <= WORD_MAX; i++) {
		size_t distance = strlen(words[i]) <= WORD_MAX ? word_distance(typed, words[i]) :
								 least;

		if (distance < least) {
			least = distance;
			nearest = words[i];
		}
	}
	return nearest;
}

int text_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void hex_put(char *ret_text, const uint8_t *bytes, size_t nr)
{
	ret_text[0] = '\0';
	for (size_t i = 0; i < nr; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", bytes[i]);
}

#define TEXT_SHOWN 70 /* of a long pattern, so that the message has room for the error */

struct pattern {
	char *text;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
	int *failure; /* of the first match that could not be finished; 0: none */
};

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern->failure);
	free(pattern->text);
	free(pattern);
}

/* A letter after a backslash is not one of the names. */
static bool has_capital(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' && text[1])
			text++;
		else if (*text >= 'A' && *text <= 'Z')
			return true;
	}
	return false;
}

int pattern_new(const char *text, struct pattern **ret_pattern, struct error *error)
{
	struct pattern *pattern;
	int number = 0;
	PCRE2_SIZE offset = 0;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
					 PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C |
						 (has_capital(text) ? 0 : PCRE2_CASELESS),
					 &number, &offset, NULL);

	if (!code) {
		char message[120];

		pcre2_get_error_message(number, (PCRE2_UCHAR *)message, sizeof(message));
		return error_set(error, -EINVAL,
				 "\"%.*s%s\" is not a valid regular expression: %s at position %zu",
				 TEXT_SHOWN, text, strlen(text) > TEXT_SHOWN ? "..." : "", message,
				 offset + 1);
	}
	pattern = xcalloc(1, sizeof(*pattern));
	pattern->code = code;
	pattern->text = xstrdup(text);
	pattern->failure = xcalloc(1, sizeof(*pattern->failure));
	pattern->data = pcre2_match_data_create_from_pattern(code, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	if (!pattern->data || !pattern->context)
		out_of_memory();
	pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	pcre2_set_heap_limit(pattern->context, HEAP_LIMIT_KIB);
	*ret_pattern = pattern;
	return 0;
}

const char *pattern_text(const struct pattern *pattern)
{
	return pattern->text;
}

long pattern_match(const struct pattern *pattern, const char *subject)
{
	size_t len = strlen(subject);
	int n;

	if (strcmp(pattern->text, subject) == 0)
		return (long)len;
	n = pcre2_match(pattern->code, (PCRE2_SPTR)subject, len, 0, 0, pattern->data,
			pattern->context);
	if (n < 0 && n != PCRE2_ERROR_NOMATCH && !*pattern->failure)
		*pattern->failure = n;
	return n > 0 ? (long)pcre2_get_ovector_pointer(pattern->data)[1] : -1;
}

int pattern_check(const struct pattern *pattern, struct error *error)
{
	char message[120];

	if (!*pattern->failure)
		return 0;
	pcre2_get_error_message(*pattern->failure, (PCRE2_UCHAR *)message, sizeof(message));
	return error_set(error, -EINVAL,
			 "\"%.*s%s\" cannot be matched with all names: %s: write it without "
			 "repetitions of repetitions",
			 TEXT_SHOWN, pattern->text,
			 strlen(pattern->text) > TEXT_SHOWN ? "..." : "", message);
}
