# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2034,SC2120,SC2119,SC2317
#
# inside.sh - functions for the suite's cases: guests, what kvmtop says, what the kernel says.
#
# Needs tests/lib.sh, and $ENGINE to say what counts trace events. Numbers that kvmtop printed are
# left in $TMP/counted, a name and a number a line.
TRACING=/sys/kernel/tracing
DEBUGFS=/sys/kernel/debug/kvm
INSTANCE=$TRACING/instances/suite

# The names of this machine's events and of the exits that miniguest makes. $SLOW: how many times
# slower than the others this machine's emulation is. $SLOW_EXITS: exits that user space answers.
# $MARK: the exit that a round has beside its plan, a halt; where halts do not reach user space, a
# round has a write, too. $ARGUMENTS: the arguments of --pio 77 --mmio 33 --cpuid 55, and how often.
# $EXITS_FILE: debugfs' counter of all exits.
SYSTEM=kvm EXIT=kvm_exit ENTRY=kvm_entry
MORE_MMIO=1
SLOW=1
EXITS_FILE=exits
has_pio=no has_mmio=no has_halt=yes
WHERE_WRITES=mmio # writes that user space answers, for kvmtop where
ARGUMENTS=
FAULT= # the exit of a page fault for faultguest
PC_EVENT= # says the program counter that the list of long exits has; empty: $EXIT
case $(uname -m) in
aarch64)
	PIO=HVC64 CPUID=SYS64 MMIO=DABT_LOW MARK=WFx SLOW_EXITS=$MMIO
	ARGUMENTS="hypercall:77 sysreg:55"
	has_mmio=yes
	;;
riscv64)
	PIO=EXC_SUPERVISOR_SYSCALL CPUID=EXC_VIRTUAL_INST_FAULT
	MMIO=EXC_STORE_GUEST_PAGE_FAULT MARK=$CPUID SLOW_EXITS=$MMIO
	SLOW=2
	has_halt=no # none that could be told from other instructions
	;;
ppc64le)
	SYSTEM=kvm_hv EXIT=kvm_guest_exit ENTRY=kvm_guest_enter
	PIO=SYSCALL CPUID=H_EMUL_ASSIST MMIO=H_DATA_STORAGE MARK=H_CEDE SLOW_EXITS="$PIO $MMIO"
	EXITS_FILE=sum_exits
	SLOW=2
	;;
*)
	PIO=IO_INSTRUCTION CPUID=CPUID MMIO=EPT_MISCONFIG MARK=HLT FAULT=EPT_VIOLATION
	! grep -qw svm /proc/cpuinfo || PIO=io CPUID=cpuid MMIO=npf MARK=hlt FAULT=npf
	! grep -qw vmx /proc/cpuinfo || PC_EVENT=$ENTRY # by KVM's copy
	SLOW_EXITS="$PIO $MMIO" MORE_MMIO=0
	WHERE_WRITES=pio
	ARGUMENTS="ioport:77 mmio:33 cpuid:55"
	has_pio=yes has_mmio=yes
	;;
esac

# has_pml: whether the processor keeps the log of written pages (Intel's PML).
has_pml() {
	[ "$(cat /sys/module/kvm_intel/parameters/pml 2>/dev/null)" = Y ]
}

# cpuids NUMBER ROUNDS: how many $CPUID exits --cpuid NUMBER makes in so many rounds.
cpuids() {
	if [ "$MARK" = "$CPUID" ]; then echo $((($1 + 1) * $2)); else echo $(($1 * $2)); fi
}

# cpuids_ended NUMBER ROUNDS: how many of these end: the last halt does not.
cpuids_ended() {
	if [ "$MARK" = "$CPUID" ]; then echo $((($1 + 1) * $2 - 1)); else echo $(($1 * $2)); fi
}

# busybox has no env --default-signal.
spawn() {
	"$@" &
	SPAWNED=$!
	T_pids="$T_pids $SPAWNED"
}

# section NAME: prints the time, to show which cases take long.
section() {
	diag "$(cut -d. -f1 /proc/uptime) s: $1${ENGINE:+ ($ENGINE)}"
}

screen_lacks() {
	! t_screen_has "$1"
}

screen_quits() {
	screen_keys q
	is "$(screen_status 30)" 0 "q ends the screen"
	screen_stop
}

# ---- guests

# guest_of PROGRAM NAME OPTION...: starts a guest that waits for guest_go; its pid is in $GUEST. The
# programs are in tests/helpers: nestguest, haltguest ...
guest_of() {
	g_program=$1
	g_name=$2
	shift 2
	rm -f "$TMP/$g_name.in"
	mkfifo "$TMP/$g_name.in"
	: >"$TMP/$g_name.out"
	# Not by spawn: a shell gives what it starts in the background an empty stdin.
	"$g_program" --name "$g_name" "$@" <>"$TMP/$g_name.in" >"$TMP/$g_name.out" 2>&1 &
	GUEST=$!
	T_pids="$T_pids $GUEST"
	wait_for 60 is_ready_or_ended "$g_name" "$GUEST"
	grep -q '^ready' "$TMP/$g_name.out" || not_ok "guest $g_name" "$(cat "$TMP/$g_name.out")"
}

# is_ready_or_ended NAME PID: the guest waits for guest_go, or has failed.
is_ready_or_ended() {
	grep -q '^ready' "$TMP/$1.out" || t_ended "$2"
}

# guest NAME OPTION...: the same for miniguest, which makes exactly the exits of its options.
guest() {
	g_name=$1
	shift
	guest_of miniguest "$g_name" --wait --hold 120 "$@"
}

# guest_go NAME: the guest begins. To open the FIFO for reading and writing never blocks.
guest_go() {
	echo 1<>"$TMP/$1.in"
}

# guest_done NAME: waits until the guest's rounds are over; the guest stays.
guest_done() {
	wait_for 200 grep -q '^done' "$TMP/$1.out" || not_ok "guest $1" "$(cat "$TMP/$1.out")"
}

guest_run() {
	guest_go "$1"
	guest_done "$1"
}

# ---- what kvmtop says

# log_begin OPTION...: starts a CSV log; everything is being counted when it returns.
log_begin() {
	spawn kvmtop -l -c -s 0.1 --engine "$ENGINE" "$@" >"$TMP/log" 2>"$TMP/log.err"
	LOG=$SPAWNED
	wait_for 120 log_goes_on 1
	log_has 1 || not_ok "kvmtop -l $*" "$(cat "$TMP/log.err")"
}

log_has() {
	[ "$(grep -c -v '^timestamp' "$TMP/log")" -ge "$1" ]
}

# log_goes_on NR: the log has NR records, or kvmtop has ended.
log_goes_on() {
	log_has "$1" || t_ended "$LOG"
}

# log_more [N]: waits for N more records (2): the last one began after this call.
log_more() {
	wait_for 60 log_goes_on $(($(grep -c -v '^timestamp' "$TMP/log") + ${1:-2}))
}

# log_end: ends the log; $TMP/counted has lines of name and sum.
log_end() {
	log_more
	stop "$LOG"
	sums "$TMP/log" >"$TMP/counted"
}

sums() {
	awk -F, '
	/^timestamp/ { split($0, names); next }
	{ for (i = 2; i <= NF; i++) sum[i] += $i; if (NF > n) n = NF }
	END { for (i = 2; i <= n; i++) print names[i], sum[i] }' "$1"
}

# batch_begin OPTION...: starts kvmtop -1 and stops it after its first sample. batch_end lets it go
# on: its second has exactly what happened in between, however long that took.
batch_begin() {
	for b_try in 1 2 3 4 5; do
		spawn kvmtop -1 --engine "$ENGINE" "$@" >"$TMP/batch" 2>"$TMP/batch.err"
		BATCH=$SPAWNED
		wait_for 120 samples_or_ended "$BATCH"
		kill -STOP "$BATCH" 2>/dev/null
		[ -s "$TMP/batch" ] || return 0
		stop "$BATCH"
	done
	not_ok "kvmtop -1 $*" "cannot be stopped between its samples; try $b_try"
}

# samples_or_ended PID: kvmtop samples, or has failed.
samples_or_ended() {
	is_sampling "$1" || t_ended "$1"
}

# batch_end: $TMP/counted has lines of name and total.
batch_end() {
	kill -CONT "$BATCH" 2>/dev/null
	wait "$BATCH"
	BATCH_STATUS=$?
	awk '{ print $1, $2 }' "$TMP/batch" >"$TMP/counted"
}

# cell FILE COLUMN NAME=VALUE...: the column of the first row that has the values in others.
cell() {
	c_file=$1
	shift
	tr -d '"' <"$c_file" | awk -F, '
	BEGIN {
		column = ARGV[1]
		for (i = 2; i < ARGC; i++) {
			name = value = ARGV[i]
			sub(/=.*/, "", name)
			sub(/^[^=]*=/, "", value)
			wanted[name] = value
		}
		ARGC = 1
	}
	'"$CSV_AT"'
	{
		for (name in wanted) {
			if ($at(name) != wanted[name])
				next
		}
		print $at(column)
		exit
	}' "$@"
}

# wait_fds PID: waits until the number of its descriptors has not grown for a second: all is open.
wait_fds() {
	w_nr=0
	while w_last=$w_nr && w_nr=$(nr_of "/proc/$1/fd/"*) && [ "$w_nr" != "$w_last" ]; do
		sleep 1
	done
}

nr_of() {
	echo $#
}

# counted NAME
counted() {
	awk -v name="$1" '$1 == name { print $2; found = 1 } END { if (!found) print "none" }' \
		"$TMP/counted"
}

# counted_reasons EVENT: lines of reason and number, without reasons that never happened.
counted_reasons() {
	sed -n "s/^$1(\(.*\)) \([0-9]*\)\$/\1 \2/p" "$TMP/counted" | grep -v ' 0$' | sort
}

# on_screen NUMBER: the number with thousands marks, as the screen shows it.
on_screen() {
	echo "$1" | sed -e :a -e 's/\([0-9]\)\([0-9]\{3\}\)\(,\|$\)/\1,\2\3/;ta'
}

# in_column NAME: the name as the first column of the exits' views shows it, cut if too long.
in_column() {
	echo "$1" | cut -c1-19
}

counted_sum() {
	counted_reasons "$1" | awk '{ sum += $2 } END { print sum + 0 }'
}

# ---- the kernel, and what it says

load_modules() {
	[ ! -e /modules/order ] || while read -r m_name; do
		insmod "/modules/$m_name.ko" || echo "# insmod $m_name failed"
	done </modules/order
}

# What the kernel said while it booted is about the emulated machine.
SAID_AT_BOOT=$(dmesg | wc -l)

kernel_is_content() {
	is "$(dmesg | tail -n "+$((SAID_AT_BOOT + 1))" |
		grep -E '(BUG|WARNING|INFO|Oops|panic):|lockup' | head -n 5)" "" \
		"the kernel has nothing to complain about"
}

trace_clear() {
	echo >"$INSTANCE/trace"
}

# trace_of [PID]: the trace's lines of exits and entries, of this process' threads only.
trace_of() {
	t_tids='[0-9]+'
	[ $# = 0 ] || t_tids=$(cd "/proc/$1/task" && echo * | tr ' ' '|')
	grep -E -e "-($t_tids) +\[.* ($EXIT|$ENTRY): " "$INSTANCE/trace"
}

# For awk: reason_of(LINE), the reason of a trace line: the kernel's name, or kvmtop's where the
# kernel has none.
REASON_OF='
BEGIN {
	trap["0x0"] = "RETURN_TO_HOST"
	trap["0xa00"] = "DOORBELL"
	trap["0xe60"] = "HMI"
	trap["0xe80"] = "H_DOORBELL"
	trap["0xea0"] = "H_VIRT"
	trap["0xf80"] = "H_FAC_UNAVAIL"
	cause["0xa"] = "EXC_SUPERVISOR_SYSCALL"
	cause["0x14"] = "EXC_INST_GUEST_PAGE_FAULT"
	cause["0x16"] = "EXC_VIRTUAL_INST_FAULT"
	cause["0x17"] = "EXC_STORE_GUEST_PAGE_FAULT"
	cause["0x8000000000000001"] = "IRQ_S_SOFT"
	cause["0x8000000000000005"] = "IRQ_S_TIMER"
	cause["0x8000000000000009"] = "IRQ_S_EXT"
}
function reason_of(line) {
	if (line ~ / reason /) {
		sub(/.* reason /, "", line)
		sub(/ rip .*/, "", line)
	} else if (line ~ / TRAP: /) {
		sub(/.*\(/, "", line)
		sub(/\).*/, "", line)
	} else if (line ~ /, ceded=1/) {
		line = "H_CEDE"
	} else if (line ~ / trap=/) {
		sub(/.* trap=/, "", line)
		sub(/ pc=.*/, "", line)
		if (line in trap)
			line = trap[line]
	} else if (line ~ / SCAUSE:/) {
		sub(/.* SCAUSE:/, "", line)
		sub(/,.*/, "", line)
		line = cause[line]
	} else {
		sub(/.* kvm_exit: /, "", line)
		sub(/: .*/, "", line)
	}
	gsub(/ /, "_", line)
	return line
}'

# trace_reasons [PID]: lines of reason and number.
trace_reasons() {
	trace_of "$@" | awk -v exits=" $EXIT: " "$REASON_OF"'
	index($0, exits) { count[reason_of($0)]++ }
	END { for (name in count) print name, count[name] }' | sort
}

# exits_of [PID]: the number of exits in the trace.
exits_of() {
	trace_reasons "$@" | awk '{ n += $2 } END { print n }'
}

# debugfs_values [PID]: lines of name and value: the sum over the guests; of peaks, the highest.
debugfs_values() {
	for d_vm in "$DEBUGFS"/*-*/; do
		case $d_vm in
		*/"${1:+$1-}"*) (cd "$d_vm" && grep . -- * 2>/dev/null) ;;
		esac
	done | awk -F: '
	$1 ~ /_hist$/ { next }
	$1 ~ /^max_/ { if ($2 > value[$1]) value[$1] = $2; next }
	{ value[$1] += $2 }
	END { for (name in value) print name, value[name] }' | sort
}

debugfs_value() {
	debugfs_values ${2:+"$2"} | sed -n "s/^$1 //p"
}

# debugfs_differs BEFORE AFTER: prints the counters of $TMP/counted that are not the difference of
# the two files; of levels and peaks, not the value of AFTER.
debugfs_differs() {
	awk -v before="$1" -v after="$2" '
	BEGIN {
		while ((getline line <before) > 0) {
			split(line, word, " ")
			was[word[1]] = word[2]
		}
		while ((getline line <after) > 0) { split(line, word, " "); is[word[1]] = word[2] }
	}
	!($1 in is) { next }
	{ nr++ }
	/^(pages|max_|nx_|mmu_unsync|guest_mode|blocking|lpages|hugepages)/ { was[$1] = 0 }
	$2 != is[$1] - was[$1] { print $1 ": " $2 ", not " is[$1] - was[$1] }
	END { if (nr < 10) print nr + 0 " counters only" }' "$TMP/counted"
}
