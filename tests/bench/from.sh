#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# from.sh - what `kvmtop --from` asks of a Prometheus that holds 1,000 hosts with 20 guests each.
#
# Two servers run at ports of this machine: one has what is scraped, and one the recording rules'
# sums besides. Their data is made by promtool from tests/bench/fleet.c: it takes some minutes and
# 8 GB of memory, stays in build/tests/bench/fleet.db (260 MB), and is good for an hour and a half.
# Prometheus may be one that is not installed: tests/hosts/beside fleet -- tests/bench/from.sh
#	KVMTOP=./kvmtop  BUILD=build  ROUNDS=5  HOSTS=1000  GUESTS=20
#
# Bytes, queries and CPU time are what the server says of itself; ms are wall time, the least and
# the median. With tmux, a refresh is what the screen takes to show all hosts at a moment that is
# not in memory, with the two before it; and the bench says how long it takes from Enter on a host
# to its guests.

set -u
cd "$(dirname "$0")/../.." || exit 1
KVMTOP=${KVMTOP:-./kvmtop}
BUILD=${BUILD:-build}
ROUNDS=${ROUNDS:-5}
HOSTS=${HOSTS:-1000}
GUESTS=${GUESTS:-20}
PORT=${PORT:-19390}
REFRESHES=8
export LC_ALL=C.UTF-8 no_proxy='*'

data=$BUILD/tests/bench/fleet.db
work=$(mktemp -d) || exit 1
servers=
# shellcheck disable=SC2329 # called by the trap
clean_up() {
	# shellcheck disable=SC2086 # several words
	[ -z "$servers" ] || kill $servers 2>/dev/null
	wait
	rm -rf "$work" "$data.new"
}
trap clean_up EXIT

# blocks counters|rules FOLDER
blocks() {
	"$BUILD/tests/bench/fleet" "$1" "$HOSTS" "$GUESTS" "$made" >"$data.new/text" &&
		promtool tsdb create-blocks-from openmetrics "$data.new/text" "$2" >/dev/null &&
		rm "$data.new/text"
}

made=$(cat "$data/time" 2>/dev/null || echo 0)
if [ $(($(date +%s) - made)) -gt 5400 ]; then
	echo "Making $data" >&2
	rm -rf "$data" "$data.new"
	mkdir -p "$data.new"
	made=$(date +%s)
	blocks counters "$data.new/plain" && blocks rules "$data.new/rules" &&
		cp -rl "$data.new/plain/." "$data.new/rules" && echo "$made" >"$data.new/time" &&
		mv "$data.new" "$data" || exit 1
fi

# server FOLDER PORT
server() {
	prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$data/$1" \
		--storage.tsdb.retention.time=100y --web.listen-address="127.0.0.1:$2" \
		--log.level=error &
	servers="$servers $!"
	until curl -s -o /dev/null --fail "http://127.0.0.1:$2/-/ready"; do
		kill -0 $! || exit 1
		sleep 0.2
	done
}
: >"$work/prometheus.yml"
server plain "$PORT"
server rules $((PORT + 1))

# counts PORT: queries, bytes, CPU seconds so far.
counts() {
	curl -s "http://127.0.0.1:$1/metrics" | awk '
	/^prometheus_http_response_size_bytes_count.*query_range"/ { queries = $2 }
	/^prometheus_http_response_size_bytes_sum.*query_range"/ { bytes = $2 }
	/^process_cpu_seconds_total/ { cpu = $2 }
	END { print queries + 0, bytes + 0, cpu }'
}

# spent NR PORT COMMAND...: what each of NR pictures took, of all that the command asks for.
spent() {
	local nr=$1 port=$2 before after
	shift 2
	before=$(counts "$port")
	"$@" >/dev/null || exit 1
	after=$(counts "$port")
	echo "$before $after" | awk -v nr="$nr" '{
		printf "%.1f %.0f %.0f\n", ($4 - $1) / nr, ($5 - $2) / nr / 1000,
			($6 - $3) / nr * 1000
	}'
}

# median: the least of the lines that are read, and the one in the middle
median() {
	sort -g | awk '{ v[NR] = $1 } END { print NR ? v[1] "/" v[int((NR + 1) / 2)] : "-" }'
}

# since NANOSECONDS: in ms
since() {
	echo $((($(date +%s%N) - $1) / 1000000))
}

wall_ms() {
	local began
	for _ in $(seq "$ROUNDS"); do
		began=$(date +%s%N)
		"$@" >/dev/null || exit 1
		since "$began"
	done | median
}

# shows PATTERN: a line of the screen has it
shows() {
	tmux -S "$work/tmux" capture-pane -p | grep -qE "$1"
}

# The next one is another server's, though this one takes a moment to end.
end_screen() {
	tmux -S "$work/tmux" kill-server
	rm -f "$work/tmux"
}

# refresh_ms COMMAND...: from Enter behind a time, to all hosts at that time.
refresh_ms() {
	local began moment i
	tmux -S "$work/tmux" -f /dev/null new-session -d -x 120 -y 40 "$*"
	until shows '^ *kvm[0-9]+ +[0-9]+ '; do sleep 0.05; done
	for i in $(seq "$ROUNDS"); do
		moment=$(((made / 60 - i) * 60)) # a multiple of the interval
		tmux -S "$work/tmux" send-keys j
		tmux -S "$work/tmux" send-keys -l "@$moment"
		sleep 1
		began=$(date +%s%N)
		tmux -S "$work/tmux" send-keys Enter
		until shows "paused at $(date -d "@$moment" +%T)"; do sleep 0.01; done
		since "$began"
	done | median
	end_screen
}

# enter_ms COMMAND...: from Enter on host kvm1, which was not looked at before, to its first guest.
# Looking at the screen takes some 10 ms itself.
enter_ms() {
	local began
	for _ in $(seq "$ROUNDS"); do
		tmux -S "$work/tmux" -f /dev/null new-session -d -x 120 -y 40 "$*"
		until shows '^ *kvm[0-9]+ +[0-9]+ '; do sleep 0.05; done
		tmux -S "$work/tmux" send-keys / '^kvm1$' Enter
		sleep 1
		began=$(date +%s%N)
		tmux -S "$work/tmux" send-keys Enter
		until shows '^ *guest[0-9]+ +[0-9]+ '; do sleep 0.01; done
		since "$began"
		end_screen
	done | median
}

# line NAME MS NR PORT COMMAND...
line() {
	local name=$1 ms=$2
	shift 2
	# shellcheck disable=SC2046,SC2183 # several words
	printf '%-44s %12s %10s %8s %8s\n' "$name" "$ms" $(spent "$@")
}

from="$KVMTOP --from http://127.0.0.1:"
printf 'load %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
printf '%-44s %12s %10s %8s %8s\n' "$HOSTS hosts x $GUESTS guests" ms queries KB "CPU ms"
# shellcheck disable=SC2086 # several words
{
	first="$from$((PORT + 1)) -1"
	line "all hosts, the program from start to end" "$(wall_ms $first)" 1 $((PORT + 1)) $first
	refresh=-
	command -v tmux >/dev/null && refresh=$(refresh_ms $from$((PORT + 1)) -s 2)
	line "a refresh of all hosts" "$refresh" $REFRESHES $((PORT + 1)) \
		$from$((PORT + 1)) -s 2 -l -n $REFRESHES
	host="$from$((PORT + 1)) --host kvm1 -1"
	line "a host's guests, from start to end" "$(wall_ms $host)" 1 $((PORT + 1)) $host
	if command -v tmux >/dev/null; then
		printf '%-44s %12s\n' "from Enter on a host to its guests" \
			"$(enter_ms $from$((PORT + 1)))"
	fi
	plain="$from$PORT --at @$made -1"
	ROUNDS=1
	line "all hosts without recording rules" "$(wall_ms $plain)" 1 "$PORT" $plain
}
