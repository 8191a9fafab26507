#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What adds up adds up, and every face has the same numbers: over all views of captured machines, a
# history, a recording, and of guests that come and go here.
# shellcheck disable=SC2317 # check and wait_for call functions
. tests/lib.sh

VIEWS="events guests vcpus exits hotspots host why"

# holds NAME FILE...: nothing in these logs breaks a rule; one without rows is none.
holds() {
	i_name=$1
	shift
	if "$HELPERS/invariants" "$@" >"$TMP/broken"; then
		ok "$i_name: what adds up adds up"
		return
	fi
	if grep -q '^[0-9]* samples, 0 rows, [0-9]* comparisons, 0 broken' "$TMP/broken"; then
		skip "$i_name: what adds up adds up" "there are no rows"
	else
		not_ok "$i_name: what adds up adds up" "$(tail -n 20 "$TMP/broken")"
	fi
}

# The columns of a table that a person reads: heading, column, decimals.
HEADINGS="Total total 0;%Total share 1;%Count share 1;Delta delta 0;Count/s rate 0;Exits/s rate 0
Guest% guest_percent 1;KVM% kvm_percent 1;User% user_percent 1;Idle% idle_percent 1
Wait% wait_percent 1;Poll% poll_percent 1;Block% block_percent 1;Throt% throttled_percent 1
CPU% cpu_percent 1;VMM% vmm_percent 1;Busy% busy_percent 1;vCPU% vcpu_percent 1
Want% want_percent 1;Top% top_percent 1;TID tid 0;PID pid 0"

# differs TEXT ROWS ID,...: the cells of a log that a person reads that are not what its rows (with
# tabs) have, rounded. A text has a heading now and then, and no cell with two blanks in it.
differs() {
	awk -F '\t' -v ids="$3" -v headings="$HEADINGS" '
		BEGIN {
			nr = split(headings, list, /[;\n]/)
			for (i = 1; i <= nr; i++) {
				split(list[i], part, " ")
				id[part[1]] = part[2]
				decimals[part[2]] = part[3]
			}
			nr = split(ids, list, ",")
			for (i = 1; i <= nr; i++)
				at[list[i]] = i
		}
		FILENAME == ARGV[1] { rows[++nr_rows] = $0; next }
		{ sub(/^ +/, ""); cells = split($0, cell, /  +/) }
		/^time / {
			split($0, heading, /  +/)
			next
		}
		{
			split(rows[++row], value, "\t")
			for (i = 1; i <= cells; i++) {
				this = id[heading[i]]
				if (!(this in at))
					continue
				wanted = value[at[this]]
				nr_cells++
				off = wanted - cell[i]
				half = 0.5001 / 10 ^ decimals[this]
				if (wanted == "" || cell[i] == "-" ? \
				    wanted != "" || cell[i] != "-" : off > half || off < -half)
					print row ": " this ": " wanted " seen as " cell[i]
			}
		}
		END { if (row != nr_rows) print row " lines of " nr_rows " rows" }' "$2" "$1"
}

# agree NAME VIEW OPTION...: JSON, CSV and text of the same samples.
agree() {
	i_name="$1, $2"
	i_view=$2
	shift 2
	"$KVMTOP" "$@" -l --json --view "$i_view" >"$TMP/json" 2>"$TMP/err"
	"$KVMTOP" "$@" -l -c --view "$i_view" >"$TMP/csv" 2>>"$TMP/err"
	"$KVMTOP" "$@" -l --view "$i_view" >"$TMP/text" 2>>"$TMP/err"
	holds "$i_name" "$TMP/json"
	i_ids=$(sed -n '1s/^time,//p' "$TMP/csv")
	[ -n "$i_ids" ] && [ -s "$TMP/json" ] || return
	"$HELPERS/invariants" --rows "$TMP/json" "$i_ids" >"$TMP/rows"
	# A CSV has its heading now and then, as kvm_stat's, and quotes round a text with a comma.
	grep -v '^time,' "$TMP/csv" | sed -e 's/^[^,]*,//' -e 's/"//g' >"$TMP/from-csv"
	tr '\t' , <"$TMP/rows" | diff - "$TMP/from-csv" >"$TMP/diff"
	is "$(head -n 20 "$TMP/diff")" "" "$i_name: a CSV has what JSON has"
	# A text of events has a column for each.
	[ "$i_view" = events ] ||
		is "$(differs "$TMP/text" "$TMP/rows" "$i_ids" | head -n 20)" "" \
			"$i_name: and so has a text"
}

# ---- captured machines: the same samples in each run

for machine in amd intel arm64 lockdown statistics; do
	for view in $VIEWS; do
		agree "$machine" "$view" --sysroot "tests/sysroot/$machine" -s 0.1 -n 4
	done
done

# last_totals COLUMN: of each guest, or each reason, in the log's last sample.
last_totals() {
	tail -n 1 "$TMP/json" >"$TMP/last"
	"$HELPERS/invariants" --rows "$TMP/last" "$1,total" | tr '\t' ' ' | sort
}

# of_metrics NAME LABEL: the same of a scrape.
of_metrics() {
	sed -n "s/^$1{.*$2=\"\([^\"]*\)\".*} \(.*\)/\1 \2/p" "$TMP/metrics.prom" |
		awk '{ sum[$1] += $2 } END { for (key in sum) printf "%s %d\n", key, sum[key] }' |
		sort
}

# The exporter's first sample is where it begins to count.
for machine in amd intel; do
	"$KVMTOP" export --sysroot "tests/sysroot/$machine" -s 0.1 -n 3 \
		--prometheus "$TMP/metrics.prom" \
		>"$TMP/out" 2>&1
	"$KVMTOP" --sysroot "tests/sysroot/$machine" -l --json --view guests -s 0.1 -n 2 \
		>"$TMP/json" 2>"$TMP/err"
	is "$(of_metrics kvmtop_exits_total guest)" "$(last_totals guest)" \
		"$machine: a scrape has the guests' totals"
	"$KVMTOP" --sysroot "tests/sysroot/$machine" -l --json --view exits -s 0.1 -n 2 \
		>"$TMP/json" 2>"$TMP/err"
	is "$(of_metrics kvmtop_exits_total reason)" "$(last_totals reason)" \
		"$machine: and the totals of the reasons"
done

# ---- a history

"$HELPERS/made_past" "$TMP/past.db"
for view in $VIEWS; do
	agree "history" "$view" -r "$TMP/past.db"
done

# The screen of its last sample: each row's numbers in one line, and their sums as the Total.
on_screen() {
	"$KVMTOP" -r "$TMP/past.db" -l --json --view "$1" | tail -n 1 >"$TMP/last"
	"$HELPERS/invariants" --rows "$TMP/last" total,total_percent,rate | awk '
		{ printf "%d %.1f %.0f\n", $1, $2, $3; total += $1; rate += $3 }
		END { printf "%d Total %.0f\n", total, rate }' >"$TMP/wanted"
	screen_start 240 24 "exec $KVMTOP -r $TMP/past.db --view $1"
	screen_wait '^ Total '
	screen_shot | sed -e ':again' -e 's/\([0-9]\),\([0-9]\)/\1\2/' -e 't again' >"$TMP/picture"
	screen_stop
	while read -r i_total i_share i_rate; do
		grep -w "$i_total" "$TMP/picture" | grep -w "$i_share" | grep -qw "$i_rate" ||
			echo "not there: $i_total $i_share $i_rate"
	done <"$TMP/wanted"
}
if command -v tmux >/dev/null; then
	for view in guests vcpus exits; do
		is "$(on_screen $view)" "" "history, $view: the screen has what JSON has"
	done
else
	skip "the screen has what JSON has" "tmux is not installed"
fi

# ---- guests that come and go here; one has a slow VMM

if [ "$(id -u)" != 0 ] || [ ! -w /dev/kvm ]; then
	skip "guests that come and go" "root and /dev/kvm are needed"
	done_testing
	exit
fi
LOGS=
for view in $VIEWS; do
	spawn "$KVMTOP" -l --json -s 0.2 --view "$view" >"$TMP/live.$view" 2>"$TMP/err"
	LOGS="$LOGS $SPAWNED"
done
spawn "$KVMTOP" -w "$TMP/live.db" -s 0.2 </dev/null >"$TMP/out" 2>"$TMP/err"
LOGS="$LOGS $SPAWNED"
for log in $LOGS; do
	wait_for 20 is_sampling "$log"
done
guest slow --pio 1 --answer 700000 --rounds 4
go slow
for nr in 1 2 3 4 5; do
	guest "churn$nr" --vcpus 2 --pio 200 --mmio 30 --rounds 40
	went=$GUEST
	go "churn$nr"
	sleep 0.5
	[ $((nr % 2)) = 0 ] || stop "$went"
done
for log in $LOGS; do
	stop "$log"
done
for view in $VIEWS; do
	holds "live, $view" "$TMP/live.$view"
	agree "live, written" "$view" -r "$TMP/live.db"
done
done_testing
