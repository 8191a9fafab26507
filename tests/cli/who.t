#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop who: who has the CPU while vCPUs wait. What is charged is what the kernel counts as
# run_delay; guests, processes and the guest's own vCPUs are named; no program is there otherwise.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live
need_cmd python3 taskset

line_of() {
	"$KVMTOP" --list-providers | sed -n "/^$1/{n;p}"
}

line_of who | grep -q 'works here' || skip_all "who: $(line_of who)"

last_cpu=$(($(nproc) - 1))

# pinned NAME OPTION...: a guest on the last CPU.
pinned() {
	guest "$@"
	taskset -acp "$last_cpu" "$GUEST" >"$TMP/taskset"
}

# delays PID: "vCPU ns" by schedstat, for each thread of a vCPU.
delays() {
	for t_task in "/proc/$1/task"/*; do
		t_comm=$(cat "$t_task/comm")
		case $t_comm in
		vcpu*) echo "${t_comm#vcpu} $(cut -d ' ' -f 2 "$t_task/schedstat")" ;;
		esac
	done
}

# programs PID: how many of its programs are at events of the scheduler.
programs() {
	cat "/proc/$1/fdinfo"/* 2>/dev/null | grep -c 'tp_name:.*sched_'
}

is_attached() {
	[ "$(programs "$1")" = 3 ]
}

# begin_who SECONDS [OPTION...]: begins to measure; its result will be in $TMP/who.json.
begin_who() {
	t_seconds=$1
	shift
	spawn "$KVMTOP" who --json "$@" "$t_seconds" >"$TMP/who.json" 2>"$TMP/who.err"
	who=$SPAWNED
	wait_for 20 is_attached "$who"
	sleep 0.7 # a sample that has the threads
}

# A row for each: SHARE of the guest's waits, and the sum by run_delay, in thousandths.
cat >"$TMP/read.py" <<'PY'
import json, sys
what, file, name = sys.argv[1:4]
rows = [r for r in json.load(open(file))["rows"] if r["guest"] == name]
waits = [r for r in rows if r["kind"] == "waits"]
if what == "sum":
    def read(path):
        return {int(l.split()[0]): int(l.split()[1]) for l in open(path)}
    before, after = read(sys.argv[4]), read(sys.argv[5])
    for vcpu in sorted(after):
        grown = after[vcpu] - before[vcpu]
        charged = sum(r["time_ns"] for r in rows if r["vcpu"] == vcpu and r["kind"] != "waits")
        said = sum(r["time_ns"] for r in waits if r["vcpu"] == vcpu)
        off = max(abs(charged - grown), abs(said - grown)) / max(grown, 1)
        print("good" if off <= 0.01 else "vCPU %d: run_delay %d, charged %d, waits %d" %
              (vcpu, grown, charged, said))
elif what == "kinds":
    print(*sorted({"%s:%s:%s" % (r["kind"], r["owner"], r["thread"]) for r in rows}))
elif what == "ms":
    print(sum(r["time_ns"] for r in rows if r["kind"] == sys.argv[4] and
              (r["owner"], r["thread"]) == (sys.argv[5], sys.argv[6])) // 1000000)
elif what == "hist":
    print(all(sum(r["hist"]) == r["total"] and r["p50_ns"] <= r["p99_ns"] <= r["max_ns"] and
              r["preempted"] is not None for r in waits) and len(waits))
PY
read_who() {
	t_what=$1
	shift
	python3 "$TMP/read.py" "$t_what" "$TMP/who.json" "$@"
}

# ---- two guests on one CPU: each waits for the other

pinned who-one --cpuid 20000 --rounds 10
one=$GUEST
pinned who-two --cpuid 20000 --rounds 10
two=$GUEST
begin_who 12
delays "$one" >"$TMP/one.before"
delays "$two" >"$TMP/two.before"
go who-one
go who-two
check "two guests run on one CPU" wait_for 60 grep -q "done" "$TMP/who-one.out"
check "both to their end" wait_for 60 grep -q "done" "$TMP/who-two.out"
wait "$who"
is $? 0 "kvmtop who measures, and ends"
delays "$one" >"$TMP/one.after"
delays "$two" >"$TMP/two.after"
is "$(read_who sum who-one "$TMP/one.before" "$TMP/one.after")" good \
	"the sum of what had the CPU is what run_delay grew by, within 1 %"
is "$(read_who sum who-two "$TMP/two.before" "$TMP/two.after")" good "and of the other guest"
# What one guest waits for the other is what the other runs, while both run.
ran=$(read_who ms who-one guest who-two "vCPU 0")
check "one guest waits for the other ($ran ms)" test "$ran" -ge 20
ran=$(read_who ms who-two guest who-one "vCPU 0")
check "and the other for it ($ran ms)" test "$ran" -ge 20
unlike "$(read_who kinds who-one)" '(^| )own:' "neither of them for a vCPU of its own"
is "$(read_who hist who-one)" 1 "a wait is in the histogram, with p50, p99 and the longest"
stop "$one"
stop "$two"

# ---- two vCPUs of one guest, and a busy process

pinned who-own --vcpus 2 --cpuid 20000 --rounds 5
own=$GUEST
begin_who 8 -g who-own
delays "$own" >"$TMP/own.before"
spawn taskset -c "$last_cpu" timeout 5 sh -c 'while :; do :; done'
go who-own
check "a guest's vCPUs run on one CPU" wait_for 60 grep -q "done" "$TMP/who-own.out"
wait "$who"
delays "$own" >"$TMP/own.after"
is "$(read_who sum who-own "$TMP/own.before" "$TMP/own.after" | sort -u)" good \
	"the sums of both are right"
like "$(read_who kinds who-own)" 'own:who-own:vCPU 0.* own:who-own:vCPU 1' \
	"they wait for each other"
like "$(read_who kinds who-own)" 'process:sh:sh|process:timeout:sh' "and for a busy process"
stop "$own"

# ---- a vCPU that moves, and one that is stopped

guest who-moves --cpuid 20000 --rounds 10
moves=$GUEST
begin_who 8
delays "$moves" >"$TMP/moves.before"
go who-moves
for cpu in 0 "$last_cpu" 0 "$last_cpu" 0 "$last_cpu"; do
	taskset -acp "$cpu" "$moves" >"$TMP/taskset"
	sleep 0.1
	kill -STOP "$moves"
	sleep 0.1
	kill -CONT "$moves"
done
check "a guest moves, and is stopped" wait_for 60 grep -q "done" "$TMP/who-moves.out"
wait "$who"
delays "$moves" >"$TMP/moves.after"
is "$(read_who sum who-moves "$TMP/moves.before" "$TMP/moves.after")" good \
	"its sum is right: a vCPU that is stopped does not wait"
stop "$moves"

# ---- a quota

group=/sys/fs/cgroup/kvmtop-who-$$
if mkdir "$group" 2>/dev/null && [ -w "$group/cpu.max" ]; then
	guest who-quota --cpuid 20000 --rounds 4
	quota=$GUEST
	echo "10000 100000" >"$group/cpu.max"
	echo "$quota" >"$group/cgroup.procs"
	begin_who 10
	delays "$quota" >"$TMP/quota.before"
	go who-quota
	sleep 5
	echo max >"$group/cpu.max"
	check "a guest with a quota" wait_for 60 grep -q "done" "$TMP/who-quota.out"
	wait "$who"
	delays "$quota" >"$TMP/quota.after"
	is "$(read_who sum who-quota "$TMP/quota.before" "$TMP/quota.after")" good \
		"its sum is right"
	like "$(read_who kinds who-quota)" 'quota:' "and the quota is named"
	stop "$quota"
else
	skip "a guest with a quota" "no cgroup with cpu.max can be made"
fi
rmdir "$group" 2>/dev/null

# ---- only while it is asked for; in a history

pinned who-kept --cpuid 20000 --rounds 0
kept=$GUEST
go who-kept
spawn taskset -c "$last_cpu" timeout 20 sh -c 'while :; do :; done'
spawn "$KVMTOP" -w "$TMP/none.db" -s 0.3 2>"$TMP/err"
wait_for 20 is_sampling "$SPAWNED"
is "$(programs "$SPAWNED")" 0 "no program is at the scheduler's events in other views"
stop "$SPAWNED" INT
spawn "$KVMTOP" -w "$TMP/h.db" -l --view who -s 0.3 >"$TMP/log" 2>"$TMP/err"
writer=$SPAWNED
wait_for 20 grep -q who-kept "$TMP/log"
is "$(programs "$writer")" 3 "three are while the view is shown"
sleep 1
stop "$writer" INT
like "$(cat "$TMP/log")" "who-kept vCPU 0 +waits" "a log has the view"
"$KVMTOP" -r "$TMP/h.db" -1 --json --view who >"$TMP/who.json" 2>"$TMP/err"
like "$(read_who kinds who-kept)" 'process:(sh|timeout):sh.* waits:' "and so has a history"
"$KVMTOP" who -g who-kept 1 >"$TMP/table" 2>"$TMP/err"
like "$(sed -n 2,3p "$TMP/table")" '^who-kept vCPU 0 +waits.*
  [a-z]' "as text, what had the CPU is below the vCPU"
"$KVMTOP" who -g who-kept --csv 1 2>"$TMP/err" | head -n 1 >"$TMP/csv"
like "$(cat "$TMP/csv")" '^.?ran.?,.?kind.?,.?owner.?,.?thread.?,.?guest' "and as CSV"
stop "$kept"

done_testing
