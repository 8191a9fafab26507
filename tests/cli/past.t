#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The screen's past: what is shown of a sample is the same while it is now and when it is past.
# shellcheck disable=SC2317 # some functions are only called by check
. tests/lib.sh

amd=tests/sysroot/amd

# The picture without the title, the line of keys, and what is over time, where the time cursor is:
# these say what is shown.
table() {
	screen_shot | sed '1d; $d' | awk '
		/exits\/s  highest|events\/s  highest|  up to [·░▒▓█]/ { is_over_time = 1 }
		{ print is_over_time ? substr($0, 1, 78) : $0 }' | sed 's/ *$//'
}

# settle: until the second sample after a question was taken.
settle() {
	screen_pass 1
}

# first_is REASON: it is that of the first row.
first_is() {
	screen_shot | awk -v name="$1" '/^ Exit reason/ { getline; exit $1 != name }'
}

# What the screen is led to, one by one; a view's name is enough to leave what was before.
places="events guests vcpus exits hotspots host why long durations reason guest filter \
reasons"

# go_to PLACE: by keys.
go_to() {
	case $1 in
	events) screen_keys 1 ;;
	guests) screen_keys 2 ;;
	vcpus) screen_keys 3 ;;
	exits) screen_keys 4 ;;
	hotspots) screen_keys 5 ;;
	host) screen_keys 6 ;;
	why) screen_keys w ;;
	long) screen_keys 4 l ;;
	durations | reason)
		screen_keys 4
		settle # the first row is the one that it will be
		screen_keys Home
		[ "$1" = durations ] || screen_keys Enter
		;;
	guest) screen_keys 4 g && screen_type db1 && screen_keys Enter ;;
	filter) screen_keys 4 f && screen_type 'msr|hlt' && screen_keys Enter ;;
	reasons) screen_keys 1 x ;;
	esac
}

# leave PLACE: what a change of views does not.
leave() {
	case $1 in
	reason) screen_keys BSpace ;;
	guest | filter) screen_keys c ;;
	esac
}

# picture: all of it but the title, which says what time is shown.
picture() {
	screen_shot | sed 1d
}

# shows FILE NAME: the picture is the one that was kept.
shows() {
	picture >"$TMP/picture"
	is "$(diff "$1" "$TMP/picture")" "" "$2"
}

# same_in_past PLACE NAME: while it is now, and held; keeps the two pictures, and the history.
same_in_past() {
	mkdir -p "$TMP/$1"
	settle
	picture >"$TMP/$1/now"
	table >"$TMP/now"
	screen_keys Space
	screen_wait 'paused at'
	table >"$TMP/then"
	is "$(diff "$TMP/now" "$TMP/then")" "" "$2"
	picture >"$TMP/$1/held"
	cp "$TMP"/h.db* "$TMP/$1/" # no sample comes meanwhile
	screen_keys End
	screen_wait '99\.0s'
}

# same_from_file PLACE NAME: the pictures that same_in_past kept.
same_from_file() {
	t_time=$("$KVMTOP" -r "$TMP/$1/h.db" -1 --json --view exits |
		sed 's/{"time":"\([^"]*\)".*/\1/')
	# shellcheck disable=SC2086
	script_start $size -r "$TMP/$1/h.db" --view events --at "$t_time"
	screen_wait 'paused at'
	go_to "$1"
	shows "$TMP/$1/held" "$2, from a file: --at"
	screen_keys End
	shows "$TMP/$1/now" "$2, from a file: the latest sample"
	rm -r "${TMP:?}/$1"
}

# bars: how many samples with rates the summary shows; a full bar is what the shares are made of.
bars() {
	screen_shot | sed -n 3p | grep -o '[▁▂▃▄▅▆▇]' | wc -l
}

has_bars() {
	[ "$(bars)" -ge "$1" ]
}

# samples: how many are in the file.
samples() {
	"$KVMTOP" -r "$TMP/h.db" -l --view events --json 2>/dev/null | wc -l
}

for size in '80 24' '200 60'; do
	# shellcheck disable=SC2086
	script_start $size --sysroot $amd --view events -s 0.1 -w "$TMP/h.db"
	# As many as the summary shows: how long more would take depends on the interval.
	screen_pass 13
	is "$(samples)" 129 "$size: samples"
	screen_keys s
	screen_wait '^Seconds'
	screen_type 99 # no other sample during the rest
	screen_keys Enter
	screen_wait '99\.0s'
	for place in $places; do
		go_to "$place"
		same_in_past "$place" "$size: $place"
		leave "$place"
	done
	screen_stop
	for place in $places; do
		same_from_file "$place" "$size: $place"
	done
	rm -f "$TMP"/h.db*
done

# ---- keys at the edges

script_start 80 24 --sysroot $amd --view events -s 25
screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
screen_keys T
screen_has '^This is now: t goes back' "T: there is nothing later"
screen_keys t
screen_has 'paused at' "t: one sample back"
screen_keys t t t t t
screen_has '^No earlier sample is remembered' "t: there is nothing earlier"
screen_keys j
screen_has '^Time [(]03:12[)], back by [(]5m[)]' "j asks"
screen_type 'x'
screen_keys Enter
screen_has '^"x":' "what is no time is refused"
screen_keys C-u
screen_type '+1h'
screen_keys Enter
screen_has 'paused at' "a time in the future is the latest sample"
screen_keys j
screen_type '-1h'
screen_keys Enter
screen_has 'paused at' "a time before all samples is the first"
screen_keys 4
screen_has '^ Exit reason' "views are of that moment"
screen_keys End
screen_has '  25\.0s  ' "End returns to now"

# ---- two moments side by side

screen_keys t d
screen_has '^The first sample of a run has no rates' "d: the first sample has nothing to compare"
screen_keys q
script_start 200 24 --sysroot $amd -s 0.3 --view exits
screen_pass 1.5
check "samples" has_bars 3
screen_resize 80 24
screen_keys d
screen_has '^Marked: d at another moment' "d marks a moment"
screen_has 'paused at [0-9:]+, [0-9]+ s ago' "and holds it"
screen_keys t d
screen_has '^ 1: [0-9:.]+  2: [0-9:.]+  what changed most' "at another one it compares them"
screen_has '^ Exit reason +Count/s 1 +Count/s 2' "by reason"
screen_has '^any key: back' "all of it is visible"
screen_keys x
screen_has '^ Exit reason +Count' "any key: back"
screen_keys 2 d T d
screen_has '^ Guest +Count/s 1 +Count/s 2 +Change% +Avg 1 +Avg 2 +Time% 1' \
	"in the view of guests by guest"
screen_has '^ web1 ' "each of them"
screen_resize 70 24
screen_has '^ Guest +Count/s 1 +Count/s 2 +Change% +Time% 1' "in 70 columns without averages"
screen_resize 80 24
screen_has '^ web1 .*µs' "and in 80 with them"
screen_keys x 3 d t d
screen_has '^ Guest +vCPU +Count/s 1' "in the view of vCPUs by vCPU"
screen_keys x d End
screen_has '  0\.3s  ' "a mark outlives the return to now"
screen_keys d
screen_has '^ 1: [0-9:.]+  2: [0-9:.]+ ' "now it is compared with the latest sample"
screen_keys x
screen_has '^ db1 +0 +[0-9]+ +[0-9]' "and has its numbers afterwards" 5
screen_keys q

script_start 200 24 --sysroot $amd -s 0.3 --view exits
screen_pass 1.5
check "samples" has_bars 3
screen_resize 80 8
screen_has '^ Total +[1-9]' "a small screen"
screen_keys t d t d
screen_has '^arrows: more' "has not room for what changed"
t_second=$(screen_shot | awk '/^ Exit reason/ { getline; getline; print $1; exit }')
screen_keys Down
check "and can be scrolled" first_is "$t_second"
screen_keys x
screen_has '^ Exit reason +Count' "other keys: back"
screen_keys q

# ---- clocks that are changed while samples are taken: 150 of them, a second each, to 14:18:00 UTC

# jump TEXT: by j, and to the moment that the title says then.
jump() {
	screen_keys j
	screen_sees '^Time [(]03:12[)], back by [(]5m[)]' || return
	screen_type "$1"
	screen_keys Enter
}

# at ZONE TIME: the screen over $past, from then on.
at() {
	TZ=$1
	script_start 100 24 -r "$past" --at "$2" --view exits
	TZ=UTC
}

past=$TMP/past.db
check "a history" "$HELPERS/made_past" "$past"
is "$("$KVMTOP" -r "$past" -1 2>&1 >"$TMP/out")" "kvmtop: No event of KVM was counted." \
	"-1 of a history without events says so"

# At 14:17 UTC, which is 15:17 in summer, clocks are set back to 14:17.
at 'STD0DST,M3.1.1/0,M9.3.1/15:17' '2026-09-21 15:16:58'
screen_has 'paused at 2026-09-21 15:16:58 DST, ' "clocks set back: before that"
screen_keys T T
screen_has 'paused at 2026-09-21 14:17:00 STD, ' "T: the next second has an earlier time of day"
screen_keys t
screen_has 'paused at 2026-09-21 15:16:59 DST, ' "t: the second before"
screen_keys m
screen_has '^ 15:16:59 DST  [0-9,]+ exits' "m: the heat map has it"
screen_keys Right
screen_has '^ 14:17:00 STD  [0-9,]+ exits' "Right: the next second"
screen_keys Left m
screen_has 'paused at 2026-09-21 15:16:59 DST, ' "Left, m: back"
screen_keys d T d
screen_has '^ 1: 2026-09-21 15:16:59.000 DST  2: 2026-09-21 14:17:00.000 STD ' \
	"d: the two side by side"
screen_keys x t
jump +31s
screen_has 'paused at 2026-09-21 14:17:30 STD, ' "j +31s: by seconds that have passed"
jump 15:16:30
screen_has 'paused at 2026-09-21 15:16:30 DST, ' "j 15:16:30: a time of day of the summer"
jump '2026-09-21 14:17:30+00:00'
screen_has 'paused at 2026-09-21 14:17:30 STD, ' "j with a zone: the second 14:17:30"
jump 14:17:30
screen_has 'paused at 2026-09-21 15:15:3[01] DST, ' "j 14:17:30: the first one, before all samples"
screen_keys q
is "$(screen_status)" 0 "q"

# At 14:17 UTC clocks are set forward to 15:17.
at 'STD0DST,M9.3.1/14:17,M12.1.1/0' '2026-09-21 14:16:59'
screen_has 'paused at 2026-09-21 14:16:59, ' "clocks set forward: before that"
screen_keys T
screen_has 'paused at 2026-09-21 15:17:00, ' "T: the next second"
jump 14:16:30
screen_has 'paused at 2026-09-21 14:16:30, ' "j 14:16:30: a time of day of the winter"
jump 15:17:30
screen_has 'paused at 2026-09-21 15:17:30, ' "j 15:17:30: one of the summer"
jump 14:17:20
screen_has 'paused at 2026-09-21 15:17:20, ' "j 14:17:20, which did not exist: as of winter"
screen_keys q
is "$(screen_status)" 0 "q"

# The first sample and the last, and between two runs of the writer a gap of an hour less 150 s.
if command -v sqlite3 >/dev/null; then
	cp "$past" "$TMP/runs.db"
	check "another run of the writer" "$HELPERS/made_past" "$TMP/runs.db"
	sqlite3 "$TMP/runs.db" 'UPDATE sample SET time_ns = time_ns + 3600000000000
		WHERE segment = (SELECT max(id) FROM segment)'
	past=$TMP/runs.db
	at UTC 2026-09-21
	screen_has 'paused at 2026-09-21 14:15:3[01], ' "the first sample"
	screen_keys t
	screen_has '^No earlier sample' "t: there is nothing earlier"
	jump -1h
	screen_has 'paused at 2026-09-21 14:15:3[01], ' "j -1h: nor there"
	screen_has '^Nothing is remembered before this sample, of 2026-09-21 14:15:3[01]' \
		"which is said"
	screen_keys T
	jump 1s
	screen_has 'paused at 2026-09-21 14:15:3[01], ' "j 1s: a second back"
	no_rates='  counting begins: the first sample has no rates'
	screen_keys m Home
	screen_has "^ 14:15:3[01]$no_rates" "m, Home: the first sample has no numbers"
	screen_keys Right
	screen_has '^ 14:15:3[12]  [0-9,]+ exits  [0-9,]+/s' "Right: the next one has"
	screen_keys Left
	screen_has "^ 14:15:3[01]$no_rates" "Left: back"
	screen_keys Left
	screen_has '^No earlier sample' "Left: there is nothing earlier"
	screen_keys m
	screen_has '^ Exit reason' "m: the table again"
	screen_keys Space
	screen_has '^[^,]*2026-09-21 15:18:00' "Space: now, the last sample"
	screen_keys T
	screen_has '^This is now: t goes back' "T: there is nothing later"
	screen_keys Space
	screen_has 'paused at 2026-09-21 15:18:00, ' "Space holds it"
	screen_keys T
	screen_has '^[^,]*2026-09-21 15:18:00' "T: after the last one is now"
	jump 14:18
	screen_has 'paused at 2026-09-21 14:18:00, ' "j: the last sample of the first run"
	screen_has '^ *EPT_VIOLATION ' "with its rows"
	screen_keys T
	screen_has 'paused at 2026-09-21 15:15:3[01], ' "T: the first one of the second run"
	screen_keys m
	screen_has "^ 15:15:3[01]$no_rates" "m: it has no numbers"
	screen_keys Right
	screen_has '^ 15:15:3[12] after a gap  [0-9,]+ exits' "Right: the next one has"
	screen_keys Left m
	screen_has 'paused at 2026-09-21 15:15:3[01], ' "Left, m: back"
	screen_keys t
	screen_has 'paused at 2026-09-21 14:18:00, ' "t: back over the gap"
	jump 14:45
	screen_has 'paused at 2026-09-21 14:18:00, ' "j into the gap: what was there last"
	screen_keys d
	screen_has '^Marked: d at another moment' "d before the gap"
	screen_keys T d
	screen_has '^The first sample of a run has no rates' "T, d: before it is nothing to compare"
	screen_keys T d
	screen_has '^ 1: 2026-09-21 14:18:00.*  2: 2026-09-21 15:15:3[12]' "T, d: the next one has"
	screen_keys x t t
	screen_has 'paused at 2026-09-21 14:18:00, ' "t, t: back over the gap"
	jump +1h
	screen_has 'paused at 2026-09-21 15:18:00, ' "j +1h: from there"
	jump -10s
	screen_has 'paused at 2026-09-21 15:17:50, ' "j -10s: ten seconds back"
	screen_keys End
	screen_has '^[^,]*2026-09-21 15:18:00' "End: now"
	screen_keys q
	is "$(screen_status)" 0 "q"
	past=$TMP/past.db
fi

# Until sample 75 the machine's clock was ten minutes fast.
if command -v sqlite3 >/dev/null; then
	sqlite3 "$past" 'UPDATE sample SET time_ns = time_ns + 600000000000 WHERE id <= 75'
	at UTC '2026-09-21 14:26:44'
	screen_has 'paused at 2026-09-21 14:26:44, ' "the machine's clock set back: before that"
	screen_keys T
	screen_has 'paused at 2026-09-21 14:16:45, ' "T: the next sample"
	screen_keys t
	screen_has 'paused at 2026-09-21 14:26:44, ' "t: the one before"
	screen_keys m
	screen_has '^ 14:26:44  [0-9,]+ exits' "m: the heat map has it"
	screen_keys Right
	screen_has '^ 14:16:45  [0-9,]+ exits' "Right: the next sample"
	screen_keys Left m
	screen_has 'paused at 2026-09-21 14:26:44, ' "Left, m: back"
	jump '2026-09-21 14:25:40'
	screen_has 'paused at 2026-09-21 14:25:40, ' "j: a time by the fast clock"
	screen_keys End
	screen_has '^[^,]*2026-09-21 14:18:00' "End: the latest sample, not the latest time"
	screen_keys q
	is "$(screen_status)" 0 "q"
else
	skip "the machine's clock set back" "sqlite3 is not installed"
fi

# ---- a file that another process writes meanwhile

spawn "$KVMTOP" --sysroot $amd -s 0.2 -w "$TMP/h.db" >/dev/null 2>&1 </dev/null
has_3_samples() {
	[ "$(samples)" -ge 3 ]
}
check "a writer" wait_for 10 has_3_samples
SCRIPT_CLOCK=real
export SCRIPT_CLOCK
script_start 200 24 -r "$TMP/h.db" --view exits
check "bars over time in the summary" wait_for 10 has_bars 2
bars=$(bars)
check "go on with each sample" wait_for 20 has_bars $((bars + 2))
screen_keys q
stop "$SPAWNED"
rm -f "$TMP"/h.db*
done_testing
