/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tui_private - the state that the loop in tui.c and the keys in tui_keys.c share.
 */
#ifndef KVMTOP_UI_TUI_PRIVATE_H
#define KVMTOP_UI_TUI_PRIVATE_H

#include <stdbool.h>
#include <time.h>

#include "ui/screen.h"
#include "ui/terminal.h"
#include "ui/tui.h"

#define FIRST_DELAY_S 0.25 /* after a change: the first rates are wanted soon */

struct tui;

#define WAYS_MAX 4

/* Where Enter came from: all that Backspace brings back. */
struct way {
	const struct view_type *type;
	uint32_t guest, reason;
	int32_t vcpu;
	bool has_vcpu, has_reason, has_cursor;
	struct row_id cursor;
	size_t sort;
	bool reverse;
};

/* What the open prompt is for: takes the text, 0 or -errno with why. */
typedef int (*prompt_fn)(struct tui *tui, const char *text, struct why *why);

struct tui {
	struct tui_config config;
	struct query *query;
	struct terminal *terminal;
	struct grid grid;
	struct screen screen;
	struct view view;
	struct pattern *filter; /* one that the user typed; the first is the caller's */
	struct pattern *search;
	prompt_fn prompt_fn;
	char host[64], guest_name[64];
	bool is_guest_named;
	struct way ways[WAYS_MAX];
	size_t nr_ways;
	bool has_entered_guest; /* by Enter; before that the query's guest was: */
	uint32_t guest_before;
	char empty[320];
	int timer;
	double delay_s;
	bool is_opening, has_fresh_question;
	unsigned long samples;
	time_t said_at;
	bool quit;
};

/* Tells the providers what the query needs now. The first sample follows when all of it is open. */
void tui_ask(struct tui *tui);

/* A message in the last line, for a few seconds. */
void tui_say(struct tui *tui, const char *text);

/* The next sample in first_s seconds, the others after the interval. */
void tui_set_timer(struct tui *tui, double first_s);

/* One guest only, or GUEST_ANY; all of its vCPUs. */
void tui_set_guest(struct tui *tui, uint32_t guest);

void tui_press(struct tui *tui, const struct terminal_event *event);
void tui_close_prompt(struct tui *tui);

#endif
