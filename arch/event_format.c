// SPDX-License-Identifier: GPL-2.0-or-later
/* Cuts a copy of the text into lines, and a field's line into its declaration and numbers. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "arch/event_format.h"
#include "lib/xalloc.h"

#define NUMBER_MAX (1 << 24) /* no record is as long as that */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_name(const char *text)
{
	size_t len = 0;

	while (is_word(text[len]))
		len++;
	return len > 0 && !text[len];
}

/* Digits, then `end`. Returns the position after `end`, or NULL. */
static const char *read_number(const char *p, char end, uint32_t *ret)
{
	uint32_t number = 0;

	if (!isdigit((unsigned char)*p))
		return NULL;
	for (; isdigit((unsigned char)*p); p++) {
		number = 10 * number + (uint32_t)(*p - '0');
		if (number > NUMBER_MAX)
			return NULL;
	}
	if (*p != end)
		return NULL;
	*ret = number;
	return *p ? p + 1 : p;
}

/* "\toffset:8;" at p: the position after it, or NULL. */
static const char *read_attribute(const char *p, const char *name, uint32_t *ret)
{
	size_t len = strlen(name);

	if (!p || *p != '\t' || strncmp(p + 1, name, len) != 0 || p[1 + len] != ':')
		return NULL;
	return read_number(p + 1 + len + 1, ';', ret);
}

/* ---- the declaration of a field */

static bool has_balanced_brackets(const char *text)
{
	bool is_open = false;

	for (; *text; text++) {
		if (*text != '[' && *text != ']')
			continue;
		if (is_open == (*text == '['))
			return false;
		is_open = !is_open;
	}
	return !is_open;
}

/* Cuts the name off: the last word, after which only an array's length may stand. */
static char *cut_name(char *text)
{
	char *end = text + strlen(text), *begin;

	while (end > text && end[-1] == ']') {
		do
			end--;
		while (end > text && *end != '[');
	}
	for (begin = end; begin > text && is_word(begin[-1]);)
		begin--;
	*end = '\0';
	return begin < end && !isdigit((unsigned char)*begin) ? begin : NULL;
}

/* Any bytes may be text: events declare it as char, as u8 or as s8. */
static bool is_of_bytes(const char *text, const char *name)
{
	static const char *const bytes[] = { "char", "u8", "s8" };

	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		const char *found = strstr(text, bytes[i]);

		if (found && found < name)
			return true;
	}
	return false;
}

/* "unsigned int exit_reason", "char comm[16]", "__data_loc char[] name". */
static int read_declaration(char *text, struct trace_field *field)
{
	bool is_array = strchr(text, '[');

	if (!has_balanced_brackets(text))
		return -EINVAL;
	field->name = cut_name(text);
	if (!field->name)
		return -EINVAL;
	if (is_array)
		field->flags |= TRACE_FIELD_ARRAY;
	if (is_array && is_of_bytes(text, field->name))
		field->flags |= TRACE_FIELD_STRING;
	if (strncmp(text, "__data_loc", 10) == 0)
		field->flags |= TRACE_FIELD_DYNAMIC;
	if (strncmp(field->name, "common_", 7) == 0)
		field->flags |= TRACE_FIELD_COMMON;
	return 0;
}

/* ---- lines */

/* Very old kernels have no "signed". A kernel of the future may have more. */
static int read_numbers(const char *p, struct trace_field *field)
{
	uint32_t is_signed = 0;

	p = read_attribute(p, "offset", &field->offset);
	p = read_attribute(p, "size", &field->size);
	if (p && *p)
		p = read_attribute(p, "signed", &is_signed);
	if (is_signed)
		field->flags |= TRACE_FIELD_SIGNED;
	return p && (!*p || *p == '\t') ? 0 : -EINVAL;
}

static int read_field(char *text, size_t *room, struct format *format)
{
	struct trace_field field = { .name = NULL };
	char *numbers = strchr(text, ';');
	int err;

	if (!numbers)
		return -EINVAL;
	*numbers = '\0';
	err = read_numbers(numbers + 1, &field);
	if (!err)
		err = read_declaration(text, &field);
	if (err)
		return err;
	*array_add(format->fields, format->nr_fields, *room) = field;
	return 0;
}

static bool is_printable(const char *line)
{
	while (*line == '\t' || (*line >= ' ' && *line <= '~'))
		line++;
	return !*line;
}

static int read_line(char *line, size_t *room, struct format *format)
{
	if (!is_printable(line))
		return -EINVAL;
	if (!*line || strcmp(line, "format:") == 0)
		return 0;
	if (strncmp(line, "name: ", 6) == 0) {
		format->name = line + 6;
		return is_name(format->name) ? 0 : -EINVAL;
	}
	if (strncmp(line, "ID: ", 4) == 0)
		return read_number(line + 4, '\0', &format->id) && format->id < FORMAT_IDS ?
			       0 : -EINVAL;
	if (strncmp(line, "\tfield:", 7) != 0)
		return -EINVAL;
	return read_field(line + 7, room, format);
}

static int read_lines(struct format *format)
{
	char *line = format->text, *end;
	size_t room = 0;
	int err = 0;

	format->id = FORMAT_IDS;
	for (; !err && *line && strncmp(line, "print fmt:", 10) != 0; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		err = read_line(line, &room, format);
	}
	format->print = line;
	if (!err && (!format->name || format->id == FORMAT_IDS))
		err = -EINVAL;
	return err;
}

int format_read(const char *text, size_t size, struct format *ret_format)
{
	int err;

	*ret_format = (struct format){ .text = xstrndup(text, size) };
	err = read_lines(ret_format);
	if (err)
		format_release(ret_format);
	return err;
}

void format_release(struct format *format)
{
	free(format->fields);
	free(format->text);
	*format = (struct format){ .text = NULL };
}

const struct trace_field *format_field(const struct format *format, const char *name)
{
	for (size_t i = 0; i < format->nr_fields; i++) {
		if (strcmp(format->fields[i].name, name) == 0)
			return &format->fields[i];
	}
	return NULL;
}
