// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal by ncurses. */
#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/xalloc.h"
#include "ui/screen/terminal.h"

#define USUAL_TERM "xterm-256color"
#define MICE_MAX 8 /* as many as curses remembers */
#define DOUBLE_MS 400 /* the longest time between the two clicks of a double click */
#define ESCAPE 27
#define ESCAPE_MS 25 /* after Esc, how long the rest of a key's sequence may take */

struct terminal {
	SCREEN *screen;
	attr_t attrs[STYLE_NR];
	bool has_palette; /* 256 colours */
	struct grid shown; /* the rows that curses has: unchanged rows are not sent again */
	bool is_stale;	   /* all rows must be sent again */
	int keyboard; /* -1: standard input is no terminal */
	MEVENT mice[MICE_MAX]; /* not handed out yet, newest first */
	int nr_mice;
	struct terminal_event clicked; /* the latest click that was not a second one */
	uint64_t clicked_ms;	       /* its time; 0: none */
};

/*
 * All buttons, even without a meaning here: after an event that is not in the mask get_wch() waits
 * for another key. No clicks: curses would turn presses into clicks, and the presses would be
 * missing.
 */
#define BUTTON(n) (BUTTON##n##_PRESSED | BUTTON##n##_RELEASED)
#define ALL_BUTTONS (BUTTON(1) | BUTTON(2) | BUTTON(3) | BUTTON(4) | BUTTON(5))

/*
 * The default colour for the others. With 256 colours text has 4.5:1 on black and on white, and
 * pictures 4:1. With fewer, warnings are bold alone unless the background is known to be dark:
 * yellow on white has 1.1:1.
 */
static const struct {
	enum style style;
	short palette, basic;
	bool needs_dark; /* the basic colour does */
} colours[] = {
	{ STYLE_SPARK, 30, COLOR_CYAN, false },    { STYLE_NOTICE, 131, COLOR_YELLOW, true },
	{ STYLE_ALERT, 163, COLOR_RED, false },    { STYLE_TAB, 29, COLOR_GREEN, true },
	{ STYLE_THEN, 131, COLOR_YELLOW, true },   { STYLE_GUEST, 29, COLOR_GREEN, false },
	{ STYLE_KVM, 163, COLOR_MAGENTA, false },  { STYLE_USER, 63, COLOR_BLUE, false },
	{ STYLE_WARN, 131, COLOR_YELLOW, true },   { STYLE_POLL, 131, COLOR_RED, false },
	{ STYLE_BLOCK, 30, COLOR_CYAN, false },    { STYLE_WAIT, 130, COLOR_YELLOW, false },
};

/*
 * The colours of a heat map's steps, from dark to bright, so that their brightness alone tells
 * them apart; 0: the colour of marks on them. With 8 colours there is no paper.
 */
static const struct {
	short palette, basic, mark;
} heat_colours[HEAT_STEPS + 1] = {
	{ -1, -1, -1 },		  { 54, COLOR_BLUE, 231 },  { 25, COLOR_CYAN, 231 },
	{ 30, COLOR_GREEN, 231 }, { 71, COLOR_YELLOW, 16 }, { 221, COLOR_RED, 16 },
};

static void init_heat_colours(struct terminal *terminal, short pair, short background)
{
	terminal->has_palette = COLORS >= 256;
	for (short ink = 0; ink <= HEAT_STEPS; ink++) {
		for (short paper = 0; paper <= HEAT_STEPS; paper++) {
			short colour = ink ? heat_colours[ink].palette : heat_colours[paper].mark;

			if ((!ink && !paper) || (paper && !terminal->has_palette))
				continue;
			if (!terminal->has_palette)
				colour = heat_colours[ink].basic;
			init_pair(pair, colour,
				  paper ? heat_colours[paper].palette : background);
			terminal->attrs[style_heat(ink, paper)] = (attr_t)COLOR_PAIR(pair);
			pair++;
		}
	}
}

/* Colours, unless NO_COLOR is set; nothing is shown by colour alone. */
static void init_colours(struct terminal *terminal, bool is_dark)
{
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && no_color[0]) || !has_colors() || start_color() == ERR)
		return;
	short background = use_default_colors() == OK ? -1 : COLOR_BLACK;

	for (size_t i = 0; i < ARRAY_SIZE(colours); i++) {
		bool is_safe = COLORS >= 256 && !is_dark;
		short pair = (short)(i + 1);

		if (!is_safe && !is_dark && colours[i].needs_dark)
			continue;
		init_pair(pair, is_safe ? colours[i].palette : colours[i].basic, background);
		terminal->attrs[colours[i].style] |= (attr_t)COLOR_PAIR(pair);
	}
	init_heat_colours(terminal, (short)ARRAY_SIZE(colours) + 1, background);
}

static void init_styles(struct terminal *terminal, enum terminal_colours wanted)
{
	attr_t *attrs = terminal->attrs;

	attrs[STYLE_BOLD] = A_BOLD;
	attrs[STYLE_DIM] = A_DIM;
	attrs[STYLE_HEADING] = A_REVERSE;
	attrs[STYLE_SORTED] = A_REVERSE | A_BOLD | A_UNDERLINE;
	attrs[STYLE_SELECTED] = A_REVERSE;
	attrs[STYLE_TAB] = A_BOLD;
	attrs[STYLE_NOTICE] = A_BOLD;
	attrs[STYLE_THEN] = A_BOLD | A_REVERSE;
	attrs[STYLE_ALERT] = A_BOLD;
	attrs[STYLE_WARN] = A_BOLD;
	attrs[STYLE_IDLE] = A_DIM;
	if (wanted != COLOURS_NONE)
		init_colours(terminal, wanted == COLOURS_DARK);
}

/* A picture needs a cursor that can be placed: TERM=dumb has none. */
static bool can_place_cursor(void)
{
	const char *cup = tigetstr("cup");

	return cup && cup != (const char *)-1;
}

/* If the system has no entry for the terminal, gives ncurses the entry that is built in. */
static bool carry_terminfo(const char *term)
{
	static const struct {
		const char *term, *text;
	} carried[] = {
#include "ui/screen/terminfo.h"
	};

	for (size_t i = 0; i < ARRAY_SIZE(carried); i++) {
		if (strcmp(carried[i].term, term) == 0)
			return setenv("TERMINFO", carried[i].text, 1) == 0;
	}
	return false;
}

static SCREEN *open_as(const char *term)
{
	SCREEN *screen = newterm(term, stdout, stdin);

	return screen || !carry_terminfo(term) ? screen : newterm(term, stdout, stdin);
}

/*
 * New terminals have names that come into terminfo years later, and nearly all of them do what
 * xterm does.
 */
static SCREEN *open_screen(struct error *error)
{
	const char *term = getenv("TERM");
	SCREEN *screen = term && term[0] ? open_as(term) : NULL;

	if (screen || !term || !term[0])
		return screen;
	error_set(error, 0, "TERM=%s is not in terminfo: the screen is one for " USUAL_TERM, term);
	return open_as(USUAL_TERM);
}

static int why_no_screen(const char *what, struct error *error)
{
	const char *term = getenv("TERM");

	return error_set(error, -EINVAL, "TERM=%s: the terminal %s: set TERM, or use -1 or -l",
			 term ? term : "", what);
}

/* Called in any thread, when it has no memory, and by a signal. */
static void restore(void)
{
	if (!isendwin())
		endwin();
}

/* Signals that end the program at once, with a core file: Ctrl-\ and what a defect causes. */
static const int fatal_signals[] = { SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };

/* By now the signal has its default action. A terminal that takes no output does not delay it. */
static void restore_and_end(int signal)
{
	alarm(1);
	restore();
	raise(signal);
}

/* A signal with a handler, as sanitizers have, or one that is ignored, is left so. */
static void catch_fatal_signals(void)
{
	const struct sigaction action = { .sa_handler = restore_and_end,
					  .sa_flags = SA_RESETHAND };
	struct sigaction before;

	for (size_t i = 0; i < ARRAY_SIZE(fatal_signals); i++) {
		if (sigaction(fatal_signals[i], NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(fatal_signals[i], &action, NULL);
	}
}

int terminal_open(bool has_mouse, enum terminal_colours wanted, struct terminal **ret_terminal,
		  struct error *error)
{
	struct terminal *terminal;

	if (!isatty(STDOUT_FILENO))
		return error_set(error, -ENOTTY,
				 "standard output is not a terminal: use -1 for one "
				 "sample, -l for a log");
	terminal = xcalloc(1, sizeof(*terminal));
	terminal->screen = open_screen(error);
	if (!terminal->screen) {
		free(terminal);
		return why_no_screen("is not known", error);
	}
	out_of_memory_restores(restore);
	catch_fatal_signals();
	if (!can_place_cursor()) {
		terminal_close(terminal);
		return why_no_screen("cannot place its cursor", error);
	}
	terminal->keyboard = isatty(STDIN_FILENO) ? STDIN_FILENO : -1;
	/*
	 * Until the first pair of these calls, ncurses 6.4 writes to the terminal after each cursor
	 * move.
	 */
	endwin();
	set_escdelay(ESCAPE_MS);
	noecho();
	cbreak();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	typeahead(-1); /* checking for keys every few lines costs more than the lines */
	mousemask(has_mouse ? ALL_BUTTONS : 0, NULL);
	mouseinterval(0);
	init_styles(terminal, wanted);
	*ret_terminal = terminal;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	out_of_memory_restores(NULL);
	endwin();
	delscreen(terminal->screen);
	grid_release(&terminal->shown);
	free(terminal);
}

bool terminal_resize(struct terminal *terminal, struct grid *grid)
{
	struct winsize size;
	int rows = LINES, cols = COLS;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		rows = size.ws_row;
		cols = size.ws_col;
	}
	if (rows == grid->rows && cols == grid->cols)
		return false;
	resizeterm(rows, cols);
	clearok(stdscr, TRUE);
	terminal->is_stale = true;
	grid_resize(grid, rows, cols);
	return true;
}

/* Whether curses has the row already; remembers the row. */
static bool is_shown(struct terminal *terminal, const struct grid *grid, int row)
{
	size_t size = (size_t)grid->cols * sizeof(*grid->cells);
	struct grid_cell *shown = &terminal->shown.cells[row * grid->cols];
	const struct grid_cell *cells = &grid->cells[row * grid->cols];

	if (!terminal->is_stale && memcmp(shown, cells, size) == 0)
		return true;
	memcpy(shown, cells, size);
	return false;
}

/* One row, a call for each run of one style. */
static void show_row(const struct terminal *terminal, const struct grid *grid, int row)
{
	const struct grid_cell *cells = &grid->cells[row * grid->cols];
	wchar_t text[256];

	for (int col = 0; col < grid->cols;) {
		enum style style = cells[col].style;
		int n = 0, first = col;

		for (; col < grid->cols && cells[col].style == style; col++) {
			/* The right half of a wide character begins no run. */
			if (cells[col].ch && n == 255)
				break;
			if (cells[col].ch)
				text[n++] = cells[col].ch;
		}
		attrset((int)terminal->attrs[style]);
		mvaddnwstr(row, first, text, n);
	}
}

void terminal_show(struct terminal *terminal, const struct grid *grid, int focus_row,
		   int prompt_col)
{
	if (terminal->shown.rows != grid->rows || terminal->shown.cols != grid->cols) {
		grid_resize(&terminal->shown, grid->rows, grid->cols);
		terminal->is_stale = true;
	}
	for (int row = 0; row < grid->rows; row++) {
		if (!is_shown(terminal, grid, row))
			show_row(terminal, grid, row);
	}
	terminal->is_stale = false;
	attrset(A_NORMAL);
	curs_set(prompt_col >= 0);
	if (prompt_col >= 0)
		move(grid->rows - 1, prompt_col < grid->cols ? prompt_col : grid->cols - 1);
	else
		move(focus_row, 0);
	refresh();
}

void terminal_redraw(struct terminal *terminal)
{
	terminal->is_stale = true;
	clearok(stdscr, TRUE);
}

/* When several events are queued, curses returns the newest first. */
static void fetch_mice(struct terminal *terminal)
{
	while (terminal->nr_mice < MICE_MAX && getmouse(&terminal->mice[terminal->nr_mice]) == OK)
		terminal->nr_mice++;
}

static bool is_second_click(struct terminal *terminal, const struct terminal_event *event)
{
	const struct terminal_event *first = &terminal->clicked;
	uint64_t now = clock_now_ns() / 1000000;
	bool is_second = event->row == first->row && event->col == first->col &&
			 terminal->clicked_ms && now - terminal->clicked_ms <= DOUBLE_MS;

	terminal->clicked = *event;
	terminal->clicked_ms = is_second ? 0 : now;
	return is_second;
}

/* Takes the oldest event that is not the release of a button. */
static bool take_mouse(struct terminal *terminal, struct terminal_event *ret_event)
{
	while (terminal->nr_mice) {
		const MEVENT *mouse = &terminal->mice[--terminal->nr_mice];
		int wheel = mouse->bstate & BUTTON4_PRESSED ? -1 :
			    mouse->bstate & BUTTON5_PRESSED ? 1 : 0;

		if (!wheel && !(mouse->bstate & BUTTON1_PRESSED))
			continue;
		*ret_event = (struct terminal_event){
			.is_key = true, .code = KEY_MOUSE, .row = mouse->y, .col = mouse->x,
			.wheel = wheel,
		};
		ret_event->is_double = !wheel && is_second_click(terminal, ret_event);
		return true;
	}
	return false;
}

/*
 * Skips the rest of an escape sequence that is none of curses': its letters are not keys. False:
 * nothing follows the Esc, so the user pressed Esc.
 */
static bool skip_sequence(void)
{
	wint_t code;
	int got = get_wch(&code);

	if (got != OK)
		return false;
	if (code != '[' && code != 'O') {
		unget_wch((wchar_t)code);
		return false;
	}
	/* ECMA-48: parameters, then one byte from '@' on. */
	do {
		got = get_wch(&code);
	} while (got == OK && code < '@');
	return true;
}

/* resizeterm() queues KEY_RESIZE before the next key: the user did not press it. */
static bool is_pressed(int got, wint_t code)
{
	if (got == KEY_CODE_YES)
		return code != KEY_RESIZE;
	return code != ESCAPE || !skip_sequence();
}

bool terminal_event(struct terminal *terminal, struct terminal_event *ret_event)
{
	wint_t code;
	int got;

	for (;;) {
		if (take_mouse(terminal, ret_event))
			return true;
		got = get_wch(&code);
		if (got == ERR)
			return false;
		if (got == KEY_CODE_YES && code == KEY_MOUSE)
			fetch_mice(terminal);
		else if (is_pressed(got, code))
			break;
	}
	*ret_event = (struct terminal_event){ .is_key = got == KEY_CODE_YES, .code = code };
	return true;
}

unsigned int terminal_wait(struct terminal *terminal, struct pollfd *fds, size_t nr,
			   int timeout_ms)
{
	struct pollfd all[TERMINAL_FDS + 2] = {
		{ .fd = terminal->keyboard, .events = POLLIN },
		{ .fd = STDOUT_FILENO }, /* to see when it is closed */
	};
	unsigned int woken = 0;

	memcpy(all + 2, fds, nr * sizeof(*fds));
	if (poll(all, nr + 2, timeout_ms) < 0 && errno != EINTR)
		return TERMINAL_GONE;
	memcpy(fds, all + 2, nr * sizeof(*fds));
	if (all[0].revents)
		woken |= TERMINAL_KEYS;
	if ((all[0].revents | all[1].revents) & (POLLHUP | POLLERR | POLLNVAL))
		woken |= TERMINAL_GONE;
	return woken;
}

bool terminal_has_palette(const struct terminal *terminal)
{
	return terminal->has_palette;
}

bool terminal_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}
