#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The screen in a real terminal: kinds of terminals, the mouse, escape sequences, every way out.
# shellcheck disable=SC2317 # some functions are only called by wait_for
. tests/lib.sh
need_screen

amd=tests/sysroot/amd
esc=$(printf '\033')

# start COLUMNS ROWS OPTION...: until rates are there.
start() {
	t_size="$1 $2"
	shift 2
	# shellcheck disable=SC2086
	screen_start $t_size "exec $KVMTOP --sysroot $amd --view events $*"
	screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
}

# The picture without the time of day.
shot() {
	screen_shot | sed -E 's/[0-9]{2}:[0-9]{2}:[0-9]{2}/HH:MM:SS/g'
}

# The first word of the row under the cursor: what begins in reverse below the heading.
selected() {
	screen_shot -e | awk -v esc="$esc" '{
		line = $0
		text = ""
		at_start = is_reverse
		while (match(line, esc "\\[[0-9;]*m")) {
			code = substr(line, RSTART + 2, RLENGTH - 3)
			text = text substr(line, 1, RSTART - 1)
			line = substr(line, RSTART + RLENGTH)
			n = split(code, codes, ";")
			for (i = 1; i <= n; i++)
				if (codes[i] == 7 || codes[i] + 0 == 0 || codes[i] == 27)
					is_reverse = codes[i] == 7
			if (text == "")
				at_start = is_reverse
		}
		text = text line
		sub(/^[^a-z]*/, "", text)
		sub(/ .*/, "", text)
		if (NR > 5 && at_start)
			print text
	}'
}
is_selected() {
	[ "$(selected)" = "$1" ]
}
selects() {
	check "$2" wait_for 30 is_selected "$1"
}

# cursor_is COLUMN,LINE,SEEN: the terminal's own.
cursor_is() {
	[ "$(t_tmux display-message -p -t t '#{cursor_x},#{cursor_y},#{cursor_flag}')" = "$1" ]
}

ends_with() {
	is "$(screen_status 30)" "$1" "$2"
}

is_gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.[ZX]' "/proc/$1/status"
}

# ---- keys, sizes, the cursor

start 80 24 -s 25
screen_wait 4715
screen_keys Down Down
selects kvm_exit "arrows select a row"
check "the terminal's cursor, which screen readers follow, is there" wait_for 30 cursor_is 0,6,0
screen_keys Escape
selects "" "Esc lets go of the row"
before=$(shot)
screen_keys Down Up F5
screen_type "$(printf '\033[1;5C\033[99~\033[200q\033Ox\033[<0;1;1M')"
for _ in 1 2 3 4 5 6 7 8; do
	screen_keys -H ff
done
screen_wait '^This key does nothing here'
screen_keys Escape
screen_wait '^h help'
is "$(selected)$(shot)" "$before" "flaw_B7: keys take no sample, unknown ones do nothing"
screen_keys s
screen_wait '^Seconds'
check "a prompt has the terminal's cursor" wait_for 30 cursor_is 32,23,1
screen_keys C-c
screen_has '^(h help|[A-Z])[^:]*$' "flaw_E3: Ctrl-C leaves the prompt"
screen_keys h
screen_resize 60 12
screen_has '^arrows: more' "the size is followed"
screen_keys Escape
screen_resize 1 1
screen_keys Down
screen_resize 16 50
screen_wait '^(t|too| Event|\[1 Ev)'
screen_resize 80 24
screen_has '^h help' "flaw_E1: to any, and back"
screen_keys C-c
ends_with 0 "Ctrl-C ends it"

# ---- terminals

for term in vt100 linux; do
	screen_start 80 12 "TERM=$term exec $KVMTOP --sysroot $amd --view events -s 25"
	screen_has '^ kvm_entry .* 4716 ' "flaw_A6: TERM=$term"
done
# Newer terminals than terminfo, which are all as xterm.
term=no-such-terminal
screen_start 80 12 "TERM=$term TERMINFO=/ exec $KVMTOP --sysroot $amd --view events -s 25"
screen_has "^TERM=$term is not in terminfo: the screen is one for xterm-256color" \
	"TERM=$term: as xterm, and that is said"
screen_has '^ kvm_entry .* 4716 ' "and there is a screen"
for term in dumb ''; do
	screen_start 80 12 "TERM=$term exec $KVMTOP --sysroot $amd --view events -s 25 2>$TMP/err"
	is "$(screen_status 30) $(sed 's/the terminal .*: set/the terminal ...: set/' "$TMP/err")" \
		"1 kvmtop: TERM=$term: the terminal ...: set TERM, or use -1 or -l" \
		"flaw_A6: TERM=$term is a failure, told in one line that says what to do"
done
start 80 12 -s 25
like "$(screen_shot -e)" '\[(36|38;5;30)m' "there are colours"
screen_start 80 12 "NO_COLOR=1 exec $KVMTOP --sysroot $amd --view events -s 25"
screen_wait '^ kvm_entry .* 4716 '
unlike "$(screen_shot -e)" '\[3[0-7]m' "with NO_COLOR there are none"
screen_start 80 12 "LC_ALL=C exec $KVMTOP --sysroot $amd --view events -s 25 -x"
screen_has '^  \|-cpuid .* 1351 +\.$' "ASCII where the locale has no UTF-8"

is "$(status_of "$KVMTOP" --sysroot $amd) $(cat "$TMP/err")" \
	"1 kvmtop: standard output is not a terminal: use -1 for one sample, -l for a log" \
	"output that is no terminal is a failure"

# ---- the mouse

SCREEN_TERM=xterm-256color
start 80 24 -s 25 --no-mouse
is "$(t_tmux display-message -p -t t '#{mouse_any_flag}')" 0 "--no-mouse leaves it to the terminal"
start 80 24 -s 25
is "$(t_tmux display-message -p -t t '#{mouse_any_flag}')" 1 "else clicks come"
screen_click 10 8
selects kvm_write_tsc_offset "a click selects a row"
screen_click 40 11 65
selects kvm_pvclock_update "the wheel moves on"
screen_keys 2
screen_wait '\[2 Guests\]'
screen_click 3 6
screen_click 3 6
screen_has '\[3 vCPUs\].* (db1|web1) ' "a double click opens"
screen_resize 130 24
screen_keys 4
screen_wait '^ Exit reason .* p99 '
screen_type "$(printf '1\033[<0;82;4M')"
screen_has '^ Event .* ▾CurAvg/s ' "a click on a picture that is gone sorts by nothing" 5
screen_resize 80 24
start 80 24 -s 0.1
stopped=
for button in 0 1 2 3 35 65 66 128; do
	screen_click 40 1 $button
	total=$(screen_total kvm_entry)
	wait_for 30 screen_total_moved kvm_entry "$total" || stopped="$stopped $button"
done
is "$stopped" "" "samples go on after every button"
SCREEN_TERM=tmux-256color

# ---- ways out

screen_start 80 24 "exec $KVMTOP --sysroot $amd --view events -s 25 </dev/null"
screen_wait '^ kvm_entry .* 4716 '
kill -TERM "$(screen_pid)"
ends_with 0 "without a keyboard it runs until SIGTERM"

# modes: whether the terminal shows a program's own picture, has a cursor, reports the mouse.
modes() {
	t_tmux display-message -p -t t '#{alternate_on}#{cursor_flag}#{mouse_any_flag}'
}

# left_by NAME COMMAND: the terminal is as it was after the command made an end of it.
left_by() {
	screen_start 80 24 "ulimit -c 0; trap : INT QUIT; stty -g >$TMP/before
		$KVMTOP --sysroot $amd -t -s 25
		echo \$? >$TMP/status; stty -g >$TMP/after; echo ended; cat"
	screen_wait '^ kvm_entry .* 4716 '
	$2
	screen_wait '^ended'
	is "$(cmp "$TMP/before" "$TMP/after") $(modes)" " 010" \
		"flaw_E9: $1 leaves the terminal as it was"
}
child() {
	cat "/proc/$(screen_pid)/task/$(screen_pid)/children"
}
press_q() { screen_keys q; }
press_ctrl_c() { screen_keys C-c; }
# shellcheck disable=SC2046
terminate() { kill -TERM $(child); }
# shellcheck disable=SC2046
hang_up() { kill -HUP $(child); }
press_ctrl_backslash() { screen_type "$(printf '\034')"; }
# shellcheck disable=SC2046
break_down() { kill -SEGV $(child); }
left_by q press_q
left_by Ctrl-C press_ctrl_c
left_by SIGTERM terminate
left_by SIGHUP hang_up
left_by Ctrl-backslash press_ctrl_backslash
left_by SIGSEGV break_down
is "$(cat "$TMP/status")" 139 "and still ends it"
# A picture of this size needs memory that no sample has left in the heap.
# shellcheck disable=SC2046
without_memory() {
	prlimit --as=1 --pid $(child)
	screen_resize 500 200
}
left_by "the lack of memory" without_memory
screen_wait '^kvmtop: out of memory'
is "$(cat "$TMP/status")" 1 "which is said, with status 1"

screen_start 80 24 "set -m; $KVMTOP --sysroot $amd -t -s 25; echo stopped; read -r _; fg"
screen_wait '^ kvm_entry .* 4716 '
screen_keys C-z
screen_wait '^stopped'
is "$(modes)" 010 "Ctrl-Z leaves the terminal as it was"
screen_keys Enter
screen_has '^ kvm_entry .* 4716 ' "and fg has the picture again"
is "$(modes)" 101 "with its mouse, without a cursor"

# A terminal that takes no output, as of a connection that hangs, delays Ctrl-\ by a second.
screen_start 200 60 "ulimit -c 0; exec $KVMTOP --sysroot $amd --view events -s 0.1"
screen_wait '^ kvm_entry '
pid=$(screen_pid)
server=$(t_tmux display-message -p '#{pid}')
switches() {
	grep ctxt_switches "/proc/$pid/status"
}
is_stuck() {
	before=$(switches)
	sleep 0.5
	[ "$before" = "$(switches)" ]
}
kill -STOP "$server"
if wait_for 20 is_stuck; then
	kill -QUIT "$pid"
	check "Ctrl-backslash ends it while its terminal is stuck" wait_for 20 is_gone "$pid"
else
	skip "a terminal that is stuck" "it takes whatever is written"
fi
kill -KILL "$pid" 2>/dev/null
kill -CONT "$server"

# ends_with_terminal NAME BEFORE AFTER: what the shell does before, and the program's redirection.
ends_with_terminal() {
	screen_start 80 24 "$2; exec $KVMTOP --sysroot $amd --view events -s 0.1 $3"
	screen_wait '^ kvm_entry '
	pid=$(screen_pid)
	screen_stop
	check "it ends with its terminal$1" wait_for 30 is_gone "$pid"
}
ends_with_terminal "" :
ends_with_terminal ", though nobody told it" 'trap "" HUP'
ends_with_terminal ", though it has no keyboard" 'trap "" HUP' '</dev/null'

done_testing
