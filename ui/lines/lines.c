// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes one sample after the other in one of the formats, to a file or standard output. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/file.h"
#include "lib/output.h"
#include "lib/xalloc.h"
#include "lib/when.h"
#include "core/views/view.h"
#include "ui/lines/lines.h"
#include "ui/lines/format.h"

#define HEAD_MAX (1 << 20) /* enough for any header */

static const struct lines_type *const types[] = {
	[LINES_BATCH] = &lines_batch,
	[LINES_TEXT] = &lines_text,
	[LINES_CSV] = &lines_csv,
	[LINES_JSON] = &lines_json,
	[LINES_ROWS] = &lines_rows,
	[LINES_TABLE] = &lines_table,
	[LINES_FOLDED] = &lines_folded,
	[LINES_SVG] = &lines_svg,
};

struct file {
	const char *path; /* the caller's; NULL: standard output */
	FILE *stream;
	bool is_regular;
	bool is_cut; /* its last line has no end yet */
	struct whole_file whole; /* the stream's, if it replaces the old file in the end */
	bool is_written; /* there is something to replace it with */
};

struct lines {
	struct lines_config config;
	const struct lines_type *type;
	void *state;
	struct file file;
	uint64_t nr; /* see struct lines_sample */
};

/* ---- the file */

static int cannot_open(const char *path, int err, const struct error *reason, struct error *error)
{
	return error_set(error, err, "cannot open \"%s\": %s", path,
			 reason->text[0] ? reason->text : strerror(-err));
}

static int cannot_write(const struct file *file, int err, struct error *error)
{
	bool is_full = err == -ENOSPC || err == -EDQUOT;

	if (!file->path)
		return error_set(error, err, "cannot write to standard output: %s", strerror(-err));
	return error_set(error, err, "cannot write to \"%s\": %s%s", file->path, strerror(-err),
			 is_full ? ": make room, or choose another file" : "");
}

/* The size of a regular file now, whatever it was when it was opened; -1: not a regular file. */
static off_t size_of(const struct file *file)
{
	struct stat st;

	if (!file->is_regular || fstat(fileno(file->stream), &st) < 0)
		return -1;
	return st.st_size;
}

/* Reads up to size bytes from an offset on. Returns how many, or -errno. */
static ssize_t read_back(const struct file *file, char *buf, size_t size, off_t offset)
{
	/*
	 * Opened anew: the stream is for writing only, because a pipe open for reading would not
	 * report that its reader is gone.
	 */
	int fd = open(file->path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = pread(fd, buf + len, size - len, offset + (off_t)len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < size);
	n = n < 0 ? -errno : (ssize_t)len;
	close(fd);
	return n;
}

/* Whether a file that is not empty can be continued: see struct lines_type. */
static int check_head(const struct lines *lines, const struct file *file, struct error *error)
{
	off_t size = size_of(file);
	char *head;
	ssize_t len;
	int err;

	if (size <= 0 || !lines->type->check)
		return 0;
	size = size < HEAD_MAX ? size : HEAD_MAX;
	head = xmalloc((size_t)size + 1);
	len = read_back(file, head, (size_t)size, 0);
	head[len > 0 ? len : 0] = '\0';
	if (len < 0)
		err = error_set(error, (int)len, "cannot read \"%s\": %s", file->path,
				strerror((int)-len));
	else
		err = lines->type->check(lines->state, head, file->path, error);
	free(head);
	return err;
}

/*
 * Whether the last line has no end, as after a power cut. A file that cannot be read counts as
 * whole.
 */
static bool is_cut(const struct file *file)
{
	off_t size = size_of(file);
	char last = '\n';

	return size > 0 && read_back(file, &last, 1, size - 1) == 1 && last != '\n';
}

static int close_file(struct file *file, struct error *error)
{
	int err = 0;

	if (file->whole.file && !file->is_written)
		whole_file_drop(&file->whole);
	else if (file->whole.file)
		err = whole_file_keep(&file->whole);
	else
		err = (file->path ? fclose(file->stream) : fflush(stdout)) ? -errno : 0;
	if (err && !file->path)
		clearerr(stdout); /* it is reported here, and not again at the end */
	return err ? cannot_write(file, err, error) : 0;
}

/* The old file stays as it is until all is written. */
static int open_whole(const char *path, struct file *ret_file, struct error *error)
{
	struct file file = { .path = path };
	int err = whole_file_open(&file.whole, path, error);

	if (err)
		return err;
	file.stream = file.whole.file;
	*ret_file = file;
	return 0;
}

static int open_file(const struct lines *lines, struct file *ret_file, struct error *error)
{
	const char *path = lines->config.path;
	int flags = O_WRONLY | O_APPEND | O_CREAT | (lines->config.overwrites ? O_TRUNC : 0);
	struct file file = { .path = path, .stream = stdout };
	struct error reason = { "" };
	struct stat st;
	int fd, err;

	if (!path) {
		*ret_file = file;
		return 0;
	}
	if (lines->config.overwrites && !lines->config.goes_on)
		return open_whole(path, ret_file, error);
	fd = output_open(path, flags, 0644, &reason);
	if (fd < 0)
		return cannot_open(path, fd, &reason, error);
	file.stream = fdopen(fd, "a");
	if (!file.stream || fstat(fd, &st) < 0) {
		err = -errno;
		if (file.stream)
			fclose(file.stream);
		else
			close(fd);
		return cannot_open(path, err, &reason, error);
	}
	file.is_regular = S_ISREG(st.st_mode);
	file.is_cut = is_cut(&file);
	err = check_head(lines, &file, error);
	if (err)
		close_file(&file, NULL);
	else
		*ret_file = file;
	return err;
}

/* Removes the written part of a sample. */
static void restore(struct file *file, off_t size)
{
	__fpurge(file->stream);
	clearerr(file->stream);
	/* Never makes the file longer: another program may have emptied it. */
	if (size >= 0 && size_of(file) > size && ftruncate(fileno(file->stream), size) < 0)
		file->is_cut = true;
}

static int write_file(struct file *file, const char *text, size_t size, struct error *error)
{
	off_t before = size_of(file);
	int err;

	if (file->is_cut)
		fputc('\n', file->stream);
	errno = 0;
	if (fwrite(text, 1, size, file->stream) == size && fflush(file->stream) == 0) {
		file->is_cut = false;
		file->is_written = true;
		return 0;
	}
	err = errno ? -errno : -EIO;
	restore(file, before);
	return cannot_write(file, err, error);
}

/* ---- samples */

static void lines_free(struct lines *lines)
{
	if (lines->type->end)
		lines->type->end(lines->state);
	free(lines);
}

int lines_open(const struct lines_config *config, struct lines **ret_lines, struct error *error)
{
	struct lines *lines = xcalloc(1, sizeof(*lines));
	int err;

	lines->config = *config;
	lines->type = types[config->format];
	if (lines->type->start)
		lines->state = lines->type->start(config);
	err = open_file(lines, &lines->file, error);
	if (err)
		lines_free(lines);
	else
		*ret_lines = lines;
	return err;
}

static bool is_zero(const struct view *view)
{
	for (size_t i = 0; i < view->nr_rows; i++) {
		if (!view_row_is_quiet(view, &view->rows[i]))
			return false;
	}
	return true;
}

/* Standard output may be a terminal, so headers are repeated there; a file has one header. */
static bool needs_header(const struct lines *lines)
{
	if (!lines->file.path)
		return lines->nr % LINES_PAGE == 0;
	if (!lines->file.is_regular)
		return lines->nr == 0;
	return size_of(&lines->file) == 0;
}

int lines_write(struct lines *lines, const struct view *view, uint64_t time_ns,
		uint64_t elapsed_ns, struct error *error)
{
	const struct lines_sample sample = {
		.config = &lines->config,
		.view = view,
		.time_ns = time_ns,
		.elapsed_ns = elapsed_ns,
		.nr = lines->nr,
		.needs_header = needs_header(lines),
	};
	char *text = NULL;
	size_t size;
	FILE *out;
	int err;

	if (lines->config.skip_zero && is_zero(view))
		return 0;
	/* Into memory first, so that the sample is written in one piece. */
	out = open_memstream(&text, &size);
	if (!out)
		out_of_memory();
	lines->type->print(lines->state, out, &sample);
	if (ferror(out) || fclose(out) != 0)
		out_of_memory();
	err = write_file(&lines->file, text, size, error);
	free(text);
	/* After an error the headings are printed again. */
	lines->nr = err ? 0 : lines->nr + 1;
	return err;
}

int lines_reopen(struct lines *lines, struct error *error)
{
	struct file old = lines->file;
	struct error reason = { "" };
	int err;

	if (!old.path)
		return 0;
	err = open_file(lines, &lines->file, &reason);
	if (err)
		return error_set(error, err, "%s; until then the old file is continued",
				 reason.text);
	lines->nr = 0;
	return close_file(&old, error);
}

int lines_close(struct lines *lines, struct error *error)
{
	int err;

	if (!lines)
		return 0;
	err = close_file(&lines->file, error);
	lines_free(lines);
	return err;
}

int lines_write_once(const struct lines_config *config, const struct view *view, uint64_t time_ns,
		     uint64_t elapsed_ns, struct error *error)
{
	struct lines *lines;
	int err = lines_open(config, &lines, error), close_err;

	if (err)
		return err;
	err = lines_write(lines, view, time_ns, elapsed_ns, error);
	close_err = lines_close(lines, err ? &(struct error){ "" } : error);
	return err ? err : close_err;
}

int lines_room(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* ---- times, names and cells */

void lines_time(const struct lines_sample *sample, bool is_iso, char *buf, size_t size)
{
	if (sample->config->start_ns)
		when_format_seconds(buf, size, sample->time_ns - sample->config->start_ns);
	else if (is_iso)
		when_format_iso(buf, size, sample->time_ns);
	else
		when_format_clock(buf, size, sample->time_ns, true, false);
}

bool lines_print_number(FILE *out, double number)
{
	double size = number < 0 ? -number : number;
	uint64_t thousandths;

	if (!(size < 1e15))
		return false;
	thousandths = (uint64_t)(size * 1000 + 0.5);
	fprintf(out, "%s%" PRIu64 ".%03" PRIu64, number < 0 ? "-" : "", thousandths / 1000,
		thousandths % 1000);
	return true;
}

void lines_print_interval(FILE *out, uint64_t elapsed_ns, int width)
{
	uint64_t tenths = (elapsed_ns + 50000000) / 100000000;
	char text[64] = "time";

	/* %f would write the decimal point of the locale. */
	if (tenths)
		snprintf(text, sizeof(text), "time (per %" PRIu64 ".%" PRIu64 " s)", tenths / 10,
			 tenths % 10);
	fprintf(out, "%-*s", width, text);
}

bool lines_has_row(const struct lines_sample *sample, const struct view_row *row)
{
	return !sample->config->skip_zero || !view_row_is_quiet(sample->view, row);
}

bool lines_is_written(const struct view *view, size_t column)
{
	const struct column *of = &view->type->columns[column];

	return !(of->is_of_recording || of->is_of_live) || view_has_column(view, column);
}

const char *lines_id(const struct view *view, size_t column, char *buf)
{
	const char *id = column_name(&view->type->columns[column]);
	size_t len = strlen(id);

	if (view->unit == UNIT_NS || len < 3 || strcmp(id + len - 3, "_ns") != 0)
		return id;
	snprintf(buf, LINES_ID_SIZE, "%.*s_cycles", (int)len - 3, id);
	return buf;
}

const struct cell *lines_cell(const struct view *view, const struct view_row *row,
			      enum column_id id)
{
	static const struct cell none = { .type = CELL_NONE };
	int column = view_column(view->type, id);

	return column < 0 ? &none : &row->cells[column];
}

uint64_t lines_count(const struct cell *cell)
{
	return cell->type == CELL_COUNT ? cell->count : 0;
}

const struct cell *lines_value(const struct view *view, const struct view_row *row)
{
	const struct cell *delta = lines_cell(view, row, COL_DELTA);

	return delta->type == CELL_NONE ? lines_cell(view, row, COL_TOTAL) : delta;
}
