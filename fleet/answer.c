// SPDX-License-Identifier: GPL-2.0-or-later
/* json-c parses the text; this finds the series in it. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "fleet/answer.h"

#define DEPTH 8 /* { data: { result: [ { values: [ [ time, value ] ] } ] } } has 7 */
#define TIME_MAX 1e10 /* seconds: the year 2286 */
#define VALUE_MAX 1e18

static struct json_object *member(struct json_object *object, const char *name,
				  enum json_type type)
{
	struct json_object *found;

	if (!json_object_is_type(object, json_type_object) ||
	    !json_object_object_get_ex(object, name, &found) ||
	    !json_object_is_type(found, type))
		return NULL;
	return found;
}

/* NULL: the text is no JSON. */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener = size <= INT32_MAX ? json_tokener_new_ex(DEPTH) : NULL;
	struct json_object *root;

	if (!tokener)
		return NULL;
	root = json_tokener_parse_ex(tokener, text, (int)size);
	json_tokener_free(tokener);
	return root;
}

/* What the server says of a failure. */
static int refused(long status, struct json_object *root, struct why *why)
{
	struct json_object *error = member(root, "error", json_type_string);
	char text[256];

	if (status == 401 || status == 403)
		return why_set(why, -EACCES, "the server answers only users that it knows (HTTP "
					     "%ld): give user and password, or a token, in "
					     "--http-config FILE", status);
	if (error && utf8_clean(json_object_get_string(error),
				(size_t)json_object_get_string_len(error), text, sizeof(text)))
		return why_set(why, -EINVAL, "the server refused the query: %s", text);
	return why_set(why, -EBADMSG, "not an answer of a Prometheus (HTTP %ld): is the address "
				      "right?", status);
}

static int each_series(struct json_object *data, answer_fn take, void *arg)
{
	struct json_object *list = member(data, "result", json_type_array);
	size_t nr = list ? json_object_array_length(list) : 0;
	int err = list ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < nr; i++) {
		struct json_object *item = json_object_array_get_idx(list, i);
		struct answer_series series = {
			.labels = member(item, "metric", json_type_object),
			.points = member(item, "values", json_type_array),
		};

		if (!series.points) {
			series.points = member(item, "value", json_type_array);
			series.is_single = true;
		}
		if (!series.labels || !series.points)
			return -EBADMSG;
		err = take(arg, &series);
	}
	return err;
}

int answer_read(long status, const char *text, size_t size, answer_fn take, void *arg,
		struct why *why)
{
	struct json_object *root = parse(text, size);
	struct json_object *data = member(root, "data", json_type_object);
	struct json_object *word = member(root, "status", json_type_string);
	int err = -EBADMSG;

	if (status == 200 && data && word &&
	    strcmp(json_object_get_string(word), "success") == 0) {
		err = each_series(data, take, arg);
		if (err == -EBADMSG)
			why_set(why, err, "not an answer of a Prometheus: is the address right?");
	} else {
		err = refused(status, root, why);
	}
	json_object_put(root);
	return err;
}

bool answer_label(const struct answer_series *series, const char *name, char *ret_text,
		  size_t size)
{
	struct json_object *value = member(series->labels, name, json_type_string);

	return value && utf8_clean(json_object_get_string(value),
				   (size_t)json_object_get_string_len(value), ret_text, size);
}

size_t answer_points(const struct answer_series *series)
{
	return series->is_single ? 1 : json_object_array_length(series->points);
}

static bool number(struct json_object *value, double max, double *ret_number)
{
	double read;

	if (json_object_is_type(value, json_type_string)) {
		const char *text = json_object_get_string(value);
		char *end;

		read = strtod(text, &end);
		if (end == text || *end)
			return false;
	} else if (json_object_is_type(value, json_type_double) ||
		   json_object_is_type(value, json_type_int)) {
		read = json_object_get_double(value);
	} else {
		return false;
	}
	if (!(read >= 0 && read <= max)) /* also of NaN */
		return false;
	*ret_number = read;
	return true;
}

bool answer_point(const struct answer_series *series, size_t i, uint64_t *ret_time_ns,
		  double *ret_value)
{
	struct json_object *point = series->points;
	double time_s, value;

	if (!series->is_single)
		point = json_object_array_get_idx(series->points, i);
	if (!json_object_is_type(point, json_type_array) ||
	    json_object_array_length(point) != 2 ||
	    !number(json_object_array_get_idx(point, 0), TIME_MAX, &time_s) ||
	    !number(json_object_array_get_idx(point, 1), VALUE_MAX, &value))
		return false;
	*ret_time_ns = (uint64_t)llround(time_s * 1e3) * 1000000;
	*ret_value = value;
	return true;
}
