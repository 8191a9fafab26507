#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest that was chosen by its name is the one that bears the name, over restarts, in each mode.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh

# machine: a copy of the captured machine "amd" on which thread 222 counts as thread 122 does.
machine() {
	rm -rf "$TMP/amd"
	cp -a tests/sysroot/amd "$TMP/amd"
	for t_file in counters exits host; do
		awk '/^(sample|thread|host_cpu) / { if (/^sample/ || !/^thread 122$/) flush() }
			/^(sample|thread|host_cpu) / { mine = $0 == "thread 122" }
			{ print }
			mine { copy = copy $0 "\n" }
			END { flush() }
			function flush() {
				sub("thread 122", "thread 222", copy)
				printf "%s", copy
				copy = ""
			}' "tests/sysroot/amd/kvmtop/$t_file" >"$TMP/amd/kvmtop/$t_file"
	done
}

# die: web1 ends. back: it comes back under another pid.
die() {
	mv "$TMP/amd/proc/112" "$TMP/web1"
	mv "$TMP/amd/sys/kernel/debug/kvm/112-10" "$TMP/web1-kvm"
}

back() {
	sed -i 's/^112 /212 /' "$TMP/web1/stat"
	mv "$TMP/web1/task/122" "$TMP/web1/task/222"
	mv "$TMP/web1/task/112" "$TMP/web1/task/212"
	echo 222 >"$TMP/web1-kvm/vcpu0/pid"
	mv "$TMP/web1-kvm" "$TMP/amd/sys/kernel/debug/kvm/212-10"
	mv "$TMP/web1" "$TMP/amd/proc/212"
}

has_lines() {
	[ "$(wc -l <"$2")" -ge "$1" ]
}

is_recordable() {
	[ "$(id -u)" = 0 ] && [ -c /dev/kvm ] && (: <>/dev/kvm) 2>/dev/null &&
		tracefs >"$TMP/tracefs" &&
		[ -r "$(cat "$TMP/tracefs")/events/kvm/kvm_userspace_exit/id" ]
}

# watch NAME OPTION...: kvmtop's output in $TMP/NAME.
watch() {
	t_out=$TMP/$1
	shift
	spawn "$KVMTOP" "$@" --sysroot "$TMP/amd" >"$t_out" 2>"$t_out.err"
}

# more_lines NR: waits until each log has so many lines more.
more_lines() {
	for t_log in $LOGS; do
		wait_for 5 has_lines $(($(wc -l <"$TMP/$t_log") + $1)) "$TMP/$t_log"
	done
}

said="kvmtop: web1 is back as pid 212"

# ---- a recording of both lives of a guest, which is looked at below

# lives: the pid of each.
lives() {
	sleep 1
	for _ in 1 2; do
		"$HELPERS/miniguest" --name restart-life --pio 50 --rounds 3 --pause 1000 \
			--hold 1 >"$TMP/life.out" &
		echo $!
		wait
	done
}

if is_recordable; then
	spawn "$KVMTOP" record -o "$TMP/r.dat" -e kvm_userspace_exit -- 60
	record=$SPAWNED
	lives >"$TMP/lives" &
	lives=$!
fi

# ---- the two lives of web1, which all of these see

machine
printf 'serial_ratio = 0.000001\n' >"$TMP/thresholds"
pids=
LOGS="log events guests pid write"
watch log -s 0.1 -l --json --view exits -g web1
pids="$pids $SPAWNED"
watch events -s 0.1 -l -c -g web1 -f kvm_entry
pids="$pids $SPAWNED"
watch guests -s 0.1 -l --json --view guests -g web1
pids="$pids $SPAWNED"
watch pid -s 0.1 -l --json --view guests -p 112
pids="$pids $SPAWNED"
watch write -s 0.1 -w "$TMP/h.db" -l --json -g web1
pids="$pids $SPAWNED"
watch exits exits --json -g web1 60
exits=$SPAWNED
wait_for 20 is_sampling "$exits"
more_lines 4
# why counts whoever bears the name, events too. (A captured machine has no counts of what ended.)
watch why why --json -g web1 --thresholds "$TMP/thresholds" 5
why=$SPAWNED
wait_for 20 is_sampling "$why"
sleep 1.1 # the captured machine has no counts between two samples
die
more_lines 4
wait_for 20 grep -q 'has ended' "$TMP/exits.err"
back
more_lines 6
wait_for 20 grep -q 'is back' "$TMP/exits.err"
sleep 1.2
for pid in $pids $exits; do
	stop "$pid"
done
wait "$why"

# of_json NAME KEY: the sum of all numbers of the key in the last record.
of_json() {
	tail -n 1 "$TMP/$1" | grep -o "\"$2\":[0-9]*" | cut -d: -f2 |
		awk '{ n += $1 } END { print n + 0 }'
}

# deltas NAME: the sum of all deltas of all records.
deltas() {
	grep -o '"delta":[0-9]*' "$TMP/$1" | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}

# ---- logs

is "$(cat "$TMP/log.err")" "$said" "a log of exits says once that the guest has another pid"
like "$(tail -n 1 "$TMP/log")" '"delta":[1-9]' "and has its exits,"
like "$(head -n 1 "$TMP/log")" '"delta":[1-9]' "as before"
is "$(deltas log)" "$(of_json log total)" "the total is the sum of the deltas of both lives"

is "$(cat "$TMP/events.err")" "$said: counting anew" "a log of events begins anew, and says so"
like "$(tail -n 1 "$TMP/events")" ',[1-9][0-9]*$' "and has its events"

like "$(tail -n 1 "$TMP/guests")" '"pid":212.*"delta":[1-9]' "a log of guests has the new one"

# A pid is one process.
is "$(cat "$TMP/pid.err")" "" "a guest that was chosen by its pid is not followed"
unlike "$(cat "$TMP/pid")" '"pid":212' "and no other is shown in its place"

# ---- commands

is "$(cat "$TMP/exits.err")" "kvmtop: web1 has ended; a guest that gets the name is counted, too
$said" "exits goes on after the end of a guest, and says so"
like "$(cat "$TMP/exits")" '"reason":"hlt","pid":112,"tid":null,"guest":"web1",[^}]*"total":[1-9]' \
	"it has the first life"
like "$(cat "$TMP/exits")" '"reason":"hlt","pid":212,"tid":null,"guest":"web1",[^}]*"total":[1-9]' \
	"and the second"
is "$(cat "$TMP/why.err")" "$said" "why goes on with the guest that has the name"
like "$(cat "$TMP/why")" '"rule":"serial","pid":212' "and has what it finds of it"

# With a command, the guest may come while it runs.
machine
die
cat >"$TMP/begin" <<'EOF'
sleep 1.2
mv "$TMP/web1-kvm" "$TMP/amd/sys/kernel/debug/kvm/112-10"
mv "$TMP/web1" "$TMP/amd/proc/112"
sleep 2.5
EOF
is "$(status_of "$KVMTOP" exits --sysroot "$TMP/amd" --json -g web1 -- sh "$TMP/begin")" 0 \
	"exits -g NAME -- COMMAND: the command may begin the guest"
is "$(cat "$TMP/err")" "kvmtop: web1 has begun as pid 112" "which is said"
like "$(cat "$TMP/out")" '"pid":112,[^}]*"guest":"web1",[^}]*"total":[1-9]' "it is counted"
unlike "$(cat "$TMP/out")" '"guest":"db1"' "and no other guest is"
is "$(status_of "$KVMTOP" exits --sysroot "$TMP/amd" -g web7 -- true)" 1 "or none comes"
is "$(cat "$TMP/err")" 'kvmtop: no guest named "web7" began' "which is an error"

# ---- a history of both lives

"$KVMTOP" -r "$TMP/h.db" -l --json --view exits -g web1 >"$TMP/back" 2>"$TMP/back.err"
like "$(cat "$TMP/back.err")" '^kvmtop: web1 is back as pid 212 at [0-9:]*$' \
	"a history says once that the guest had another pid"
like "$(head -n 1 "$TMP/back")" '"delta":[1-9]' "its log has the first life"
like "$(tail -n 1 "$TMP/back")" '"delta":[1-9]' "and the second,"
"$KVMTOP" -r "$TMP/h.db" -l --json -f kvm_entry -g web1 2>/dev/null | tail -n 1 >"$TMP/entry"
like "$(cat "$TMP/entry")" '"kvm_entry".*"delta":[1-9]' "whose events -w had counted,"

# total VIEW OPTION...: the sum of all deltas of the rows of one span.
total() {
	t_view=$1
	shift
	"$KVMTOP" -r "$TMP/h.db" -1 --from 1970-01-01 --json --view "$t_view" "$@" |
		grep -o '"delta":[0-9]*' | cut -d: -f2 | awk '{ n += $1 } END { print n + 0 }'
}

both=$(($(total guests -p 112) + $(total guests -p 212)))
check "each life has exits" test "$(total guests -p 112)" -gt 0 -a "$(total guests -p 212)" -gt 0
is "$(total guests -g web1)" $((both)) "a span has both lives: guests,"
is "$("$KVMTOP" -r "$TMP/h.db" -1 --from 1970-01-01 --view guests -g web1 |
	grep -c '^ *web1')" 2 "one row each,"
is "$(total exits -g web1)" "$(($(total exits -p 112) + $(total exits -p 212)))" "and exits"
"$KVMTOP" -r "$TMP/h.db" --diff 1970-01-01..now --to now -c -g web1 >"$TMP/diff"
"$KVMTOP" -r "$TMP/h.db" --diff 1970-01-01..now --to now -c -p 112 >"$TMP/diff1"
isnt "$(cat "$TMP/diff")" "$(cat "$TMP/diff1")" "--diff has both lives, too"

# rate OPTION...: what the row of web1 says of both spans of --diff, in CSV.
rate() {
	"$KVMTOP" -r "$TMP/h.db" --diff 1970-01-01..now --to now -c "$@" >"$TMP/diff"
	awk -F, "$CSV_AT"'
		/web1/ { print $at("other_rate"), $at("rate") }' "$TMP/diff"
}

elapsed=$("$KVMTOP" -r "$TMP/h.db" --diff 1970-01-01..now --to now --json |
	sed -n 's/.*"elapsed_s":\([0-9.]*\).*/\1/p' | head -n 1)
for view in guests vcpus; do
	is "$(rate --view $view | wc -l)" 1 "--diff, $view: one row for both lives"
	check "with the sum of both" awk -v rates="$(rate --view $view)" -v all="$both" \
		-v s="$elapsed" 'BEGIN { split(rates, r, " "); exit !(r[1] == r[2] &&
			r[1] > 0.999 * all / s && r[1] < 1.001 * all / s) }'
done
is "$("$KVMTOP" -r "$TMP/h.db" --diff 1970-01-01..now --to now --json --view guests |
	grep -o '"guest":"web1"' | wc -l)" 1 "and in JSON"

# Two spans: it runs in the first, and ends in the second.
machine
spawn "$KVMTOP" --sysroot "$TMP/amd" -s 0.1 -w "$TMP/ends.db" 2>"$TMP/err"
wait_for 10 is_sampling "$SPAWNED"
sleep 0.5
middle=$(date +%H:%M:%S.%N | cut -c1-12)
sleep 0.3
die
sleep 0.5
stop "$SPAWNED" INT
# ended OPTION...: the difference of the two spans, of all of the guest.
ended() {
	"$KVMTOP" -r "$TMP/ends.db" --diff "..$middle" --from "$middle" --view guests "$@"
}
like "$(ended)" '^web1 \(ended\) ' "--diff says that a guest has ended"
like "$(ended)" '^db1 +[0-9]' "and not of another one"
like "$(ended --json)" '"guest":"web1",[^}]*"ended":1}' "in JSON, too"
like "$(ended --json)" '"guest":"db1",[^}]*"ended":null}' "and not of another one"
is "$(ended -1)" "$(ended)" "-1 --diff is --diff: it prints once"

# ---- a screen over the history

SCRIPT_CLOCK=real
export SCRIPT_CLOCK
script_start 80 24 -r "$TMP/h.db" --view events -g web1
screen_has ' web1 \(pid 212\)$' "the screen shows the last life,"
screen_keys j
screen_type -10m
screen_keys Enter
screen_has ' web1 \(pid 112\)$' "at the beginning the first one,"
screen_keys j
screen_type +10m
screen_keys Enter
screen_has ' web1 \(pid 212\)$' "and at the end the last one again"
screen_stop

# ---- the exporter

machine
spawn "$KVMTOP" export --sysroot "$TMP/amd" -s 0.1 --prometheus "$TMP/x.prom" 2>"$TMP/prom.err"
exits='kvmtop_exits_total{guest="web1",reason="hlt"}'
wait_for 5 grep -qsF "$exits" "$TMP/x.prom"
die
back
has_pid() {
	grep -qs "^kvmtop_guest_info{guest=\"web1\",.*pid=\"212\"" "$TMP/x.prom"
}
check "the exporter has the new guest under its name" wait_for 5 has_pid
like "$(cat "$TMP/x.prom")" '^kvmtop_exits_total\{guest="web1",reason="hlt"\} [1-9]' \
	"with its exits"

# ---- a recording of both lives

# exits OPTION...: the exits of the recording's report.
exits() {
	"$KVMTOP" report "$TMP/r.dat" "$@" 2>"$TMP/err" | sed -n 's/^\([0-9]*\) in all.*/\1/p'
}

if is_recordable; then
	wait "$lives"
	stop "$record" INT
	first=$(sed -n 1p "$TMP/lives")
	one=$(exits -p "$first")
	two=$(exits -p "$(sed -n 2p "$TMP/lives")")
	is "$one $two" "153 153" "a recording has two lives of one name"
	is "$(exits -g restart-life)" 306 "report -g NAME has both"
	is "$(exits -g "$first restart-life")" 153 "with the pid before it, one"
else
	skip "report -g NAME" "no guest can be recorded here"
fi

done_testing
