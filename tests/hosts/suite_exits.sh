# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2034,SC2153 # variables of suite.sh and inside.sh
#
# suite_exits.sh - kvmtop exits and the timed views: part of suite.sh.
#
# Times are held against the kernel's own trace of the same run: kvm_exit to kvm_entry, by thread.

# exits_begin OPTION...: counts until exits_end; everything is attached when it returns.
exits_begin() {
	spawn kvmtop exits --csv "$@" 300 >"$TMP/exits" 2>"$TMP/exits.err"
	EXITS=$SPAWNED
	wait_for 120 samples_or_ended "$EXITS"
}

# exits_end: ends kvmtop exits; its CSV is in $TMP/exits.
exits_end() {
	stop "$EXITS" # by SIGTERM: the shell has started it with SIGINT ignored
	EXITS_STATUS=$?
}

# exit_of COLUMN TID REASON: "" is any.
exit_of() {
	awk -F, -v column="$1" -v tid="$2" -v reason="$3" "$CSV_AT"'
	(tid == "" || $at("tid") == tid) && (reason == "" || $at("reason") == reason) {
		sum += $at(column)
		found = 1
	}
	END { if (found) printf "%.0f\n", sum; else print "none" }' "$TMP/exits"
}

# vcpu_tids PID: the threads that run a miniguest's vCPUs, in order.
vcpu_tids() {
	grep -l '^vcpu' "/proc/$1/task/"*/comm | cut -d/ -f5 | sort -n
}

# trace_times: lines of tid, reason, exits, ns between each and its entry.
trace_times() {
	awk -v exits=" $EXIT: " -v entries=" $ENTRY: " "$REASON_OF"'
	{ match($0, /-[0-9]+ +\[/); tid = substr($0, RSTART + 1, RLENGTH - 1) + 0 }
	!match($0, / [0-9]+\.[0-9]+: /) { next }
	{ time = substr($0, RSTART + 1, RLENGTH - 3) * 1e6 }
	index($0, exits) {
		reason = reason_of($0)
		since[tid] = time
		why[tid] = reason
		count[tid " " reason]++
	}
	index($0, entries) && since[tid] {
		spent[tid " " why[tid]] += time - since[tid]
		since[tid] = 0
	}
	END { for (key in count) print key, count[key], int(spent[key] * 1000) }' "$INSTANCE/trace"
}

# differs_less_than PERCENT GOT WANTED
differs_less_than() {
	awk -v percent="$1" -v got="$2" -v wanted="$3" 'BEGIN {
		off = got > wanted ? got - wanted : wanted - got
		exit !(off * 100 < wanted * percent)
	}'
}

# Two guests with two vCPUs each: every thread and reason has its own number.
exits_exact() {
	section "exits"
	guest left --pio 200 --mmio 60 --cpuid 150 --vcpus 2 --rounds 2
	left=$GUEST
	guest right --pio 90 --mmio 40 --cpuid 330 --vcpus 2
	right=$GUEST
	exits_begin
	two_run
	exits_end
	is "$EXITS_STATUS" 0 "exits: a signal ends it well"
	is "$(cat "$TMP/exits.err")" "" "exits: nothing to complain about"
	for e_guest in left right; do
		eval "e_pid=\$$e_guest"
		for e_tid in $(vcpu_tids "$e_pid"); do
			e_plan="$(cpuids 150 2) 400"
			[ $e_guest = left ] || e_plan="$(cpuids 330 1) 90"
			is "$(exit_of total "$e_tid" "$CPUID") $(exit_of total "$e_tid" "$PIO")" \
				"$e_plan" "exits: $e_guest's vCPU has its own numbers"
		done
	done
	trace_times >"$TMP/times"
	e_wrong=
	while read -r e_tid e_reason e_count e_ns; do
		e_got=$(exit_of total "$e_tid" "$e_reason")
		[ "$e_got" = "$e_count" ] ||
			e_wrong="$e_wrong $e_tid $e_reason: $e_got, not $e_count;"
	done <"$TMP/times"
	is "$e_wrong" "" "exits: every thread and reason has the trace's number"
	two_stop
}

# exits_work COMMAND...: whether kvmtop, by this command, can time exits here.
exits_work() {
	"$@" --list-providers | sed -n '/^exits/{n;p}' | grep -q ' works here'
}

# must_work: all kernels with BTF of modules that the hosts have.
must_work() {
	case "$(uname -m) $(uname -r)" in
	"x86_64 5."*) return 1 ;;
	*) [ -e /sys/kernel/btf/vmlinux ] &&
		[ "$(cat /proc/sys/net/core/bpf_jit_enable 2>/dev/null)" != 0 ] ;;
	esac
}

# without_btf COMMAND...: replaces the shell by the command, as on a kernel without BTF.
without_btf() {
	# shellcheck disable=SC2016 # the inner shell's
	exec unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$@"' sh "$@"
}

# The same run counted by BPF and, as on a kernel without BTF, by perf events: reason by reason.
exits_without_btf() {
	section "without BTF"
	if ! must_work; then
		is "$(exits_work kvmtop && echo yes)" "" \
			"exits: this kernel has no BTF of KVM, or interprets BPF"
		like "$(kvmtop --list-providers)" \
			'^ *not here: the kernel (has no BTF of KVM|interprets BPF)' \
			"and kvmtop says so"
		return
	fi
	check "exits: they are timed here" exits_work kvmtop
	check "exits: and are not without BTF" eval "! exits_work without_btf kvmtop"
	guest one --pio 120 --mmio 50 --cpuid 210 --vcpus 2 --rounds 3
	exits_begin
	spawn without_btf kvmtop -l -c -s 0.1 -x -f "^$EXIT" >"$TMP/log" 2>"$TMP/log.err"
	LOG=$SPAWNED
	wait_for 120 log_goes_on 1
	trace_clear
	guest_run one
	log_end
	exits_end
	stop "$GUEST"
	is "$(cat "$TMP/exits.err")" "" "exits: nothing to complain about"
	like "$(cat "$TMP/log.err")" 'not counted by bpf' "without BTF: it says what counts"
	trace_times | awk '{ n[$2] += $3 } END { for (name in n) print name, n[name] }' |
		sort >"$TMP/times"
	is "$(exits_by_reason)" "$(cat "$TMP/times")" "exits: the numbers are the trace's"
	is "$(counted_reasons "$EXIT")" "$(cat "$TMP/times")" "and so are those of perf events"
}

# exits_by_reason: lines of reason and number.
exits_by_reason() {
	awk -F, "$CSV_AT"'
	{ n[$at("reason")] += $at("total") }
	END { for (name in n) print name, n[name] }' "$TMP/exits" | sort
}

# Guests are killed in the middle of their exits, and the KVM module is unloaded and loaded, under
# programs that read the guests' vCPUs.
exits_pulled_away() {
	section "guests and modules that go under the programs"
	exits_begin
	for e_i in 1 2 3; do
		guest killed --cpuid 1000000 --pio 100 --vcpus 2
		guest_go killed
		wait_for 60 exits_go_on "$GUEST"
		stop "$GUEST" KILL
	done
	if [ -e /modules/order ]; then
		e_module=$(tail -n 1 /modules/order)
		check "exits: $e_module is unloaded, nothing holds it" wait_for 30 rmmod "$e_module"
		insmod "/modules/$e_module.ko"
	fi
	guest after --pio 70 --cpuid 130 --rounds 2
	e_tid=$(vcpu_tids "$GUEST")
	guest_run after
	stop "$GUEST"
	exits_end
	is "$(cat "$TMP/exits.err")" "" "exits: nothing to complain about"
	is "$(exit_of total "$e_tid" "$CPUID") $(exit_of total "$e_tid" "$PIO")" \
		"$(cpuids 130 2) 140" "exits: the guest after them has its own numbers"
	kernel_is_content
}

# exits_go_on PID: its vCPUs use the CPU.
exits_go_on() {
	[ "$(cut -d' ' -f14,15 "/proc/$1/stat" | tr ' ' '+')" != "0+0" ]
}

# times_differ: prints the reasons whose time differs from the trace's by more than 1 %. The exits
# are slow, so that the trace's own cost does not matter. The trace has what they waited for a CPU,
# too, which is much where the emulator itself waits.
times_differ() {
	guest slow --pio 50 --mmio 30 --answer 10000 --rounds 2
	exits_begin
	trace_clear
	guest_run slow
	exits_end
	stop "$GUEST"
	trace_times >"$TMP/times"
	for e_reason in $SLOW_EXITS; do
		e_got=$(exit_of time_ns "" "$e_reason")
		e_got=$((e_got + $(exit_of wait_ns "" "$e_reason")))
		e_ns=$(awk -v reason="$e_reason" '$2 == reason { sum += $4 } END { print sum }' \
			"$TMP/times")
		differs_less_than 1 "$e_got" "$e_ns" ||
			echo "$e_reason: $e_got ns, by the trace $e_ns"
	done
}

# repeat_while_it_differs NAME RUN: runs RUN until it prints no difference, three times at most; the
# last output stays in $TMP/differ. The system below may stop the emulator between kvmtop's reading
# of the clock and the kernel's, and then the time of one exit differs.
repeat_while_it_differs() {
	for e_try in 1 2 3; do
		"$2" >"$TMP/differ"
		[ -s "$TMP/differ" ] || break
		diag "$(cat "$TMP/differ")"
		disturbed "$1" $e_try 3
	done
}

exits_times() {
	section "times"
	repeat_while_it_differs "times within 1 %" times_differ
	is "$(cat "$TMP/differ")" "" "exits: times of $SLOW_EXITS are the trace's, within 1 %"
}

# open_rows REASON COLUMN: in each interval of the log that has the reason.
open_rows() {
	awk -F, -v reason="$1" -v column="$2" "$CSV_AT"'
	$at("reason") == reason { print $at(column) + 0 }' "$TMP/open"
}

# open_differs: prints what is wrong about exits that take several intervals: user space answers
# after a second, and then is stopped for two.
open_differs() {
	o_option=--mmio o_reason=$MMIO
	[ "$has_pio" = no ] || o_option=--pio o_reason=$PIO
	guest open $o_option 3 --answer 999999
	spawn kvmtop -l -c -s 0.25 --view exits -g open >"$TMP/open" 2>"$TMP/open.err"
	o_log=$SPAWNED
	# A stopped VMM is a finding of its own: an answer of a second has to be one without it.
	echo "exit_open_seconds = 0.3" >"$TMP/thresholds"
	spawn kvmtop -l -c -s 0.25 --view why --thresholds "$TMP/thresholds" -g open >"$TMP/why" \
		2>"$TMP/why.err"
	o_why=$SPAWNED
	wait_for 120 samples_or_ended "$o_log"
	wait_for 120 samples_or_ended "$o_why"
	trace_clear
	guest_go open
	sleep 2
	kill -STOP "$GUEST"
	sleep 2
	kill -CONT "$GUEST"
	guest_done open
	sleep 1
	stop "$o_log"
	stop "$o_why"
	stop "$GUEST"
	trace_times >"$TMP/times"
	o_ns=$(awk -v reason="$o_reason" '$2 == reason { sum += $4 } END { print sum }' \
		"$TMP/times")
	o_got=$(open_rows "$o_reason" time_ns | awk '{ sum += $1 } END { print sum }')
	differs_less_than 1 "$o_got" "$o_ns" || echo "$o_got ns, by the trace $o_ns"
	open_rows "$o_reason" time_percent | awk '$1 > 100 { print $1 " %" }'
	[ "$(open_rows "$o_reason" open_ns | awk '$1 > 0' | wc -l)" -ge 8 ] ||
		echo "no row says open"
	[ "$(open_rows "$o_reason" avg_ns | awk '$1 > 0' | wc -l)" -le 4 ] ||
		echo "averages of open exits"
	grep -q ',exit_open,' "$TMP/why" || echo "no finding"
}

# stopped_differs: prints what is wrong about a guest whose VMM is stopped while it is busy.
stopped_differs() {
	guest stopped --cpuid 100 --rounds 0
	spawn kvmtop -l -c -s 0.25 --view why -g stopped >"$TMP/why" 2>"$TMP/why.err"
	o_why=$SPAWNED
	wait_for 120 samples_or_ended "$o_why"
	guest_go stopped
	sleep 1
	kill -STOP "$GUEST"
	sleep 3
	stop "$o_why"
	kill -CONT "$GUEST"
	stop "$GUEST"
	grep -q ',The VMM is stopped,stopped,critical,100\.0.*kill -CONT' "$TMP/why" ||
		cat "$TMP/why"
}

exits_open() {
	section "exits that stay open"
	repeat_while_it_differs "open exits" open_differs
	is "$(cat "$TMP/differ")" "" "exits that stay open: time as it passes, and a finding"
	is "$(cat "$TMP/open.err")$(cat "$TMP/why.err")" "" "and nothing to complain about"
	repeat_while_it_differs "a VMM that is stopped" stopped_differs
	is "$(cat "$TMP/differ")" "" "a VMM that is stopped: why says what may be"
}

# trace_long: lines of vCPU, reason, program counter, us between exit and entry.
trace_long() {
	awk -v exits=" $EXIT: " -v entries=" $ENTRY: " -v says=" ${PC_EVENT:-$EXIT}: " "$REASON_OF"'
	!match($0, / [0-9]+\.[0-9]+: /) { next }
	{ time = substr($0, RSTART + 1, RLENGTH - 3) * 1e6 }
	!match($0, /vcpu[0-9]+-[0-9]+ +\[/) { next }
	{ vcpu = substr($0, RSTART + 4) + 0 }
	index($0, exits) {
		since[vcpu] = time
		why[vcpu] = reason_of($0)
		at[vcpu] = ""
	}
	index($0, says) && match($0, /(rip |PC: )0x[0-9a-f]+/) {
		at[vcpu] = substr($0, RSTART + 4, RLENGTH - 4)
		sub(/0x0+/, "0x", at[vcpu])
	}
	index($0, entries) && since[vcpu] {
		print vcpu, why[vcpu], at[vcpu], time - since[vcpu]
		since[vcpu] = 0
	}' "$INSTANCE/trace"
}

# answered_long FILE: vCPU, reason and PC of the exits that user space answered, in 10 ms or more.
answered_long() {
	awk -F, "$CSV_AT"'
	$at("user_ns") + 0 >= 9000000 { print $at("vcpu"), $at("reason"), $at("pc") }' "$1" | sort
}

# listed_long: the same from kvmtop's list.
listed_long() {
	awk -F, "$CSV_AT"'
	{ print $at("vcpu"), $at("reason"), $at("pc"), ($at("took_ns") + $at("wait_ns")) / 1000 }
	' "$TMP/exits" # in the trace an exit has its waits
}

# slow_of: of these lines, the exits that user space answers in 10 ms, sorted by vCPU.
slow_of() {
	awk -v slow=" $SLOW_EXITS " 'index(slow, " " $2 " ") && $4 >= 10000' | sort -s -n -k1,1
}

# long_differ: prints where the list of long exits differs from the trace. The system below may stop
# the emulator between two readings of the clock: so the times are not compared one by one.
long_differ() {
	guest slow --pio 5 --mmio 5 --cpuid 50 --answer 10000 --rounds 2 --vcpus 2
	exits_begin --longer 5ms
	spawn kvmtop -l -c -s 0.5 --view long >"$TMP/long" 2>"$TMP/long.err"
	e_log=$SPAWNED
	wait_for 120 samples_or_ended "$e_log"
	trace_clear
	guest_run slow
	exits_end
	wait_for 60 log_is_quiet "$TMP/long"
	stop "$e_log"
	stop "$GUEST"
	trace_long | slow_of >"$TMP/traced"
	listed_long | slow_of >"$TMP/listed"
	answered_long "$TMP/exits" >"$TMP/answered"
	answered_long "$TMP/long" >"$TMP/logged"
	paste -d " " "$TMP/traced" "$TMP/listed" |
		awk 'NF != 8 || $1 != $5 || $2 != $6 || $3 != $7'
}

# log_is_quiet FILE: the file has not grown for two seconds.
log_is_quiet() {
	q_size=$(wc -c <"$1")
	sleep 2
	[ "$(wc -c <"$1")" = "$q_size" ]
}

exits_long() {
	section "exits --longer"
	repeat_while_it_differs "the list of long exits" long_differ
	is "$(cat "$TMP/differ")" "" "exits --longer: the list of slow exits is the trace's"
	is "$(cat "$TMP/exits.err")" "" "exits --longer: nothing to complain about"
	check "exits --longer: all slow exits are there" test "$(wc -l <"$TMP/listed")" -ge 20
	is "$(paste -d " " "$TMP/traced" "$TMP/listed" | awk '
		$8 < $4 * 1.01 && $8 > $4 * 0.99 { near++ }
		END { print (near > NR / 2) ? "near" : near + 0 " of " NR }')" near \
		"exits --longer: most times are within 1 %"
	is "$(cat "$TMP/logged")" "$(cat "$TMP/answered")" "-l --view long: the same list"
	is "$(cat "$TMP/long.err")" "" "-l --view long: nothing to complain about"
	is "$(listed_long | awk '$4 <= 5000')" "" "exits --longer: all are longer than 5 ms"
	case $ARGUMENTS in
	*ioport*) ;;
	*)
		skip "exits --longer --arguments" "this machine's exits have no port"
		return
		;;
	esac
	guest slow --pio 5 --answer 10000 --rounds 2
	exits_begin --longer 5ms --arguments
	guest_run slow
	exits_end
	stop "$GUEST"
	like "$(cat "$TMP/exits")" ",$PIO,0x[0-9a-f]+ " \
		"exits --longer --arguments: the port is named"
}

# trace_exits 0|1: the kernel's own trace of exits and entries.
trace_exits() {
	echo "$1" >"$INSTANCE/events/$SYSTEM/$EXIT/enable"
	echo "$1" >"$INSTANCE/events/$SYSTEM/$ENTRY/enable"
}

# A trace makes KVM read each exit's program counter. Without one, exits that the guest's code makes
# must have it, too: of instructions that KVM emulates, and of page faults.
exits_long_untraced() {
	section "exits --longer: program counters without a trace"
	trace_exits 0
	exits_begin --longer 1us
	guest new --pio 20 --mmio 20 --cpuid 50 --rounds 2
	guest_run new
	exits_end
	stop "$GUEST"
	trace_exits 1
	awk -F, "$CSV_AT"'
	{
		has = $at("pc") != ""
		print has ? "has" : "lacks", $at("reason")
	}' "$TMP/exits" | sort | uniq -c >"$TMP/places"
	diag "$(cat "$TMP/places")"
	unlike "$(cat "$TMP/places")" "lacks ($PIO|$MMIO|$CPUID|EPT_VIOLATION)\$" \
		"exits --longer: each exit that the guest's code makes has its PC"
	like "$(cat "$TMP/places")" "has $PIO" "exits --longer: and there are some"
}

# waited_ns_of FILE: how long its long exits waited for a CPU, in all; "none" if that is not known.
waited_ns_of() {
	awk -F, "$CSV_AT"'
	$at("wait_ns") != "" {
		sum += $at("wait_ns")
		found = 1
	}
	END { printf found ? "%.0f" : "none", sum }' "$1"
}

# run_delay_of PID: ns that its vCPUs have waited for a CPU, as the kernel says.
run_delay_of() {
	for r_tid in $(vcpu_tids "$1"); do
		cat "/proc/$1/task/$r_tid/schedstat"
	done | awk '{ sum += $2 } END { printf "%.0f", sum }'
}

# waits_differ: prints where the waits of long exits differ from the kernel's. Two vCPUs share a
# CPU, and lose it only within exits, in which their VMM works for some milliseconds each time.
waits_differ() {
	guest busy --mmio 400 --answer 5000 --spin --vcpus 2
	taskset -a -p 1 "$GUEST" >/dev/null
	e_delay=$(run_delay_of "$GUEST")
	exits_begin --longer 1ms -g busy
	guest_run busy
	exits_end
	e_delay=$(($(run_delay_of "$GUEST") - e_delay))
	stop "$GUEST"
	e_waited=$(waited_ns_of "$TMP/exits")
	differs_less_than 5 "$e_waited" "$e_delay" ||
		echo "long exits waited $e_waited ns, the kernel says $e_delay"
}

exits_waits() {
	section "exits --longer: Wait"
	if [ "$(nproc)" -lt 2 ]; then
		skip "exits --longer: waits for a CPU" "this machine has one CPU"
		return
	fi
	taskset -p 2 $$ >/dev/null
	case $(uname -r) in
	5.10.*)
		waits_differ >/dev/null
		is "$e_waited" none "exits --longer: what Linux 5.10 does not tell is no 0"
		skip "exits --longer: waits for a CPU" "Linux before 5.11 lets no program look"
		taskset -p 3 $$ >/dev/null
		return
		;;
	esac
	repeat_while_it_differs "waits within 5 %" waits_differ
	is "$(cat "$TMP/differ")" "" "exits --longer: waits are the kernel's, within 5 %"
	guest slow --mmio 20 --answer 10000
	exits_begin --longer 5ms -g slow
	guest_run slow
	exits_end
	stop "$GUEST"
	taskset -p 3 $$ >/dev/null
	is "$(awk -F, "$CSV_AT"'
	{ w = $at("wait_ns"); if (w != "" && w < $at("took_ns") / 2) slept++ }
	END { print (NR > 20 && slept > (NR - 1) / 2) ? "slept" : slept + 0 " of " NR - 1 }' \
		"$TMP/exits")" slept "exits --longer: to sleep is not to wait"
}

# The options of kvmtop exits that choose guests, vCPUs and rows.
exits_options() {
	section "exits -p, -v, -t"
	two_guests
	exits_begin -p "$right" -a
	two_run
	exits_end
	is "$(exit_of total "" "$PIO")" 180 "exits -p: one guest's own"
	is "$(cut -d, -f3 "$TMP/exits" | grep -c '^[0-9]')" \
		"$(cut -d, -f1,3 "$TMP/exits" | grep ',[0-9]' | sort -u | wc -l)" \
		"exits -a: a line for each of its threads"
	two_stop
	two_guests
	exits_begin -p "$right" -v 1
	two_run
	exits_end
	is "$(exit_of total "" "$PIO") $(exit_of total "" "$CPUID")" "90 $(cpuids 330 1)" \
		"exits -v 1: vCPU 1 and not the other"
	is "$(status_of kvmtop exits -p "$right" -v 4 1)" 2 "exits -v 4: a usage error"
	like "$(cat "$TMP/err")" \
		"guest right \(pid $right\) has no vCPU 4: kvmtop exits -a -p $right lists " \
		"exits -v 4: says how to list them"
	two_stop
}

# The arguments of exits: ports, addresses, MSRs ...
exits_arguments() {
	section "exits --event"
	if [ -z "$ARGUMENTS" ]; then
		skip "exits --event" "this machine's exits tell nothing of their arguments"
		return
	fi
	guest one --pio 77 --mmio 33 --cpuid 55
	for e_event in $ARGUMENTS; do
		exits_begin --event "${e_event%:*}" -p "$GUEST"
		mv "$TMP/exits" "$TMP/$e_event"
		echo "$EXITS" >"$TMP/$e_event.pid"
	done
	guest_run one
	for e_event in $ARGUMENTS; do
		EXITS=$(cat "$TMP/$e_event.pid")
		exits_end
		mv "$TMP/$e_event" "$TMP/exits"
		is "$(exit_of total "" "")" "${e_event#*:}" "exits --event ${e_event%:*}"
	done
	stop "$GUEST"
}

# kicks_of FILE: lines of argument and number, of the writes that kvmtop has counted. How many bytes
# a write has is known only where KVM has looked at the instruction: on Intel of some.
kicks_of() {
	tr -d '"' <"$1" | awk -F, "$CSV_AT"'
	{
		argument = $at("reason")
		sub(/^[^ ]* /, "", argument)
		sub(/ write [0-9]+/, " write", argument)
		if (argument ~ / write( |$)/)
			sum[argument] += $at("total")
	}
	END {
		for (argument in sum)
			if (sum[argument])
				print argument ": " sum[argument]
	}'
}

# Each queue has its number, by the value that is written or by the address.
exits_queues() {
	section "exits --event, by queue"
	if ! command -v kickguest >/dev/null; then
		skip "exits --event, by queue" "no guest kicks devices here"
		return
	fi
	guest_of kickguest kicks 300
	for e_event in ioport mmio; do
		exits_begin --event $e_event -p "$GUEST"
		mv "$TMP/exits" "$TMP/$e_event"
		echo "$EXITS" >"$TMP/$e_event.pid"
	done
	guest_run kicks
	for e_event in ioport mmio; do
		EXITS=$(cat "$TMP/$e_event.pid")
		exits_end
	done
	{
		kicks_of "$TMP/ioport"
		kicks_of "$TMP/mmio"
		cat "$TMP/exits.err"
	} | grep -v '^0x83000 ' | sort >"$TMP/kicks"
	is "$(cat "$TMP/kicks")" \
		"$(sed -n '/^0x/s/ write [0-9]*/ write/p' "$TMP/kicks.out" | sort)" \
		"exits --event: a queue's kicks are as many as its eventfd has"
	stop "$GUEST"
}

# faults_of OPTION... PAGES ROUNDS: what kvmtop exits says of the guest's page faults.
faults_of() {
	guest_of faultguest faults "$@"
	exits_begin --event fault -p "$GUEST"
	guest_run faults
	exits_end
	stop "$GUEST"
	diag "$(cat "$TMP/exits")"
}

# faults_without_size: AArch64's faults. The guest touches one page, and a device.
faults_without_size() {
	guest one --mmio 33
	exits_begin --event fault -p "$GUEST"
	guest_run one
	exits_end
	stop "$GUEST"
	diag "$(cat "$TMP/exits")"
	like "$(cut -d, -f1 "$TMP/exits")" '^IABT_LOW exec$' "exits --event fault: the guest's code"
	check "exits --event fault: accesses to a device are none" \
		test "$(exit_of total "" "")" -le 5
}

# Page faults by what the guest did, and by the pages that KVM maps.
exits_faults() {
	section "exits --event fault"
	if [ "$MARK" = WFx ]; then
		faults_without_size
		return
	fi
	if [ -z "$FAULT" ]; then
		skip "page faults" "KVM has no event for them here"
		return
	fi
	faults_of 100 5
	is "$(exit_of total "" "$FAULT write 4K")" 100 "exits --event fault: new pages"
	faults_of --log 100 5
	if has_pml; then
		skip "exits --event fault: writes that are logged" "this processor keeps the log"
	else
		is "$(exit_of total "" "$FAULT write-protected")" 500 \
			"exits --event fault: writes that are logged"
	fi
	e_huge=/sys/kernel/mm/transparent_hugepage/enabled
	if [ ! -e $e_huge ] ||
		[ "$(cat /sys/module/kvm/parameters/nx_huge_pages 2>/dev/null)" = Y ]; then
		skip "exits --event fault: a huge page" "KVM maps none with code here"
		return
	fi
	e_was=$(sed 's/.*\[\(.*\)\].*/\1/' $e_huge)
	echo madvise >$e_huge
	faults_of --huge 100 5
	echo "$e_was" >$e_huge
	is "$(exit_of total "" "$FAULT write 4K")" none "exits --event fault: no small pages"
	check "exits --event fault: a huge one" \
		grep -Eq "^$FAULT (write|exec) 2M," "$TMP/exits"
}

# A guest shares its CPU with a program that reads a BPF map all the time. Where the kernel can be
# preempted in that, it runs no BPF program on a trace event until the reader goes on.
exits_beside_bpf() {
	section "beside another user of BPF"
	if ! command -v mapreader >/dev/null; then
		skip "exits: beside another user of BPF" "there is none on this host"
		return
	fi
	if [ "$(nproc)" -lt 2 ]; then
		skip "exits: beside another user of BPF" "this machine has one CPU"
		return
	fi
	spawn mapreader >"$TMP/mapreader"
	e_reader=$SPAWNED
	if ! wait_for 60 grep -q ready "$TMP/mapreader"; then
		not_ok "exits: beside another user of BPF" "mapreader does not begin"
		return
	fi
	taskset -p 2 "$e_reader" >/dev/null
	guest one --pio 770 --mmio 330 --cpuid 550 --rounds 3
	taskset -a -p 2 "$GUEST" >/dev/null
	for e_event in ioport:2310 mmio:990 cpuid:1650 userspace:3303; do
		exits_begin --event "${e_event%:*}" -p "$GUEST"
		mv "$TMP/exits" "$TMP/$e_event"
		echo "$EXITS" >"$TMP/$e_event.pid"
	done
	guest_run one
	for e_event in ioport:2310 mmio:990 cpuid:1650 userspace:3303; do
		EXITS=$(cat "$TMP/$e_event.pid")
		exits_end
		mv "$TMP/$e_event" "$TMP/exits"
		is "$(exit_of total "" "")" "${e_event#*:}" \
			"exits --event ${e_event%:*}: all, beside another user of BPF"
	done
	stop "$e_reader"
	stop "$GUEST"
}

# A guest halts for three seconds: each sample of half a second has half a second of it.
exits_halt() {
	section "a long halt"
	if [ "$has_halt" = no ]; then
		skip "vcpus: a long halt is seen while it lasts" \
			"the exits of a RISC-V do not tell a halt from other instructions"
		return
	fi
	guest idle --cpuid 10 --rounds 3 --pause 3000000
	spawn kvmtop -l --json -s 0.5 --view vcpus >"$TMP/halt.json" 2>"$TMP/halt.err"
	e_pid=$SPAWNED
	wait_for 120 samples_or_ended "$e_pid"
	guest_run idle
	stop "$e_pid"
	stop "$GUEST"
	is "$(cat "$TMP/halt.err")" "" "vcpus: nothing to complain about"
	grep -o '"idle_percent":[0-9.]*' "$TMP/halt.json" | cut -d: -f2 | sed 1d >"$TMP/halts"
	check "vcpus: a long halt is seen while it lasts" test "$(wc -l <"$TMP/halts")" -ge 8
	is "$(awk '$1 < 90 || $1 > 100.5' "$TMP/halts")" "" "vcpus: as all of the time, each time"
}

# polls_of NAME LIMIT: a guest halts a thousand times for 1 ms, in which KVM polls up to LIMIT ns.
# It has a CPU of its own, because KVM stops polling without an event when another thread wants the
# CPU. What kvmtop says was polled and slept is in $POLLED and $SLEPT, what the kernel says in
# $KERNEL.
polls_of() {
	echo "$2" >/sys/module/kvm/parameters/halt_poll_ns
	taskset -p 2 $$ >/dev/null
	if [ "$MARK" = WFx ]; then
		guest "$1" --rounds 1000 --pause 1000
	else
		guest_of haltguest "$1" 1000 1000
	fi
	taskset -p 1 $$ >/dev/null
	spawn kvmtop -l --json -s 2 --view vcpus >"$TMP/polls.json" 2>"$TMP/polls.err"
	e_pid=$SPAWNED
	wait_for 120 samples_or_ended "$e_pid"
	guest_run "$1"
	KERNEL=$(cd "$DEBUGFS/$GUEST-"* && cat halt_poll_success_ns halt_poll_fail_ns |
		awk '{ sum += $1 } END { printf "%.0f", sum }')
	e_seen=$(wc -l <"$TMP/polls.json")
	wait_for 60 has_lines $((e_seen + 2)) "$TMP/polls.json"
	stop "$e_pid"
	stop "$GUEST"
	taskset -p 3 $$ >/dev/null
	is "$(cat "$TMP/polls.err")" "" "vcpus: nothing to complain about"
	POLLED=$(part_ns poll_percent)
	SLEPT=$(part_ns idle_percent)
	diag "limit $2 ns: polled $POLLED ns, by the kernel $KERNEL; slept $SLEPT"
}

has_lines() {
	[ "$(wc -l <"$2")" -ge "$1" ]
}

# part_ns ID: the sum of a share over all samples.
part_ns() {
	grep -o "\"$1\":[0-9.]*\|\"vcpu_ns\":[0-9]*" "$TMP/polls.json" | awk -F: -v id="\"$1\"" '
	$1 == id { share = $2 }
	$1 != id { sum += share / 100 * $2 }
	END { printf "%.0f", sum }'
}

exits_polls() {
	section "halts that are polled, and halts that are not"
	if [ "$MARK" != WFx ] && [ "$MARK" != hlt ]; then
		skip "vcpus: what KVM polls in halts" "KVM halts no guest of ours itself here"
		return
	fi
	# A halt that a signal ends, as miniguest's, is added when the guest runs again.
	e_percent=10
	[ "$MARK" != hlt ] || e_percent=1
	e_limit=$(cat /sys/module/kvm/parameters/halt_poll_ns)
	polls_of polls 20000000
	check "vcpus: what was polled is what the kernel says, within $e_percent %" \
		within "$POLLED" "$KERNEL" $e_percent
	check "vcpus: most of the halts was polled" test "$POLLED" -gt 500000000
	polls_of sleeps 0
	is "$KERNEL" 0 "halt_poll_ns 0: the kernel polls no more"
	check "vcpus: the halts are sleep" test "$SLEPT" -gt $((50 * POLLED))
	echo "$e_limit" >/sys/module/kvm/parameters/halt_poll_ns
}

# A signal ends KVM_RUN five times a second, mostly in a halt, and the VMM works for 50 ms then. In
# each interval the parts of time are the whole, and a quarter is user space's.
exits_kicks() {
	section "halts that signals interrupt"
	if [ "$MARK" != hlt ]; then
		skip "vcpus: halts that signals interrupt" "KVM halts no guest of ours itself here"
		return
	fi
	guest_of haltguest kicks --kick 240 50000
	spawn kvmtop -l --json -s 1 --view vcpus >"$TMP/kicks.json" 2>"$TMP/kicks.err"
	e_pid=$SPAWNED
	wait_for 120 samples_or_ended "$e_pid"
	guest_run kicks
	stop "$e_pid"
	stop "$GUEST"
	is "$(cat "$TMP/kicks.err")" "" "vcpus: nothing to complain about"
	grep -oE '"(guest|kvm|user|idle|poll|block|wait)_percent":[0-9.]*' "$TMP/kicks.json" |
		awk -F: '/guest_/ { if (NR > 1) print sum, user; sum = 0 }
			{ sum += $2 } /user_/ { user = $2 }' | sed 1d >"$TMP/sums"
	diag "sum and user space's part: $(tr '\n' ';' <"$TMP/sums")"
	check "vcpus: ten intervals and more" test "$(wc -l <"$TMP/sums")" -ge 10
	is "$(awk '$1 < 99.5 || $1 > 100.5' "$TMP/sums")" "" "vcpus: the parts are the whole"
	e_user=$(awk 'NR > 2 { sum += $2; nr++ } END { printf "%.0f", sum / nr * 1000 }' \
		"$TMP/sums")
	check "vcpus: a quarter is user space's, where the emulator is quick" \
		within "$e_user" 25000 40
}

# nested_events: lines of reason and number of the trace's kvm_nested_vmexit.
nested_events() {
	awk "$REASON_OF"'
	/ kvm_nested_vmexit: / { count[reason_of($0)]++ }
	END { for (name in count) print name, count[name] }' "$INSTANCE/trace" | sort
}

# nested_counted: the same from kvmtop exits: the reasons with the mark of L2.
nested_counted() {
	awk -F, "$CSV_AT"'
	$at("reason") ~ / L2$/ && $at("total") {
		nr = $at("total")
		sub(/ L2$/, "", $at("reason"))
		gsub(/ /, "_", $at("reason"))
		print $at("reason"), nr
	}' "$TMP/exits" | sort
}

# nested_places: lines of reason, program counter of L1 or L2, and number, from the trace. When an
# exit that enters L2 ends, its program counter is lost, unless it is in the record of its begin.
nested_places() {
	lost=vmrun
	[ -e /sys/kernel/btf/kvm_amd ] || lost=
	awk -v exits=" $EXIT: " -v entries=" $ENTRY: " -v lost="$lost" "$REASON_OF"'
	function end_exit() {
		if (why != "")
			count[why mark " " (why == lost ? "-" : at)]++
		why = mark = ""
	}
	/ kvm_nested_vmexit: / { mark = "_L2" }
	index($0, exits) || index($0, entries) { end_exit() }
	index($0, exits) {
		why = reason_of($0)
		match($0, /rip 0x[0-9a-f]+/)
		at = substr($0, RSTART + 4, RLENGTH - 4)
		sub(/0x0+/, "0x", at)
	}
	END { for (key in count) print key, count[key] }' "$INSTANCE/trace" |
		grep -E '^(cpuid|io|vmrun)(_L2)? ' | sort
}

# nested_listed FILE: the same from the list of long exits.
nested_listed() {
	awk -F, "$CSV_AT"'
	{
		sub(/ L2$/, "_L2", $at("reason"))
		count[$at("reason") " " ($at("pc") == "" ? "-" : $at("pc"))]++
	}
	END { for (key in count) print key, count[key] }' "$1" |
		grep -E '^(cpuid|io|vmrun)(_L2)? ' | sort
}

exits_nested() {
	section "a guest in the guest"
	if [ ! -d "$TRACING/events/kvm/kvm_nested_vmexit" ] || [ "$PIO" != io ]; then
		skip "kvmtop exits: exits of L2" "no guest of ours nests here"
		return
	fi
	guest_of nestguest nests 120 300 70
	echo 1 >"$INSTANCE/events/kvm/kvm_nested_vmexit/enable"
	trace_clear
	record_begin
	exits_begin --longer 1us
	mv "$TMP/exits" "$TMP/long"
	e_long=$EXITS
	exits_begin
	batch_begin --view exits -f ' L2$'
	guest_run nests
	batch_end
	exits_end
	stop "$e_long"
	record_end
	is "$(nested_counted)" "$(nested_events)" "nested: L2's exits are kvm_nested_vmexit's"
	is "$(exit_of total "" "cpuid L2") $(exit_of total "" "io L2")" "300 70" \
		"nested: the plan's exits of L2"
	is "$(exit_of total "" cpuid) $(exit_of total "" vmrun) $(exit_of total "" hlt)" \
		"120 301 1" "nested: and of L1, which has none of them"
	is "$(exit_of total "" "")" "$(exits_of "$GUEST")" "nested: all exits together"
	nested_places >"$TMP/places"
	nested_listed "$TMP/long" >"$TMP/listed"
	same_files "$TMP/listed" "$TMP/places" "nested: each exit has the PC of its guest"
	check "nested: which are several" test "$(wc -l <"$TMP/places")" -ge 4
	like "$(cat "$TMP/batch")" 'cpuid L2 +300 ' "nested: a filter for L2 has its exits"
	unlike "$(cat "$TMP/batch")" 'vmrun' "nested: and no others"
	like "$(kvmtop report --by reason --csv "$RECORDING")" 'cpuid L2,(.*,)?300,' \
		"nested: a recording says the same"
	echo 0 >"$INSTANCE/events/kvm/kvm_nested_vmexit/enable"
	stop "$GUEST"

	guest_of nestguest long 0 5000 5000
	spawn kvmtop -l --json -s 0.3 --view vcpus >"$TMP/polls.json" 2>"$TMP/polls.err"
	e_pid=$SPAWNED
	wait_for 120 samples_or_ended "$e_pid"
	guest_run long
	e_seen=$(wc -l <"$TMP/polls.json")
	wait_for 60 has_lines $((e_seen + 2)) "$TMP/polls.json"
	stop "$e_pid"
	stop "$GUEST"
	is "$(cat "$TMP/polls.err")" "" "nested: nothing to complain about"
	e_l2=$(part_ns l2_percent) e_guest=$(part_ns guest_percent)
	diag "in L2 $e_l2 ns, in the guest $e_guest ns"
	check "nested: a part of the guest's time is L2's" \
		test "$e_l2" -gt 0 -a "$e_l2" -le "$e_guest"
}

# within A B PERCENT
within() {
	awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN {
		exit !(b > 0 && (a > b ? a - b : b - a) * 100 <= most * b)
	}'
}

# in_table COLUMN TID FILE: the sum of a column over the rows of a thread, of a table as text.
in_table() {
	awk -v column="$1" -v tid="$2" '
	function value(name) { return word[split(substr($0, 1, end[name]), word, " ")] }
	/ TID / {
		end["TID"] = index($0, " TID") + 3
		end[column] = index($0, " " column) + length(column)
		next
	}
	value("TID") == tid { sum += value(column) }
	END { printf "%d", sum }' "$3"
}

# counted_of TID: the thread's exits in each face of the view vCPUs: JSON, CSV, text, -1, screen.
counted_of() {
	grep -o "\"tid\":$1,[^}]*" "$TMP/brief.json" | grep -o '"delta":[0-9]*' |
		awk -F: '{ sum += $2 } END { printf "%d ", sum }'
	awk -F, -v tid="$1" "$CSV_AT"'
	$at("tid") == tid { sum += $at("delta") }
	END { printf "%d", sum }' "$TMP/brief.csv"
	echo " $(in_table Delta "$1" "$TMP/brief.txt") $(in_table Total "$1" "$TMP/batch")" \
		"$(in_table Total "$1" "$TMP/brief.shot")"
}

# brief_of PID: name, vCPU, number and mark of its $PIO, and their time by their average.
brief_of() {
	awk -F, -v pid="$1" -v reason="$PIO" "$CSV_AT"'
	$at("pid") != pid { next }
	$at("reason") == reason {
		row = $at("guest") " " $at("vcpu") " " $at("total") " " $at("ended")
		ns = $at("avg_ns") * $at("total")
	}
	END { printf "%s %.0f\n", row, ns }' "$TMP/exits"
}

# brief_log NAME OPTION...: a log, in $TMP/brief.NAME; its pid joins $LOG_PIDS.
brief_log() {
	e_name=$1
	shift
	spawn kvmtop -l -s 0.5 "$@" >"$TMP/brief.$e_name" 2>>"$TMP/brief.err"
	LOG_PIDS="$LOG_PIDS $SPAWNED"
	wait_for 120 samples_or_ended "$SPAWNED"
}

brief_begin() {
	LOG_PIDS=
	: >"$TMP/brief.err"
	: >"$TMP/rounds"
	brief_log json --json --view vcpus
	brief_log csv -c --view vcpus
	brief_log txt --view vcpus
	brief_log reasons --json --view exits
	e_has_screen=no
	if has_screen; then
		e_has_screen=yes
		screen_start 200 30 "exec kvmtop -s 0.5 --view vcpus"
		wait_for 120 samples_or_ended "$(screen_pid)"
	fi
	exits_begin
	batch_begin --view vcpus
}

brief_end() {
	batch_end
	exits_end
	# The screen has one row for all guests that have ended: Enter opens it.
	if [ "$e_has_screen" = yes ] && screen_sees '10 ended '; then
		screen_keys End Enter
	fi
	wait_for 60 brief_agrees
	for e_pid in $LOG_PIDS; do
		stop "$e_pid"
	done
	[ "$e_has_screen" = no ] || screen_quits
}

# brief_agrees: each face has as many exits of each thread as kvmtop exits. The first difference is
# in $e_differs.
brief_agrees() {
	e_differs=''
	# Columns are counted in bytes.
	[ "$e_has_screen" = no ] || screen_shot | sed -e 's/├/ /' -e 's/└/ /' >"$TMP/brief.shot"
	awk -F, "$CSV_AT"'
	{ all[$at("tid")] += $at("total") }
	END { for (tid in all) print tid, all[tid] }' "$TMP/exits" >"$TMP/all"
	while read -r e_tid e_all; do
		[ "$e_has_screen" = yes ] || printf '%12s %12s\n%12s %12s\n' TID Total \
			"$e_tid" "$e_all" >"$TMP/brief.shot"
		e_faces=$(counted_of "$e_tid")
		[ "$e_faces" = "$e_all $e_all $e_all $e_all $e_all" ] && continue
		e_differs="thread $e_tid: $e_faces, not $e_all"
		return 1
	done <"$TMP/all"
}

# Ten guests at once that live for 0.1 to 1 s: every face has each guest's pid, vCPU and number of
# exits, and its name. The time that a guest measures for its rounds
# is an upper bound for the time of its exits.
exits_brief() {
	section "guests that live for a moment"
	brief_begin
	e_pids=
	for e_i in 0 1 2 3 4 5 6 7 8 9; do
		miniguest --name brief$e_i --pio $((50 + 50 * e_i)) --time >"$TMP/brief$e_i" 2>&1 &
		e_pids="$e_pids $!"
	done
	for e_pid in $e_pids; do
		wait "$e_pid"
	done
	brief_end
	e_i=0 e_wrong='' e_slow=''
	for e_pid in $e_pids; do
		e_plan=$((50 + 50 * e_i))
		brief_of "$e_pid" >"$TMP/brief"
		read -r e_name e_vcpu e_count e_ended e_ns <"$TMP/brief"
		[ "$e_name $e_vcpu $e_count $e_ended" = "brief$e_i 0 $e_plan 1" ] ||
			e_wrong="$e_wrong brief$e_i: $(cat "$TMP/brief");"
		e_whole=$(sed -n 's/^ns //p' "$TMP/brief$e_i")
		[ "${e_ns:-0}" -gt 0 ] && [ "${e_ns:-0}" -le "${e_whole:-0}" ] ||
			e_slow="$e_slow brief$e_i: $e_ns ns of $e_whole;"
		echo "$e_whole" >>"$TMP/rounds"
		e_i=$((e_i + 1))
	done
	is "$e_wrong" "" "exits: each has its name, its vCPU, its number, and has ended"
	is "$e_slow" "" "exits: their time is within the time that the guest measured"
	is "$e_differs" "" "-l as JSON, CSV and text, -1, screen: each has what exits says it has"
	grep -o "\"reason\":\"$PIO\"[^}]*" "$TMP/brief.reasons" >"$TMP/reasons"
	is "$(sed 's/.*"delta":\([0-9]*\).*/\1/' "$TMP/reasons" |
		awk '{ sum += $1 } END { print sum }')" 2750 "-l of the exits: all of theirs"
	is "$(sed 's/.*"avg_ns":\([0-9]*\).*/\1/' "$TMP/reasons" |
		awk -v most="$(sort -n "$TMP/rounds" | tail -n 1)" '!$1 || $1 > most')" "" \
		"and no average is longer than what the slowest guest took"
	is "$(cat "$TMP/brief.err")" "" "nothing to complain about"
}
