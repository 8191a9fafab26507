#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2317 # wait_for calls functions
#
# scraped.sh - Prometheus scrapes emulated hosts: it has the numbers that their screens show.
#
# usage: tests/hosts/scraped.sh FOLDER NAME:PORT...
#
# FOLDER/NAME.log is the host's console. The host's guests begin after a connection to PORT + 2.
. tests/lib.sh

folder=$1
shift

# Prometheus' port; the hosts' ports were chosen before.
web=$(($(od -An -N2 -tu2 /dev/urandom) % 8000 + 10000))
{
	echo 'global: {scrape_interval: 2s, scrape_timeout: 2s}'
	echo 'scrape_configs:'
	echo '  - job_name: kvmtop'
	echo '    static_configs:'
	for host; do
		echo "      - {targets: ['127.0.0.1:${host#*:}'], labels: {host: ${host%:*}}}"
	done
} >"$TMP/prometheus.yml"
spawn prometheus --config.file="$TMP/prometheus.yml" --storage.tsdb.path="$TMP/tsdb" \
	--web.listen-address="127.0.0.1:$web" --log.level=error 2>"$TMP/prometheus.err"

# ask QUERY: "HOST GUEST NUMBER" of each series.
ask() {
	promtool query instant "http://127.0.0.1:$web" "$1" 2>"$TMP/err" |
		sed -nE 's/^\{guest="([a-z]+)", host="([a-z])"\} => ([0-9]+) .*/\2 \1 \3/p' | sort
}

# ask_has_guests NR: Prometheus has scraped so many guests.
ask_has_guests() {
	[ "$(ask 'sum by (host, guest) (kvmtop_guest_vcpus)' | wc -l)" = "$1" ]
}

# screens HOST...: the same from the hosts' screens: their JSON's member $member.
screens() {
	for host; do
		tr -d '\r' <"$folder/${host%:*}.log" | sed -n 's/^screen //p' |
			grep -oE '"guest":"[a-z]+"|"'"$member"'":[0-9]+' |
			sed 's/"[a-z]*"://; s/"//g' | paste -d ' ' - - | sed "s/^/${host%:*} /"
	done | sort
}

# says HOST WORDS: the host's console has these words.
says() {
	grep -q "^host ${1%:*} $2" "$folder/${1%:*}.log"
}
for host; do
	check "host ${host%:*} has its guests" wait_for 300 says "$host" waits
	says "$host" waits || diag "$(tail -n 20 "$folder/${host%:*}.log")"
done

# All guests are scraped once before they begin.
wait_for 120 ask_has_guests 3
sleep 5
begin=$(date +%s)
goes_on() {
	curl -s --noproxy '*' --max-time 2 "http://127.0.0.1:$((${1#*:} + 2))" >/dev/null
	says "$1" 'goes on'
}
for host; do
	wait_for 60 goes_on "$host"
	check "host ${host%:*} runs its guests" wait_for 300 says "$host" 'is ready'
done

# same QUERY MEMBER: the query's numbers are the screens' numbers.
same() {
	member=$2
	# shellcheck disable=SC2086 # words
	screens $hosts >"$TMP/screens"
	ask "$1" >"$TMP/scraped"
	[ -s "$TMP/screens" ] && cmp -s "$TMP/screens" "$TMP/scraped"
}
hosts=$*
wait_for 120 same 'sum by (host, guest) (kvmtop_exits_total{guest!="(ended)"})' total
is "$(cat "$TMP/scraped")" "$(cat "$TMP/screens")" \
	"the exits of each guest are those of its host's screen"
like "$(cat "$TMP/scraped")" '^b two [0-9]+$' "with the guest that only one host has"
wait_for 60 same 'sum by (host, guest) (kvmtop_guest_vcpus)' vcpus
is "$(cat "$TMP/scraped")" "$(cat "$TMP/screens")" "and so are their vCPUs"
like "$(promtool query instant "http://127.0.0.1:$web" 'sum(up)')" '=> 2 ' "two hosts answer"

# kvmtop --from shows both hosts on one screen; it knows them from Prometheus alone.
from="--from http://127.0.0.1:$web -s 2"
# fleet: prints the same lines from kvmtop --from.
fleet() {
	for host; do
		# shellcheck disable=SC2086 # words
		"$KVMTOP" $from --host "127.0.0.1:${host#*:}" --from "@$begin" -1 --view guests \
			--json |
			grep -oE '"guest":"[a-z]+"|"'"$member"'":[0-9]+' |
			sed 's/"[a-z]*"://; s/"//g' | paste -d ' ' - - | sed "s/^/${host%:*} /"
	done | sort
}
# The latest moment in Prometheus is a step old.
fleet_has_screens() {
	# shellcheck disable=SC2086 # words
	[ "$(fleet $hosts)" = "$(screens $hosts)" ]
}
for member in vcpus total; do
	wait_for 30 fleet_has_screens
	is "$(fleet "$@")" "$(screens "$@")" "kvmtop --from has their guests with $member"
done
if has_screen; then
	screen_start 80 24 "$KVMTOP $from"
	screen_has "^ *127[.]0[.]0[.]1:${1#*:} +1 " "the screen has one host with its guest"
	screen_has "^ *127[.]0[.]0[.]1:${2#*:} +2 " "and the other with two"
	screen_keys q
else
	skip "one screen of both hosts" "$T_no_screen"
fi
done_testing
