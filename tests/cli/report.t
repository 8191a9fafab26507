#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `kvmtop report`: agrees with perf, prints what golden files have, says what it cannot read.
. tests/lib.sh

data=tests/data/trace
golden=tests/golden/report

report() {
	"$KVMTOP" report "$@"
}

# The same as status_of, for report.
status() {
	status_of "$KVMTOP" report "$@"
}

# ---- the same numbers as perf kvm stat report: name, samples, min, max, avg

# A line of perf: "msr 98 27.45% 6.45% 26.61us 5598.51us 161.55us ( +- 43.84% )".
perf_rows() {
	awk '$3 ~ /%$/ && $2 ~ /^[0-9]+$/ {
		print $1, $2, $4 + 0, $5 + 0, $6 + 0, $7 + 0, sprintf("%.1f", $10)
	}' "$1" | sort
}

# Ours of a CSV, rounded as perf rounds. It writes "0x70:POUT" and "0xfe000:W" where it is "io 0x70
# write 1 RTC" and "npf 0xfe000 write 4" here.
csv_rows() {
	awk -F, -v event="$1" '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				column[$i] = i
			next
		}
		function us(ns) { return sprintf("%.2f", ns / 1000) + 0 }
		{
			name[NR] = $column["reason"]
			split(name[NR], word, " ")
			if (event == "ioport")
				name[NR] = word[2] ":P" (word[3] == "write" ? "OUT" : "IN")
			if (event == "mmio")
				name[NR] = word[2] ":" toupper(substr(word[3], 1, 1))
			count[NR] = $column["total"]
			time[NR] = $column["time_ns"]
			all += time[NR]
			avg = $column["avg_ns"]
			error = 100 * $column["stddev_ns"] * sqrt(count[NR]) / time[NR]
			rest[NR] = us($column["min_ns"]) " " us($column["max_ns"]) " " us(avg) " " \
				sprintf("%.1f", error)
		}
		END {
			for (i = 2; i <= NR; i++)
				print name[i], count[i], sprintf("%.2f", 100 * time[i] / all) + 0,
					rest[i]
		}' | sort
}

# csv_times: each row's reason and vCPU, and its time with what was waited, of a CSV.
csv_times() {
	awk -F, "$CSV_AT"'
	{ waited = "wait_ns" in csv_at ? $at("wait_ns") : 0 }
	{ print $at("reason"), $at("vcpu"), $at("time_ns") + waited }' | sort
}

for event in vmexit mmio ioport; do
	perf_rows $data/svm-perf-$event.txt >"$TMP/perf"
	report --event $event --csv $data/svm-perf.data | csv_rows $event >"$TMP/ours"
	check "perf says something of $event" test -s "$TMP/perf"
	same_files "$TMP/ours" "$TMP/perf" "$event: all numbers are perf's"
done

# ---- made-up recordings, of which everything is known

for kind in acrn kvmtrace dat sched perf group; do
	"$HELPERS/trace_make" $kind "$TMP/$kind" || not_ok "trace_make $kind"
done

"$HELPERS/trace_make" guest "$TMP/inside" || not_ok "trace_make guest"
like "$(report --text "$TMP/inside")" \
	'No VM exits \(kvm_exit\) are recorded: kvmtop record, perf kvm stat record and' \
	"a recording without exits: how to make one with exits"
like "$(report --text -p 1 $data/svm-perf.data)" 'were chosen have none of these exits; --by tid' \
	"a process that is not in it: how to find those that are"

# golden NAME OPTIONS: what is printed, and the exit status and errors where there are any.
golden() {
	name=$1
	shift
	status=0
	(cd "$TMP" && "$kvmtop" report "$@") >"$TMP/out" 2>"$TMP/err" || status=$?
	[ $status = 0 ] || echo "exit status $status" >>"$TMP/out"
	sed 's/^/stderr: /' "$TMP/err" >>"$TMP/out"
	same_golden "$TMP/out" "$golden/$name.txt" "report $*"
}

kvmtop=$(realpath "$KVMTOP")
cp $data/arm64-perf.data $data/svm-perf.data "$TMP"
golden acrn --frequency 1000 acrn
golden acrn-vm_exit --acrn --frequency 1000 acrn
golden kvmtrace-vcpu --by vcpu kvmtrace
golden dat dat
golden dat-json --json dat
golden sched sched
golden sched-vcpus --view vcpus sched
golden diff-sched --diff dat sched
golden dat-csv --csv --by vcpu dat
golden perf-guest --by guest perf
golden perf-key -k reason perf
golden perf-pid -p 80 perf
golden perf-vcpu --vcpu 1 dat
golden group --view events group
golden svm-tid --by tid svm-perf.data
golden svm-cpuid --event cpuid svm-perf.data
golden svm-mmio --event mmio --by guest svm-perf.data
golden svm-msr --event msr -k p99 svm-perf.data
golden arm64 arm64-perf.data
golden diff --diff dat acrn --frequency 1000
golden diff-guests --diff perf svm-perf.data --by guest
golden diff-json --diff dat acrn --frequency 1000 --json
golden diff-csv --diff perf svm-perf.data --by vcpu --csv
golden dat-view --view guests dat
golden kvmtrace-csv --csv kvmtrace
golden help --help
no_other_golden "$golden"

# ---- perf's times, from the exit to the entry, are ours and what was waited

for by in reason vcpu; do
	report --by $by --csv "$TMP/dat" | csv_times >"$TMP/theirs"
	report --by $by --csv "$TMP/sched" | csv_times >"$TMP/ours"
	check "--by $by: there are times" grep -q ' [1-9][0-9]*$' "$TMP/ours"
	same_files "$TMP/ours" "$TMP/theirs" "--by $by: time_ns and wait_ns are all of the time"
done

# ---- columns by any of their names

# order COMMAND...: the reasons in the order of the rows.
order() {
	"$@" | awk -F, 'NR > 1 { print $1 }'
}

amd="--sysroot tests/sysroot/amd"
for names in "mean avg avg_ns" "p99 p99_ns" "total sample" "time time_ns" "max max_ns" \
	"total_percent percent_sample" "time_percent percent_time"; do
	id=${names##* }
	for name in $names; do
		is "$(order report -k "$name" --csv "$TMP/svm-perf.data")" \
			"$(order report -k "$id" --csv "$TMP/svm-perf.data")" "report -k $name"
		# shellcheck disable=SC2086 # words
		is "$(order "$AT_ONCE" exits $amd -k "$name" --csv 0.1)" \
			"$(order "$AT_ONCE" exits $amd -k "$id" --csv 0.1)" "exits -k $name"
		# shellcheck disable=SC2086 # words
		is "$("$AT_ONCE" $amd -1 --view exits -k "$name" | cut -c1-10)" \
			"$("$AT_ONCE" $amd -1 --view exits -k "$id" | cut -c1-10)" "-k $name"
	done
done
is "$(order report -k mean --csv "$TMP/svm-perf.data" | head -n 1)" "npf" "-k mean: the mean"

# ---- files

sed 's/\[local\]/[other]/' "$TMP/dat" >"$TMP/other.dat"
report --text "$TMP/dat" "$TMP/other.dat" >/dev/null 2>"$TMP/err"
is "$(cat "$TMP/err")" "kvmtop: $TMP/dat is on the clock \"local\", $TMP/other.dat on \"other\": \
the two may be apart; read them separately" "recordings on two clocks"
cp "$TMP/dat" "$TMP/same.dat"
report --text "$TMP/dat" "$TMP/same.dat" >/dev/null 2>"$TMP/err"
is "$(cat "$TMP/err")" "" "on one clock"
ln -s dat "$TMP/link.dat"
for twice in dat link.dat; do
	is "$(status_of "$KVMTOP" report --text "$TMP/dat" "$TMP/$twice") $(cat "$TMP/err")" \
		"1 kvmtop: $TMP/dat and $TMP/$twice are one file: name it once" \
		"a file twice: $twice"
	is "$(wc -c <"$TMP/out")" 0 "and nothing is counted"
done
is "$(status_of "$KVMTOP" report --text --diff "$TMP/dat" "$TMP/dat")" 0 \
	"--diff of a file and itself"

report --csv "$TMP/dat" >"$TMP/rows.csv"
is "$(report --csv --output "$TMP/rows2.csv" "$TMP/dat")" "" "--output FILE: nothing is printed"
same_files "$TMP/rows.csv" "$TMP/rows2.csv" "and the file has the rows"

like "$(report --acrn --frequency 1000.0 --csv "$TMP/acrn" | tr -d '\r')" \
	'^[0-9]+,[0-9.]+,1000\.0$' \
	"ACRN's CSV has the frequency as it was written"
is "$(status_of "$KVMTOP" report --frequency 1 "$TMP/acrn")" 0 "a TSC of 1 MHz"
report --acrn --frequency 1000 --csv --output "$TMP/acrn.csv" "$TMP/acrn" >/dev/null
report --acrn --frequency 1000 --csv --output "$TMP/acrn.csv" "$TMP/acrn" >/dev/null
is "$(grep -c '^Run time(cycles),Run time(Sec),Freq(MHz)' "$TMP/acrn.csv")" 2 \
	"ACRN's CSV file grows"
is "$(tail -n 1 "$TMP/acrn.csv" | tr -d '\r')" "Total,64,503937.01,64000,50.39" "by a whole report"

# ---- kvmtop -r FILE: the same program as over a history

recorded=$TMP/svm-perf.data
# sum COLUMN: of a CSV.
sum() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
		{ n += $column } END { print n + 0 }'
}
all=$(report --csv "$recorded" | sum total)
is "$("$KVMTOP" -r "$recorded" --csv | sum total)" "$all" "-r FILE --csv: as report"
is "$("$KVMTOP" -r "$recorded" -l -c --view exits | sum delta)" "$all" \
	"-r FILE -l: the intervals add up to the recording"
is "$("$KVMTOP" -r "$recorded" -l -c --view exits -s 0.01 -n 3 | cut -d, -f1 | sort -u | wc -l)" 4 \
	"-s and -n are of its intervals"
like "$("$KVMTOP" -r "$recorded" -l -n 1 -s 0.000000001 2>&1)" \
	'^kvmtop: -s 1e-09 would make too many samples' "an interval that is too short is said"
is "$("$KVMTOP" -r "$recorded" -1 --json --view exits --from 00:00:00 |
	grep -o '"delta":[0-9]*' | tr -dc '0-9\n' | awk '{ n += $1 } END { print n }')" "$all" \
	"--from: a span as one interval"
# long OPTION...: when the long exits ended.
long() {
	"$KVMTOP" -r "$recorded" --json --view long "$@" | grep -o '"end_ns":[0-9]*' | cut -d: -f2
}
is "$(long -l | sort)" "$(long -1 | sort)" "--view long -l: each interval has its own"
like "$(long -1 | wc -l)" '^[1-9][0-9]' "of which there are some"
is "$(long -1 --from 00:00:00.05 --to 00:00:00.1 | sort)" \
	"$(long -1 | awk '$1 > 50000000 && $1 <= 100000000' | sort)" "and so has a span"
like "$("$KVMTOP" -r "$recorded" --diff 00:00:00..+90ms --from -90ms)" '^npf +[0-9]+ +[0-9]+ ' \
	"--diff: two spans of it"
like "$("$KVMTOP" -r "$recorded" -1 --at now --view exits)" '^cpuid +78 ' "--at: a moment of it"
# It has no time of day: seconds from its start.
for face in '-l --view exits' '-l --view events' '-l -c --view exits' '-l -c --view events'; do
	# shellcheck disable=SC2086
	"$KVMTOP" -r "$recorded" $face -s 0.05 >"$TMP/out"
	is "$(sed -n 's/^\(0\.[0-9]*\)[, ].*/\1/p' "$TMP/out" | uniq | head -n 2 | xargs)" \
		"0.050000 0.100000" "$face: seconds from the start"
	unlike "$(cat "$TMP/out")" 1970 "$face: no day"
done
like "$("$KVMTOP" -r "$recorded" -l --json -n 1 -s 0.05)" '^\{"time":0\.050000,' \
	"-l --json: the same"
like "$("$KVMTOP" -r "$recorded" --json --diff 00:00:00..+90ms --from -90ms)" \
	'"span":\{"from":0\.[0-9]*,"to":0\.18[0-9]*,' "--diff: the two spans, JSON"
like "$("$KVMTOP" -r "$recorded" -1 --at 1970-01-01 2>&1)" \
	'it has samples from 0\.00[0-9]* s to 0\.18[0-9]* s$' "--at before it"
like "$("$KVMTOP" -r "$recorded" --diff 00:00:00..+90ms --from -90ms)" \
	'^1: 0\.000000 s to 0\.09[0-9]* s, ' "--diff: the two spans"

# ---- a folder of perf record

mkdir "$TMP/folder"
cp "$recorded" "$TMP/folder/data"
for args in "--text" "--csv --view vcpus" "--json"; do
	# shellcheck disable=SC2086
	report $args "$recorded" | sed "s|$recorded|PATH|" >"$TMP/file.out"
	# shellcheck disable=SC2086
	report $args "$TMP/folder" | sed "s|$TMP/folder|PATH|" >"$TMP/folder.out"
	same_files "$TMP/folder.out" "$TMP/file.out" "a folder of one file: report $args"
done
is "$("$KVMTOP" -r "$TMP/folder/" -1 --csv | sum total)" "$all" "-r FOLDER -1"
is "$("$KVMTOP" -r "$TMP/folder" -l -c --view exits | sum delta)" "$all" "-r FOLDER -l"
"$KVMTOP" timeline -r "$recorded" -o "$TMP/file.out"
"$KVMTOP" timeline -r "$TMP/folder" -o "$TMP/folder.out"
same_files "$TMP/folder.out" "$TMP/file.out" "timeline -r FOLDER"
: >"$TMP/folder/data"
is "$(status "$TMP/folder")" 1 "a folder with an empty file"
like "$(cat "$TMP/err")" "folder: the file is empty" "and why"
rm "$TMP/folder/data"
like "$("$KVMTOP" -r "$TMP/folder" -1 2>&1)" "folder: neither a captured machine " \
	"-r of another folder"
like "$("$KVMTOP" -r "$recorded" -f help)" '^  kvm_exit\(cpuid\)$' "-f help: its names"
like "$("$KVMTOP" -r "$TMP/acrn" -l 2>&1)" 'cycles: give the TSC.s frequency with --frequency' \
	"cycles need their length"

# As its script has it: from the first exit to the last entry.
run_time() {
	report --acrn --frequency 1000 - | head -n 1
}
is "$(tail -c +33 "$TMP/acrn" | run_time)" "$(tail -c +65 "$TMP/acrn" | run_time)" \
	"--acrn: an entry before the first exit takes no time"
is "$(head -c 96 "$TMP/acrn" | run_time)" "$(head -c 64 "$TMP/acrn" | run_time)" \
	"nor does an exit behind the last entry"

is "$(report --frequency 1000 - <"$TMP/acrn" | tail -n 1)" \
	"$(report --frequency 1000 "$TMP/acrn" | tail -n 1)" "standard input"
moments() {
	"$KVMTOP" --frequency 1GHz --view exits -s 0.00002 "$@" 2>&1
}
# shellcheck disable=SC2002 # a pipe, not a file
is "$(cat "$TMP/acrn" | moments -r - -l)" "$(moments -r "$TMP/acrn" -l)" "a pipe has samples"
is "$(moments -r "$TMP/acrn" -l | grep -c ' CPUID ')" 6 "of all intervals"
is "$(moments -r - --at 00:00:00.000050 -1 <"$TMP/acrn")" \
	"$(moments -r "$TMP/acrn" --at 00:00:00.000050 -1)" "at a time"
cp "$TMP/acrn" "$TMP/acrn.1"
like "$(report "$TMP/acrn" "$TMP/acrn.1" 2>&1)" "^128 in all" "several files are one recording"
like "$(report --input-format kvmtrace "$TMP/kvmtrace")" "^64 in all" "--input-format"

# reasons OPTION...: the reasons that kvmtop -r prints.
reasons() {
	"$KVMTOP" -r tests/data/trace/svm-perf.data -1 --json "$@" 2>"$TMP/err" |
		grep -oE '"reason":"[^"]*"' | cut -d'"' -f4 | tr '\n' ' '
}
for view in "" "--view exits"; do
	# shellcheck disable=SC2086
	is "$(reasons -f '^(cpuid|msr)' $view)" "msr cpuid " "kvmtop -r -f${view:+ $view}"
	# shellcheck disable=SC2086
	is "$(reasons -f nosuch $view)" "" "no exit matches"
	like "$(cat "$TMP/err")" 'no exit so far matches "nosuch"; kvmtop --view exits -f' "is said"
done

# ---- what is wrong

is "$(status_of "$KVMTOP" -r "$TMP/acrn" -1 -f '(')" 2 "-r with a filter that is no pattern"
cp "$TMP/dat" "$TMP/kept"
is "$(status --csv --output "$TMP/kept" "$TMP/kept")" 1 "rows over the recording"
like "$(cat "$TMP/err")" "^kvmtop: --output $TMP/kept: this file is an input" "are refused"
same_files "$TMP/kept" "$TMP/dat" "which is as it was"
is "$(status --diff "$TMP/acrn" "$TMP/dat")" 1 "cycles beside nanoseconds"
like "$(cat "$TMP/err")" "times are in TSC cycles: give .* frequency with --frequency 2.4GHz" \
	"are refused"
"$HELPERS/trace_make" threads "$TMP/threads" 300000
is "$(status_of sh -c 'ulimit -v 250000 && exec "$0" report --view events --csv "$1"' \
	"$KVMTOP" "$TMP/threads")" 0 "300,000 threads in little memory"
like "$(cat "$TMP/out")" "kvm_mmio,300000," "each is counted"
like "$("$KVMTOP" report "$TMP/threads")" \
	"65536 vCPUs of 1 guest, and others: more than 65536 threads" \
	"not all are kept"
# all_of FILE: the exits of all threads, and their time.
all_of() {
	"$KVMTOP" report --frequency 1000 --csv --event vmexit "$1" | awk -F, "$CSV_AT"'
		{ nr += $at("total"); ns += $at("time_ns") }
		END { print nr, ns }'
}
# By kvmtrace the event is VMEXIT.
for format in dat perf kvmtrace; do
	"$HELPERS/trace_make" threads-$format "$TMP/many" 5000
	is "$(all_of "$TMP/many")" "5000 5000000" "$format: 5,000 threads make an exit each"
	"$HELPERS/trace_make" threads-$format "$TMP/many" 70000
	is "$(all_of "$TMP/many")" "65536 65536000" "$format: of 70,000 most have their exit"
	"$KVMTOP" report --csv --view events "$TMP/many" >"$TMP/out"
	is "$(sed -En 's/^(kvm_exit|VMEXIT),([0-9]*),.*/\2/p' "$TMP/out")" 70000 \
		"$format: the events of all are counted"
done
for what in "--longer 1ms" "--view long" "--view why"; do
	# shellcheck disable=SC2086
	is "$(status $what "$TMP/acrn")" 1 "$what of cycles"
	like "$(cat "$TMP/err")" \
		"acrn: times are in TSC cycles: give the TSC's frequency with --frequency 2.4GHz" \
		"is refused"
done

for format in --text --csv --json; do
	is "$(status --view host $format $data/svm-perf.data)" 0 "no host CPUs, $format"
	is "$(cat "$TMP/err")" "kvmtop: A recording has nothing about host CPUs; a history has." \
		"is said"
done

: >"$TMP/empty"
echo "hello, world" >"$TMP/text"
head -c 1000 "$TMP/acrn" >"$TMP/cut"

is "$(status "$TMP/cut")" 1 "a file that is cut: status 1"
like "$(cat "$TMP/out")" "^13 in all" "what was read is reported"
like "$(cat "$TMP/err")" "cut: at byte 992: the last record has 8 of 32 bytes" "the rest is named"

size=$(wc -c <$data/small-v7.dat)
failed=
for cut in 11 12 100 1000 4000 $((size / 2)) $((size - 4096)); do
	head -c "$cut" $data/small-v7.dat >"$TMP/cut"
	[ "$(status "$TMP/cut")" = 1 ] || failed="$failed $cut"
	grep -q 'cut: at byte' "$TMP/err" || failed="$failed $cut"
done
is "$failed" "" "a trace.dat of version 7 that is cut: status 1 and a reason"

is "$(status "$TMP/empty")" 1 "an empty file: status 1"
like "$(cat "$TMP/err")" "empty: the file is empty" "and why"
is "$(status "$TMP/text")" 1 "no recording: status 1"
like "$(cat "$TMP/err")" "text: is text, as trace-cmd report, perf script and tracefs print it: .* \
kvmtop record makes one\$" "and why, and how to make one"
printf 'cpus=2\n  vcpu0-4242  [001] 12.000001: kvm_exit:  reason HLT rip 0x10\n' >"$TMP/text"
like "$("$KVMTOP" report - <"$TMP/text" 2>&1)" "^kvmtop: standard input: is text, " "is named"
is "$(status_of "$KVMTOP" timeline -r "$TMP/text")" 1 "nor does timeline take text"
like "$(cat "$TMP/err")" "text: is text, as trace-cmd report" "and says so"
is "$(status "$TMP")" 1 "a folder: status 1"
like "$(cat "$TMP/err")" "is a folder" "and why"
is "$(status "$TMP/nowhere")" 1 "no such file: status 1"
is "$(status "$TMP/acrn" "$TMP/dat")" 1 "files of two kinds: status 1"
like "$(cat "$TMP/err")" "read them separately" "and why"
# shellcheck disable=SC2002 # a pipe is what is tested
like "$(cat "$TMP/dat" | report - 2>&1)" "cannot be read from a pipe" "trace.dat from a pipe"

for args in "" "--event foo x" "--by foo x" "-k foo x" "--frequency 0 x" \
	"--frequency 20000000 x" "--frequency 5x x" "--frequency 2THz x" "--acrn x" "-p a x" \
	"-p , x" "-p 1,,2 x" "--output y x" \
	"--input-format foo x" "--view exits --diff y x" "--nonsense x" "--view foo x" \
	"--view exits --by guest x" "--view guests -k p99 x" "--json --csv x"; do
	# shellcheck disable=SC2086 # words
	is "$(status $args)" 2 "wrong usage: report $args"
done
is "$(cat "$TMP/err")" "kvmtop: -c/--csv and --json exclude each other
Try kvmtop report --help." "which says why, and what helps"
report -k foo "$TMP/dat" 2>"$TMP/err"
like "$(tr '\n' ' ' <"$TMP/err")" \
	'"foo": no column to sort by in view exits; there are:   reason .* max_ns ' \
	"a wrong column: the ids that exist"
is "$(status --csv --output /nowhere/rows.csv "$TMP/dat")" 1 \
	"a CSV file that cannot be written: status 1"
if [ -e /dev/full ]; then
	"$KVMTOP" report "$TMP/dat" >/dev/full 2>"$TMP/err"
	is $? 1 "a full disk: status 1"
	is "$(cat "$TMP/err")" "kvmtop: cannot write to standard output: No space left on device" \
		"which is said once"
fi
for face in --text --json "--csv" "--diff $TMP/perf" "--view exits"; do
	# shellcheck disable=SC2086
	is "$(limited "$KVMTOP" report $face "$TMP/dat")" "$too_large" "$face, ulimit -f"
	# shellcheck disable=SC2086
	{ "$KVMTOP" report $face "$TMP/dat"; echo "$?" >>"$TMP/err"; } 2>"$TMP/err" | true
	is "$(cat "$TMP/err")" 0 "$face: a reader that went away is no error"
done

# ---- a clock that counts, buffers

LC_ALL=C sed 's/\[local\] global/[counter] glob/' "$TMP/dat" >"$TMP/counter"
like "$(report "$TMP/counter" | sed -n 2p)" '^[0-9]* counts, ' "clock counter: no cycles"
like "$(report --json "$TMP/counter")" '"unit":"counts"' "clock counter: no cycles, JSON"
is "$(report "$TMP/counter" | grep durations)" \
	"The recording's clock only counts events: no durations. Record with another clock." \
	"the clock is why there are no durations"
is "$(report $data/buffers-v7.dat | grep -c '^tests.*\.dat:')" 2 "two buffers"
like "$(report $data/buffers-v7.dat)" ", 2 events," "an event in both is one event"
like "$(report --buffer second $data/buffers-v7.dat)" "\.dat: trace.dat, buffer second" \
	"--buffer: one buffer"
is "$(report --buffer top $data/buffers-v7.dat | grep -c '^tests.*\.dat:')" 1 \
	"--buffer top: the main one"
is "$(status --buffer third $data/buffers-v7.dat)" 1 "--buffer of none: status 1"
like "$(cat "$TMP/err")" '"third": no such buffer; there are: top, second' \
	"and says which there are"

# ---- the bar, where it takes over a second

if has_screen; then
	"$HELPERS/trace_make" acrn "$TMP/large" 100000
	screen_start 80 24 "(cat $TMP/large; sleep 1.3; cat $TMP/large; sleep 0.3) |
		$KVMTOP report - | grep 'in all'; sleep 9"
	screen_has '^[0-9]+ MiB read' "a bar is shown"
	screen_has '^200000 in all' "and gone at the end"
	unlike "$(screen_shot)" "MiB" "without a trace"
	screen_start 80 24 "$KVMTOP report --text $TMP/svm-perf.data; sleep 9"
	screen_has '^msr +98 ' "a narrow terminal"
	is "$(screen_shot | grep -A 2 'Exit reason' | sed 1d | cut -c1-3)" "msr
cpu" "has one line a row"
	screen_stop
else
	skip "the bar" "$T_no_screen"
fi

# ---- the screen

# look COLUMNS ROWS OPTIONS: in a terminal of this size.
look() {
	t_from=$PWD
	cd "$TMP" || exit
	# shellcheck disable=SC2086
	script_start "$1" "$2" report $3
	cd "$t_from" || exit
}
HELPERS=$(realpath "$HELPERS")

# The reasons on the screen and how many there were.
rows() {
	awk '/%Count/ { on = 1; next }
		$1 == "Total" { on = 0 }
		on && $2 ~ /^[0-9]+$/ { print $1, $2 }'
}

# The same of the JSON report.
numbers() {
	report --json "$TMP/svm-perf.data" | tr '{' '\n' |
		sed -n 's/.*"reason":"\([^"]*\)".*"total":\([0-9]*\).*/\1 \2/p' | sort
}

script_start 80 24 report --view why "$TMP/threads"
screen_has ' 65536 vCPUs' "300,000 threads on the screen"
kb=$(awk '/^VmHWM/ { print $2 }' "/proc/$(screen_pid)/status")
check "in little memory: $kb KiB" [ "$kb" -lt 150000 ]
screen_keys q
script_start 80 24 report --view host $data/svm-perf.data
screen_has '^ *A recording has nothing about host CPUs; a history has' "the screen"
screen_keys q
look 80 24 svm-perf.data
screen_has '^ npf +61 +322 ' "a terminal: the screen, with the exits"
like "$(screen_line 1)" '^kvmtop  svm-perf.data  189ms  900 events  2 guests 3 vCPUs' \
	"the title says what is looked at"
like "$(screen_line 1)" 'recording$' "and that it is a recording"
like "$(numbers)" '^msr 98$' "the report counts"
is "$(screen_shot | rows | sort)" "$(numbers)" "and the screen has the same numbers"
like "$(screen_line 24)" '^h help.*f filter' "keys that do something"
unlike "$(screen_line 24)" 'reset|delay' "and no others"
screen_keys 3
screen_has '^ 116 qemu-system-x86 +1 +0 +1252 ' "vCPUs"
screen_has 'user space were not recorded' "what the recording does not tell"
screen_keys 2
screen_has '^ 113 qemu-system-x86 +1 +565 ' "guests"
screen_keys 1
screen_has '^.kvm_exit +359 ' "events"
screen_keys x
screen_has '├ msr +98 ' "and their reasons"
screen_keys 5
screen_has '^ msr +0x6e0 IA[^ ]*DEADLINE write ' "hot spots"
for key in s r; do
	screen_keys Escape $key
	screen_has 'needs a live machine' "key $key says that it means nothing"
done
screen_keys 4 Home Enter
screen_has 'all guests › npf$' "Enter goes deeper"
screen_has '^ npf +0xfebf1010 write 4' "to what the exits were about"
screen_keys h
screen_wait '^ *h . F1 '
screen_keys NPage
screen_has 'is one interval, from its first to its last' "help"
unlike "$(screen_shot)" '^ (r|s) ' "has the keys that do something"
screen_keys q q
is "$(screen_status)" 0 "q ends it"

look 100 24 "-s 0.05 svm-perf.data"
screen_has '^kvmtop .* entire recording$' "the entire recording is shown first"
screen_keys t
screen_has '^kvmtop .* at 0\.19 s from the start$' "t: its last sample"
screen_has '^ Total +357 +[0-9,]+ ' "with the totals until then"
screen_keys T
screen_has 'This is the last sample; Space shows the entire' "T: there is no later one"
screen_keys t t t
screen_has ' at 0\.05 s from the start$' "t: the first"
screen_keys t
screen_has 'No earlier sample is remembered' "and no earlier one"
first=$(screen_shot | sed -nE 's|^exits ([0-9,]+)/s .*|\1|p')
screen_keys Space
screen_has ' entire recording$' "Space: the entire recording"
screen_has '^ npf +61 +322 ' "with its numbers"
screen_keys T
screen_has ' at 0\.05 s from the start$' "T: the first sample"
screen_keys End
screen_has ' entire recording$' "End: the entire recording"
screen_keys d
screen_has '^The entire recording is no moment: choose one first' "d marks none there"
like "$(screen_line 1)" ' entire recording$' "which stays"
screen_keys j + 6 0 m s Enter
screen_has ' at 0\.10 s from the start$' "j: forward from the start, to the interval"
screen_keys j 0 : 0 0 : 0 0 . 1 4 Enter
screen_has ' at 0\.15 s from the start$' "j: to a time"
screen_keys j
screen_type -50ms
screen_keys Enter
screen_has ' at 0\.10 s from the start$' "j: back"
screen_keys 2
screen_has '^ 116 qemu-system-x86 ' "another view of the same moment"
screen_has ' at 0\.10 s from the start$' "which is still shown"
screen_keys 4 End
screen_has ' entire recording$' "End: the entire recording"
screen_keys m
screen_has '^ all exits  189ms ' "m: the heat map of the recording"
screen_has '^ 00:00:00\.189 ' "with times from its start"
screen_keys Home
screen_has "^ 00:00:00\.050 .* $first/s" "Home: the first sample"
screen_keys Right
screen_has ' at 0\.10 s from the start$' "Right: the next one"
screen_keys m Space
screen_has '^ npf +61 +322 ' "and back to the entire recording"
screen_keys 3 Enter T
screen_has ' at 0\.05 s from the start$' "the first sample of one vCPU"
screen_has ' vCPU [0-9]+$' "which is named"
rate=$(screen_shot | sed -nE 's|^ Total +[0-9,]+ +([0-9,]+) .*|\1|p')
screen_keys d T d
screen_has "^ Total +$rate +[0-9,]+ " "d: what changed of this vCPU alone"
screen_keys q f n o t h i n g Enter
screen_has ' at 0\.10 s from the start$' "with a filter"
screen_keys d T d
screen_has '^ Neither moment has anything that this view shows' "d: which matches nothing"
screen_keys q
look 100 24 "-s 0.025 svm-perf.data"
screen_keys T
screen_has ' at 0\.025 s from the start$' "a time has the digits that the interval has"
screen_keys q
look 100 24 "-s 0.000001 svm-perf.data"
screen_has '^ npf +61 ' "an interval that is too short"
screen_keys t
screen_has ' at 0\.18934 s from the start$' "is longer"
screen_keys q
screen_has '^kvmtop: -s 1e-06 would make too many samples' "and that is said"
script_start 80 24 report --frequency 1000 /dev/fd/3 3<"$TMP/acrn"
screen_has 'entire recording$' "a file without a name has samples, too"

look 20 5 svm-perf.data
screen_has '^ npf +13\.3$' "20 x 5"
screen_resize 200 60
screen_has '^ npf +61 +322 .*▁.*' "200 x 60"
screen_keys q

look 80 24 "-p 116 --by vcpu svm-perf.data"
screen_has '^ 0 +124 ' "--by and -p choose where to begin"
unlike "$(screen_shot)" '^ 113' "with that guest only"
look 80 24 "-p 126 svm-perf.data"
screen_has '116 qemu-system-x86 › vCPU 1' "-p with a thread: its vCPU"
look 80 24 "--event ioport svm-perf.data"
screen_has '^ io +0x70 write 1 RTC' "--event: hot spots"
unlike "$(screen_shot)" '^ msr ' "of that kind only"
look 80 24 "--vcpu 1 -k max svm-perf.data"
screen_has '^ interrupt +30 ' "--vcpu and -k"
is "$(screen_shot | rows | sed -n 1p)" "interrupt 30" "the longest first"

look 80 24 "dat"
screen_has 'dat  42 lost  127µs  128 events  1 guest 2 vCPUs' "lost events are in the title"
look 80 24 "--frequency 1000 --by vcpu acrn"
screen_has '^ CPU 0 +0 +0 +503937 ' "a CPU of ACRN"
look 80 24 "--frequency 1000 kvmtrace"
screen_has '1 guest 4 vCPUs' "kvmtrace"
look 80 24 acrn
screen_has '^64 in all' "cycles of unknown length: text"
screen_has 'times are in TSC cycles: for the screen, give' "and what is missing"

head -c 1000 "$TMP/acrn" >"$TMP/cut"
look 80 24 "--frequency 1000 cut"
screen_has '^recording: cut: at byte 992: the last record has 8 of 32 bytes' "a notice"
screen_keys q
is "$(screen_status)" 1 "what could not be read: status 1"
screen_has '^kvmtop: cut: at byte 992: the last record' "and it is said again"

look 80 24 "-p 116,113 svm-perf.data"
screen_has '^357 in all' "several guests: text"

if has_screen; then
	for command in "report --frequency 1000" "--frequency 1GHz -r"; do
		screen_start 80 24 "cd $TMP && cat acrn | $kvmtop $command -; sleep 9"
		screen_has ' entire recording$' "$command: a pipe has the screen"
		screen_keys T
		screen_has ' 0\.000002 s( from the start)?$' "with keys and with samples"
		screen_keys t
		screen_has 'No earlier sample is remembered' "from the first one on"
		screen_keys q
	done
	SCREEN_TERM=dumb
	screen_start 80 24 "$KVMTOP report $TMP/svm-perf.data; sleep 9"
	screen_has '^357 in all' "a terminal that shows no pictures: text"
	SCREEN_TERM=
	screen_start 80 24 "$KVMTOP report --frequency 1000 $TMP/acrn </dev/null; sleep 9"
	screen_has '^64 in all' "without a keyboard: text"
	screen_stop
else
	skip "pipes, kinds of terminals" "$T_no_screen"
fi

done_testing
