/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_items - the items of a list in JSON, one at a time: json-c makes some fifty bytes of each
 * byte of text, and a list may have any length.
 *
 *	items = json_items_new(file, NULL, 0, depth, most);
 *	if (json_items_begin(items, "\"list\""))
 *		while ((got = json_items_next(items, &item)) > 0)
 *			json_object_put(item);
 *	json_items_free(items);
 */
#ifndef KVMTOP_LIB_JSON_ITEMS_H
#define KVMTOP_LIB_JSON_ITEMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <json-c/json.h>

struct json_items {
	FILE *in; /* NULL: there is no more than data */
	struct json_tokener *tokener;
	size_t most;
	const char *data;
	size_t begin, end; /* of data, what was not taken yet */
	uint64_t offset;   /* of this in the whole */
	char piece[4096]; /* of the file; a slow pipe is not waited for longer */
};

/*
 * Of a file, or of a text. depth: of nested values in an item; most: bytes of an item. The file or
 * text outlives the items.
 */
struct json_items *json_items_new(FILE *in, const char *text, size_t size, int depth, size_t most);
void json_items_free(struct json_items *items);

/* Goes to the list: the whole is one, or an object in which this name, in quotes, has it. */
bool json_items_begin(struct json_items *items, const char *name);

/* The next item, the caller's to put: 1; 0: the list ends; -EINVAL: it is damaged or cut. */
int json_items_next(struct json_items *items, struct json_object **ret_item);

/* Whether there is more text. */
bool json_items_has_more(struct json_items *items);

#endif
