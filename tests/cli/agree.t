#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The faces of `kvmtop report` and `kvmtop timeline` agree on a recording: the same reasons, counts
# and times.
. tests/lib.sh

data=tests/data/trace

# of_report EVENT ARGUMENT...: a line "COUNT NANOSECONDS REASON" for each reason.
of_report() {
	a_event=$1
	shift
	"$KVMTOP" report --event "$a_event" --csv "$@" 2>/dev/null | awk -F, "$CSV_AT"'
		{ print $at("total"), $at("time_ns"), $at("reason") }' | sort
}

# of_timeline CATEGORY ARGUMENT...: the same of the picture's slices. What is cut off is in no sum.
of_timeline() {
	a_category=$1
	shift
	"$KVMTOP" timeline "$@" 2>/dev/null | awk -v category="\"cat\":\"$a_category\"," '
		/"ph":"X"/ && index($0, category) {
			name = dur = $0
			sub(/.*"name":"/, "", name)
			sub(/".*/, "", name)
			if (name ~ /^userspace \(.*\)$/)
				name = substr(name, 12, length(name) - 12)
			sub(/.*"dur":/, "", dur)
			sub(/[,}].*/, "", dur)
			sub(/[.]/, "", dur)
			count[name]++
			sum[name] += dur
		}
		END {
			for (name in count)
				printf "%d %d %s\n", count[name], sum[name], name
		}' | sort
}

# agree NAME FILE...: of made-up cycles, one is a nanosecond. exits: of_report's of the recording.
agree() {
	a_name=$1
	shift
	a_files=
	for a_file; do
		a_files="$a_files -r $a_file"
	done
	exits=$(of_report vmexit --frequency 1000 "$@")
	# shellcheck disable=SC2086
	is "$(of_timeline kvm --frequency 1000000 $a_files)" "$exits" "$a_name: exits"
	# shellcheck disable=SC2086
	is "$(of_timeline userspace --frequency 1000000 $a_files)" \
		"$(of_report userspace --frequency 1000 "$@")" "$a_name: exits to user space"
}

# ---- the faces of report beside its CSV

# The columns that are compared, by their ids and by their headings.
ids="reason total time_percent min_ns avg_ns stddev_ns p50_ns p99_ns max_ns"
titles="Exit reason,Total,Time%,Min,Avg,Stddev,p50,p99,Max"

# A CSV's rows as people see them: durations with three digits and a unit.
as_seen() {
	awk -F, -v ids="$ids" '
		function seen(id, value, digits, unit) {
			if (id == "time_percent")
				return value == "" ? "-" : sprintf("%.1f", value)
			if (id !~ /_ns$/)
				return value
			unit = 1
			while (value >= 999.5 && unit < 4) {
				value /= 1000
				unit++
			}
			digits = unit == 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
			return sprintf("%.*f%s", digits, value + 1e-9, units[unit])
		}
		BEGIN { nr = split(ids, id, " "); split("ns µs ms s", units, " ") }
		NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
		{
			for (i = 1; i <= nr; i++)
				printf "%s%s", seen(id[i], $column[id[i]]), i < nr ? "|" : "\n"
		}' | LC_ALL=C sort
}

# The same columns of a table of text, which are two blanks apart.
of_text() {
	sed 's/^ *//; s/   */|/g' | awk -F '|' -v titles="$titles" '
		BEGIN { nr = split(titles, title, ",") }
		/^$/ { on = 0 }
		on {
			for (i = 1; i <= nr; i++)
				printf "%s%s", $column[title[i]], i < nr ? "|" : "\n"
		}
		/^Exit reason/ { on = 1; for (i = 1; i <= NF; i++) column[$i] = i }' | LC_ALL=C sort
}

# The JSON's rows as a CSV of these columns.
of_json() {
	echo "$ids" | tr ' ' ','
	tr '{' '\n' | grep '^"reason"' | awk -v ids="$ids" '
		BEGIN { nr = split(ids, id, " ") }
		{
			for (i = 1; i <= nr; i++) {
				match($0, "\"" id[i] "\":[^,}]*")
				value = substr($0, RSTART, RLENGTH)
				sub("^[^:]*:", "", value)
				gsub("\"", "", value)
				printf "%s%s", value == "null" ? "" : value, i < nr ? "," : "\n"
			}
		}'
}

# The guest, vCPU and Idle% of each of a CSV's rows that has an Idle%.
idle() {
	awk -F, "$CSV_AT"'
		$at("idle_percent") != "" {
			print $at("guest"), $at("vcpu"), $at("idle_percent")
		}' | sort
}

# of_screen: the same columns of the screen's Exits view.
of_screen() {
	screen_shot | awk -v titles="$titles" '
		BEGIN { nr = split(titles, title, ",") }
		/^ Exit reason/ {
			on = 1
			gsub(/[▾▴]/, "")
			sub("Exit reason", "Exit_reason")
			for (i = 1; i <= NF; i++)
				column[$i] = i
			column["Exit reason"] = 1
			next
		}
		$1 == "Total" { on = 0 }
		on && $2 ~ /^[0-9,]+$/ {
			gsub(",", "")
			for (i = 1; i <= nr; i++)
				printf "%s%s", $column[title[i]], i < nr ? "|" : "\n"
		}' | LC_ALL=C sort
}

# faces NAME ARGUMENT...: report's, each of them beside the CSV.
faces() {
	f_name=$1
	shift
	"$KVMTOP" report --by vcpu --csv "$@" | idle >"$TMP/by"
	"$KVMTOP" report --view vcpus --csv "$@" 2>/dev/null | idle >"$TMP/view"
	same_files "$TMP/by" "$TMP/view" "$f_name: --by vcpu has the Idle% of --view vcpus"
	for f_event in vmexit ioport mmio msr; do
		"$KVMTOP" report --event $f_event --csv "$@" | as_seen >"$TMP/csv"
		"$KVMTOP" report --event $f_event --json "$@" | of_json | as_seen >"$TMP/json"
		"$KVMTOP" report --event $f_event "$@" | of_text >"$TMP/text"
		same_files "$TMP/json" "$TMP/csv" "$f_name, $f_event: JSON has what CSV has"
		same_files "$TMP/text" "$TMP/csv" "$f_name, $f_event: text has what CSV has"
	done
	"$KVMTOP" report --csv "$@" | as_seen >"$TMP/csv"
	"$KVMTOP" report --view exits "$@" | of_text >"$TMP/text"
	same_files "$TMP/text" "$TMP/csv" "$f_name: so has the Exits view"
	[ -s "$TMP/csv" ] || return 0
	script_start 200 60 report "$@"
	screen_has '^ Exit reason +Total ' "$f_name on a screen of 200 x 60"
	of_screen >"$TMP/screen"
	same_files "$TMP/screen" "$TMP/csv" "$f_name: the screen has what CSV has"
	screen_stop
}

# ---- every recording

for file in "$data"/*.dat "$data"/*.data; do
	agree "${file##*/}" "$file"
	faces "${file##*/}" "$file"
	case $file in
	*/buffers-v7.dat) is "$exits" "" "has no exits" ;;
	*) like "$exits" "[0-9]+ [0-9]+ [A-Za-z]" "has exits" ;;
	esac
done

for kind in acrn kvmtrace dat host perf; do
	"$HELPERS/trace_make" $kind "$TMP/$kind" || not_ok "trace_make $kind"
	agree "$kind" "$TMP/$kind"
	faces "$kind" --frequency 1000 "$TMP/$kind"
	like "$exits" "[0-9]+ [0-9]+ [A-Za-z]" "has exits"
done

# ---- two buffers that recorded the same

whole=$(of_timeline kvm -r "$TMP/dat")
"$HELPERS/trace_make" buffers "$TMP/buffers" || not_ok "trace_make buffers"
agree "two buffers" "$TMP/buffers"
is "$exits" "$whole" "what is in both is counted once"
unlike "$("$KVMTOP" report "$TMP/buffers")" "no end" "and has an end"
slices() {
	"$KVMTOP" timeline -r "$1" 2>/dev/null | grep -c '"ph":"X"'
}
is "$(slices "$TMP/buffers")" "$(slices "$TMP/dat")" "no slice is drawn twice"
is "$(of_timeline kvm -r "$TMP/buffers" --buffer top)" "$whole" "timeline --buffer top"
like "$("$KVMTOP" timeline -r "$TMP/buffers" --buffer third 2>&1)" \
	'"third": no such buffer; there are: top, second' "timeline --buffer third"

# ---- the faces of report: one Time%

# shares_of COLUMN ARGUMENT...: a line "NAME TIME%" for each row.
shares_of() {
	a_name=$1
	shift
	"$KVMTOP" report --csv "$@" 2>/dev/null | awk -F, -v name="$a_name" "$CSV_AT"'
		{ print $at(name), $at("time_percent") }
	' | sort
}

for file in "$data/svm-perf.data" "$data/arm64-perf.data" "$TMP/perf" "$TMP/dat"; do
	shares=$(shares_of reason "$file")
	like "$shares" ' [1-9]' "${file##*/} has shares of time"
	is "$(shares_of reason --view exits "$file")" "$shares" "the same ones in the view"
done
# wholes ARGUMENT...: what 100 % are in the rows that have a share, in ms.
wholes() {
	"$KVMTOP" report --json "$@" 2>/dev/null | tr '{' '\n' |
		sed -n 's/.*"time_ns":\([0-9]*\).*"time_percent":\([0-9.]*\),.*/\2 \1/p
			s/.*"time_percent":\([0-9.]*\),.*"time_ns":\([0-9]*\).*/\1 \2/p' |
		awk '$1 >= 2 { printf "%.0f\n", $2 / $1 / 1e4 }' | sort -u
}
is "$(wholes --view hotspots "$data/svm-perf.data")" \
	"$(wholes --view exits "$data/svm-perf.data")" \
	"and of arguments, of all guests, have the same whole"

# ---- kvmtrace: which architecture has the reasons' numbers, and vCPUs that move

# word32 NUMBER...: each as 4 bytes, little endian.
word32() {
	for a_number; do
		for a_shift in 0 8 16 24; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((a_number >> a_shift & 255)))"
		done
	done
}

# exit_at TIME REASON, entry_at TIME: of process 7's vCPU 0.
exit_at() {
	word32 0x90010002 7 0 "$1" 0 "$2"
}

entry_at() {
	word32 0x80010001 7 0 "$1" 0
}

{
	word32 0x12345678
	exit_at 1000 0x72
	entry_at 1100
	exit_at 2000 0xffffffff
	entry_at 2300
	exit_at 3000 0x400
	entry_at 3700
} >"$TMP/amd"
agree "AMD, with an exit of code -1" "$TMP/amd"
is "$exits" "1 100 cpuid
1 300 invalid_guest_state
1 700 npf" "its names are SVM's"

{
	word32 0x12345678
	exit_at 1000 12
	exit_at 5000 10
} >"$TMP/0"
{
	word32 0x12345678
	entry_at 2000
	entry_at 5500
} >"$TMP/1"
agree "a vCPU that moves to another CPU's file" "$TMP/0" "$TMP/1"
is "$exits" "1 1000 HLT
1 500 CPUID" "it has two exits"

done_testing
