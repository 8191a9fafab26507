#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What -w writes is what -r shows: the same lines, the same sums, across restarts and for a span.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh

DB=$TMP/h.db
PIO=1234
MMIO=567

# captured MACHINE OPTION...: kvmtop on a captured machine, every 0.1 s.
captured() {
	t_machine=$1
	shift
	"${kvmtop:-$KVMTOP}" --sysroot "tests/sysroot/$t_machine" -s 0.1 "$@"
}
# captured_at_once MACHINE OPTION...: the same, and it waits for nothing.
captured_at_once() {
	SCRIPT_CLOCK='' kvmtop=$AT_ONCE captured "$@"
}

# reasons FILE: each reason and the sum of its deltas.
reasons() {
	grep -o '{"reason":"[^}]*}' "$1" |
		sed 's/{"reason":"\([^"]*\)".*"delta":\([0-9]*\),.*/\1 \2/' |
		awk '{ n[$1] += $2 } END { for (i in n) if (n[i]) print i, n[i] }' | LC_ALL=C sort
}

# ---- what is read is what was shown

for view in events guests vcpus exits hotspots; do
	for format in --json -c --view; do
		rm -f "$DB"*
		options="-l $format"
		[ $format != --view ] || options=-l
		# shellcheck disable=SC2086 # words
		captured_at_once amd -w "$DB" $options --view $view -n 3 >"$TMP/live"
		# shellcheck disable=SC2086
		"$KVMTOP" -r "$DB" $options --view $view >"$TMP/back"
		check "$view: there are lines" test -s "$TMP/live"
		same_files "$TMP/back" "$TMP/live" "$options --view $view: as the live log"
	done
done

rm -f "$DB"*
captured intel -w "$DB" -l --json --view exits -n 4 >"$TMP/live"
"$KVMTOP" -r "$DB" -l --json --view exits >"$TMP/back"
same_files "$TMP/back" "$TMP/live" "--json alone: all samples"
"$KVMTOP" -r "$DB" -l --json --view exits -n 2 >"$TMP/back"
head -n 2 "$TMP/live" >"$TMP/two"
same_files "$TMP/back" "$TMP/two" "-n: the first ones"
"$KVMTOP" -r "$DB" -1 --json --view exits >"$TMP/back"
sed -n 4p "$TMP/live" >"$TMP/one"
same_files "$TMP/back" "$TMP/one" "-1: the latest sample"

# Of a time in JSON the last digit is a millisecond, so a sample was taken a little later.
time_of() {
	sed -n "$1s/{\"time\":\"\([^\"]*\)\".*/\1/p" "$TMP/live"
}
sed -n 2p "$TMP/live" >"$TMP/one"
"$KVMTOP" -r "$DB" -l --json --view exits --from "$(time_of 2)" --to "$(time_of 3)" >"$TMP/back"
same_files "$TMP/back" "$TMP/one" "--from, --to: the samples of that time"
"$KVMTOP" -r "$DB" -1 --json --view exits --at "$(time_of 2)" >"$TMP/back"
same_files "$TMP/back" "$TMP/one" "--at: the sample of that time"
for at in @0 2001-01-01 2101-01-01; do
	is "$(status_of "$KVMTOP" -r "$DB" -1 --view exits --at "$at") $(wc -c <"$TMP/out")" "1 0" \
		"--at $at, outside of the file: nothing"
	like "$(cat "$TMP/err")" \
		"^kvmtop: $DB: no sample was taken in that time: it has samples from 2.* to 2" \
		"and it says when the file begins and ends"
done
"$KVMTOP" -r "$DB" -l --json --view exits --from now >"$TMP/back" 2>"$TMP/err"
is "$? $(wc -l <"$TMP/back")" "1 0" "after the last one there is none"
like "$(cat "$TMP/err")" \
	'^kvmtop: [^ ]*h.db: no sample was taken in that time: it has samples from [0-9-]+' \
	"and it says which there are"

"$KVMTOP" -r "$DB" -1 --json --view exits --from @0 >"$TMP/back"
is "$(reasons "$TMP/back")" "$(reasons "$TMP/live")" "-1 --from: one interval with the sums of all"
check "of several reasons" test "$(reasons "$TMP/live" | wc -l)" -gt 3
"$KVMTOP" -r "$DB" -1 --json --view exits --from "$(time_of 2)" --to "$(time_of 4)" >"$TMP/back"
sed -n 2,3p "$TMP/live" >"$TMP/two"
is "$(reasons "$TMP/back")" "$(reasons "$TMP/two")" "-1 --from --to: of the ones between"
is "$(sed 's/.*"elapsed_s":\([0-9.]*\),.*/\1/' "$TMP/back")" \
	"$(sed 's/.*"elapsed_s":\([0-9.]*\),.*/\1/' "$TMP/two" |
		awk '{ n += $1 } END { printf "%.4f\n", n }')" "which took as long as they did"
like "$("$KVMTOP" -r "$DB" -f help)" '^  kvm_exit\(HLT\)$' "-f help: the names"
is "$("$KVMTOP" -r "$DB" -1 --view long 2>&1 >"$TMP/out")" \
	"kvmtop: Long exits were not kept: they are listed live and of recordings, and kvmtop -w \
FILE --keep long keeps them." \
	"--view long: it says that there are none"
is "$("$KVMTOP" -r "$DB" -1 --from 00:00 --view long 2>&1 >"$TMP/out" | grep -c 'not kept')" 1 \
	"--view long --from: the same"

# ---- the writer begins anew

captured intel -w "$DB" -l --json --view exits -n 2 >>"$TMP/live"
"$KVMTOP" -r "$DB" -l --json --view exits >"$TMP/back"
same_files "$TMP/back" "$TMP/live" "another run of the writer goes on with the file"
"$KVMTOP" -r "$DB" -1 --json --view exits --from @0 >"$TMP/back"
is "$(reasons "$TMP/back")" "$(reasons "$TMP/live")" "and the sums are of both"

# ---- without lines

rm -f "$DB"*
captured amd -w "$DB" -n 3 >"$TMP/out" 2>"$TMP/err" </dev/null
is "$? $(cat "$TMP/out" "$TMP/err")" "0 " "-w without a terminal shows nothing"
is "$("$KVMTOP" -r "$DB" -l --json | wc -l)" 3 "and writes"

for signal in TERM INT; do
	rm -f "$DB"*
	spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" >"$TMP/out" 2>&1 </dev/null
	writer=$SPAWNED
	has_samples() {
		[ "$("$KVMTOP" -r "$DB" -l --json 2>/dev/null | wc -l)" -ge 2 ]
	}
	check "what one process writes another reads" wait_for 10 has_samples
	# Not a log that is reopened.
	kill -HUP "$writer"
	seen=$("$KVMTOP" -r "$DB" -l --json | wc -l)
	stop "$writer" $signal
	is "$? $(cat "$TMP/out")" "0 " "SIG$signal ends it, SIGHUP does not"
	check "and all samples are there" \
		test "$("$KVMTOP" -r "$DB" -l --json | wc -l)" -ge "$seen"
	check "in one file" test ! -e "$DB-wal"
done

# ---- two spans side by side

rm -f "$DB"*
for samples in 4 2; do
	captured intel -w "$DB" -l --json --view exits -n $samples >"$TMP/live.$samples"
done
second=$(sed -n '1s/{"time":"\([^"]*\)".*/\1/p' "$TMP/live.2")
"$KVMTOP" -r "$DB" --diff "..$second" --from "$second" --json >"$TMP/diff"
# rate FILE SECONDS: the exits for HLT in a second, in hundreds.
rate() {
	grep -o '{"reason":"HLT"[^}]*}' "$1" | sed 's/.*"delta":\([0-9]*\),.*/\1/' |
		awk -v s="$2" '{ n += $1 } END { printf "%.0f\n", n / s / 100 }'
}
diff_of() {
	grep -o '{"reason":"HLT"[^}]*}' "$TMP/diff" |
		sed "s/.*\"$1\":\([0-9.-]*\),.*/\1/" | awk '{ printf "%.0f\n", $1 / 100 }'
}
elapsed=$(sed 's/.*"elapsed_s":\([0-9.]*\),"view.*/\1/' "$TMP/live.4" |
	awk '{ n += $1 } END { print n }')
is "$(diff_of other_rate)" "$(rate "$TMP/live.4" "$elapsed")" "--diff: the rate of the first span"
elapsed=$(sed 's/.*"elapsed_s":\([0-9.]*\),"view.*/\1/' "$TMP/live.2" |
	awk '{ n += $1 } END { print n }')
is "$(diff_of rate)" "$(rate "$TMP/live.2" "$elapsed")" "and of the second"
"$KVMTOP" -r "$DB" --diff "..$second" --from "$second" >"$TMP/diff"
like "$(sed -n 1p "$TMP/diff")" '^1: [0-9-]+ [0-9:]+ to ([0-9-]+ )?[0-9:]+ UTC, 4\.[0-9] s$' \
	"as a table, with their times"
like "$(cat "$TMP/diff")" '^HLT +[0-9]+ +[0-9]+ ' "and a line for each reason"
"$KVMTOP" -r "$DB" --diff "..$second" --from "$second" -c >"$TMP/diff"
like "$(sed -n 1p "$TMP/diff")" '^reason,guest,vcpu,other_rate,rate,rate_change,' "as CSV"
"$KVMTOP" -r "$DB" --diff "..$second" --from "$second" --view guests >"$TMP/diff"
like "$(cat "$TMP/diff")" '^Guest +Count/s 1' "--view guests: by guest"

is "$(status_of "$KVMTOP" -r "$DB" --diff "..$second" --from "$second" --view hotspots)" 2 \
	"of other views there is nothing to compare"
like "$(cat "$TMP/err")" '^kvmtop: --diff compares exits, with --view guests or vcpus by these' \
	"which is said"

# diff_with REGEX: reasons and rates, of a history with itself.
diff_with() {
	"$KVMTOP" -r tests/data/history/version-2.db --diff ..now --to now -c -f "$1" 2>"$TMP/err" |
		cut -d, -f1,4,5
}
is "$(diff_with hlt)" "$(printf 'reason,other_rate,rate\nhlt,391.216,391.216')" "a filter chooses"
is "$(diff_with userspace | awk -F, 'NR > 1 { print $1, ($2 > 0 && $2 == $3) }')" \
	"$(printf 'IO 1\nMMIO 1')" "both spans have the exits to user space, if these are chosen"
is "$(diff_with nothing)" "reason,other_rate,rate" "a filter that matches nothing"
is "$(cat "$TMP/err")" 'kvmtop: no exit in these spans matches "nothing"' "which is said"

# ---- the screen, by the clock that the history has

SCRIPT_CLOCK=real
export SCRIPT_CLOCK
script_start 100 24 -r "$DB" --view exits
screen_has '^ *.?HLT ' "the screen over a history"
unlike "$(screen_line 1)" paused "begins with its end"
screen_keys t
screen_has 'paused at .* ago' "t: the sample before"
screen_keys Space
is_at_end() {
	! screen_line 1 | grep -q paused
}
check "Space: the end again" is_at_end
screen_keys q
is "$(screen_status)" 0 "q"

script_start 100 24 -r "$DB" --view exits --at "$second"
screen_has 'paused at .* ago' "--at: begins there"
screen_keys End
check "the end is in the second run" is_at_end
screen_keys m
screen_has '┊' "m: the heat map goes on across runs, with the gap between them"
screen_keys Escape 1
screen_has 'kvm_exit .* [^ 0-9]+ [^ 0-9]+$' "and so do the rates of a row"
screen_keys q
is "$(screen_status)" 0 "and ends"

rm -f "$DB"*
script_start 100 24 --sysroot tests/sysroot/amd --view events -s 0.1 -w "$DB"
screen_pass 1
has_samples() {
	[ "$("$KVMTOP" -r "$DB" -l --json 2>/dev/null | wc -l)" -ge 2 ]
}
check "-w beside the screen" has_samples
screen_has 'kvm_exit' "which is there"
screen_keys q
is "$(screen_status)" 0 "and q ends both"
check "in one file" test ! -e "$DB-wal"

# What is written is followed.
spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" >/dev/null 2>&1 </dev/null
writer=$SPAWNED
script_start 100 24 -r "$DB" --view guests
screen_has 'web1' "a history that is being written"
before=$(screen_line 1)
moved() {
	[ "$(screen_line 1)" != "$before" ]
}
check "its end moves" wait_for 10 moved
stop "$writer"
rm -f "$DB"*
screen_has 'h.db was removed: this is what it had' "a file that is removed meanwhile"
captured amd -w "$DB" -n 1 >/dev/null 2>&1 </dev/null
screen_has 'h.db was replaced: this is the former file' "and replaced"
screen_has 'web1' "is shown as it was"
screen_keys q

# ---- errors

is "$(status_of "$KVMTOP" -r "$TMP/none" -1) $(cat "$TMP/err")" \
	"1 kvmtop: $TMP/none: No such file or directory" "no such file"
if [ -e /var/lib/kvmtop/history.db ]; then
	skip "no history of the service" "there is one here"
else
	is "$(status_of "$KVMTOP" -r -1)" 1 "no history of the service"
	like "$(cat "$TMP/err")" 'db: there is no history yet: .*kvmtop-history, .* -w FILE' \
		"and what makes one"
fi
echo "something else" >"$TMP/other"
is "$(status_of "$KVMTOP" -r "$TMP/other" -1) $(wc -l <"$TMP/err")" "1 1" "another program's file"
is "$(status_of captured amd -w "$TMP/other" -n 1) $(cat "$TMP/other")" "1 something else" \
	"is not written to"
is "$(status_of "$KVMTOP" -r "$DB" -1 --from -1h --to -2h)
$(cat "$TMP/err")" '2
kvmtop: "-2h" is not after "-1h"
Try kvmtop --help.' "a span that goes back"
is "$(status_of "$KVMTOP" -r "$DB" -1 -g nobody)" 1 "no such guest"
like "$(cat "$TMP/err")" 'no guest named "nobody"' "which is said"
spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" >/dev/null 2>&1 </dev/null
writer=$SPAWNED
check "a writer" wait_for 10 is_sampling "$writer"
is "$(status_of captured amd -w "$DB" -n 1) $(wc -l <"$TMP/err")" "1 1" "a second writer is refused"
stop "$writer"

rm -f "$DB"*
captured arm64 -w "$DB" -n 3 >"$TMP/out" 2>&1 </dev/null
is "$(status_of "$KVMTOP" -r "$DB" -1 --view exits)" 0 "a host on which exits cannot be counted"
like "$(cat "$TMP/err")" 'kvmtop: exits: no exits were recorded' "says so in its history"

# In a file that may not grow beyond 300 blocks there is room for a few samples.
rm -f "$DB"*
(
	ulimit -f 300
	captured_at_once intel -w "$DB" -n 30 >"$TMP/out" 2>"$TMP/err" </dev/null
)
like "$(sed -n 1p "$TMP/err")" 'kvmtop: samples cannot be stored: .*h.db: .*ulimit -f' \
	"no room: said when it begins"
# Not in the last line where the minute's rows do not fit in, either.
lost=$(sed -n 's/^kvmtop: samples that could not be stored: \([0-9]*\)$/\1/p' "$TMP/err")
like "$lost" '^[1-9][0-9]*$' "and how many at the end"
is "$(($("$KVMTOP" -r "$DB" -l --json | wc -l) + ${lost:-0}))" 30 "the others are in the file"

# ---- exactly N

need_live

A=hist-a-$$
B=hist-b-$$

# write_while NAME: a writer from before the guest's exits to after them.
write_while() {
	spawn "$KVMTOP" -w "$DB" -s 0.2 >"$TMP/out" 2>"$TMP/err" </dev/null
	writer=$SPAWNED
	wait_for 15 is_sampling "$writer" || return
	echo >"$TMP/$1.in"
	wait_for 20 grep -q '^done' "$TMP/$1.out" || return
	# One sample more, of what happened until now.
	seen=$("$KVMTOP" -r "$DB" -l --json 2>/dev/null | wc -l)
	has_more() {
		[ "$("$KVMTOP" -r "$DB" -l --json 2>/dev/null | wc -l)" -gt $((seen + 1)) ]
	}
	wait_for 15 has_more || return
	stop "$writer"
}

rm -f "$DB"*
check "a guest" guest "$A" --pio $PIO --mmio $MMIO --vcpus 2
a=$GUEST
check "another" guest "$B" --pio 77 --rounds 3
b=$GUEST
check "a run with one guest" write_while "$A"
check "and one with another" write_while "$B"
stop "$a"
stop "$b"

USER="-f ^kvm_userspace_exit"
A_ALL=$((2 * (PIO + MMIO + 1)))
B_ALL=$((3 * (77 + 1)))

# faces WHAT WANT KEY VALUE OPTION...: the sum is the same in every face.
faces() {
	t_what=$1 t_want=$2 t_key=$3 t_value=$4
	shift 4
	# shellcheck disable=SC2086 # words
	"$KVMTOP" -r "$DB" -l --json $USER "$@" >"$TMP/json" 2>"$TMP/err"
	is "$(deltas "$TMP/json" "$t_key" "$t_value")" "$t_want" "$t_what: -l --json"
	# shellcheck disable=SC2086
	"$KVMTOP" -r "$DB" -1 --json --from @0 $USER "$@" >"$TMP/json" 2>"$TMP/err"
	is "$(deltas "$TMP/json" "$t_key" "$t_value")" "$t_want" "$t_what: -1 --from"
	# shellcheck disable=SC2086
	"$KVMTOP" -r "$DB" -l -c $USER "$@" >"$TMP/csv" 2>"$TMP/err"
	is "$(awk -F, -v key="$t_key" -v value="$t_value" "$CSV_AT"'
		$at(key) == value { n += $at("delta") }
		END { print n + 0 }' "$TMP/csv")" "$t_want" "$t_what: -c"
}

faces "a guest" $A_ALL guest "$A" --view vcpus
faces "another, of another run" $B_ALL guest "$B" --view vcpus
faces "a vCPU" $((A_ALL / 2)) vcpu 1 --view vcpus -g "$A"
if [ "$(uname -m)" = x86_64 ]; then
	faces "a reason" $((2 * PIO)) reason IO --view exits -g "$A"
	faces "another reason" $((2 * MMIO)) reason MMIO --view exits -g "$A"
	faces "a reason of the other" $((3 * 77)) reason IO --view exits -g "$B"
else
	skip "by reason" "reasons have other names here"
fi

done_testing
