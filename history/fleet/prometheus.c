// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server adds up, by as few labels as the views need. Of an answer the series are found in the
 * text, and json-c parses one at a time: it makes some fifty bytes of each byte of text.
 */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"
#include "lib/http/server.h"
#include "lib/text.h"
#include "history/fleet/scope.h"
#include "lib/xalloc.h"

#define DEPTH 5 /* { values: [ [ time, value ] ] } has 4 */
#define SERIES_MAX ((size_t)256 << 10) /* bytes: some thousand points */
#define TIME_MAX 1e10 /* seconds: the year 2286 */
#define VALUE_MAX 1e18

/* ---- queries */

#define RATE_WINDOW "5m" /* as in packaging/contrib/prometheus/kvmtop.rules.yml */

char *query_quote(const char *text)
{
	char *quoted = xmalloc(2 * strlen(text) + 1), *at = quoted;

	for (; *text; text++) {
		if (strchr("\"\\\n", *text))
			*at++ = '\\';
		*at++ = *text == '\n' ? 'n' : *text;
	}
	*at = '\0';
	return quoted;
}

static const char *name_of(enum metric_id id)
{
	return metric_at(id)->name;
}

static char *query_of_host(enum query query, const char *host)
{
	static const struct {
		enum metric_id metric;
		const char *sum, *suffix;
	} all[] = {
		[QUERY_EXITS] = { METRIC_EXITS, "sum by (guest, reason)", "" },
		[QUERY_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "sum by (guest, reason)", "" },
		[QUERY_SECONDS] = { METRIC_VCPU_SECONDS, "sum by (guest, vcpu, mode)", "" },
		[QUERY_MEMBERS] = { METRIC_GUEST_INFO, "max by (" METRICS_INFO_LABELS ")", "" },
		[QUERY_FINDINGS] = { METRIC_FINDING, "max by (guest, rule)", "" },
		[QUERY_DURATIONS] = { METRIC_EXIT_DURATION, "sum by (guest, le)", "_bucket" },
	};

	return xasprintf("%s (%s%s{instance=\"%s\"})", all[query].sum,
			 name_of(all[query].metric), all[query].suffix, host);
}

static char *query_of_all(enum query query, bool has_sums)
{
	static const struct {
		enum metric_id metric;
		const char *labels, *rule;
	} rates[] = {
		[QUERY_EXITS] = { METRIC_EXITS, "reason", "instance_reason:kvmtop_exits" },
		[QUERY_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "reason",
				       "instance_reason:kvmtop_exit_seconds" },
		[QUERY_SECONDS] = { METRIC_VCPU_SECONDS, "mode",
				  "instance_mode:kvmtop_vcpu_seconds" },
	};

	if (query == QUERY_MEMBERS)
		return has_sums ? xstrdup(QUERY_HOSTS) :
				  xasprintf("count by (instance) (%s)",
					    name_of(METRIC_GUEST_INFO));
	if (query == QUERY_FINDINGS)
		return xasprintf("max by (instance, rule) (%s)", name_of(METRIC_FINDING));
	if (has_sums)
		return xasprintf("%s:rate" RATE_WINDOW, rates[query].rule);
	return xasprintf("sum by (instance, %s) (rate(%s[" RATE_WINDOW "]))",
			 rates[query].labels, name_of(rates[query].metric));
}

char *query_make(enum query query, const char *host, bool has_sums)
{
	return host ? query_of_host(query, host) : query_of_all(query, has_sums);
}

/* ---- JSON */

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

/* NULL: the text is no JSON, or too long. */
static struct json_object *parse(const char *text, size_t size)
{
	struct json_tokener *tokener = size <= SERIES_MAX ? json_tokener_new_ex(DEPTH) : NULL;
	struct json_object *root;

	if (!tokener)
		return NULL;
	root = json_tokener_parse_ex(tokener, text, (int)size);
	json_tokener_free(tokener);
	return root;
}

/* ---- where values begin and end */

struct piece {
	const char *at, *end;
};

static char next_char(struct piece *text)
{
	while (text->at < text->end && *text->at && strchr(" \t\r\n", *text->at))
		text->at++;
	return text->at < text->end ? *text->at : '\0';
}

/* Takes the character, if it is the next one. */
static bool take_char(struct piece *text, char wanted)
{
	if (!wanted || next_char(text) != wanted)
		return false;
	text->at++;
	return true;
}

static bool take_string(struct piece *text)
{
	if (!take_char(text, '"'))
		return false;
	while (text->at < text->end && *text->at != '"')
		text->at += *text->at == '\\' && text->at + 1 < text->end ? 2 : 1;
	return take_char(text, '"');
}

/* Takes a value, whatever is in it. False: it does not end. */
static bool take_value(struct piece *text, struct piece *ret_value)
{
	size_t depth = 0;
	char c = next_char(text);

	ret_value->at = text->at;
	do {
		if (text->at == text->end || (c == '"' && !take_string(text)))
			return false;
		if (c != '"')
			text->at++;
		depth += c == '{' || c == '[';
		depth -= depth && (c == '}' || c == ']');
		c = text->at < text->end ? *text->at : '\0';
	} while (depth || !strchr(",]}", c));
	ret_value->end = text->at;
	return true;
}

/* The member of an object. False: there is none. */
static bool find_member(struct piece object, const char *name, struct piece *ret_value)
{
	size_t len = strlen(name);
	struct piece key, value;

	if (!take_char(&object, '{'))
		return false;
	do {
		next_char(&object);
		key.at = object.at;
		if (!take_string(&object))
			return false;
		key.end = object.at;
		if (!take_char(&object, ':') || !take_value(&object, &value))
			return false;
		if ((size_t)(key.end - key.at) == len + 2 && !memcmp(key.at + 1, name, len)) {
			*ret_value = value;
			return true;
		}
	} while (take_char(&object, ','));
	return false;
}

/* The text of a string is clean. False: it is no string. */
static bool read_string(struct piece object, const char *name, char *ret_text, size_t size)
{
	struct piece value;
	struct json_object *string;
	bool is_read;

	if (!find_member(object, name, &value))
		return false;
	string = parse(value.at, (size_t)(value.end - value.at));
	is_read = json_object_is_type(string, json_type_string) &&
		  utf8_clean(json_object_get_string(string),
			     (size_t)json_object_get_string_len(string), ret_text, size);
	json_object_put(string);
	return is_read;
}

/* ---- the answer */

/* What the server says of a failure. */
static int refused(long status, struct piece root, struct error *error)
{
	char text[256];

	if (status == 401 || status == 403)
		return error_set(error, -EACCES, "the server answers only authorized users (HTTP "
					     "%ld): give user and password, or a token, in "
					     "--http-config FILE", status);
	if (read_string(root, "error", text, sizeof(text)))
		return error_set(error, -EINVAL, "the server refused the query: %s", text);
	if (memmem(root.at, (size_t)(root.end - root.at), SERVER_NAME, strlen(SERVER_NAME)))
		return error_set(error, -EBADMSG, SERVER_NAME " answers there, which a Prometheus "
				 "scrapes: give the address of that Prometheus");
	return error_set(error, -EBADMSG,
			 "not an answer of a Prometheus (HTTP %ld): is the address "
			 "right?",
			 status);
}

static int take_series(struct piece text, answer_fn take, void *arg)
{
	struct json_object *item = parse(text.at, (size_t)(text.end - text.at));
	struct answer_series series = {
		.labels = member(item, "metric", json_type_object),
		.points = member(item, "values", json_type_array),
	};
	int err = -EBADMSG;

	if (!series.points) {
		series.points = member(item, "value", json_type_array);
		series.is_single = true;
	}
	if (series.labels && series.points)
		err = take(arg, &series);
	json_object_put(item);
	return err;
}

static int each_series(struct piece list, answer_fn take, void *arg)
{
	struct piece item;
	int err = 0;

	if (!take_char(&list, '['))
		return -EBADMSG;
	if (take_char(&list, ']'))
		return 0;
	do {
		err = take_value(&list, &item) ? take_series(item, take, arg) : -EBADMSG;
	} while (!err && take_char(&list, ','));
	return err || take_char(&list, ']') ? err : -EBADMSG;
}

int answer_read(long status, const char *text, size_t size, answer_fn take, void *arg,
		struct error *error)
{
	const struct piece root = { text, text + size };
	struct piece data, list;
	char word[16] = "";
	int err = -EBADMSG;

	if (status != 200 || !find_member(root, "data", &data) ||
	    !read_string(root, "status", word, sizeof(word)) || strcmp(word, "success") != 0)
		return refused(status, root, error);
	if (find_member(data, "result", &list))
		err = each_series(list, take, arg);
	if (err == -EBADMSG)
		error_set(error, err, "not an answer of a Prometheus: is the address right?");
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
