#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --from URL without a Prometheus: what is said of one that is gone, is none, or wants a password.
#
# tests/cli/fleet.t has a real one.
# shellcheck disable=SC2059 # texts are formats
# shellcheck disable=SC2317 # wait_for calls a function
. tests/lib.sh
# The server answers in its own time.
SCRIPT_CLOCK=real
export no_proxy='*' SCRIPT_CLOCK

# said OPTION...: the exit status and what is said.
said() {
	echo "$(status_of "$KVMTOP" "$@") $(cat "$TMP/err")"
}

like "$("$KVMTOP" --help | grep -A1 -e --http-config)" 'bearer token' "--help names the token"
like "$(said --from ftp://a -1)" \
	'^2 .*"ftp://a": the URL must begin with http:// or https://' "no such way"
like "$(said --from http://u:s3cret@a -1)" '^2 .*user and password go into --http-config FILE' \
	"no password in the URL"
unlike "$(said --from http://u:s3cret@a -1)
$(said --from http://u:s3cret@a@b/ -1)
$(said --from u:s3cret@a -1)
$(said --from 'https://a/?token=s3cret' -1)" s3cret "which is not repeated"
like "$(said --host a -1)" '^2 .*--host works with a Prometheus' "a host of nothing"
like "$(said --from http://a -r x -1)" '^2 .*exclude each other' "two sources"
like "$(said --from http://a -d -1)" '^2 .*-d/--debugfs works with .*, not with a Prom' \
	"no provider"
for view in guests vcpus why hotspots events host long; do
	is "$(said --from http://127.0.0.1:1 --view $view -1 | head -n 1)" \
		"2 kvmtop: the view $view is of one host: add --host NAME; of all hosts there are \
the views hosts and exits" "--view $view without a host"
done
like "$(said --from http://127.0.0.1:1 -b -1)" '^2 kvmtop: the view guests .* add --host NAME' \
	"-b without a host"
like "$(said --from http://127.0.0.1:1 --view exits -1)" '^1 kvmtop: http://127' "all hosts' exits"
for option in "-g web1" "-p 112"; do
	# shellcheck disable=SC2086
	like "$(said --from http://127.0.0.1:1 $option -1)" \
		'^2 .* needs --host: name the host of the guest' \
		"$option without a host"
done
like "$(said --from yesterday -1)" '^2 .*--from works with a recording, .*, not with this machine' \
	"a time is no source"
is "$(said -r "$TMP/none.db" -1)" "1 kvmtop: $TMP/none.db: No such file or directory" "no file"
like "$(said --from http://127.0.0.1:1 -1)" '^1 kvmtop: http://127.0.0.1:1: .*onnect' \
	"no server there"
printf 'oauth2: {}\nusers: {a: b}\n' >"$TMP/http.yml"
like "$(said --from http://127.0.0.1:1 --http-config "$TMP/http.yml" -1)" \
	"^1 kvmtop: $TMP/http.yml: line 2: a: kvmtop has no such setting" "a file with more"

# serve TEXT: what the server at $url says; without TEXT, nothing.
serve() {
	printf "$@" >"$TMP/text" 2>/dev/null
	spawn "$HELPERS/answers" ${1:+"$TMP/text"} >"$TMP/port"
	server=$SPAWNED
	wait_for 20 test -s "$TMP/port"
	url=http://127.0.0.1:$(cat "$TMP/port")
}

serve 'hello\n'
like "$(said --from "$url" -1)" "^1 kvmtop: $url: " "no HTTP"
stop "$SPAWNED"
serve 'HTTP/1.0 200 OK\r\n\r\n<html>hello</html>'
is "$(said --from "$url" -1)" \
	"1 kvmtop: $url: not an answer of a Prometheus (HTTP 200): is the address right?" \
	"a web server"
stop "$SPAWNED"
serve 'HTTP/1.0 401 Unauthorized\r\n\r\nno\n'
is "$(said --from "$url" -1)" \
	"1 kvmtop: $url: the server answers only authorized users (HTTP 401): give user and \
password, or a token, in --http-config FILE" \
	"one that wants a password"
stop "$SPAWNED"
serve 'HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n'
is "$(said --from "$url" -1)" \
	"1 kvmtop: $url: not an answer of a Prometheus (HTTP 302): is the address right?" \
	"one that leads elsewhere"
stop "$SPAWNED"
serve 'HTTP/1.0 422 No\r\n\r\n{"status":"error","error":"too many samples"}'
is "$(said --from "$url" -1)" "1 kvmtop: $url: the server refused the query: too many samples" \
	"one that refuses"
stop "$SPAWNED"
serve 'HTTP/1.0 200 OK\r\n\r\n{"status":"success","data":{"resultType":"vector","result":[]}}'
for name in "$url" "$url/" "${url#http://}" "${url#http://}/prefix/"; do
	like "$(said -r "$name" -1)" '^1 kvmtop: http://127.0.0.1:[0-9/prefix]*[^/] has no kvmtop' \
		"-r $name"
done
like "$(said --from "$url" -1)" "^1 kvmtop: $url has no kvmtop_build_info" "one without kvmtop"
stop "$SPAWNED"
spawn "$KVMTOP" export --sysroot tests/sysroot/amd --listen "$(basename "$url")"
wait_for 20 is_sampling "$SPAWNED"
like "$(said -r "$url" -1)" \
	"^1 kvmtop: $url: kvmtop export answers there, .*: give the address of that Prometheus" \
	"our exporter is no Prometheus"
stop "$SPAWNED"
serve ''
spawn "$KVMTOP" --from "$url" -1 2>"$TMP/err"
asks() {
	grep -q "$(printf ' 0100007F:%04X 01 ' "${url##*:}")" /proc/net/tcp
}
check "one that never answers is asked" wait_for 10 asks
stop "$SPAWNED" INT
like "$(cat "$TMP/err")" '^$' "and can be left"
stop "$server"

# ---- what is shown of answers: the same to each query, which takes from it what it asks for

# series LABELS VALUE...: the values at 100, 101 ... seconds
series() {
	printf '{"metric":{"instance":"%s",%s},"values":[' "${machine-kvm1}" "$1"
	shift
	t_at=100
	for t_value; do
		printf '%s[%d,"%s"]' "${t_comma-}" $t_at "$t_value"
		t_comma=, t_at=$((t_at + 1))
	done
	t_comma=
	printf ']},'
}
# answers SERIES [LATEST]: a server that has these, at 105 s past 1970, which is the latest value.
answers() {
	serve 'HTTP/1.0 200 OK\r\n\r\n{"status":"success","data":{"resultType":"matrix",%s%s%s' \
		'"result":[' "$1" \
		'{"metric":{"instance":"kvm1"},"values":[[101,"'"${2:-105}"'"]]}]}}'
	from="--from $url -s 1 --at @101"
}

answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' 2 2
	series '"guest":"web1","rule":"halt_poll"' 3 3
	series '"rule":"lost"' 1 1)"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --host kvm1 -1 --view why --json |
	grep -oE '"(guest|severity|rule)":"[^"]*"' | cut -d: -f2 | tr '\n' ' ')" \
	'"web1" "critical" "halt_poll" "all guests" "minor" "lost" ' \
	"a host's findings, with their guests"
stop "$SPAWNED"

# The words of a guest's platform are labels, and -g takes them.
answers "$(series '"guest":"web1","uuid":"8f7d","id":"101","title":"front","project":"shop",'\
'"flavor":"m1","pod":"7a5c","pid":"112","vmm":"QEMU"' 1 1
	series '"guest":"db1","uuid":"","pid":"113","vmm":"QEMU"' 1 1)"
for word in 101 shop/front; do
	# shellcheck disable=SC2086
	is "$("$KVMTOP" $from --host kvm1 -g $word -1 --view guests --json |
		grep -oE '"(guest|title|project|flavor|id|uuid|pod)":"[^"]*"' | cut -d '"' -f 4 |
		tr '\n' ' ')" "web1 front shop m1 101 8f7d 7a5c " \
		"-g $word: the words of a Prometheus"
done
stop "$SPAWNED"

# Names and rules in an order that is not that of the severities.
answers "$(series '"guest":"a","uuid":"","pid":"112","vmm":"QEMU"' 1 1
	series '"guest":"b","uuid":"","pid":"113","vmm":"QEMU"' 1 1
	series '"guest":"a","rule":"cpu_wait"' 1 1
	series '"guest":"b","rule":"timer"' 3 3
	series '"guest":"a","rule":"halt_poll"' 2 2
	series '"guest":"b","rule":"halt_poll"' 1 1
	series '"guest":"a","rule":"slow_vmm"' 3 3)"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --host kvm1 -1 --view why --json |
	grep -oE '"severity":"[^"]*"' | cut -d'"' -f4 | tr '\n' ' ')" \
	'critical critical major minor minor ' "the worst of a host first"
stop "$SPAWNED"
answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' 2 2
	series '"guest":"web1","rule":"halt_poll"' 3 3
	series '"rule":"lost"' 1 1)"
# shellcheck disable=SC2086
script_start 120 30 $from
screen_has '^ *kvm1 ' "the host is there"
screen_keys w
screen_has '^ *KVM.s halt polling .* kvm1 ' "w: findings of all hosts"
screen_keys Enter
screen_has '^ *KVM.s halt polling .* web1 ' "Enter leads to the host's own"
screen_keys BSpace
screen_has '^ *KVM.s halt polling .* kvm1 ' "and Backspace back"
screen_keys q
stop "$SPAWNED"

# elsewhere VIEW PATTERN: on a host it has no rows, and says where there are some.
elsewhere() {
	# shellcheck disable=SC2086
	like "$("$KVMTOP" $from --host kvm1 -1 --view "$1" --json 2>&1 >"$TMP/json")" "$2" \
		"--view $1 says where it is"
	like "$(cat "$TMP/json")" '"rows":\[\]' "and has no rows"
}
answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' 1 1)"
elsewhere events '^kvmtop: A Prometheus is not asked for events: kvmtop on the host shows them'
elsewhere hotspots '^kvmtop: A Prometheus does not have the arguments of exits: kvmtop on the host'
elsewhere host '^kvmtop: A Prometheus is not asked for the host.s CPUs: kvmtop on the host'
elsewhere long '^kvmtop: A Prometheus has no single exits: kvmtop on the host lists long ones'
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --host kvm1 -1 --view events -g web1 -f x 2>&1 >/dev/null | wc -l)" 1 \
	"and nothing else"
# shellcheck disable=SC2086
script_start 120 30 $from
screen_has '^ *kvm1 ' "all hosts"
for host in "of all hosts" "of a host"; do
	screen_keys 1
	screen_has '^ A Prometheus is not asked for events: kvmtop' "1 $host says the truth"
	screen_keys 5
	screen_has '^ A Prometheus does not have the arguments of exits' "5, too"
	screen_keys 6
	screen_has '^ A Prometheus is not asked for the host.s CPUs' "and 6"
	unlike "$(screen_shot)" '/proc/stat' "and not what this machine lacks"
	screen_keys l
	screen_has '^ A Prometheus has no single exits: kvmtop on the host' "and l"
	[ "$host" = "of all hosts" ] || continue
	screen_keys 3
	screen_has 'known of one host at a time' "but 3 is of one host"
	screen_keys 2 Enter
	screen_has '^ *web1 ' "Enter leads to it"
done
screen_keys q
stop "$SPAWNED"

# Poll% and Block% where hosts know them.
idle='"mode":"idle","guest":"web1","vcpu":"0"'
run='"mode":"guest","guest":"web1","vcpu":"0"'
info='"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"'
# shares: the headings of what is not on a CPU.
shares() {
	# shellcheck disable=SC2086
	"$KVMTOP" $from -1 "$@" | sed -n 3p | grep -oE '(Poll|Block|Wait|Idle)%' | tr '\n' ' '
}
unpolled=$(series "$info" 1 1; series "$run" 0 0.25; series "$idle" 0 0.75)
polled=$(machine=kvm2; series "$info" 1 1; series "$run" 0 0.25; series "$idle" 0 0.25
	series "$(echo "$idle" | sed s/idle/poll/)" 0 0.25
	series "$(echo "$idle" | sed s/idle/block/)" 0 0.25)
answers "$unpolled"
is "$(shares)" "Wait% Idle% " "idle time where no more is known"
is "$(shares --host kvm1)" "Wait% Idle% " "of a host, too"
stop "$SPAWNED"
answers "$polled"
is "$(shares)" "Poll% Block% Wait% Idle% " "polling and blocked time where they are known"
stop "$SPAWNED"
answers "$unpolled$polled"
is "$(shares)" "Poll% Block% Wait% Idle% " "and where they are known of some hosts"
stop "$SPAWNED"

# How often, and how many seconds: both queries get the same numbers.
answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' 1 1 1 1 1
	series '"guest":"web1","reason":"cpuid"' 5 25 45 55 65)"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from --host kvm1 -1 --view exits --json)" \
	'"delta":20,.*"time_ns":20000000000,.*"avg_ns":1000000000,"p50_ns":null,.*"max_ns":null' \
	"a reason's average of its time and count"
# shellcheck disable=SC2086
like "$("$KVMTOP" ${from% --at*} --host kvm1 --json --diff @101..@102 --from @103 --to @104)" \
	'"other_avg_ns":1000000000,"avg_ns":1000000000,"avg_change":0' \
	"and of two spans"
stop "$SPAWNED"

# ---- a span that is longer than what is asked for at once

# shellcheck disable=SC2046
answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' $(yes 1 | head -n 241)
	series '"guest":"web1","reason":"cpuid"' $(seq 0 10 2400))" 345
from="${from% --at*} --host kvm1"
# delta OPTION...: in how many seconds how many exits there were.
delta() {
	# shellcheck disable=SC2086
	"$KVMTOP" $from --view exits --json "$@" |
		grep -oE '"(delta|elapsed_s)":[0-9.]*' | tr '\n' ' '
}
is "$(delta -1 --from @100 --to @340)" '"elapsed_s":240.0000 "delta":2400 ' "all of it is summed"
is "$(delta -1 --from @100 --to @101)" '"elapsed_s":1.0000 "delta":10 ' "and one sample"
is "$(delta -1 --from @150 --to @250)" '"elapsed_s":100.0000 "delta":1000 ' "and a part"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from --json --diff @100..@220 --from @220 --to @340)" \
	'"elapsed_s":120.0*},"other":.*"elapsed_s":120.0*},.*"other_rate":10.0*,"rate":10.0*,' \
	"two spans are compared as a whole"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --view exits -l --json --from @100 --to @340 |
	grep -c '"delta":10,')" 240 "and each sample of it is listed"
like "$(said --from "$url" --host kvm1 -1 --to @340)" \
	'^2 kvmtop: --to needs --from: a Prometheus does not say when' "a span needs a begin"
# shellcheck disable=SC2086
script_start 100 24 $from --at @130 --view exits
screen_has '^ *cpuid ' "a moment of the screen"
screen_keys d
screen_has 'Marked: d at another moment' "which is marked"
screen_keys j
screen_type '+150s'
screen_keys Enter
screen_has 'paused at 1970-01-01 00:04:40' "another, far from it"
screen_keys d
screen_has '^ 1: 1970-01-01 00:02:10.000  2: 1970-01-01 00:04:40.000' \
	"and both side by side"
screen_has '^ cpuid .*10.* 10' "each as a whole"
screen_keys q
stop "$SPAWNED"

# ---- answers that are small on their way and large here

# inflated NUMBER: a server that answers with as many of the series in $TMP/one, compressed.
inflated() {
	printf 'HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n' >"$TMP/text"
	{
		printf '{"status":"success","data":{"result":['
		yes "$TMP/one" | head -n "$1" | xargs cat
		printf '{"metric":{"instance":"kvm1"},"values":[[101,"105"]]}]}}'
	} | gzip -9 >>"$TMP/text"
	spawn "$HELPERS/answers" "$TMP/text" >"$TMP/port"
	server=$SPAWNED
	wait_for 20 test -s "$TMP/port"
	url=http://127.0.0.1:$(cat "$TMP/port")
}
# cramped OPTION...: as said, with 200 MB of addresses.
cramped() (
	# shellcheck disable=SC3045 # dash and bash have it
	ulimit -v 200000
	said "$@"
)
{
	printf '{"metric":{},"values":['
	yes '[],' | head -n 50000
	printf '[]]},'
} >"$TMP/one"
inflated 25
like "$(cramped --from "$url" -1)" "^0 " "5 MB of lists do not take hundreds"
stop "$server"
yes '{"metric":{},"values":[]},' | head -n 3000 >"$TMP/one"
inflated 100
is "$(cramped --from "$url" -1)" "1 kvmtop: $url: the answers are larger than 32 MiB" \
	"six answers together have a limit"
stop "$server"

# ---- a log has each sample, also after an outage

# shellcheck disable=SC2046
answers "$(series '"guest":"web1","uuid":"","pid":"112","vmm":"QEMU"' $(yes 1 | head -n 60))"
spawn timeout 60 "$KVMTOP" --from "$url" --host kvm1 -s 0.25 -l --json -n 14 \
	>"$TMP/log" 2>"$TMP/err"
log=$SPAWNED
# shellcheck disable=SC2016
wait_for 10 sh -c '[ "$(wc -l <"$TMP/log")" -ge 3 ]'
stop "$server"
wait_for 10 grep -q . "$TMP/err"
sleep 1 # some samples
spawn "$HELPERS/answers" "$TMP/text" "${url##*:}" >"$TMP/port"
server=$SPAWNED
wait "$log"
is "$(sed 's/^{"time":"[^"]*:\([0-9.]*\)+.*/\1/' "$TMP/log" |
	awk 'NR > 1 && ($1 - last + 60) % 60 != 0.25 { print last, $1 }
		{ last = $1 } END { print NR }')" 14 "none is left out"
is "$(grep -c 'answers again' "$TMP/err")" 1 "and the outage is said, and its end"
like "$(grep onnect "$TMP/err")" "^kvmtop: $url: .*onnect" "with the reason"
stop "$server"

# ---- a server that never answers, on the screen

serve ''
if has_screen; then
	screen_start 80 24 "$KVMTOP --from $url"
	screen_has "^kvmtop: waiting for $url; Ctrl-C ends this" \
		"a terminal shows what is waited for"
	screen_keys C-c
	like "$(screen_status)" '^SIG(2|INT)$' "and Ctrl-C ends it"
else
	skip "what a terminal shows" "$T_no_screen"
fi
done_testing
