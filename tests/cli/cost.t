#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What kvmtop itself takes of an exit: in every output, near what the kernel measures for all of its
# programs; and the kernel's measuring, which costs time itself, does not go on.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live

line_of() {
	"$KVMTOP" --list-providers | sed -n "/^$1/{n;p}"
}

line_of cost | grep -q 'works here' || skip_all "cost: $(line_of cost)"
line_of exits | grep -q 'works here' || skip_all "exits: $(line_of exits)"

# ns FILE: what an exit costs, by the latest object of the file.
ns() {
	sed -n '$s/.*"kvmtop":{"exit_ns":\([0-9]*\),.*/\1/p' "$1"
}

# Each exit runs two programs at most, and each of these less than 5 us, also on an emulated host.
is_sane() {
	[ "${1:-0}" -ge 5 ] && [ "$1" -le 10000 ]
}

has_cost() {
	is_sane "$(ns "$TMP/host.json")"
}

guest cost-busy --pio 1000 --rounds 0
go cost-busy
spawn "$KVMTOP" -l --json --view host -s 0.5 >"$TMP/host.json" 2>"$TMP/err"
host=$SPAWNED
check "JSON of the host: ns of an exit" wait_for 30 has_cost
like "$(tail -n 1 "$TMP/host.json")" \
	'"kvmtop":\{"exit_ns":[0-9]+,"percent":[0-9]+\.[0-9]+\},"rows"' \
	"and its share of the guests' time"
is "$(find "/proc/$host/fd" -type l -printf '%l\n' | grep -c bpf-stats)" 0 \
	"the kernel measures for a moment only"
stop "$host"
"$KVMTOP" export --prometheus - -s 0.5 -n 4 >"$TMP/metrics" 2>"$TMP/err"
like "$(sed -n 's/^kvmtop_own_exit_seconds //p' "$TMP/metrics" | tail -n 1)" '^0\.0000[0-9]+$' \
	"a metric of the exporter"
like "$(sed -n 's/^kvmtop_own_ratio //p' "$TMP/metrics" | tail -n 1)" '^0\.[0-9]+$' \
	"and one of the share"
"$KVMTOP" -w "$TMP/h.db" -s 0.5 -n 4 </dev/null 2>"$TMP/err"
"$KVMTOP" -r "$TMP/h.db" -1 --json --view host >"$TMP/then.json" 2>>"$TMP/err"
check "a history has it" is_sane "$(ns "$TMP/then.json")"
"$KVMTOP" -1 --json --view guests >"$TMP/guests.json" 2>"$TMP/err"
check "the other views do not" grep -vq '"kvmtop":{' "$TMP/guests.json"

# Where kvm_exit never happens no exit of a vCPU is known by its time.
printf 'kvmtop_ratio = 0.000001\n' >"$TMP/thresholds"
"$KVMTOP" why --csv --thresholds "$TMP/thresholds" 1 >"$TMP/why" 2>"$TMP/err"
if grep -q 'does not trace the VM exits' "$TMP/err"; then
	skip "kvmtop why names it" "KVM does not trace the VM exits of guests here"
else
	check "kvmtop why names it above a limit" grep -q ',kvmtop,.* ns of each exit' "$TMP/why"
fi
stop "$GUEST"
done_testing
