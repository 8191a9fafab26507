// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Paints the list of guests to choose from. The user types a name or a pid in the prompt below, or
 * chooses with arrows.
 */
#include <stdio.h>
#include <string.h>

#include "ui/screen/parts.h"

/* How many guests match, and the chosen guest's index among them; 0 also if none is chosen. */
static size_t count_matches(const struct screen *screen, const char *typed, size_t *ret_chosen)
{
	const struct guest *guest;
	size_t nr = 0;

	*ret_chosen = 0;
	for (size_t i = 0; (guest = guests_at(screen->facts->guests, i)); i++) {
		if (!screen_matches_guest(guest, typed))
			continue;
		if (guest->id == screen->chosen_guest)
			*ret_chosen = nr;
		nr++;
	}
	return nr;
}

/* Makes the chosen guest visible. */
static void scroll_guests(struct screen *screen, size_t chosen, size_t nr)
{
	size_t page = screen->page_rows;

	if (chosen < screen->guests_top)
		screen->guests_top = chosen;
	else if (page && chosen >= screen->guests_top + page)
		screen->guests_top = chosen - page + 1;
	if (screen->guests_top + page > nr)
		screen->guests_top = nr > page ? nr - page : 0;
}

static void put_guest(const struct screen *screen, struct grid *grid, int row,
		      const struct guest *guest)
{
	enum style style = guest->id == screen->chosen_guest ? STYLE_SELECTED : STYLE_PLAIN;
	char pid[16] = "-";

	if (guest->pid)
		snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
	if (style != STYLE_PLAIN)
		grid_style(grid, row, 0, style);
	grid_printf(grid, row, 1, style, "%7s %4zu  %s", pid, guest->nr_vcpus, guest->name);
}

/* How many guests there are above and below the visible ones. */
static void put_others(const struct screen *screen, struct grid *grid, int row, size_t nr)
{
	size_t above = screen->guests_top, below = nr - above - screen->page_rows;

	if (above)
		grid_printf(grid, row, 1, STYLE_DIM, "%7s and %zu more above, %zu below", "", above,
			    below);
	else
		grid_printf(grid, row, 1, STYLE_DIM, "%7s and %zu more", "", below);
}

void guests_paint(struct screen *screen, struct grid *grid, int first_row, int last_row)
{
	const struct guests *guests = screen->facts->guests;
	const struct guest *guest;
	char typed[PROMPT_BYTES];
	size_t chosen, nr, at = 0, room = last_row > first_row ? (size_t)(last_row - first_row) : 0;

	prompt_text(&screen->prompt, typed, sizeof(typed));
	nr = count_matches(screen, typed, &chosen);
	screen->page_rows = nr > room && room ? room - 1 : room;
	scroll_guests(screen, chosen, nr);
	grid_style(grid, first_row, 0, STYLE_HEADING);
	grid_printf(grid, first_row, 1, STYLE_HEADING, "%7s %4s  %s", "PID", "vCPU", "Guest");
	for (size_t i = 0; (guest = guests_at(guests, i)); i++) {
		if (!screen_matches_guest(guest, typed) || at++ < screen->guests_top ||
		    at > screen->guests_top + screen->page_rows)
			continue;
		put_guest(screen, grid, first_row + (int)(at - screen->guests_top), guest);
	}
	if (nr > room && room)
		put_others(screen, grid, last_row, nr);
	if (!nr)
		grid_put(grid, first_row + 1, 1, STYLE_PLAIN,
			 guests_count(guests) ? "No guest has this name." :
						"No guest is running.");
}
