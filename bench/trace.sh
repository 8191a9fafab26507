#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# trace.sh - how fast recordings are read and reported, beside other programs that are here.
#
# Made-up recordings, the best of ROUNDS runs; sizes in events.
#	KVMTOP=./kvmtop  BUILD=build  ROUNDS=3  EXITS=5000000
set -u
cd "$(dirname "$0")/.." || exit 1
KVMTOP=${KVMTOP:-./kvmtop}
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-3}
EXITS=${EXITS:-5000000}
export LC_ALL=C.UTF-8

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Prints the least number of seconds, and KiB of memory, of a command.
best() {
	local TIMEFORMAT=%R round
	for ((round = 0; round < ROUNDS; round++)); do
		{ time "$@" >/dev/null 2>&1 </dev/null; } 2>&1
	done | sort -g | head -n 1
}

row() { # NAME EVENTS COMMAND...
	local name=$1 events=$2 seconds
	shift 2
	seconds=$(best "$@")
	awk -v name="$name" -v events="$events" -v s="$seconds" \
		'BEGIN { printf("%-30s %8.2f s %8.1f M/s\n", name, s, s ? events / s / 1e6 : 0) }'
}

events() { # of a made-up file
	"$BUILD/bench/trace" "$1" | awk '{ print $1 }'
}

for kind in acrn kvmtrace dat perf; do
	file=$work/$kind
	"$BUILD/tests/trace_make" $kind "$file" "$EXITS" || exit 1
	nr=$(events "$file")
	row "$kind, read" "$nr" "$BUILD/bench/trace" "$file"
	row "$kind, kvmtop report" "$nr" "$KVMTOP" report "$file"
	case $kind in
	dat)
		! command -v trace-cmd >/dev/null ||
			row "$kind, trace-cmd report" "$nr" trace-cmd report -i "$file"
		;;
	perf)
		! command -v perf >/dev/null ||
			row "$kind, perf kvm stat report" "$nr" perf kvm -i "$file" stat report
		;;
	esac
	"$BUILD/bench/trace" "$file" | sed 's/.*, \([0-9]* KiB\) resident.*/  memory: \1/'
	rm "$file"
done
