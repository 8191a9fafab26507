/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * format - numbers as text, the same way in every renderer that is for people.
 */
#ifndef KVMTOP_UI_FORMAT_H
#define KVMTOP_UI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view.h"

/*
 * All write a NUL-terminated text of at most size - 1 bytes and return its length. width is how
 * many columns there are: a number that is too long for them is shortened with a unit (12.3M),
 * never cut.
 */
/* grouped: 1,234 */
int format_count(char *buf, size_t size, uint64_t count, int width, bool grouped);
int format_percent(char *buf, size_t size, double percent);			   /* 45.1 */
int format_duration(char *buf, size_t size, uint64_t ns); /* three digits and ns, µs, ms or s */

/*
 * A cell for people: "-" when absent; text as it is, cut to width columns (not bytes) at a
 * character; rates rounded to whole numbers half to even, as kvm_stat's are. Not for pictures.
 */
int format_cell(char *buf, size_t size, const struct cell *cell, int width, bool grouped);

/* Columns that UTF-8 text takes on a terminal; characters that cannot be printed count as one. */
int format_width(const char *text);

#endif
