// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the list in the text, and has json-c read item by item. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json_items.h"
#include "lib/xalloc.h"

struct json_items *json_items_new(FILE *in, const char *text, size_t size, int depth, size_t most)
{
	struct json_items *items = xcalloc(1, sizeof(*items));

	items->in = in;
	items->tokener = json_tokener_new_ex(depth);
	if (!items->tokener)
		out_of_memory();
	items->most = most;
	items->data = text;
	items->end = size;
	return items;
}

void json_items_free(struct json_items *items)
{
	json_tokener_free(items->tokener);
	free(items);
}

/* The next byte, which stays unread; -1: the end. */
static int peek(struct json_items *items)
{
	if (items->begin == items->end && items->in) {
		items->data = items->piece;
		items->begin = 0;
		items->end = fread(items->piece, 1, sizeof(items->piece), items->in);
	}
	return items->begin < items->end ? (unsigned char)items->data[items->begin] : -1;
}

bool json_items_has_more(struct json_items *items)
{
	return peek(items) >= 0;
}

static void advance(struct json_items *items, size_t n)
{
	items->begin += n;
	items->offset += n;
}

static int skip(struct json_items *items, const char *what)
{
	int c;

	while ((c = peek(items)) > 0 && strchr(what, c))
		advance(items, 1);
	return c;
}

/* Skips everything up to and including this text. */
static bool find_text(struct json_items *items, const char *text)
{
	size_t matched = 0;
	int c;

	while (text[matched] && (c = peek(items)) >= 0) {
		advance(items, 1);
		if (c == text[matched])
			matched++;
		else
			matched = c == text[0];
	}
	return !text[matched];
}

bool json_items_begin(struct json_items *items, const char *name)
{
	int c = skip(items, " \t\r\n");

	if (c == '{' && find_text(items, name))
		c = skip(items, " \t\r\n:");
	if (c != '[')
		return false;
	advance(items, 1);
	return true;
}

int json_items_next(struct json_items *items, struct json_object **ret_item)
{
	size_t size = 0;

	if (skip(items, " \t\r\n,") == ']')
		return 0;
	json_tokener_reset(items->tokener);
	while (peek(items) >= 0 && size < items->most) {
		size_t left = items->end - items->begin, room = items->most - size;
		size_t n = left < room ? left : room;
		struct json_object *item = json_tokener_parse_ex(
			items->tokener, items->data + items->begin, (int)n);
		enum json_tokener_error error = json_tokener_get_error(items->tokener);

		if (error == json_tokener_continue) {
			advance(items, n);
			size += n;
			continue;
		}
		if (error != json_tokener_success || !item)
			break;
		advance(items, json_tokener_get_parse_end(items->tokener));
		*ret_item = item;
		return 1;
	}
	return -EINVAL;
}
