// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes and cleans UTF-8, and matches regular expressions by PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <errno.h>
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "lib/xalloc.h"

/* ---- UTF-8, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF ---- */

size_t utf8_decode(const char *text, size_t left, uint32_t *ret_code)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *s = (const uint8_t *)text;
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t code = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	if (n == 0 || n > left || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*ret_code = code;
	return n;
}

/*
 * Characters without a picture of their own: Unicode's property Default_Ignorable_Code_Point, and
 * the two that end a line. With them two names look alike, and marks of writing direction garble
 * the line around a name.
 */
static const struct {
	uint32_t first, last;
} invisible[] = {
	{ 0xad, 0xad },	      { 0x34f, 0x34f },	    { 0x61c, 0x61c },	  { 0x115f, 0x1160 },
	{ 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x200b, 0x200f },	  { 0x2028, 0x202e },
	{ 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },	  { 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
	{ 0xe0000, 0xe0fff },
};

static bool is_control(uint32_t code)
{
	if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code & 0xfffe) == 0xfffe)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(invisible); i++)
		if (code >= invisible[i].first && code <= invisible[i].last)
			return true;
	return false;
}

bool utf8_clean(const char *raw, size_t len, char *ret_text, size_t size)
{
	size_t out = 0;

	for (; len && *raw == ' '; len--)
		raw++;
	while (len && raw[len - 1] == ' ')
		len--;
	if (!len || size < 2)
		return false;
	for (size_t n; len; raw += n, len -= n) {
		uint32_t code = 0;
		size_t bytes = utf8_decode(raw, len, &code);
		bool is_plain = bytes && !is_control(code);

		n = bytes ? bytes : 1;
		if (out + (is_plain ? n : 1) >= size)
			break;
		if (is_plain)
			memmove(ret_text + out, raw, n);
		else
			ret_text[out] = '?';
		out += is_plain ? n : 1;
	}
	while (out && ret_text[out - 1] == ' ') /* the cut may have come after a blank */
		out--;
	ret_text[out] = '\0';
	return true;
}

/* ---- regular expressions ---- */

/*
 * A user's pattern must not hang the screen or use up the memory: patterns like (a+)+$ end at these
 * limits. A query tries hundreds of names; a limit is reached in a fraction of a millisecond.
 */
#define MATCH_LIMIT 10000
#define HEAP_LIMIT_KIB 16384

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
