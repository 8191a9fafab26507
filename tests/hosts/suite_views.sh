# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2034,SC2153 # variables of suite.sh and inside.sh
#
# suite_views.sh - the same exits by guest, by vCPU and by reason, and by both engines: part of
# suite.sh.

# Without events of the host's memory management, which may happen while only one engine counts.
of_guests() {
	grep -v -e ' 0$' -e '_hva' | sort
}

# Both engines count at the same time, and agree on every event and every reason.
both_engines() {
	section "both engines"
	guest one --pio 120 --mmio 50 --cpuid 90 --rounds 2
	log_begin -f '^kvm_'
	mv "$TMP/log" "$TMP/log.bpf"
	v_bpf=$LOG
	ENGINE=perf
	log_begin -f '^kvm_'
	wait_fds "$LOG"
	guest_run one
	log_end
	of_guests <"$TMP/counted" >"$TMP/by-perf"
	stop "$v_bpf"
	sums "$TMP/log.bpf" | of_guests >"$TMP/by-bpf"
	stop "$GUEST"
	like "$(cat "$TMP/by-bpf")" "^$EXIT\\($PIO\\) 240\$" \
		"both engines: there is something to count"
	is "$(cat "$TMP/by-perf")" "$(cat "$TMP/by-bpf")" \
		"both engines: the same events and reasons, the same numbers"
}

# view_totals VIEW KEY: lines of key and latest total in $TMP/VIEW.json, where a key without counts
# in an interval has no row.
view_totals() {
	sed -e 's/{"/\n{"/g' -e 's/":"\{0,1\}/":/g' "$TMP/$1.json" |
		sed -n "s/.*\"$2\":\([^\",]*\).*\"total\":\([0-9]*\).*/\1 \2/p" |
		awk '{ total[$1] = $2 } END { for (key in total) print key, total[key] }' |
		grep -v ' 0$' | sort
}

# Each view of timed exits, with two guests, one of which has two vCPUs. A history counts exits and
# events: then the programs of exits count kvm_exit, too.
views_exact() {
	section "the views"
	LOGS=
	LOG_PIDS=
	two_guests
	for v_view in guests vcpus exits; do
		json_begin $v_view --view $v_view
	done
	json_begin events --view events -w "$TMP/views.db"
	two_run
	json_more
	for v_pid in $LOG_PIDS; do
		stop "$v_pid"
	done
	is "$(cd "$TMP" && cat guests.err vcpus.err exits.err events.err)" "" \
		"the views: nothing to complain about"
	is "$(view_totals guests guest)" "left $(exits_of "$left")
right $(exits_of "$right")" "guests: each has what its threads did"
	is "$(view_totals vcpus tid)" "$(trace_times |
		awk '{ sum[$1] += $3 } END { for (tid in sum) print tid, sum[tid] }' | sort)" \
		"vcpus: each has what its thread did"
	is "$(view_totals exits reason)" "$(trace_reasons)" \
		"exits: each reason has the trace's number"
	is "$(view_totals events event | grep "^$EXIT ")" "$EXIT $(exits_of)" \
		"events: $EXIT has the trace's number where exits are counted, too"
	two_stop
	rm -f "$TMP/views.db"*
}

# view_shows VIEW: a regular expression for the view's row of the guest "one", which has a slow
# device.
view_shows() {
	case $1 in
	events) echo "\"event\":\"$EXIT\"" ;;
	exits) echo "\"reason\":\"$PIO\"" ;;
	host) echo '"cpu":0' ;;
	why) echo '"finding":"The VMM [^"]*","guest":"one"' ;;
	*) echo '"guest":"one"' ;;
	esac
}

# All views at the same time; hot spots to the exit.
every_view() {
	section "every view"
	LOGS=
	LOG_PIDS=
	guest one --pio 40 --mmio 20 --cpuid 60 --answer 12000 --rounds 6
	for v_view in events guests vcpus exits hotspots host long why; do
		json_begin $v_view --view $v_view -s 1
	done
	guest_run one
	json_more
	for v_pid in $LOG_PIDS; do
		stop "$v_pid"
	done
	stop "$GUEST"
	for v_view in $LOGS; do
		is "$(cat "$TMP/$v_view.err")" "" "--view $v_view: nothing to complain about"
		check "--view $v_view: says what there is" \
			grep -q "$(view_shows "$v_view")" "$TMP/$v_view.json"
	done
	is "$(view_totals hotspots what | grep -e "^$PIO " -e "^$CPUID ")" \
		"$CPUID 360
$PIO 240" "--view hotspots: as often as the guest did it"
}

# What has to add up does in every view and interval, live and from the history of the same time: of
# guests that come and go, one that has nothing to do, one with a slow device, and one that is busy.
adds_up() {
	section "what adds up"
	LOGS=
	LOG_PIDS=
	for v_view in events guests vcpus exits hotspots host why; do
		json_begin $v_view --view $v_view -s 0.5
	done
	spawn kvmtop -w "$TMP/adds.db" -s 0.5 >"$TMP/adds.err" 2>&1
	v_writer=$SPAWNED
	wait_for 120 samples_or_ended "$v_writer"
	guest slow --pio 1 --answer 700000 --rounds 5
	v_slow=$GUEST
	guest idle --pio 1 --pause 300000 --rounds 15
	v_idle=$GUEST
	guest_go slow
	guest_go idle
	for v_nr in 1 2 3; do
		guest comes$v_nr --cpuid 900 --pio 90 --mmio 30 --vcpus 2 --rounds 2
		guest_run comes$v_nr
		stop "$GUEST"
	done
	guest_done slow
	guest_done idle
	stop "$v_slow"
	stop "$v_idle"
	json_more
	for v_pid in $LOG_PIDS $v_writer; do
		stop "$v_pid"
	done
	for v_view in events guests vcpus exits hotspots host; do
		check "live, $v_view: what adds up adds up" invariants "$TMP/$v_view.json"
		kvmtop -r "$TMP/adds.db" -l --json --view $v_view >"$TMP/adds.json" \
			2>"$TMP/adds.err"
		[ $v_view = hotspots ] ||
			check "history, $v_view: what adds up adds up" invariants "$TMP/adds.json"
	done
}

# The way from one guest's exits on the screen to those of one of its vCPUs.
screen_views() {
	section "the views on the screen"
	if ! has_screen; then
		skip "the views on the screen" "$T_no_screen"
		return
	fi
	two_guests
	screen_start 120 30 "exec kvmtop -s 0.3 -g right --view exits"
	wait_for 120 samples_or_ended "$(screen_pid)"
	two_run
	screen_has "^ +$(in_column "$PIO") +180 " "exits: one guest's" 30
	screen_has "^ +$(in_column "$CPUID") +$(cpuids 330 2) " "exits: each reason"
	screen_keys 3
	for v_tid in $(vcpu_tids "$right"); do
		screen_has "^ +[0-9]+ (.* )?$v_tid " "3: a vCPU of it"
	done
	screen_keys Enter
	screen_has "^ +$(in_column "$PIO") +90 " "Enter: the exits of this vCPU alone"
	screen_quits
	two_stop
}
