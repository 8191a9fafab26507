#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# past.sh - what it costs to look at a day's history file: the first frame, keys, one interval.
#
# The file has a sample a second of 50 guests with 4 vCPUs each, 86,400 in all (DAY). It is made
# once, in two minutes, and kept, with about 2 GB: build/tests/bench/day.db. Medians of ROUNDS runs.
#	KVMTOP=./kvmtop  BUILD=build  ROUNDS=5  DAY=86400
set -u
cd "$(dirname "$0")/../.." || exit 1
KVMTOP=${KVMTOP:-./kvmtop}
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
DAY=${DAY:-86400}
export LC_ALL=C.UTF-8

file=$BUILD/tests/bench/day.db
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" "$file.new"' EXIT

if [ ! -e "$file" ]; then
	echo "Making $file, which takes about two minutes, and then stays" >&2
	"$BUILD/tests/bench/day" "$file.new" "$DAY" && mv "$file.new" "$file" || exit 1
fi

# median COLUMN: of the lines that are read
median() {
	awk -v c="$1" '{ print $c }' | sort -g |
		awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'
}

# The day's end and noon are as far from totals as can be, 78 s before noon is near.
printf '%-26s %8s %8s %8s %8s %8s %8s %8s\n' "" "frame," "frame," "t," "t," "T," "j -2h," "j +30m,"
printf '%-26s %8s %8s %8s %8s %8s %8s %8s\n' "--at" ms "CPU ms" "CPU ms" "CPU ms" "CPU ms" \
	"CPU ms" "CPU ms"
for at in -1s -6h -12h -43278s -23h; do
	for _ in $(seq "$ROUNDS"); do
		"$BUILD/tests/bench/screen" -k "t t T j -2h . j +30m ." PAUSED \
			"$KVMTOP" -r "$file" --view guests "--at=$at"
	done >"$work/screen"
	printf '%-26s' "$at"
	for column in 1 2 3 4 5 8 11; do
		printf ' %8s' "$(median $column <"$work/screen")"
	done
	echo
done

TIMEFORMAT='%U %S'
for _ in $(seq "$ROUNDS"); do
	{ time "$KVMTOP" -r "$file" --view guests --from 2026-09-21 -1 >/dev/null; } 2>&1
done | awk '{ print ($1 + $2) * 1000 }' >"$work/interval"
printf '%-26s %8s CPU ms\n' "the day as one interval" "$(median 1 <"$work/interval")"
