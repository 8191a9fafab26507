// SPDX-License-Identifier: GPL-2.0-or-later
/* Which columns of a view a screen has room for, and where they go. */
#include <string.h>

#include "ui/numbers.h"
#include "ui/screen/screen_private.h"

#define NAME_MAX 40
#define NAME_NARROW 12 /* below this numbers become narrow, */
#define NAME_LEAST 6   /* and below this they go */
#define NUMBER_LEAST 5 /* "12.3k" */
#define SPARK_MIN 8
#define GROUPED_MIN 100 /* from this width on numbers have thousands marks */

/* What the columns are laid out from. */
struct room {
	const struct view *view;
	const struct column *columns;
	size_t nr, sort;
	int wanted[VIEW_COLUMNS]; /* the width to begin with; 0: not for this screen */
	int digits[VIEW_COLUMNS]; /* of its longest number */
	int spare;		  /* columns of the screen that are nobody's; < 0: too few */
};

/* A pid is a name: only what grows has thousands marks, and wide columns. */
static bool is_grouped(const struct column *column, const struct layout *layout)
{
	return layout->is_grouped && column->width >= 9 &&
	       (column->type == CELL_COUNT || column->type == CELL_RATE);
}

/*
 * Of what grows: the sum of all rows is the largest, and moves nothing when one scrolls. What has
 * no sum, such as a pid, has a width that suffices.
 */
static int longest_number(const struct view *view, size_t column, bool grouped)
{
	const struct cell *sum = &view->total.cells[column];

	if (sum->type != CELL_COUNT && sum->type != CELL_RATE)
		return 0;
	return format_digits(sum, grouped);
}

static int wanted_width(const struct screen *screen, const struct layout *layout, size_t i,
			int digits)
{
	const struct column *column = &screen->view->type->columns[i];
	int width = column->width;

	if (column->flags & COLUMN_MACHINE_ONLY || !view_has_column(screen->view, i) ||
	    (screen_is_same_column(screen, i) && i != screen->query->sort))
		return 0;
	if (column->type == CELL_TEXT)
		return COLUMN_LEAST_OF(column->flags);
	if (column->type == CELL_SPARK)
		return SPARK_MIN;
	if (is_grouped(column, layout)) /* a mark for every three digits */
		width += (width + 2) / 3;
	return digits > width ? digits : width;
}

bool screen_is_same_column(const struct screen *screen, size_t column)
{
	unsigned int flags = screen->view->type->columns[column].flags;

	return (flags & COLUMN_OF_GUEST && screen->query->guest != GUEST_ANY) ||
	       (flags & COLUMN_OF_REASON && screen->query->has_reason);
}

static void set_width(struct layout *layout, struct room *room, size_t i, int width)
{
	room->spare += layout->width[i] ? layout->width[i] + 1 : 0;
	room->spare -= width ? width + 1 : 0;
	layout->width[i] = width;
}

/* By what the columns say themselves: those that are easiest to do without first. */
static void drop_spare(struct layout *layout, struct room *room)
{
	while (room->spare < 0) {
		size_t sparest = room->nr;
		unsigned int rank = 0;

		for (size_t i = 0; i < room->nr; i++) {
			unsigned int this = COLUMN_SPARE_OF(room->columns[i].flags);

			if (layout->width[i] && i != room->sort && this > rank) {
				sparest = i;
				rank = this;
			}
		}
		if (sparest == room->nr)
			return;
		set_width(layout, room, sparest, 0);
	}
}

/* Where a wide column went, a narrow one may have its place: the one worth most first. */
static void fill_up(struct layout *layout, struct room *room)
{
	for (unsigned int rank = 1; rank <= VIEW_COLUMNS; rank++) {
		for (size_t i = 0; i < room->nr; i++) {
			if (!layout->width[i] && room->wanted[i] &&
			    COLUMN_SPARE_OF(room->columns[i].flags) == rank &&
			    room->spare > room->wanted[i])
				set_width(layout, room, i, room->wanted[i]);
		}
	}
}

/* Makes texts, or else numbers, as narrow as it takes: down to least, and a number's title. */
static void squeeze(struct layout *layout, struct room *room, bool texts, int least)
{
	for (size_t i = room->nr; i-- > 0 && room->spare < 0;) {
		const struct column *column = &room->columns[i];
		int narrow = texts ? least : (int)strlen(screen_title_of(room->view, i));

		if ((column->type == CELL_TEXT) != texts ||
		    (!texts && column->type != CELL_COUNT && column->type != CELL_RATE))
			continue;
		narrow = narrow > least ? narrow : least;
		if (layout->width[i] + room->spare > narrow)
			narrow = layout->width[i] + room->spare;
		if (layout->width[i] > narrow)
			set_width(layout, room, i, narrow);
	}
}

/* What very small screens do without: what else names the row, and what is sorted by, go last. */
enum rest { REST_NUMBERS, REST_KEYS, REST_SORT };

static void drop_rest(struct layout *layout, struct room *room, enum rest rest)
{
	for (size_t i = room->nr; i-- > 0 && room->spare < 0;) {
		bool is_key = room->columns[i].flags & COLUMN_KEY;
		enum rest this = i == room->sort ? REST_SORT : is_key ? REST_KEYS : REST_NUMBERS;

		if (i != layout->name && this == rest)
			set_width(layout, room, i, 0);
	}
}

/* How wide a text may become: until all columns have their place, what suffices for it, at most. */
enum limit { LIMIT_WANTED, LIMIT_USUAL, LIMIT_MAX };

static int most_width(const struct layout *layout, const struct room *room, size_t i,
		      enum limit limit)
{
	const struct column *column = &room->columns[i];

	if (column->type != CELL_TEXT || !layout->width[i])
		return 0;
	if (limit == LIMIT_WANTED)
		return room->wanted[i];
	if (limit == LIMIT_MAX && (i == layout->name || column->flags & COLUMN_KEY))
		return NAME_MAX;
	return column->width;
}

/* Gives one column of the screen after the other to each text in turn. */
static void widen_texts(struct layout *layout, struct room *room, enum limit limit)
{
	bool is_more = true;

	while (is_more) {
		is_more = false;
		for (size_t i = 0; i < room->nr && room->spare > 0; i++) {
			if (layout->width[i] >= most_width(layout, room, i, limit))
				continue;
			set_width(layout, room, i, layout->width[i] + 1);
			is_more = true;
		}
	}
}

/* As far as there are rates to show. */
static void widen_spark(struct layout *layout, struct room *room)
{
	for (size_t i = 0; i < room->nr; i++) {
		int more = STATS_HISTORY - layout->width[i];

		if (room->columns[i].type != CELL_SPARK || !layout->width[i])
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
	int col = 1; /* behind the sign of the tree */

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

	*layout = (struct layout){ .is_grouped = cols >= GROUPED_MIN };
	for (size_t i = 0; i < room.nr; i++) {
		layout->grouped[i] = is_grouped(&room.columns[i], layout);
		room.digits[i] = longest_number(screen->view, i, layout->grouped[i]);
		room.wanted[i] = wanted_width(screen, layout, i, room.digits[i]);
		set_width(layout, &room, i, room.wanted[i]);
	}
	drop_spare(layout, &room);
	layout->name = first_shown(layout, &room);
	squeeze(layout, &room, true, NAME_NARROW);
	squeeze(layout, &room, false, NUMBER_LEAST);
	/* One number beside the name is enough. */
	if (room.columns[room.sort].type != CELL_TEXT)
		drop_rest(layout, &room, REST_NUMBERS);
	squeeze(layout, &room, true, NAME_LEAST);
	drop_rest(layout, &room, REST_NUMBERS);
	drop_rest(layout, &room, REST_KEYS);
	drop_rest(layout, &room, REST_SORT);
	widen_texts(layout, &room, LIMIT_WANTED);
	fill_up(layout, &room);
	layout->name = first_shown(layout, &room);
	widen_texts(layout, &room, LIMIT_USUAL);
	widen_spark(layout, &room);
	widen_texts(layout, &room, LIMIT_MAX);
	place_columns(layout, &room);
}
