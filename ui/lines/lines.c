// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one sample after the other in one of the formats, to a file or standard output. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/output.h"
#include "lib/xalloc.h"
#include "ui/lines/file.h"
#include "ui/lines/lines.h"
#include "ui/lines/shared.h"

static const struct lines_type *const types[] = {
	[LINES_BATCH] = &lines_batch,
	[LINES_TEXT] = &lines_text,
	[LINES_CSV] = &lines_csv,
	[LINES_JSON] = &lines_json,
	[LINES_ROWS] = &lines_rows,
	[LINES_TABLE] = &lines_table,
	[LINES_LOG_ROWS] = &lines_log_rows,
	[LINES_LOG_TABLE] = &lines_log_table,
};

struct lines {
	struct lines_config config;
	const struct lines_type *type;
	void *state;
	struct lines_file file;
	uint64_t nr; /* see struct lines_sample */
};

static bool is_zero(const struct view *view)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (!view_row_is_quiet(view, &view->rows[i]))
			return false;
	}
	return true;
}

static int try_file(const struct lines *lines, struct lines_file *ret_file, struct error *why)
{
	struct lines_file file;
	char *head = NULL;
	int err = lines_file_open(lines->config.path, lines->config.overwrites, &file, why);

	if (err)
		return err;
	if (lines->type->check)
		err = lines_file_head(&file, &head, why);
	if (!err && head)
		err = lines->type->check(lines->state, head, file.path, why);
	free(head);
	if (err)
		lines_file_close(&file, NULL);
	else
		*ret_file = file;
	return err;
}

/* A log goes on after an upgrade of the kernel, although the new kernel may have other events. */
static int open_file(const struct lines *lines, struct lines_file *ret_file, struct error *why)
{
	struct error difference, moved;
	int err = try_file(lines, ret_file, why);

	if (err != -EEXIST)
		return err;
	difference = *why;
	err = output_set_aside(lines->config.path, NULL, &moved);
	error_set(why, 0, "%s: %s", difference.text, moved.text);
	return err ? err : try_file(lines, ret_file, why);
}

static void lines_free(struct lines *lines)
{
	if (lines->type->end)
		lines->type->end(lines->state);
	free(lines);
}

int lines_open(const struct lines_config *config, struct lines **ret_lines, struct error *why)
{
	struct lines *lines = xcalloc(1, sizeof(*lines));
	int err = 0;

	lines->config = *config;
	lines->type = types[config->format];
	if (lines->type->start)
		err = lines->type->start(config, &lines->state, why);
	if (!err)
		err = open_file(lines, &lines->file, why);
	if (err)
		lines_free(lines);
	else
		*ret_lines = lines;
	return err;
}

/* Standard output may be a terminal, so headers are repeated there; a file has one header. */
static bool needs_header(const struct lines *lines)
{
	if (!lines->file.path)
		return lines->nr % LINES_PAGE == 0;
	if (!lines->file.is_regular)
		return lines->nr == 0;
	return lines_file_is_empty(&lines->file);
}

/* Prints the sample into memory first, so that it is written in one piece. */
static int print(const struct lines *lines, const struct lines_sample *sample, char **ret_text,
		 size_t *ret_size)
{
	FILE *out = open_memstream(ret_text, ret_size);
	int err;

	if (!out)
		out_of_memory();
	err = lines->type->print(lines->state, out, sample);
	if (fclose(out) != 0)
		out_of_memory();
	return err;
}

int lines_write(struct lines *lines, const struct view *view, uint64_t time_ns,
		uint64_t elapsed_ns, struct error *why)
{
	struct lines_sample sample = {
		.config = &lines->config,
		.view = view,
		.time_ns = time_ns,
		.elapsed_ns = elapsed_ns,
		.nr = lines->nr,
		.needs_header = needs_header(lines),
	};
	char *text = NULL;
	size_t size;
	int err;

	if (lines->config.skip_zero && is_zero(view))
		return 0;
	err = print(lines, &sample, &text, &size);
	if (err)
		error_set(why, err, "cannot print a sample: %s", strerror(-err));
	else
		err = lines_file_write(&lines->file, text, size, why);
	free(text);
	/* After an error the headings are printed again. */
	lines->nr = err ? 0 : lines->nr + 1;
	return err;
}

int lines_reopen(struct lines *lines, struct error *why)
{
	struct lines_file old = lines->file;
	struct error reason = { "" };
	int err;

	if (!old.path)
		return 0;
	err = open_file(lines, &lines->file, &reason);
	error_set(why, 0, "%s%s", reason.text,
		  err ? ": the file that was open before is written on" : "");
	if (err)
		return err;
	lines->nr = 0;
	return lines_file_close(&old, why);
}

int lines_close(struct lines *lines, struct error *why)
{
	int err;

	if (!lines)
		return 0;
	err = lines_file_close(&lines->file, why);
	lines_free(lines);
	return err;
}

int lines_write_once(const struct lines_config *config, const struct view *view, uint64_t time_ns,
		     uint64_t elapsed_ns, struct error *why)
{
	struct lines *lines;
	int err = lines_open(config, &lines, why), close_err;

	if (err)
		return err;
	err = lines_write(lines, view, time_ns, elapsed_ns, why);
	close_err = lines_close(lines, err ? &(struct error){ "" } : why);
	return err ? err : close_err;
}

int lines_room(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}
