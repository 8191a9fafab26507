// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds to JSON objects. */
#include <errno.h>

#include "ui/lines/json_object.h"

int json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

int json_add_new(struct json_object *object, const char *key, struct json_object *value)
{
	return value ? json_add(object, key, value) : -ENOMEM;
}
