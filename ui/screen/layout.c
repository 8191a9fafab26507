// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the columns of a view that fit the screen, and their positions. */
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/parts.h"

#define NAME_MAX 40
#define NAME_NARROW 12 /* below this width numbers become narrow, */
#define NAME_LEAST 6   /* and below this they are dropped */
#define NUMBER_LEAST 5 /* "12.3k" */
#define TOTAL_LEAST 5  /* "Total" */
#define SPARK_MIN 16 /* "History 0-500k/s" */
#define GROUPED_MIN 100 /* from this width on numbers have thousands marks */

/* The input of the layout. */
struct room {
	const struct view *view;
	const struct column *columns;
	size_t nr, sort;
	int wanted[VIEW_COLUMNS]; /* the first width; 0: not for this screen */
	int title[VIEW_COLUMNS];   /* the width of its heading */
	int longest[VIEW_COLUMNS]; /* of its longest text */
	int digits[VIEW_COLUMNS]; /* of its longest number */
	int spare;		  /* free columns of the screen; < 0: missing ones */
};

/* Counts, which have wide columns, have thousands marks; a pid has none. */
static bool is_grouped(const struct column *column, int cols)
{
	enum cell_type type = column_type(column);

	return cols >= GROUPED_MIN && column_width(column) >= 9 &&
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
	return (int)strlen(view_title(screen->view, i)) + (screen->query->sort == i);
}

/* The width of the longest text in all rows, seen or not, so scrolling does not change it. */
static int longest_text(const struct screen *screen, size_t i, int title)
{
	const struct view *view = screen->view;
	int longest = title > NAME_LEAST ? title : NAME_LEAST;

	if (column_type(&view->type->columns[i]) != CELL_TEXT)
		return 0;
	for (size_t at = 0; at < view->nr_rows; at++) {
		const struct view_row *row = &view->rows[at];
		char buf[SCREEN_TEXT_SIZE];
		int width = format_width(screen_text_of(screen, row, i, buf, sizeof(buf)));

		width += !i && row->depth ? SCREEN_BRANCH : 0;
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
	    (screen_is_same_column(screen, i) && i != screen->query->sort))
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

/* The columns that every screen has, at first: without a rank, and what is sorted by. */
static void show_basic(struct layout *layout, struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		if (!room->columns[i].rank || i == room->sort)
			set_width(layout, room, i, room->wanted[i]);
	}
}

/* How many columns of the screen the texts that are shown lack for their usual width. */
static int missing_for_texts(const struct layout *layout, const struct room *room)
{
	int missing = 0;

	for (size_t i = 0; i < room->nr; i++) {
		int usual = column_width(&room->columns[i]);

		if (column_type(&room->columns[i]) == CELL_TEXT && layout->width[i] &&
		    layout->width[i] < usual)
			missing += usual - layout->width[i];
	}
	return missing;
}

/* The lowest rank above one; 0: none. */
static int next_rank(const struct room *room, int above)
{
	int next = 0;

	for (size_t i = 0; i < room->nr; i++) {
		int rank = room->columns[i].rank;

		if (rank > above && (!next || rank < next))
			next = rank;
	}
	return next;
}

/*
 * Shows the columns of a rank if there is room for all of them; a picture only if texts can have
 * their usual width beside it.
 */
static void show_rank(struct layout *layout, struct room *room, int rank)
{
	bool is_of_rank[VIEW_COLUMNS] = { false }, has_picture = false;
	int needed = 0;

	for (size_t i = 0; i < room->nr; i++) {
		is_of_rank[i] = !layout->width[i] && room->wanted[i] &&
				room->columns[i].rank == rank;
		needed += is_of_rank[i] ? room->wanted[i] + 1 : 0;
		has_picture |= is_of_rank[i] && cell_is_picture(column_type(&room->columns[i]));
	}
	if (has_picture)
		needed += missing_for_texts(layout, room);
	if (room->spare < needed)
		return;
	for (size_t i = 0; i < room->nr; i++) {
		if (is_of_rank[i])
			set_width(layout, room, i, room->wanted[i]);
	}
}

/* Makes columns narrower, texts or numbers: not below least, nor numbers below their title. */
static void squeeze(struct layout *layout, struct room *room, bool texts, int least)
{
	for (size_t i = room->nr; i-- > 0 && room->spare < 0;) {
		const struct column *column = &room->columns[i];
		int narrow = texts ? least : room->title[i];

		if ((column_type(column) == CELL_TEXT) != texts ||
		    (!texts && column_type(column) != CELL_COUNT &&
		     column_type(column) != CELL_RATE))
			continue;
		narrow = narrow > least ? narrow : least;
		if (layout->width[i] + room->spare > narrow)
			narrow = layout->width[i] + room->spare;
		if (layout->width[i] > narrow)
			set_width(layout, room, i, narrow);
	}
}

/* What very small screens leave out, in this order. */
enum rest { REST_NUMBERS, REST_KEYS, REST_SORT };

static void drop_rest(struct layout *layout, struct room *room, enum rest rest)
{
	for (size_t i = room->nr; i-- > 0 && room->spare < 0;) {
		bool is_key = room->columns[i].is_key;
		enum rest this = i == room->sort ? REST_SORT : is_key ? REST_KEYS : REST_NUMBERS;

		if (i != layout->name && this == rest)
			set_width(layout, room, i, 0);
	}
}

/* How wide a text may become. */
enum limit {
	LIMIT_LEAST, /* its least width */
	LIMIT_NAMES, /* as wide as its longest text, up to NAME_MAX */
	LIMIT_USUAL, /* its usual width */
	LIMIT_ALL,   /* as wide as its longest text */
};

static int most_width(const struct room *room, size_t i, enum limit limit)
{
	switch (limit) {
	case LIMIT_LEAST:
		return room->wanted[i];
	case LIMIT_NAMES:
		return room->longest[i] < NAME_MAX ? room->longest[i] : NAME_MAX;
	case LIMIT_USUAL:
		return column_width(&room->columns[i]);
	case LIMIT_ALL:
		return room->longest[i];
	}
	return 0;
}

static bool is_shown_text(const struct layout *layout, const struct room *room, size_t i)
{
	return column_type(&room->columns[i]) == CELL_TEXT && layout->width[i];
}

/*
 * Which columns are shown depends on the least widths only: texts that come and go change no more
 * than the widths of texts. A text that needs less than its least width leaves the rest to others.
 */
static void shrink_texts(struct layout *layout, struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		if (is_shown_text(layout, room, i) && layout->width[i] > room->longest[i])
			set_width(layout, room, i, room->longest[i]);
	}
}

/* Gives the free columns of the screen to the texts, one column to each text in turn. */
static void widen_texts(struct layout *layout, struct room *room, enum limit limit)
{
	bool is_more = true;

	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < room->nr && room->spare > 0; i++) {
			if (!is_shown_text(layout, room, i) ||
			    layout->width[i] >= most_width(room, i, limit))
				continue;
			set_width(layout, room, i, layout->width[i] + 1);
			is_more = true;
		}
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

void layout_make(struct layout *layout, const struct screen *screen, int cols)
{
	struct room room = {
		.view = screen->view,
		.columns = screen->view->type->columns,
		.nr = view_columns(screen->view->type),
		.sort = screen->query->sort,
		.spare = cols,
	};
	int total;

	*layout = (struct layout){ .name = 0 };
	for (size_t i = 0; i < room.nr; i++) {
		layout->is_grouped[i] = is_grouped(&room.columns[i], cols);
		room.digits[i] = longest_number(screen->view, i, layout->is_grouped[i]);
		room.title[i] = title_width(screen, i);
		room.longest[i] = longest_text(screen, i, room.title[i]);
		room.wanted[i] = wanted_width(screen, layout, i, room.digits[i],
					      room.title[i]);
	}
	show_basic(layout, &room);
	layout->name = first_shown(layout, &room);
	squeeze(layout, &room, true, NAME_NARROW);
	squeeze(layout, &room, false, NUMBER_LEAST);
	/* One number beside the name is enough. */
	if (column_type(&room.columns[room.sort]) != CELL_TEXT)
		drop_rest(layout, &room, REST_NUMBERS);
	squeeze(layout, &room, true, NAME_LEAST);
	drop_rest(layout, &room, REST_NUMBERS);
	drop_rest(layout, &room, REST_KEYS);
	room.title[room.sort]--; /* its sign is in the gap */
	squeeze(layout, &room, false, NUMBER_LEAST);
	drop_rest(layout, &room, REST_SORT);
	widen_texts(layout, &room, LIMIT_LEAST);
	for (int rank = next_rank(&room, 0); rank; rank = next_rank(&room, rank))
		show_rank(layout, &room, rank);
	layout->name = first_shown(layout, &room);
	total = TOTAL_LEAST - layout->width[layout->name];
	if (total > 0 && room.spare >= total)
		set_width(layout, &room, layout->name, TOTAL_LEAST);
	if (room.view->nr_rows)
		shrink_texts(layout, &room);
	widen_texts(layout, &room, LIMIT_NAMES);
	widen_spark(layout, &room);
	widen_texts(layout, &room, LIMIT_USUAL);
	widen_texts(layout, &room, LIMIT_ALL);
	place_columns(layout, &room);
}
