/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout - the columns of a view that fit the screen, and their positions.
 */
#ifndef KVMTOP_UI_SCREEN_LAYOUT_H
#define KVMTOP_UI_SCREEN_LAYOUT_H

#include "ui/screen/picture.h"

struct layout {
	int col[VIEW_COLUMNS], width[VIEW_COLUMNS]; /* width 0: the column is not shown */
	size_t name; /* the first column that is shown: has the signs of the tree */
	bool is_grouped[VIEW_COLUMNS]; /* its counts have thousands marks */
	bool is_short[VIEW_COLUMNS]; /* too narrow for its longest number: all have units */
};

/* The sort column is dropped last. */
void layout_make(struct layout *layout, const struct screen *screen, int cols);

#endif
