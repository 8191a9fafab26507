# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2317 # wait_for calls functions
#
# overhead.sh - what tests/bench/overhead runs inside the emulated host.
. tests/lib.sh
. /settings

row() {
	printf '%-42s %9s %9s %9s %9s %9s %9s\n' "$@"
}

# guest NAME PROGRAM OPTION...: a guest that waits for the word.
guest() {
	g_name=$1
	g_program=$2
	shift 2
	rm -f "$TMP/$g_name.in"
	mkfifo "$TMP/$g_name.in"
	: >"$TMP/$g_name.out"
	# Not by spawn: a shell gives what it starts in the background an empty stdin.
	"$g_program" --name "$g_name" "$@" <>"$TMP/$g_name.in" >"$TMP/$g_name.out" 2>&1 &
	T_pids="$T_pids $!"
	wait_for 60 grep -q '^ready' "$TMP/$g_name.out"
}

# guest_go NAME: prints what an exit took. Nothing else runs meanwhile: a look whether it is done
# takes as long as a thousand exits.
guest_go() {
	echo 1<>"$TMP/$1.in"
	sleep 3
	wait_for 200 grep -q '^done' "$TMP/$1.out" || return 1
	awk -v n="$EXITS" -v ns="$INSTRUCTION_NS" '/^ns / { printf "%.0f\n", $2 / n / ns }' \
		"$TMP/$1.out"
}

# measure: sets $cpuid and $pio, and $halt where there is a guest that halts.
measure() {
	cpuid=$(guest_go cpuid)
	pio=$(guest_go pio)
	! command -v haltguest >/dev/null || halt=$(guest_go halt)
	if [ -z "$cpuid" ] || [ -z "$pio" ] || [ -z "${halt-0}" ]; then
		cat "$TMP"/*.out
		exit 1
	fi
}

guests() {
	guest cpuid miniguest --wait --time --cpuid "$EXITS"
	guest pio miniguest --wait --time --pio "$EXITS"
	! command -v haltguest >/dev/null || guest halt haltguest "$EXITS" 50
}

# ends_in SECONDS PID: looks once a second, for looking is what takes time here.
ends_in() {
	e_left=$1
	until t_ended "$2"; do
		e_left=$((e_left - 1))
		[ $e_left -gt 0 ] || return 1
		sleep 1
	done
}

# trace-cmd leaves its events on when it is told to end, so it is given the time to end by itself.
end() {
	for e_signal in 0 INT TERM KILL; do
		kill -$e_signal "$1" 2>/dev/null
		! ends_in 20 "$1" || break
	done
	wait "$1" 2>/dev/null
	# Closing perf events waits for RCU.
	sync
	sleep 10
}

bare() {
	guests
	sleep "$SETTLE"
	measure
}

# added WITH BARE: nothing where there is nothing.
added() {
	[ -z "$1" ] || printf %+d $(($1 - $2))
}

run_case() {
	guests
	sh -c "exec $2" </dev/null >"$TMP/out" 2>&1 &
	c_pid=$!
	sleep "$SETTLE"
	measure
	if t_ended "$c_pid"; then
		echo "# $1: it ended too early: $(tail -n 1 "$TMP/out")"
	else
		row "$1" "$cpuid" "$(added "$cpuid" "$bare_cpuid")" "$pio" \
			"$(added "$pio" "$bare_pio")" "${halt-}" "$(added "${halt-}" "$bare_halt")"
	fi
	end "$c_pid"
}

[ ! -e /modules/order ] || while read -r m_name; do
	insmod "/modules/$m_name.ko"
done </modules/order

echo "Instructions per exit of $(uname -mr), $EXITS exits of each kind"
row "" CPUID added "port I/O" added "a halt" added
bare # the first run of all is a little slower
bare
bare_cpuid=$cpuid
bare_pio=$pio
bare_halt=${halt-}
row bare "$cpuid" "" "$pio" "" "$bare_halt" ""
while IFS='|' read -r label command; do
	program=${command%% *}
	if command -v "$program" >/dev/null; then
		run_case "$label" "$command"
	else
		echo "# $label: no $program here"
	fi
done </cases
T_done=1
