#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `kvmtop where` and the view Where: the code of a VMM that spins, in all forms.
. tests/lib.sh

like "$("$KVMTOP" --help)" '^  where ' "--help names the command"
is "$(status_of "$KVMTOP" where --hertz 10001 1)" 2 "too many samples a second"
is "$(cat "$TMP/err")" "kvmtop: --hertz 10001: at most 10000
Try kvmtop where --help." "are refused"
is "$(status_of "$KVMTOP" where --folded --json 1)" 2 "one form at a time"
is "$(status_of "$KVMTOP" where --output x 1)" 2 "--output is of these forms"
is "$(status_of "$KVMTOP" where -f '(' 1)" 2 "-f takes a pattern"
is "$(status_of "$KVMTOP" -1 --sysroot tests/sysroot/amd --view where)" 0 "a captured machine"
like "$(cat "$TMP/out" "$TMP/err")" 'Code is sampled live: kvmtop where on the host' "has no code"

need_live
name=spins-$$
guest "$name" --pio 10 --answer 2000 --spin --rounds 0
go "$name"

# where OPTION...: what is found of the guest, in $TMP/out.
where() {
	status_of "$KVMTOP" where -g "$name" "$@" 2
}

# time_of FUNCTION: its share of the time in CSV, with what it calls.
time_of() {
	tr -d '"' <"$TMP/out" | awk -F, -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "incl_percent") column = i }
		$1 == name { print $column; exit }'
}

# How much of it the function has depends on what else runs on this machine.
is "$(where --csv)" 0 "kvmtop where"
check "the function that spins has time" \
	awk -v share="$(time_of answer_by_spinning)" 'BEGIN { exit !(share > 0) }'
check "which its caller has, too" awk -v share="$(time_of answer_by_spinning)" \
	-v caller="$(time_of answer_and_count)" 'BEGIN { exit !(caller >= share) }'
is "$(where --csv -f '^no_such_reason$')" 0 "a reason that does not exist"
is "$(time_of answer_by_spinning)" "" "has no code"
is "$(where --csv -x -k function)" 0 "the tree of calls"
for row in "$name" "vCPU 0" answer_and_count answer_by_spinning; do
	like "$(cut -d, -f1 "$TMP/out" | tr -d '"')" "^$row\$" "has $row"
done
is "$(where --folded)" 0 "folded stacks"
like "$(cat "$TMP/out")" \
	"^$name;vCPU 0;[^;]+;.*;answer_and_count;answer_by_spinning [1-9][0-9]*\$" \
	"have guest, vCPU, exit and functions"
is "$(grep -cvE '^[^;]+(;[^;]+)+ [0-9]+$' "$TMP/out")" 0 "and nothing else"
is "$(where --svg "$TMP/flames.svg")" 0 "a flame graph"
is "$(python3 -c 'import sys, xml.dom.minidom
names = [title.firstChild.data.split(",")[0] for title in
	xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("title")]
print(*(name for name in sys.argv[2:] if name not in names))' \
	"$TMP/flames.svg" "$name" "vCPU 0" answer_and_count answer_by_spinning)" "" \
	"is XML, and has all of these"
is "$(where --json)" 0 "JSON"
is "$(python3 -c 'import json, sys
rows = json.loads(sys.stdin.read())["rows"]
print(*(row["side"] for row in rows if row["function"] == "answer_by_spinning"))' <"$TMP/out")" \
	VMM "has the side of a function"

# ---- a history that keeps it

is "$(status_of "$KVMTOP" -w "$TMP/h.db" --keep all -n 1)" 2 "--keep takes words"
is "$(status_of "$KVMTOP" -1 --keep where)" 2 "and is of -w"
is "$(status_of "$KVMTOP" -w "$TMP/h.db" --keep where -s 0.5 -n 4)" 0 "a history with code"
# at OPTION...: what it has of the guest, in $TMP/out, without the time.
at() {
	status_of "$KVMTOP" -r "$TMP/h.db" --view where -g "$name" --csv "$@"
	cut -d, -f2- "$TMP/out" >"$TMP/rows"
	mv "$TMP/rows" "$TMP/out"
}
is "$(at -1)" 0 "its latest interval"
check "has the function that spins" \
	awk -v share="$(time_of answer_by_spinning)" 'BEGIN { exit !(share > 0) }'
is "$(at -1 -x --from -1h --to now)" 0 "all of it"
for row in "$name" "vCPU 0" answer_and_count answer_by_spinning; do
	like "$(cut -d, -f1 "$TMP/out" | tr -d '"')" "^$row\$" "as a tree, has $row"
done
# Each interval has its own time, and the span the sum of all.
is "$(at -l)" 0 "a log of it"
self_ns() {
	python3 -c 'import csv, sys
rows = csv.DictReader(sys.stdin)
print(sum(int(row["self_ns"]) for row in rows if row["function"] == "answer_by_spinning"))' \
		<"$TMP/out"
}
all=$(self_ns)
at -1 --from -1h --to now >"$TMP/status"
is "$(self_ns)" "$all" "adds up to the span"
is "$(status_of "$KVMTOP" -w "$TMP/none.db" -s 0.2 -n 2)" 0 "another history"
"$KVMTOP" -r "$TMP/none.db" -1 --view where >"$TMP/out" 2>&1
like "$(cat "$TMP/out")" '^kvmtop: No code was kept: kvmtop -w FILE --keep where keeps it' \
	"has none"

# ---- a recording with stacks

# The event shows which thread is the vCPU's; without it a sample in KVM_RUN would, if there is one.
if perf record -q -a -g -e cpu-clock/freq=499/ -e kvm:kvm_userspace_exit -o "$TMP/perf.data" \
	-- sleep 3 2>"$TMP/err"; then
	is "$(status_of "$KVMTOP" report --csv --view where "$TMP/perf.data")" 0 "perf record -g"
	check "has the function that spins" \
		awk -v share="$(time_of answer_by_spinning)" 'BEGIN { exit !(share > 0) }'
	is "$(status_of "$KVMTOP" report --folded "$TMP/perf.data")" 0 "as folded stacks"
	like "$(cat "$TMP/out")" ";answer_and_count;answer_by_spinning [1-9][0-9]*\$" \
		"has its callers"
	is "$(status_of "$KVMTOP" report --svg "$TMP/flames.svg" "$TMP/perf.data")" 0 "a picture"
	like "$(cat "$TMP/flames.svg")" 'answer_by_spinning' "has it, too"
	is "$(status_of "$KVMTOP" report --text -x --view where "$TMP/perf.data")" 0 "the tree"
	like "$(cat "$TMP/out")" '^ +answer_by_spinning +VMM' "has it"
else
	skip "perf record -g" "$(head -n 1 "$TMP/err")"
fi
is "$(status_of "$KVMTOP" report --text --view where tests/data/trace/svm-perf.data)" 0 \
	"a recording without stacks"
like "$(cat "$TMP/err")" "No code was sampled: perf record -g -F 99 -e cycles" "says so"

# ---- what is missing is said, and the rest is shown

# without CAPABILITIES OPTION...: status_of kvmtop where without these.
without() {
	w_lost=$1
	shift
	status_of setpriv --bounding-set="$w_lost" --inh-caps="$w_lost" "$KVMTOP" where "$@"
}

is "$(status_of "$HELPERS/refusebpf" "$KVMTOP" where 1)" 1 "without BPF"
like "$(cat "$TMP/err")" '^kvmtop: exits: the kernel refuses our BPF program: ' "says so"
is "$(where --csv)" 0 "with a counter of cycles, or without"
like "$(cat "$TMP/err")" "Samples are taken by (the CPUs' cycles|a clock \(no counter of)" \
	"says what takes the samples"
if unshare -pf --mount-proc true 2>/dev/null; then
	is "$(status_of unshare -pf --mount-proc "$KVMTOP" where 1)" 1 "in a container"
	like "$(cat "$TMP/err")" "exits: .*another one: run in the host's" "says where to run it"
else
	skip "in a container" "unshare(1) makes no pid namespace here"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	# A VMM that sleeps has code of both sides each time that it does.
	spins=$GUEST
	guest "sleeps-$$" --pio 10 --answer 20000 --rounds 0
	go "sleeps-$$"
	is "$(without -bpf,-sys_admin 1)" 1 "without the right to BPF"
	like "$(cat "$TMP/err")" 'exits: .*no BPF: grant it: setcap cap_bpf' \
		"says what grants it"
	is "$(without -syslog -g "sleeps-$$" --halts --csv 1)" 0 "without addresses of the kernel"
	like "$(cat "$TMP/err")" 'hides the addresses of its functions: CAP_SYSLOG, and ' "says so"
	like "$(cat "$TMP/out")" '^[^,[]+,"?VMM"?,' "and has the VMM's functions"
	is "$(without -sys_ptrace --halts --csv 1)" 0 "without rights to the VMM"
	like "$(cat "$TMP/err")" 'functions of process [0-9]+ have no names: CAP_SYS_PTRACE and ' \
		"says so"
	like "$(cat "$TMP/out")" '^[^,]+,"?kernel"?,' "and has the kernel's functions"
	is "$(without -sys_ptrace -p "$GUEST" 1)" 1 "and this VMM"
	is "$(cat "$TMP/err")" "kvmtop: no right to look into process $GUEST: \
CAP_SYS_PTRACE is needed" "cannot be chosen"
	stop "$GUEST"
	GUEST=$spins
else
	skip "without rights" "it needs root and setpriv"
fi

SCRIPT_CLOCK=real
export SCRIPT_CLOCK
script_start 100 30 -r "$TMP/h.db" --view where
screen_has '^ +answer_by_spinning +VMM +[0-9.]+ +[0-9.]+ ' "a history on the screen has it"
screen_keys t
screen_has '^ +answer_by_spinning +VMM +[0-9.]+ +[0-9.]+ ' "and at the moment before"
screen_keys q
script_start 100 30 -s 0.3 -g $name --view where
screen_has '\[8 Where\]' "the view has a tab"
screen_has '^ +answer_by_spinning +VMM +[0-9.]+ +[0-9.]+ ' "with the function"
# On an emulated host 338,000 instructions took 40 seconds. Linux 5.16 has the number.
verified=$(cat "/proc/$(screen_pid)"/fdinfo/* 2>/dev/null |
	sed -n 's/^verified_insns:[^0-9]*//p' | sort -n | tail -n 1)
if [ -n "$verified" ]; then
	check "the kernel verifies its programs quickly ($verified)" [ "$verified" -lt 100000 ]
else
	skip "the kernel verifies its programs quickly" "this kernel does not say"
fi
screen_keys G
screen_has "With the guests' functions, and how many exits each makes" "G adds guests' functions"
screen_has '^ +answer_by_spinning +VMM +[0-9.]+ +[0-9.]+ ' "to the others"
screen_keys G
screen_has "Without the guests' functions" "and leaves them out"
screen_keys x
screen_has '^ +[├└] vCPU 0 ' "x shows the tree"
screen_keys x
screen_type /
screen_wait '^Search'
screen_type answer_by
screen_keys Enter Enter
screen_has " › answer_by_spinning\$" "Enter on a function narrows to it"
screen_has '^ called by ' "its callers"
screen_has '^ +[├└] answer_and_count ' "have rows"
screen_keys BSpace
screen_has '^ +answer_and_count ' "Backspace leads back"
screen_keys q

# ---- the kernel's names: -w and -l say what is missing, as kvmtop where does

# nameless OPTION...: what kvmtop says without the capability to see addresses.
nameless() {
	setpriv --bounding-set=-syslog --inh-caps=-syslog --no-new-privs "$KVMTOP" "$@" \
		2>&1 >"$TMP/out" </dev/null | grep -o 'CAP_SYSLOG'
}
if ! command -v setpriv >/dev/null; then
	skip "the kernel hides its functions" "setpriv is not installed"
elif setpriv --bounding-set=-syslog --inh-caps=-syslog head -n 1 /proc/kallsyms |
	grep -qv '^0* '; then
	skip "the kernel hides its functions" "this kernel shows their addresses to everybody"
else
	is "$(nameless where 1)" CAP_SYSLOG "kvmtop where says that the kernel hides its functions"
	is "$(nameless -l --view where -s 0.5 -n 2)" CAP_SYSLOG "so does a log"
	is "$(nameless -w "$TMP/nameless.db" --keep where -s 0.5 -n 2)" CAP_SYSLOG \
		"and what keeps a history of it"
fi
unit=$(cat packaging/systemd/kvmtop-history.service)
like "$unit" '^CapabilityBoundingSet=.*CAP_SYSLOG' "kvmtop-history.service has the capability"
unlike "$unit" '^ProtectKernelLogs=yes' "which stays"
like "$(cat packaging/kvmtop-group)" 'cap_syslog' "and so have the members of the group"
stop "$GUEST"
done_testing
