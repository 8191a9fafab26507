// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scripted - kvmtop on a terminal that is a script, with a clock that the script sets: for tests.
 *
 * usage: [COLUMNS=N LINES=N] scripted OPTION...	(kvmtop's)
 *
 * The whole program, but for terminal.c, clock.c and timer.c: this file has their functions. It
 * takes commands, a line each, from descriptor 8. When the program has done all that it was told,
 * the next command is read; so the picture is the same in every run.
 *
 *	keys KEY...			by tmux's names, or single characters
 *	type TEXT			each character is a key
 *	click COLUMN ROW [BUTTON]	from 1; 64 and 65 are the wheel
 *	resize COLUMNS ROWS
 *	end				of the terminal
 *
 * After the commands below a line on descriptor 9 is the answer:
 *
 *	pass SECONDS			lets time pass: "ok"
 *	sees SECONDS REGEX		"yes": a line of the picture matches the extended regular
 *					expression. Lets time pass until one does, at most so much.
 *	shot FILE			writes the picture, blanks at the ends of lines cut: "ok"
 *	selected			the text of the selected row; "": there is none
 *	cursor				the text cursor's COLUMN,ROW,SEEN from 0
 *
 * Else time stands still. Without a screen, as with -1 and -l, it passes as the program waits for
 * it, at once: COLUMNS, LINES and the descriptors are not needed then. It is 08:00:00 UTC on
 * 2026-10-05 when the program starts. With SCRIPT_CLOCK=real in the environment time is
 * everybody's, for what other processes and threads do meanwhile. The exit status is kvmtop's, or
 * 99 for a command that is none.
 */
#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <poll.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "lib/timer.h"
#include "lib/xalloc.h"
#include "history/recorder.h"
#include "ui/screen/terminal.h"

#define COMMANDS 8
#define ANSWERS	 9

#define SECOND	   UINT64_C(1000000000)
#define BEGIN	   (1000 * SECOND)
#define BEGIN_REAL (UINT64_C(1791187200) * SECOND)

#define EVENTS_MAX 4096
#define LINE_SIZE  8192
#define ROW_SIZE   4096

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "scripted: %s: %s\n", what, why);
	_exit(99);
}

/* ---- lib/clock.h: other threads read it, too */

static _Atomic uint64_t passed_ns;
static bool is_real;

__attribute__((constructor)) static void choose_clock(void)
{
	const char *clock = getenv("SCRIPT_CLOCK");

	is_real = clock && strcmp(clock, "real") == 0;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return is_real ? read_ns(CLOCK_MONOTONIC) : BEGIN + passed_ns;
}

uint64_t clock_real_ns(void)
{
	return is_real ? read_ns(CLOCK_REALTIME) : BEGIN_REAL + passed_ns;
}

double clock_rate(void)
{
	return 1;
}

/* ---- lib/timer.h: an eventfd each */

static struct script_timer {
	int fd;
	uint64_t due_ns; /* 0: never */
	uint64_t interval_ns;
} timers[4];
static size_t nr_timers;

static uint64_t ns_of(double seconds)
{
	return (uint64_t)llround(seconds * 1e9);
}

int timer_open(void)
{
	int fd = nr_timers < ARRAY_SIZE(timers) ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;

	if (fd < 0)
		fail("timer_open", "no timer is left");
	timers[nr_timers++] = (struct script_timer){ .fd = fd };
	return fd;
}

void timer_set(int timer, double first_s, double interval_s)
{
	for (size_t i = 0; i < nr_timers; i++) {
		if (timers[i].fd != timer)
			continue;
		timer_take(timer);
		timers[i].due_ns = first_s > 0 ? clock_now_ns() + ns_of(first_s) : 0;
		timers[i].interval_ns = ns_of(interval_s);
	}
}

bool timer_take(int timer)
{
	uint64_t nr;

	return read(timer, &nr, sizeof(nr)) == sizeof(nr);
}

static uint64_t next_due_ns(void)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; i < nr_timers; i++) {
		if (timers[i].due_ns && timers[i].due_ns < due_ns)
			due_ns = timers[i].due_ns;
	}
	return due_ns;
}

static void expire_timers(void)
{
	const uint64_t one = 1;
	uint64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < nr_timers; i++) {
		struct script_timer *timer = &timers[i];

		if (!timer->due_ns || timer->due_ns > now_ns)
			continue;
		if (write(timer->fd, &one, sizeof(one)) < 0)
			fail("eventfd", strerror(errno));
		timer->due_ns = timer->interval_ns ?
			timer->due_ns + timer->interval_ns *
				(1 + (now_ns - timer->due_ns) / timer->interval_ns) : 0;
	}
}

/* poll(2) until a time of clock_now_ns(), which may be the script's. */
static int poll_until(struct pollfd *fds, nfds_t nr, uint64_t until_ns)
{
	uint64_t now_ns = clock_now_ns();
	int got;

	if (is_real) {
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		struct timespec left = { .tv_sec = (time_t)(left_ns / SECOND),
					 .tv_nsec = (long)(left_ns % SECOND) };

		return ppoll(fds, nr, until_ns == UINT64_MAX ? NULL : &left, NULL);
	}
	got = poll(fds, nr, 0);
	if (!got && until_ns != UINT64_MAX && until_ns > now_ns)
		passed_ns += until_ns - now_ns;
	return got;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t end_of(int timeout_ms)
{
	return timeout_ms < 0 ? UINT64_MAX : clock_now_ns() + (uint64_t)timeout_ms * 1000000;
}

/* Time goes on to the next timer, if no descriptor is ready, and at most to the given time. */
static int pass_until(struct pollfd *fds, size_t nr, uint64_t end_ns)
{
	int got = poll_until(fds, nr, earliest(end_ns, next_due_ns()));

	if (got > 0)
		return got;
	expire_timers();
	return poll(fds, nr, 0);
}

/* Without a screen nothing tells how much time passes: as much as the program waits. */
int timer_poll(struct pollfd *fds, size_t nr, int timeout_ms)
{
	uint64_t end_ns = end_of(timeout_ms);
	int got;

	do {
		got = pass_until(fds, nr, end_ns);
	} while (!got && clock_now_ns() < end_ns);
	return got;
}

/* ---- ui/screen/terminal.h */

enum goal { GOAL_NONE, GOAL_PASS, GOAL_SEES };

struct terminal {
	int rows, cols;
	struct grid shown;
	int focus_row, prompt_col;
	bool has_palette;
	struct terminal_event events[EVENTS_MAX]; /* a ring */
	size_t first, nr;
	char line[LINE_SIZE]; /* what was read of commands */
	size_t nr_read;
	enum goal goal;
	uint64_t end_ns; /* of the goal */
	regex_t regex;	 /* of GOAL_SEES */
};

static int number_of(const char *name)
{
	const char *text = getenv(name);

	if (!text || atoi(text) <= 0)
		fail(name, "no number");
	return atoi(text);
}

int terminal_open(bool has_mouse, enum terminal_colours wanted, struct terminal **ret_terminal,
		  struct error *error)
{
	struct terminal *terminal = xcalloc(1, sizeof(*terminal));

	(void)has_mouse;
	(void)error;
	terminal->cols = number_of("COLUMNS");
	terminal->rows = number_of("LINES");
	terminal->has_palette = wanted;
	*ret_terminal = terminal;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->goal == GOAL_SEES)
		regfree(&terminal->regex);
	grid_release(&terminal->shown);
	free(terminal);
}

bool terminal_resize(struct terminal *terminal, struct grid *grid)
{
	if (grid->rows == terminal->rows && grid->cols == terminal->cols)
		return false;
	grid_resize(grid, terminal->rows, terminal->cols);
	return true;
}

void terminal_show(struct terminal *terminal, const struct grid *grid, int focus_row,
		   int prompt_col)
{
	grid_resize(&terminal->shown, grid->rows, grid->cols);
	memcpy(terminal->shown.cells, grid->cells,
	       (size_t)grid->rows * (size_t)grid->cols * sizeof(*grid->cells));
	terminal->focus_row = focus_row;
	terminal->prompt_col = prompt_col;
}

void terminal_redraw(struct terminal *terminal)
{
	(void)terminal;
}

bool terminal_has_palette(const struct terminal *terminal)
{
	return terminal->has_palette;
}

bool terminal_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool terminal_event(struct terminal *terminal, struct terminal_event *ret_event)
{
	if (!terminal->nr)
		return false;
	*ret_event = terminal->events[terminal->first];
	terminal->first = (terminal->first + 1) % EVENTS_MAX;
	terminal->nr--;
	return true;
}

/* ---- what the script does */

static void add_event(struct terminal *terminal, struct terminal_event event)
{
	if (terminal->nr == EVENTS_MAX)
		fail("keys", "too many at once");
	terminal->events[(terminal->first + terminal->nr++) % EVENTS_MAX] = event;
}

static const struct {
	const char *name;
	int key; /* one of curses', or a character */
} keys[] = {
	{ "Up", KEY_UP },	{ "Down", KEY_DOWN },	{ "Left", KEY_LEFT },
	{ "Right", KEY_RIGHT }, { "PPage", KEY_PPAGE }, { "NPage", KEY_NPAGE },
	{ "Home", KEY_HOME },	{ "End", KEY_END },	{ "BTab", KEY_BTAB },
	{ "DC", KEY_DC },	{ "Enter", '\r' },	{ "BSpace", KEY_BACKSPACE },
	{ "F1", KEY_F(1) },	{ "F2", KEY_F(2) },	{ "F5", KEY_F(5) },
	{ "F10", KEY_F(10) },	{ "Tab", '\t' },	{ "Escape", 27 },
	{ "Space", ' ' },
};

static void type(struct terminal *terminal, const char *text)
{
	mbstate_t state = { 0 };
	wchar_t ch;

	while (*text) {
		size_t len = mbrtowc(&ch, text, strlen(text), &state);

		if (len == (size_t)-1 || len == (size_t)-2)
			fail(text, "no text of this locale");
		add_event(terminal, (struct terminal_event){ .code = (wint_t)ch });
		text += len;
	}
}

static bool is_one_character(const char *text)
{
	mbstate_t state = { 0 };

	return mbrtowc(NULL, text, strlen(text), &state) == strlen(text);
}

static void press(struct terminal *terminal, const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name) != 0)
		i++;
	if (i < ARRAY_SIZE(keys)) {
		add_event(terminal, (struct terminal_event){ .is_key = keys[i].key >= KEY_MIN,
							      .code = (wint_t)keys[i].key });
	} else if (strncmp(name, "C-", 2) == 0 && name[2] >= 'a' && name[2] <= 'z' && !name[3]) {
		add_event(terminal, (struct terminal_event){ .code = (wint_t)(name[2] & 0x1f) });
	} else if (is_one_character(name)) {
		type(terminal, name);
	} else {
		fail(name, "no such key");
	}
}

static void press_all(struct terminal *terminal, char *names)
{
	char *rest = names, *name;

	while ((name = strsep(&rest, " "))) {
		if (name[0])
			press(terminal, name);
	}
}

static void click(struct terminal *terminal, const char *words)
{
	struct terminal_event event = { .is_key = true, .code = KEY_MOUSE };
	int button = 0;

	if (sscanf(words, "%d %d %d", &event.col, &event.row, &button) < 2)
		fail(words, "no position");
	event.col--;
	event.row--;
	event.wheel = button == 64 ? -1 : button == 65 ? 1 : 0;
	if (!button || event.wheel)
		add_event(terminal, event);
}

/* Returns what terminal_wait() does. */
static unsigned int resize(struct terminal *terminal, const char *words)
{
	if (sscanf(words, "%d %d", &terminal->cols, &terminal->rows) != 2)
		fail(words, "no size");
	return 0;
}

static void begin_goal(struct terminal *terminal, enum goal goal, char *words)
{
	char *rest = words;
	double seconds = strtod(words, &rest);

	if (rest == words || seconds < 0)
		fail(words, "no number of seconds");
	if (goal == GOAL_SEES &&
	    (rest[0] != ' ' || regcomp(&terminal->regex, rest + 1, REG_EXTENDED | REG_NOSUB)))
		fail(words, "no regular expression");
	terminal->goal = goal;
	terminal->end_ns = clock_now_ns() + ns_of(seconds);
}

static void answer(const char *text)
{
	dprintf(ANSWERS, "%s\n", text);
}

static bool is_seen(const struct terminal *terminal)
{
	char text[ROW_SIZE];

	for (int row = 0; row < terminal->shown.rows; row++) {
		grid_row_text(&terminal->shown, row, text, sizeof(text));
		if (regexec(&terminal->regex, text, 0, NULL, 0) == 0)
			return true;
	}
	return false;
}

/* Answers when what the script waits for is there, or its time is up. */
static void end_goal(struct terminal *terminal)
{
	bool is_late = clock_now_ns() >= terminal->end_ns;
	bool is_there = terminal->goal == GOAL_SEES && is_seen(terminal);

	if (!is_there && !is_late)
		return;
	if (terminal->goal == GOAL_SEES)
		regfree(&terminal->regex);
	answer(terminal->goal == GOAL_PASS ? "ok" : is_there ? "yes" : "no");
	terminal->goal = GOAL_NONE;
}

static void write_shot(const struct terminal *terminal, const char *path)
{
	FILE *file = fopen(path, "w");
	char text[ROW_SIZE];

	if (!file)
		fail(path, strerror(errno));
	for (int row = 0; row < terminal->shown.rows; row++) {
		grid_row_text(&terminal->shown, row, text, sizeof(text));
		fprintf(file, "%s\n", text);
	}
	fclose(file);
	answer("ok");
}

static void tell_selected(const struct terminal *terminal)
{
	char text[ROW_SIZE] = "";

	for (int row = 0; row < terminal->shown.rows && !text[0]; row++) {
		if (terminal->shown.cells[row * terminal->shown.cols].style == STYLE_SELECTED)
			grid_row_text(&terminal->shown, row, text, sizeof(text));
	}
	answer(text);
}

static void tell_cursor(const struct terminal *terminal)
{
	bool is_seen = terminal->prompt_col >= 0;

	dprintf(ANSWERS, "%d,%d,%d\n", is_seen ? terminal->prompt_col : 0,
		is_seen ? terminal->shown.rows - 1 : terminal->focus_row, is_seen);
}

/*
 * Does what the line says. True: so terminal_wait() returns *ret_woken, and the program goes on to
 * another picture.
 */
static bool obey(struct terminal *terminal, char *line, unsigned int *ret_woken)
{
	char *words = line, *command = strsep(&words, " ");

	words = words ? words : command + strlen(command);
	*ret_woken = TERMINAL_KEYS;
	if (strcmp(command, "keys") == 0)
		press_all(terminal, words);
	else if (strcmp(command, "type") == 0)
		type(terminal, words);
	else if (strcmp(command, "click") == 0)
		click(terminal, words);
	else if (strcmp(command, "pass") == 0)
		begin_goal(terminal, GOAL_PASS, words);
	else if (strcmp(command, "sees") == 0)
		begin_goal(terminal, GOAL_SEES, words);
	else if (strcmp(command, "shot") == 0)
		write_shot(terminal, words);
	else if (strcmp(command, "selected") == 0)
		tell_selected(terminal);
	else if (strcmp(command, "cursor") == 0)
		tell_cursor(terminal);
	else if (strcmp(command, "resize") == 0)
		*ret_woken = resize(terminal, words);
	else if (strcmp(command, "end") == 0)
		*ret_woken = TERMINAL_GONE;
	else
		fail(command, "no such command");
	return terminal->nr > 0 || *ret_woken != TERMINAL_KEYS;
}

static void take_line(struct terminal *terminal, char *ret_line)
{
	char *end = memchr(terminal->line, '\n', terminal->nr_read);
	size_t len = (size_t)(end - terminal->line);

	memcpy(ret_line, terminal->line, len);
	ret_line[len] = '\0';
	terminal->nr_read -= len + 1;
	memmove(terminal->line, end + 1, terminal->nr_read);
}

static void read_lines(struct terminal *terminal)
{
	ssize_t len = read(COMMANDS, terminal->line + terminal->nr_read,
			   sizeof(terminal->line) - terminal->nr_read);

	if (len <= 0)
		fail("commands", "no more, and no \"end\"");
	terminal->nr_read += (size_t)len;
}

/* Reads until there is a whole line. False: the program has something to do before. */
static bool has_line(struct terminal *terminal, struct pollfd *fds, size_t nr, uint64_t end_ns)
{
	struct pollfd all[TERMINAL_FDS + 1];

	expire_timers();
	if (poll(fds, nr, 0) > 0)
		return false;
	while (!memchr(terminal->line, '\n', terminal->nr_read)) {
		memcpy(all, fds, nr * sizeof(*fds));
		all[nr] = (struct pollfd){ .fd = COMMANDS, .events = POLLIN };
		if (is_real)
			poll_until(all, nr + 1, earliest(end_ns, next_due_ns()));
		else
			poll(all, nr + 1, -1);
		expire_timers();
		if (poll(fds, nr, 0) > 0 || clock_now_ns() >= end_ns)
			return false;
		if (all[nr].revents)
			read_lines(terminal);
	}
	return true;
}

unsigned int terminal_wait(struct terminal *terminal, struct pollfd *fds, size_t nr,
			   int timeout_ms)
{
	uint64_t end_ns = end_of(timeout_ms);
	char line[LINE_SIZE];
	unsigned int woken = 0;

	for (;;) {
		if (terminal->goal)
			end_goal(terminal);
		if (terminal->goal) {
			if (pass_until(fds, nr, earliest(end_ns, terminal->end_ns)) > 0 ||
			    clock_now_ns() >= end_ns)
				return 0;
		} else if (!has_line(terminal, fds, nr, end_ns)) {
			return 0;
		} else {
			take_line(terminal, line);
			if (obey(terminal, line, &woken))
				return woken;
		}
	}
}

/* ---- what the linker puts in the place of functions: -Wl,--wrap in the Makefile */

int __wrap_isatty(int fd);
int __real_isatty(int fd);
void __wrap_recorder_take(struct recorder *recorder, const struct facts *facts, uint64_t time_ns);
void __real_recorder_take(struct recorder *recorder, const struct facts *facts, uint64_t time_ns);

int __wrap_isatty(int fd)
{
	return ((fd == STDIN_FILENO || fd == STDOUT_FILENO) && getenv("COLUMNS")) ||
	       __real_isatty(fd);
}

/* The script's time is faster than any disk: without waiting for it samples would be lost. */
void __wrap_recorder_take(struct recorder *recorder, const struct facts *facts, uint64_t time_ns)
{
	__real_recorder_take(recorder, facts, time_ns);
	recorder_flush(recorder, 10000);
}
