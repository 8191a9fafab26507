#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop who: who has the CPU while vCPUs wait. What is charged is what the kernel counts as
# run_delay; guests, processes and the guest's own vCPUs are named; no program is there otherwise.
# A guest is measured from before it begins until it is stopped, however long that takes.
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

# busy: a process on the last CPU that runs for a minute at most; its pid is in $BUSY.
busy() {
	spawn taskset -c "$last_cpu" sh -c 'ulimit -t 60; while :; do :; done'
	BUSY=$SPAWNED
}

# busy_ns: what it ran.
busy_ns() {
	cut -d ' ' -f 1 "/proc/$BUSY/schedstat"
}

has_run_busy() {
	[ "$(busy_ns)" -ge $(($1 * 1000000)) ]
}

# threads PID: "vCPU ran_ns waited_ns" by schedstat, for each thread of a vCPU.
threads() {
	for t_task in "/proc/$1/task"/*; do
		t_comm=$(cat "$t_task/comm")
		case $t_comm in
		vcpu*) echo "${t_comm#vcpu} $(cut -d ' ' -f 1,2 "$t_task/schedstat")" ;;
		esac
	done
}

# has_waited PID MS, has_run PID MS: each of its vCPUs has.
has_waited() {
	[ "$(threads "$1" | awk -v ms="$2" '$3 < ms * 1e6' | wc -l)" = 0 ]
}

has_run() {
	[ "$(threads "$1" | awk -v ms="$2" '$2 < ms * 1e6' | wc -l)" = 0 ]
}

# is_stopped PID: all of its threads are.
is_stopped() {
	for t_task in "/proc/$1/task"/*; do
		grep -q '^State:.*T' "$t_task/status" || return 1
	done
}

# freeze PID: it does not run and does not wait from now on.
freeze() {
	kill -STOP "$1"
	wait_for 30 is_stopped "$1"
}

# programs PID: how many of its programs are at events of the scheduler.
programs() {
	cat "/proc/$1/fdinfo"/* 2>/dev/null | grep -c 'tp_name:.*sched_'
}

# begin_who [OPTION...]: begins to measure, until end_who. Its first sample has the guests' threads.
begin_who() {
	spawn "$KVMTOP" who --json "$@" 200 >"$TMP/who.json" 2>"$TMP/who.err"
	who=$SPAWNED
	wait_for 30 is_sampling "$who"
}

# end_who: its result is in $TMP/who.json.
end_who() {
	stop "$who"
	is "$?$(cat "$TMP/who.err")" 0 "$1"
}

# begin_log [OPTION...]: the same with a log, a record for each sample.
begin_log() {
	spawn "$KVMTOP" -l --json --view who -s 0.3 "$@" >"$TMP/who.json" 2>"$TMP/who.err"
	LOG=$SPAWNED
	wait_for 30 has_records 1
}

nr_records() {
	grep -c . "$TMP/who.json"
}

has_records() {
	[ "$(nr_records)" -ge "$1" ]
}

# more_records: the last of them has begun after this call.
more_records() {
	wait_for 30 has_records $(($(nr_records) + 2))
}

# log_has NAME TEXT: a row of the guest.
log_has() {
	sed 's/{"ran"/\n&/g' "$TMP/who.json" | grep "\"guest\":\"$1\"" | grep -q "$2"
}

# has_kernel_thread: the log has one; it moves a busy process that runs to another CPU.
has_kernel_thread() {
	taskset -cp "$last_cpu" "$BUSY" >"$TMP/taskset"
	taskset -cp 0 "$BUSY" >"$TMP/taskset"
	log_has who-ends '"kind":"kernel","owner":null,"thread":"[a-z]'
}

cat >"$TMP/read.py" <<'PY'
import json, sys
what, file, name = sys.argv[1:4]
lines = [[r for r in json.loads(line)["rows"] if r["guest"] == name] for line in open(file)]
rows = [r for line in lines for r in line]
waits = [r for r in rows if r["kind"] == "waits"]
if what == "sum": # against run_delay before and after
    def read(path):
        return {int(l.split()[0]): int(l.split()[2]) for l in open(path)}
    before, after = read(sys.argv[4]), read(sys.argv[5])
    for vcpu in sorted(after):
        grown = after[vcpu] - before[vcpu]
        charged = sum(r["time_ns"] for r in rows if r["vcpu"] == vcpu and r["kind"] != "waits")
        said = sum(r["time_ns"] for r in waits if r["vcpu"] == vcpu)
        said_apart = [(r["time_ns"] or 0) - sum(o["time_ns"] or 0 for o in line
                      if o["vcpu"] == vcpu and o["kind"] != "waits")
                      for line in lines for r in line
                      if r["vcpu"] == vcpu and r["kind"] == "waits"]
        said_apart = [ns for ns in said_apart if not 0 <= ns <= grown / 1000]
        off = max(abs(charged - grown), abs(said - grown)) / max(grown, 1)
        print("good" if grown > 1e7 and off <= 0.01 and not any(said_apart) else
              "vCPU %d: run_delay %d, charged %d, waits %d, rows are apart by %s" %
              (vcpu, grown, charged, said, said_apart))
elif what == "kinds":
    print(*sorted({"%s:%s:%s" % (r["kind"], r["owner"], r["thread"]) for r in rows}))
elif what == "ns":
    print(sum(r["time_ns"] or 0 for r in rows if r["kind"] == sys.argv[4] and
              sys.argv[5] in ("", r["owner"])))
elif what == "hist":
    print(all(sum(r["hist"]) == r["total"] and r["p50_ns"] <= r["p99_ns"] <= r["max_ns"] and
              r["preempted_rate"] is not None for r in waits) and len(waits))
PY
read_who() {
	t_what=$1
	shift
	python3 "$TMP/read.py" "$t_what" "$TMP/who.json" "$@"
}

# is_least NS LEAST NAME: within 1 %. Most is no bound: the time that a hypervisor below this host
# takes is waited for, and no thread has run.
is_least() {
	is "$(awk -v ns="$1" -v least="$2" 'BEGIN {
		is_good = least > 0 && ns >= least * 0.99
		print is_good ? "good" : ns " for " least
	}')" good "$3"
}

# ran_ns PID: what its only vCPU ran.
ran_ns() {
	threads "$1" | cut -d ' ' -f 2
}

# charged NAME KIND OWNER: ns that the guest waited for this, or for interrupts, which take from it.
charged() {
	echo $(($(read_who ns "$1" "$2" "$3") + $(read_who ns "$1" irq "") +
		$(read_who ns "$1" softirq "")))
}

# ---- two guests on one CPU: each waits for the other

pinned who-one --cpuid 20000 --rounds 0
one=$GUEST
pinned who-two --cpuid 20000 --rounds 0
two=$GUEST
begin_who
threads "$one" >"$TMP/one.before"
threads "$two" >"$TMP/two.before"
go who-one
check "a guest runs" wait_for 60 has_run "$one" 20
two_from=$(ran_ns "$two")
go who-two
check "and another one, which waits for it" wait_for 60 has_waited "$two" 20
one_from=$(ran_ns "$one")
check "they share a CPU" wait_for 60 has_run "$two" 300
one_to=$(ran_ns "$one")
freeze "$two"
freeze "$one"
threads "$one" >"$TMP/one.after"
threads "$two" >"$TMP/two.after"
end_who "what they wait for is measured"
is "$(read_who sum who-one "$TMP/one.before" "$TMP/one.after")" good \
	"the sum of what had the CPU is what run_delay grew by, within 1 %"
is "$(read_who sum who-two "$TMP/two.before" "$TMP/two.after")" good "and of the other guest"
is_least "$(charged who-one guest who-two)" $(($(ran_ns "$two") - two_from)) \
	"one guest waits for the other as long as this runs"
is_least "$(charged who-two guest who-one)" $((one_to - one_from)) "and the other for it"
unlike "$(read_who kinds who-one)" '(^| )own:' "neither of them for a vCPU of its own"
is "$(read_who hist who-one)" 1 "a wait is in the histogram, with p50, p99 and the longest"
stop "$one" KILL
stop "$two" KILL

# ---- two vCPUs of one guest, and a busy process

pinned who-own --vcpus 2 --cpuid 20000 --rounds 0
own=$GUEST
begin_who -g who-own
threads "$own" >"$TMP/own.before"
go who-own
check "a guest's vCPUs run on one CPU" wait_for 60 has_waited "$own" 100
busy
check "beside a busy process" wait_for 60 has_run_busy 20
busy_from=$(busy_ns)
wait_for 60 has_run_busy 200
busy_to=$(busy_ns)
freeze "$own"
threads "$own" >"$TMP/own.after"
end_who "their waits are measured"
is "$(read_who sum who-own "$TMP/own.before" "$TMP/own.after" | sort -u)" good \
	"the sums of both are right"
like "$(read_who kinds who-own)" 'own:who-own:vCPU 0.* own:who-own:vCPU 1' \
	"they wait for each other"
like "$(read_who kinds who-own)" 'process:sh:sh' "and for the process"
is_least "$(charged who-own process sh)" $((2 * (busy_to - busy_from))) "both as long as it runs"
stop "$own" KILL
stop "$BUSY"

# ---- a thread of the kernel; vCPUs that end

pinned who-ends --vcpus 2 --cpuid 20000 --rounds 0
ends=$GUEST
begin_log -g who-ends
threads "$ends" >"$TMP/ends.before"
go who-ends
busy
check "a thread of the kernel is named" wait_for 60 has_kernel_thread
stop "$BUSY"
wait_for 60 has_waited "$ends" 100
freeze "$ends"
threads "$ends" >"$TMP/ends.after"
more_records
stop "$ends" KILL
more_records
stop "$LOG"
is "$(read_who sum who-ends "$TMP/ends.before" "$TMP/ends.after" | sort -u)" good \
	"what vCPUs waited that have ended is kept"

# ---- guests that begin while it measures

pinned who-first --rounds 0
busy
begin_who
new=
for n in 1 2 3 4; do
	spawn taskset -c "$last_cpu" "$HELPERS/miniguest" --name "who-new$n" --cpuid 20000 \
		--rounds 0 >"$TMP/new"
	wait_for 60 grep -q ready "$TMP/new"
	wait_for 60 has_waited "$SPAWNED" 1000
	freeze "$SPAWNED"
	threads "$SPAWNED" >"$TMP/new$n"
	new="$new $SPAWNED"
done
end_who "guests that begin"
stop "$BUSY"
for pid in $new; do
	stop "$pid" KILL
done
soon=0
for n in 1 2 3 4; do
	lost=$(($(cut -d ' ' -f 3 "$TMP/new$n") - $(read_who ns "who-new$n" waits "")))
	[ "$lost" -ge 100000000 ] || soon=$((soon + 1))
done
check "they are measured from soon after their begin, unless the host is too busy" [ "$soon" -ge 3 ]
stop "$GUEST" KILL

# ---- a guest that is started again: a name means whoever bears it

busy
pinned who-back --cpuid 20000 --rounds 0
lives=$GUEST
begin_who -g who-back
go who-back
wait_for 60 has_waited "$GUEST" 1000 # of its last interval nothing is known
stop "$GUEST" KILL
rm "$TMP/who-back.in"
pinned who-back --cpuid 20000 --rounds 0
lives="$lives $GUEST"
go who-back
wait_for 60 has_waited "$GUEST" 1000 # it is measured from the sample on that finds it
stop "$who"
is "$(cat "$TMP/who.err")" "kvmtop: who-back is back as pid $GUEST" "a guest is back"
for pid in $lives; do
	like "$(sed 's/{"ran"/\n&/g' "$TMP/who.json" | grep '"kind":"process","owner":"sh"')" \
		"\"guest\":\"who-back\",.*\"pid\":${pid}[,}]" "the waits of process $pid are there"
done
stop "$GUEST" KILL
stop "$BUSY"

# ---- a vCPU that moves, and one that is stopped

guest who-moves --cpuid 20000 --rounds 0
moves=$GUEST
begin_who
threads "$moves" >"$TMP/moves.before"
busy
go who-moves
for cpu in 0 "$last_cpu" 0 "$last_cpu"; do
	taskset -acp "$cpu" "$moves" >"$TMP/taskset"
	wait_for 60 has_run "$moves" $(($(ran_ns "$moves") / 1000000 + 30))
	freeze "$moves"
	stopped=$(threads "$moves")
	sleep 0.1
	is "$(threads "$moves")" "$stopped" "on CPU $cpu it does not wait while it is stopped"
	kill -CONT "$moves"
done
wait_for 60 has_waited "$moves" 50
freeze "$moves"
threads "$moves" >"$TMP/moves.after"
end_who "a guest moves, and is stopped"
is "$(read_who sum who-moves "$TMP/moves.before" "$TMP/moves.after")" good "its sum is right"
stop "$moves" KILL
stop "$BUSY"

# ---- a quota

# quota_begin PID: a tenth of a CPU, by cgroup v2 or v1. Fails where there are no quotas.
quota_begin() {
	for group in /sys/fs/cgroup/kvmtop-who-$$ /sys/fs/cgroup/cpu/kvmtop-who-$$; do
		mkdir "$group" 2>/dev/null || continue
		if [ -w "$group/cpu.max" ]; then
			echo "10000 100000" >"$group/cpu.max"
		elif [ -w "$group/cpu.cfs_quota_us" ]; then
			echo 10000 >"$group/cpu.cfs_quota_us"
		else
			rmdir "$group"
			continue
		fi
		echo "$1" >"$group/cgroup.procs"
		return
	done
	return 1
}

throttled_ns() {
	sed -n 's/^throttled_usec \(.*\)/\1000/p; s/^throttled_time //p' "$group/cpu.stat"
}

has_throttled() {
	[ "$(throttled_ns)" -ge $(($1 * 1000000)) ]
}

pinned who-quota --cpuid 20000 --rounds 0
quota=$GUEST
if quota_begin "$quota"; then
	begin_who
	threads "$quota" >"$TMP/quota.before"
	go who-quota
	check "a quota throttles" wait_for 60 has_throttled 500
	freeze "$quota"
	threads "$quota" >"$TMP/quota.after"
	throttled=$(throttled_ns)
	end_who "a guest with a quota"
	is "$(read_who sum who-quota "$TMP/quota.before" "$TMP/quota.after")" good \
		"its sum is right"
	is_least "$(read_who ns who-quota quota "")" "$throttled" "and the quota is named"
	stop "$quota" KILL
	wait_for 20 rmdir "$group"
else
	skip "a guest with a quota" "no cgroup with a quota can be made"
	stop "$quota"
fi

# ---- a screen with findings measures while one of them says that vCPUs wait

has_programs() {
	[ "$(programs "$(screen_pid)")" = "$1" ]
}

SCRIPT_CLOCK=real
export SCRIPT_CLOCK
pinned who-why --vcpus 2 --cpuid 20000 --rounds 0
why=$GUEST
script_start 250 30 --view why -s 0.3 -g who-why
screen_has 'Nothing found' "no finding, no evidence" 30
is "$(programs "$(screen_pid)")" 0 "and no program is there"
go who-why
check "they come with the finding" wait_for 60 has_programs 3
screen_has 'who had the CPU: ' "and the evidence with them" 60
cp /bin/sh "$TMP/hog"
spawn taskset -c "$last_cpu" nice -n -15 "$TMP/hog" -c 'ulimit -t 60; while :; do :; done'
screen_has " hog \\($SPAWNED\\) \\(" "a process is named with its pid" 60
stop "$SPAWNED"
freeze "$why"
check "they go with the finding" wait_for 60 has_programs 0
screen_keys q
screen_stop
stop "$why" KILL

# ---- a VMM's thread, by its number

# names_thread: the evidence does; it has four of what had the CPU, and the host may be busy.
names_thread() {
	"$KVMTOP" why -g who-lock 1 >"$TMP/out" 2>"$TMP/err"
	thread=$(sed -n 's/.*miniguest of who-lock (thread \([0-9]*\)) .*/\1/p' "$TMP/out")
	[ "$(cat "/proc/$GUEST/task/${thread:-none}/comm" 2>/dev/null)" = miniguest ]
}

pinned who-lock --cpuid 20000 --pio 1 --lock --answer 1 --rounds 0
go who-lock
busy
check "a thread of a VMM is named with its number" wait_for 60 names_thread
stop "$BUSY"
stop "$GUEST"

# ---- only while it is asked for; in a history

pinned who-kept --cpuid 20000 --rounds 0
kept=$GUEST
go who-kept
busy
spawn "$KVMTOP" -w "$TMP/none.db" -s 0.3 2>"$TMP/err"
wait_for 20 is_sampling "$SPAWNED"
is "$(programs "$SPAWNED")" 0 "no program is at the scheduler's events in other views"
stop "$SPAWNED" INT
"$KVMTOP" -r "$TMP/none.db" -1 --view who >"$TMP/out" 2>&1
like "$(cat "$TMP/out")" 'Waits were not measured: kvmtop -w FILE --keep who keeps them' \
	"and a history of them does not say that nothing waited"
has_waits() {
	"$KVMTOP" -r "$TMP/kept.db" -l --json --view who 2>/dev/null |
		grep -q 'who-kept.*"owner":"sh"'
}
spawn "$KVMTOP" -w "$TMP/kept.db" --keep who -s 0.3 2>"$TMP/err"
check "with --keep who a history has them" wait_for 60 has_waits
is "$(programs "$SPAWNED")" 3 "by three programs"
stop "$SPAWNED" INT
begin_log -w "$TMP/h.db"
check "a log has the view" wait_for 60 log_has who-kept '"kind":"process","owner":"sh"'
is "$(programs "$LOG")" 3 "three are while the view is shown"
more_records
stop "$LOG" INT
"$KVMTOP" -r "$TMP/h.db" -l --json --view who >"$TMP/who.json" 2>"$TMP/err"
like "$(read_who kinds who-kept)" 'process:sh:sh.* waits:' "and so has a history"
# A second of a machine that is stopped meanwhile may have no wait.
has_table() {
	"$KVMTOP" who -g who-kept 1 2>&1 | tee "$TMP/table" | grep -q '^who-kept vCPU 0 '
}
has_metrics() {
	"$KVMTOP" export --metrics waits --prometheus - -s 1 -n 2 2>&1 | tee "$TMP/prom" |
		grep -q '^kvmtop_wait_seconds_total{guest="who-kept",kind="[a-z]*"} 0*[1-9.]'
}
wait_for 10 has_table
like "$(sed -n 2p "$TMP/table")" '^who-kept vCPU 0 +waits' "as text, a vCPU is a row"
like "$(sed -n 3p "$TMP/table")" '^  [a-z]' "and what had the CPU is below it"
"$KVMTOP" who -g who-kept --csv 1 2>"$TMP/err" | head -n 1 >"$TMP/csv"
like "$(cat "$TMP/csv")" '^.?ran.?,.?kind.?,.?owner.?,.?thread.?,.?guest' "and as CSV"
pinned who-other --cpuid 20000 --rounds 0
go who-other
script_start 80 24 --view who -g who-kept -s 0.5
screen_has ' who-other vCPU 0 ' "and on the screen, with the guest that had the CPU"
screen_stop
stop "$GUEST"
check "metrics have the kinds" wait_for 10 has_metrics
stop "$BUSY"
stop "$kept"

# ---- more names than there is room for

cat >"$TMP/names.py" <<'PY'
import ctypes, time
libc = ctypes.CDLL(None)
for i in range(12000):
    libc.prctl(15, b"name%d" % i) # PR_SET_NAME
    time.sleep(0.0002)
PY
pinned who-names --vcpus 2 --cpuid 20000 --rounds 0
names=$GUEST
begin_who -g who-names
threads "$names" >"$TMP/names.before"
go who-names
wait_for 60 has_waited "$names" 20
taskset -c "$last_cpu" timeout 60 python3 "$TMP/names.py"
freeze "$names"
threads "$names" >"$TMP/names.after"
end_who "24,000 pairs, of names that change, are measured"
is "$(read_who sum who-names "$TMP/names.before" "$TMP/names.after" | sort -u)" good \
	"the sums of both vCPUs are right"
stop "$names" KILL

# ---- interrupts: tests/hosts/suite_host.sh has guests that get them

"$KVMTOP" who --interrupts --csv 1 >"$TMP/csv" 2>"$TMP/err"
if [ "$?$(grep -c 'refuses our programs for interrupts' "$TMP/err")" = 11 ]; then
	unlike "$(cat "$TMP/err")" 'Operation not permitted$' "why the kernel forbids them is said"
	skip "interrupts" "$(cat "$TMP/err")"
else
	like "$(head -n 1 "$TMP/csv")" 'vector.*waking_percent.*waiting_percent.*entering_percent' \
		"interrupts have three parts"
fi
"$KVMTOP" -r "$TMP/none.db" -1 --view interrupts >"$TMP/out" 2>&1
like "$(cat "$TMP/out")" 'not measured: kvmtop -w FILE --keep interrupts keeps them' \
	"a history without interrupts says how to keep them"

done_testing
