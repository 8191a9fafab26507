// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds to JSON objects. */
#include "lib/xalloc.h"
#include "ui/lines/json_object.h"

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) < 0)
		out_of_memory();
}

void json_add_new(struct json_object *object, const char *key, struct json_object *value)
{
	json_add(object, key, json_made(value));
}

struct json_object *json_made(struct json_object *object)
{
	if (!object)
		out_of_memory();
	return object;
}

void json_append(struct json_object *array, struct json_object *item)
{
	if (json_object_array_add(array, item) < 0)
		out_of_memory();
}
