// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads XML: one token after the other, with the path of the elements that are open. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/text.h"
#include "lib/xml.h"

#define TEXT_MAX 1024 /* bytes of a text that are looked at, references resolved */
#define BLANKS " \t\r\n"
#define LITERAL "<![CDATA["
#define LITERAL_END "]]>"
#define REFERENCE_MAX 12 /* "&#x10ffff;", and some leading zeros */

/* Where the document goes on after the next such mark; NULL: it has none. */
static const char *after(const char *at, const char *end, const char *mark)
{
	const char *found = memmem(at, (size_t)(end - at), mark, strlen(mark));

	return found ? found + strlen(mark) : NULL;
}

static bool begins(const struct xml *xml, const char *mark)
{
	size_t len = strlen(mark);

	return (size_t)(xml->end - xml->at) >= len && !memcmp(xml->at, mark, len);
}

static size_t name_length(const char *at, const char *end)
{
	const char *p = at;

	while (p < end && *p && !strchr(BLANKS "!?/>=<'\"&", *p))
		p++;
	return (size_t)(p - at);
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at && strchr(BLANKS, *at))
		at++;
	return at;
}

/* ---- elements */

static bool push(struct xml *xml, const char *name, size_t len)
{
	size_t at = xml->path_len;

	if (at + 1 + len >= sizeof(xml->path))
		return false;
	if (at)
		xml->path[at++] = '/';
	memcpy(xml->path + at, name, len);
	xml->path_len = at + len;
	xml->path[xml->path_len] = '\0';
	return true;
}

/* Where the name of the innermost element begins in the path. */
static size_t innermost(const struct xml *xml)
{
	const char *slash = memrchr(xml->path, '/', xml->path_len);

	return slash ? (size_t)(slash - xml->path) + 1 : 0;
}

static void pop(struct xml *xml)
{
	size_t at = innermost(xml);

	xml->path_len = at ? at - 1 : 0;
	xml->path[xml->path_len] = '\0';
}

/* Takes NAME="VALUE" or NAME='VALUE' off *pos, after blanks. False: something else is there. */
static bool take_attribute(const char **pos, const char *end, const char **ret_name,
			   size_t *ret_name_len, const char **ret_value, size_t *ret_len)
{
	const char *at = skip_blanks(*pos, end), *quote;

	*ret_name = at;
	*ret_name_len = name_length(at, end);
	at = skip_blanks(at + *ret_name_len, end);
	if (!*ret_name_len || at == end || *at != '=')
		return false;
	at = skip_blanks(at + 1, end);
	if (at == end || (*at != '"' && *at != '\''))
		return false;
	quote = memchr(at + 1, *at, (size_t)(end - at - 1));
	if (!quote)
		return false;
	*ret_value = at + 1;
	*ret_len = (size_t)(quote - at - 1);
	*pos = quote + 1;
	return true;
}

static bool take_element(struct xml *xml)
{
	const char *at = xml->at + 1, *name, *value;
	size_t len = name_length(at, xml->end), n;

	if (!len || !push(xml, at, len))
		return false;
	at += len;
	xml->raw = at;
	while (take_attribute(&at, xml->end, &name, &n, &value, &len))
		;
	xml->raw_len = (size_t)(at - xml->raw);
	at = skip_blanks(at, xml->end);
	xml->is_element = true;
	xml->is_empty = at < xml->end && *at == '/';
	at += xml->is_empty;
	xml->at = at + 1;
	return at < xml->end && *at == '>';
}

static bool take_end(struct xml *xml)
{
	const char *at = xml->at + 2;
	size_t len = name_length(at, xml->end), begin = innermost(xml);

	if (!len || len != xml->path_len - begin || memcmp(at, xml->path + begin, len))
		return false;
	at = skip_blanks(at + len, xml->end);
	if (at == xml->end || *at != '>')
		return false;
	pop(xml);
	xml->at = at + 1;
	return true;
}

/* ---- texts */

static void take_text(struct xml *xml)
{
	const char *end = memchr(xml->at, '<', (size_t)(xml->end - xml->at));

	xml->raw = xml->at;
	xml->at = end ? end : xml->end;
	xml->raw_len = (size_t)(xml->at - xml->raw);
	xml->is_literal = false;
}

static bool take_literal(struct xml *xml)
{
	const char *at = xml->at + strlen(LITERAL), *next = after(at, xml->end, LITERAL_END);

	if (!next)
		return false;
	xml->raw = at;
	xml->raw_len = (size_t)(next - at) - strlen(LITERAL_END);
	xml->is_literal = true;
	xml->at = next;
	return true;
}

static bool skip_to(struct xml *xml, const char *mark)
{
	const char *at = after(xml->at + 2, xml->end, mark);

	xml->at = at ? at : xml->end;
	return at;
}

bool xml_next(struct xml *xml)
{
	if (xml->is_empty)
		pop(xml);
	xml->is_element = xml->is_empty = false;
	while (xml->at < xml->end) {
		bool is_good;

		if (*xml->at != '<') {
			take_text(xml);
			return true;
		}
		if (begins(xml, LITERAL) && take_literal(xml))
			return true;
		if (begins(xml, "</"))
			is_good = take_end(xml);
		else if (begins(xml, "<!--"))
			is_good = skip_to(xml, "-->");
		else if (begins(xml, "<?"))
			is_good = skip_to(xml, "?>");
		else if (take_element(xml))
			return true;
		else
			is_good = false;
		if (!is_good)
			xml->at = xml->end;
	}
	xml->is_empty = false;
	return false;
}

/* ---- references */

static size_t put_utf8(uint32_t code, char *at)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = len; i-- > 1; code >>= 6)
		at[i] = (char)(0x80 | (code & 0x3f));
	at[0] = (char)(lead[len] | code);
	return len;
}

/* The character that "&...;" stands for: its length. 0: it stands for none that we have. */
static size_t resolve(const char *reference, size_t len, char *at)
{
	static const struct {
		const char *name;
		char value;
	} names[] = { { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' }, { "&quot;", '"' },
		      { "&apos;", '\'' } };
	const char *digits = reference + 2;
	unsigned long code;
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (len == strlen(names[i].name) && !memcmp(reference, names[i].name, len)) {
			*at = names[i].value;
			return 1;
		}
	}
	if (len < 4 || reference[1] != '#')
		return 0;
	digits += *digits == 'x';
	if (!isxdigit((unsigned char)*digits))
		return 0;
	code = strtoul(digits, &end, digits == reference + 2 ? 10 : 16);
	return code && code <= 0x10ffff && end == reference + len - 1 ?
		       put_utf8((uint32_t)code, at) : 0;
}

/* A line's end is a blank, and a reference that is not known stays as it is. */
static bool clean(const char *raw, size_t len, bool is_literal, char *ret_text, size_t size)
{
	const char *end = raw + len;
	char text[TEXT_MAX];
	size_t at = 0;

	while (raw < end && at + REFERENCE_MAX < sizeof(text)) {
		size_t most = (size_t)(end - raw), n = 0;
		const char *mark = !is_literal && *raw == '&' ?
					   memchr(raw, ';', most < REFERENCE_MAX ? most :
								    REFERENCE_MAX) :
					   NULL;

		if (mark)
			n = resolve(raw, (size_t)(mark + 1 - raw), text + at);
		if (!n)
			text[at] = (char)(*raw && strchr(BLANKS, *raw) ? ' ' : *raw);
		raw = n ? mark + 1 : raw + 1;
		at += n ? n : 1;
	}
	return utf8_clean(text, at, ret_text, size);
}

bool xml_text(const struct xml *xml, char *ret_text, size_t size)
{
	return clean(xml->raw, xml->raw_len, xml->is_literal, ret_text, size);
}

bool xml_attribute(const struct xml *xml, const char *name, char *ret_text, size_t size)
{
	const char *at = xml->raw, *end = at + xml->raw_len, *found, *value;
	size_t found_len, len;

	while (take_attribute(&at, end, &found, &found_len, &value, &len))
		if (found_len == strlen(name) && !memcmp(found, name, found_len))
			return clean(value, len, false, ret_text, size);
	return false;
}
