/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - reads the `{ value, "name" }` lists of an event's print format.
 *
 * The text comes from the kernel or from a recording: any text must be safe. The text is read once
 * from left to right; an entry that is not understood (an enum's name, a cast) is left out, the
 * other entries stay. Values are sums of numbers, as the kernel's macros leave them: "(0x24)",
 * "0x040ull + 14", "-1". libtraceevent 1.7 cannot do this: it cannot read __print_symbolic_u64, and
 * cuts values to long.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/xalloc.h"

#define BLANKS " \t\r\n"

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, BLANKS);
}

/* p is at a quote. Returns the position after the closing quote, or the end of the text. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
	}
	return *p ? p + 1 : p;
}

/*
 * Each read function returns the position after what it read, or NULL if the text is something
 * else.
 */

/* A number with its suffix and the parentheses round it. */
static const char *read_number(const char *p, uint64_t *ret)
{
	char *end;

	p += strspn(p, BLANKS "(");

	bool is_negative = *p == '-';

	p += is_negative;
	if (!isdigit((unsigned char)*p))
		return NULL;
	errno = 0;
	*ret = strtoull(p, &end, 0);
	if (errno)
		return NULL;
	if (is_negative)
		*ret = -*ret;
	end += strspn(end, "uUlL");
	return end + strspn(end, BLANKS ")");
}

static const char *read_sum(const char *p, uint64_t *ret)
{
	uint64_t sum = 0, number;

	do {
		p = read_number(p, &number);
		if (!p)
			return NULL;
		sum += number;
	} while (*p++ == '+');
	*ret = sum;
	return p - 1;
}

/* Adjacent strings are joined, as in C. `to` needs as many bytes as the text has. */
static const char *read_strings(const char *p, char *to)
{
	p = skip_blanks(p);
	if (*p != '"')
		return NULL;
	while (*p == '"') {
		const char *end = skip_string(p);

		if (end[-1] != '"' || end - p < 2)
			return NULL;
		to = mempcpy(to, p + 1, (size_t)(end - p) - 2);
		p = skip_blanks(end);
	}
	*to = '\0';
	return p;
}

static const char *read_entry(const char *p, uint64_t *ret_code, char *name)
{
	uint64_t code;

	p = read_sum(p + 1, &code);
	if (!p || *p != ',')
		return NULL;
	p = read_strings(p + 1, name);
	if (!p || *p != '}')
		return NULL;
	*ret_code = code;
	return p + 1;
}

/*
 * p is at an opening brace. Returns the position after the closing brace, or the next opening
 * brace.
 */
static const char *skip_entry(const char *p)
{
	p++;
	while (*p && *p != '{' && *p != '}')
		p = *p == '"' ? skip_string(p) : p + 1;
	return p + (*p == '}');
}

/*
 * Reads the entries up to the parenthesis that ends the call. With `list` the entries are stored,
 * and their names at `names`; each entry's name is shorter than its text. Returns the position
 * after the call.
 */
static const char *read_call(const char *p, struct reasons *list, char *names)
{
	int depth = 0;

	while (*p) {
		if (*p == '"') {
			p = skip_string(p);
		} else if (*p == '{') {
			struct reason *reason = list ? &list->list[list->nr] : NULL;
			const char *end = reason ? read_entry(p, &reason->code, names) : NULL;

			if (end) {
				reason->name = names;
				names += strlen(names) + 1;
				list->nr++;
			}
			p = end ? end : skip_entry(p);
		} else if (*p == ')' && depth-- == 0) {
			return p + 1;
		} else {
			depth += *p++ == '(';
		}
	}
	return p;
}

/* The position after the opening parenthesis of the index-th call; NULL: no such call. */
static const char *find_call(const char *p, int index)
{
	static const char call[] = "__print_symbolic";

	while ((p = strstr(p, call))) {
		p += strlen(call);
		if (strncmp(p, "_u64", 4) == 0)
			p += 4;
		if (*p != '(')
			continue;
		p++;
		if (index-- == 0)
			return p;
		p = read_call(p, NULL, NULL);
	}
	return NULL;
}

static size_t count_braces(const char *p, const char *end)
{
	size_t nr = 0;

	for (; p < end; p++)
		nr += *p == '{';
	return nr;
}

int reasons_parse(const char *format, int index, struct reasons *ret)
{
	const char *start = strstr(format, "print fmt:");
	const char *call = index < 0 ? NULL : find_call(start ? start : format, index);

	if (!call)
		return -ENOENT;

	const char *end = read_call(call, NULL, NULL);
	size_t nr = count_braces(call, end) + 1;
	struct reasons found = { .nr = 0 };

	/* One block: the entries, then the names, which are shorter than the text of the call. */
	found.list = xcalloc(1, nr * sizeof(found.list[0]) + (size_t)(end - call) + 1);
	read_call(call, &found, (char *)(found.list + nr));
	*ret = found;
	return 0;
}
