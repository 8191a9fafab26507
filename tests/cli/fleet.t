#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What Prometheus and its relatives get is what was counted: a file, a server, rules, a dashboard.
#
# Prometheus, node_exporter and VictoriaMetrics really run, at ports of this machine that are free.
# Where they are not installed, those that `make check` fetched are used (tests/hosts/beside).
# shellcheck disable=SC2317 # wait_for calls functions
if ! command -v prometheus >/dev/null && [ -z "${FLEET_BESIDE-}" ] &&
	grep -qs prometheus "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kvmtop-hosts/beside/packages"
then
	FLEET_BESIDE=1 exec tests/hosts/beside fleet -- "$0"
fi
. tests/lib.sh

amd="--sysroot tests/sysroot/amd"

# free_port: one below the ports that the kernel gives to clients.
free_port() {
	while :; do
		t_port=$(($(od -An -N2 -tu2 /dev/urandom) % 12000 + 20000))
		awk -v "port=$(printf ':%04X' "$t_port")" 'substr($2, length($2) - 4) == port {
			found = 1 } END { exit found }' /proc/net/tcp /proc/net/tcp6 &&
			echo "$t_port" && return
	done
}

# serve OPTION...: kvmtop in the background, which answers at $port; its pid in $SERVER.
serve() {
	port=$(free_port)
	# shellcheck disable=SC2086 # words
	spawn "$KVMTOP" export $amd --listen "$port" -s 0.2 "$@" 2>"$TMP/serve.err"
	SERVER=$SPAWNED
	wait_for 20 listens "$port" || diag "$(cat "$TMP/serve.err")"
}

listens() {
	grep -q "$(printf '0100007F:%04X 00000000:0000 0A' "$1")" /proc/net/tcp
}

get() {
	curl -s --noproxy '*' --max-time 30 "$@"
}

# number FILE SERIES: its value.
number() {
	awk -v "series=$2" '$1 == series { print $2 }' "$1"
}

# ---- Prometheus and VictoriaMetrics take some seconds until they have scraped: they begin first

has_prometheus() {
	command -v prometheus >/dev/null && command -v promtool >/dev/null &&
		command -v curl >/dev/null
}
if has_prometheus; then
	serve --metrics user,reasons,events
	SCRAPED=$SERVER
	target=127.0.0.1:$port
	prometheus=$(free_port)
	cat >"$TMP/prometheus.yml" <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: ["$PWD/packaging/contrib/prometheus/kvmtop.rules.yml"]
		scrape_configs:
		  - job_name: kvmtop
		    static_configs: [{targets: ["$target"]}]
	END
	spawn prometheus --config.file="$TMP/prometheus.yml" --storage.tsdb.path="$TMP/tsdb" \
		--web.listen-address="127.0.0.1:$prometheus" --log.level=error \
		2>"$TMP/prometheus.err"
	PROMETHEUS=$SPAWNED
fi
secure=
vm=
if has_prometheus && command -v victoria-metrics >/dev/null; then
	vm=$(free_port)
	spawn victoria-metrics -httpListenAddr="127.0.0.1:$vm" -storageDataPath="$TMP/vm" \
		-promscrape.config="$TMP/prometheus.yml" -promscrape.config.strictParse=false \
		-search.latencyOffset=0s 2>"$TMP/vm.err"
fi

# ---- a sample that hangs: it takes some seconds until that is said

if command -v curl >/dev/null; then
	cp -r tests/sysroot/amd "$TMP/amd"
	stat=$TMP/amd/proc/112/stat # read for each sample
	port=$(free_port)
	spawn "$KVMTOP" export --sysroot "$TMP/amd" --listen "$port" -s 0.2 2>"$TMP/hang.err"
	HANGING=$SPAWNED
	hanging=http://127.0.0.1:$port
	wait_for 20 listens "$port"
	is "$(get "$hanging/healthz")" ok "/healthz while samples come"
	cp "$stat" "$TMP/stat"
	mkfifo "$TMP/fifo"
	ln "$TMP/fifo" "$TMP/another"
	mv "$TMP/another" "$stat"
	while [ "$(get -o /dev/null -w '%{http_code}' "$hanging/metrics")" = 200 ]; do :; done &
	ASKING=$!
fi

# ---- bad clients, some of which take their time

if command -v curl >/dev/null; then
	serve
	abused=http://127.0.0.1:$port/metrics
	# exits: all that were counted.
	exits() {
		get "$abused" | awk '/^kvmtop_exits_total/ { all += $NF } END { print all + 0 }'
	}
	began() {
		get "$abused" | sed -n 's/^kvmtop_start_time_seconds //p'
	}
	before=$(began)
	exits=$(exits)
	"$HELPERS/badclients" "$port" slow >"$TMP/bad" &
	BAD=$!
fi
# bad_clients_end: what became of them, and the end of the tests.
bad_clients_end() {
	command -v curl >/dev/null || done_testing
	wait "$BAD"
	is "$(grep -v ': answers$' "$TMP/bad")" "1000 connections" \
		"it answers after each bad client"
	is "$(began)" "$before" "and it is the same program"
	has_more() {
		[ "$(exits)" -gt "$exits" ]
	}
	check "which goes on counting" wait_for 20 has_more
	done_testing
}

# ---- without libcurl: files that are no libraries come first

mkdir "$TMP/lib"
: >"$TMP/lib/libcurl.so.4"
: >"$TMP/lib/libcurl-gnutls.so.4"
is "$(LD_LIBRARY_PATH=$TMP/lib "$KVMTOP" -r http://127.0.0.1:1 -1 2>&1)" "kvmtop: -r URL needs \
libcurl.so.4, which cannot be loaded here: install libcurl; the static program has no -r URL" \
	"libcurl is needed for a Prometheus as source only, and named"

# ---- the file

file=$TMP/t/kvmtop.prom
mkdir "$TMP/t"
(
	umask 077
	# shellcheck disable=SC2086
	"$KVMTOP" export $amd --prometheus "$file" -n 2 -s 0.1
)
is "$(stat -c %a "$file")" 644 "everyone may read the file"
is "$(ls "$TMP/t")" kvmtop.prom "nothing is left beside it"
is "$(number "$file" 'kvmtop_exits_total{guest="web1",reason="cpuid"}')" 486 "it has the exits"
# shellcheck disable=SC2086
is "$(status_of "$KVMTOP" export $amd --prometheus "$TMP/none/a.prom" -n 1) $(cat "$TMP/err")" \
	"1 kvmtop: $TMP/none/a.prom: its folder is not there: make it, or choose another" \
	"a folder that is not there"
# shellcheck disable=SC2086
spawn "$KVMTOP" export $amd --prometheus "$file" -s 0.1
wait_for 20 is_sampling "$SPAWNED"
stop "$SPAWNED" INT
is $? 0 "SIGINT ends it"
# shellcheck disable=SC2086
"$KVMTOP" export $amd --prometheus "$TMP/capped.prom" -n 2 -s 0.1 --max-series 60 \
	2>"$TMP/err"
like "$(cat "$TMP/err")" \
	'^kvmtop: [0-9]+ series are left out, because there are more than --max-series 60: ' \
	"--max-series: what is left out is said"
is "$(wc -l <"$TMP/err") $(number "$TMP/capped.prom" \
	'kvmtop_series_dropped{metric="kvmtop_exits_total"}')" "1 0" \
	"once; and what is left is whole"
if [ -w /dev/full ]; then
	# shellcheck disable=SC2086
	"$KVMTOP" export $amd --prometheus - -n 1 >/dev/full 2>"$TMP/err"
	is $? 1 "a full disk is an error"
	is "$(cat "$TMP/err")" "kvmtop: cannot write to standard output: No space left on device" \
		"which is said"
fi
# shellcheck disable=SC2086
{
	timeout 20 "$KVMTOP" export $amd --prometheus - -s 0.1 2>"$TMP/err"
	echo $? >"$TMP/status"
} | head -n 1 >"$TMP/first"
is "$(cat "$TMP/status" "$TMP/err")" 0 "a reader that is gone is none"

# whole FILE: its last line is that of the last metric.
whole() {
	[ -z "$(tail -c 1 "$1")" ] &&
		tail -n 1 "$1" | grep -qx 'kvmtop_series_dropped{metric="kvmtop_vcpu_[a-z_]*"} 0'
}
halves=0
reads=0
for _ in 1 2 3 4 5 6; do
	# shellcheck disable=SC2086
	spawn "$KVMTOP" export $amd --prometheus "$file" -s 0.1
	while ! t_ended "$SPAWNED"; do
		cat "$file" >"$TMP/read"
		reads=$((reads + 1))
		whole "$TMP/read" || halves=$((halves + 1))
		[ $((reads % 10)) != 0 ] || kill -KILL "$SPAWNED"
	done
	wait "$SPAWNED" 2>/dev/null
done
is "$halves" 0 "a reader never sees half a file, whenever the program is killed"
check "it read often" test "$reads" -ge 60
is "$(find "$TMP/t" -name '*.prom')" "$file" "and what was killed left no file that is collected"

# ---- the server

if command -v curl >/dev/null; then
	serve
	url=http://127.0.0.1:$port
	is "$(get -o "$TMP/text" -w '%{http_code} %{content_type}' "$url/metrics")" \
		"200 text/plain; version=0.0.4; charset=utf-8" "text"
	has_exits() {
		get -o "$TMP/text" "$url/metrics" &&
			grep -q '^kvmtop_exits_total{guest="web1",reason="cpuid"} [1-9]' "$TMP/text"
	}
	check "with exits" wait_for 20 has_exits
	is "$(get -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5' \
		-o "$TMP/om" -w '%{http_code} %{content_type}' "$url/metrics")" \
		"200 text/plain; version=0.0.4; charset=utf-8" "also for who asks for OpenMetrics"
	is "$(grep '^#' "$TMP/om")" "$(grep '^#' "$TMP/text")" "the same"
	get --compressed -o "$TMP/gzip" "$url/metrics"
	check "compressed, too" grep -q '^kvmtop_exits_total' "$TMP/gzip"
	get -H 'Accept-Encoding: deflate, gzip;q=0' -o "$TMP/plain" "$url/metrics"
	check "not for a client that refuses it" grep -q '^kvmtop_exits_total' "$TMP/plain"
	is "$(get "$url/healthz")" ok "/healthz"
	like "$(get "$url/")" '<a href="/metrics">' "the page leads there"
	is "$(get -o /dev/null -w '%{http_code}' "$url/nothing")" 404 "nothing else is there"
	is "$(get -X POST -d x -o /dev/null -w '%{http_code}' "$url/metrics")" 405 "nor written"
	is "$(get -I -o /dev/null -w '%{http_code}' "$url/metrics")" 200 "HEAD"
	# shellcheck disable=SC2086
	like "$("$KVMTOP" export $amd --listen "$port" 2>&1)" \
		"cannot listen at $port: Address already in use" \
		"a port that is taken"
	# shellcheck disable=SC2086
	like "$("$KVMTOP" export $amd --listen :0 -n 1 2>&1)" \
		'^kvmtop: anyone who can reach :0 can read the numbers; --web-config' \
		"every address: that it is open is said"
	stop "$SERVER"
	is $? 0 "SIGTERM ends it"

	# shellcheck disable=SC2086
	spawn "$KVMTOP" export $amd --listen "unix:$TMP/socket" -s 0.2
	wait_for 20 test -S "$TMP/socket"
	is "$(get --unix-socket "$TMP/socket" http://x/healthz)" ok "a unix socket"
	stop "$SPAWNED" KILL
	# shellcheck disable=SC2086
	spawn "$KVMTOP" export $amd --listen "unix:$TMP/socket" -s 0.2
	wait_for 20 get -o /dev/null --unix-socket "$TMP/socket" http://x/healthz
	is "$(get --unix-socket "$TMP/socket" http://x/healthz)" ok "one that a killed program left"
	first=$SPAWNED
	rm "$TMP/socket"
	# shellcheck disable=SC2086
	spawn "$KVMTOP" export $amd --listen "unix:$TMP/socket" -s 0.2
	wait_for 20 get -o /dev/null --unix-socket "$TMP/socket" http://x/healthz
	stop "$first"
	is "$(get --unix-socket "$TMP/socket" http://x/healthz)" ok \
		"the end of one leaves another's socket"
	stop "$SPAWNED"
	check "its own is removed at the end" test ! -e "$TMP/socket"
else
	skip "the server" "curl is not installed"
fi

# The password is "secret".
cat >"$TMP/web.yml" <<-'END'
	tls_server_config:
	  cert_file: server.crt
	  key_file: server.key
	basic_auth_users:
	  prom: $2b$04$ctzl7SRfiNSSZlMYgV9iJ.YZ1Ea9y1.0QV/3IM4xzSM80nO0w6twu
END
# refused TEXT: what is said of a file with this text.
refused() {
	printf '%s\n' "$1" >"$TMP/bad.yml"
	# shellcheck disable=SC2086
	"$KVMTOP" export $amd --listen "unix:$TMP/refused" --web-config "$TMP/bad.yml" 2>&1 |
		sed "s|^kvmtop: $TMP/bad.yml: ||"
}
is "$(refused 'users: {}')" "line 1: users: kvmtop has no such section; it has tls_server_config \
and basic_auth_users" "a section that is not known"
is "$(refused 'basic_auth_users: {a: secret}')" \
	"line 1: a: the password must be a bcrypt hash, as htpasswd -nB prints it" \
	"a password that is no hash"
is "$(refused 'tls_server_config: {cert_file: a}')" \
	"line 1: tls_server_config: cert_file and key_file are needed together" "half a certificate"
like "$(refused 'a: [')" '^line [12]: ' "no YAML"
like "$(refused 'tls_server_config: {cert_file: none, key_file: none}')" \
	"$TMP/none: No such file" "a certificate that is not there"
# A kernel without random numbers: by a library that takes the call's place.
if printf '%s\n' '#include <sys/types.h>' 'ssize_t getrandom(void *b, size_t n, unsigned f)' \
	'{ (void)b; (void)n; (void)f; return -1; }' >"$TMP/none.c" &&
	cc -shared -fPIC -o "$TMP/none.so" "$TMP/none.c" 2>/dev/null; then
	printf 'basic_auth_users:\n  prom: %s\n' "$(sed -n 's/.*prom: //p' "$TMP/web.yml")" \
		>"$TMP/users.yml"
	# shellcheck disable=SC2086
	is "$(LD_PRELOAD=$TMP/none.so timeout 10 "$KVMTOP" export $amd --listen "unix:$TMP/none" \
		--web-config "$TMP/users.yml" 2>&1)" \
		"kvmtop: the system has no random numbers, which passwords need" \
		"a password that cannot be checked: no server"
else
	skip "a password that cannot be checked" "no compiler"
fi
if command -v openssl >/dev/null && command -v curl >/dev/null; then
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 \
		-keyout "$TMP/server.key" -out "$TMP/server.crt" 2>/dev/null
	# A Prometheus with the same certificate and password, for later. It has two hosts with
	# names as long as they get, which differ at their ends.
	if has_prometheus; then
		secure=$(free_port)
		long=$(printf '%050d.%050d.%050d.%050d.%049d' 1 2 3 4 5)
		cat >"$TMP/secure.yml" <<-END
			global: {scrape_interval: 1s}
			scrape_configs:
			  - job_name: kvmtop
			    static_configs:
			      - {targets: ["$target"], labels: {instance: "$long:19177"}}
			      - {targets: ["$target"], labels: {instance: "$long:19178"}}
		END
		spawn prometheus --config.file="$TMP/secure.yml" \
			--storage.tsdb.path="$TMP/secure" --web.config.file="$TMP/web.yml" \
			--web.listen-address="127.0.0.1:$secure" --log.level=error \
			2>"$TMP/secure.err"
	fi
	serve --web-config "$TMP/web.yml"
	url=https://127.0.0.1:$port
	code() {
		get --cacert "$TMP/server.crt" -o /dev/null -w '%{http_code}' "$@" "$url/metrics"
	}
	is "$(code)" 401 "no password"
	is "$(code -u prom:wrong)" 401 "a wrong one"
	is "$(code -u nobody:secret)" 401 "an unknown user"
	is "$(code -u prom:secret)" 200 "the right one"
	is "$(code -u prom:secret)" 200 "and again, which is remembered"
	is "$(code -u prom:wrong2)" 401 "but no other"
	is "$(get -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/healthz")" 000 "TLS only"
	"$HELPERS/badclients" "$port" >/dev/null
	is "$(code -u prom:secret)" 200 "and clients that speak no TLS are nothing to it"
	stop "$SERVER"

	# wrong NUMBER SECONDS: the answers to so many wrong passwords at once, as they come.
	wrong() {
		# shellcheck disable=SC2046 # words
		stdbuf -oL curl -s --noproxy '*' -Z --parallel-max "$1" --no-progress-meter \
			--max-time "$2" -u prom:wrong -w '%{http_code}\n' $(
			for _ in $(seq "$1"); do
				printf '%s\n' "-o /dev/null $url/metrics"
			done
		) 2>/dev/null
	}
	# A check takes a twentieth of a second.
	cat >"$TMP/first.yml" <<-'END'
		basic_auth_users:
		  prom: $2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u
	END
	serve --web-config "$TMP/first.yml"
	url=http://127.0.0.1:$port
	wrong 26 100 >"$TMP/codes" &
	waiting=$!
	wait_for 20 grep -q 401 "$TMP/codes"
	is "$(code --max-time 100 -u prom:secret)" 200 \
		"the first right one passes, after wrong ones"
	is "$(code -u prom:secret)" 200 "and then at once"
	wait "$waiting"
	is "$(sort "$TMP/codes" | uniq -c | tr -s ' ')" " 26 401" \
		"the wrong ones have had their answers"
	stop "$SERVER"

	# Each check takes a quarter of a second: 40 of them would take 10.
	cat >"$TMP/slow.yml" <<-'END'
		basic_auth_users:
		  prom: $2b$12$1/lW4gvaSUuqyJXQ7ENzGOCEG1QyITVj9p6gkm9syThqFW6sIA4GC
	END
	serve --web-config "$TMP/slow.yml"
	url=http://127.0.0.1:$port
	is "$(code -u prom:secret)" 200 "a password that takes long to check"
	wrong 40 100 >"$TMP/codes" &
	waiting=$!
	wait_for 20 grep -q 401 "$TMP/codes"
	is "$(code -u prom:secret)" 200 "while wrong ones wait the right one has its answer"
	check "of many wrong ones most are not looked at" test "$(grep -c 401 "$TMP/codes")" -lt 20
	stop "$SERVER"
	wait "$waiting"
else
	skip "TLS and passwords" "openssl or curl is not installed"
fi

# ---- systemd's way: a socket that is open already

if command -v systemd-socket-activate >/dev/null && command -v curl >/dev/null; then
	port=$(free_port)
	# shellcheck disable=SC2086
	spawn systemd-socket-activate -l "127.0.0.1:$port" "$KVMTOP" \
		export $amd --listen systemd -s 0.2 \
		2>"$TMP/activate"
	wait_for 20 listens "$port"
	is "$(get "http://127.0.0.1:$port/healthz")" ok "a socket of systemd's"
	stop "$SPAWNED"
else
	skip "a socket of systemd's" "systemd-socket-activate is not installed"
fi
# shellcheck disable=SC2086
like "$("$KVMTOP" export $amd --listen systemd 2>&1)" 'kvmtop: systemd passed no socket: start' \
	"without systemd"

# ---- what became of the sample that hangs

if command -v curl >/dev/null; then
	# healthz STATUS: whether this is the answer.
	healthz() {
		[ "$(get -o /dev/null -w '%{http_code}' "$hanging/healthz")" = "$1" ]
	}
	check "who waits for a sample that hangs gets an answer" wait_for 30 t_ended "$ASKING"
	check "/healthz is 503 when no sample came" wait_for 30 healthz 503
	is "$(get -o /dev/null -w '%{http_code}' "$hanging/metrics")" 503 \
		"and /metrics says nothing old"
	cp "$TMP/stat" "$TMP/another"
	mv "$TMP/another" "$stat"
	cat "$TMP/stat" >"$TMP/fifo"
	check "/healthz is 200 when samples come again" wait_for 30 healthz 200
	is "$(get -o /dev/null -w '%{http_code}' "$hanging/metrics")" 200 "and so is /metrics"
	stop "$HANGING"
fi

# ---- thresholds: those of kvmtop why

named=$(sed -n 's/.*> \([0-9.]*\)$/\1/; /^[0-9]/h; /threshold:/{ s/.*: //; G; s/\n/ = /; p; }' \
	packaging/contrib/prometheus/kvmtop.rules.yml)
check "rules have thresholds" test "$(printf '%s\n' "$named" | grep -c .)" -ge 4
"$KVMTOP" why --thresholds help | sed -nE 's/^# ([a-z_]+ = [0-9.]+).*/\1/p' >"$TMP/thresholds"
is "$(printf '%s\n' "$named" | grep -vxFf "$TMP/thresholds")" "" \
	"the rules have the thresholds of kvmtop why"

# ---- Prometheus

if ! has_prometheus; then
	skip "Prometheus" "prometheus or curl is not installed: packaging/tools/deps fleet"
	bad_clients_end
fi
# shellcheck disable=SC2086
"$KVMTOP" export $amd --prometheus - -n 1 \
	--metrics user,reasons,statistics,events,arguments >"$TMP/all"
is "$(promtool check metrics <"$TMP/all" 2>&1)" "" "promtool check metrics"
check "promtool check rules" promtool check rules packaging/contrib/prometheus/kvmtop.rules.yml
check "promtool test rules" promtool test rules packaging/contrib/prometheus/kvmtop.test.yml

exporter=$(command -v prometheus-node-exporter || command -v node_exporter)
node=
if [ -n "$exporter" ]; then
	node=$(free_port)
	spawn "$exporter" --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$TMP/t" --web.listen-address="127.0.0.1:$node" \
		2>"$TMP/node.err"
	wait_for 20 listens "$node"
	get -o "$TMP/node" "http://127.0.0.1:$node/metrics"
	is "$(number "$TMP/node" node_textfile_scrape_error)" 0 \
		"the textfile collector takes the file"
	grep -v '^#' "$file" | grep _total | sort >"$TMP/ours"
	grep '^kvmtop_' "$TMP/node" | grep _total | sort >"$TMP/theirs"
	is "$(wc -l <"$TMP/theirs")" "$(wc -l <"$TMP/ours")" "and gives all of its counters"
else
	skip "the textfile collector" "node_exporter is not installed"
fi

# ask PORT QUERY: the answer, JSON.
ask() {
	get --data-urlencode "query=$2" "http://127.0.0.1:$1/api/v1/query"
}
has_up() {
	ask "$1" 'up{job="kvmtop"}' | grep -q ',"1"\]'
}
check "Prometheus scrapes it" wait_for 60 has_up "$prometheus"
like "$(ask "$prometheus" 'count(kvmtop_guest_info)')" '"2"\]' "two guests are there"
# What the captured machine had in its first interval is the least that it says.
has_cpuids() {
	ask "$prometheus" 'kvmtop_exits_total{guest="web1",reason="cpuid"} >= 486' |
		grep -q '"reason":"cpuid"'
}
check "with their exits" wait_for 60 has_cpuids
healths() {
	get "http://127.0.0.1:$prometheus/api/v1/rules" | grep -o '"health":"[a-z]*"' | sort -u
}
are_evaluated() {
	healths | grep -q . && ! healths | grep -q unknown
}
wait_for 60 are_evaluated
is "$(healths)" '"health":"ok"' "every rule can be evaluated"

# queries: those of the dashboard, one a line, with Grafana's variables filled in.
queries() {
	sed -n 's/^ *"expr": "\(.*\)",*$/\1/p' packaging/contrib/grafana/kvmtop.json |
		sed 's/\\"/"/g; s/\$__rate_interval/1m/g; s/\$[a-z]*/.*/g'
}
check "the dashboard has queries" test "$(queries | wc -l)" -gt 20
queries | while read -r query; do
	ask "$prometheus" "$query" >"$TMP/answer"
	grep -q '"status":"success"' "$TMP/answer" || echo "$query: $(cat "$TMP/answer")"
done >"$TMP/refused"
is "$(cat "$TMP/refused")" "" "and Prometheus takes each of them"

# ---- --from: what Prometheus has, on the screen and in lines

SCRIPT_CLOCK=real
export SCRIPT_CLOCK
from="--from http://127.0.0.1:$prometheus -s 1"
host=$(ask "$prometheus" kvmtop_build_info | grep -o '"instance":"[^"]*"' | cut -d'"' -f4)
# at TIME QUERY: the value then.
at() {
	get --data-urlencode "query=$2" -d "time=$1" "http://127.0.0.1:$prometheus/api/v1/query" |
		sed -n 's/.*,"\([0-9.]*\)"\]}\]}}$/\1/p'
}
# A moment with one before it; the scrapes of both have all come.
web1='sum(kvmtop_exits_total{guest="web1"})'
has_then() {
	then=$(($(date +%s) - 3))
	[ -n "$(at $((then - 4)) "$web1")" ]
}
check "some seconds are there" wait_for 60 has_then
# shellcheck disable=SC2086
"$KVMTOP" $from --host "$host" --at "@$then" -1 --json >"$TMP/json" 2>"$TMP/err"
is "$? $(cat "$TMP/err")" "0 " "a host at a moment"
is "$(grep -o '"guest":"web1".*' "$TMP/json" | grep -o '"delta":[0-9]*' | head -n 1)" \
	"\"delta\":$(($(at "$then" "$web1") - $(at $((then - 1)) "$web1")))" \
	"has the exits that were exported"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from -1)" "^$host  *2 " "all hosts: one, with two guests"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from --host "$host" -1 --view exits)" '^cpuid ' "exits"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --host "$host" -1 --view guests -f '^cpuid$' 2>&1 >"$TMP/guests")" "" \
	"a filter that selects exits"
like "$(cat "$TMP/guests")" '^web1  *112  *1  *[1-9]' "guests have what it selects"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from --host "$host" -1 --view guests -f nothing 2>&1)" \
	'^kvmtop: no event matches "nothing"' "and a filter that selects none"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --host "$host" -1 --view vcpus 2>&1 >"$TMP/vcpus")" \
	"kvmtop: A Prometheus has the exits of each guest, not of each vCPU." "vCPUs have no exits"
like "$(cat "$TMP/vcpus")" '^web1  *0  *-' "but times"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from -l -c -n 2 --host "$host" | cut -d, -f2 | sort | uniq -c | tr -s ' \n' ' ')" \
	" 2 db1 1 guest 2 web1 " "a log as CSV"
# shellcheck disable=SC2086
is "$("$KVMTOP" $from --from "@$((then - 3))" --to "@$then" --host "$host" -l -c |
	cut -d, -f1 | sort -u | grep -c '^2')" 3 "a span has its samples"
# shellcheck disable=SC2086
"$KVMTOP" $from -L "$TMP/log" -c -n 2 --host "$host"
is "$(cut -d, -f2 "$TMP/log" | sort | uniq -c | tr -s ' \n' ' ')" " 2 db1 1 guest 2 web1 " \
	"a log in a file"
# shellcheck disable=SC2086
like "$("$KVMTOP" $from -1 --json)" "^{.*\"rows\":\[{\"host\":\"$host\",\"guests\":2," \
	"all hosts as JSON"
# differs OPTION...: two spans of two seconds side by side.
differs() {
	"$KVMTOP" --diff "@$((then - 4))..@$((then - 2))" --from "@$((then - 2))" --to "@$then" \
		--view guests --host "$host" "$@"
}
# shellcheck disable=SC2086
like "$(differs $from)" '^web1  *[1-9][0-9]*  *[1-9]' "two spans side by side"
if [ -n "$secure" ]; then
	cat >"$TMP/http.yml" <<-'END'
		basic_auth: {username: prom, password: secret}
		tls_config: {ca_file: server.crt}
	END
	secure="--from https://127.0.0.1:$secure -s 1"
	# shellcheck disable=SC2086
	has_secure() {
		[ "$("$KVMTOP" $secure --http-config "$TMP/http.yml" -1 --json 2>&1 |
			grep -o '"host":"0[^"]*","guests":2,' | sort | tr -d '"\n')" = \
			"host:$long:19177,guests:2,host:$long:19178,guests:2," ]
	}
	check "a server with TLS and a password, and hosts with long names" wait_for 60 has_secure
	# shellcheck disable=SC2086
	script_start 80 24 $secure --http-config "$TMP/http.yml"
	screen_has '^ *0[^ ]*:19178 +2 ' "their names are shortened, and differ"
	screen_has '^ Host +Guests.* Worst finding +Exits/s +▾Cost% .*KVM% .*Wait%' \
		"80 columns have all that tells hosts apart"
	screen_keys Enter
	screen_has '^ *web1 +1 ' "Enter leads to the guests of one"
	screen_keys q
	# shellcheck disable=SC2086
	like "$("$KVMTOP" $secure -1 2>&1)" '^kvmtop: https://127.*certificate' \
		"one that is not trusted"
	echo 'tls_config: {ca_file: server.crt}' >"$TMP/http.yml"
	# shellcheck disable=SC2086
	like "$("$KVMTOP" $secure --http-config "$TMP/http.yml" -1 2>&1)" \
		'^kvmtop: https://127.* .HTTP 401.: .*--http-config' "one that wants to know more"
else
	skip "a server with TLS and a password" "openssl is not installed"
fi
spawn "$HELPERS/bearer" open-sesame "$prometheus" >"$TMP/bearer.port"
BEARER=$SPAWNED
wait_for 20 test -s "$TMP/bearer.port"
bearer="--from http://127.0.0.1:$(cat "$TMP/bearer.port") -s 1 --http-config $TMP/bearer.yml"
# with_token TEXT OPTION...: what the server that wants a token answers where this is the file.
with_token() {
	printf '%s\n' "$1" >"$TMP/bearer.yml"
	shift
	# shellcheck disable=SC2086
	"$KVMTOP" $bearer "$@" 2>&1
}
like "$(with_token 'authorization: {credentials: open-sesame}' -1)" "^$host  *2 " \
	"a server that wants a bearer token"
echo open-sesame >"$TMP/token"
is "$(with_token 'authorization: {type: Bearer, credentials_file: token}' \
	-l -c -n 2 --host "$host" | cut -d, -f2 | sort | uniq -c | tr -s ' \n' ' ')" \
	" 2 db1 1 guest 2 web1 " "the token from a file, in each query"
for text in 'authorization: {credentials: open}' '{}' \
	'basic_auth: {username: prom, password: open-sesame}'; do
	like "$(with_token "$text" -1)" '^kvmtop: http://127.* .HTTP 401.: .*, or a token, in' \
		"but not with $text"
done
# The moment that is shown, in seconds: of an interval of 3 seconds that just began.
shown() {
	date -d "$(screen_line 1 | grep -oE '[0-9]{2}:[0-9]{2}:[0-9]{2}$')" +%s
}
begins() {
	[ $(($(date +%s) % 3)) = 0 ]
}
printf 'authorization: {credentials: open-sesame}\n' >"$TMP/bearer.yml"
# shellcheck disable=SC2086
script_start 120 30 $bearer
screen_sees "^ *$host +2 " 30
stop "$BEARER"
printf 'HTTP/1.0 200 OK\r\n\r\n<html>maintenance</html>' >"$TMP/nonsense"
spawn "$HELPERS/answers" "$TMP/nonsense" "$(cat "$TMP/bearer.port")" >"$TMP/answers.port"
screen_has 'not an answer of a Prometheus' "a server that speaks nonsense is a notice"
screen_has "^ *$host +2 " "over the last picture"
screen_keys q
stop "$SPAWNED"

wait_for 10 begins
# shellcheck disable=SC2086
script_start 120 30 $from -s 3
screen_sees "^ *$host +2 " 30
first=$(shown)
is_next() {
	[ "$(shown)" -gt "$first" ] && [ "$(shown)" = $(($(date +%s) / 3 * 3)) ]
}
check "a new moment is shown when it came, not an interval later" wait_for 30 is_next
screen_keys q
# shellcheck disable=SC2086
script_start 150 30 $from
screen_has "^ *$host +2 " "the screen shows hosts"
screen_keys Enter
screen_has '^ *web1 +112 +1 ' "Enter leads to its guests"
screen_has '^exits [0-9,]+/s .* [0-9]+s [▁▂▃▄▅▆▇█]{3}' \
	"with bars of its exits in the seconds before"
screen_keys t t
screen_has '^kvmtop +127.* paused at' "t goes back"
screen_keys End 4
screen_has '^ *cpuid ' "and its exits"
screen_keys m
screen_has ' exits .*p50 .*p99 ' "m: the heat map of what the server has"
screen_keys m f
screen_type '^cpu'
screen_keys Enter
screen_has '^ *cpuid .*100' "f: a filter"
unlike "$(screen_shot)" ' npf ' "and no other exit"
screen_keys c
screen_keys BSpace BSpace
screen_has "^ *$host +2 " "Backspace leads to the hosts"
screen_keys j
screen_type "@$then"
screen_keys Enter
screen_has "^kvmtop +http://127.* paused at $(date -d "@$then" +%T)" "j leads to a time"
screen_keys T
screen_has "^kvmtop +http://127.* paused at $(date -d "@$((then + 1))" +%T)" \
	"T goes on from there"
screen_keys End
kill -STOP "$PROMETHEUS"
screen_has 'has not answered yet' "a server that is slow is a notice"
screen_has "^ *$host +2 " "over the last picture"
screen_keys Enter
kill -CONT "$PROMETHEUS"
screen_has '^ *web1 +112 +1 ' "and Enter leads on when it answers"
screen_keys BSpace
screen_has "^ *$host +2 " "and back"
kill -KILL "$PROMETHEUS"
screen_has '127[.]0[.]0[.]1:[0-9]+: [A-Z]' "so is one that is gone"
screen_has "^ *$host +2 " "over the last picture"
screen_keys q
is "$(screen_status 10)" 0 "and q ends the program"

if [ -n "$vm" ]; then
	check "VictoriaMetrics scrapes it" wait_for 60 has_up "$vm"
	from="--from http://127.0.0.1:$vm -s 1"
	# Of "sum() offset" VictoriaMetrics knows nothing for minutes.
	has_both() {
		ask "$vm" 'sum(kvmtop_exits_total{guest="web1"} offset 8s)' | grep -q '"value"'
	}
	check "some seconds are there, too" wait_for 60 has_both
	then=$(($(date +%s) - 3))
	# shellcheck disable=SC2086
	like "$("$KVMTOP" $from -1)" "^$host  *2 .* [1-9][0-9]* " \
		"and its host is shown, without rules"
	# shellcheck disable=SC2086
	like "$("$KVMTOP" $from --host "$host" -1 --view exits)" '^cpuid ' "with exits"
	# shellcheck disable=SC2086
	like "$(differs $from)" '^web1  *[1-9][0-9]*  *[1-9]' "and spans of time"
else
	skip "VictoriaMetrics" "victoria-metrics is not installed"
fi
stop "$SCRAPED"

# ---- to the exit: a guest that makes exits of a known number

if [ "$(id -u)" = 0 ] && [ -e /dev/kvm ] && [ -n "$(tracefs)" ]; then
	guest fleet --pio 4321
	port=$(free_port)
	spawn "$KVMTOP" export --listen "$port" -s 0.2 --metrics user,events,no-host
	SERVER=$SPAWNED
	wait_for 60 listens "$port"
	go fleet
	pios() {
		get "http://127.0.0.1:$port/metrics" |
			sed -n 's/^kvmtop_user_exits_total{guest="fleet",reason="IO"} //p
				s/^kvmtop_events_total{guest="fleet",event="kvm_pio"} //p' |
			tr '\n' ' '
	}
	has_all() {
		[ "$(pios)" = "4321 4321 " ]
	}
	check "the guest's port accesses, to the last, by event and by exit" wait_for 60 has_all
	sleep 0.5 # some samples
	is "$(pios)" "4321 4321 " "and none twice"
	get -o "$TMP/text" "http://127.0.0.1:$port/metrics"
	# sums NAME: what this metric of the guest adds up to.
	sums() {
		awk -v "name=kvmtop_$1{guest=\"fleet\"" 'index($0, name) == 1 {
			all += $NF; nr++ } END { print nr ? all : "none" }' "$TMP/text"
	}
	is "$(number "$TMP/text" 'kvmtop_events_total{guest="fleet",event="kvm_userspace_exit"}')" \
		"$(sums user_exits_total)" "an event that is exits has their sum"
	case $(sums exits_total)-$(sums user_exit_seconds_total) in
	none-none) ok "where KVM traces no exits, times are not known" ;;
	none-* | *-none) not_ok "times are known where exits are" "$(grep fleet "$TMP/text")" ;;
	*) ok "where KVM traces exits, times are known" ;;
	esac
	stop "$SERVER"
else
	skip "a guest that runs" "no /dev/kvm or no tracefs, or not root"
fi
bad_clients_end
