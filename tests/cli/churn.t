#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests come and go: the memory and descriptors of a log and of a screen stay what they are, and an
# exporter misses no exit.
# CHURN=600 in the environment: for ten minutes (10 seconds).
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live
need_screen

SECONDS_LONG=${CHURN:-10}
AT_ONCE=4
# Memory reaches its size with more threads at once than any test has, and with more guests than are
# remembered after their end (64).
BURST=40
BEFORE=100
# What an allocator may keep, and the screen's past of 4 MiB, twice where it is unpacked. In ten
# minutes 20,000 guests come: a leak of 500 bytes for each is as much.
ROOM_KB=10240

now_s() {
	date +%s
}

# guests N VCPUS: so many at once, each of which makes a few exits and ends.
guests() {
	t_guests=
	for t_i in $(seq "$1"); do
		"$HELPERS/miniguest" --name "churn-$t_i" --pio 20 --cpuid 20 --vcpus "$2" \
			--rounds 5 --pause 20000 >/dev/null &
		t_guests="$t_guests $!"
	done
	# shellcheck disable=SC2086 # pids
	wait $t_guests
}

rss_kb() {
	sed -n 's/^VmRSS:[[:blank:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

nr_fds() {
	find "/proc/$1/fd" -type l 2>/dev/null | wc -l
}

# has_fds PID N: what was opened for guests is closed again.
has_fds() {
	[ "$(nr_fds "$1")" -le "$2" ]
}

spawn "$KVMTOP" -l --json --view vcpus -s 0.2 >"$TMP/log" 2>"$TMP/log.err"
log=$SPAWNED
check "a log counts" wait_for 30 is_sampling "$log"
screen_start 100 30 "exec $KVMTOP --view guests -s 0.3"
screen=$(screen_pid)
check "a screen counts" wait_for 30 is_sampling "$screen"

# compare WHAT PID DESCRIPTORS KB: it has as many as before.
compare() {
	# Not "=": what is open for a moment only, as a file below /proc, may have been open before.
	check "the $1 has as many descriptors as before" wait_for 30 has_fds "$2" "$3"
	t_grown=$(($(rss_kb "$2") - $4))
	diag "$1, $nr guests in $SECONDS_LONG s: $3 descriptors, then $(nr_fds "$2"); $4 kB, then \
$t_grown more"
	check "and as much memory" test $t_grown -lt $ROOM_KB
}

guests $BURST 8
guests $BURST 8
for _ in $(seq $((BEFORE / AT_ONCE))); do
	guests $AT_ONCE 2
done
sleep 1
log_fds=$(nr_fds "$log")
log_kb=$(rss_kb "$log")
screen_fds=$(nr_fds "$screen")
screen_kb=$(rss_kb "$screen")

end=$(($(now_s) + SECONDS_LONG))
nr=0
until [ "$(now_s)" -ge $end ]; do
	guests $AT_ONCE 2
	nr=$((nr + AT_ONCE))
done
compare log "$log" "$log_fds" "$log_kb"
compare screen "$screen" "$screen_fds" "$screen_kb"
check "the log had guests" grep -q '"guest":"churn-' "$TMP/log"
screen_keys q
is "$(screen_status)" 0 "the screen goes on and ends"
stop "$log"
is "$? $(cat "$TMP/log.err")" "0 " "so does the log, and says nothing"
# ---- an exporter

# 200 guests of 20 names come and go, too soon to be seen. The end of each text is marked.
file=$TMP/churn.prom
spawn "$KVMTOP" export --prometheus "$file" -s 0.1 --metrics user,events,no-host
SERVER=$SPAWNED
wait_for 60 test -s "$file"
for _ in 1 2 3 4 5 6 7 8 9 10; do
	for name in $(seq 20); do
		"$HELPERS/miniguest" --name "churn-$name" --pio 20 --rounds 5 \
			--pause 40000 &
	done
	wait
done >"$TMP/churn" &
CHURN=$!
until t_ended "$CHURN"; do
	cat "$file"
	echo "# end"
	sleep 0.02
done >"$TMP/texts"
# The accesses of all guests.
churned() {
	awk '/^kvmtop_user_exits_total{guest="(\(ended\)|churn-.*)",reason="IO"}/ {
		all += $NF } END { print all }' "$file"
}
has_churned() {
	[ "$(churned)" = 20000 ]
}
wait_for 5 has_churned
is "$(churned)" 20000 "no exit is lost of 200 guests that come and go"
stop "$SERVER"
awk '
/^# end/ { split("", pid) }
/^kvmtop_guest_info/ {
	split($0, part, "\"")
	match($0, /,pid="[0-9]+/)
	pid[part[2]] = substr($0, RSTART + 6, RLENGTH - 6)
}
/_total\{guest=/ {
	split($0, part, "\"")
	series = pid[part[2]] " " substr($0, 1, length($0) - length($NF))
	if (series in last && $NF + 0 < last[series])
		print series, "was", last[series], "and is", $NF
	last[series] = $NF + 0
}
' "$TMP/texts" >"$TMP/back"
is "$(cat "$TMP/back")" "" "and no counter goes back"
done_testing
