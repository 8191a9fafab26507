// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_csv_header - any bytes as the header of a CSV that is there already, and any names as ours.
 *
 * What is read back fits where it was, and what we wrote is read back as ours.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ui/lines/format.h"
#include "core/views/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool claim)
{
	if (!claim)
		abort();
}

/* An exact allocation, so that the sanitizer sees a byte too many. */
static char *text_new(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	check(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void read_any(const uint8_t *data, size_t size)
{
	char *text = text_new(data, size), *at = text, *name;
	size_t len = strlen(text), nr = 0, used = 0;

	while ((name = csv_next_name(&at))) {
		check(name >= text && name + strlen(name) <= text + len);
		used += strlen(name) + 1;
		check(used <= len + 1);
		nr++;
	}
	check(nr > 0 && at == NULL);
	free(text);
}

/* Whether a CSV of these columns takes this header for its own. */
static int check_header(const struct fields *fields, const struct field_set *columns, char *head)
{
	struct lines_config config = { .format = LINES_CSV, .fields = fields,
					  .columns = columns };
	struct error error;
	void *state;
	int err;

	state = lines_csv.start(&config);
	err = lines_csv.check(state, head, "file", &error);
	check(err == 0 || (err == -EINVAL && (strstr(error.text, "other columns") ||
					      strstr(error.text, "not a CSV log"))));
	lines_csv.end(state);
	return err;
}

static char *header_new(const struct fields *fields, const struct field_set *columns)
{
	struct lines_config config = { .format = LINES_CSV, .fields = fields,
					  .columns = columns };
	struct view view = { .type = &view_events };
	struct lines_sample sample = { .config = &config, .view = &view, .needs_header = true };
	char *text;
	size_t size;
	void *state;
	FILE *out = open_memstream(&text, &size);

	check(out != NULL);
	state = lines_csv.start(&config);
	lines_csv.print(state, out, &sample);
	fclose(out);
	lines_csv.end(state);
	return text;
}

/* The input up to its first empty line as our names; what follows as the file's header. */
static void compare(const uint8_t *data, size_t size)
{
	char *names = text_new(data, size), *end = strstr(names, "\n\n"), *next, *ours;
	struct fields *fields = fields_new();
	struct field_set columns = { 0 };
	uint32_t id;

	if (end)
		*end = '\0';
	for (char *line = names; line; line = next) {
		struct field spec = { .parent = FIELD_NONE };

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		/* Names with a newline are written, too. */
		for (char *c = line; *c; c++)
			*c = *c == '\x01' ? '\n' : *c;
		spec.name = line;
		id = fields_add(fields, &spec);
		field_set_add(&columns, id);
	}
	ours = header_new(fields, &columns);
	check(check_header(fields, &columns, ours) == 0);
	if (end)
		check_header(fields, &columns, end + 2);
	free(ours);
	free(names);
	fields_free(fields);
	field_set_release(&columns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_any(data, size);
	compare(data, size);
	return 0;
}
