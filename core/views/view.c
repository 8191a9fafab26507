// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of views, a view's columns by their names, and its rows. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/array.h"
#include "lib/text.h"
#include "core/views/view.h"

#define VIEW_POINTER(view) &(view),

static const struct view_type *const types[] = { VIEW_LIST(VIEW_POINTER) };

const struct view_type *view_type_at(size_t i)
{
	return i < ARRAY_SIZE(types) && types[i]->key ? types[i] : NULL;
}

const struct view_type *view_type_by_name(const char *name)
{
	for (size_t i = 0; view_type_at(i); i++) {
		if (strcmp(types[i]->name, name) == 0)
			return types[i];
	}
	return NULL;
}

const struct view_type *view_type_by_key(uint32_t key)
{
	for (size_t i = 0; view_type_at(i); i++) {
		if ((uint32_t)types[i]->key == key)
			return types[i];
	}
	return NULL;
}

static void add_word(char *buf, size_t size, const char *word)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s", len ? ", " : "", word);
}

void view_type_names(char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; view_type_at(i); i++)
		add_word(buf, size, types[i]->name);
}

void view_type_titles(char *buf, size_t size)
{
	size_t len;

	buf[0] = '\0';
	for (size_t i = 0; view_type_at(i); i++) {
		if (types[i]->key > '9')
			continue;
		len = strlen(buf) + 2 * (i > 0);
		add_word(buf, size, types[i]->title);
		buf[len] = (char)tolower(buf[len]);
	}
}

int view_type_find(const char *name, const struct view_type **ret_type, struct error *error)
{
	const char *words[ARRAY_SIZE(types)], *nearest;
	char names[128];
	size_t nr = 0;
	int found;

	for (; view_type_at(nr); nr++)
		words[nr] = types[nr]->name;
	found = word_find(words, nr, name);
	if (found >= 0) {
		*ret_type = types[found];
		return 0;
	}
	view_type_names(names, sizeof(names));
	nearest = word_nearest(words, nr, name);
	return error_set(error, -EINVAL, "\"%s\": no such view%s%s; there are: %s", name,
			 nearest ? "; the nearest is " : "", nearest ? nearest : "", names);
}

size_t view_columns(const struct view_type *type)
{
	size_t n = 0;

	while (type->columns[n].id)
		n++;
	return n;
}

int view_column(const struct view_type *type, enum column_id id)
{
	for (int i = 0; type->columns[i].id; i++) {
		if (type->columns[i].id == id)
			return i;
	}
	return -ENOENT;
}

static int column_by_name(const struct view_type *type, const char *name)
{
	for (int i = 0; type->columns[i].id; i++) {
		if (strcmp(column_name(&type->columns[i]), name) == 0)
			return i;
	}
	return -ENOENT;
}

/* Other names of columns: short ones, and the ones of `perf kvm stat`. */
static const struct {
	const char *word, *id;
} aliases[] = {
	{ "sample", "total" },	       { "percent_sample", "total_percent" },
	{ "time", "time_ns" },	       { "percent_time", "time_percent" },
	{ "min", "min_ns" },	       { "min_time", "min_ns" },
	{ "avg", "avg_ns" },	       { "mean", "avg_ns" },
	{ "mean_time", "avg_ns" },     { "stddev", "stddev_ns" },
	{ "p50", "p50_ns" },	       { "p99", "p99_ns" },
	{ "max", "max_ns" },	       { "max_time", "max_ns" },
	{ "exits/s", "rate" }, /* the heading where rows are owners */
};

int view_column_by_id(const struct view_type *type, const char *id)
{
	int column = column_by_name(type, id);

	for (size_t i = 0; column < 0 && i < ARRAY_SIZE(aliases); i++) {
		if (strcasecmp(aliases[i].word, id) == 0)
			column = column_by_name(type, aliases[i].id);
	}
	return column;
}

/* A column by what users type: its heading or its name, or the begin of one. */
static int column_by_word(const struct view_type *type, const char *typed,
			  const char **ret_nearest)
{
	const char *titles[VIEW_COLUMNS], *names[VIEW_COLUMNS];
	int column = view_column_by_id(type, typed);
	size_t nr = 0;

	for (; type->columns[nr].id; nr++) {
		titles[nr] = column_title(&type->columns[nr]);
		names[nr] = column_name(&type->columns[nr]);
	}
	if (column < 0)
		column = word_find(titles, nr, typed);
	if (column < 0)
		column = word_find(names, nr, typed);
	*ret_nearest = word_nearest(names, nr, typed);
	return column;
}

/* Whether rows can be sorted by it: no picture, and nothing that is always absent. */
static bool is_sortable(const struct column *column, bool is_recording)
{
	return !cell_is_picture(column_type(column)) &&
	       !(is_recording ? column->is_of_live : column->is_of_recording);
}

void view_column_ids(const struct view_type *type, bool is_recording, char *buf, size_t size)
{
	buf[0] = '\0';
	for (size_t i = 0; type->columns[i].id; i++) {
		if (is_sortable(&type->columns[i], is_recording))
			add_word(buf, size, column_name(&type->columns[i]));
	}
}

#define LISTED_ACROSS 4

/* The ids as a table of lines, in order from top to bottom. */
static void list_columns(const struct view_type *type, bool is_recording, char *buf, size_t size)
{
	const char *names[VIEW_COLUMNS];
	size_t nr = 0, lines;

	buf[0] = '\0';
	for (size_t i = 0; type->columns[i].id; i++) {
		if (is_sortable(&type->columns[i], is_recording))
			names[nr++] = column_name(&type->columns[i]);
	}
	lines = (nr + LISTED_ACROSS - 1) / LISTED_ACROSS;
	for (size_t line = 0; line < lines; line++) {
		text_add(buf, size, "\n ");
		for (size_t i = line; i < nr; i += lines)
			text_add(buf, size, i + lines < nr ? " %-18s" : " %s", names[i]);
	}
}

int view_column_find(const struct view_type *type, const char *id, bool is_recording,
		     size_t *ret_column, struct error *error)
{
	const char *nearest;
	int column = column_by_word(type, id, &nearest);
	bool is_tab = view_type_by_name(type->name);
	char list[sizeof(error->text)];

	if (column < 0 || !is_sortable(&type->columns[column], is_recording)) {
		list_columns(type, is_recording, list, sizeof(list));
		return error_set(error, -EINVAL,
				 "\"%s\": no column to sort by%s%s%s%s; there are:%s", id,
				 is_tab ? " in view " : "", is_tab ? type->name : "",
				 column < 0 && nearest ? "; the nearest is " : "",
				 column < 0 && nearest ? nearest : "", list);
	}
	*ret_column = (size_t)column;
	return 0;
}

/* Cells do not move when rows are added: a large tree has a hundred megabytes of them. */
struct cell_block {
	struct cell_block *before;
	size_t nr, room;
	struct cell cells[];
};

#define BLOCK_CELLS 1024 /* of the first; each further one is as large as all before it */

static struct cell *add_cells(struct view *view, size_t nr)
{
	struct cell_block *block = view->blocks;
	struct cell *cells;

	if (!block || block->room - block->nr < nr) {
		size_t room = block ? 2 * block->room : BLOCK_CELLS;

		block = xmalloc(sizeof(*block) + room * sizeof(*cells));
		block->before = view->blocks;
		block->nr = 0;
		block->room = room;
		view->blocks = block;
	}
	cells = &block->cells[block->nr];
	block->nr += nr;
	return memset(cells, 0, nr * sizeof(*cells));
}

static void free_blocks(struct cell_block *block)
{
	while (block) {
		struct cell_block *before = block->before;

		free(block);
		block = before;
	}
}

void view_begin(struct view *view, const struct view_type *type)
{
	view->type = type;
	view->nr_rows = 0;
	if (view->blocks) { /* the largest serves again */
		free_blocks(view->blocks->before);
		view->blocks->before = NULL;
		view->blocks->nr = 0;
	}
	view->total = (struct view_row){
		.field = FIELD_NONE, .vcpu = -1, .cells = add_cells(view, VIEW_COLUMNS),
	};
}

struct view_row *view_add(struct view *view)
{
	struct view_row *row;

	array_grow_unset(&view->rows, &view->room_rows, view->nr_rows + 1);
	row = &view->rows[view->nr_rows++];
	*row = (struct view_row){
		.field = FIELD_NONE, .vcpu = -1,
		.cells = add_cells(view, view_columns(view->type)),
	};
	return row;
}

void *view_memory(struct view *view, size_t size)
{
	return add_cells(view, (size + sizeof(struct cell) - 1) / sizeof(struct cell));
}

const char *view_text(struct view *view, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(view_memory(view, size), text, size);
}

void *view_scratch(struct view *view, size_t size)
{
	array_grow_unset(&view->scratch, &view->scratch_size, size);
	return size ? memset(view->scratch, 0, size) : NULL;
}

void view_release(struct view *view)
{
	free(view->rows);
	free_blocks(view->blocks);
	rollup_release(&view->sums);
	free(view->scratch);
	*view = (struct view){ 0 };
}

const char *view_title(const struct view *view, size_t column)
{
	const struct column *of = &view->type->columns[column];

	return view->rate_title && of->id == COL_RATE ? view->rate_title : column_title(of);
}

void view_drop(struct view *view, enum column_id id)
{
	view->absent |= UINT64_C(1) << view_column(view->type, id);
}

bool view_row_is_quiet(const struct view *view, const struct view_row *row)
{
	int delta = view_column(view->type, COL_DELTA);
	int time = view_column(view->type, COL_TIME);

	if (delta >= 0 && row->cells[delta].type == CELL_COUNT && row->cells[delta].count)
		return false;
	if (delta < 0 && time < 0) /* such a row exists only because something happened */
		return false;
	return time < 0 || row->cells[time].type != CELL_NS || !row->cells[time].ns;
}

void view_drop_repeated(struct view *view)
{
	bool is_sums = view->type->groups & GROUP_REASON || view->type == &view_hotspots;
	size_t kept = 0;

	for (size_t i = 0; i < view->nr_rows; i++) {
		const struct view_row *row = &view->rows[i];

		if (!(is_sums || row->is_gone) || !view_row_is_quiet(view, row))
			view->rows[kept++] = *row;
	}
	view->nr_rows = kept;
}
