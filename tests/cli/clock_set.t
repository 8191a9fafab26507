#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A history of which the clock was set back: a span has the samples of its time, wherever they lie.
. tests/lib.sh

made=$TMP/made.db
file=$TMP/set.db
"$HELPERS/made_past" "$made" # 150 samples, a second each, to 14:18:00 UTC
export TZ=UTC
if ! command -v sqlite3 >/dev/null; then
	skip "a clock that was set back" "sqlite3 is not installed"
	done_testing
fi

# Before 14:16:46 the clock is set back by 60.3 s.
day=2026-09-21
set_at=$(date -d "$day 14:16:46" +%s)
cp "$made" "$file"
sqlite3 "$file" "UPDATE sample SET time_ns = time_ns - 60300000000
	WHERE time_ns >= $set_at * 1000000000"

# span FILE FROM TO: the exits of a span, and how long it is.
span() {
	"$KVMTOP" -r "$1" -1 --json --view guests --from "$day $2" --to "$day $3" >"$TMP/span"
	grep -o '"delta":[0-9]*' "$TMP/span" |
		awk -F: -v s="$(sed 's/.*"elapsed_s":\([0-9.]*\).*/\1/' "$TMP/span")" \
			'{ n += $2 } END { print n, s }'
}

# both A B: the sum of what two spans have.
both() {
	echo "$1 $2" | awk '{ printf "%d %.4f\n", $1 + $3, $2 + $4 }'
}

# 14:16:41 to :45, and what was 14:17:41 to :50.
is "$(span "$file" 14:16:40 14:16:50)" \
	"$(both "$(span "$made" 14:16:40 14:16:45)" "$(span "$made" 14:17:40 14:17:50)")" \
	"a span that is interrupted has both parts"
is "$(span "$file" 14:16:40 14:16:50 | cut -d' ' -f2)" 15.0000 "which are 15 s"
is "$(span "$file" 14:15:46 14:15:56)" \
	"$(both "$(span "$made" 14:15:46 14:15:56)" "$(span "$made" 14:16:46 14:16:56)")" \
	"a time that was twice"
is "$(span "$file" 14:16:46 14:16:56)" "$(span "$made" 14:17:46 14:17:56)" \
	"a time that was set back and came again"

"$KVMTOP" -r "$file" -l --json --view guests --from "$day 14:16:40" --to "$day 14:16:50" \
	>"$TMP/log"
is "$(sed 's/.*T14:\([0-9:.]*\)+.*/\1/' "$TMP/log" | tr '\n' ' ')" \
	"16:41.000 16:42.000 16:43.000 16:44.000 16:45.000 16:40.700 16:41.700 16:42.700 16:43.700 \
16:44.700 16:45.700 16:46.700 16:47.700 16:48.700 16:49.700 " "a log has the samples of its time"
is "$(grep -o '"delta":[0-9]*' "$TMP/log" | awk -F: '{ n += $2 } END { print n }')" \
	"$(span "$file" 14:16:40 14:16:50 | cut -d' ' -f1)" "with the exits of the span"

"$KVMTOP" -r "$file" --diff "$day 14:15:46..$day 14:15:56" --from "$day 14:16:40" \
	--to "$day 14:16:50" --json --view guests >"$TMP/diff"
exits=$(grep -o '"rate":[0-9.]*' "$TMP/diff" |
	awk -F: '{ n += $2 } END { printf "%.0f\n", n * 15 }')
is "$exits" "$(span "$file" 14:16:40 14:16:50 | cut -d' ' -f1)" "--diff has them, too"
# ---- the end of summer time: at 14:17:00 UTC 16:17 becomes 15:17

# summer OPTION...: what is said of the history.
summer() {
	TZ=CET-1CEST,M3.5.0,J264/16:17:00 "$KVMTOP" -r "$made" "$@" 2>&1
}

like "$(summer -1 --view guests --from '16:16 CEST' --to '15:17:30 CET')" \
	'^2026-09-21 16:16:00 CEST to 15:17:30 CET, 90\.0 s$' "-1 names the zone of each time"
is "$(summer -1 --view guests --from 16:16 --to 16:16:30 | head -n 1)" \
	"2026-09-21 16:16:00 CEST to 16:16:30 CEST, 30.0 s" "the first of two is meant"
like "$(summer -1 --from 16:40 --to 16:50)" \
	' from 2026-09-21 16:15:30 CEST to 2026-09-21 15:18:00 CET$' "so do messages"
is "$(summer -l -c | cut -d, -f1 | sed -n '2p;$p')" "2026-09-21 16:15:31 CEST
2026-09-21 15:18:00 CET" "and a log"
is "$(summer --diff '16:16 CEST..16:16:30 CEST' --from '16:16:30 CEST' --to '15:17 CET' |
	head -n 2)" "1: 2026-09-21 16:16:00 CEST to 16:16:30 CEST, 30.0 s
2: 2026-09-21 16:16:30 CEST to 15:17:00 CET, 30.0 s" "and --diff"
TZ=CET-1CEST,M3.5.0,J264/16:17:00 script_start 80 24 -r "$made"
screen_has '2026-09-21 15:18:00 CET$' "the screen, at its end"
screen_keys j
screen_type "16:16:10 CEST"
screen_keys Enter
screen_has 'paused at 2026-09-21 16:16:10 CEST' "j takes the zone's name"
screen_keys q
done_testing
