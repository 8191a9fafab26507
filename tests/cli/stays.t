#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Of what kvmtop has in the kernel nothing stays, however it ends: programs, maps, links of BPF.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live

"$HELPERS/bpfobjects" >"$TMP/before" 2>"$TMP/err" || skip_all "$(cat "$TMP/err")"

# held PID: what of BPF it has by its descriptors, without what was there before.
held() {
	sed -n 's/^\([a-z]*_id\):[[:blank:]]*\([0-9]*\)$/\1 \2/p' "/proc/$1/fdinfo"/* 2>/dev/null |
		grep -E '^(prog|map|link|btf)_id ' | sort -u | grep -vxFf "$TMP/before"
}

# The kernel frees after a while.
are_gone() {
	! "$HELPERS/bpfobjects" | grep -xFf "$TMP/held" >"$TMP/left"
}

# stays NAME LEAST SIGNAL OPTION...: with at least so many objects; nothing of them is left.
stays() {
	s_name=$1 s_least=$2 s_signal=$3
	shift 3
	spawn "$KVMTOP" "$@" >"$TMP/out" 2>"$TMP/err"
	wait_for 20 is_sampling "$SPAWNED"
	sleep 0.3
	held "$SPAWNED" >"$TMP/held"
	check "$s_name, SIG$s_signal: it has at least $s_least objects" \
		[ "$(grep -c . "$TMP/held")" -ge "$s_least" ]
	stop "$SPAWNED" "$s_signal"
	check "$s_name, SIG$s_signal: nothing stays" wait_for 20 are_gone
}

guest stays --pio 100 --rounds 0 --pause 50000
go stays
stays "all" 12 TERM -w "$TMP/h.db" -s 0.3
stays "all" 12 KILL -w "$TMP/h.db" -s 0.3
stays "hot spots" 6 KILL -l -s 0.3 --view hotspots
stays "--cost none" 3 INT -l -s 0.3 --cost none
stays "--cost none" 3 KILL -l -s 0.3 --cost none -p "$GUEST"
stop "$GUEST"
done_testing
