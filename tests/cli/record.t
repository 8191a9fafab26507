#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop record writes every event of a guest into a file that others read, and leaves nothing else.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live
[ -e "$(tracefs)/events/kvm/kvm_pio" ] || skip_all "this kernel has no kvm_pio"

PIO=1234
CPUID=89
DAT=$TMP/trace.dat
ERR=$TMP/err
INSTANCES=$(tracefs)/instances

# ---- helpers

go_to_end() {
	go "$1"
	wait_for 10 grep -q '^done' "$TMP/$1.out"
}

# recording OPTION...: a recorder in the background that has begun; its pid in $RECORDER.
recording() {
	spawn "$KVMTOP" record -o "$DAT" "$@" 2>"$ERR"
	RECORDER=$SPAWNED
	wait_for 10 is_on
}

# A new instance is on at first; its rings are opened while it is off.
is_on() {
	find "/proc/$RECORDER/fd" -lname '*trace_pipe_raw' 2>/dev/null | grep -q . || return 1
	[ "$(cat "$INSTANCES/kvmtop-$RECORDER/tracing_on" 2>/dev/null)" = 1 ]
}

# finish [SIGNAL]: ends it, its status in $STATUS.
finish() {
	stop "$RECORDER" "${1:-INT}"
	STATUS=$?
}

# The kernel tells of threads that begin.
has_messages() {
	grep -q cn_proc /proc/net/connector 2>/dev/null
}

has_trace_cmd() {
	command -v trace-cmd >/dev/null 2>&1
}

# events EVENT NAME COUNT: the file has so many, says trace-cmd.
events() {
	if has_trace_cmd; then
		is "$(trace-cmd report "$DAT" 2>/dev/null | grep -c " $1: ")" "$3" "$2"
	else
		skip "$2" "trace-cmd is not installed"
	fi
}

# said: the number of events in the last line about the file.
said() {
	sed -n 's/.*: \([0-9]*\) events, .* MiB$/\1/p' "$ERR"
}

# what of the top instance could be disturbed
top() {
	t_dir=$(tracefs)
	for t_file in tracing_on set_event set_event_pid trace_clock buffer_size_kb; do
		echo "$t_file $(cat "$t_dir/$t_file")"
	done
	cat "$t_dir"/events/kvm/*/filter
}

if has_trace_cmd; then
	before=$(top)
fi

# ---- one guest, all its events

guest other --pio 7 --cpuid 7
guest one --pio $PIO --cpuid $CPUID
recording -p "$GUEST"
check "the instance is named after the process" test -d "$INSTANCES/kvmtop-$RECORDER"
go_to_end other
go_to_end one
finish
is "$STATUS" 0 "Ctrl-C ends it well"
check "the instance is gone" test ! -e "$INSTANCES/kvmtop-$RECORDER"
events kvm_pio "every port write is in the file, and none of another guest" $PIO
events kvm_cpuid "every CPUID is in the file" $CPUID
like "$(cat "$ERR")" "^kvmtop: $DAT: [0-9]+ events, [0-9.]+ MiB\$" "it says what is in the file"
unlike "$(cat "$ERR")" 'lost|recording|	' "and nothing else, where there is no terminal"
if has_trace_cmd; then
	is "$(trace-cmd report "$DAT" 2>/dev/null | grep -c ': kvm')" "$(said)" \
		"as many events as it says"
	is "$(trace-cmd report "$DAT" 2>&1 >/dev/null)" "" "trace-cmd has nothing to complain about"
	is "$(trace-cmd report -t --check-events "$DAT" 2>&1 | grep -ci 'fail')" 0 \
		"nor about the formats"
	is "$(trace-cmd report "$DAT" 2>/dev/null | grep ' kvm_pio: ' | grep -cv 'vcpu0-')" 0 \
		"threads have their names"
fi

# ---- events and filters

guest two --pio $PIO --cpuid $CPUID
recording -p "$GUEST" -e 'kvm_cp*' -e kvm:kvm_pio --filter 'count == 77'
go_to_end two
finish
events kvm_cpuid "-e takes wildcards" $CPUID
events kvm_pio "--filter is the kernel's, for the event before it" 0
is "$(said)" $CPUID "and nothing else is recorded"

# Another run of this test may have a guest of that name, too.
guest three --pio $PIO --name "three$$"
recording -g "three$$" --clock mono -e kvm_pio --filter 'count == 1'
go_to_end three
finish
events kvm_pio "-g: a guest by its name" $PIO
if has_trace_cmd; then
	is "$(trace-cmd dump --options "$DAT" 2>/dev/null | grep -c '\[mono\]')" 1 \
		"the file says which clock"
fi

# Whoever has the name while it records. Guests of a command are recorded from their start.
name=back$$
guest $name --pio $PIO
recording -g $name -e kvm_pio
go_to_end $name
stop "$GUEST" KILL
rm "$TMP/$name.in"
guest $name --pio 55
check "-g: another guest that gets the name" wait_for 10 grep -q "$name runs as pid $GUEST" "$ERR"
go_to_end $name
finish
events kvm_pio "-g: is recorded, too" $((PIO + 55))
stop "$GUEST"
is "$(status_of "$KVMTOP" record -o "$DAT" -e kvm_pio -g later$$ "$HELPERS/miniguest" --pio 77 \
	--name later$$)" 0 "-g: the command may start the guest"
events kvm_pio "-g: which is recorded" 77

# ---- the file knows guests and their processes

guest four --pio $PIO
four=$GUEST
guest five --pio 55
recording -e kvm_pio
go_to_end four
go_to_end five
finish
"$KVMTOP" report --event ioport --by guest "$DAT" >"$TMP/out"
like "$(cat "$TMP/out")" "^ *$four +four +$PIO " "a guest has its name and process"
like "$(cat "$TMP/out")" "^ *$GUEST +five +55 " "so has the other"
"$KVMTOP" report --event ioport -p "$four" "$DAT" >"$TMP/out"
like "$(cat "$TMP/out")" "^$PIO in all" "report -p: one of them by its process"

# ---- threads that begin and end between two looks at the guests

guest lives --pio 20 --lives 4
recording -p "$GUEST" -e kvm_pio
printf '\n\n\n\n' >"$TMP/lives.in"
# shellcheck disable=SC2016
wait_for 10 sh -c '[ "$(grep -c "^done" "$0")" = 4 ]' "$TMP/lives.out"
finish
"$KVMTOP" report --event ioport --by guest "$DAT" >"$TMP/out"
if has_messages; then
	like "$(cat "$TMP/out")" "^ *$GUEST +lives +80 " \
		"are the guest's, with its name and process"
	"$KVMTOP" report --event ioport --by vcpu "$DAT" >"$TMP/out"
	like "$(cat "$TMP/out")" "^ *$GUEST +[0-9]+ +lives +0 +80 " "and its vCPU's"
else
	skip "are the guest's, with its name and process" "the kernel does not tell of threads"
fi
if has_trace_cmd; then
	is "$(trace-cmd report "$DAT" 2>&1 >/dev/null)" "" "trace-cmd has nothing against it"
fi

# ---- while a command runs, or for a time

is "$(status_of "$KVMTOP" record -o "$DAT" -e kvm_pio "$HELPERS/miniguest" --pio 5)" 0 "a command"
like "$(cat "$TMP/out")" '^done$' "the command ran to its end, its options are its own"
check "the file is there" test -s "$DAT"
is "$(status_of "$KVMTOP" record -o "$DAT" -- 1)" 0 "for a second"

is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" "$TMP/none" 5)" 1 "a command that is not there"
like "$(cat "$TMP/err")" "^kvmtop: $TMP/none cannot be run: No such file" "is named"
check "no file is left then" test ! -e "$TMP/none.dat"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" 5)" 1 "a number that is no command"
like "$(cat "$TMP/err")" '^kvmtop: there is no program "5"; to record for 5 seconds, write -- 5$' \
	"how to record for so long is said"

recording -e kvm_pio sh -c 'echo $$ >"$0"; exec sleep 60' "$TMP/command"
wait_for 30 test -s "$TMP/command"
finish TERM
is "$STATUS" 0 "a signal ends it before the command"
check "the command is ended, too" wait_for 30 t_ended "$(cat "$TMP/command")"

is "$(status_of "$KVMTOP" record -o "$DAT" -- 0.5)" 0 "for half a second"
like "$(cat "$TMP/err")" 'events, [0-9.]+ MiB$' "which is no command"
is "$(status_of "$KVMTOP" record -o "$DAT" -- 0.01)" 2 "a time that is too short"
# The kernel forgets the names of all threads when room is made for them anew.
names=$(tracefs)/saved_cmdlines_size
if cat "$names" >"$TMP/names" 2>/dev/null && cat "$TMP/names" >"$names"; then
	is "$(status_of "$KVMTOP" record -o "$DAT" -e kvm_pio true)" 0 \
		"nothing happens where nothing was traced yet"
	is "$(status_of "$KVMTOP" report "$DAT")" 0 "and its file can be read"
else
	skip "nothing happens where nothing was traced yet" "the kernel's room for names is fixed"
fi
is "$(status_of "$KVMTOP" record -o "$DAT" sh -c 'exit 7')" 7 "a command that fails: its status"
like "$(cat "$TMP/err")" 'events, [0-9.]+ MiB$' "the file is written"
is "$(status_of "$KVMTOP" record -o "$DAT" sh -c 'kill -TERM $$')" 143 \
	"one that a signal ends: as shells say it"
# Below 32: the next two are the C library's, and a program with threads handles them.
ignored='s/^SigIgn:.*\(.\{8\}\)/\1/; s/^[89a-f]\(.\{7\}\)$/0\1/p; s/^[0-7].\{7\}$/&/p'
is "$("$KVMTOP" record -o "$DAT" sed -n "$ignored" /proc/self/status 2>/dev/null)" \
	"$(sed -n "$ignored" /proc/self/status)" "a command ignores the signals that it did before"

# ---- lost events

guest lossy --pio 20000
recording -p "$GUEST" -e kvm_pio --buffer-size 8
kill -STOP "$RECORDER"
go_to_end lossy
kill -CONT "$RECORDER"
finish TERM
lost=$(sed -n 's/^kvmtop: \([0-9]*\) events were lost.*/\1/p' "$ERR")
is "$(($(said) + ${lost:-0}))" 20000 "what is lost is told, to the event"
if has_trace_cmd; then
	like "$(trace-cmd report "$DAT" 2>/dev/null)" 'EVENTS DROPPED|LOST .*EVENTS' \
		"and in the file, where they are missing"
fi

# ---- a disk that is full, a file that may not grow

# on_small_disk COMMAND...: with 4 MiB at $SMALL that are gone afterwards, but for copies in $KEPT.
SMALL=$TMP/small
KEPT=$TMP/kept
mkdir "$SMALL" "$KEPT"
on_small_disk() {
	# shellcheck disable=SC2016
	unshare -m sh -c 'small=$1; kept=$2; shift 2
		mount -t tmpfs -o size=4M kvmtop-test "$small" && "$@"
		status=$?; cp "$small"/* "$kept"; exit $status' sh "$SMALL" "$KEPT" "$@"
}

# busy: a guest that exits until it is stopped.
busy() {
	spawn "$HELPERS/miniguest" --pio 100000 --rounds 1000000 >/dev/null 2>&1
	BUSY=$SPAWNED
}

# is_sound FILE NAME: a trace.dat that others can read, with events.
is_sound() {
	if has_trace_cmd; then
		trace-cmd report "$1" >"$TMP/out" 2>"$TMP/err"
		like "$(sed -n 10p "$TMP/out")" ': kvm_' "$2: trace-cmd reads it"
		is "$(cat "$TMP/err")" "" "$2: and does not complain"
	else
		skip "$2" "trace-cmd is not installed"
	fi
}

no_instance_of() {
	check "$2" test ! -e "$INSTANCES/kvmtop-$1"
}

if on_small_disk true 2>/dev/null; then
	busy
	is "$(status_of on_small_disk "$KVMTOP" record -o "$SMALL/full.dat" -- 20)" 1 "a full disk"
	like "$(cat "$TMP/err")" "^kvmtop: $SMALL/full.dat: ends after [0-9.]+ MiB: what is \
recorded cannot be written: No space left on device: make room" "is said with what helps"
	check "what fits is kept: nearly all of it" \
		test "$(wc -c <"$KEPT/full.dat")" -gt $((7 << 19))
	is "$(ls "$KEPT")" full.dat "and nothing else"
	is_sound "$KEPT/full.dat" "a full disk"
	# shellcheck disable=SC2016
	is "$(status_of on_small_disk sh -c 'echo old >"$2"; cat /dev/zero >"${2%/*}/fill"
		exec "$1" record -o "$2" -- 20' sh "$KVMTOP" "$SMALL/old.dat" 2>/dev/null)" 1 \
		"a disk that was full before"
	is "$(cat "$KEPT/old.dat")" old "the file that was there stays"
	stop "$BUSY"

	# shellcheck disable=SC2016
	write='echo >"$0"; until grep -q "^done" "$1"; do sleep 0.1; done'
	guest half --pio 70000
	is "$(status_of on_small_disk "$KVMTOP" record -o "$SMALL/half.dat" -e kvm_pio -p "$GUEST" \
		sh -c "$write" "$TMP/half.in" "$TMP/half.out")" 0 \
		"a recording of more than half of the disk"
	check "is all there" test "$(wc -c <"$KEPT/half.dat")" -gt $((1 << 21))
	is_sound "$KEPT/half.dat" "half a disk"
else
	skip "a full disk" "no tmpfs can be mounted here"
fi

busy
# shellcheck disable=SC2016
spawn sh -c 'ulimit -f 4001; exec "$@"' sh "$KVMTOP" record -o "$TMP/limit.dat" -- 20 2>"$ERR"
wait "$SPAWNED"
is "$?" 1 "a limit for the size of files"
stop "$BUSY"
like "$(cat "$ERR")" "^kvmtop: $TMP/limit.dat: ends after 1\.[0-9]+ MiB: what is recorded cannot \
be written: File too large: raise the limit \(ulimit -f\)" "is said with what helps"
check "what may be is kept" test "$(wc -c <"$TMP/limit.dat")" -gt $((3 << 19))
is_sound "$TMP/limit.dat" "a limit"
no_instance_of "$SPAWNED" "nothing goes on recording"

# shellcheck disable=SC2016
is "$(status_of sh -c 'ulimit -f 1; exec "$@"' sh "$KVMTOP" record -o "$TMP/none.dat" -- 0.1)" 1 \
	"a limit that not even the head keeps"
like "$(cat "$TMP/err")" \
	"^kvmtop: $TMP/none.dat: (the file|what is recorded) cannot be written: File too large" \
	"is an error"
check "that leaves no file" test ! -e "$TMP/none.dat"

# ---- what a killed recorder leaves

# Another kvmtop of this machine may be the next one: then try again.
for try in 1 2 3 4 5; do
	recording
	killed=$RECORDER
	stop "$killed" KILL
	left=$(ls -d "$INSTANCES/kvmtop-$killed" 2>/dev/null)
	said=$("$KVMTOP" --version 2>&1 >"$TMP/out")
	[ -n "$left" ] && [ -n "$said" ] && break
	disturbed "what a killed recorder leaves" $try 5
done
is "$left" "$INSTANCES/kvmtop-$killed" "a killed recorder leaves its instance"
is "$said" "kvmtop: the recording of process $killed, which was \
killed, went on in tracefs: it is ended" "the next kvmtop says so"
check "and removes it" test ! -e "$INSTANCES/kvmtop-$killed"
is "$("$KVMTOP" --version 2>&1 >"$TMP/out")" "" "once"
recording
first=$RECORDER
"$KVMTOP" record -o "$TMP/other.dat" -e kvm_pio true 2>/dev/null
check "one that still runs keeps its own" test -d "$INSTANCES/kvmtop-$first"
RECORDER=$first
finish HUP
is "$STATUS" 0 "a hangup ends it well, too"
recording
finish QUIT
is "$STATUS" 0 "and Ctrl-\\"
check "nothing goes on to record" test ! -e "$INSTANCES/kvmtop-$RECORDER"

# ---- wrong usage, and what cannot be

is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" -e kvm_nothing true)" 1 "no such event"
like "$(cat "$TMP/err")" '^kvmtop: no KVM event is called "kvm_nothing"' "is named"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" -e sched_switch true)" 1 "only events of KVM"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" -e kvm_pio --filter 'nix == 1' true)" 1 \
	"a filter the kernel refuses"
like "$(cat "$TMP/err")" 'refuses the filter "nix == 1" for kvm_pio: Field not found' "says why"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" --clock nix true)" 1 "no such clock"
like "$(cat "$TMP/err")" '^kvmtop: no clock is called "nix"; there are: local .*mono .*boot' \
	"says which there are"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" --buffer-size 99999999999 true)" 1 \
	"a buffer that is too large"
like "$(cat "$TMP/err")" \
	"^kvmtop: no memory for a buffer of 99999999999 KiB on each CPU: lower --buffer-size$" \
	"says what helps"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" -g nobody true)" 1 "no such guest"
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" -p $$ true)" 1 "a process that is no guest"
echo mine >"$TMP/mine"
is "$(status_of "$KVMTOP" record -o "$TMP/mine" true)" 1 "another file is not overwritten"
like "$(cat "$TMP/err")" '/mine is not a trace.dat, and is not overwritten: name another' "says so"
is "$(cat "$TMP/mine")" mine "and is as it was"
is "$(status_of "$KVMTOP" record -o "$TMP/no/folder.dat" true)" 1 "no such folder"
like "$(cat "$TMP/err")" "^kvmtop: $TMP/no/folder.dat: its folder is not there: make it" "is said"
is "$(status_of "$KVMTOP" record -o /sys/kvmtop.dat true)" 1 "a folder that cannot be written"
like "$(cat "$TMP/err")" \
	'^kvmtop: /sys/kvmtop.dat cannot be written: [A-Z].*: name another file with -o$' \
	"is said, with what helps"
ln -s new.dat "$TMP/dangling"
is "$(status_of "$KVMTOP" record -o "$TMP/dangling" true)" 0 "a link to nothing"
check "stays a link, and the file is made" test -L "$TMP/dangling" -a -s "$TMP/new.dat"
mkdir "$TMP/others"
ln -s "$TMP/newer.dat" "$TMP/others/link"
chown -hR 65534 "$TMP/others"
is "$(status_of "$KVMTOP" record -o "$TMP/others/link" true)" 1 "another user's link"
like "$(cat "$TMP/err")" "/others/link: \"link\" is a link of another user" \
	"is said"
check "and nothing is made there" test ! -e "$TMP/newer.dat"
is "$(status_of "$KVMTOP" record -o "$TMP/dangling" true)" 0 "a link to a file"
check "stays a link, and the file is written" test -L "$TMP/dangling" -a -s "$TMP/new.dat"
is "$(status_of "$KVMTOP" record -o "$TMP" true)" 1 "a folder"
is "$(status_of "$KVMTOP" record -o /dev/null true)" 1 "no regular file"
is "$(status_of "$KVMTOP" record -o - true)" 2 "a pipe"
like "$(cat "$TMP/err")" '^kvmtop: -o -: a trace.dat cannot be written to a pipe' "says why"
check "no file is called that" test ! -e ./-
if command -v setpriv >/dev/null 2>&1; then
	mkdir -m 777 "$TMP/open"
	cp "$KVMTOP" "$TMP/open/kvmtop"
	chmod 711 "$TMP"
	is "$(status_of setpriv --reuid=65534 --clear-groups "$TMP/open/kvmtop" record \
		-o "$TMP/open/none.dat" true)" 1 "who may not"
	like "$(cat "$TMP/err")" '^kvmtop: .*denied: run as root$' "is told who may"
	is "$(ls "$TMP/open")" kvmtop "nothing is left then"
else
	skip "who may not" "setpriv is not installed"
fi
is "$(status_of "$KVMTOP" record --nix)" 2 "no such option"
is "$(status_of "$KVMTOP" record -- 0)" 2 "no time"
is "$("$KVMTOP" record -- 1e10 2>&1 | head -n 1)" \
	"kvmtop: \"1e10\": not a time from 0.1 s to 1000000000 s, as in 5, 0.5, 10s, 1min" \
	"a time that is too long"
check "no file is left by any of them" test ! -e "$TMP/none.dat"
is "$(status_of "$KVMTOP" record --help)" 0 "--help"

# ---- waiting for a CPU: two vCPUs on one CPU, beside the kernel's own sums

# delays: how long the guest's vCPUs have waited so far, in us.
delays() {
	for d_task in "/proc/$GUEST/task/"*; do
		! grep -q '^vcpu' "$d_task/comm" || cat "$d_task/schedstat"
	done | awk '{ sum += $2 } END { printf "%.0f\n", sum / 1000 }'
}

guest sharer --vcpus 2 --pio 60000
taskset -a -p 1 "$GUEST" >/dev/null
recording -p "$GUEST" -e kvm_userspace_exit --sched --buffer-size 8192
before_us=$(delays)
go_to_end sharer
delay_us=$(($(delays) - before_us))
finish
"$KVMTOP" timeline -r "$DAT" -o "$TMP/sched.json"
"$KVMTOP" timeline -r "$DAT" -o "$TMP/sched.pftrace" --format perfetto
if /usr/bin/python3 -c 'import google.protobuf' 2>/dev/null; then
	check "--sched: both formats of a picture have the same, and arrows" /usr/bin/python3 \
		tests/cli/read_perfetto.py "$TMP/sched.pftrace" "$TMP/sched.json"
else
	skip "--sched: both formats of a picture" "Python or its protobuf is not installed"
fi
wait_us=$(sed -n 's/.*"name":"waiting for a CPU".*"dur":\([0-9.]*\).*/\1/p' "$TMP/sched.json" |
	awk '{ sum += $1 } END { printf "%.0f\n", sum }')
if [ "$delay_us" -lt 1000 ]; then
	skip "--sched: waits" "the vCPUs did not wait for each other, or the kernel does not say"
else
	check "--sched: the picture's waits ($wait_us us) are the kernel's ($delay_us us)" \
		test "$wait_us" -gt $((delay_us * 8 / 10)) -a "$wait_us" -lt $((delay_us * 11 / 10))
fi
is "$(status_of "$KVMTOP" record -o "$TMP/none.dat" --sched -g nobody true)" 1 "--sched: no guest"
# On a busy machine the guest may have ended before its name was read.
for try in 1 2 3 4 5; do
	status=$(status_of "$KVMTOP" record -o "$DAT" --sched "$HELPERS/miniguest" --name brief \
		--pio 15 --vcpus 2)
	by_guest=$("$KVMTOP" report --event ioport --by guest "$DAT")
	! has_messages || echo "$by_guest" | grep -q ' brief ' && break
	disturbed "the name of a guest that lived for a ms" $try 5
done
is "$status" 0 "--sched with a guest that is the command"
if has_messages; then
	like "$by_guest" '^ *[0-9]+ +brief +30 ' \
		"every port write is in the file, with the name of a guest that lived for a ms"
else
	skip "every port write is in the file" "the kernel does not tell of threads"
fi
if has_trace_cmd; then
	like "$(trace-cmd report "$DAT" 2>/dev/null)" ': sched_switch: .*vcpu1' \
		"so are the switches of its threads"
fi

# ---- in another pid namespace, as in a container: /proc has other pids than the kernel's events

# inside OPTION...: records there for half a second, beside a guest of that namespace.
cat >"$TMP/inside" <<'EOF'
"$HELPERS/miniguest" --pio 10 --rounds 0 --pause 20000 --name inner >/dev/null &
guest=$!
until "$KVMTOP" --list-guests | grep -q inner; do sleep 0.1; done
"$KVMTOP" record "$@" -- 0.5
status=$?
kill "$guest"
exit $status
EOF
export KVMTOP HELPERS
inside() {
	status_of timeout 30 unshare -pf --mount-proc sh "$TMP/inside" "$@"
}

if unshare -pf --mount-proc true 2>/dev/null; then
	is "$(inside -o "$TMP/none.dat" -g inner)" 1 "in a container: -g"
	like "$(cat "$TMP/err")" "^kvmtop: -g finds no guest here: tracefs has the pids of the \
host's pid namespace, .*--pid=host\)\$" "cannot work: why, and what helps"
	is "$(inside -o "$TMP/none.dat" --sched)" 1 "nor can --sched"
	check "no file is left" test ! -e "$TMP/none.dat"
	is "$(inside -o "$DAT" -e kvm_pio)" 0 "in a container: every guest's events"
	like "$(cat "$TMP/err")" '^kvmtop: the file will not say which guest an event is of: ' \
		"it says that they have no names"
	like "$("$KVMTOP" report --event ioport --by guest "$DAT")" ' unknown +[1-9]' \
		"and none has another guest's name"
else
	skip "in a container" "unshare(1) makes no pid namespace here"
fi

# ---- on a terminal

if has_screen; then
	guest seen --pio 10
	screen_start 70 5 "'$KVMTOP' record -o '$DAT' -p $GUEST -- 3"
	screen_has '^recording: [0-9.]+ MiB, 0 events lost' "a line shows how it goes"
	is "$(screen_status)" 0 "until it ends"
	screen_has '^kvmtop: .*trace.dat: [0-9]+ events' "and is replaced by the last one"
	screen_start 30 5 "'$KVMTOP' record -o '$DAT' -p $GUEST -- 2"
	screen_has '^recording: [0-9.]+ MiB, 0 event' "on a narrow terminal as much as fits"
	sleep 1.2
	is "$(screen_shot | grep -c .)" 1 "on one line"
	is "$(screen_status)" 0 "to the end"
else
	skip "a line shows how it goes" "$T_no_screen"
fi

if has_trace_cmd; then
	is "$(top)" "$before" "the top instance is as it was"
fi
# shellcheck disable=SC2012
is "$(ls "$INSTANCES" | sed -n "s/^kvmtop-\($RECORDER\|$killed\)\$/&/p")" "" "no instance is left"

# ---- what perf record --threads writes

# perf_counts FOLDER: each event of KVM and how often perf has seen it.
perf_counts() {
	perf script -i "$1" -F event 2>/dev/null | sed -n 's/^ *kvm:\(.*\): *$/\1/p' | sort |
		uniq -c | awk '{ print $2, $1 }'
}

counts() {
	"$KVMTOP" report --csv --view events "$1" 2>/dev/null |
		awk -F, 'NR > 1 && $1 !~ /[(]/ { print $1, $2 }' | sort
}

if perf record --help 2>/dev/null | grep -q -- --threads; then
	guest six --pio 10 --cpuid 5 --vcpus 2 --rounds 0 --pause 1000
	go six
	for how in "" -z; do
		folder=$TMP/folder$how
		# shellcheck disable=SC2086
		perf record -q --threads -a $how -e 'kvm:*' -o "$folder" -- sleep 1 2>/dev/null
		counts "$folder" >"$TMP/ours"
		perf_counts "$folder" >"$TMP/theirs"
		same_files "$TMP/ours" "$TMP/theirs" "perf record --threads $how: as perf counts"
		check "and there are some" grep -q '^kvm_pio [1-9]' "$TMP/ours"
	done
	stop "$GUEST"
	rm "$folder/data.0"
	like "$("$KVMTOP" report --text "$folder" 2>&1)" 'folder-z: data\.0 is missing$' \
		"a file that is missing is said"
else
	skip "perf record --threads" "perf is not installed, or does not have it"
fi

done_testing
