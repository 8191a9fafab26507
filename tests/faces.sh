# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# faces.sh - for tests of what adds up: JSON, CSV, text and screen of the same samples are compared,
# and what must hold in each of them. Names that start with i_ are this file's own.

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
		END {
			if (row != nr_rows)
				print row " lines of " nr_rows " rows"
			if (nr_rows && !nr_cells)
				print "no heading is one of " ids
		}' "$2" "$1"
}

# agree NAME VIEW OPTION...: JSON, CSV and text of the same samples.
agree() {
	i_name="$1, $2"
	i_view=$2
	shift 2
	"$AT_ONCE" "$@" -l --json --view "$i_view" >"$TMP/json" 2>"$TMP/err"
	"$AT_ONCE" "$@" -l -c --view "$i_view" >"$TMP/csv" 2>>"$TMP/err"
	"$AT_ONCE" "$@" -l --view "$i_view" >"$TMP/text" 2>>"$TMP/err"
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

# on_screen HISTORY VIEW LINES [TOTAL]: what the picture of its last sample lacks: each row's
# numbers in one line, and their sums as the Total, or the TOTAL. What has ended is one row of the
# picture.
on_screen() {
	"$KVMTOP" -r "$1" -l --json --view "$2" | tail -n 1 >"$TMP/last"
	"$HELPERS/invariants" --rows "$TMP/last" total,total_percent,rate,ended >"$TMP/rows"
	script_start 240 "$3" -r "$1" --view "$2"
	screen_wait '^ Total '
	screen_shot | sed -e ':again' -e 's/\([0-9]\),\([0-9]\)/\1\2/' -e 't again' >"$TMP/picture"
	screen_stop
	awk -v whole="${4-}" '
		function is_near(text, value, half) {
			return text ~ /^[0-9.]+$/ && text - value <= half && value - text <= half
		}
		FILENAME == ARGV[1] {
			split($0, cell, "\t")
			total += cell[1]
			rate += cell[3]
			if (cell[4] == "")
				wanted[cell[1] " " cell[2] " " cell[3]]
			next
		}
		FNR == 1 { wanted[(whole == "" ? total : whole) " Total " sprintf("%.3f", rate)] }
		{
			for (key in wanted) {
				split(key, part, " ")
				has_total = has_share = has_rate = 0
				for (i = 1; i <= NF; i++) {
					has_total += $i == part[1]
					has_share += $i == part[2] || is_near($i, part[2], 0.051)
					has_rate += is_near($i, part[3], 0.51)
				}
				if (has_total && has_share && has_rate)
					delete wanted[key]
			}
		}
		END {
			for (key in wanted)
				print "not there: " key
		}' "$TMP/rows" "$TMP/picture"
}
