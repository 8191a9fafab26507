# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2317 # variables of inside.sh; wait_for calls functions
#
# linux.sh - Linux boots in a guest, and kvmtop, perf and trace-cmd say the same of its exits; and
# with a VMM of another kind beside QEMU, kvmtop has the guests and counters of both.
#
# Runs inside an emulated host (see lib.sh beside it) in place of suite.sh. All watchers begin
# before the guest's first exit and end after its last one, so that each has to have every exit. The
# last exit is the reset by a triple fault: it never ends, because QEMU pauses the guest.
. tests/lib.sh
. tests/hosts/inside.sh
. tests/hosts/suite_exits.sh
. tests/hosts/suite_host.sh
. tests/hosts/suite_traces.sh

PERF_DATA=$TMP/perf.data
LAST=shutdown

# Copied from the machine that this runs on; its libraries may be missing.
has() {
	"$1" --version >/dev/null 2>&1
}

perf_begin() {
	has perf || return
	spawn perf kvm stat record -a -m 4096 -o "$PERF_DATA" >"$TMP/perf.out" 2>&1
	PERF=$SPAWNED
	sleep 3
}

perf_end() {
	has perf || return
	stop "$PERF"
	# It prints its table on stderr.
	perf kvm -i "$PERF_DATA" stat report --event=vmexit >"$TMP/perf.txt" 2>&1 </dev/null
}

# boot_guest: returns when the guest has run its script and is paused.
# nokaslr: without it the guest does not always boot in an emulated host.
boot_guest() {
	: >"$TMP/console"
	spawn qemu-system-x86_64 -nodefaults -no-user-config -display none -nic none -machine pc \
		-accel kvm -cpu host -smp 1 -m 128 -no-reboot -no-shutdown \
		-serial "file:$TMP/console" -kernel /guest/vmlinuz -initrd /guest/initrd \
		-append "console=ttyS0 quiet nokaslr panic=-1 reboot=t" >"$TMP/qemu" 2>&1
	GUEST=$SPAWNED
	if wait_for 120 grep -q '^the guest has done all' "$TMP/console"; then
		ok "Linux boots in a guest"
	else
		not_ok "Linux boots in a guest" "$(cat "$TMP/qemu" "$TMP/console")"
	fi
	sleep 2
}

# The kernel's word for both, whatever their threads are called: QEMU's guest is paused, and the
# other one has made its exits.
two_vmms() {
	guest beside --vcpus 2 --pio 60 --rounds 2
	guest_run beside
	for v_pid in "$QEMU" "$GUEST"; do
		v_name=$(cat "/proc/$v_pid/comm")
		kvmtop -1 -i -p "$v_pid" 2>"$TMP/err" |
			awk '{ print $1, $2 }' >"$TMP/counted"
		debugfs_values "$v_pid" >"$TMP/after"
		is "$(debugfs_differs /dev/null "$TMP/after")" "" \
			"two VMMs at once: the account of $v_name is what debugfs has"
	done
	kvmtop -1 --view vcpus --json 2>"$TMP/err" | tr '{' '\n' |
		sed -n 's/.*"vcpu":\([0-9]*\),.*"tid":\([0-9]*\).*/\1 \2/p' |
		while read -r v_vcpu v_tid; do
			for v_pid in "$QEMU" "$GUEST"; do
				[ ! -d "/proc/$v_pid/task/$v_tid" ] || echo "$v_pid $v_vcpu"
			done
		done | sort >"$TMP/vcpus"
	is "$(cat "$TMP/vcpus")" "$(printf '%s\n' "$QEMU 0" "$GUEST 0" "$GUEST 1" | sort)" \
		"two VMMs at once: each vCPU has its thread"
	stop "$GUEST"
}

# Lines of reason, number, and the average in us: perf's, which has the waits.
live_rows() {
	awk -F, "$CSV_AT"'
	{
		ns = $at("time_ns") + ("wait_ns" in csv_at ? $at("wait_ns") : 0)
		printf "%s %d %.3f\n", $at("reason"), $at("total"), ns / $at("total") / 1000
	}' "$TMP/exits" | sort
}

recorded_rows() {
	kvmtop report --csv "$1" | awk -F, "$CSV_AT"'
	{ printf "%s %d %.3f\n", $at("reason"), $at("total"), $at("avg_ns") / 1000 }' | sort
}

# The same with the shortest and the longest time, rounded as perf does it.
perf_rows() {
	awk 'match($0, / [0-9]+ +[0-9.]+% /) {
		name = substr($0, 1, RSTART - 1)
		$0 = substr($0, RSTART)
		gsub(/^ +| +$/, "", name)
		gsub(/ /, "_", name)
		print name, $1, $6 + 0, $4 + 0, $5 + 0
	}' "$TMP/perf.txt" | sort
}

report_rows() {
	kvmtop report --csv "$1" | awk -F, "$CSV_AT"'
	function us(ns) { return sprintf("%.2f", ns / 1000) + 0 }
	{
		# avg_ns is rounded already: rounded again, it may differ from the time of perf.
		print $at("reason"), $at("total"), us($at("time_ns") / $at("total")),
			us($at("min_ns")), us($at("max_ns"))
	}' | sort
}

# counts_of FUNCTION [ARGUMENT]: the reasons and numbers that the function prints.
counts_of() {
	"$@" | cut -d' ' -f1,2
}

# off ROWS OTHERS: the reasons whose averages differ by more than 2 % and by more than 250 ns.
# One exit of each reason may differ by 10 us more: the trace buffer may have to begin another
# page before an event gets its time, and the emulator may translate a path of a program. What
# kvmtop does at the end of an exit, after it has read the clock, is in the time of the others
# and not in its own: 165 instructions, 240 where user space took part.
off() {
	awk -v once=10 '
	FNR == NR { average[$1] = $3; next }
	$1 in average {
		by = $3 > average[$1] ? $3 - average[$1] : average[$1] - $3
		if (by * 100 > average[$1] * 2 && by > 0.25 + once / $2)
			print $1, average[$1], $3
	}' "$1" "$2"
}

# Prints each watcher's averages as a table.
show() {
	diag "$(printf '%-14s %6s %14s %14s %14s' "exits, avg us" number "kvmtop exits" \
		"perf kvm stat" "kvmtop record")"
	sort -rn -k 2 "$TMP/live" | while read -r s_reason s_count s_avg; do
		diag "$(printf '%-14s %6d %14s %14s %14s' "$s_reason" "$s_count" "$s_avg" \
			"$(average_in "$TMP/by-perf" "$s_reason")" \
			"$(average_in "$TMP/recorded" "$s_reason")")"
	done
}

# average ROWS: the average of all exits that ended.
average() {
	awk -v last=$LAST '$1 != last { n += $2; us += $2 * $3 } END { print us / n }' "$1"
}

average_in() {
	sed -n "s/^$2 [0-9]* //p" "$1"
}

linux_guest() {
	exits_begin
	perf_begin
	record_begin -e "$EXIT" -e "$ENTRY" -e kvm_userspace_exit
	boot_guest
	record_end
	perf_end
	exits_end
	QEMU=$GUEST
	two_vmms
	stop "$QEMU" KILL

	live_rows >"$TMP/live"
	recorded_rows "$RECORDING" >"$TMP/recorded"
	check "a mix of exits" test "$(grep -c . "$TMP/live")" -ge 10
	for l_reason in cpuid hlt interrupt io msr npf vintr; do
		like "$(cat "$TMP/live")" "^$l_reason [1-9][0-9]+ " "some are $l_reason"
	done
	is "$(grep -c "^$LAST 1 " "$TMP/live")" 1 "the last one is $LAST, still open"
	is "$(counts_of cat "$TMP/recorded")" "$(counts_of grep -v "^$LAST " "$TMP/live")" \
		"kvmtop record: kvmtop exits' number of each reason"
	check_recording "Linux" "$QEMU"
	if has perf; then
		agrees_with_perf
	else
		skip "the same numbers and times as perf kvm stat" "perf does not run here"
	fi
}

agrees_with_perf() {
	unlike "$(cat "$TMP/perf.out" "$TMP/perf.txt")" '[Ll]ost|LOST' "perf: it loses nothing"
	recorded_rows "$PERF_DATA" >"$TMP/by-perf"
	show
	is "$(counts_of perf_rows)" "$(counts_of grep -v "^$LAST " "$TMP/live")" \
		"perf kvm stat report: kvmtop exits' number of each reason"
	is "$(off "$TMP/by-perf" "$TMP/live")" "" \
		"kvmtop exits: each reason's average is perf's within 2 % or 0.25 us"
	is "$(off "$TMP/by-perf" "$TMP/recorded")" "" \
		"kvmtop record: each reason's average is perf's within 2 % or 0.25 us"
	check "kvmtop exits: the average of all is perf's within 2 %" differs_less_than 2 \
		"$(average "$TMP/live")" "$(average "$TMP/by-perf")"
	is "$(report_rows "$PERF_DATA")" "$(perf_rows)" \
		"kvmtop report of perf's recording: number, average, min and max are perf's own"
	like "$(kvmtop report --json "$PERF_DATA")" '"unfinished":1,' "and the last one is told"
}

load_modules
diag "$(uname -mr), $(nproc) CPU"
linux_guest
interrupts_counted
kernel_is_content
done_testing
