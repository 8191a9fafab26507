# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_host.sh - shared CPUs and CPU quotas, as the views show them: part of suite.sh.

# host_says VIEW COLUMN: prints the column for the guest "busy", or in the view host for CPU 0, over
# ten seconds; kvmtop runs on the other CPU.
host_says() {
	taskset 2 kvmtop -l -c -n 1 -s 10 --view "$1" >"$TMP/says" 2>"$TMP/says.err"
	awk -F, -v column="$2" -v first="$([ "$1" = host ] && echo 0 || echo busy)" '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			at[$i] = i
		next
	}
	$2 == first { print $at[column] }' "$TMP/says"
}

# is_about WANTED NAME: $TMP/numbers has numbers, each within 2 of WANTED.
is_about() {
	h_wrong=$(awk -v wanted="$1" '
	$1 == "" || $1 < wanted - 2 || $1 > wanted + 2 { print $1 + 0 }
	END { if (!NR) print "nothing" }' "$TMP/numbers")
	is "$h_wrong" "" "$2"
}

# Two busy vCPUs on one CPU have half of it each, and wait the other half.
host_waits() {
	section "a CPU that is shared"
	if [ "$(nproc)" -lt 2 ] || [ "$(uname -m)" != x86_64 ]; then
		skip "vCPUs that share a CPU" "it takes two CPUs, which x86 hosts have here"
		return
	fi
	guest busy --cpuid 1000000 --vcpus 2 --rounds 0
	taskset -a -p 1 "$GUEST" >/dev/null
	guest_go busy
	host_says vcpus wait_percent >"$TMP/numbers"
	is "$(wc -l <"$TMP/numbers")" 2 "shared: there are two vCPUs"
	is_about 50 "shared: each waits half of the time"
	host_says host want_percent >"$TMP/numbers"
	is_about 200 "shared: both want the CPU all the time"
	stop "$GUEST"
}

# A quota of half of a CPU takes half of a busy vCPU's time.
host_throttled() {
	section "a quota"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "a quota throttles" "x86 hosts show it"
		return
	fi
	if ! mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null ||
		! echo +cpu >/sys/fs/cgroup/cgroup.subtree_control; then
		skip "a quota throttles" "there is no cgroup v2 with the controller cpu"
		umount /sys/fs/cgroup 2>/dev/null
		return
	fi
	guest busy --cpuid 1000000 --rounds 0
	taskset -a -p 1 "$GUEST" >/dev/null
	mkdir /sys/fs/cgroup/busy
	echo "50000 100000" >/sys/fs/cgroup/busy/cpu.max
	echo "$GUEST" >/sys/fs/cgroup/busy/cgroup.procs
	guest_go busy
	host_says vcpus throttled_percent >"$TMP/numbers"
	is_about 50 "a quota: half of the time is throttled"
	host_says host want_percent >"$TMP/numbers"
	is_about 50 "a quota: what it takes is not wanted of the CPU"
	stop "$GUEST"
	wait_for 10 rmdir /sys/fs/cgroup/busy
	umount /sys/fs/cgroup
}
