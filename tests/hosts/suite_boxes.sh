# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_boxes.sh - where the time of vCPUs goes, beside the scheduler's own numbers of their
# threads, and beside what their guests and VMMs were told to do: part of suite.sh.

BOXES="guest kvm user poll block wait idle"

# boxes_of GUEST: the shares of its vCPUs over eight seconds in $TMP/shares, a line each: "vcpu0
# guest 1.0 kvm 2.0 ... cpu 3.0 ran 3.1 waited 0.2", the last two by the scheduler.
boxes_of() {
	# On a busy machine the second reading may come too early or too late.
	for b_try in 1 2 3; do
		measure_boxes "$1"
		! awk '{ s = ($6 - $2) / 100; exit !(s > 7 && s < 9) }' "$TMP/times" || break
		disturbed "boxes of $1" "$b_try" 3
	done
}

measure_boxes() {
	b_guest=$1
	: >"$TMP/boxes"
	# It does not end before the second reading: what its end takes is in no interval.
	kvmtop -l -c -s 8 --view vcpus -g "$b_guest" >"$TMP/boxes" 2>"$TMP/boxes.err" &
	b_pid=$!
	T_pids="$T_pids $b_pid"
	wait_for 60 has_boxes 1
	vcpu_times "$GUEST" >"$TMP/times.1"
	wait_for 60 has_boxes 2
	vcpu_times "$GUEST" >"$TMP/times.2"
	stop "$b_pid"
	paste -d ' ' "$TMP/times.1" "$TMP/times.2" >"$TMP/times"
	awk -F, -v boxes="$BOXES cpu throttled l2" "$CSV_AT"'
	{
		vcpu = $at("vcpu")
		if (vcpu == "" || seen[vcpu]++ != 1)
			next
		line = "vcpu" vcpu
		n = split(boxes, names, " ")
		for (i = 1; i <= n; i++) {
			share = $at(names[i] "_percent")
			line = line " " names[i] " " (share == "" ? "-" : share)
		}
		print line
	}' "$TMP/boxes" | awk '
	NR == FNR {
		time = ($6 - $2) * 1e5
		if (time) {
			ran[$1] = ($7 - $3) / time
			waited[$1] = ($8 - $4) / time
		}
		next
	}
	{ print $0 " ran " ran[$1] + 0 " waited " waited[$1] + 0 }' "$TMP/times" - >"$TMP/shares"
	diag "$b_guest: $(tr '\n' ';' <"$TMP/shares")"
}

# has_boxes NR: that many intervals are printed.
has_boxes() {
	[ "$(awk -F, 'NR > 1 { print $1 }' "$TMP/boxes" | sort -u | wc -l)" -ge "$1" ]
}

# vcpu_times PID: "vcpu0 TIME RAN_NS WAITED_NS" of each vCPU's thread; TIME in hundredths. One
# process reads all: to start one between two readings takes a while on a busy machine.
vcpu_times() {
	awk -v program="${GUEST_PROGRAM:-}" '
	function first_of(file, line) {
		line = ""
		getline line <file
		close(file)
		return line
	}
	BEGIN {
		for (i = 1; i < ARGC; i++) {
			name = first_of(ARGV[i] "/comm")
			if (name == program)
				name = "vcpu0"
			if (name !~ /^vcpu/)
				continue
			split(first_of("/proc/uptime"), up, " ")
			split(first_of(ARGV[i] "/schedstat"), sum, " ")
			print name, up[1] * 100, sum[1], sum[2]
		}
	}' "/proc/$1/task"/*
}

# boxes_agree WHAT: of each vCPU the boxes add up, and agree with the scheduler.
boxes_agree() {
	b_wrong=$(awk -v boxes="$BOXES" -v error="$(tail -n 1 "$TMP/boxes.err")" '
	function off(name, is, wanted, limit) {
		if (is < wanted - limit || is > wanted + limit)
			printf "%s: %s %.1f for %.1f\n", $1, name, is, wanted
	}
	{
		sum = 0
		for (i = 2; i < NF; i += 2)
			value[$i] = $(i + 1)
		n = split(boxes, names, " ")
		for (i = 1; i <= n; i++)
			sum += value[names[i]]
		on_cpu = value["guest"] + value["kvm"] + value["user"] + value["poll"]
		off("the sum", sum, 100, 0.5)
		off("on a CPU", on_cpu, value["cpu"], 1)
		off("on a CPU, by the scheduler", on_cpu, value["ran"], 1.5)
		off("waiting, by the scheduler", value["wait"], value["waited"], 1.5)
	}
	END { if (!NR) print "nothing was measured: " error }' "$TMP/shares")
	is "$b_wrong" "" "$1: the boxes add up, and are the scheduler's"
}

# box VCPU NAME MIN MAX WHAT
box() {
	b_is=$(awk -v vcpu="$1" -v name="$2" '
	$1 == vcpu { for (i = 2; i < NF; i += 2) if ($i == name) print $(i + 1) }' "$TMP/shares")
	check "$5: $2 is $b_is, $3 to $4" \
		awk "BEGIN { exit !(${b_is:--1} >= $3 && ${b_is:--1} <= $4) }"
}

# go NAME: the guest runs, on the first CPU.
go() {
	taskset -a -p 1 "$GUEST" >/dev/null
	guest_go "$1"
}

# busy_guest NAME OPTION...: a guest that goes on until it is stopped.
busy_guest() {
	guest "$@" --rounds 0
	go "$1"
}

boxes() {
	section "where the time of vCPUs goes"
	b_most=56 b_throttled=40
	if [ "$(nproc)" -ge 2 ]; then
		taskset -p 2 $$ >/dev/null # kvmtop, and what reads beside it
	else
		b_most=75 b_throttled=5 # they need the guests' CPU
	fi
	busy_guest two --cpuid 1000000 --vcpus 2
	boxes_of two
	boxes_agree "two on one CPU"
	box vcpu0 wait 47 "$b_most" "two on one CPU"
	box vcpu0 block 0 0.5 "two on one CPU"
	stop "$GUEST"

	busy_guest sleeps "--$WHERE_WRITES" 1000 --answer 5000
	boxes_of sleeps
	boxes_agree "a VMM that sleeps"
	box vcpu0 block 75 99 "a VMM that sleeps"
	box vcpu0 idle 0 3 "a VMM that sleeps"
	stop "$GUEST"

	busy_guest locks "--$WHERE_WRITES" 10 --answer 5000 --lock
	boxes_of locks
	boxes_agree "a lock of the VMM"
	box vcpu0 block 45 99 "a lock of the VMM"
	stop "$GUEST"

	busy_guest spins "--$WHERE_WRITES" 1000 --answer 3000 --spin --vcpus 2
	boxes_of spins
	boxes_agree "VMMs that spin on one CPU"
	box vcpu0 user $((94 - b_most)) 52 "VMMs that spin on one CPU"
	box vcpu0 wait 46 "$b_most" "VMMs that spin on one CPU"
	stop "$GUEST"

	busy_guest rests --cpuid 10 --pause 40000
	boxes_of rests
	boxes_agree "a guest that rests"
	box vcpu0 idle 60 100 "a guest that rests"
	box vcpu0 block 0 3 "a guest that rests"
	stop "$GUEST"
	boxes_quota
	boxes_x86
	taskset -p ff $$ >/dev/null
}

boxes_quota() {
	guest limited --cpuid 1000000 --rounds 0
	if ! quota_begin "$GUEST"; then
		skip "boxes of a guest with a quota" "there is no cgroup v2 with the controller cpu"
		stop "$GUEST"
		return
	fi
	go limited
	boxes_of limited
	boxes_agree "a quota of half a CPU"
	box vcpu0 wait 45 55 "a quota of half a CPU"
	box vcpu0 throttled "$b_throttled" 55 "a quota of half a CPU"
	stop "$GUEST"
	quota_end
}

boxes_x86() {
	if [ "$(uname -m)" != x86_64 ]; then
		skip "boxes of halts in KVM, of pages, of a vCPU that is not started" \
			"the guests are x86's"
		return
	fi
	GUEST_PROGRAM=haltguest
	b_before=$(cat /sys/module/kvm/parameters/halt_poll_ns)
	# Few halts, here and below: what schedule() takes before it switches is no thread's to the
	# scheduler, and on an emulated CPU some 100 us.
	for b_ns in 0 40000000; do
		echo $b_ns >/sys/module/kvm/parameters/halt_poll_ns
		guest_of haltguest halts 4000 20000
		go halts
		boxes_of halts
		boxes_agree "halts, polled for $b_ns ns"
		if [ $b_ns = 0 ]; then
			box vcpu0 idle 85 100 "halts without polling"
			box vcpu0 poll 0 0.1 "halts without polling"
		else
			box vcpu0 poll 5 99 "halts with polling"
		fi
		stop "$GUEST"
	done
	echo "$b_before" >/sys/module/kvm/parameters/halt_poll_ns

	guest_of haltguest kicked --kick 4000 20000
	go kicked
	boxes_of kicked
	boxes_agree "halts that signals end"
	box vcpu0 user 12 30 "halts that signals end"
	stop "$GUEST"

	guest_of haltguest waits --unstarted 1 100
	go waits
	boxes_of waits
	boxes_agree "a vCPU that waits to be started"
	box vcpu0 idle 99 100 "a vCPU that waits to be started"
	stop "$GUEST"

	boxes_nested
	GUEST_PROGRAM=faultguest
	guest_of faultguest paged --pager 20000 100 30
	go paged
	boxes_of paged
	boxes_agree "a page that another thread brings"
	box vcpu0 block 70 99 "a page that another thread brings"
	box vcpu0 kvm 0 15 "a page that another thread brings"
	stop "$GUEST"
	GUEST_PROGRAM=
}

# A guest of the guest that exits all the time: the time in it is the guest's.
boxes_nested() {
	if [ ! -d "$TRACING/events/kvm/kvm_nested_vmexit" ] || [ "$PIO" != io ]; then
		skip "boxes of a guest that runs a guest" "no guest of ours nests here"
		return
	fi
	GUEST_PROGRAM=nestguest
	guest_of nestguest nests 0 0 2000000000
	go nests
	boxes_of nests
	boxes_agree "a guest that runs a guest"
	box vcpu0 l2 1 99 "a guest that runs a guest"
	stop "$GUEST"
}
