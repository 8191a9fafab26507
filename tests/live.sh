# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# live.sh - for tests of what is counted here: kvmtop in the background, guests, what was printed.

went() {
	wait_for 30 grep -q '^done' "$TMP/$1.out"
}

counting() {
	wait_for 30 is_sampling "$1"
}

# look NAME OPTION...: kvmtop in the background, its output in $TMP/NAME, its pid in $SPAWNED.
look() {
	t_look=$TMP/$1
	shift
	spawn "$KVMTOP" "$@" >"$t_look" 2>"$t_look.err"
}

# ended PID: waits for its end by itself.
ended() {
	wait_for 20 t_ended "$1" && wait "$1" 2>/dev/null
}

lines() {
	[ -e "$TMP/$1" ] && [ "$(wc -l <"$TMP/$1")" -ge "$2" ]
}

# batch NAME FIELD: "TOTAL DELTA" of an event in the output of -1.
batch() {
	awk -v name="$2" '$1 == name { print $2, $3 }' "$TMP/$1"
}

# json NAME KEY VALUE: the sum of all deltas of the rows whose KEY is VALUE.
json() {
	deltas "$TMP/$1" "$2" "$3"
}
