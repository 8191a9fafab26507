#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The screen's past: what is shown of a sample is the same while it is now and when it is past.
# shellcheck disable=SC2317 # some functions are only called by wait_for
. tests/lib.sh
need_screen

amd=tests/sysroot/amd

# The picture without the title, the line of keys, and what is over time, where the time cursor is:
# these say what is shown.
table() {
	screen_shot | sed '1d; $d' | awk '
		/exits\/s  highest|events\/s  highest|  up to [·░▒▓█]/ { is_over_time = 1 }
		{ print is_over_time ? substr($0, 1, 78) : $0 }' | sed 's/ *$//'
}

is_still() {
	t_still=$(screen_shot)
	sleep 0.5
	[ "$(screen_shot)" = "$t_still" ]
}

# first_is REASON: it is that of the first row.
first_is() {
	screen_shot | awk -v name="$1" '/^ Exit reason/ { getline; exit $1 != name }'
}

# same_in_past NAME: holds the latest sample, and returns to now.
same_in_past() {
	wait_for 10 is_still || :
	table >"$TMP/now"
	screen_keys Space
	screen_wait 'paused at'
	table >"$TMP/then"
	is "$(diff "$TMP/now" "$TMP/then")" "" "$1"
	screen_keys End
	screen_wait '25\.0s'
}

has_samples() {
	[ "$(screen_shot | sed -n '2s/.*[^▁▂▃▄▅▆▇█]\([▁▂▃▄▅▆▇█]*\).*/\1/p' | wc -m)" -gt 1 ]
}

for size in '80 24' '200 60'; do
	# shellcheck disable=SC2086
	screen_start $size "exec $KVMTOP --sysroot $amd -s 0.3"
	screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
	sleep 2 # several samples: sparklines have something to be compared
	screen_keys s
	screen_wait '^Seconds'
	screen_type 25
	screen_keys Enter
	screen_wait '25\.0s'
	for view in 'events 1' 'guests 2' 'vcpus 3' 'exits 4'; do
		screen_keys "${view#* }"
		same_in_past "$size: ${view% *}"
	done
	screen_keys 4 Home
	same_in_past "$size: the durations of a row"
	screen_keys Enter
	same_in_past "$size: a reason's arguments and vCPUs"
	screen_keys BSpace g
	screen_type db1
	screen_keys Enter
	same_in_past "$size: a guest's exits"
	screen_keys c f
	screen_type 'msr|hlt'
	screen_keys Enter
	same_in_past "$size: a filter"
	screen_keys c 1 x
	same_in_past "$size: reasons, of which the past has what was counted"
	screen_keys q
	screen_stop 2>/dev/null || :
done

# ---- keys at the edges

screen_start 80 24 "exec $KVMTOP --sysroot $amd -s 25"
screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
screen_keys T
screen_has '^This is now: t goes back' "T: there is nothing later"
screen_keys t
screen_has 'paused at' "t: one sample back"
screen_keys t t t t t
screen_has '^No earlier sample is remembered' "t: there is nothing earlier"
screen_keys j
screen_has '^Forward by, or to' "j asks"
screen_type 'x'
screen_keys Enter
screen_has '^"x":' "what is no time is refused"
screen_keys C-u
screen_type '1h'
screen_keys Enter
screen_has 'paused at' "a time in the future is the latest sample"
screen_keys J
screen_has '^Back by, or to' "J asks"
screen_type '1h'
screen_keys Enter
screen_has 'paused at' "a time before all samples is the first"
screen_keys 4
screen_has '^ Exit reason' "views are of that moment"
screen_keys End
screen_has '  25\.0s  ' "End returns to now"

# ---- two moments side by side

screen_keys d
screen_has '^Marked: d at another moment' "d marks a moment"
screen_keys t d
screen_has '^ 1: [0-9:.]+  2: [0-9:.]+  what changed most' "at another one it compares them"
screen_has '^ Exit reason +Count/s 1 +Count/s 2' "by reason"
screen_has '^any key: back' "all of it is visible"
screen_keys x
screen_has '^ Exit reason +Total' "any key: back"
screen_keys q

screen_start 80 8 "exec $KVMTOP --sysroot $amd -s 0.3"
screen_keys 4
screen_has '^ Total +[1-9]' "a small screen"
sleep 1
screen_keys t d t d
screen_has '^arrows: more' "has not room for what changed"
t_second=$(screen_shot | awk '/^ Exit reason/ { getline; getline; print $1; exit }')
screen_keys Down
check "and can be scrolled" wait_for 10 first_is "$t_second"
screen_keys x
screen_has '^ Exit reason +Total' "other keys: back"
screen_keys q
done_testing
