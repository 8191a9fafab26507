/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_object - adding to JSON objects, with the memory that ran out as an error.
 */
#ifndef KVMTOP_UI_LINES_JSON_OBJECT_H
#define KVMTOP_UI_LINES_JSON_OBJECT_H

#include <json-c/json.h>

/* Takes the value over, whatever happens; value NULL is null. 0 or -ENOMEM. */
int json_add(struct json_object *object, const char *key, struct json_object *value);

/* The same for a value that is not null unless memory ran out. */
int json_add_new(struct json_object *object, const char *key, struct json_object *value);

#endif
