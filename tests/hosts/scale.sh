# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2317 # check and wait_for call functions
#
# scale.sh - prints what kvmtop costs with 2 CPUs and with all CPUs, and tests that it counts on the
# last one.
#
# Runs inside an emulated host (see lib.sh beside it) in place of suite.sh; 2 CPUs are online.
. tests/lib.sh
. tests/hosts/inside.sh

CPUS=/sys/devices/system/cpu

uptime_ms() {
	cut -d' ' -f1 /proc/uptime | tr -d . | sed 's/$/0/'
}

# cpu_ns PID: the CPU time of all its threads.
cpu_ns() {
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

online_all() {
	for o_cpu in "$CPUS"/cpu[0-9]*/online; do
		[ "$(cat "$o_cpu")" = 1 ] || echo 1 >"$o_cpu"
	done
	[ "$(nproc)" = "$(nr_of "$CPUS"/cpu[0-9]*)" ]
}

# measure NAME OPTION...: a line of figures.
measure() {
	m_name=$1
	shift
	m_begun=$(uptime_ms)
	spawn kvmtop -l -c -s 0.5 "$@" >"$TMP/log" 2>"$TMP/log.err"
	LOG=$SPAWNED
	wait_for 200 log_has 1
	m_ready=$(($(uptime_ms) - m_begun - 500))
	wait_fds "$LOG"
	log_more
	m_fds=$(nr_of "/proc/$LOG/fd/"*)
	m_memory=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) .*/\1/p' "/proc/$LOG/status")
	m_cpu=$(cpu_ns "$LOG")
	m_records=$(grep -c . "$TMP/log")
	sleep 10
	m_cpu=$(($(cpu_ns "$LOG") - m_cpu))
	m_records=$(($(grep -c . "$TMP/log") - m_records))
	m_begun=$(uptime_ms)
	kill "$LOG"
	wait "$LOG"
	diag "$(printf '%-34s %4d %10d %10d %10d %10d %8d' "$m_name" "$(nproc)" "$m_ready" \
		$((m_cpu / m_records / 1000)) "$m_fds" "$m_memory" \
		$(($(uptime_ms) - m_begun)))"
	is "$(cat "$TMP/log.err")" "" "$m_name, $(nproc) CPUs: nothing to complain about"
	wait_for 200 no_kvmtop
}

no_kvmtop() {
	! pidof kvmtop >/dev/null
}

measure_all() {
	for engine in bpf perf; do
		measure "$engine, all events" --engine $engine -f '^kvm_[a-z_0-9]*$'
		measure "$engine, and kvm_exit's reasons" --engine $engine -f '^kvm_'
	done
}

# counts_on CPU: a guest on this CPU is counted exactly.
counts_on() {
	for ENGINE in bpf perf; do
		guest there --pio 120 --cpuid 30 --rounds 2
		taskset -a -p "$(printf %x $((1 << $1)))" "$GUEST" >/dev/null
		log_begin -f '^kvm_exit'
		guest_run there
		log_end
		stop "$GUEST"
		is "$(counted "kvm_exit($PIO)") $(counted "kvm_exit($CPUID)")" "240 60" \
			"$ENGINE counts on CPU $1"
	done
}

load_modules
diag "$(uname -mr)"
diag "$(printf '%-34s %4s %10s %10s %10s %10s %8s' "" CPUs "start, ms" "refresh, us" descriptors \
	"memory, kB" "end, ms")"
measure_all
check "all CPUs come online" online_all
diag "$(cut -d. -f1 /proc/uptime) s: $(nproc) CPUs"
measure_all
counts_on $(($(nproc) - 1))
kernel_is_content
done_testing
