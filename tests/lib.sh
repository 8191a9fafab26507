# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2120,SC2119
#
# lib.sh - what every tests/cli/*.t needs: TAP lines, its own folder, processes that end, a screen.
#
# A test is a POSIX shell script, run from the project's root:
#
#	#!/bin/sh
#	# SPDX-License-Identifier: GPL-2.0-or-later
#	# Says in one sentence what it proves.
#	. tests/lib.sh
#	need_live		# or need_screen, need_cmd, need_root; skips the whole file
#	is "$("$KVMTOP" --version)" "kvmtop 0.1.0" "the version"
#	done_testing
#
# Without done_testing there is no plan, and tests/run counts the file as failed. Variables:
#	KVMTOP		the program to test (./kvmtop, or what the environment says)
#	AT_ONCE		the same program with a clock of its own: intervals take no time
#	HELPERS		the folder with the helper programs (miniguest ...)
#	TMP		this test's own folder; gone afterwards
# Names that start with t_ or T_ are this file's own.

KVMTOP=${KVMTOP:-./kvmtop}
HELPERS=${HELPERS:-build/tests/helpers}
# shellcheck disable=SC2034 # for the tests
AT_ONCE=$HELPERS/scripted
TMP=$(mktemp -d "${TMPDIR:-/tmp}/kvmtop-test.XXXXXX") || exit 1
export TMP

# A process that a killed test leaves behind must not keep what its caller holds, such as a lock.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-

T_nr=0
T_failed=0
T_done=0
T_golden=
T_pids=
T_server=
T_script=
T_nr_screens=0

# The user's settings must not change what is tested.
unset NO_COLOR COLUMNS LINES KVMTOPRC TMUX TMUX_PANE
unset CDPATH ENV MAKELEVEL
LC_ALL=C.UTF-8
TZ=UTC
XDG_CONFIG_HOME=$TMP/preferences
export LC_ALL TZ XDG_CONFIG_HOME

trap 't_cleanup' EXIT
trap 't_stop 129' HUP
trap 't_stop 130' INT
trap 't_stop 143' TERM

# timeout(1) sends a signal twice, to the shell and to its group: the second one must not end what
# cleans up.
t_stop() {
	trap '' HUP INT TERM
	exit "$1"
}

t_cleanup() {
	t_status=$?
	trap - EXIT
	screen_stop
	for t_pid in $T_pids; do
		stop "$t_pid"
	done
	rm -rf "$TMP"
	[ "$T_done" = 1 ] || exit $((t_status ? t_status : 1))
	exit $((T_failed > 0))
}

# ---- results

# ok NAME: passed.
ok() {
	T_nr=$((T_nr + 1))
	echo "ok $T_nr - $1"
}

# not_ok NAME [DETAIL]: failed; the detail is shown, line by line.
not_ok() {
	T_nr=$((T_nr + 1))
	T_failed=$((T_failed + 1))
	echo "not ok $T_nr - $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/#   /'
}

# diag TEXT: a remark, not a result.
diag() {
	printf '%s\n' "$1" | sed 's/^/# /'
}

# disturbed NAME TRY TRIES: a try failed, perhaps because of other programs on this machine, and the
# test tries again. tests/run lists and counts such tries.
disturbed() {
	echo "# disturbed: $1: try $2 of $3 failed"
}

# check NAME COMMAND...: passed when the command succeeds; its output is shown when it does not.
check() {
	t_name=$1
	shift
	if "$@" >"$TMP/.check" 2>&1; then
		ok "$t_name"
	else
		not_ok "$t_name" "status $?: $*
$(cat "$TMP/.check")"
	fi
}

# is GOT WANT NAME
is() {
	if [ "$1" = "$2" ]; then
		ok "$3"
	else
		not_ok "$3" "got:
$1
wanted:
$2"
	fi
}

# isnt GOT UNWANTED NAME
isnt() {
	if [ "$1" != "$2" ]; then ok "$3"; else not_ok "$3" "got: $1"; fi
}

# like GOT REGEX NAME: some line matches the extended regular expression.
like() {
	if printf '%s\n' "$1" | grep -Eq -e "$2"; then
		ok "$3"
	else
		not_ok "$3" "no line matches: $2
$1"
	fi
}

# unlike GOT REGEX NAME: no line does, and there is one: nothing at all has nothing wrong in it.
unlike() {
	if [ -z "$1" ]; then
		not_ok "$3" "there is nothing to look at"
	elif printf '%s\n' "$1" | grep -Eq -e "$2"; then
		not_ok "$3" "a line matches: $2
$1"
	else
		ok "$3"
	fi
}

# same_files GOT WANT NAME: passed when both files have the same bytes; shows the difference.
same_files() {
	if t_diff=$(diff -u "$2" "$1" 2>&1); then
		ok "$3"
	else
		not_ok "$3" "$(printf '%s\n' "$t_diff" | head -n 60)"
	fi
}

# same_golden GOT FILE NAME: passed when GOT has the same bytes as the golden FILE. UPDATE=1 in the
# environment writes FILE anew: look at the difference before you keep it.
same_golden() {
	T_golden="$T_golden$2
"
	[ -z "${UPDATE:-}" ] || cp "$1" "$2"
	same_files "$1" "$2" "$3"
}

# no_other_golden FOLDER: passed when every *.txt in the folder was a golden FILE of this test.
no_other_golden() {
	printf '%s' "$T_golden" | LC_ALL=C sort -u >"$TMP/.used"
	printf '%s\n' "$1"/*.txt | LC_ALL=C sort >"$TMP/.there"
	is "$(LC_ALL=C comm -13 "$TMP/.used" "$TMP/.there")" "" "every file in $1 is compared"
}

# status_of COMMAND...: runs it, prints its exit status; output goes to $TMP/out and $TMP/err.
status_of() {
	"$@" >"$TMP/out" 2>"$TMP/err" </dev/null
	echo $?
}

# limited COMMAND...: runs it with `ulimit -f 0`: its standard output may have no byte. Prints its
# messages, and its exit status in the last line.
limited() {
	(
		# shellcheck disable=SC3045 # dash and bash have it
		ulimit -f 0
		"$@" 2>&1 >"$TMP/out" </dev/null
		echo $?
	)
}

# What limited prints where a command reports that.
too_large="kvmtop: cannot write to standard output: File too large
1"
export too_large

# For awk -F, of a CSV: $at(NAME) is the column with this name in the heading, which may come again.
# A name that is not there fails the test in done_testing, whatever the answer is compared with.
# shellcheck disable=SC2016,SC2034 # awk's variables; for the tests
CSV_AT='
function at(name) {
	if (name in csv_at)
		return csv_at[name]
	print "a column " name >>(ENVIRON["TMP"] "/.lost")
	return NF + 1
}
NR == 1 || $1 == "time" { for (i = 1; i <= NF; i++) csv_at[$i] = i; next }
'

# deltas FILE KEY VALUE: the sum of the deltas of all JSON rows whose KEY is VALUE; each has one.
deltas() {
	grep -o "{[^{}]*\"$2\":\"*$3[\",][^{}]*}" "$1" | awk '
	!/"delta":/ { print "a delta" >>(ENVIRON["TMP"] "/.lost") }
	match($0, /"delta":[0-9]+/) { n += substr($0, RSTART + 8, RLENGTH - 8) }
	END { print n + 0 }'
}

# skip NAME REASON: this one case cannot run here.
skip() {
	T_nr=$((T_nr + 1))
	echo "ok $T_nr - $1 # SKIP $2"
}

# skip_all REASON: nothing more in this file can run here; ends it.
skip_all() {
	if [ "$T_nr" -gt 0 ]; then
		skip "the rest" "$1"
		done_testing
	fi
	echo "1..0 # SKIP $1"
	T_done=1
	exit 0
}

# done_testing: the plan, last line of every test.
done_testing() {
	T_done=1
	[ ! -e "$TMP/.lost" ] || not_ok "all that is looked for has its name" "not there:
$(sort -u "$TMP/.lost")"
	echo "1..$T_nr"
	exit $((T_failed > 0))
}

# ---- what a test needs

# need_cmd NAME...: skips the file unless these commands exist.
need_cmd() {
	for t_cmd; do
		command -v "$t_cmd" >/dev/null 2>&1 || skip_all "$t_cmd is not installed"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] || skip_all "not root"
}

# need_live: skips the file unless guests can be run and watched here: root, /dev/kvm, tracefs.
need_live() {
	need_root
	[ -e /dev/kvm ] || skip_all "no /dev/kvm"
	(: <>/dev/kvm) 2>/dev/null || skip_all "/dev/kvm cannot be opened"
	t_tracefs=$(tracefs) || skip_all "tracefs is not mounted"
	[ -d "$t_tracefs/events/kvm" ] || skip_all "$t_tracefs has no kvm events"
	[ -r "$t_tracefs/events/kvm/kvm_pio/id" ] || [ -r "$t_tracefs/events/kvm/kvm_exit/id" ] ||
		skip_all "the kvm events in $t_tracefs cannot be read"
}

# need_screen: skips the file unless a program can be shown in a terminal here.
need_screen() {
	has_screen || skip_all "$T_no_screen"
}

# has_screen: the same as a question; T_no_screen says why not.
has_screen() {
	T_no_screen="tmux is not installed"
	command -v tmux >/dev/null 2>&1 || return 1
	T_no_screen="tmux cannot open a terminal here"
	screen_start 20 5 'sleep 9' 2>/dev/null || return 1
	screen_stop
}

# tracefs: prints where it is mounted.
tracefs() {
	awk '$3 == "tracefs" { print $2; found = 1; exit } END { exit !found }' /proc/mounts
}

# ---- processes

# spawn PROGRAM...: starts it in the background, its pid in $SPAWNED; it is ended with the test.
spawn() {
	# A shell starts background processes with SIGINT ignored.
	env --default-signal=INT,QUIT "$@" &
	SPAWNED=$!
	T_pids="$T_pids $SPAWNED"
}

# guest_of PROGRAM NAME OPTION...: spawns a tiny guest of tests/helpers that begins after `go NAME`;
# its pid is in $GUEST, its output in $TMP/NAME.out.
guest_of() {
	t_program=$1 t_guest=$2
	shift 2
	mkfifo "$TMP/$t_guest.in" || return
	# A FIFO that is opened for reading and writing never ends, and opening it never blocks.
	# shellcheck disable=SC2016
	spawn sh -c 'in=$1; shift; exec "$@" <>"$in"' sh "$TMP/$t_guest.in" \
		"$HELPERS/$t_program" --name "$t_guest" "$@" >"$TMP/$t_guest.out" 2>&1
	# shellcheck disable=SC2034 # for the tests
	GUEST=$SPAWNED
	wait_for 20 grep -q ready "$TMP/$t_guest.out"
}

# guest NAME OPTION...: the same for miniguest.
guest() {
	t_guest=$1
	shift
	guest_of miniguest "$t_guest" --wait --hold 60 "$@"
}

go() {
	echo >"$TMP/$1.in"
}

# stop PID [SIGNAL]: ends a spawned process and waits for it; returns its exit status.
stop() {
	# The pid of a child that ended may belong to another process by now.
	if [ "$(t_parent_of "$1")" = "$$" ]; then
		kill "-${2:-TERM}" "$1" 2>/dev/null
		wait_for 20 t_ended "$1" || kill -KILL "$1" 2>/dev/null
	fi
	wait "$1" 2>/dev/null
}

t_parent_of() {
	sed -n 's/^PPid:[[:blank:]]*//p' "/proc/$1/status" 2>/dev/null
}

t_ended() {
	t_state=$(sed -n 's/^State:[[:blank:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	[ -z "$t_state" ] || [ "$t_state" = Z ]
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails when the time is up. The seconds
# are a quiet machine's: a busy or an emulated one is waited for four times as long.
wait_for() {
	t_left=$(($1 * 4 * 20))
	shift
	until "$@"; do
		t_left=$((t_left - 1))
		[ "$t_left" -gt 0 ] || return 1
		sleep 0.05
	done
}

# is_sampling PID: kvmtop has taken its first sample, after which it starts its timer: everything is
# being counted.
is_sampling() {
	grep -qs '^it_interval: .*[1-9]' "/proc/$1/fdinfo/"*
}

# on_events PID: how many programs and perf events it has on events. A perf event with a link is a
# kprobe: on the begin and the end of a VM.
on_events() {
	t_links=$(cat "/proc/$1"/fdinfo/* 2>/dev/null | sed -n 's/^link_type:[[:blank:]]*//p')
	t_perf=$(for t_fd in "/proc/$1/fd"/*; do readlink "$t_fd"; done | grep -c perf_event)
	echo $((t_perf + $(echo "$t_links" | grep -c raw_tracepoint) - \
		$(echo "$t_links" | grep -c '^perf')))
}

# ---- a terminal: the program in a tmux server of its own, or on a script; its picture as text
#
# What is said of screen_start's is the same of script_start's, where nothing else is said.

# script_start COLUMNS ROWS OPTION...: kvmtop with these options, on a terminal that is a script,
# which is where most tests of pictures belong. The program has done all that it was told before
# anything is looked at, and time stands still but in screen_sees, screen_pass and what uses them:
# nothing waits, nothing is too early. SCRIPT_CLOCK=real: time is everybody's, for what depends on
# other processes. What the program prints is the picture after its end. What needs a real terminal
# is for screen_start: signals, escape sequences, colours, the terminal's modes, Ctrl-C.
script_start() {
	t_size="COLUMNS=$1 LINES=$2"
	shift 2
	screen_stop
	T_nr_screens=$((T_nr_screens + 1))
	T_script=$TMP/script.$T_nr_screens
	mkfifo "$T_script.in" "$T_script.out"
	# Opened for reading and writing: so this shell neither waits for the other side nor is
	# ended by it; and the program sees this shell's end.
	exec 8<>"$T_script.in" 9<>"$T_script.out"
	(
		# shellcheck disable=SC2016,SC2086 # for the other shell; words
		env --default-signal=INT,QUIT $t_size \
			sh -c 'echo $$ >"$0.pid" && exec "$@" 8<"$0.in"' "$T_script" \
			"$HELPERS/scripted" "$@" >"$T_script.log" 2>&1 </dev/null
		echo "status $?" >&9
	) 8>&- &
	T_script_pid=$!
}

t_tell() {
	[ -e "$T_script.status" ] || printf '%s\n' "$*" >&8
}

# t_ask COMMAND...: the answer is in t_answer. Fails when the program has ended.
t_ask() {
	[ ! -e "$T_script.status" ] || return 1
	t_tell "$@"
	IFS= read -r t_answer <&9
	case $t_answer in
	"status "*) echo "${t_answer#status }" >"$T_script.status" && return 1 ;;
	esac
}

# screen_start COLUMNS ROWS COMMAND...: sh -c runs it; the environment is the test's.
# SCREEN_TERM is the terminal's kind (tmux-256color). The picture stays after the program ended.
screen_start() {
	t_cols=$1
	t_rows=$2
	shift 2
	screen_stop
	cat >"$TMP/tmux.conf" <<-EOF
		set -g default-shell /bin/sh
		set -g default-terminal ${SCREEN_TERM:-tmux-256color}
		set -g status off
		set -g remain-on-exit on
		set -gq remain-on-exit-format ""
		set -g history-limit 0
		set -sg escape-time 0
		set -g mouse off
	EOF
	# Each server has a new name: one that is ending removes its socket late.
	T_nr_screens=$((T_nr_screens + 1))
	T_server=$TMP/tmux.$T_nr_screens
	t_tmux -u -f "$TMP/tmux.conf" new-session -d -s t -x "$t_cols" -y "$t_rows" "$*"
}

t_tmux() {
	tmux -S "$T_server" "$@" </dev/null
}

# screen_keys KEY...: by tmux's names (Enter, Up, C-u, BSpace ...) or single characters.
screen_keys() {
	if [ -n "$T_script" ]; then t_tell keys "$@"; else t_tmux send-keys -t t "$@"; fi
}

# screen_type TEXT: sends the bytes as they are, escape sequences too; names mean nothing.
screen_type() {
	if [ -n "$T_script" ]; then t_tell type "$1"; else t_tmux send-keys -t t -l -- "$1"; fi
}

# screen_click COLUMN ROW [BUTTON]: a mouse click (SGR), counted from 1; 64 and 65 are the wheel.
screen_click() {
	if [ -n "$T_script" ]; then
		t_tell click "$@"
		return
	fi
	screen_type "$(printf '\033[<%d;%d;%dM' "${3:-0}" "$1" "$2")"
	[ "${3:-0}" -ge 64 ] || screen_type "$(printf '\033[<%d;%d;%dm' "${3:-0}" "$1" "$2")"
}

screen_resize() {
	if [ -n "$T_script" ]; then
		t_tell resize "$@"
	else
		t_tmux resize-window -t t -x "$1" -y "$2"
	fi
}

# screen_pass SECONDS: lets time pass.
screen_pass() {
	if [ -n "$T_script" ]; then t_ask pass "$1"; else sleep "$1"; fi
}

# screen_shot: prints the picture, blanks at the ends of lines cut; -e adds colours (tmux only).
screen_shot() {
	if [ -z "$T_script" ]; then
		t_tmux capture-pane -p -t t "$@"
	elif t_ask shot "$T_script.shot"; then
		cat "$T_script.shot"
	else
		cat "$T_script.log"
	fi
}

# screen_selected: prints the selected row. screen_cursor: prints the text cursor's COLUMN,ROW,SEEN.
screen_selected() {
	t_ask selected && printf '%s\n' "$t_answer"
}
screen_cursor() {
	t_ask cursor && printf '%s\n' "$t_answer"
}

# screen_line N: one line of it, from 1.
screen_line() {
	screen_shot | sed -n "$1p"
}

# screen_total NAME: the total in the row of an event.
screen_total() {
	screen_shot | sed -n "s/^[^a-z]*$1 *\([0-9][0-9]*\) .*/\1/p"
}

# screen_total_moved NAME TOTAL: it is another one now.
screen_total_moved() {
	t_total=$(screen_total "$1")
	[ -n "$t_total" ] && [ "$t_total" != "$2" ]
}

t_screen_has() {
	screen_shot 2>/dev/null | grep -Eq -e "$1"
}

# screen_sees REGEX [SECONDS]: until a line of the picture matches (30 s); fails when time is up.
screen_sees() {
	if [ -n "$T_script" ]; then
		if t_ask sees "${2:-30}" "$1"; then
			[ "$t_answer" = yes ]
		else
			grep -Eq -e "$1" "$T_script.log"
		fi
		return
	fi
	wait_for "${2:-30}" t_screen_has "$1"
}

# screen_wait REGEX [SECONDS]: the same, and a failed test if the line never comes.
screen_wait() {
	screen_sees "$@" && return
	not_ok "the picture that is waited for" "never seen: $1
$(screen_shot 2>&1)"
	return 1
}

# screen_has REGEX NAME [SECONDS]: the same as a test; shows the picture when it fails.
screen_has() {
	if screen_sees "$1" "${3:-30}"; then
		ok "$2"
	else
		not_ok "$2" "never seen: $1
$(screen_shot 2>&1)"
	fi
}

# tmux sees that a program is gone before it has the exit status, and misses a SIGCHLD at times.
screen_dead() {
	t_end=$(t_tmux display-message -p -t t '#{pane_dead_status}#{pane_dead_signal}' \
		2>/dev/null) || return 0
	[ -z "$t_end" ] || return 0
	kill -CHLD "$(t_tmux display-message -p '#{pid}')" 2>/dev/null
	return 1
}

# screen_status [SECONDS]: waits for the program's end and prints its exit status (a signal: SIGnn).
screen_status() {
	if [ -n "$T_script" ]; then
		if t_ask pass "${1:-30}"; then echo running; else cat "$T_script.status"; fi
		return
	fi
	wait_for "${1:-30}" screen_dead || {
		echo running
		return
	}
	t_tmux display-message -p -t t \
		'#{?pane_dead_signal,SIG#{pane_dead_signal},#{pane_dead_status}}'
}

# screen_pid: the program's pid, for signals.
screen_pid() {
	if [ -n "$T_script" ]; then
		wait_for 20 test -s "$T_script.pid" && cat "$T_script.pid"
		return
	fi
	t_tmux display-message -p -t t '#{pane_pid}'
}

screen_stop() {
	if [ -n "$T_script" ]; then
		t_tell end
		wait "$T_script_pid"
		exec 8>&- 9>&-
		rm -f "$T_script".* # a subshell's next one has the same number
		T_script=
	fi
	[ -n "$T_server" ] || return 0
	t_tmux kill-server 2>/dev/null
	T_server=
}
