#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Ten tasks of daily work: what is typed, with how many keys, and what the screen says at each step.
. tests/lib.sh

amd=tests/sysroot/amd
history=tests/data/history/version-2.db
perf=tests/data/trace/svm-perf.data

# task NAME OPTION...: begins one; what counts are keys after the command.
task() {
	name=$1
	keys=0
	shift
	script_start 80 24 "$@"
}

# step KEYS REGEX WHAT: the keys, and what the screen says then.
step() {
	for key in $1; do
		keys=$((keys + 1))
		screen_keys "$key"
	done
	screen_has "$2" "$name, $keys keys: $3"
}

# ---- 1: which guest is it?

task "the noisy guest" --sysroot $amd -s 25
screen_wait '^ Guest Name .*Cost%'
step '' '^ web1 +1 +1408 +12\.2 ' "the first row is what costs most"
step '' 'hottest db1: io ' "and what is hottest"

# ---- 2: why is it slow?

task "why is it slow" -r "$perf"
screen_wait 'Count/s'
step w '^ Nothing found in this interval' "one key: the findings, or that there are none"
step '' '^ This recording cannot show: ' "and what it does not know"
step 4 '\[4 Exits\]' "and the exits"

# ---- 3: a log of a week

"$AT_ONCE" --sysroot $amd -w "$TMP/week.db" -s 10 -n 8 -L "$TMP/week.csv" -c --view guests \
	>"$TMP/out" 2>&1
is "$(grep -c ',web1,' "$TMP/week.csv")" 8 "a week's log: a line for each guest and interval"

# ---- 4: before and after

task "before and after" -r $history --view exits
screen_wait 'PAUSED|Exit reason'
step d '^Marked: d at another moment' "the first moment"
step 't d' '^ Exit reason .*Change%' "what changed since the other one"

# ---- 5: Prometheus

"$AT_ONCE" export --sysroot $amd --prometheus "$TMP/kvm.prom" -n 2 -s 0.1 >"$TMP/out" 2>&1
like "$(cat "$TMP/kvm.prom")" '^kvmtop_.*exits.*web1' "Prometheus: its exits"

# ---- 6: yesterday at three

task "yesterday 03:05" -r $history --view exits --at "2026-11-27 03:05:05"
step '' '^ io ' "the exits of that moment"
step 2 '^ db1 ' "by guest"
step t 'PAUSED|03:05' "a step back"

# What the service keeps besides: the port, the neighbour, the long exit.
night=$TMP/night.db
"$HELPERS/made_night" "$night" 3 hwl || not_ok "made_night"
task "yesterday 03:01" -r "$night" --at "2026-11-21 03:01:05"
step '' '^ *db1: vCPUs wait for a CPU' "what was worst"
step '' 'web1 vCPU 0 \(100 %\)' "and whose work that was"
step 7 'web1 vCPU 0 +guest +30\.0 ' "one key: the neighbour that had the CPU"
step 5 '^ io +0x1f0 read 2 IDE1 ' "one key: the port"
step l '^ 03:01:05\.123000 +87\.3ms io +0x1f0 read' "one key: the long exit, with its port"
step w 'web1 vCPU 0 \(100 %\)' "one key: the findings name the neighbour"
step 'Down Down' 'most: io 0x1f0 read 2' "and the port"
step '' 'longest: io 0x1f0 read 2 IDE1, 87\.3 ms' "and the long exit"

# ---- 7: a recording for a colleague

like "$("$KVMTOP" report "$perf" 2>"$TMP/err")" '^npf +[0-9]' "a recording: report prints it"

# ---- 8: the hammered port

task "the hammered port" --sysroot $amd -s 25
screen_wait '^ Guest Name .*Cost%'
step 'Down Enter' '\[3 vCPUs\]' "its vCPUs"
step Enter '^ io .*' "its exits"
task "the hammered port, of all" --sysroot $amd -s 25
screen_wait '^ Guest Name .*Cost%'
step 5 'port|0x' "one key: ports, MSRs and addresses"

# ---- 9: who has the CPU?

is "$(status_of "$KVMTOP" who --help)" 0 "who: a command of its own"
task "who" --sysroot $amd -s 25
step 7 '\[7 Who\]' "one key"

# ---- 10: the code behind an exit

task "the code" --sysroot $amd -s 25
step 8 '\[8 Where\]' "one key"
screen_keys q
done_testing
