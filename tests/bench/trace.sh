#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trace.sh - how fast recordings are read, reported, printed and drawn, beside other programs that
# are here, and how much memory that takes, whatever the file's size.
#
# Made-up recordings, the best of ROUNDS runs; sizes in exits, BIG in MiB (0: leave that out).
#	KVMTOP=./kvmtop  BUILD=build  ROUNDS=3  EXITS=5000000  BIG=4096
set -u
cd "$(dirname "$0")/../.." || exit 1
KVMTOP=${KVMTOP:-./kvmtop}
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
EXITS=${EXITS:-5000000}
BIG=${BIG:-4096}
export LC_ALL=C.UTF-8

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Prints the least number of seconds of a command, which reads $input if that is set.
best() {
	local TIMEFORMAT=%R round
	for ((round = 0; round < ROUNDS; round++)); do
		{ time "$@" >/dev/null 2>&1 <"${input:-/dev/null}"; } 2>&1
	done | sort -g | head -n 1
}

row() { # NAME EVENTS COMMAND...
	local name=$1 events=$2 seconds
	shift 2
	seconds=$(best "$@")
	awk -v name="$name" -v events="$events" -v s="$seconds" \
		'BEGIN { printf("%-34s %8.2f s %8.1f M/s\n", name, s, s ? events / s / 1e6 : 0) }'
}

# The most memory that a command had, in KiB.
memory() {
	local most=0 now pid
	"$@" >/dev/null 2>&1 </dev/null &
	pid=$!
	while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null); do
		[ -n "$now" ] || break # it has ended
		most=$now
		sleep 0.02
	done
	wait "$pid"
	echo "$most"
}

# The scripts are slow: a piece of the file tells as much.
scripts() { # KIND FILE
	local formats=${FORMATS:-/usr/share/kvm/formats}
	head -c 6400004 "$2" >"$work/piece"
	input=$work/piece row "$1, kvmtop format" 400000 "$KVMTOP" format "$formats"
	! command -v kvmtrace_format >/dev/null ||
		input=$work/piece row "$1, kvmtrace_format" 400000 kvmtrace_format "$formats"
}

measure() { # KIND
	local file=$work/$1 nr
	"$BUILD/tests/helpers/trace_make" "$1" "$file" "$EXITS" || return
	nr=$("$BUILD/tests/bench/trace" "$file" | awk '{ print $1 }')
	row "$1, read" "$nr" "$BUILD/tests/bench/trace" "$file"
	row "$1, kvmtop report" "$nr" "$KVMTOP" report --frequency 1000 "$file"
	row "$1, kvmtop timeline" "$nr" "$KVMTOP" timeline --frequency 1000000 -r "$file"
	row "$1, timeline --format perfetto" "$nr" "$KVMTOP" timeline --format perfetto \
		--frequency 1000000 -r "$file"
	case $1 in
	dat)
		! command -v trace-cmd >/dev/null ||
			row "$1, trace-cmd report" "$nr" trace-cmd report -i "$file"
		;;
	perf)
		! command -v perf >/dev/null ||
			row "$1, perf kvm stat report" "$nr" perf kvm -i "$file" stat report
		;;
	kvmtrace)
		[ ! -r "${FORMATS:-/usr/share/kvm/formats}" ] || scripts "$1" "$file"
		;;
	esac
	echo "  memory: report $(memory "$KVMTOP" report --frequency 1000 "$file") KiB," \
		"timeline $(memory "$KVMTOP" timeline --frequency 1000000 -r "$file") KiB"
	rm "$file"
}

# An exit is at most four records of 32 bytes, and two and a quarter of them here.
measure_big() {
	local file=$work/big free
	free=$(df -Pm "$work" | awk 'NR == 2 { print $4 }')
	if [ "$free" -lt $((BIG + 512)) ]; then
		echo "no room for a file of $BIG MiB"
		return
	fi
	"$BUILD/tests/helpers/trace_make" acrn "$file" $((BIG * 1048576 / 72)) || return
	echo "a file of $(($(stat -c %s "$file") >> 20)) MiB: report has" \
		"$(memory "$KVMTOP" report --frequency 1000 "$file") KiB"
	rm "$file"
}

for kind in acrn kvmtrace dat perf; do
	measure $kind
done
[ "$BIG" = 0 ] || measure_big
