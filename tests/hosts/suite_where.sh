# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_where.sh - kvmtop where names the code that takes the time of exits: part of suite.sh.

# where_top: the function that most time is in, beside the guest.
where_top() {
	tr -d '"' <"$TMP/where" | awk -F, "$CSV_AT"'
		$1 !~ /^\[guest/ && $at("self_ns") > most { most = $at("self_ns"); name = $1 }
		END { print name }'
}

# where_of NAME REASON: what takes the time of the guest's exits, as a tree in $TMP/where. The
# reason has the share of the vCPU's time that kvmtop exits has, within 5 %: on a CPU, off it, and
# in user space. The two do not count at exactly one time: hence one point more, and another try.
where_of() {
	section "where of $1"
	for w_try in 1 2 3; do
		kvmtop exits -g "$1" --csv 3 >"$TMP/exits" 2>"$TMP/exits.err" &
		w_pid=$!
		kvmtop where -g "$1" --csv -x --halts 2 >"$TMP/where" 2>"$TMP/where.err"
		is $? 0 "where: exit status"
		wait "$w_pid"
		w_where=$(cell "$TMP/where" incl_percent function="$2")
		w_exits=$(cell "$TMP/exits" time_percent reason="$2")
		w_equal=$(awk -v a="$w_where" -v b="$w_exits" 'BEGIN {
			off = a > b ? a - b : b - a
			print a != "" && off <= b * 0.05 + 1 ? "equal" : "not equal" }')
		[ "$w_equal" != equal ] || break
	done
	diag "$(head -n 16 "$TMP/where.err" "$TMP/where")"
	is "$w_equal" equal \
		"where: $2 of $1 has the time of its exits ($w_where, $w_exits %, try $w_try)"
}

# where_kept REASON: the code of the only guest's exits has all of their time, in the same interval.
where_kept() {
	kvmtop -l -s 1 -n 3 --csv --keep where -w "$TMP/where.db" >"$TMP/out" 2>"$TMP/where.err"
	kvmtop -r "$TMP/where.db" -1 --csv --view exits >"$TMP/exits"
	kvmtop -r "$TMP/where.db" -1 --csv --view where -x >"$TMP/where"
	is_near "$(cell "$TMP/where" time_ns function="$1")" \
		"$(cell "$TMP/exits" time_ns reason="$1")" \
		"where: a history has the time of exits in code, too"
}

where_sleeps() {
	guest sleeps "--$WHERE_WRITES" 10 --answer 20000 --rounds 0
	guest_go sleeps
	where_of sleeps "${SLOW_EXITS%% *}"
	is "$(where_top)" "[off CPU]" "where: a VMM that sleeps is off its CPU"
	unlike "$(cell "$TMP/where" incl_percent function=clock_nanosleep)" \
		'^([0-4]?[0-9]([.]|$)|$)' "where: most time is below the function that sleeps"
	stop "$GUEST"
}

# A VMM that computes for each write, and one that sleeps.
where_code() {
	guest spins "--$WHERE_WRITES" 10 --answer 2000 --spin --rounds 0
	guest_go spins
	where_of spins "${SLOW_EXITS%% *}"
	is "$(where_top)" answer_by_spinning "where: the function that spins is on top"
	is "$(tr -d '"' <"$TMP/where" | grep -c '^\[unknown\],VMM,')" 0 "where: callers are known"
	where_kept "${SLOW_EXITS%% *}"
	stop "$GUEST"
	where_sleeps
	where_again
}

# What KVM does to emulate an instruction is on top of its functions, below the ones that every exit
# is in. How much of the whole exit that is differs from run to run: a clock sees what it can.
where_emulation() {
	guest short --cpuid 1000 --rounds 0
	guest_go short
	where_of short "$CPUID"
	kvmtop where -g short -f "^$CPUID\$" --csv -k incl_percent 2 >"$TMP/where" \
		2>"$TMP/where.err"
	is $? 0 "where: exit status"
	diag "$(head -n 24 "$TMP/where.err" "$TMP/where")"
	w_path='\[.*|entry_.*|.*sys.*|kvm_(arch_)?vcpu_ioctl.*|vcpu_.*|svm_[a-z_]*_exit.*'
	like "$(tr -d '"' <"$TMP/where" | awk -F, '$2 == "kernel" { print $1 }' |
		grep -m 1 -vxE "$w_path")" 'emulat|^kvm_cpuid$' \
		"where: the kernel's emulation is on top"
	stop "$GUEST"
}

# begin_where OPTION...: kvmtop where, as CSV in $TMP/where; it counts when this returns, until
# end_where.
begin_where() {
	spawn kvmtop where --csv "$@" 600 >"$TMP/where" 2>"$TMP/where.err"
	WHERE=$SPAWNED
	wait_for 60 is_sampling "$WHERE" || not_ok "where begins" "$(cat "$TMP/where.err")"
}

end_where() {
	kill -TERM "$WHERE"
	wait "$WHERE"
	is $? 0 "where: exit status"
	diag "$(head -n 12 "$TMP/where.err" "$TMP/where")"
}

# The guest that has the name at the end is shown, and the other one is not.
where_again() {
	section "where of a guest that is started again"
	guest again --cpuid 1000 --rounds 0
	begin_where -g again
	guest_go again
	sleep 1
	stop "$GUEST"
	guest again "--$WHERE_WRITES" 10 --answer 2000 --spin --rounds 0
	guest_go again
	sleep 2
	end_where
	like "$(cat "$TMP/where.err")" "^kvmtop: again is back as pid $GUEST\$" \
		"where: a guest that is started again"
	like "$(cell "$TMP/where" self_ns function=answer_by_spinning)" '^[1-9]' "where: is shown"
	stop "$GUEST"
}

# Two functions of a small kernel leave it, one three times as often as the other. Of a guest that
# has no addresses of a kernel all exits are its user mode's.
guest_code() {
	section "the guest's code"
	guest low --pio 77 --rounds 1
	g_guest=$GUEST
	begin_where -p "$g_guest" -f "^$PIO\$" --guest-code
	guest_run low
	end_where
	is "$(cell "$TMP/where" exits function="[user]")" 77 "low addresses are of user mode"
	stop "$g_guest"
	if ! command -v symbols >/dev/null; then
		skip "the guest's code" "the small kernel is for x86-64 and AArch64"
		return
	fi
	g_writes=$PIO
	[ "$WHERE_WRITES" = pio ] || g_writes=$MMIO
	guest_of symbols kernel 4000
	g_guest=$GUEST
	begin_where -p "$g_guest" -f "^$g_writes\$" --guest-code --guest-symbols --hertz 999
	guest_go kernel
	guest_done kernel
	end_where
	is "$(cell "$TMP/where" exits function=func_100)" 3000 \
		"three of four exits are one function's"
	is "$(cell "$TMP/where" exits function=func_201)" 1000 "the fourth is the other one's"
	like "$(cell "$TMP/where" incl_percent function=func_100)" '[1-9]' \
		"samples have the time of its exits"
	stop "$g_guest"
}

# off_under FUNCTION: the share of time in which vCPUs had no CPU, after exits of the guest's
# function, in whole percent.
off_under() {
	tr -d '"' <"$TMP/where" | awk -F, -v name="$1" "$CSV_AT"'
		$2 == "exit" { function_ = "" }
		$2 == "guest" { function_ = $1 }
		$1 == "[off CPU]" && function_ == name { sum += $at("self_percent") }
		END { printf "%d\n", sum }'
}

# who_is_preempted MASK MASK: what kvmtop who and where find with the vCPUs on these CPUs.
who_is_preempted() {
	for l_task in "/proc/$l_guest/task/"*; do
		taskset -p "$1" "${l_task##*/}" >/dev/null
		[ $# = 1 ] || shift
	done
	begin_where -p "$l_guest" -x --halts --guest-code --guest-symbols
	who_begin
	sleep 4
	who_end "who"
	end_where
}

has_threads() {
	h_least=$2
	set -- "/proc/$1/task/"*
	[ $# -ge "$h_least" ]
}

# A guest's two vCPUs contend for a lock. On one CPU the host takes the CPU from the function that
# has the lock, for the vCPU that spins for it; with a CPU each the two do not wait for each other.
lock_holder() {
	section "the lock's holder"
	if [ "$(nproc)" -lt 2 ] || [ "$(uname -m)" != x86_64 ]; then
		skip "the lock's holder" "it takes two CPUs, which x86 hosts have here"
		return
	fi
	guest_of symbols lock lock
	l_guest=$GUEST
	guest_go lock
	wait_for 10 has_threads "$l_guest" 2
	who_is_preempted 2 2
	check "the function that has the lock is preempted" test "$(off_under func_100)" -ge 5
	check "for the guest's other vCPU" test "$(charged lock own)" -gt 500000000
	like "$(cell "$TMP/who" kernel_percent guest=lock kind=waits)" \
		'^(100|9[0-9])' "in the guest's kernel"
	who_is_preempted 1 2
	is "$(charged lock own)" 0 "with a CPU each no vCPU waits for the other"
	stop "$l_guest" KILL
}
