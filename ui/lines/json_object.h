/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_object - adds to JSON objects, and returns an error when memory runs out.
 */
#ifndef KVMTOP_UI_LINES_JSON_OBJECT_H
#define KVMTOP_UI_LINES_JSON_OBJECT_H

#include <json-c/json.h>

/* Takes the value over; value NULL is null. */
void json_add(struct json_object *object, const char *key, struct json_object *value);

/* The same for a new value: NULL means that memory ran out. */
void json_add_new(struct json_object *object, const char *key, struct json_object *value);

/* A new value, for which memory did not run out. */
struct json_object *json_made(struct json_object *object);

/* Takes the item over. */
void json_append(struct json_object *array, struct json_object *item);

#endif
