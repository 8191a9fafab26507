/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen - paints the whole picture: the same state gives the same picture.
 */
#ifndef KVMTOP_UI_SCREEN_SCREEN_H
#define KVMTOP_UI_SCREEN_SCREEN_H

#include "ui/screen/picture.h"

/* Paints; moves top, guests_top and page_top so that the chosen row or guest is visible. */
void screen_paint(struct screen *screen, struct grid *grid);

/* Whether the picture has room for what the selected row did over time. */
bool screen_shows_series(const struct screen *screen, const struct grid *grid);

/*
 * Whether the screen has room for tables of what the selected row is made of, and the view has no
 * durations of its own there.
 */
bool screen_has_details(const struct screen *screen, const struct grid *grid);

#endif
