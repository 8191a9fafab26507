// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The server adds up, by as few labels as the views need. Of an answer one series is parsed at a
 * time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/metrics.h"
#include "lib/http/server.h"
#include "lib/json_items.h"
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

/* ---- the answer */

/* What the server says of a failure. */
static int refused(long status, const char *text, size_t size, struct error *error)
{
	struct json_items *items = json_items_new(NULL, text, size, DEPTH, SERIES_MAX);
	struct json_object *root = NULL, *said;
	char clean[256] = "";

	if (json_items_next(items, &root) > 0 &&
	    (said = member(root, "error", json_type_string)))
		utf8_clean(json_object_get_string(said),
			   (size_t)json_object_get_string_len(said), clean, sizeof(clean));
	json_object_put(root);
	json_items_free(items);
	if (status == 401 || status == 403)
		return error_set(error, -EACCES, "the server answers only authorized users (HTTP "
					     "%ld): give user and password, or a token, in "
					     "--http-config FILE", status);
	if (*clean)
		return error_set(error, -EINVAL, "the server refused the query: %s", clean);
	if (memmem(text, size, SERVER_NAME, strlen(SERVER_NAME)))
		return error_set(error, -EBADMSG, SERVER_NAME " answers there, which a Prometheus "
				 "scrapes: give the address of that Prometheus");
	return error_set(error, -EBADMSG,
			 "not an answer of a Prometheus (HTTP %ld): is the address "
			 "right?",
			 status);
}

static int take_series(struct json_object *item, answer_fn take, void *arg)
{
	struct answer_series series = {
		.labels = member(item, "metric", json_type_object),
		.points = member(item, "values", json_type_array),
	};

	if (!series.points) {
		series.points = member(item, "value", json_type_array);
		series.is_single = true;
	}
	return series.labels && series.points ? take(arg, &series) : -EBADMSG;
}

int answer_read(long status, const char *text, size_t size, answer_fn take, void *arg,
		struct error *error)
{
	struct json_items *items = json_items_new(NULL, text, size, DEPTH, SERIES_MAX);
	bool has_list = status == 200 && size && *text == '{' &&
			json_items_begin(items, "\"result\"");
	struct json_object *item;
	int got = 0, err = 0;

	while (has_list && !err && (got = json_items_next(items, &item)) > 0) {
		err = take_series(item, take, arg);
		json_object_put(item);
	}
	json_items_free(items);
	if (!has_list)
		return refused(status, text, size, error);
	err = got < 0 ? -EBADMSG : err;
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
