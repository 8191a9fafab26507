// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the columns of a view that fit the screen, and their positions. */
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"

#define NAME_MAX 40
#define NAME_NARROW 12 /* a name is narrower only if nothing but one number is beside it */
#define NAME_LEAST 6
#define NUMBER_LEAST 5 /* "12.3k" */
#define TOTAL_LEAST 5  /* "Total" */
#define SPARK_MIN 16 /* "History 0-500k/s" */
#define INDENT_PART 7 /* of the width: most that a child is indented by */

/* The input of the layout. */
struct room {
	const struct column *columns;
	size_t nr, sort;
	int last_rank;
	int spare; /* free columns of the screen */
	int digits[VIEW_COLUMNS];  /* of a number: its longest */
	int longest[VIEW_COLUMNS]; /* of a text: its longest */
	/* Widths that a column may have: */
	int least[VIEW_COLUMNS];  /* else it is not shown */
	int narrow[VIEW_COLUMNS]; /* of a text beside several numbers */
	int wanted[VIEW_COLUMNS]; /* the first width; 0: not for this screen */
	int named[VIEW_COLUMNS];  /* of a text: as its longest, up to NAME_MAX */
	int regular[VIEW_COLUMNS];
};

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Counts, which have wide columns, have thousands marks; a pid has none. */
static bool is_grouped(const struct screen *screen, const struct column *column)
{
	enum cell_type type = column_type(column);

	return screen->has_marks && column_width(column) >= 9 &&
	       (type == CELL_COUNT || type == CELL_RATE);
}

/*
 * The digits of the Total: no row has more, and scrolling does not change them. 0: the column has
 * no Total, such as a pid; its own width suffices.
 */
static int longest_number(const struct view *view, size_t column, bool grouped)
{
	const struct cell *sum = &view->total.cells[column];

	if (sum->type != CELL_COUNT && sum->type != CELL_RATE)
		return 0;
	return format_digits(sum, grouped);
}

static bool is_left(const struct column *column)
{
	return column_type(column) == CELL_TEXT || cell_is_picture(column_type(column));
}

/* With the sort column's sign, which stands before a title at the right, and after others. */
static int title_width(const struct screen *screen, size_t i)
{
	return (int)strlen(view_title(screen->view, i)) + (screen->view->sort == i);
}

/* The width of the longest text in all rows, seen or not, so scrolling does not change it. */
static int longest_text(const struct screen *screen, const struct layout *layout, size_t i,
			int title)
{
	const struct view *view = screen->view;
	int longest = title > NAME_LEAST ? title : NAME_LEAST;

	if (column_type(&view->type->columns[i]) != CELL_TEXT)
		return 0;
	for (size_t at = 0; at < view->nr_rows; at++) {
		const struct view_row *row = &view->rows[at];
		char buf[SCREEN_TEXT_SIZE];
		int width = format_width(screen_text_of(screen, row, i, buf, sizeof(buf)));

		width += !i && row->depth ? layout_indent(layout, row) + LAYOUT_BRANCH : 0;
		longest = width > longest ? width : longest;
	}
	return longest;
}

static int wanted_width(const struct screen *screen, const struct layout *layout, size_t i,
			int digits, int title)
{
	const struct column *column = &screen->view->type->columns[i];
	int width = column_width(column);

	if (!screen_has_column(screen, i) || column_is_sentence(column) ||
	    (screen_is_same_column(screen, i) && i != screen->view->sort))
		return 0;
	if (column_type(column) == CELL_TEXT)
		return column->least;
	if (column_type(column) == CELL_SPARK)
		return SPARK_MIN;
	if (layout->is_grouped[i]) /* a mark for every three digits */
		width += (width + 2) / 3;
	width = title > width && !is_left(column) ? title : width;
	return digits > width ? digits : width;
}

static void set_width(struct layout *layout, struct room *room, size_t i, int width)
{
	room->spare += layout->width[i] ? layout->width[i] + 1 : 0;
	room->spare -= width ? width + 1 : 0;
	layout->width[i] = width;
}

/* Shows the column if there is room for it and `more` characters. False: there is not. */
static bool add(struct layout *layout, struct room *room, size_t i, int width, int more)
{
	if (layout->width[i] || !width)
		return true;
	if (room->spare <= width + more)
		return false;
	set_width(layout, room, i, width);
	return true;
}

/* Gives the free columns of the screen to the columns shown, one to each in turn. */
static void widen(struct layout *layout, struct room *room, bool texts, const int *most)
{
	bool is_more = true;

	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < room->nr && room->spare > 0; i++) {
			if (!layout->width[i] || layout->width[i] >= most[i] ||
			    (column_type(&room->columns[i]) == CELL_TEXT) != texts)
				continue;
			set_width(layout, room, i, layout->width[i] + 1);
			is_more = true;
		}
	}
}

/*
 * The columns that every screen has: the name, the sort column, the keys, and, where there is
 * room, the others without a rank. One number beside the name is enough where the name would become
 * narrow.
 */
static void show_basic(struct layout *layout, struct room *room)
{
	size_t name = 0, sort = room->sort;

	while (name + 1 < room->nr && (!room->wanted[name] ||
				       (room->columns[name].rank && name != sort)))
		name++;
	layout->name = name;
	set_width(layout, room, name, room->spare > NAME_LEAST ? NAME_LEAST : room->spare - 1);
	add(layout, room, sort, room->least[sort], 0);
	add(layout, room, sort, room->least[sort] - 1, 0); /* its sign is in the gap */
	for (size_t i = 0; i < room->nr; i++) {
		if (room->columns[i].is_key && !room->columns[i].rank)
			add(layout, room, i, room->least[i], 0);
	}
	if (sort != name)
		widen(layout, room, true, room->narrow);
	for (size_t i = 0; i < room->nr; i++) {
		if (!room->columns[i].rank && !add(layout, room, i, room->least[i], 0))
			break;
	}
	widen(layout, room, true, room->narrow);
	widen(layout, room, false, room->wanted);
	widen(layout, room, true, room->wanted);
}

/* How many columns of the screen the texts shown lack for their default width. */
static int missing_for_texts(const struct layout *layout, const struct room *room)
{
	int missing = 0;

	for (size_t i = 0; i < room->nr; i++) {
		int more = column_width(&room->columns[i]) - layout->width[i];

		if (column_type(&room->columns[i]) == CELL_TEXT && layout->width[i] && more > 0)
			missing += more;
	}
	return missing;
}

/*
 * The columns with a rank, the lowest first; a picture only beside texts of their default width.
 * The first one without room ends it: else a wider screen, which has it, could lack a narrow one
 * that had its place.
 */
static void show_ranks(struct layout *layout, struct room *room)
{
	bool has_room = true;

	for (int rank = 1; rank <= room->last_rank; rank++) {
		for (size_t i = 0; i < room->nr && has_room; i++) {
			bool is_picture = cell_is_picture(column_type(&room->columns[i]));

			if (room->columns[i].rank == rank)
				has_room = add(layout, room, i, room->wanted[i], is_picture ?
					       missing_for_texts(layout, room) : 0);
		}
	}
}

/*
 * Which columns are shown depends on the least widths only: texts that come and go change no more
 * than the widths of texts. A text that needs less than its least width leaves the rest to other
 * columns.
 */
static void shrink_texts(struct layout *layout, struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		if (column_type(&room->columns[i]) == CELL_TEXT &&
		    layout->width[i] > room->longest[i])
			set_width(layout, room, i, room->longest[i]);
	}
}

/* Makes histories wider, up to the number of rates that are kept. */
static void widen_spark(struct layout *layout, struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		int more = STATS_HISTORY - layout->width[i];

		if (column_type(&room->columns[i]) != CELL_SPARK || !layout->width[i])
			continue;
		more = more < room->spare ? more : room->spare;
		set_width(layout, room, i, layout->width[i] + more);
	}
}

static size_t first_shown(const struct layout *layout, const struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		if (layout->width[i])
			return i;
	}
	return 0;
}

static void place_columns(struct layout *layout, const struct room *room)
{
	int col = 1; /* after the sign of the tree */

	for (size_t i = 0; i < room->nr; i++) {
		layout->col[i] = col;
		col += layout->width[i] ? layout->width[i] + 1 : 0;
		layout->is_short[i] = layout->width[i] < room->digits[i];
	}
}

static void measure(struct room *room, struct layout *layout, const struct screen *screen)
{
	for (size_t i = 0; i < room->nr; i++) {
		enum cell_type type = column_type(&room->columns[i]);
		int title = title_width(screen, i), least = title;

		layout->is_grouped[i] = is_grouped(screen, &room->columns[i]);
		room->digits[i] = longest_number(screen->view, i, layout->is_grouped[i]);
		room->longest[i] = longest_text(screen, layout, i, title);
		room->wanted[i] = wanted_width(screen, layout, i, room->digits[i], title);
		if (type == CELL_TEXT)
			least = NAME_LEAST;
		else if (type != CELL_COUNT && type != CELL_RATE)
			least = room->wanted[i];
		else if (least < NUMBER_LEAST)
			least = NUMBER_LEAST;
		room->least[i] = smaller(least, room->wanted[i]);
		room->narrow[i] = smaller(NAME_NARROW, room->wanted[i]);
		room->named[i] = smaller(NAME_MAX, room->longest[i]);
		room->regular[i] = column_width(&room->columns[i]);
		if (room->columns[i].rank > room->last_rank)
			room->last_rank = room->columns[i].rank;
	}
}

void layout_make(struct layout *layout, const struct screen *screen, int cols)
{
	struct room room = {
		.columns = screen->view->type->columns,
		.nr = view_columns(screen->view->type),
		.sort = screen->view->sort,
		.spare = cols,
	};
	int total;

	*layout = (struct layout){ .most_indent = cols / INDENT_PART };
	measure(&room, layout, screen);
	/* Which columns there are: */
	show_basic(layout, &room);
	show_ranks(layout, &room);
	/* The first one has the word Total. */
	layout->name = first_shown(layout, &room);
	total = TOTAL_LEAST - layout->width[layout->name];
	if (total > 0 && room.spare >= total)
		set_width(layout, &room, layout->name, TOTAL_LEAST);
	/* Who gets the room that is left: names, histories, the other texts. */
	if (screen->view->nr_rows)
		shrink_texts(layout, &room);
	widen(layout, &room, true, room.named);
	widen_spark(layout, &room);
	widen(layout, &room, true, room.regular);
	widen(layout, &room, true, room.longest);
	place_columns(layout, &room);
}
