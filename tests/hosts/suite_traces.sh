# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2034,SC2317 # variables of inside.sh; check calls functions
#
# suite_traces.sh - kvmtop record, and what kvmtop report, kvmtop timeline and trace-cmd read in its
# file: part of suite.sh.
#
# The cases compare lines of thread, reason and number: from kvmtop exits, which ran meanwhile, and
# from every reader of the recording.

RECORDING=$TMP/trace.dat

# record_begin OPTION...: records until record_end; recording has begun when it returns.
record_begin() {
	spawn kvmtop record -o "$RECORDING" "$@" 2>"$TMP/record.err"
	RECORDER=$SPAWNED
	wait_for 120 record_is_on || not_ok "kvmtop record $*" "$(cat "$TMP/record.err")"
}

# Whether recording has begun: a new instance is on at first, and is off while events are chosen.
record_is_on() {
	r_instance=$TRACING/instances/kvmtop-$RECORDER
	grep -q "$EXIT" "$r_instance/set_event" 2>/dev/null &&
		[ "$(cat "$r_instance/tracing_on")" = 1 ]
}

# record_end [LINE]: ends the recording, and checks what kvmtop record says, after this line.
record_end() {
	stop "$RECORDER" # by SIGTERM: the shell has started it with SIGINT ignored
	is $? 0 "record: a signal ends it well"
	is "$(sed 's/ [0-9]* events, [0-9.]* MiB$//' "$TMP/record.err")" "${1:+$1
}kvmtop: $RECORDING:" \
		"record: nothing is lost, and nothing to complain about"
	is "$(recorders)" "" "record: its instance is gone"
}

recorders() {
	for r_instance in "$TRACING/instances"/kvmtop-*; do
		[ ! -d "$r_instance" ] || echo "${r_instance##*/}"
	done
}

# by_exits [PID]: the lines from kvmtop exits.
by_exits() {
	awk -F, -v pid="$1" 'NR > 1 && (pid == "" || $2 == pid) { print $3, $1, $6 }' \
		"$TMP/exits" | sort
}

# by_trace_cmd: the lines from trace-cmd report.
by_trace_cmd() {
	trace-cmd report "$RECORDING" 2>/dev/null | awk -v exits=" $EXIT: " "$REASON_OF"'
	index($0, exits) && match($0, /-[0-9]+ +\[/) {
		count[substr($0, RSTART + 1) + 0 " " reason_of($0)]++
	}
	END { for (key in count) print key, count[key] }' | sort
}

# by_picture: the lines from kvmtop timeline, with exits that the recording cuts off. A thread with
# an entry as its first event begins in "KVM": an exit before the recording, or none at all.
by_picture() {
	awk '$2 != "KVM" { print $1, $2, $3 }' "$TMP/picture" | sort
}

# report_sums: lines of thread, exits that ended, and their ns with waiting, from kvmtop report.
report_sums() {
	kvmtop report --by tid --csv "$RECORDING" | awk -F, "$CSV_AT"'
	{ waited = "wait_ns" in csv_at ? $at("wait_ns") : 0 }
	{ print $at("tid"), $at("total"), $at("time_ns") + waited }' | sort
}

# picture_sums: the same from kvmtop timeline.
picture_sums() {
	awk '{ count[$1] += $3 - $5; ns[$1] += $4 }
	END { for (tid in count) print tid, count[tid], ns[tid] }' "$TMP/picture" | sort
}

# check_recording NAME PID: every reader finds the exits that kvmtop exits counted of this guest.
check_recording() {
	if command -v trace-cmd >/dev/null; then
		is "$(by_trace_cmd)" "$(by_exits "$2")" \
			"$1: trace-cmd report has kvmtop exits' numbers"
	else
		skip "$1: trace-cmd report has kvmtop exits' numbers" "trace-cmd is not installed"
	fi
	kvmtop timeline -r "$RECORDING" -o "$TMP/picture.json"
	check "$1: kvmtop timeline makes JSON whose slices nest" make_sums
	is "$(by_picture)" "$(by_exits "$2")" "$1: every exit is in the picture once"
	is "$(picture_sums)" "$(report_sums)" "$1: a vCPU's slices add up to the report's time"
}

make_sums() {
	picture "$TMP/picture.json" >"$TMP/picture"
}

# report_of TID REASON: the number in kvmtop report.
report_of() {
	kvmtop report -p "$1" --csv "$RECORDING" | awk -F, -v reason="$2" "$CSV_AT"'
	$at("reason") == reason { print $at("total"); found = 1 }
	END { if (!found) print 0 }'
}

# One guest of two is recorded, with each exit of each vCPU. A vCPU's last exit never ends.
record_exact() {
	section "a recording"
	guest other --pio 7 --cpuid 9
	other=$GUEST
	guest recorded --pio 210 --mmio 60 --cpuid 150 --vcpus 2 --rounds 2
	exits_begin
	record_begin -p "$GUEST" --sched
	guest_run other
	guest_run recorded
	record_end
	exits_end
	for r_tid in $(vcpu_tids "$GUEST"); do
		is "$(report_of "$r_tid" "$PIO") $(report_of "$r_tid" "$CPUID")" \
			"420 $(cpuids_ended 150 2)" \
			"record: a vCPU's exits in the report are the plan's"
	done
	like "$(kvmtop report --json "$RECORDING")" '"unfinished":2,' \
		"record: and the last ones, that did not end, are told"
	check_recording "record" "$GUEST"
	stop "$other"
	stop "$GUEST"
}

# A killed recorder leaves an instance, which the next recorder removes.
record_killed() {
	section "a recorder that is killed"
	record_begin -e "$EXIT"
	stop "$RECORDER" KILL
	r_killed=$RECORDER
	is "$(recorders)" "kvmtop-$RECORDER" "record: one that is killed leaves its instance"
	guest again --pio 33
	record_begin -g again -e "$EXIT" -e "$ENTRY"
	is "$(recorders)" "kvmtop-$RECORDER" "record: the next one removes it"
	guest_run again
	record_end "kvmtop: the recording of process $r_killed, which was killed, went on in \
tracefs: it is ended"
	is "$(report_of "$(vcpu_tids "$GUEST")" "$PIO")" 33 "record: and has its own exits"
	stop "$GUEST"
}
