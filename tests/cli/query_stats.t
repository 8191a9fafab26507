#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What kvmtop reads of KVM's statistics is what QEMU itself says (QMP's query-stats).
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live
need_cmd qemu-system-x86_64

version=$(qemu-system-x86_64 --version | sed -n 's/.* version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
# shellcheck disable=SC2086 # two numbers
set -- $version
[ $((${1:-0} * 100 + ${2:-0})) -ge 701 ] || skip_all "QEMU ${1:-0}.${2:-0} has no query-stats"

qmp() {
	echo "$1" >"$TMP/in"
}

# has_answers NR: so many, and the last one is complete.
has_answers() {
	[ "$(grep -c '^{"return"' "$TMP/qmp")" -ge "$1" ] && [ -z "$(tail -c 1 "$TMP/qmp")" ]
}

mkfifo "$TMP/in"
# shellcheck disable=SC2016
spawn sh -c 'exec "$@" <>"$0"' "$TMP/in" qemu-system-x86_64 -nodefaults -display none -accel kvm \
	-m 16 -smp 2 -name qmp -qmp stdio >"$TMP/qmp" 2>"$TMP/qemu.err"
qemu=$SPAWNED
qmp '{"execute":"qmp_capabilities"}'
wait_for 10 has_answers 1 || skip_all "QEMU does not run here: $(tail -n 1 "$TMP/qemu.err")"
sleep 1 # the firmware runs
qmp '{"execute":"stop"}'
wait_for 10 has_answers 2
# The guest stands still: from here on every number stays what it is.
qmp '{"execute":"query-stats","arguments":{"target":"vcpu","providers":[{"provider":"kvm"}]}}'
wait_for 10 has_answers 3

# Of both vCPUs together: a name and its sum a line; of a histogram the sum of its buckets. What is
# in ns is no counter of its own, but the time of such a histogram.
grep '"stats"' "$TMP/qmp" | tr '{' '\n' |
	sed -n 's/^"name": "\([^"]*\)", "value": \([0-9[].*\)/\1 \2/p' | tr -d ',[]}' | awk '
	{ for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum[$1] += $i }
	END {
		for (name in sum)
			if (sum[name] && name !~ /_ns$/)
				printf "%s %.0f\n", name, sum[name]
	}' |
	sort >"$TMP/said"
unshare -m sh -c 'umount -l /sys/kernel/debug 2>/dev/null; exec "$0" "$@"' \
	"$(realpath "$KVMTOP")" -d -i -1 -p "$qemu" 2>"$TMP/err" |
	awk '$1 ~ /^[a-z0-9_]+$/ && $2 > 0 { print $1, $2 }' | sort >"$TMP/seen"
is "$(cat "$TMP/err")" "" "nothing to complain about"
check "QEMU tells of some" test "$(wc -l <"$TMP/said")" -ge 5
is "$(grep -F -x -f "$TMP/said" "$TMP/seen")" "$(cat "$TMP/said")" "each is what QEMU says"
stop "$qemu"
done_testing
