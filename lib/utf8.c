// SPDX-License-Identifier: GPL-2.0-or-later
/* Decodes UTF-8 strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#include <string.h>

#include "lib/array.h"
#include "lib/utf8.h"

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
	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
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
