#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What adds up adds up, and every face has the same numbers: over all views of captured machines, a
# history, a recording, and of guests that come and go here. tests/cli/scale.t has many guests.
# shellcheck disable=SC2317 # check and wait_for call functions
. tests/lib.sh
. tests/faces.sh

VIEWS="events guests vcpus exits hotspots host why"

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
	is "$(of_metrics kvmtop_exits_total guest | grep -v '^(ended) 0$')" "$(last_totals guest)" \
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

for view in guests vcpus exits; do
	is "$(on_screen "$TMP/past.db" $view 24)" "" "history, $view: the screen has what JSON has"
done

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
