#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the screen remembers: the file of preferences, its wrong lines, and the key that writes it.
. tests/lib.sh

amd=tests/sysroot/amd
file=$XDG_CONFIG_HOME/kvmtop/config

# start OPTION...: until rates are there.
start() {
	script_start 120 24 --sysroot $amd -s 25 "$@"
	screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
}

# shellcheck disable=SC2317 # check calls it
lacks() {
	! grep -q -e "$1" "$2"
}

# ---- written by W

start --view events
screen_keys '<' '<' R W
screen_has "View, order and interval are saved in .*/kvmtop/config" "W says where it wrote"
is "$(cat "$file")" "view = events
sort = events:-total
interval = 25" "view, order and interval are in the file"
is "$(stat -c %a "$XDG_CONFIG_HOME/kvmtop")" 700 "the folder is the user's own"
screen_stop

# ---- read at the start

script_start 120 24 --sysroot $amd
screen_has ' 25(\.0)? ?s' "the interval is the file's"
screen_has 'Event .*Total' "the view is the file's"
screen_keys '2'
screen_has 'Guest Name' "another view"
screen_keys 'W'
screen_has 'View, order' "is written, too"
is "$(sed -n 1p "$file")" "view = guests" "in the place of the old line"
is "$(sed -n 's/ guests.*//; /^sort/p' "$file")" "sort = events:-total" "the old order stays"
screen_stop

# ---- the command line overrides it, columns are hidden, lines that are wrong are named

cat >"$file" <<-'EOF'
	# mine
	view = guests
	colour = red
	hide = total total_percent
	interval = never
EOF
start --view events
screen_shot >"$TMP/picture"
like "$(cat "$TMP/picture")" 'kvm_exit' "--view overrides the file"
check "the hidden columns are not there" lacks '%Total' "$TMP/picture"
screen_keys W
screen_has "View, order" "W writes again"
is "$(sed '/^sort\|^interval/d' "$file")" "# mine
view = events
colour = red
hide = total total_percent" "comments and other lines stay"
screen_keys q
is "$(screen_status)" 0 "q"
is "$(screen_shot)" "kvmtop: $file: line 3: \"colour\": no such name; kvmtop-screen(7) lists \
them; the line is skipped
kvmtop: $file: line 5: interval: \"never\": not a time from 0.1 s to 86400 s, \
as in 5, 0.5, 10s, 1min; the line is skipped" "wrong lines are named once"

# ---- for scripts nothing changes but thresholds

echo 'hide = total total_percent
view = exits
sort = events:-total' >"$file"
"$AT_ONCE" --sysroot $amd -1 --view events >"$TMP/with"
XDG_CONFIG_HOME=$TMP/none "$AT_ONCE" --sysroot $amd -1 --view events >"$TMP/without"
check "there are rows" grep -q kvm_exit "$TMP/with"
same_files "$TMP/with" "$TMP/without" "-1 prints the same"
echo "thresholds = $TMP/missing" >"$file"
fails=$("$KVMTOP" --sysroot $amd -1 --csv 2>&1)
like "$fails" "$TMP/missing: No such file" "thresholds are read"

# ---- the machine's file, the user's after it, then the command line

cp -a $amd "$TMP/machine"
mkdir -p "$TMP/machine/etc/kvmtop"
printf 'view = events\ninterval = 17\nmonochrome = yes\n' >"$TMP/machine/etc/kvmtop/config"
rm "$file"
script_start 120 24 --sysroot "$TMP/machine"
screen_has ' 17(\.0)? ?s' "the interval is the machine's"
screen_has 'Event .*Total' "the view is the machine's"
echo 'interval = 19
monochrome = no' >"$file"
script_start 120 24 --sysroot "$TMP/machine"
screen_has ' 19(\.0)? ?s' "the user's file is after it"
screen_has 'Event .*Total' "what it does not say stays"

# ---- a file that cannot be written

rm -r "$XDG_CONFIG_HOME"
: >"$XDG_CONFIG_HOME"
start
screen_keys W
screen_has "kvmtop/config: .*Not a directory" "W says why it cannot write"
screen_stop
unset HOME XDG_CONFIG_HOME
start
screen_keys W
screen_has "Not saved: set HOME or XDG_CONFIG_HOME" "without a home it says so"
screen_stop

# ---- colours are for a real terminal

if has_screen; then
	echo 'monochrome = yes' >"$TMP/machine/etc/kvmtop/config"
	XDG_CONFIG_HOME=$TMP/colours
	export XDG_CONFIG_HOME
	screen_start 120 24 "exec $KVMTOP --sysroot $TMP/machine -s 25"
	screen_wait '^ db1 .* [0-9]'
	screen_shot -e >"$TMP/picture"
	check "there are no colours" lacks "$(printf '\033')\[[0-9;]*3[0-7]m" "$TMP/picture"
	mkdir -p "$TMP/colours/kvmtop"
	echo 'monochrome = no' >"$TMP/colours/kvmtop/config"
	screen_start 120 24 "exec $KVMTOP --sysroot $TMP/machine -s 25"
	screen_wait '^ db1 .* [0-9]'
	screen_shot -e >"$TMP/picture"
	check "there are colours" grep -q "$(printf '\033')\[[0-9;]*38;5;[0-9]*m" "$TMP/picture"
	# They have 4.5:1 on white, too.
	check "none is the terminal's own, which white may hide" \
		lacks "$(printf '\033')\[[0-9;]*3[0-7]m" "$TMP/picture"
	echo 'background = dark' >"$TMP/colours/kvmtop/config"
	echo 'monochrome = no' >>"$TMP/colours/kvmtop/config"
	screen_start 120 24 "exec $KVMTOP --sysroot $TMP/machine -s 25"
	screen_wait '^ db1 .* [0-9]'
	screen_shot -e >"$TMP/picture"
	check "on a dark background the bright ones are" \
		grep -q "$(printf '\033')\[[0-9;]*3[23]m" "$TMP/picture"
else
	skip "colours" "$T_no_screen"
fi

done_testing
