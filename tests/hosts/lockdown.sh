# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of inside.sh
#
# lockdown.sh - what kvmtop does and says where the kernel forbids even root to read debugfs, and
# with confidentiality trace events, too.
#
# Runs inside an emulated host (see lib.sh beside it) in place of suite.sh.
. tests/lib.sh
. tests/hosts/inside.sh
. tests/hosts/suite_exits.sh
. tests/hosts/suite_host.sh
. tests/hosts/suite_traces.sh
. tests/hosts/suite_where.sh

LEVEL=/sys/kernel/security/lockdown
NO_GUEST="kvmtop: No event of KVM was counted."

# counters ENGINE: counts are exact, as without lockdown.
counters() {
	ENGINE=$1
	guest one --pio 150 --mmio 100 --cpuid 250 --rounds 2
	log_begin
	guest_run one
	log_end
	stop "$GUEST"
	is "$(counted "$EXIT($PIO)") $(counted "$EXIT($CPUID)") $(counted "$EXIT($MARK)")" \
		"300 $(cpuids 250 2) 2" "$ENGINE: the exits are the plan's"
	is "$(cat "$TMP/log.err")" "" "$ENGINE: nothing to complain about"
}

# Without securityfs kvmtop learns of the lockdown by one try, which the kernel logs.
unknown_level() {
	is "$(status_of kvmtop -1 -d) $(cat "$TMP/err")" "0 $NO_GUEST" \
		"kvmtop -1 -d: BPF reads the counters"
	is "$(refusals)" 1 "after one try"
}

refusals() {
	dmesg | grep -c 'Lockdown: kvmtop: '
}

# With securityfs it reads the level, and tries nothing.
known_level() {
	mount -t securityfs securityfs /sys/kernel/security
	like "$(cat "$LEVEL")" '\[integrity\]' "the kernel is locked down"
	is "$(status_of kvmtop -1 -d) $(cat "$TMP/err")" "0 $NO_GUEST" \
		"kvmtop -1 -d: BPF reads the counters"
	kvmtop --list-providers >"$TMP/providers" 2>&1
	like "$(grep -A 1 '^debugfs ' "$TMP/providers")" \
		'not here: .*blocked by kernel lockdown \(integrity\)' \
		"--list-providers says so, too"
	is "$(refusals)" 1 "and no file was tried again"
}

# account NR: the same counters by BPF, which lockdown=integrity allows. NR: how many refusals the
# kernel has logged so far.
account() {
	guest one --vcpus 2 --pio 150 --rounds 2
	batch_begin -d
	guest_run one
	batch_end
	is "$(counted io_exits) $(counted halt_exits)" "600 4" "-d: the plan's exits"
	is "$(cat "$TMP/batch.err")" "" "-d: nothing to complain about"
	is "$(refusals)" "$1" "-d: and nothing is refused"
	stop "$GUEST"
}

# Trace events are forbidden, too.
confidentiality() {
	c_why="trace events are blocked by kernel lockdown (confidentiality): \
boot with lockdown=integrity"
	mount -t securityfs securityfs /sys/kernel/security
	like "$(cat "$LEVEL")" '\[confidentiality\]' "the kernel is locked down"
	is "$(status_of kvmtop -1)" 1 "kvmtop -1 fails"
	is "$(cat "$TMP/err")" "kvmtop: tracepoint: $c_why" "and says why, and what to do"
	is "$(status_of kvmtop exits 1)" 1 "kvmtop exits fails"
	is "$(cat "$TMP/err")" "kvmtop: exits: $c_why" "and says the same"
	is "$(status_of kvmtop where 1)" 1 "kvmtop where fails"
	is "$(cat "$TMP/err")" "kvmtop: exits: $c_why" "and says the same"
	for c_option in "" --interrupts; do
		is "$(status_of kvmtop who $c_option 1)" 1 "kvmtop who $c_option fails"
		is "$(cat "$TMP/err")" "kvmtop: who: $c_why" "and says the same"
	done
	is "$(status_of kvmtop record -o "$TMP/trace.dat" true)" 1 "kvmtop record fails"
	like "$(cat "$TMP/err")" 'kernel lockdown' "and says so, too"
	kvmtop --list-providers >"$TMP/providers" 2>&1
	is "$(grep -c 'not here: .*kernel lockdown (confidentiality)' "$TMP/providers")" 6 \
		"--list-providers: no trace events, exits, who, debugfs, account or inventory"
}

integrity() {
	unknown_level
	known_level
	ENGINE=bpf
	account 1
	counters bpf
	counters perf
	where_sleeps
	guest_code
	record_exact
	interrupts_of stampguest "vector 0x40" 20
}

load_modules
diag "$(uname -mr), $(nproc) CPUs"
if grep -q lockdown=confidentiality /proc/cmdline; then confidentiality; else integrity; fi
kernel_is_content
done_testing
