#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nothing that goes wrong where guests are counted goes wrong silently, slowly, or leaves something.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
. tests/live.sh
need_live

ERR=$TMP/err
NR_CPUS=$(getconf _NPROCESSORS_ONLN)
TRACEFS=$(tracefs)
# Our processes are known by TMP in their environment: others may be testing on this machine, too.

# now: milliseconds.
now() {
	t_now=$(date +%s%N)
	echo $((t_now / 1000000))
}

# within MS NAME COMMAND...: in one of five tries the command, which leaves in $took how many ms
# something took, has less: other programs can make any try late.
within() {
	t_ms=$1
	t_what=$2
	shift 2
	for t_try in 1 2 3 4 5; do
		"$@"
		[ "$took" -ge "$t_ms" ] || break
		[ $t_try = 5 ] || disturbed "$t_what ($took ms)" $t_try 5
	done
	check "$t_what ($took ms)" test "$took" -lt "$t_ms"
}

# fails STATUS REGEX NAME OPTION...: says why on stderr, in a line or two, and nothing else.
fails() {
	t_want=$1
	t_regex=$2
	t_case=$3
	shift 3
	t_got=$(status_of "$KVMTOP" "$@")
	if [ "$t_got" = "$t_want" ] && grep -Eq -e "$t_regex" "$ERR" && [ ! -s "$TMP/out" ] &&
		[ "$(wc -l <"$ERR")" -le 2 ]; then
		ok "$t_case"
	else
		not_ok "$t_case" "status $t_got, wanted $t_want and: $t_regex
$(head -n 5 "$TMP/out" "$ERR")"
	fi
}

# left: processes of this test that are kvmtop, or hold events.
left() {
	grep -lsz "^TMP=$TMP$" /proc/[0-9]*/environ 2>/dev/null | while read -r t_file; do
		t_dir=${t_file%/environ}
		t_comm=$(cat "$t_dir/comm" 2>/dev/null)
		if [ "$t_comm" = kvmtop ] ||
			find "$t_dir/fd" -lname '*perf_event*' 2>/dev/null | grep -q .; then
			echo "${t_dir#/proc/} $t_comm"
		fi
	done
}

nothing_left() {
	[ -z "$(left)" ]
}

# ---- wrong usage: status 2, whatever the machine

fails 2 "-z/--skip-zero-records works with -1/--once or -l/--log, not with" "-z alone" -z
fails 2 "not a valid regular expression.*position 2" "a bad regex, and where" -1 -f '('
fails 2 '"0.05": not a time from 0.1 s to 86400 s, as in ' "-s too small" -s 0.05 -1
fails 2 '"86401": not a time from 0.1 s to' "-s too large" -s 86401 -1
fails 2 '"nan": not a time' "-s nan" -s nan -1
fails 2 '"inf": not a time' "-s inf" -s inf -1
fails 2 '"1x": not a time' "-s with a unit that is none" -s 1x -1
fails 2 '"": not a time' "-s empty" -s "" -1
fails 2 '"0,5": not a time' "-s with a comma" -s 0,5 -1
fails 2 '"-5".*number from 1' "a negative pid" --pid=-5 -1
fails 2 '"x".*number from 1' "a pid that is no number" -p x -1
fails 2 '"0": N must be a whole number, at least 1' "no samples" -l -n 0
fails 2 'unknown option -q' "an unknown letter among others" -l -1q
fails 2 'unknown option --nothing' "an unknown long option" --nothing
fails 2 'option --batch takes no argument' "an argument that is not taken" --batch=1
fails 2 'option -s needs SECONDS' "an argument that is missing" -l -s
fails 2 'unexpected argument "x"' "a word too many" -1 x
fails 2 '"exots": no such command; the nearest is exits;' "a command that is none" exots --help
fails 2 '"foo": no such command; there are: exits, export, format, record, report, timeline, ' \
	"another one" foo
fails 2 '-1/--once and -l/--log .*: -l -n 1 -s 1' "-1 and -l" -1 -l
fails 2 '-1/--once and -L/--log-to-file ' "-1 and -L" -1 -c -L "$TMP/none.csv"
fails 2 'no such view' "a view that is none" -1 --view nothing

# A locale of nothing but numbers takes a tenth of the time; localedef warns of the rest.
printf '%s\n' LC_NUMERIC 'decimal_point ","' 'thousands_sep "."' 'grouping 3;3' 'END LC_NUMERIC' \
	>"$TMP/comma.locale"
localedef -c -i "$TMP/comma.locale" -f UTF-8 "$TMP/comma" >/dev/null 2>&1
if [ -e "$TMP/comma/LC_NUMERIC" ]; then
	env -u LC_ALL LOCPATH="$TMP" LC_CTYPE=C.UTF-8 LC_NUMERIC=comma "$KVMTOP" -l --json \
		-s 0.3 -n 1 -f 'kvm_pio$' >"$TMP/out" 2>&1
	like "$? $(cat "$TMP/out")" '^0 .*"elapsed_s":0[.][0-9]+,.*"rate":[0-9]+[.][0-9]' \
		"a locale with a decimal comma changes no number, neither read nor written"
else
	skip "a locale with a decimal comma" "localedef makes none here"
fi

# ---- things that are not there: status 1

sleep_pid=
spawn sleep 60
sleep_pid=$SPAWNED
fails 1 "there is no process 2147483647" "no such pid" -1 -p 2147483647
fails 1 "process $sleep_pid is not a KVM guest" "a pid that is no guest" -1 -p "$sleep_pid"
fails 1 "no-such-guest" "no such guest" -1 -g no-such-guest
fails 1 "/no/such/folder/log: its folder is not there" "a log file that cannot be" \
	-L /no/such/folder/log
mkfifo "$TMP/twin.in"
guest twin1
twin1=$GUEST
# shellcheck disable=SC2016
spawn sh -c 'in=$1; shift; exec "$@" <>"$in"' sh "$TMP/twin.in" "$HELPERS/miniguest" --wait \
	--name twin1 >"$TMP/twin.out"
wait_for 30 grep -q ready "$TMP/twin.out"
fails 1 "$twin1.*-p|-p.*$twin1" "two guests of one name" -1 -g twin1
stop "$SPAWNED"
stop "$twin1"
stop "$sleep_pid"

# ---- without rights: what is missing, and how to grant it

# as_nobody CAPABILITIES OPTION...: status_of for a user with these alone.
as_nobody() {
	t_caps=${1:--all}
	shift
	cp -L "$KVMTOP" "$TMP/nobody/kvmtop" 2>/dev/null
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps="$t_caps" \
		--ambient-caps="$t_caps" "$TMP/nobody/kvmtop" "$@" \
		>"$TMP/out" 2>"$ERR" </dev/null
	echo $?
}

# Debugfs is root's, and so is a tracefs that is mounted nowhere else.
case $TRACEFS in
*/debug/*) is_below_debugfs=true ;;
*) is_below_debugfs=false ;;
esac

chmod 755 "$TMP"
mkdir "$TMP/nobody"
chown 65534 "$TMP/nobody" # where the user may write: what is missing is no file
if ! command -v setpriv >/dev/null; then
	skip "without rights" "setpriv is not installed"
elif [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -lt 1 ]; then
	skip "without rights" "anybody may count events here"
elif $is_below_debugfs; then
	skip "without rights" "tracefs is mounted below debugfs only"
else
	is "$(as_nobody "" -1)" 1 "without rights: a failure"
	like "$(cat "$ERR")" "perf_event_paranoid is [0-9].*setcap cap_perfmon,.*kvmtop" \
		"and what would help is said"
	is "$(wc -l <"$ERR")" 1 "in a line"
	for what in "why 1" "exits 1" "export --prometheus $TMP/nobody/a.prom -n 1" \
		"-1 --view guests" "-w $TMP/nobody/h.db -n 1"; do
		# shellcheck disable=SC2086
		is "$(as_nobody "" $what)" 1 "without rights: ${what%% /*}"
		like "$(cat "$ERR")" "run as root, or grant it: setcap cap_.*kvmtop" \
			"and what would help"
	done
	is "$(as_nobody "" -h)" 0 "without rights: help"
	is "$(as_nobody +perfmon -1)" 1 \
		"with CAP_PERFMON alone: a failure"
	like "$(cat "$ERR")" "cannot read $TRACEFS/events: Permission denied.*cap_dac_read_search" \
		"which names the folder and what is missing"
	is "$(as_nobody +perfmon,+dac_read_search -1 -s 0.1 -f kvm_pio)" 0 \
		"with CAP_DAC_READ_SEARCH, too, it counts"
	guest_of miniguest served --pio 5 --rounds 0 --pause 10000
	caps=+perfmon,+bpf,+sys_admin,+sys_ptrace,+dac_read_search
	is "$(as_nobody $caps exits -g served --event userspace --csv 1)" 0 \
		"with the capabilities of the services: exits"
	like "$(cat "$TMP/out")" 'IO,[0-9]+,,served,,[1-9]' "are counted"
	stop "$GUEST"
fi

if command -v setpriv >/dev/null; then
	guest owned --pio 1 --rounds 1
	is "$(as_nobody "" --list-guests)" 1 "another user's guest cannot be listed"
	like "$(cat "$ERR")" "^kvmtop: no right .* guests:.* $GUEST \(owned\).*: root or " \
		"which is said"
	like "$(cat "$ERR")" '^kvmtop: no right to look into [0-9]+ other processes;' \
		"and how many other processes"
	stop "$GUEST"
fi

# ---- a machine with less mounted

# without PATH... -- OPTION...: status of kvmtop where these are not mounted; output as status_of.
without() {
	t_paths=
	while [ "$1" != -- ]; do
		t_paths="$t_paths $1"
		shift
	done
	shift
	# shellcheck disable=SC2016
	status_of unshare -m sh -c 'for path in '"$t_paths"'; do umount -l "$path" || exit 99; done
		exec "$@"' sh "$(realpath "$KVMTOP")" "$@"
}

guest counted --pio 5
go counted
all_tracefs=$(awk '$3 == "tracefs" { print $2 }' /proc/mounts | sort -r)
all_debugfs=$(awk '$3 == "debugfs" { print $2 }' /proc/mounts | sort -r)
if ! unshare -m true 2>/dev/null; then
	skip "things not mounted" "no mount namespaces"
else
	fails_without() {
		start=$(now)
		# shellcheck disable=SC2086
		failed=$(without $all_tracefs $all_debugfs -- -1 -t)
		took=$(($(now) - start))
	}
	within 2000 "no tracefs: it ends at once" fails_without
	is "$failed" 1 "a failure"
	like "$(cat "$ERR")" "tracefs is not mounted: mount -t tracefs" "and the command is named"
	if "$KVMTOP" --list-providers | sed -n '/^account/{n;p}' | grep -q 'works here'; then
		# shellcheck disable=SC2086
		is "$(without $all_tracefs $all_debugfs -- -1 -s 0.1)" 0 \
			"KVM's counters need no tracefs"
		like "$(head -n 1 "$ERR")" \
			'tracefs is not mounted: .*; --cost none .* which is done here$' \
			"and one line says what is missing"
		# shellcheck disable=SC2086
		is "$(without $all_tracefs $all_debugfs -- export --prometheus - -n 1)" 0 \
			"the exporter has them, too"
		like "$(cat "$TMP/out")" "^kvmtop_statistic_total\{.*name=" "by name"
		like "$(cat "$ERR")" 'tracefs is not mounted: .* which is done here$' \
			"which the same line says"
		# shellcheck disable=SC2086
		is "$(without $all_tracefs $all_debugfs -- export --prometheus - -n 1 \
			--metrics events)" 1 "with events, which are asked for: a failure"
	else
		skip "KVM's counters need no tracefs" "they cannot be read by BPF"
	fi
	if $is_below_debugfs; then
		skip "debugfs is not needed" "tracefs is mounted below it only"
	elif [ -n "$all_debugfs" ]; then
		# shellcheck disable=SC2086
		is "$(without $all_debugfs -- -1 -s 0.1 -f kvm_pio)" 0 \
			"debugfs is not needed"
	fi
	if [ "$(echo "$all_tracefs" | wc -l)" -gt 1 ]; then
		is "$(without /sys/kernel/tracing -- -1 -s 0.1 -f kvm_pio)" 0 \
			"tracefs may be elsewhere"
	fi
	is "$(without /sys /proc -- --help)" 0 "help needs nothing at all"
	is "$(without /sys /proc -- -s 99999)" 2 "nor does wrong usage"
fi

# ---- debugfs under lockdown

lockdown_lines() {
	dmesg 2>/dev/null | grep -c 'Lockdown: kvmtop'
}

debugfs_line() {
	sed -n '/^debugfs/{n;p}' "$TMP/out"
}

# BPF reads the same counters under lockdown.
reads_account() {
	"$KVMTOP" --list-providers | sed -n '/^account/{n;p}' | grep -q 'works here'
}

status_of "$KVMTOP" --list-providers >/dev/null
if debugfs_line | grep -q 'kernel lockdown'; then
	for try in 1 2 3; do
		before=$(lockdown_lines)
		status=$(status_of "$KVMTOP" -d -l -s 0.1 -n 5)
		after=$(lockdown_lines)
		[ $((after - before)) -gt 1 ] || break
		disturbed "lines in the kernel's log" $try 3
	done
	if reads_account; then
		is "$status $(cat "$ERR")" "0 " "-d under lockdown: BPF reads the counters"
	else
		is "$status" 1 "-d under lockdown: a failure"
		like "$(cat "$ERR")" 'kernel lockdown.*tracepoints' "which explains itself"
	fi
	check "with one kernel log line at most" test $((after - before)) -le 1
	is "$(status_of "$KVMTOP" -d -t -1 -f kvm_pio)" 0 "-d -t goes on with tracepoints"
	reads_account || like "$(cat "$ERR")" "lockdown" "and says what is missing"
	like "$(cat "$TMP/out")" "^kvm_pio" "and counts"
	all_securityfs=$(awk '$3 == "securityfs" { print $2 }' /proc/mounts | sort -r)
	if unshare -m true 2>/dev/null; then
		# shellcheck disable=SC2086
		is "$(without $all_securityfs -- --list-providers)" 0 "where the level is not known"
		like "$(debugfs_line)" "not here: .*because of kernel lockdown" "debugfs is tried"
	else
		skip "an unknown level of lockdown" "no mount namespaces"
	fi
else
	skip "debugfs under lockdown" "lockdown does not forbid it: $(debugfs_line)"
fi

# ---- output that cannot be written, readers that leave

for options in "-1 -s 0.1 -f kvm_pio" "-l -n 2 -s 0.1 -f kvm_pio" "--help" "-f help"; do
	# shellcheck disable=SC2086
	"$KVMTOP" $options >/dev/full 2>"$ERR"
	is "$? $(cat "$ERR")" \
		"1 kvmtop: cannot write to standard output: No space left on device" \
		"full disk: $options"
done
"$KVMTOP" -1 -s 0.1 -f kvm_pio >&- 2>"$ERR"
is "$? $(cat "$ERR")" "1 kvmtop: cannot write to standard output: Bad file descriptor" \
	"standard output is closed"
"$KVMTOP" -1 -s 0.1 -f kvm_pio <&- >"$TMP/out" 2>&-
is "$? $(wc -l <"$TMP/out")" "0 1" "standard input and error are closed"
"$KVMTOP" -c -L "$TMP/closed.csv" -n 2 -s 0.1 -f kvm_pio <&- >&- 2>&-
is "$? $(head -n 1 "$TMP/closed.csv") $(wc -l <"$TMP/closed.csv")" "0 timestamp,kvm_pio 3" \
	"all are closed: the log file has the log alone"

one_line() {
	start=$(now)
	{
		"$KVMTOP" -l -c -s 0.1 -f kvm_pio 2>"$ERR"
		echo $? >"$TMP/status"
	} | head -n 1 >"$TMP/out"
	took=$(($(now) - start))
}
within 5000 "-l | head -1 ends soon" one_line
is "$(cat "$TMP/status") $(cat "$ERR" "$TMP/out")" "0 timestamp,kvm_pio" "and quietly"

# ---- signals

is_stuck() {
	grep -q pipe "/proc/$1/wchan"
}

is_opening() {
	grep -q wait_for_partner "/proc/$1/wchan"
}

for signal in TERM INT; do
	look "sig$signal" -l -c -s 0.1 -f 'kvm_(pio|mmio)$'
	pid=$SPAWNED
	check "lines are written as they come" wait_for 30 lines "sig$signal" 5
	seen=$(wc -l <"$TMP/sig$signal")
	stop "$pid" "$signal"
	is "$?" 0 "SIG$signal: a good end"
	check "no line is lost" test "$(grep -c '^[0-9: -]*,[0-9]*,[0-9]*$' "$TMP/sig$signal")" \
		-ge $((seen - 1))
	is "$(grep -vc -e '^[0-9: -]*,[0-9]*,[0-9]*$' "$TMP/sig$signal")" 1 "none is cut"
done

# A reader that has stopped reading. Opened for both, so that no opening waits.
mkfifo "$TMP/stuck"
spawn sleep 60 3<>"$TMP/stuck"
reader=$SPAWNED
spawn "$KVMTOP" -l --json -x -s 0.1 1<>"$TMP/stuck" 2>"$TMP/stuck.err"
pid=$SPAWNED
check "a reader that stops reading blocks it" wait_for 30 is_stuck "$pid"
kill -TERM "$pid"
check "and SIGTERM ends it all the same" wait_for 30 t_ended "$pid"
stop "$reader"
# A FIFO without a reader, which is waited for when it is opened.
mkfifo "$TMP/unread"
spawn "$KVMTOP" -l -L "$TMP/unread" 2>"$ERR"
pid=$SPAWNED
check "a FIFO waits for its reader" wait_for 30 is_opening "$pid"
kill -TERM "$pid"
check "and SIGTERM ends that, too" wait_for 30 t_ended "$pid"

# shellcheck disable=SC2016
spawn sh -c 'trap "" HUP INT; exec "$@"' sh "$KVMTOP" -l -c -s 0.1 -f kvm_pio >"$TMP/nohup"
pid=$SPAWNED
wait_for 30 lines nohup 2
kill -HUP "$pid"
kill -INT "$pid"
seen=$(wc -l <"$TMP/nohup")
check "what is ignored at the start stays so: nohup" wait_for 30 lines nohup $((seen + 3))
stop "$pid"
is "$?" 0 "SIGTERM ends it"

look hup -c -L "$TMP/hup.csv" -s 0.1 -f kvm_pio
pid=$SPAWNED
wait_for 30 lines hup.csv 3
mv "$TMP/hup.csv" "$TMP/hup.csv.1"
kill -HUP "$pid"
check "SIGHUP opens a new log file" wait_for 30 lines hup.csv 3
is "$(head -n 1 "$TMP/hup.csv")" "timestamp,kvm_pio" "with a header"
stop "$pid"
is "$? $(cat "$TMP/hup" "$TMP/hup.err")" "0 " "and goes on quietly"
check "the log goes on after a restart" "$KVMTOP" -c -L "$TMP/hup.csv" -s 0.1 -n 2 -f kvm_pio
is "$(grep -c timestamp "$TMP/hup.csv")" 1 "under one header"
cp "$TMP/hup.csv" "$TMP/before.csv"
fails 1 "hup.csv. has other columns .2, ours 2; first difference: .kvm_pio..: rename it, or" \
	"a log with other columns is refused" -c -L "$TMP/hup.csv" -n 1 -s 0.1 -f kvm_mmio
same_files "$TMP/hup.csv" "$TMP/before.csv" "and left as it was"
echo "dear diary" >"$TMP/diary"
fails 1 "diary\" is not a CSV log: choose another file" "what is no log is left alone" \
	-c -L "$TMP/diary" -n 1 -f kvm_mmio

# ---- a log that is held up by a signal or by its reader, and one without room

# honest NAME: numbers of lines of a JSON log that are not whole, or where kvm_pio has a rate that
# is not its delta by the time, or a total that is not the sum of its deltas.
honest() {
	awk '
	function number(text, key) {
		if (!match(text, "\"" key "\":[0-9.]+"))
			return -1
		return substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
	}
	{
		row = match($0, /[{]"event":"kvm_pio",[^}]*}/) ? substr($0, RSTART, RLENGTH) : ""
		rate = number(row, "rate")
		off = rate * number($0, "elapsed_s") - number(row, "delta")
		sum = NR == 1 ? number(row, "total") : sum + number(row, "delta")
	}
	!/^[{]"time":".*"rows":\[.*\][}]$/ || off > rate * 0.0001 + 0.1 ||
		-off > rate * 0.0001 + 0.1 || sum != number(row, "total") { print NR }' "$TMP/$1"
}

# longest NAME: the longest interval of a JSON log, in tenths of a second.
longest() {
	sed 's/.*"elapsed_s":\([0-9]*\)[.]\([0-9]\).*/\1\2/' "$TMP/$1" | sort -n | tail -n 1
}

# Before it is ready it is no guest, and -p refuses it.
spawn "$HELPERS/miniguest" --name steady --pio 20 --rounds 0 --pause 10000 >"$TMP/steady"
steady=$SPAWNED
wait_for 30 grep -q ready "$TMP/steady"
look held -l --json -s 0.1 -f 'kvm_pio$' -p "$steady"
pid=$SPAWNED
wait_for 30 lines held 3
kill -STOP "$pid"
sleep 1.5
kill -CONT "$pid"
wait_for 30 lines held $(($(wc -l <"$TMP/held") + 4))
stop "$pid"
check "stopped and continued it has an interval of that length" test "$(longest held)" -ge 14
is "$(honest held)" "" "rates are by the time that has passed, and nothing is lost"

mkfifo "$TMP/slow.in"
# Of one provider: elapsed_s is the first one's interval.
spawn "$KVMTOP" -l --json -x -s 0.1 -f '^kvm_' 1<>"$TMP/slow.in" 2>"$TMP/slow.err"
pid=$SPAWNED
check "a reader that does not read holds a log up" wait_for 30 is_stuck "$pid"
sleep 1
cat "$TMP/slow.in" >"$TMP/slow" &
check "a reader that is slow gets all of it in the end" wait_for 30 lines slow 20
stop "$pid"
wait $!
is "$(honest slow)" "" "whole lines, and rates by the time that has passed"
check "one of which was longer" test "$(longest slow)" -ge 9
stop "$steady"

# whole FILE: whether it has lines, and nothing but whole lines.
whole() {
	[ -s "$1" ] && [ "$(grep -c '^{"time".*}$' "$1")" = "$(grep -c '' "$1")" ] &&
		[ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ]
}

# shellcheck disable=SC3045 # dash and bash have it
(
	ulimit -f 40
	"$KVMTOP" -L "$TMP/limit.json" --json -x -s 0.1 2>"$ERR"
	echo "$? $(cat "$ERR")" >"$TMP/status"
)
is "$(cat "$TMP/status")" "1 kvmtop: cannot write to \"$TMP/limit.json\": File too large" \
	"a log that has reached ulimit -f ends with its reason"
check "with whole lines" whole "$TMP/limit.json"
mkdir "$TMP/full"
# shellcheck disable=SC2016
if unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs "$1"' sh "$TMP/full" 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs "$1"
		"$2" -L "$1/log.json" --json -x -s 0.1 2>"$1.err"
		echo "$? $(cat "$1.err")" >"$1.status"
		cp "$1/log.json" "$1.json"' sh "$TMP/full" "$KVMTOP"
	is "$(cat "$TMP/full.status")" "1 kvmtop: cannot write to \"$TMP/full/log.json\": No space \
left on device: make room, or choose another file" "so does a log on a full disk"
	check "with whole lines" whole "$TMP/full.json"
else
	skip "a log on a full disk" "no tmpfs can be mounted here"
fi

# Forty intervals, which are looked at below.
look drift -l --json -s 0.1 -n 41 -f 'kvm_pio$'
drifting=$SPAWNED
counting "$drifting"
is "$(sed -n 's/^it_interval: //p' "/proc/$drifting/fdinfo"/* | sort -u)" "(0, 100000000)" \
	"a timer of 0.1 s, which the kernel goes on with"

# ---- another pid namespace than the host's, as in a container

# inside OPTIONS: beside a guest there that makes exits all the time, whose process is $guest.
cat >"$TMP/inside" <<'EOF'
"$HELPERS/miniguest" --pio 10 --rounds 0 --pause 20000 --vcpus 2 --name inner >/dev/null &
guest=$!
tries=100
until [ "$(ls "/proc/$guest/task" 2>/dev/null | wc -l)" -gt 1 ] || [ $((tries -= 1)) = 0 ]; do
	sleep 0.05
done
eval "\"\$KVMTOP\" $1"
status=$?
kill "$guest"
exit $status
EOF
export KVMTOP HELPERS

inside() {
	unshare -pf --mount-proc sh "$TMP/inside" "$1" >"$TMP/out" 2>"$ERR"
}

if unshare -pf --mount-proc true 2>/dev/null; then
	# shellcheck disable=SC2016 # for the shell inside
	check "in a container: one guest" inside '-1 -p "$guest" -f "kvm_pio$"'
	check "is counted" test "$(batch out kvm_pio | cut -d ' ' -f 1)" -gt 100
	like "$(cat "$ERR")" 'tracepoint: .*not counted by bpf, .*another one: run in the host' \
		"by perf, and why is said"
	is "$(wc -l <"$ERR")" 1 "once"
	check "in a container: guests" inside '-l --json -b -s 0.5 -n 2 -f "kvm_pio$"'
	check "have rows of their own" test "$(json out guest inner)" -gt 100
	inside '-1 -s 0.1 --engine bpf -f "kvm_pio$"'
	is "$? $(wc -l <"$ERR")" "1 1" "in a container the engine bpf is a failure"
	like "$(cat "$ERR")" 'pid namespace' "that explains itself"
	inside 'exits 1'
	is "$? $(wc -c <"$TMP/out")" "1 0" "in a container exits are not timed"
	like "$(cat "$ERR")" 'exits: .*pid namespace' "and why is said"
else
	skip "in a container" "unshare(1) makes no pid namespace here"
fi

# ---- too few descriptors

if command -v setpriv >/dev/null; then
	for engine in bpf perf; do
		got=$(prlimit --nofile=150 setpriv --bounding-set -sys_resource "$KVMTOP" -1 \
			-s 0.1 --engine $engine 2>&1 >"$TMP/out")
		like "$got" 'events not counted: [0-9]+ descriptors needed, the limit is 150' \
			"$engine: what is missing is said, with the number needed"
		check "$engine: and the rest is counted" grep -q '^kvm_' "$TMP/out"
	done
else
	skip "too few descriptors" "setpriv is not installed"
fi

# ---- cost, time, and what is left

look fds -l -s 1 -f 'kvm_pio$' --engine perf
pid=$SPAWNED
counting "$pid"
is "$(on_events "$pid")" $((2 * NR_CPUS)) \
	"one event: a descriptor for it and one for its group, on each CPU"
stop "$pid"

# By the kernel's own timer a late sample makes no later one late.
ended "$drifting"
drift=$(sed 's/.*T\([0-9]*\):\([0-9]*\):\([0-9.]*\)+.*/\1 \2 \3/' "$TMP/drift" | awk '
	{ t = $1 * 3600 + $2 * 60 + $3 }
	NR == 1 { first = t }
	END { printf "%d\n", ((t - first + 86400) % 86400 - 4) * 1000 }')
check "forty intervals of it are 4 s, or more on a busy machine ($drift ms more)" \
	test "$drift" -gt -500

# The end must not wait for the kernel to close the events, which takes seconds; nor must a reader
# of the output. How long opening takes is another matter: events that others close keep it waiting.
ends_alone() {
	look once -1
	counting "$SPAWNED"
	start=$(now)
	wait "$SPAWNED"
	took=$(($(now) - start - 1000))
}
ends_in_a_pipe() {
	{
		"$KVMTOP" -1
		now >"$TMP/end"
	} | cat >/dev/null
	took=$(($(now) - $(cat "$TMP/end")))
}
ends_in_a_word() {
	: "$(
		"$KVMTOP" -1
		now >"$TMP/end"
	)"
	took=$(($(now) - $(cat "$TMP/end")))
}
ends_by_q() {
	screen_start 100 20 "exec $(realpath "$KVMTOP") --view events"
	screen_wait 'kvm_' 15
	screen_keys q
	start=$(now)
	q_status=$(screen_status)
	took=$(($(now) - start))
}
within 2500 "-1 with all events ends after its second" ends_alone
within 2500 "-1 | cat ends with it" ends_in_a_pipe
within 2500 "so does \$(-1)" ends_in_a_word
if has_screen; then
	within 2500 "q ends the screen at once" ends_by_q
	is "$q_status" 0 "and well"
	# Long exits are listed from when the list is first shown; the screen says since when.
	guest_of miniguest listed --pio 20 --rounds 0 --pause 10000
	"$KVMTOP" exits -g listed 0.5 2>&1 | grep 'does not trace the VM exits' >"$TMP/untimed"
	SCRIPT_CLOCK=real
	export SCRIPT_CLOCK
	script_start 100 20 -s 0.5 --view exits
	screen_wait '^ Total +[0-9,]+ +[1-9]' 15
	screen_keys Space
	screen_wait 'paused at'
	screen_keys l
	screen_has '^ Long exits were not listed then: End leads back' "l, while a moment is held"
	screen_keys End
	if [ -s "$TMP/untimed" ]; then
		screen_has '^ No long exits are known' "and now: no exit can be timed here"
		screen_has 'No exit can be timed here: KVM traces neither' "which is said"
	else
		screen_has '^ No exit took longer than 1.00ms since [0-9]+:[0-9:]+; l sets' \
			"and now"
	fi
	screen_keys Space t t t t t t t t t
	screen_has '^ Long exits were not listed then: the list .* begins at [0-9]' "and before"
	screen_keys q
	stop "$GUEST"
else
	skip "q ends the screen" "$T_no_screen"
fi
check "no kvmtop is left, and no event is open" wait_for 30 nothing_left

done_testing
