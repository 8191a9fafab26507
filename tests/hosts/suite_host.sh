# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_host.sh - shared CPUs and CPU quotas, as the views show them: part of suite.sh.

# host_says VIEW COLUMN: prints the column for the guest "busy", or in the view host for CPU 0, over
# ten seconds; kvmtop runs on the other CPU.
host_says() {
	taskset 2 kvmtop -l -c -n 1 -s 10 --view "$1" >"$TMP/says" 2>"$TMP/says.err"
	awk -F, -v column="$2" -v first="$([ "$1" = host ] && echo 0 || echo busy)" "$CSV_AT"'
	$2 == first { print $at(column) }' "$TMP/says"
}

# is_about WANTED NAME: $TMP/numbers has numbers, each within 5 of WANTED.
is_about() {
	h_wrong=$(awk -v wanted="$1" '
	$1 == "" || $1 < wanted - 5 || $1 > wanted + 5 { print $1 + 0 }
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

# schedstat_ns PID FIELD: a sum over the threads of its vCPUs: 1 what they ran, 2 what they waited.
schedstat_ns() {
	for h_task in "/proc/$1/task"/*; do
		case $(cat "$h_task/comm") in
		vcpu*) cat "$h_task/schedstat" ;;
		esac
	done | awk -v field="$2" '{ ns += $field } END { printf "%.0f\n", ns }'
}

# is_stopped PID: all of its threads are.
is_stopped() {
	for h_task in "/proc/$1/task"/*; do
		grep -q '^State:.*T' "$h_task/status" || return 1
	done
}

# has_run PID MS
has_run() {
	[ "$(schedstat_ns "$1" 1)" -ge $(($2 * 1000000)) ]
}

# who_begin: kvmtop measures on CPU 0 until who_end. Its first sample has the guests' threads.
who_begin() {
	spawn taskset 1 kvmtop who --csv 300 >"$TMP/who" 2>"$TMP/who.err"
	WHO=$SPAWNED
	wait_for 60 samples_or_ended "$WHO"
}

# who_end NAME: what it measured is in $TMP/who.
who_end() {
	stop "$WHO"
	is "$?$(cat "$TMP/who.err")" 0 "$1: it is measured"
}

# charged GUEST KIND [OWNER]: ns of the rows of $TMP/who; KIND "": of all but the waits themselves.
charged() {
	awk -F, -v guest="$1" -v kind="$2" -v owner="${3-}" "$CSV_AT"'
	$at("guest") == guest && (kind == "" ? $at("kind") != "waits" : $at("kind") == kind) &&
	(owner == "" || $at("owner") == owner) { ns += $at("time_ns") }
	END { printf "%.0f\n", ns }' "$TMP/who"
}

# is_near NS WANTED NAME [PERCENT]: within 1 %, or so many.
is_near() {
	is "$(awk -v ns="$1" -v wanted="$2" -v percent="${4:-1}" 'BEGIN {
		off = ns > wanted ? ns - wanted : wanted - ns
		is_near = wanted > 0 && off * 100 <= wanted * percent
		print is_near ? "near" : ns " for " wanted
	}')" near "$3"
}

# Two guests on one CPU wait for each other, for as long as the kernel says. One begins before the
# other and ends after it, so that it waits whenever the other runs.
host_who() {
	section "who had the CPU"
	if [ "$(nproc)" -lt 2 ] || [ "$(uname -m)" != x86_64 ]; then
		skip "two guests share a CPU" "it takes two CPUs, which x86 hosts have here"
		return
	fi
	guest one --cpuid 3000 --rounds 0
	h_one=$GUEST
	guest two --cpuid 3000 --rounds 3
	h_two=$GUEST
	taskset -a -p 2 "$h_one" >/dev/null
	taskset -a -p 2 "$h_two" >/dev/null
	who_begin
	h_one_ns=$(schedstat_ns "$h_one" 2) h_two_ns=$(schedstat_ns "$h_two" 2)
	guest_go one
	wait_for 60 has_run "$h_one" 10
	h_ran_ns=$(schedstat_ns "$h_two" 1)
	guest_go two
	guest_done two
	kill -STOP "$h_one"
	wait_for 10 is_stopped "$h_one"
	h_one_ns=$(($(schedstat_ns "$h_one" 2) - h_one_ns))
	h_two_ns=$(($(schedstat_ns "$h_two" 2) - h_two_ns))
	h_ran_ns=$(($(schedstat_ns "$h_two" 1) - h_ran_ns))
	who_end "who"
	is_near "$(charged one "")" "$h_one_ns" "who: the sum is what run_delay grew by"
	is_near "$(charged two "")" "$h_two_ns" "who: of the other guest, too"
	is_near "$(charged one waits)" "$h_one_ns" "who: and so are the waits"
	is_near "$(charged one guest two)" "$h_ran_ns" "who: one waits for two while this runs"
	is "$(($(charged two guest one) * 2 > h_two_ns))" 1 "who: two waits for one"
	is "$(charged one own)" 0 "who: and not for itself"
	stop "$h_one" KILL
	stop "$h_two"
}

# vhost_tid PID: the thread of its vhost; before Linux 6.4 it is the kernel's.
vhost_tid() {
	grep -l "^vhost-$1\$" "/proc/$1/task"/*/comm /proc/[0-9]*/comm 2>/dev/null |
		sed 's|/comm$||; s|.*/||; q'
}

# ran_ns TID
ran_ns() {
	cut -d' ' -f1 "/proc/$1/schedstat"
}

# vhost_begin PACKETS: the guest "packets", with its vCPU and $h_vhost on CPU 1; on CPU 0 its VMM
# fills vhost's ring. False, after a SKIP: it cannot be had.
vhost_begin() {
	if [ "$(nproc)" -lt 2 ] || [ ! -x /bin/vhostguest ] || [ ! -c /dev/vhost-net ]; then
		skip "vhost" "it takes two CPUs and vhost_net, which the hosts svm have here"
		return 1
	fi
	guest_of vhostguest packets "$1"
	h_vhost=$(vhost_tid "$GUEST")
	taskset -a -p 2 "$GUEST" >/dev/null
	taskset -p 2 "$h_vhost" >/dev/null
	taskset -p 1 "$GUEST" >/dev/null
}

# A vCPU that is always busy waits whenever vhost runs.
host_who_vhost() {
	section "vhost had the CPU"
	vhost_begin 40000 || return
	who_begin
	h_ns=$(schedstat_ns "$GUEST" 2)
	guest_go packets
	wait_for 60 has_run "$GUEST" 10
	h_vhost_ns=$(ran_ns "$h_vhost")
	guest_run packets
	h_vhost_ns=$(($(ran_ns "$h_vhost") - h_vhost_ns))
	kill -STOP "$GUEST"
	wait_for 10 is_stopped "$GUEST"
	h_ns=$(($(schedstat_ns "$GUEST" 2) - h_ns))
	who_end "who, vhost"
	is_near "$(charged packets "")" "$h_ns" "who, vhost: the sum is what run_delay grew by"
	is_near "$(charged packets vhost packets)" "$h_vhost_ns" \
		"who, vhost: it is named, with its guest, for as long as it ran"
	is "$((h_vhost_ns * 4 > h_ns))" 1 "who, vhost: it ran for much of the time"
	stop "$GUEST" KILL
}

# What vhost's thread ran is its guest's, whoever the thread belongs to.
host_vhost() {
	section "the time of vhost"
	vhost_begin 40000 || return
	batch_begin --view vcpus --json -g packets
	h_vhost_ns=$(ran_ns "$h_vhost")
	guest_go packets
	guest_run packets
	h_vhost_ns=$(($(ran_ns "$h_vhost") - h_vhost_ns))
	batch_end
	stop "$GUEST"
	# cpu_percent is of the interval of the host's readings, elapsed_s of the exits': on a busy
	# machine they differ.
	is "$(tr '{' '\n' <"$TMP/batch" | awk -v ns="$h_vhost_ns" '
	match($0, /"elapsed_s":[0-9.]+/) { s = substr($0, RSTART + 12, RLENGTH - 12) }
	/"thread":"vhost"/ && match($0, /"cpu_percent":[0-9.]+/) {
		off = substr($0, RSTART + 14, RLENGTH - 14) * s * 1e7 / ns - 1
		print (off > -0.05 && off < 0.05) ? "near" : off
	}')" near "vhost: its time is what the kernel has ($h_vhost_ns ns)"
	vhost_begin 1000000000
	guest_go packets
	guest_go packets
	kvmtop why -g packets 3 >"$TMP/why" 2>"$TMP/why.err"
	like "$(grep -A 1 "; vhost\$" "$TMP/why")" "This thread moves the guest's packets" \
		"vhost: a busy one is found, with a remedy of its own"
	stop "$GUEST"
}

# softirq_ns: on CPU 1, in ticks of 10 ms.
softirq_ns() {
	awk '$1 == "cpu1" { printf "%.0f\n", $8 * 10000000 }' /proc/stat
}

# Where the kernel measures softirqs they are apart, elsewhere in the time of what they interrupt.
host_who_softirq() {
	section "softirqs had the CPU"
	if [ "$(nproc)" -lt 2 ] || [ ! -x /bin/datagrams ]; then
		skip "softirqs" "it takes two CPUs, which the hosts svm have here"
		return
	fi
	ip link set lo up
	guest_of datagrams datagrams 100000
	h_datagrams=$GUEST
	guest busy --cpuid 3000 --rounds 0
	taskset -a -p 2 "$GUEST" >/dev/null
	taskset -p 2 "$h_datagrams" >/dev/null
	who_begin
	h_ns=$(schedstat_ns "$GUEST" 2)
	guest_go busy
	wait_for 60 has_run "$GUEST" 10
	h_softirq_ns=$(softirq_ns)
	h_ran_ns=$(ran_ns "$h_datagrams")
	guest_run datagrams
	h_ran_ns=$(($(ran_ns "$h_datagrams") - h_ran_ns))
	h_softirq_ns=$(($(softirq_ns) - h_softirq_ns))
	kill -STOP "$GUEST"
	wait_for 10 is_stopped "$GUEST"
	h_ns=$(($(schedstat_ns "$GUEST" 2) - h_ns))
	who_end "who, softirq"
	is_near "$(charged busy "")" "$h_ns" "who, softirq: the sum is what run_delay grew by"
	if grep -q ' irqtime_account_irq$' /proc/kallsyms; then
		# The kernel counts them between its own ticks and switches.
		is_near "$(charged busy process datagrams)" "$h_ran_ns" \
			"who, softirq: a process has the CPU without them" 5
		is_near "$(charged busy softirq)" "$h_softirq_ns" \
			"who, softirq: they are apart, as in /proc/stat" 10
	else
		is_near "$(charged busy process datagrams)" "$h_ran_ns" \
			"who, softirq: a kernel that does not measure: a process has them"
		is "$(charged busy softirq) $(charged busy irq)" "0 0" \
			"who, softirq: and none is apart"
	fi
	stop "$GUEST" KILL
	stop "$h_datagrams"
}

# quota_begin GUEST: it may have half of a CPU. Fails where there are no quotas.
quota_begin() {
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || return 1
	if ! echo +cpu >/sys/fs/cgroup/cgroup.subtree_control; then
		umount /sys/fs/cgroup
		return 1
	fi
	mkdir $QUOTA && echo "50000 100000" >$QUOTA/cpu.max && echo "$1" >$QUOTA/cgroup.procs
}
QUOTA=/sys/fs/cgroup/quota

# quota_end: after the guest's end.
quota_end() {
	wait_for 10 rmdir $QUOTA
	umount /sys/fs/cgroup
}

# throttled_ns: how long the quota has stopped it.
throttled_ns() {
	sed -n 's/^throttled_usec \(.*\)/\1000/p' $QUOTA/cpu.stat
}

has_throttled() {
	[ "$(throttled_ns)" -ge $(($1 * 1000000)) ]
}

# A quota of half of a CPU takes half of a busy vCPU's time.
host_throttled() {
	section "a quota"
	if [ "$(uname -m)" != x86_64 ]; then
		skip "a quota throttles" "x86 hosts show it"
		return
	fi
	guest busy --cpuid 1000000 --rounds 0
	if ! quota_begin "$GUEST"; then
		skip "a quota throttles" "there is no cgroup v2 with the controller cpu"
		stop "$GUEST"
		return
	fi
	taskset -a -p 1 "$GUEST" >/dev/null
	guest_go busy
	host_says vcpus throttled_percent >"$TMP/numbers"
	is_about 50 "a quota: half of the time is throttled"
	host_says host want_percent >"$TMP/numbers"
	is_about 50 "a quota: what it takes is not wanted of the CPU"
	stop "$GUEST"
	quota_end
}

# The time that a quota takes of a vCPU is a wait for the quota, whatever has the CPU.
host_who_quota() {
	section "a quota had the CPU"
	if [ "$(nproc)" -lt 2 ] || [ "$(uname -m)" != x86_64 ]; then
		skip "a quota is named" "it takes two CPUs, which x86 hosts have here"
		return
	fi
	guest busy --cpuid 1000000 --rounds 0
	if ! quota_begin "$GUEST"; then
		skip "a quota is named" "there is no cgroup v2 with the controller cpu"
		stop "$GUEST"
		return
	fi
	taskset -a -p 2 "$GUEST" >/dev/null
	who_begin
	h_ns=$(schedstat_ns "$GUEST" 2)
	guest_go busy
	wait_for 60 has_throttled 500
	kill -STOP "$GUEST"
	wait_for 10 is_stopped "$GUEST"
	h_ns=$(($(schedstat_ns "$GUEST" 2) - h_ns))
	h_throttled_ns=$(throttled_ns)
	who_end "who, quota"
	is_near "$(charged busy "")" "$h_ns" "who, quota: the sum is what run_delay grew by"
	# And until the next switch: so it may be more than the kernel's sum.
	h_quota_ns=$(charged busy quota)
	is "$((h_quota_ns * 100 >= h_throttled_ns * 99 && h_throttled_ns > 0))" 1 \
		"who, quota: as long as it throttles ($h_quota_ns, $h_throttled_ns ns)"
	stop "$GUEST" KILL
	quota_end
}

# interrupt VECTOR COLUMN: of the guest "irqs", in $TMP/interrupts.
interrupt() {
	cell "$TMP/interrupts" "$2" guest=irqs vector="$1"
}

# begin_interrupts, end_interrupts NAME: kvmtop measures them meanwhile.
begin_interrupts() {
	spawn taskset 1 kvmtop who --interrupts --csv 300 >"$TMP/interrupts" 2>"$TMP/interrupts.err"
	WHO=$SPAWNED
	wait_for 60 samples_or_ended "$WHO"
}

end_interrupts() {
	stop "$WHO"
	is "$?$(cat "$TMP/interrupts.err")" 0 "$1: they are measured"
}

# interrupts_of PROGRAM VECTOR COUNT OPTION...: the guest gets them and stamps them. From pending to
# entered takes no longer than it saw, of all and of the longest; and of all less than half as long
# only if what a VMM and a guest take for themselves is as much: with --behind it is not. The
# guest's clock is the TSC, and NTP may slew the host's: hence the 1 %.
interrupts_of() {
	h_program=$1 h_vector=$2 h_count=$3
	shift 3
	guest_of "$h_program" irqs "$@" "$h_count" 1000
	begin_interrupts
	guest_run irqs
	sleep 1
	end_interrupts "interrupts $*"
	is "$(interrupt "$h_vector" total)" "$h_count" "interrupts $*: as many as there were"
	h_all=$h_vector
	[ "$h_vector" != timer ] || h_all="vector 0x40"
	is "$(interrupt "" total)" "$(interrupt "$h_all" total)" "interrupts $*: and no other"
	is "$(awk -v ns="$(interrupt "$h_vector" time_ns)" \
		-v max_ns="$(interrupt "$h_vector" max_ns)" '$1 == "ns" {
		is_good = ns > 0 && ns <= $2 * 1.01 && max_ns <= $3 * 1.01
		print is_good ? "no longer" : ns " and " max_ns " for " $2 " and " $3
	}' "$TMP/irqs.out")" "no longer" "interrupts $*: no longer than the guest saw"
	stop "$GUEST"
}

# within_a_bucket VECTOR NAME: the guest saw less than twice as long, which is a bucket's width.
within_a_bucket() {
	is "$(awk -v ns="$(interrupt "$1" time_ns)" '$1 == "ns" { print ($2 < 2 * ns) }' \
		"$TMP/irqs.out")" 1 "interrupts $2: within a bucket of what the guest saw"
}

# Interrupts of each kind are within a bucket where the host's clock counts instructions: there a
# slow emulator takes no time.
interrupts_counted() {
	section "interrupts, by a clock that counts instructions"
	for h_option in "" --spin --behind; do
		interrupts_of stampguest "vector 0x40" 20 $h_option
		within_a_bucket "vector 0x40" "$h_option"
	done
	interrupts_of stampguest timer 20 --timer
	within_a_bucket timer --timer
}

# timer_is_late COUNT: AArch64's timer, in the same table: from the time that it was set to, before
# KVM had its interrupt.
timer_is_late() {
	is "$(interrupt timer total)" "$1" "interrupts: the timer is late as often as it comes"
	is "$(awk -v ns="$(interrupt timer time_ns)" -v max_ns="$(interrupt timer max_ns)" \
		-v pending_ns="$(interrupt "PPI 27" time_ns)" '$1 == "ns" {
		is_good = ns > pending_ns && ns <= $2 * 1.01 && max_ns <= $3 * 1.01
		print is_good ? "yes" : ns " and " max_ns " for " $2 " and " $3 ", " pending_ns
	}' "$TMP/irqs.out")" yes "interrupts: as late as the guest saw, and more than its interrupt"
}

# vcpu_tid PID: the thread of its vCPU. Since Linux 6.14 one of KVM's is among them.
vcpu_tid() {
	for h_task in "/proc/$1/task"/*; do
		[ "${h_task##*/}" = "$1" ] || grep -q '^kvm-' "$h_task/comm" || echo "${h_task##*/}"
	done
}

# The thread of a vCPU gets the number of an earlier vCPU's, and not its interrupts: at most its own
# 20, as what comes before kvmtop has the thread may be lost.
interrupts_again() {
	if [ ! -e /proc/sys/kernel/ns_last_pid ]; then
		skip "interrupts: a thread's number comes again" "this kernel gives no number twice"
		return
	fi
	guest_of stampguest irqs --spin 100 1000
	h_irqs=$GUEST
	guest_of stampguest again --spin 20 1000
	h_again=$GUEST
	begin_interrupts
	guest_run irqs
	h_tid=$(vcpu_tid "$h_irqs")
	sleep 3 # kvmtop has found the thread,
	stop "$h_irqs"
	sleep 3 # and that it has ended
	echo $((h_tid - 1)) >/proc/sys/kernel/ns_last_pid
	guest_go again
	h_try=0
	while [ ! -e "/proc/$h_again/task/$h_tid" ] && [ $h_try -lt 10000 ]; do
		h_try=$((h_try + 1)) # nothing that would begin a thread meanwhile
	done
	guest_done again
	sleep 3
	end_interrupts "interrupts again"
	if [ "$(vcpu_tid "$h_again")" = "$h_tid" ]; then
		h_total=$(cell "$TMP/interrupts" total guest=again vector="vector 0x40")
		is "$((h_total <= 20))" 1 "interrupts: of a thread before it ($h_total of 20)"
	else
		skip "interrupts: a thread's number comes again" "another thread got it"
	fi
	stop "$h_again"
}

# A history of the view has them, all at once and by interval.
interrupts_kept() {
	guest_of stampguest irqs 50 1000
	spawn kvmtop -l --json --view interrupts -s 0.3 -w "$TMP/irqs.db" >"$TMP/irqs.json" \
		2>"$TMP/interrupts.err"
	h_log=$SPAWNED
	wait_for 60 samples_or_ended "$h_log"
	guest_run irqs
	sleep 1
	stop "$h_log"
	stop "$GUEST"
	kvmtop -r "$TMP/irqs.db" -1 --csv --view interrupts >"$TMP/interrupts"
	is "$(interrupt "vector 0x40" total)" 50 "interrupts: a history has as many"
	is "$(kvmtop -r "$TMP/irqs.db" -l --json --view interrupts |
		grep -c '"vector":"vector 0x40"[^}]*"delta":[1-9]' | awk '{ print ($1 > 0) }')" 1 \
		"interrupts: and when they came"
	like "$(kvmtop -r "$TMP/irqs.db" -1 --view interrupts)" '^ +vector 0x40 ' \
		"interrupts: as text, too"
}

host_interrupts() {
	section "interrupts"
	case $(uname -m) in
	x86_64) ;;
	aarch64)
		interrupts_of timerguest "PPI 27" 100
		timer_is_late 100
		within_a_bucket timer "PPI 27"
		interrupts_of timerguest "PPI 27" 100 --spin
		timer_is_late 100
		return
		;;
	*) skip "interrupts" "they are measured on x86 and AArch64 only" && return ;;
	esac
	interrupts_again
	interrupts_of stampguest "vector 0x40" 100
	interrupts_of stampguest "vector 0x40" 100 --spin
	is "$(awk -v share="$(interrupt "vector 0x40" waking_percent)" \
		'BEGIN { print (share < 5) }')" 1 "interrupts: a vCPU that runs is awake"
	interrupts_kept
	interrupts_of stampguest timer 100 --timer
	interrupts_of stampguest "vector 0x40" 20 --behind
	within_a_bucket "vector 0x40" --behind
	is "$(awk -v share="$(interrupt "vector 0x40" waiting_percent)" \
		'BEGIN { print (share > 50) }')" 1 "interrupts: a vCPU waits for its VMM's CPU"
}
