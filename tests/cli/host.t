#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Host view of this machine: CPUs that vCPUs share, what a quota takes, what else a VMM runs.
# That halves are halves is shown on an emulated host, which nothing else disturbs
# (tests/hosts/suite_host.sh).
# shellcheck disable=SC2317 # wait_for and check call functions
. tests/lib.sh
need_live
need_cmd taskset

# value VIEW COLUMN FIRST: of the rows whose first column is FIRST, a line each, in $TMP/VIEW.
value() {
	awk -F, -v column="$2" -v first="$3" "$CSV_AT"'
	$2 == first { print $at(column) }' "$TMP/$1"
}

# says VIEW OPTION...: a line for each row of an interval of two seconds.
says() {
	s_view=$1
	shift
	"$KVMTOP" -l -c -n 1 -s 2 --view "$s_view" "$@" >"$TMP/$s_view" 2>"$TMP/err"
	is "$(cat "$TMP/err")" "" "$s_view: nothing to complain about"
}

# lacks PATTERN: no line of the picture has it.
lacks() {
	! screen_shot | grep -qE "$1"
}

# Another run of this test has guests of its own. A name of more than nine letters may be cut.
busy=b-$$
here=h-$$
there=t-$$
held=held-$$

# ---- two busy vCPUs on one CPU

cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
guest "$busy" --cpuid 1000 --vcpus 2 --rounds 0
wait_for 20 grep -q ready "$TMP/$busy.out"
taskset -acp "$cpu" "$GUEST" >/dev/null
go "$busy"
sleep 0.3
says vcpus -g "$busy"
is "$(value vcpus affinity "$busy" | grep . | sort -u)" 1 "each may run on one CPU"
is "$(value vcpus cpu "$busy" | grep . | sort -u)" "$cpu" "which is this one"
like "$(value vcpus migration_rate "$busy")" '^0\.000
0\.000$' "they stay there"
says host -g "$busy"
is "$(value host vcpus "$cpu")" 2 "both are on it"
# Others may want it, too: then each waits longer, but wants it all the time.
check "and want it twice over: $(value host want_percent "$cpu")" \
	awk "BEGIN { exit !($(value host want_percent "$cpu") > 130) }"
check "more than a third of which they wait: $(value host wait_percent "$cpu")" \
	awk "BEGIN { exit !($(value host wait_percent "$cpu") > 33) }"
like "$(value vcpus thread "$busy")" '^miniguest$' "its main thread is no vCPU"
stop "$GUEST"

# ---- two moments of one CPU

other=$(awk -v cpu="$cpu" '/^processor/ && $3 != cpu { print $3; exit }' /proc/cpuinfo)
if [ "$other" ] && command -v tmux >/dev/null; then
	guests=
	for pair in "$here:$cpu" "$there:$other"; do
		guest "${pair%:*}" --pio 100 --pause 1000 --rounds 0
		taskset -acp "${pair#*:}" "$GUEST" >/dev/null
		go "${pair%:*}"
		guests="$guests $GUEST"
	done
	# The vCPUs of other guests may be on these CPUs, too.
	screen_start 100 60 "exec $KVMTOP -s 0.5 --view host -k cpu"
	screen_wait "^ +$cpu +[0-9-]" # the first frame has no rows
	screen_keys End # the lowest number
	for _ in $(seq "$cpu"); do
		screen_keys Up
	done
	screen_keys Enter
	screen_has "^ $here +0 .* [0-9.]+ +IO " "the vCPUs of a CPU"
	check "and no others" lacks "^ $there "
	screen_keys d
	screen_wait '^Marked: d at another moment'
	sleep 1 # two samples
	screen_keys End d
	screen_has '^ Guest +vCPU +Count/s 1' "d: two moments"
	screen_has "^ $here +0 " "of the CPU's vCPUs"
	check "and of no others" lacks "^ $there "
	screen_keys x q
	is "$(screen_status)" 0 "q"
	for pid in $guests; do
		stop "$pid"
	done
else
	skip "d: two moments of one CPU" "this machine has one CPU, or no tmux"
fi

# ---- a quota

v2=/sys/fs/cgroup/kvmtop-test.$$
v1=/sys/fs/cgroup/cpu/kvmtop-test.$$
if mkdir "$v2" 2>/dev/null && [ -w "$v2/cpu.max" ]; then
	cgroup=$v2
	echo "5000 100000" >"$v2/cpu.max"
elif mkdir "$v1" 2>/dev/null && [ -w "$v1/cpu.cfs_quota_us" ]; then
	cgroup=$v1
	echo 100000 >"$v1/cpu.cfs_period_us"
	echo 5000 >"$v1/cpu.cfs_quota_us"
else
	cgroup=
fi

leave_cgroup() {
	rmdir "$cgroup" 2>/dev/null
}

throttled_ms() {
	awk '$1 == "throttled_usec" { print int($2 / 1000) }
	$1 == "throttled_time" { print int($2 / 1000000) }' "$cgroup/cpu.stat"
}

log_has() {
	[ "$(wc -l <"$TMP/vcpus")" -ge "$1" ]
}

if [ "$cgroup" ]; then
	guest "$held" --cpuid 1000 --rounds 0
	wait_for 20 grep -q ready "$TMP/$held.out"
	echo "$GUEST" >"$cgroup/cgroup.procs"
	go "$held"
	spawn "$KVMTOP" -l -c -s 1 --view vcpus >"$TMP/vcpus"
	log=$SPAWNED
	wait_for 30 log_has 2
	before=$(throttled_ms)
	first=$(value vcpus throttled_percent "$held" | wc -l)
	wait_for 30 log_has $(($(wc -l <"$TMP/vcpus") + 4))
	after=$(throttled_ms)
	stop "$log" INT
	# The shell looks a little later than kvmtop does.
	value vcpus throttled_percent "$held" | sed "1,${first}d" | head -n 4 >"$TMP/throttled"
	told=$(awk '{ sum += $1 * 10 } END { print int(sum) }' "$TMP/throttled")
	diag "the kernel: $((after - before)) ms, kvmtop: $told ms"
	check "what a quota takes is what the kernel says" \
		awk -v kernel=$((after - before)) -v told="$told" \
		'BEGIN { exit !(told < 1.3 * kernel + 1000 && told > 0.7 * kernel - 1000) }'
	stop "$GUEST"
	wait_for 10 leave_cgroup
else
	skip "what a quota takes is what the kernel says" "no cgroup with quotas can be made here"
fi
rmdir "$v2" "$v1" 2>/dev/null
done_testing
