// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file of a captured machine, sample by sample. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "providers/playback/captured.h"

#define TEXT_MAX ((size_t)256 << 20)

int captured_file_read(struct captured_file *file, const struct provider_args *args,
		       const char *name, struct error *error)
{
	char path[PATH_MAX];
	size_t size;
	int err;

	*file = (struct captured_file){ .args = args };
	env_path(args->env, path, sizeof(path), "%s", name);
	err = read_whole(path, TEXT_MAX, &file->text, &size);
	if (err && err != -ENOENT)
		return error_set(error, err, "cannot read %s: %s", path, strerror(-err));
	file->next = file->text;
	return 0;
}

void captured_file_release(struct captured_file *file)
{
	free(file->counts);
	free(file->text);
}

/* ---- lines */

static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return line + (*line == '\n');
}

static bool is_sample(const char *line)
{
	return strncmp(line, "sample ", 7) == 0;
}

/*
 * The name that a line begins with: up to its last bracket, or where it has none, to its first
 * blank. Returns the length; 0: there is no name, or no number after it.
 */
static size_t take_name(const char *line, char *ret_name)
{
	size_t len = strcspn(line, "\n");
	const char *end = memrchr(line, ')', len);

	len = end ? (size_t)(end - line) + 1 : strcspn(line, " \n");
	if (len >= CAPTURED_NAME || line[len] != ' ')
		return 0;
	memcpy(ret_name, line, len);
	ret_name[len] = '\0';
	return len;
}

/* A number of this line; at its end, 0. */
static uint64_t take_number(const char **at)
{
	char *end;
	uint64_t number;

	*at += strspn(*at, " ");
	if (**at == '\n')
		return 0;
	number = strtoull(*at, &end, 10);
	*at = end;
	return number;
}

#define OPEN " open:"

/* "open:NS BUCKET:COUNT ..."; of either there may be none. */
static void take_rest(const char *at, struct timing *timing)
{
	if (strncmp(at, OPEN, strlen(OPEN)) == 0) {
		at += strlen(OPEN);
		timing->open_ns = take_number(&at);
	}
	while (*at == ' ') {
		uint64_t bucket = take_number(&at), count;

		if (*at++ != ':')
			return;
		count = take_number(&at);
		if (bucket < HIST_BUCKETS)
			timing->hist[bucket] = (uint32_t)count;
	}
}

/* "COUNT", or "COUNT TIME_NS MAX_NS open:NS BUCKET:COUNT ..." */
static void take_value(const char *at, struct captured_count *count)
{
	struct captured_value *value = &count->now;

	*value = (struct captured_value){ .count = take_number(&at) };
	count->is_timed = *at == ' ';
	if (!count->is_timed)
		return;
	value->timing.time_ns = take_number(&at);
	value->timing.max_ns = take_number(&at);
	take_rest(at, &value->timing);
}

/* ---- samples */

/* The sum of a parent's children; the file has none of these. */
static bool is_sum(const struct field *field)
{
	if (field->parent != FIELD_NONE || field->use == USE_EVENT || field->use == USE_CPU)
		return false;
	if (field->use == USE_HOST)
		return field->part == HOST_THREAD;
	return true;
}

static struct captured_count *get_count(struct captured_file *file, int tid, uint32_t field)
{
	struct captured_count *count;

	for (size_t i = 0; i < file->nr_counts; i++) {
		count = &file->counts[i];
		if (count->tid == tid && count->field == field)
			return count;
	}
	count = array_add(file->counts, file->nr_counts, file->room_counts);
	*count = (struct captured_count){ .tid = tid, .field = field };
	return count;
}

static void take_line(struct captured_file *file, int tid, const char *line)
{
	char name[CAPTURED_NAME];
	size_t len = take_name(line, name);
	uint32_t id = len ? fields_find(file->args->fields, name) : FIELD_NONE;
	const struct field *field = id == FIELD_NONE ? NULL : fields_get(file->args->fields, id);
	struct captured_count *count;

	if (!field || field->source != file->args->source || is_sum(field))
		return;
	count = get_count(file, tid, id);
	take_value(line + len, count);
	if (!count->has_before || field->kind != FIELD_COUNTER)
		count->before = count->now;
	count->has_before = true;
}

static uint64_t go_on(uint64_t before, uint64_t now)
{
	return now > before ? now + (now - before) : now;
}

/* Plays the latest interval once more. */
static void repeat(struct captured_file *file)
{
	file->time_ns += file->step_ns;
	for (size_t i = 0; i < file->nr_counts; i++) {
		struct captured_count *count = &file->counts[i];
		struct captured_value before = count->before, *now = &count->now;

		count->before = *now;
		now->count = go_on(before.count, now->count);
		now->timing.time_ns = go_on(before.timing.time_ns, now->timing.time_ns);
		now->timing.open_ns = go_on(before.timing.open_ns, now->timing.open_ns);
		for (unsigned int k = 0; k < HIST_BUCKETS; k++)
			now->timing.hist[k] += now->timing.hist[k] - before.timing.hist[k];
	}
}

static void read_sample(struct captured_file *file, const char *line)
{
	uint64_t before_ns = file->time_ns;
	int tid = 0;

	line += strlen("sample");
	file->time_ns = take_number(&line);
	file->step_ns = before_ns && file->time_ns > before_ns ?
				    file->time_ns - before_ns : 0;
	for (size_t i = 0; i < file->nr_counts; i++)
		file->counts[i].before = file->counts[i].now;
	for (line = next_line(line); *line && !is_sample(line); line = next_line(line)) {
		if (strncmp(line, "thread ", 7) == 0)
			tid = (int)strtol(line + 7, NULL, 10);
		else if (strncmp(line, "host_cpu ", 9) == 0)
			tid = -1 - (int)strtol(line + 9, NULL, 10);
		else
			take_line(file, tid, line);
	}
	file->next = line;
}

void captured_file_advance(struct captured_file *file)
{
	const char *line = file->next;

	while (line && *line && !is_sample(line))
		line = next_line(line);
	if (line && *line)
		read_sample(file, line);
	else
		repeat(file);
}

bool captured_name_next(const char **line, char *ret_name)
{
	size_t len = 0;

	while (!len && *line && **line) {
		len = take_name(*line, ret_name);
		*line = next_line(*line);
	}
	return len;
}
