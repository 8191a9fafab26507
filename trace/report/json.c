// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report as one JSON object on one line.
 *
 *	{"files":[{"path":...,"kind":...}],"unit":"ns","wall":...,"events":...,"vcpus":...,
 *	 "rows":[{"reason":"HLT","count":12,...}],"lost":[{"time":...,"cpu":1,"events":7}]}
 *
 * Keys of rows are the ids of the columns. What is absent is null.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "base/utf8.h"
#include "trace/report/report.h"

/* Takes the value over, whatever happens; NULL is null. */
static int add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value) == 0)
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static int add_text(struct json_object *object, const char *key, const char *text)
{
	struct json_object *value = text[0] ? json_object_new_string(text) : NULL;

	return text[0] && !value ? -ENOMEM : add(object, key, value);
}

static int add_number(struct json_object *object, const char *key, uint64_t number)
{
	struct json_object *value = json_object_new_uint64(number);

	return value ? add(object, key, value) : -ENOMEM;
}

static int add_id(struct json_object *object, const char *key, int32_t id)
{
	return id < 0 ? add(object, key, NULL) : add_number(object, key, (uint64_t)id);
}

/* By hand: printf() writes the decimal point of the locale. */
static int add_real(struct json_object *object, const char *key, double real, int digits)
{
	uint64_t one = digits ? 1000 : 1, scaled = 0;
	bool is_large = !(real * (double)one < 1e19);
	struct json_object *value;
	char text[400];

	if (!is_large)
		scaled = (uint64_t)(real * (double)one + 0.5);
	if (is_large)
		snprintf(text, sizeof(text), "%.0f", real);
	else if (digits)
		snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)(scaled / one),
			 (unsigned long long)(scaled % one));
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)scaled);
	value = json_object_new_double_s(real, text);
	return value ? add(object, key, value) : -ENOMEM;
}

static int add_value(struct json_object *object, enum report_column column,
		     const struct value *value)
{
	const char *key = report_columns[column].id;

	if (value->is_absent)
		return add(object, key, NULL);
	switch (report_columns[column].as) {
	case AS_TEXT:
		return add_text(object, key, value->text);
	case AS_ID:
	case AS_COUNT:
		return add_number(object, key, value->number);
	case AS_TIME:
		return add_real(object, key, value->real, 0);
	default:
		return add_real(object, key, value->real, 3);
	}
}

static int add_array(struct json_object *array, struct json_object *item, int err)
{
	if (!err && json_object_array_add(array, item) == 0)
		return 0;
	json_object_put(item);
	return -ENOMEM;
}

static int add_row(const struct report *report, const struct report_row *row,
		   struct json_object *rows)
{
	struct json_object *object = json_object_new_object();
	int err = object ? 0 : -ENOMEM;

	for (enum report_column column = 0; column < NR_COLUMNS && !err; column++) {
		struct value value;

		if (!report_has_column(report, column))
			continue;
		value = report_value(report, row, column);
		err = add_value(object, column, &value);
	}
	return add_array(rows, object, err);
}

static int add_rows(const struct report *report, struct json_object *root)
{
	struct json_object *rows = json_object_new_array();
	int err = rows ? add(root, "rows", rows) : -ENOMEM;

	for (size_t i = 0; i < report->nr_rows && !err; i++)
		err = add_row(report, &report->rows[i], rows);
	return err;
}

static int add_file(const struct trace_info *info, struct json_object *files)
{
	struct json_object *object = json_object_new_object();
	char path[PATH_MAX] = "";
	int err = object ? 0 : -ENOMEM;

	utf8_clean(info->path, strlen(info->path), path, sizeof(path));
	if (!err)
		err = add_text(object, "path", path);
	if (!err)
		err = add_text(object, "kind", trace_kind_name(info->kind));
	if (!err)
		err = add_text(object, "buffer", info->instance);
	if (!err)
		err = add_text(object, "arch", info->arch);
	if (!err)
		err = add_text(object, "release", info->release);
	if (!err)
		err = add_text(object, "clock", info->clock_name);
	return add_array(files, object, err);
}

static int add_files(const struct report *report, struct json_object *root)
{
	struct json_object *files = json_object_new_array();
	const struct trace_info *info;
	int err = files ? add(root, "files", files) : -ENOMEM;

	for (size_t i = 0; (info = trace_file(report->pairing->trace, i)) && !err; i++)
		err = add_file(info, files);
	return err;
}

static int add_loss(const struct recorded_loss *lost, struct json_object *losses)
{
	struct json_object *object = json_object_new_object();
	int err = object ? add_number(object, "time", lost->time) : -ENOMEM;

	if (!err)
		err = add_id(object, "cpu", lost->cpu);
	if (!err)
		err = lost->lost > 0 ? add_number(object, "events", (uint64_t)lost->lost) :
				       add(object, "events", NULL);
	return add_array(losses, object, err);
}

static int add_losses(const struct report *report, struct json_object *root)
{
	const struct pairing *pairing = report->pairing;
	struct json_object *losses = json_object_new_array();
	int err = losses ? add(root, "lost", losses) : -ENOMEM;

	for (size_t i = 0; i < pairing->nr_losses && i < PAIRING_LOSSES && !err; i++)
		err = add_loss(&pairing->losses[i], losses);
	if (!err)
		err = add_number(root, "lost_events", pairing->nr_lost_events);
	return err ? err : add_number(root, "losses", pairing->nr_losses);
}

static int add_all(const struct report *report, struct json_object *root)
{
	double wall = (double)report->wall * (report->ns_per_unit > 0 ? report->ns_per_unit : 1);
	int err = add_files(report, root);

	if (!err)
		err = add_text(root, "unit", report_unit(report));
	if (!err)
		err = add_real(root, "wall", wall, 0);
	if (!err)
		err = add_number(root, "events", report->pairing->nr_events);
	if (!err)
		err = add_number(root, "vcpus", report->total.nr_vcpus);
	if (!err)
		err = add_rows(report, root);
	if (!err && report->has_time)
		err = add_number(root, "unfinished", report->nr_open);
	return err ? err : add_losses(report, root);
}

int report_json(const struct report *report, FILE *out)
{
	struct json_object *root = json_object_new_object();
	const char *text = NULL;
	int err = root ? add_all(report, root) : -ENOMEM;

	if (!err)
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!err && !text)
		err = -ENOMEM;
	if (!err)
		fprintf(out, "%s\n", text);
	json_object_put(root);
	return err;
}
