#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A host of 300 guests with 8 vCPUs where much changes (tests/helpers/made_world.c): what adds up
# adds up, each face has the same numbers, and all of them are the truth.
. tests/lib.sh
. tests/faces.sh

world=$TMP/world
mkdir "$world"
"$HELPERS/made_world" "$world" || not_ok "made_world"

# ---- the faces

for view in guests vcpus exits hotspots host; do
	agree "300 guests" $view -r "$world/world.db"
	cp "$TMP/json" "$TMP/json.$view"
done
# Trees of what had the CPU, which a CSV has in another order.
"$KVMTOP" -r "$world/world.db" -l --json --view who >"$TMP/json"
holds "300 guests, who" "$TMP/json"

# ---- the truth

# truth FROM TO COLUMN: what happened between the times in ns, by the column: 2 is the guest's name,
# 4 the reason. The first sample has what the writer counted before it.
truth() {
	awk -v from="$1" -v to="$2" -v column="$3" '
		NR == 1 { first = $1 }
		$1 != first && $1 + 0 > from + 0 && $1 + 0 <= to + 0 { sum[$column] += $5 }
		END { for (key in sum) printf "%s %d\n", key, sum[key] }' "$world/truth" | sort
}

# seconds NS: as --from and --to have it.
seconds() {
	date -u -d "@${1%?????????}.${1#??????????}" "+%Y-%m-%d %H:%M:%S.%3N"
}

# span FROM TO VIEW ID,...: what the program has of the time.
span() {
	"$KVMTOP" -r "$world/world.db" -1 --json --view "$3" --from "$(seconds "$1")" \
		--to "$(seconds "$2")" >"$TMP/span"
	"$HELPERS/invariants" --rows "$TMP/span" "$4"
}

# sums: of lines of a name and a number, by the name.
sums() {
	awk -F '\t' '{ sum[$1] += $2 } END { for (key in sum) printf "%s %d\n", key, sum[key] }' |
		sort
}

# at NR: the time of a sample.
times=$(cut -d ' ' -f 1 "$world/truth" | uniq)
at() {
	echo "$times" | sed -n "$1p"
}

# The clock is set forward before the 6th sample, and back before the 10th, between the two others.
while read -r from to name; do
	first=$(at "$from") last=$(at "$to")
	is "$(span "$first" "$last" exits reason,delta | sums)" "$(truth "$first" "$last" 4)" \
		"$name: each reason has what happened"
	span "$first" "$last" guests guest,delta | sums >"$TMP/guests"
	truth "$first" "$last" 2 >"$TMP/names"
	# What ended long ago is one row: of the guests that restart, and of the one that is back.
	is "$(join "$TMP/guests" "$TMP/names" | awk '$1 !~ /0$|ghost/ && $2 != $3')" "" \
		"$name: so has each guest"
	is "$(join -v 2 "$TMP/guests" "$TMP/names")" "" "$name: no name is missing"
	is "$(awk '{ sum += $NF } END { printf "%d", sum }' "$TMP/guests")" \
		"$(awk '{ sum += $2 } END { printf "%d", sum }' "$TMP/names")" \
		"$name: the rows are all of it"
done <<-EOF
	1 12 a span with all
	2 5 a span before the clock is set
	3 7 a span in which it is set forward
	6 9 a span after that
	4 11 a span that a clock set back divides
EOF

# The rows of each vCPU 3: reading 20 MB of JSON once will do.
grep -o '{[^{}]*"vcpu":3,[^{}]*}' "$TMP/json.vcpus" | sed 's/.*/{"rows":[&]}/' >"$TMP/json.vcpu3"

# what COLUMN,... GUEST: whether numbers of the guest's vCPU 3 are known, a line for each run.
what() {
	"$HELPERS/invariants" --rows "$TMP/json.vcpu3" "guest,$1" |
		awk -F '\t' -v guest="$2" '
			$1 == guest {
				for (i = 2; i <= NF; i++)
					printf "%s%s", $i == "" ? "-" : $i == 0 ? "0" : "n",
						i < NF ? " " : "\n"
			}' | uniq -c | sed 's/^ *//'
}
unknown=guest_percent,kvm_percent,user_percent,poll_percent,idle_percent,wait_percent,cpu_percent
is "$(what $unknown bare)" "11 - - - - - - -" "of what has counts alone nothing else is said"
is "$(what guest_percent,block_percent,cpu_percent no-wait)" "11 n - n" \
	"where it is not known how a vCPU waits, Block% is absent"
is "$(what guest_percent,cpu_percent blind)" "5 n n
2 n -
4 n n" "a thread that could not be read has no CPU%, nor has it in the next sample"
is "$(what guest_percent,cpu_percent unplugged)" "3 n n
3 - -
1 n -
4 n n" "a vCPU that is gone for a while has no time then"
is "$(what guest_percent,cpu_percent ghost)" "3 n n
2 n -
3 n n" "a guest that is gone and comes back is two guests"

# ---- a scrape

# A series goes on with the next guest of its name: it has what all of them counted. The ghost is
# gone without an end, which no host shows.
tail -n 1 "$TMP/json.guests" >"$TMP/last"
{
	"$HELPERS/invariants" --rows "$TMP/json.guests" guest,ended,total | awk -F '\t' '$2 != ""'
	"$HELPERS/invariants" --rows "$TMP/last" guest,ended,total | awk -F '\t' '$2 == ""'
} | awk -F '\t' '
	$1 != "ghost" { sum[$1] += $3 }
	END { for (name in sum) printf "%d\n", sum[name] }' | sort -n >"$TMP/totals"
awk '/^kvmtop_exits_total{/ {
		match($0, /guest="[^"]*"/)
		name = substr($0, RSTART, RLENGTH)
		sub(/ \([0-9]+\)"/, "\"", name) # one of two guests of a name
		if (name !~ /"(ghost|\(ended\))"/)
			sum[name] += $NF
	}
	END { for (key in sum) printf "%d\n", sum[key] }' "$world/world.prom" |
	sort -n >"$TMP/scraped"
is "$(diff "$TMP/totals" "$TMP/scraped")" "" "a scrape has the total of each guest"
is "$(awk '
	/^kvmtop_series_dropped/ { dropped += $NF }
	/^kvmtop_(guest|exit|vcpu|host)/ { there++ }
	END { print there, (dropped > 0) }' "$world/world.prom")" "20000 1" \
	"it has as many series as are allowed, and says how many are missing"

# ---- a screen

whole=$(awk '{ sum += $5 } END { printf "%d", sum }' "$world/truth")
for view in guests exits; do
	is "$(on_screen "$world/world.db" $view 340 "$whole")" "" \
		"$view: a screen has what JSON has, and the truth as its Total"
done
done_testing
