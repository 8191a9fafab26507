/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - reads the `{ value, "name" }` lists of an event's print format.
 *
 * The text comes from the kernel or from a recording: any text must be safe. The text is read once
 * from left to right; an entry that is not understood (an enum's name, a cast) is left out, the
 * other entries stay. libtraceevent 1.7 cannot do this: it cannot read __print_symbolic_u64, and
 * cuts values to long.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "lib/xalloc.h"

/* How deep parentheses and signs may nest; the kernel's macros nest about four deep. */
#define MAX_DEPTH 32

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\r\n");
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

static const char *read_number(const char *p, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*p))
		return NULL;
	errno = 0;
	unsigned long long value = strtoull(p, &end, 0);

	if (errno)
		return NULL;
	end += strspn(end, "uUlL");
	if (is_word(*end) || *end == '.')
		return NULL;
	*ret = value;
	return end;
}

static const char *read_expression(const char *p, int level, int depth, uint64_t *ret);

static const char *read_term(const char *p, int depth, uint64_t *ret)
{
	uint64_t value = 0;
	char sign;

	if (depth > MAX_DEPTH)
		return NULL;
	p = skip_blanks(p);
	switch (sign = *p) {
	case '(':
		p = read_expression(p + 1, 0, depth + 1, &value);
		p = p ? skip_blanks(p) : NULL;
		if (!p || *p++ != ')')
			return NULL;
		break;
	case '-':
	case '~':
	case '+':
		p = read_term(p + 1, depth + 1, &value);
		value = sign == '-' ? -value : sign == '~' ? ~value : value;
		break;
	default:
		p = read_number(p, &value);
	}
	*ret = value;
	return p;
}

/* How strongly the operator at p binds; 0: no known operator. */
static int operator_level(const char *p)
{
	switch (*p) {
	case '|':
		return 1;
	case '^':
		return 2;
	case '&':
		return 3;
	case '<':
	case '>':
		return p[1] == *p ? 4 : 0;
	case '+':
	case '-':
		return 5;
	case '*':
		return 6;
	default:
		return 0;
	}
}

static uint64_t apply(char operator, uint64_t a, uint64_t b)
{
	switch (operator) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return b < 64 ? a << b : 0;
	case '>':
		return b < 64 ? a >> b : 0;
	case '+':
		return a + b;
	case '-':
		return a - b;
	default:
		return a * b;
	}
}

/*
 * Reads operators that bind more strongly than `level`. Recursion: at most six levels for each
 * depth.
 */
static const char *read_expression(const char *p, int level, int depth, uint64_t *ret)
{
	uint64_t value, right;

	p = read_term(p, depth, &value);
	while (p) {
		p = skip_blanks(p);

		char operator = *p;
		int binds = operator_level(p);

		if (binds <= level) {
			*ret = value;
			return p;
		}
		p = read_expression(p + (binds == 4 ? 2 : 1), binds, depth, &right);
		if (p)
			value = apply(operator, value, right);
	}
	return NULL;
}

static char unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

/* Copies a C string without its quotes; returns the end of the copy. */
static char *copy_string(char *to, const char *from, const char *end)
{
	for (from++; from < end - 1; from++) {
		if (*from != '\\')
			*to++ = *from;
		else
			*to++ = unescape(*++from);
	}
	return to;
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
		to = copy_string(to, p, end);
		p = skip_blanks(end);
	}
	*to = '\0';
	return p;
}

static const char *read_entry(const char *p, uint64_t *ret_code, char *name)
{
	uint64_t code;

	p = read_expression(p + 1, 0, 0, &code);
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

static bool takes_list(const char *word, size_t len)
{
	static const char *const calls[] = { "__print_symbolic", "__print_symbolic_u64",
					     "__print_flags", "__print_flags_u64" };

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strlen(calls[i]) == len && strncmp(word, calls[i], len) == 0)
			return true;
	}
	return false;
}

/*
 * The position after the opening parenthesis of the index-th call that takes a list; NULL: no such
 * call.
 */
static const char *find_call(const char *p, int index)
{
	while (*p) {
		const char *word = p;

		while (is_word(*p))
			p++;
		if (p == word) {
			p = *p == '"' ? skip_string(p) : p + 1;
			continue;
		}
		if (!takes_list(word, (size_t)(p - word)) || *skip_blanks(p) != '(')
			continue;
		p = skip_blanks(p) + 1;
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
