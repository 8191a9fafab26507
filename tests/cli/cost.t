#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What kvmtop itself takes of an exit, in every output, and that the kernel's measuring of it, which
# costs time itself, does not go on; and --cost: what runs on an event, and what is known without.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live

line_of() {
	"$KVMTOP" --list-providers | sed -n "/^$1/{n;p}"
}

line_of cost | grep -q 'works here' || skip_all "cost: $(line_of cost)"
line_of exits | grep -q 'works here' || skip_all "exits: $(line_of exits)"

# ns FILE: what an exit costs, by the latest object of the file.
ns() {
	sed -n '$s/.*"kvmtop":{"exit_ns":\([0-9]*\),.*/\1/p' "$1"
}

# Each exit runs two programs at most, and each of these less than 5 us, also on an emulated host.
is_sane() {
	[ "${1:-0}" -ge 5 ] && [ "$1" -le 10000 ]
}

has_cost() {
	is_sane "$(ns "$TMP/host.json")"
}

was_stored() {
	"$KVMTOP" -r "$TMP/h.db" -1 --json --view host >"$TMP/then.json" 2>/dev/null
	is_sane "$(ns "$TMP/then.json")"
}

guest cost-busy --pio 1000 --rounds 0
go cost-busy
spawn "$KVMTOP" -l --json --view host -s 0.5 >"$TMP/host.json" 2>"$TMP/err"
host=$SPAWNED
check "JSON of the host: ns of an exit" wait_for 30 has_cost
like "$(tail -n 1 "$TMP/host.json")" \
	'"kvmtop":\{"exit_ns":[0-9]+,"percent":[0-9]+\.[0-9]+\},"rows"' \
	"and its share of the guests' time"
is "$(find "/proc/$host/fd" -type l -printf '%l\n' | grep -c bpf-stats)" 0 \
	"the kernel measures for a moment only"
stop "$host"
if command -v strace >/dev/null; then
	# On a busy machine the guest may make too few exits in these moments.
	for try in 1 2 3; do
		strace -f -qq -o "$TMP/trace" -e trace=clock_nanosleep \
			-e inject=clock_nanosleep:error=EINTR \
			"$KVMTOP" -l --json --view host -s 0.5 -n 8 >"$TMP/host.json" 2>"$TMP/err"
		! has_cost || break
		disturbed "a signal in the moment of measuring" $try 3
	done
	check "a signal in the moment of measuring is no error" has_cost
else
	skip "a signal in the moment of measuring is no error" "strace is not installed"
fi
spawn "$KVMTOP" export --prometheus - -s 0.5 >"$TMP/metrics" 2>"$TMP/err"
exporter=$SPAWNED
check "a metric of the exporter" wait_for 30 grep -q '^kvmtop_own_ratio' "$TMP/metrics"
stop "$exporter"
like "$(sed -n 's/^kvmtop_own_exit_seconds //p' "$TMP/metrics" | tail -n 1)" '^0\.0000[0-9]+$' \
	"in seconds"
like "$(sed -n 's/^kvmtop_own_ratio //p' "$TMP/metrics" | tail -n 1)" '^0\.[0-9]+$' \
	"and one of the share"
spawn "$KVMTOP" -w "$TMP/h.db" -s 0.5 2>"$TMP/err"
writer=$SPAWNED
check "a history has it" wait_for 30 was_stored
stop "$writer" INT
"$KVMTOP" -1 --json --view guests >"$TMP/guests.json" 2>"$TMP/err"
check "the other views do not" grep -vq '"kvmtop":{' "$TMP/guests.json"

# The scheduler's programs of the view who run at each switch of a CPU, but in no exit.
mkfifo "$TMP/pipe"
spawn cat "$TMP/pipe" >/dev/null
spawn timeout 120 cat /dev/zero >"$TMP/pipe"
switching=$SPAWNED
# cost_with NAME OPTION...: $COST is what an exit costs while a history is written with them.
cost_with() {
	cost_name=$1
	shift
	spawn "$KVMTOP" -w "$TMP/$cost_name.db" -s 0.5 "$@" 2>"$TMP/err"
	wait_for 20 is_sampling "$SPAWNED"
	sleep 4
	stop "$SPAWNED" INT
	"$KVMTOP" -r "$TMP/$cost_name.db" -1 --json --view host >"$TMP/host.json" 2>/dev/null
	COST=$(ns "$TMP/host.json")
	rm -f "$TMP/$cost_name.db"*
}
for try in 1 2 3; do
	cost_with alone
	alone=${COST:-0}
	cost_with who --keep who
	beside=${COST:-0}
	is_sane "$alone" && is_sane "$beside" && [ $((beside * 10)) -lt $((alone * 14)) ] && break
	disturbed "the scheduler's programs cost no exit anything" $try 3
done
check "the scheduler's programs cost no exit anything: $alone ns, $beside with them" \
	[ $((beside * 10)) -lt $((alone * 14)) ]
stop "$switching"

printf 'kvmtop_ratio = 0.000001\n' >"$TMP/thresholds"
# The report has a moment of measuring or two, in which a busy machine may not run the guest.
for try in 1 2 3 4 5; do
	"$KVMTOP" why --csv --thresholds "$TMP/thresholds" 2 >"$TMP/why" 2>"$TMP/err"
	! grep -q ' ns of each exit.*,kvmtop,' "$TMP/why" || break
	disturbed "kvmtop why names it above a limit" $try 5
done
like "$(cat "$TMP/why")" ' ns of each exit.*,kvmtop,' "kvmtop why names it above a limit"

# ---- --cost: what runs on events

# What it has while it counts, in all views: a history has them all.
for cost in none events times; do
	spawn "$KVMTOP" -w "$TMP/$cost.db" -s 0.3 --cost $cost 2>"$TMP/$cost.err"
	wait_for 20 is_sampling "$SPAWNED"
	sleep 0.5
	eval "on_$cost=$(on_events "$SPAWNED")"
	sleep 0.5
	stop "$SPAWNED" INT
done
# shellcheck disable=SC2154 # by eval
is "$on_none" 0 "--cost none: nothing on any event"
# shellcheck disable=SC2154
check "--cost events: programs on events" [ "$on_events" -ge 10 ]
# shellcheck disable=SC2154
check "--cost times: at least as many" [ "$on_times" -ge "$on_events" ]
like "$("$KVMTOP" -r "$TMP/none.db" -1 --json --view vcpus -p "$GUEST" 2>&1)" \
	'"vcpu":0,.*"total":[0-9]{3,},' "a history without programs has the exits of vCPUs"
like "$("$KVMTOP" -r "$TMP/events.db" -1 -f '^kvm_userspace_exit$' 2>&1)" \
	'^kvm_userspace_exit +[0-9]{3,} ' "one with events has events"
like "$("$KVMTOP" -1 --cost events -f '^kvm_userspace_exit' 2>&1)" \
	'^kvm_userspace_exit\([A-Z]+\) +[0-9]{3,} ' "and reasons are counted"
stop "$GUEST"

# ---- --cost none: the same numbers

line_of account | grep -q 'works here' || skip_all "account: $(line_of account)"
ROUNDS=50
guest cost-halts --vcpus 2 --rounds $ROUNDS --hold 60
spawn "$KVMTOP" -l --json -s 0.1 --cost none --view vcpus -p "$GUEST" >"$TMP/none.json" \
	2>"$TMP/err"
log=$SPAWNED
wait_for 20 is_sampling "$log"
go cost-halts
wait_for 20 grep -q '^done' "$TMP/cost-halts.out"
sleep 0.3
stop "$log"
# Of an interval its length, and the halts of both vCPUs: what they add up to.
halts=$(tr '{' '\n' <"$TMP/none.json" |
	sed -n 's/.*"elapsed_s":\([0-9.]*\),.*/t \1/p; s/.*"halt_rate":\([0-9.]*\),.*/h \1/p' |
	awk '$1 == "t" { t = $2 } $1 == "h" { n += $2 * t } END { printf "%.0f", n }')
if [ "$(uname -m)" = x86_64 ]; then
	is "$halts" $((2 * ROUNDS)) "--cost none: the halts of each vCPU, each once"
else
	skip "the halts of each vCPU" "counted to the digit on x86 only"
fi
untimed='Exits are neither counted by reason nor timed: kvmtop --cost times does both,'
like "$(cat "$TMP/err")" "kvmtop: $untimed" \
	"and what would give the rest"
"$KVMTOP" -1 --cost none --view exits >"$TMP/out" 2>&1
like "$(cat "$TMP/out")" "$untimed" "a view that needs times says so"
like "$("$KVMTOP" export --prometheus - -n 1 --cost none 2>&1 |
	sed -n 's/.*{guest="cost-halts",name="halt_exits"} //p')" '^[0-9]+$' \
	"the exporter has KVM's own counters"
is "$("$KVMTOP" --cost no -1 2>&1 | head -n 1)" \
	'kvmtop: "no": --cost must be one of times, events, none' "a word that is none"

# ---- --cost none: the boxes of a vCPU's time that KVM and the scheduler fill anyway

# percents FILE: of the latest sample, Block% and Idle% of vCPU 0, without fractions.
percents() {
	t_number='_percent":\([0-9]\+\)'
	tail -n 1 "$1" | tr '{' '\n' |
		sed -n "/\"vcpu\":0,/s/.*\"block$t_number.*\"idle$t_number.*/\1 \2/p"
}
# boxes: Block% and Idle% of $GUEST in the first interval.
boxes() {
	"$KVMTOP" -1 --json --cost none --view vcpus -p "$GUEST" >"$TMP/boxes" 2>"$TMP/err"
	percents "$TMP/boxes"
}
# Asleep on purpose and waiting for a CPU are beside each other: another program may have that.
is_idle() {
	t_boxes=$(boxes)
	[ "${t_boxes#* }" -ge 40 ] && [ "${t_boxes% *}" -le 3 ]
}
is_unstarted() {
	[ "$(boxes)" = "0 100" ]
}
if [ "$(uname -m)" = x86_64 ]; then
	guest_of haltguest cost-idle 400 10000
	go cost-idle
	check "--cost none: halts are Idle%" wait_for 20 is_idle
	wait_for 20 grep -q '^done' "$TMP/cost-idle.out"
	is "$(boxes)" "100 0" "and a sleep in the VMM, outside of a halt, is Block%"
	stop "$GUEST"
	guest_of haltguest cost-begun --unstarted 1 1000
	go cost-begun
	check "a vCPU that sleeps since before the first sample is idle from then on" \
		wait_for 20 is_unstarted
	"$KVMTOP" -1 --cost none --view guests -p "$GUEST" >"$TMP/out" 2>"$TMP/err"
	like "$(head -n 1 "$TMP/out")" ' Block% +Wait% .* Idle% +CPU% ' "text has the columns"
	like "$("$KVMTOP" -1 -c --cost none --view guests -p "$GUEST" 2>/dev/null | tail -n 1)" \
		',0\.000,[^,]*,[^,]*,[^,]*,100\.000,' "CSV has them"
	"$KVMTOP" -w "$TMP/idle.db" -s 0.3 -n 3 --cost none 2>"$TMP/err"
	"$KVMTOP" -r "$TMP/idle.db" -1 --json --view vcpus -p "$GUEST" >"$TMP/then" 2>"$TMP/err"
	is "$(percents "$TMP/then")" "0 100" "a history has them"
	"$KVMTOP" export --prometheus - -n 3 -s 0.3 --cost none >"$TMP/metrics" 2>"$TMP/err"
	is "$(sed -n '/guest="cost-begun",vcpu="0"/s/.*mode="\([a-z]*\)".*/\1/p' "$TMP/metrics" |
		sort -u | tr '\n' ' ')" "block cpu idle wait " "the exporter has modes that add up"
	stop "$GUEST"
	guest cost-vmm --rounds 0 --pause 100000
	go cost-vmm
	is "$(boxes)" "" "where user space has the halts, they are absent"
	stop "$GUEST"
else
	skip "the boxes of a vCPU's time" "the guest that halts is x86's"
fi
# Without BPF: debugfs, by guest; or both reasons.
if command -v setpriv >/dev/null; then
	setpriv --bounding-set=-bpf,-sys_admin --inh-caps=-bpf,-sys_admin "$KVMTOP" -1 --cost none \
		--view guests >"$TMP/out" 2>"$TMP/err"
	like "$? $(head -n 1 "$TMP/err")" '^(1 kvmtop: account: .*|0 kvmtop: Exits are not .*)$' \
		"without the right to BPF: debugfs, or why not"
else
	skip "without the right to BPF" "setpriv is not installed"
fi
stop "$GUEST"
done_testing
