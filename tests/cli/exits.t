#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exits by guest, vCPU and reason, counted by BPF: exactly, of many guests at once, and what is said
# where that cannot be. Arguments, guests that live for a moment, and a kernel without BTF are in
# tests/hosts/suite_exits.sh, beside the kernel's own trace.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live
"$KVMTOP" --list-providers | sed -n '/^exits/{n;p}' | grep -q 'works here' ||
	skip_all "$("$KVMTOP" --list-providers | sed -n '/^exits/{n;s/.*not here: //p}')"

ready() {
	wait_for 20 grep -q ready "$TMP/$1.out"
}

went() {
	wait_for 20 grep -q '^done' "$TMP/$1.out"
}

# exits_begin OPTION...: counts until exits_end, which leaves a CSV in $TMP/exits.
exits_begin() {
	spawn "$KVMTOP" exits --csv "$@" 60 >"$TMP/exits" 2>"$TMP/exits.err"
	EXITS=$SPAWNED
	wait_for 20 is_sampling "$EXITS"
	sleep 0.3
}

exits_end() {
	sleep 0.2
	stop "$EXITS" INT
}

# sum_of COLUMN NAME VALUE ...: of the lines where NAME is VALUE.
sum_of() {
	awk -F, -v column="$1" -v name1="$2" -v value1="$3" -v name2="${4-}" \
		-v value2="${5-}" "$CSV_AT"'
	name1 != "" && $at(name1) != value1 { next }
	name2 != "" && $at(name2) != value2 { next }
	{ sum += $at(column) }
	END { print sum + 0 }' "$TMP/exits"
}

[ "$(uname -m)" = x86_64 ] || skip_all "the numbers are of x86"

# ---- exactly

guest one --pio 321 --mmio 45 --cpuid 6 --rounds 2
one=$GUEST
guest two --pio 78 --vcpus 2
two=$GUEST
ready one && ready two
exits_begin
# What it takes in the kernel does not depend on the host: as PERFORMANCE.md says.
kernel_bytes=$(cat /proc/"$EXITS"/fdinfo/* 2>/dev/null |
	awk '$1 == "memlock:" { sum += $2 } END { print sum + 0 }')
check "its maps take 2 to 3 MiB of the kernel: $kernel_bytes bytes" \
	test "$((kernel_bytes / 1048576))" = 2
go one
go two
went one && went two
exits_end
is "$?" 0 "Ctrl-C ends it well"
is "$(sum_of total pid "$one" reason IO) $(sum_of total pid "$one" reason MMIO)" "642 90" \
	"one guest's exits, by reason"
is "$(sum_of total pid "$two" reason IO)" 156 "the other's"
is "$(sum_of total pid "$two" vcpu 1)" 79 "one vCPU's, all of them"
stop "$one"
stop "$two"

# ---- visits to views that need more

# visit KEY...: while the guest makes 20,000 exits of its own.
visit() {
	go visited
	for key in "$@"; do
		screen_keys "$key"
		screen_pass 0.4
	done
	went visited
	: >"$TMP/visited.out"
}

guest visited --pio 500 --rounds 40 --pause 50000 --lives 2
visited=$GUEST
ready visited
SCRIPT_CLOCK=real script_start 100 30 --view exits -g visited -s 0.5
screen_wait 'Nothing has been counted yet'
visit 5 4 8 4 w 4
screen_has '^ IO +20,000 ' "visits to other views lose no exit, and count none twice" 10
screen_has '^ HLT +40 ' "of any reason"
# Programs are exchanged: for a moment two may count.
visit l 4 8 G 4
screen_has '^ IO +40,0[0-9][0-9] ' "nor do visits to long exits, but for a moment" 10
screen_keys q
is "$(screen_status)" 0 "and q ends it"
stop "$visited"

# ---- other threads for the same vCPUs

guest heirs --pio 100 --vcpus 2 --lives 2
heirs=$GUEST
ready heirs
exits_begin -p "$heirs" -a
go heirs
went heirs
sleep 1.2 # they are seen before they end
: >"$TMP/heirs.out"
go heirs
went heirs
exits_end
is "$(sum_of total vcpu 0 reason IO) $(sum_of total vcpu 1 reason IO)" "200 200" \
	"a vCPU's exits are its own, whichever thread made them"
is "$(sum_of total "" "")" 404 "and no others are there"
stop "$heirs"

# ---- many guests, that come while we count

exits_begin
guests=
i=0
while [ $i -lt 50 ]; do
	guest "g$i" --pio $((i + 1))
	guests="$guests $GUEST"
	i=$((i + 1))
done
i=0
while [ $i -lt 50 ]; do
	ready g$i
	go g$i
	i=$((i + 1))
done
i=0
while [ $i -lt 50 ]; do
	went g$i
	i=$((i + 1))
done
exits_end
wrong=
i=0
for pid in $guests; do
	i=$((i + 1))
	got=$(sum_of total pid "$pid" reason IO)
	[ "$got" = $i ] || wrong="$wrong $got, not $i;"
done
is "$wrong" "" "50 guests that came later: each with its own number"
for pid in $guests; do
	stop "$pid"
done

# ---- a guest that ends while we look

exits_begin
guest ending --pio 321
ready ending
go ending
went ending
sleep 1.2 # it is seen before it ends
stop "$GUEST"
sleep 1.2
exits_end
is "$(sum_of total pid "$GUEST" reason IO)" 321 "what a guest counted that ended is its own"
is "$(sum_of total guest ending reason IO)" 321 "by its name"
is "$(sum_of ended pid "$GUEST" reason IO)" 1 "and is marked"

# ---- the end of the guest that is counted

guest waited --pio 321
ready waited
exits_begin -p "$GUEST"
go waited
went waited
stop "$GUEST"
wait_for 20 t_ended "$EXITS"
is "$?" 0 "exits -p ends with its guest"
stop "$EXITS"
is "$(sum_of total pid "$GUEST" reason IO)" 321 "and prints what the guest did until then"
is "$(grep 'ended$' "$TMP/exits.err")" "kvmtop: guest waited (pid $GUEST) has ended" "and why"

# ---- while a command runs

"$KVMTOP" exits --event userspace --csv -- \
	"$HELPERS/miniguest" --name whole --pio 1000 --rounds 1 >"$TMP/whole" 2>/dev/null
is "$?" 0 "exits of a command"
is "$(grep -E '^IO,[0-9]*,[0-9]*,(whole|pid-[0-9]+),0,1000,' "$TMP/whole" | grep -c .)" 1 \
	"all that its guest did, from its beginning to its end, is counted"

# ---- many threads that begin at once

# each NUMBER COMMAND: with the names of so many guests.
each() {
	i=0
	while [ $i -lt "$1" ]; do
		"$2" "$1.$i"
		i=$((i + 1))
	done
}

begin_full() {
	guest "$1" --pio 5 --vcpus 8 --lives 2
	guests="$guests $GUEST"
}

forget() {
	: >"$TMP/$1.out"
}

# fill NUMBER: all threads of so many guests begin between two samples, and once more new ones.
fill() {
	exits_begin
	kill -STOP "$EXITS"
	guests=
	each "$1" begin_full
	each "$1" ready
	each "$1" go
	each "$1" went
	each "$1" forget
	kill -CONT "$EXITS"
	sleep 1.2
	each "$1" go
	each "$1" went
	exits_end
}

fill 30
for pid in $guests; do
	sum_of total pid "$pid"
	stop "$pid"
done | sort | uniq -c >"$TMP/sums"
is "$(tr -s ' ' <"$TMP/sums")" " 30 $((2 * 8 * 6))" \
	"240 threads that begin within a sample: each guest has all of its exits"
is "$(grep -c -e lost -e 'no room' "$TMP/exits.err")" 0 "and nothing is said"

# There is room for 512 and four a CPU, and for a quarter of the vCPUs that were there before.
many=$((96 + $(getconf _NPROCESSORS_ONLN)))
fill $many
like "$(cat "$TMP/exits.err")" 'exits lost: more vCPU threads, or reasons of theirs, began' \
	"half as many again as there is room for: it is said that exits are lost"
for pid in $guests; do
	sum_of total pid "$pid"
	stop "$pid"
done >"$TMP/sums"
check "until the next sample: the threads that begin then have all of theirs" \
	test "$(awk '{ sum += $1 } END { print sum }' "$TMP/sums")" -ge $((many * 8 * 6))
is "$(awk -v all=$((2 * 8 * 6)) '$1 > all' "$TMP/sums")" "" "and none is counted twice"

# ---- a guest that asks for everything, and one beside it

spawn "$HELPERS/miniguest" --name greedy --cpuid 20000 --leaf-mask 32767 --rounds 0 --pause 1000 \
	>"$TMP/greedy.out" 2>&1
greedy=$SPAWNED
guest quiet --pio 70
ready quiet
spawn "$KVMTOP" -l -c -n 3 -s 1 --view hotspots >"$TMP/hotspots" 2>"$TMP/hotspots.err"
pid=$SPAWNED
wait_for 20 is_sampling "$pid"
go quiet
went quiet
wait_for 20 t_ended "$pid"
cp "$TMP/hotspots" "$TMP/exits"
is "$(sum_of delta pid "$GUEST")" 70 "a guest beside a greedy one is counted to the exit"
is "$(sum_of delta pid "$GUEST" argument other)" 0 "and its arguments have rows of their own"
check "the greedy one's are not" test "$(sum_of delta pid "$greedy" argument other)" -gt 1000
rows=$(awk -F, '/greedy/ { rows[$1]++ } END { for (i in rows) if (rows[i] > max) max = rows[i]
	print max }' "$TMP/exits")
check "it has a row for some of them ($rows)" test "$rows" -lt 400
is "$(grep -c 'not counted' "$TMP/hotspots.err")" 0 "nothing is left out"
stop "$GUEST"
stop "$greedy"

# ---- interrupts

guest_of irqguest devices 500 300 0
exits_begin --event interrupt
go devices
went devices
exits_end
stop "$GUEST"
is "$(sum_of total reason "IRQ line 5 raised")" 500 "a line is counted"
is "$(sum_of total reason "IRQ line 5 lowered")" 500 "by its level"
is "$(sum_of total reason "IRQ MSI 0xfee00000 data 0x41")" 300 "and a message"
is "$(sum_of total guest devices vcpu 0)" 0 "they are the guest's, and not a vCPU's"

# ---- without BPF

if command -v setpriv >/dev/null; then
	guest plain --pio 111
	ready plain
	without="setpriv --bounding-set -bpf,-sys_admin --inh-caps -bpf,-sys_admin"
	# shellcheck disable=SC2086
	is "$(status_of $without "$KVMTOP" -1 --view exits)" 1 "refused BPF: the view fails"
	like "$(cat "$TMP/err")" '^kvmtop: exits: .*cap_bpf' "and says what it needs"
	# shellcheck disable=SC2086
	is "$(status_of $without "$KVMTOP" exits 1)" 1 "so does kvmtop exits"
	is "$(status_of setpriv --bounding-set -sys_admin --inh-caps -sys_admin "$KVMTOP" \
		exits 1)" 1 "and without the right to the BTF of modules"
	like "$(cat "$TMP/err")" '^kvmtop: exits: .*cap_sys_admin' "which it names"
	# shellcheck disable=SC2086
	spawn $without "$KVMTOP" -1 -p "$GUEST" -f 'kvm_(pio|userspace_exit)' \
		>"$TMP/perf" 2>"$TMP/perf.err"
	pid=$SPAWNED
	wait_for 20 is_sampling "$pid"
	go plain
	went plain
	wait_for 20 t_ended "$pid"
	is "$(awk '$2 > 0 { print $1, $2 }' "$TMP/perf")" "kvm_pio 111
kvm_userspace_exit 112
kvm_userspace_exit(HLT) 1
kvm_userspace_exit(IO) 111" "events and reasons are counted all the same"
	like "$(cat "$TMP/perf.err")" '^kvmtop: tracepoint: .*bpf.*cap_bpf' "and why not by BPF"
	stop "$GUEST"
else
	skip "without BPF" "setpriv is not installed"
fi

# ---- BPF that can be probed, on a kernel that then refuses our programs

refused="$HELPERS/refusebpf $KVMTOP"
# shellcheck disable=SC2086
refusal=$(status_of $refused --list-providers)
if [ "$refusal" = 77 ]; then
	skip "refused programs" "$(cat "$TMP/err")"
else
	why="the kernel refuses our BPF program: Invalid argument"
	is "$refusal $(sed -n '/^exits/{n;s/^ *//p}' "$TMP/out")" "0 not here: $why" \
		"--list-providers tries"
	is "$(sed -n '/^tracepoint/{n;s/^ *//p}' "$TMP/out")" "works here" "and perf counts events"
	# shellcheck disable=SC2086
	is "$(status_of $refused -1 -f kvm_pio) $(awk '{ print $1 }' "$TMP/out")" "0 kvm_pio" \
		"-1 counts events with perf"
	like "$(cat "$TMP/err")" "^kvmtop: tracepoint: .*bpf.*: $why" "and says why"
	for view in exits vcpus hotspots; do
		# shellcheck disable=SC2086
		is "$(status_of $refused -1 --view $view)" 1 "$view: a failure"
		is "$(cat "$TMP/err")" "kvmtop: exits: $why" "and its reason alone"
	done
	guest events --pio 10
	ready events
	# shellcheck disable=SC2086
	spawn $refused -1 --json --view guests >"$TMP/guests" 2>"$TMP/guests.err"
	pid=$SPAWNED
	wait_for 20 is_sampling "$pid"
	go events
	went events
	wait_for 20 t_ended "$pid"
	is "$(sed 's/.*"guest":"events"[^}]*"total":\([0-9]*\).*/\1/' "$TMP/guests")" 11 \
		"guests have their events, as where exits cannot be timed"
	like "$(cat "$TMP/guests.err")" "^kvmtop: exits: $why" "and why is said"
	stop "$GUEST"
fi

# ---- a signal takes a vCPU out of the guest: one word for it in every face

guest signals --cpuid 1000000 --rounds 0
ready signals
go signals
# shellcheck disable=SC2016
spawn sh -c 'while kill -STOP "$1" && kill -CONT "$1"; do sleep 0.02; done' sh "$GUEST"
SIGNALS=$SPAWNED
"$KVMTOP" exits --csv --event userspace -g signals 1 >"$TMP/by.exits" 2>"$TMP/err"
"$KVMTOP" -1 -s 1 -t --view events -g signals -f kvm_userspace_exit >"$TMP/by.events" 2>"$TMP/err"
"$KVMTOP" export --prometheus - -n 2 -s 1 --metrics user >"$TMP/by.metrics" 2>"$TMP/err"
stop "$SIGNALS"
stop "$GUEST" KILL
like "$(cat "$TMP/by.exits")" '(^|,)"?INTR"?,' "a signal is INTR among exits"
like "$(cat "$TMP/by.events")" '^kvm_userspace_exit\(INTR\) +[1-9]' "and events"
like "$(cat "$TMP/by.metrics")" 'user_exits_total\{guest="signals",reason="INTR"\} [1-9]' \
	"and in metrics"
unlike "$(cat "$TMP"/by.*)" restart "and has no other word"

done_testing
