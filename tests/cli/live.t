#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A guest makes exactly so many exits, and every way to look at it says exactly so many.
# shellcheck disable=SC2317 # check calls functions
. tests/lib.sh
. tests/live.sh
need_live

PIO=1234
MMIO=567
CPUID=89
SOME='kvm_(pio|mmio|cpuid|userspace_exit)'

# more_lines NAME...: each log has had two samples more.
more_lines() {
	for t_log; do
		wait_for 30 lines "$t_log" $(($(wc -l <"$TMP/$t_log") + 3)) || return
	done
}

# csv NAME FIELD: the sum of a column.
csv() {
	awk -F, -v name="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		{ n += $at }
		END { print n + 0 }' "$TMP/$1"
}

# text NAME FIELD: the sum of a column of the log for people, whose columns may grow in number.
text() {
	awk -v name="$2" '
		/^time/ {
			# "time (per 0.5 s)" is four words, a time stamp two.
			at = 0
			for (i = 5; i <= NF; i++) if ($i == name) at = i - 2
			next
		}
		at { n += $at }
		END { print n + 0 }' "$TMP/$1"
}

# perf_count FIELD
perf_count() {
	awk -F, -v name="kvm:$1" '$3 == name { print $1 }' "$TMP/perf"
}

# ---- exactly N

# once NAME OPTION...: -1 that stands still between its samples, until all have happened what they
# are to see, however long a second is.
once() {
	look "$@" -1
	onces="$onces $SPAWNED"
	counting "$SPAWNED" && kill -STOP "$SPAWNED"
}

# The guests a and b, watched in every way at once.
watch_guests() {
	guest a --pio "$PIO" --mmio "$MMIO" --cpuid "$CPUID" || return
	a=$GUEST
	guest b --pio 77 --vcpus 2 || return
	b=$GUEST
	if command -v perf >/dev/null; then
		spawn perf stat -x , -a -o "$TMP/perf" \
			-e kvm:kvm_pio,kvm:kvm_mmio,kvm:kvm_cpuid,kvm:kvm_userspace_exit \
			-- sleep 200 2>/dev/null
		perf=$SPAWNED
		wait_for 20 grep -qs . "/proc/$perf/task/$perf/children"
	fi
	look log-text -l -s 0.5 -p "$a" -f "$SOME"
	logs=$SPAWNED
	look log-csv -l -c -s 0.3 -g a -f "$SOME"
	logs="$logs $SPAWNED"
	look log-json -l --json -s 0.4 -g b -f "$SOME"
	logs="$logs $SPAWNED"
	look log-each -l --json -b -s 0.5 -f 'kvm_userspace_exit$'
	logs="$logs $SPAWNED"
	for pid in $logs; do
		counting "$pid" || return
	done
	once host -f "$SOME"
	once pid -p "$a"
	once name -g b -f "$SOME"
	once each -b -f 'kvm_userspace_exit$'
	for engine in bpf perf; do
		once "host-$engine" --engine "$engine" -f "$SOME"
		once "pid-$engine" --engine "$engine" -p "$a" -f "$SOME"
		once "each-$engine" --engine "$engine" -b -f "$SOME"
	done
	go a
	go b
	went a && went b
	# shellcheck disable=SC2086 # pids
	kill -CONT $onces
	for pid in $onces; do
		ended "$pid" || return
	done
	more_lines log-text log-csv log-json log-each
	for pid in $logs; do
		stop "$pid"
	done
	if [ -n "$perf" ]; then
		# The counts are in: perf prints them when its command ends.
		# shellcheck disable=SC2046 # pids
		kill $(cat "/proc/$perf/task/$perf/children")
		ended "$perf"
	fi
	stop "$a"
	stop "$b" || :
}

USER=$((PIO + MMIO + 1))
USER_B=$((2 * (77 + 1)))

# What must be so in every way of looking: "what; got; wanted" lines.
facts() {
	for f in "kvm_pio $PIO" "kvm_mmio $MMIO" "kvm_cpuid $CPUID" "kvm_userspace_exit $USER" \
		"kvm_userspace_exit(IO) $PIO" "kvm_userspace_exit(MMIO) $MMIO" \
		"kvm_userspace_exit(HLT) 1"; do
		name=${f% *}
		n=${f##* }
		echo "-1 -p PID: $name;$(batch pid "$name");$n $n"
		echo "-l -c -g NAME: $name;$(csv log-csv "$name");$n"
		case $name in *'('*) continue ;; esac
		echo "-l -p PID: $name;$(text log-text "$name");$n"
	done
	echo "-1 -g NAME: kvm_pio;$(batch name kvm_pio);154 154"
	echo "-1 -g NAME: kvm_userspace_exit;$(batch name kvm_userspace_exit);$USER_B $USER_B"
	echo "-1 -g NAME: kvm_mmio, of the other;$(batch name kvm_mmio);0 0"
	echo "-l --json -g NAME: kvm_pio;$(json log-json event kvm_pio);154"
	echo "-l --json -g NAME: kvm_mmio;$(json log-json event kvm_mmio);0"
	echo "-1 -b: a;$(batch each a);$USER $USER"
	echo "-1 -b: b;$(batch each b);$USER_B $USER_B"
	for look in pid each; do
		echo "--engine bpf as --engine perf: $look;$(totals $look-bpf);$(totals $look-perf)"
	done
	echo "-l -b --json: a;$(json log-each guest a);$USER"
	echo "-l -b --json: b;$(json log-each guest b);$USER_B"
}

# totals NAME: names and totals of a batch, in a line, without other guests of this machine.
totals() {
	awk '/^(a|b|kvm_[^ ]*) / { printf "%s %s ", $1, $2 }' "$TMP/$1"
}

# Other guests made exits, as the log of all guests says, which is the longest.
others_disturb() {
	grep -o '"guest":"[^}]*"delta":[1-9]' "$TMP/log-each" | grep -qv '^"guest":"[ab]"'
}

# What other guests on this machine disturb.
host_facts() {
	echo "--engine bpf as --engine perf: host;$(totals host-bpf);$(totals host-perf)"
	for f in "kvm_pio $((PIO + 154))" "kvm_mmio $MMIO" "kvm_cpuid $CPUID" \
		"kvm_userspace_exit $((USER + USER_B))"; do
		name=${f% *}
		n=${f##* }
		echo "-1: $name;$(batch host "$name");$n $n"
		[ -z "$perf" ] || echo "perf stat -a: $name;$(perf_count "$name");$n"
	done
}

prove() {
	while IFS=';' read -r what got wanted; do
		is "$got" "$wanted" "exact: $what"
	done <"$1"
}

if [ "$(uname -m)" = x86_64 ]; then
	a='' b='' perf='' onces='' logs=''
	check "all ways of looking" watch_guests
	facts >"$TMP/facts"
	prove "$TMP/facts"
	if others_disturb; then
		skip "the host's counts" "other guests run on this machine"
	else
		host_facts >"$TMP/facts"
		prove "$TMP/facts"
	fi
	[ -n "$perf" ] || skip "perf stat agrees" "perf is not installed"
	is "$(cat "$TMP"/host*.err "$TMP"/pid*.err "$TMP"/each*.err "$TMP"/log-*.err)" "" \
		"and nothing is said on stderr"
	is "$(awk '$1 ~ /^kvm_userspace_exit\(/ { n += $2 } END { print n }' "$TMP/pid")" "$USER" \
		"the reasons add up to their event"
else
	skip "exact counts" "the numbers are of x86"
fi

# ---- guests that come and go while we look

look late -l --json -b -s 0.3 -f 'kvm_userspace_exit$'
late=$SPAWNED
counting "$late"
guest late --pio 500 --vcpus 3
sleep 1
go late
went late
more_lines late
stop "$late"

guest gone --pio 10
look gone -l --json -s 0.2 -n 10 -p "$GUEST" -f 'kvm_pio$'
gone=$SPAWNED
counting "$gone"
go gone
went gone
stop "$GUEST"
ended "$gone"
is "$? $(wc -l <"$TMP/gone") $(json gone event kvm_pio)" "0 10 10" \
	"a guest that ends keeps its counts, and its log goes on"

if [ "$(uname -m)" = x86_64 ]; then
	is "$(json late guest late)" $((3 * 501)) "a guest that comes later is counted whole"
fi

done_testing
