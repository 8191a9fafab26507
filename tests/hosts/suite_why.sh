# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_why.sh - kvmtop why names causes that are made here, and names none below its threshold:
# part of suite.sh.

# why_by THRESHOLDS: runs kvmtop why; its CSV is in $TMP/why, its exit status in $w_status.
why_by() {
	kvmtop why --csv --thresholds "$1" 3 >"$TMP/why" 2>"$TMP/why.err"
	w_status=$?
}

# why_of THRESHOLD...: prints the names of what is found, a line each, then the exit status. A
# threshold is "name = value". An emulated VMM is slower than the usual threshold allows, and so are
# kvmtop's own programs.
why_of() {
	printf '%s\n' 'user_exit_seconds = 0.005' 'kvmtop_ratio = off' "$@" >"$TMP/thresholds"
	why_by "$TMP/thresholds"
	sed 's/"[^"]*"//g; 1d' "$TMP/why" | cut -d, -f7 | sort
	echo "$w_status"
}

# thresholds_of RATIO RATE SECONDS: $TMP/all has these values for all thresholds of each kind.
thresholds_of() {
	kvmtop why --thresholds help | sed "s/^# //
		s/\(_ratio = \)[^[:blank:]]*/\1$1/
		s/\(_per_second = \)[^[:blank:]]*/\1$2/
		s/\(_seconds = \)[^[:blank:]]*/\1$3/" >"$TMP/all"
}

# finds RULE GUEST EVIDENCE: $TMP/why has a line with all three.
finds() {
	like "$(grep ",$1,[0-9]*,[0-9]*\$" "$TMP/why" | grep ",$2,")" "$3" "why: $1 is found"
}

# A guest that has little to do, and one with a slow device: half of the time its VMM answers. That
# the emulated CPUs wait for the machine's is no matter here.
why_device() {
	w_wait='cpu_wait_ratio = 0.95'
	guest quiet --cpuid 10 --mmio 2 --rounds 0 --pause 1000000
	w_quiet=$GUEST
	guest_go quiet
	is "$(why_of)" 0 "why: nothing is found in a healthy guest"
	is "$(cat "$TMP/why.err")" "" "why: nothing to complain about"
	guest sleeps --mmio 20 --answer 10000 --rounds 0 --pause 200000
	w_sleeps=$GUEST
	guest_go sleeps
	is "$(why_of "$w_wait")" "blocked_in_vmm
3" "why: a VMM that sleeps is found, and is not slow"
	like "$(cat "$TMP/why")" 'kvmtop where -g sleeps --halts shows the code' \
		"why: with the command"
	stop "$w_sleeps"
	guest slow --mmio 20 --answer 10000 --spin --rounds 0 --pause 200000
	guest_go slow
	is "$(why_of "$w_wait")" "slow_vmm
3" "why: a slow VMM is found, and not its device, too"
	like "$(cat "$TMP/why")" "The VMM is slow to answer exits,slow,critical,[2-9][0-9]\\." \
		"why: much of a vCPU's time"
	is "$(why_of "$w_wait" 'user_exit_seconds = 0.5')" "user_device
3" "why: a device is found"
	like "$(cat "$TMP/why")" "The VMM emulates a device,slow,critical,[2-9][0-9]\\." \
		"why: much of a vCPU's time"
	case $ARGUMENTS in
	*mmio*) like "$(grep user_device "$TMP/why")" "; most: [^ ]* 0x[0-9a-f]+ write 1 " \
		"why: with its address" ;;
	*) skip "why: with its address" "this machine's exits have no address" ;;
	esac
	is "$(why_of "$w_wait" 'user_device_ratio = 0.95' 'user_exit_seconds = 0.5')" 0 \
		"why: below the thresholds it is not"
	stop "$GUEST"
	stop "$w_quiet"
}

# Two busy vCPUs on one CPU, then each on its own.
why_wait() {
	guest busy --cpuid 1000000 --vcpus 2 --rounds 0
	taskset -a -p 1 "$GUEST" >/dev/null
	guest_go busy
	w_only="cpu_wait_ratio = 0.35
cpuid_ratio = off
page_fault_ratio = off"
	is "$(why_of "$w_only")" "cpu_wait
3" "why: vCPUs that share a CPU wait"
	w_other=
	! kvmtop --list-providers | sed -n '/^who/{n;p}' | grep -q ' works here' ||
		w_other="; who had the CPU: its own vCPU [01] \([0-9]+ %\)[^;]*"
	like "$(cat "$TMP/why")" \
		"it was last on CPU 0, the only one that it may use$w_other; 2 of 2 vCPUs" \
		"why: with the CPU and the other vCPU"
	w_mask=1
	for w_tid in $(vcpu_tids "$GUEST"); do
		taskset -p $w_mask "$w_tid" >/dev/null
		w_mask=2
	done
	is "$(why_of "$w_only")" 0 "why: each on a CPU of its own they do not"
	stop "$GUEST"
	guest spins "--$WHERE_WRITES" 1000 --answer 3000 --spin --vcpus 2 --rounds 0
	taskset -a -p 1 "$GUEST" >/dev/null
	guest_go spins
	# Not by how long an answer takes: a busy machine takes its part of that unseen. That waits
	# are no part of it is a case of tests/worlds/exit_cases.h.
	is "$(why_of "$w_only" 'user_exit_seconds = off')" "cpu_wait
user_device
3" "why: two VMMs that share a CPU wait for it, and emulate a device"
	like "$(sed -n 2p "$TMP/why")" ',cpu_wait,' "why: the wait comes first"
	stop "$GUEST"
}

# What sleeps though the guest has work: in the VMM for a lock, in KVM for a page.
why_blocked() {
	section "why: vCPUs that sleep"
	thresholds_of 0.2 1000000 10
	guest locks "--$WHERE_WRITES" 10 --answer 5000 --lock --rounds 0
	guest_go locks
	why_by "$TMP/all"
	finds blocked_in_vmm locks '% of its time .*; most: '
	like "$(cat "$TMP/why")" 'kvmtop where -g locks --halts shows the code' \
		"why: with the command"
	stop "$GUEST"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "why: a page that another thread brings" "the guest is for x86-64"
		return
	fi
	guest_of faultguest paged --pager 20000 100 8
	guest_go paged
	why_by "$TMP/all"
	finds blocked_in_kvm paged "; most: $FAULT"
	unlike "$(cat "$TMP/why")" ',page_faults,' "why: and the faults are not the cause"
	stop "$GUEST"
}

# A quota of half a CPU, then of ten.
why_quota() {
	w_group=/sys/fs/cgroup/half
	grep -q ' /sys/fs/cgroup ' /proc/mounts || mount -t cgroup2 none /sys/fs/cgroup
	mkdir $w_group
	echo +cpu >/sys/fs/cgroup/cgroup.subtree_control
	if ! echo "50000 100000" >$w_group/cpu.max; then
		skip "why: a quota is found" "the kernel has no quotas"
		return
	fi
	guest busy --cpuid 1000000 --rounds 0
	echo "$GUEST" >$w_group/cgroup.procs
	guest_go busy
	w_only="throttled_ratio = 0.3
cpu_wait_ratio = 0.3
cpuid_ratio = off
page_fault_ratio = off"
	is "$(why_of "$w_only")" "throttled
3" "why: a quota is found, and not as a want of CPUs"
	echo "1000000 100000" >$w_group/cpu.max
	is "$(why_of "$w_only")" 0 "why: a quota that is not reached is not"
	stop "$GUEST"
	rmdir $w_group
}

# A vCPU on the other node than its guest's memory, then on the same one.
why_remote() {
	if [ "$(cat /sys/devices/system/node/has_memory)" != 0-1 ]; then
		skip "why: memory of another node" "this host has one node"
		return
	fi
	taskset -p 1 $$ >/dev/null
	guest far --cpuid 10 --rounds 0 --pause 10000 --memory 80
	taskset -p 3 $$ >/dev/null
	taskset -a -p 2 "$GUEST" >/dev/null
	guest_go far
	w_only="migrations_per_second = off
page_fault_ratio = off
cpuid_ratio = off"
	is "$(why_of "$w_only")" "remote_memory
3" "why: memory of another node is found"
	like "$(cat "$TMP/why")" "% of it .*; it was last on CPU 1" "why: with the CPU"
	w_just=$(sed -n 's/.*: \([0-9.]*\) % of it .*/\1/p' "$TMP/why" |
		awk '{ print $1 / 100 + 0.001 }')
	is "$(why_of "$w_only" "remote_memory_ratio = $w_just")" 0 \
		"why: just below the threshold it is not"
	taskset -a -p 1 "$GUEST" >/dev/null
	sleep 1
	is "$(why_of "$w_only")" 0 "why: memory of the same node is not"
	stop "$GUEST"
}

# A guest that does nothing but PAUSE, which exits on processors that count PAUSEs.
why_pause() {
	section "why: PAUSE"
	if [ "$(cat /sys/module/kvm_intel/parameters/ple_gap 2>/dev/null || echo 0)" = 0 ]; then
		skip "why: PAUSE exits" "this host's processor does not count PAUSEs"
		return
	fi
	guest_of stormguest spin --spin
	guest_go spin
	thresholds_of 0.9999 1 10
	why_by "$TMP/all"
	is "$w_status" 3 "why: PAUSE exits are found"
	finds pause spin '/s '
	finds ple_window spin '/s '
	thresholds_of 0.9999 1000000 10
	why_by "$TMP/all"
	is "$(sed 1d "$TMP/why")$w_status" 0 "why: below their thresholds they are not"
	stop "$GUEST"
}

# A guest that writes many pages while they are logged: by the processor, or by faults.
why_dirty_log() {
	if [ -z "$FAULT" ]; then
		skip "why: logged pages are found" "the guest for it is of x86"
		return
	fi
	w_rule=write_faults w_evidence="; most: $FAULT write-protected"
	! has_pml || w_rule=dirty_log w_evidence='/s '
	guest_of stormguest writes --dirty
	guest_go writes
	thresholds_of 0.02 1 10
	why_by "$TMP/all"
	is "$w_status" 3 "why: logged pages are found"
	finds $w_rule writes "$w_evidence"
	thresholds_of 0.9999 1000000 10
	why_by "$TMP/all"
	is "$(sed 1d "$TMP/why")$w_status" 0 "why: below its threshold the log is not"
	stop "$GUEST"
}

# Guests that do too much of many things, at the same time.
why_storms() {
	if [ "$PIO" != io ]; then
		skip "why: what storms make" "stormguest is for AMD hosts"
		return
	fi
	# KVM stops polling when another thread wants the CPU: the guest that halts has its own.
	w_limit=$(cat /sys/module/kvm/parameters/halt_poll_ns)
	echo 20000000 >/sys/module/kvm/parameters/halt_poll_ns
	taskset -p 2 $$ >/dev/null
	guest_of haltguest halts 100000 1000
	w_halts=$GUEST
	taskset -p 1 $$ >/dev/null
	w_disk=/dev/nvme0n1
	[ -b $w_disk ] || w_disk=
	guest_of stormguest storm ${w_disk:+--file $w_disk}
	w_storm=$GUEST
	guest_of nestguest nests 0 1000000 0
	for w_guest in storm halts nests; do
		guest_go $w_guest
	done
	spawn taskset 3 sh -c "while taskset -p 2 $GUEST && taskset -p 1 $GUEST; do
		sleep 0.1
	done" >/dev/null 2>&1
	# Once in the three seconds: on a busy machine a page comes slowly from the disk.
	thresholds_of 0.01 0.3 10
	why_by "$TMP/all"
	is "$w_status" 3 "why: storms are found"
	finds serial storm '; most: [^;]* 0x3f8 write 1 '
	finds timer storm '; most: [^;]* 0x6e0 IA32_TSC_DEADLINE write'
	finds ipi storm '; most: [^;]* KVM_HC_SEND_IPI'
	finds yield storm '/s '
	finds dirty_ring storm '/s '
	if [ "$w_disk" ]; then
		finds swap storm '/s '
	else
		skip "why: swap is found" "this host has no disk"
	fi
	finds msr storm '; most: [^;]* 0x10 IA32_TSC read'
	finds cpuid storm '; most: '
	finds apic storm '; most: [^;]* 0xfee000b0 write 4'
	finds page_faults storm '; most: npf write'
	if [ -d "$TRACING/events/kvm/kvm_nested_vmexit" ]; then
		finds nested nests '/s'
	else
		skip "why: nested is found" "the kernel has no event for it"
	fi
	finds halt_poll halts ' % of its time'
	finds migrations nests '/s'
	thresholds_of 0.9999 1000000 10
	why_by "$TMP/all"
	is "$(sed 1d "$TMP/why")$w_status" 0 "why: below the thresholds no storm is"
	stop "$GUEST"
	stop "$w_halts"
	stop "$w_storm"
	taskset -p 3 $$ >/dev/null
	echo "$w_limit" >/sys/module/kvm/parameters/halt_poll_ns
}

# 1,200 threads begin within one sample, and there is room for some 520: exits of the rest are lost.
why_lost() {
	case $ARGUMENTS in
	*ioport*) ;;
	*)
		skip "why: lost counts" "this machine's exits have no port"
		return
		;;
	esac
	thresholds_of 0.9999 1000000 10
	sed -i 's/^lost_per_second = [^[:blank:]]*/lost_per_second = 1/' "$TMP/all"
	spawn kvmtop why --csv --thresholds "$TMP/all" 300 >"$TMP/why" 2>"$TMP/why.err"
	wait_for 120 samples_or_ended "$SPAWNED"
	miniguest --name many --vcpus 8 --lives 150 --pio 20 >/dev/null
	stop "$SPAWNED"
	is $? 3 "why: lost counts are found"
	like "$(cat "$TMP/why")" ',lost,' "why: as such"
}

findings() {
	section "why"
	why_device
	why_quota
	why_lost
	why_pause
	why_dirty_log
	if [ "$(nproc)" -lt 2 ]; then
		skip "why: storms, and vCPUs that share a CPU" "this machine has one CPU"
		return
	fi
	why_wait
	why_remote
	why_storms
}
