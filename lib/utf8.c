// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes and cleans UTF-8, and cuts what does not fit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/utf8.h"
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

/* ---- what does not fit */

#define CUT "…"
#define DIGITS 8 /* of a hash */

/*
 * text has the first bytes of whole, which does not fit into size: it is made to end at a character
 * with the mark. hash NULL: it is no name.
 */
static void cut(char *text, size_t size, const char *whole, const uint64_t *hash)
{
	size_t room = strlen(CUT) + (hash ? DIGITS : 0) + 1, at = 0, len = strlen(whole);
	bool has_mark = size >= room;

	room = has_mark ? size - room : size - 1;
	for (size_t n = 0; at < len; at += n) {
		uint32_t code;

		n = utf8_decode(whole + at, len - at, &code);
		n = n ? n : 1;
		if (at + n > room)
			break;
	}
	text[at] = '\0';
	if (has_mark && hash)
		snprintf(text + at, size - at, CUT "%08" PRIx32, (uint32_t)(*hash ^ *hash >> 32));
	else if (has_mark)
		strcpy(text + at, CUT);
}

static void put_char(char *text, size_t size, bool is_name, const char *format, va_list args)
	__attribute__((format(printf, 4, 0)));

static void put_char(char *text, size_t size, bool is_name, const char *format, va_list args)
{
	va_list again;
	int len;

	va_copy(again, args);
	len = vsnprintf(text, size, format, args);
	if (len >= (int)size && size) {
		char *whole = xvasprintf(format, again);
		uint64_t hash = hash_text(HASH_START, whole);

		cut(text, size, whole, is_name ? &hash : NULL);
		free(whole);
	}
	va_end(again);
}

void text_put(char *ret_text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_char(ret_text, size, false, format, args);
	va_end(args);
}

void name_put(char *ret_name, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_char(ret_name, size, true, format, args);
	va_end(args);
}

void text_vadd(char *text, size_t size, const char *format, va_list args)
{
	size_t len = strlen(text), mark = strlen(CUT);
	bool was_cut = len >= mark && len + 4 >= size && strcmp(text + len - mark, CUT) == 0;
	va_list again;

	if (was_cut)
		return;
	va_copy(again, args);
	if (vsnprintf(NULL, 0, format, again) >= (int)(size - len) && len + mark >= size)
		cut(text, size, text, NULL); /* there is no room for the mark behind it */
	else
		put_char(text + len, size - len, false, format, args);
	va_end(again);
}

void text_add(char *text, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(text, size, format, args);
	va_end(args);
}

void name_add(char *name, size_t size, const char *format, ...)
{
	va_list args;
	char *more;

	va_start(args, format);
	more = xvasprintf(format, args);
	va_end(args);
	if (strlen(name) + strlen(more) < size) {
		strcat(name, more);
	} else {
		char *whole = xasprintf("%s%s", name, more);

		name_put(name, size, "%s", whole);
		free(whole);
	}
	free(more);
}

bool utf8_clean(const char *raw, size_t len, char *ret_text, size_t size)
{
	uint64_t hash = HASH_START;
	size_t out = 0;

	for (; len && *raw == ' '; len--)
		raw++;
	while (len && raw[len - 1] == ' ')
		len--;
	if (!len || size < 2)
		return false;
	for (size_t i = 0; len >= size && i < len; i++)
		hash = hash_byte(hash, (uint8_t)raw[i]);
	for (; len && out + 1 < size && *raw >= ' ' && *raw <= '~'; len--)
		ret_text[out++] = *raw++; /* nearly all names are no more than this */
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
	ret_text[out] = '\0';
	if (len)
		cut(ret_text, size, ret_text, size < UTF8_NAME_LEAST ? NULL : &hash);
	return true;
}
