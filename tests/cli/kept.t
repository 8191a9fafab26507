#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a history has only if it keeps it (-w FILE --keep): at a moment, of a span, over a change.
. tests/lib.sh

night=$TMP/night.db
plain=$TMP/plain.db
changed=$TMP/changed.db
"$HELPERS/made_night" "$night" 3 hwl || not_ok "made_night"
"$HELPERS/made_night" "$plain" 3 || not_ok "made_night"
"$HELPERS/made_night" "$changed" 2 hwl || not_ok "made_night"
"$HELPERS/made_night" "$changed" 3 || not_ok "made_night"
# of FILE VIEW OPTION...: the view of 03:01:05, or of what the options say.
of() {
	o_file=$1
	o_view=$2
	shift 2
	[ $# -gt 0 ] || set -- --at "2026-11-21 03:01:05"
	TZ=UTC0 "$KVMTOP" -r "$o_file" -1 --view "$o_view" "$@" 2>&1
}
long='03:01:05\.123000 +87\.3ms +78\.6ms +10\.0ms +io +0x1f0 read 2 IDE1 +db1 +1001 +0 +3 +0xf{8}8'
like "$(of "$night" long)" "^$long" "a long exit of then: the text"
like "$(of "$night" long --at "2026-11-21 03:01:05" --csv)" \
	',1795230065123000000,87300000,78570000,,10000000,io,0x1f0 read 2 IDE1,db1,1001,' \
	"CSV"
like "$(of "$night" long --at "2026-11-21 03:01:05" --json)" \
	'"end_ns":1795230065123000000,"took_ns":87300000,.*"argument":"0x1f0 read 2 IDE1"' "JSON"
is "$(of "$night" long --at "2026-11-21 03:01:15" | tail -n +3 | wc -l)" 1 \
	"and no moment beside it has it"
like "$(of "$night" long --from "2026-11-21 03:00" --to "2026-11-21 03:02")" "^$long" \
	"a span has it"
unlike "$(of "$night" long --from "2026-11-21 03:00" --to "2026-11-21 03:02")" 'were kept for' \
	"all of which was kept"
TZ=XXX-20:58 "$KVMTOP" -r "$night" -1 --view long --from @1795230000 --to @1795230300 \
	>"$TMP/days" 2>"$TMP/err"
like "$(cat "$TMP/days")" '^2026-11-21 23:59:05\.123000 +87\.3ms' \
	"an exit of another day has its date"
like "$(cat "$TMP/days")" '^00:00:53\.000000 +227ms' "the day of the latest one is not said"
worst="--from 2026-11-21T03:02 --to 2026-11-21T03:04"
# shellcheck disable=SC2086 # several words
is "$(of "$night" long $worst --csv | grep -c ',io,')" 256 "of 300 in a sample 256 are kept"
# shellcheck disable=SC2086
like "$(of "$night" long $worst --csv)" \
	'^kvmtop: 44 more exits of more than 1 ms were not kept: of each sample the longest 256' \
	"and how many are not"
# shellcheck disable=SC2086
of "$night" long $worst --csv >"$TMP/worst"
is "$(awk -F, '$4 ~ /^[0-9]+$/ { print $4 }' "$TMP/worst" | sort -n | head -n 1)" 47000000 \
	"which are the shortest"
# The same sentence in each face: it is not nothing.
while read -r view words; do
	for format in --csv --json; do
		like "$(of "$plain" "$view" --at "2026-11-21 03:01:05" $format)" "^kvmtop: $words" \
			"$view that was not kept, $format"
	done
	like "$(of "$plain" "$view" --at "2026-11-21 03:01:05" --json)" "\"note\":\"$words" \
		"$view: and in the object"
	script_start 100 30 -r "$plain" --view "$view" --at "2026-11-21 03:01:05"
	screen_has "^ *$words" "$view: and on the screen"
	screen_keys q
done <<'END'
hotspots Hot spots were not kept: kvmtop -w FILE --keep hotspots keeps them
who Waits were not measured: kvmtop -w FILE --keep who keeps them
long Long exits were not kept:
where No code was kept: kvmtop -w FILE --keep where keeps it
interrupts Interrupts were not measured: kvmtop -w FILE --keep interrupts keeps them
END
for view in hotspots who; do
	like "$(of "$changed" $view --from "2026-11-21 02:00" --to "2026-11-21 04:00")" \
		's were kept for 300\.0 s of these 600\.0 s\. Rates .* are of the whole span' \
		"$view of a span over a change of --keep: in how much of it"
	is "$(of "$changed" $view --from "2026-11-21 02:00" --to "2026-11-21 02:06" --json |
		grep -c '"note"')" 0 "and none of a span before it"
done
like "$(of "$changed" long --from "2026-11-21 02:00" --to "2026-11-21 02:02" --csv)" ',87300000,' \
	"long exits of before it"
like "$(of "$changed" long --from "2026-11-21 02:00" --to "2026-11-21 04:00")" \
	'Long exits were kept for 300\.0 s of these 600\.0 s\. 44 more' "and of a span over it"
like "$(of "$night" why)" 'who had the CPU: web1 vCPU 0' "the findings of then: the neighbour"
like "$(of "$night" why)" 'most: io 0x1f0 read 2 IDE1 400/s;' "the port"
like "$(of "$night" why)" \
	'longest: io 0x1f0 read 2 IDE1, 87\.3 ms, ended 2026-11-21 03:01:05\.123$' \
	"and the long exit, with its date"

# ---- read by another program, which follows kvmtop-history(5)

if /usr/bin/python3 -c 'import zstandard' 2>"$TMP/err"; then
	/usr/bin/python3 tests/cli/read_history.py "$night" >"$TMP/read" 2>&1
	like "$(grep 1795230065123000000 "$TMP/read")" \
		'^long [0-9]+ 87300000 io 0x1f0 read 2 IDE1 db1 0 3 0xffffffff81234567 -$' \
		"a reader without our code finds the long exit"
	is "$(grep -c ^long "$TMP/read") $(grep '^not kept' "$TMP/read")" "257 not kept 44" \
		"all of them, and how many were not kept"
	# shellcheck disable=SC2086
	is "$(of "$night" long --from 2026-11-21T03:00 --to 2026-11-21T04:00 --csv | awk -F, '
		$3 ~ /^[0-9]+$/ { print $3, $4 }' | sort)" \
		"$(awk '/^long/ { print $2, $3 }' "$TMP/read" | sort)" "the same as kvmtop"
else
	skip "a reader without our code" "Python or its zstandard is not installed"
fi
done_testing
