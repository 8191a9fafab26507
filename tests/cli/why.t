#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop why of live guests: what their VMMs do beside the vCPUs.
. tests/lib.sh
need_live
"$KVMTOP" --list-providers | sed -n '/^exits/{n;p}' | grep -q 'works here' ||
	skip_all "$("$KVMTOP" --list-providers | sed -n '/^exits/{n;s/.*not here: //p}')"
[ "$(uname -m)" = x86_64 ] || skip_all "the guests are of x86"

# why GUEST THRESHOLD...: what is found of the guest is in $TMP/why.
why() {
	w_guest=$1
	shift
	printf '%s\n' "$@" >"$TMP/thresholds"
	"$KVMTOP" why --csv -g "$w_guest" --thresholds "$TMP/thresholds" 2 >"$TMP/why" 2>"$TMP/err"
}

# begin NAME PROGRAM OPTION...
begin() {
	b_name=$1 b_program=$2
	shift 2
	guest_of "$b_program" "$b_name" "$@"
	go "$b_name"
}

# ---- a line that the guest has masked, and one that it takes

begin masked irqguest 1000000 0 1000
masked=$GUEST
why masked 'interrupts_per_second = 20'
like "$(cat "$TMP/why")" ' most: line 5 raised [0-9]+/s.*,interrupts,' \
	"interrupts that a guest does not take are found, by their line"
like "$(cat "$TMP/why")" 'driver in the guest' "and what to do"
why masked 'interrupts_per_second = 1000000'
is "$(grep -c ',interrupts,' "$TMP/why")" 0 "below the threshold they are not"
stop "$masked"
begin takes haltguest 100000 1000
takes=$GUEST
why takes 'interrupts_per_second = 100'
is "$(grep -c ',interrupts,' "$TMP/why")" 0 "nor are interrupts that a guest takes"
stop "$takes"
rm "$TMP/masked.in"

# ---- a thread of the VMM

begin masked irqguest 1000000000 0 0
why masked 'vmm_thread_ratio = 0.02'
like "$(cat "$TMP/why")" ' % of a CPU \(threshold 2 %\); irqguest.*,vmm_thread,' \
	"a busy thread of the VMM is found, by its name"
why masked 'vmm_thread_ratio = 1.1'
is "$(grep -c ',vmm_thread,' "$TMP/why")" 0 "below the threshold it is not"
stop "$GUEST"
guest idle --cpuid 10 --rounds 0 --pause 100000
go idle
why idle 'vmm_thread_ratio = 0.02'
is "$(grep -c ',vmm_thread,' "$TMP/why")" 0 "nor is one that sleeps"
stop "$GUEST"

done_testing
