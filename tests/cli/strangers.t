#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings that other programs made are read whole: trace-cmd's of both versions, perf's, and the
# kernel's own trace_pipe_raw as cat saves it.
. tests/lib.sh
need_live
TRACEFS=$(tracefs)
[ -e "$TRACEFS/events/kvm/kvm_pio" ] || skip_all "this kernel has no kvm_pio"

# Many pages, some of which begin with a pause: that is a time extend.
PIO=3000
ROUNDS=5
ALL=$((PIO * ROUNDS))

INSTANCE=$TRACEFS/instances/kvmtop-test-$$

# waiting_guest NAME: one that waits for its recorder; the thread of its vCPU in $VCPU.
waiting_guest() {
	guest "$1" --pio $PIO --rounds $ROUNDS --pause 150000
	VCPU=$(grep -lx vcpu0 "/proc/$GUEST/task/"*/comm | cut -d/ -f5)
}

# run_guest NAME: it has ended before the recorder is stopped.
run_guest() {
	go "$1"
	wait_for 30 grep -q '^done' "$TMP/$1.out"
	sleep 0.5
}

# report FILE: how many port writes kvmtop finds; what it has against the file in $TMP/problems.
report() {
	"$KVMTOP" report --event ioport "$1" 2>"$TMP/problems" |
		sed -n 's/^\([0-9]*\) in all.*/\1/p'
}

# is_whole FILE NAME: it has all of them, and no problem.
is_whole() {
	is "$(report "$1")" $ALL "$2: every port write"
	is "$(cat "$TMP/problems")" "" "$2: and no problem"
}

# ---- trace-cmd

# What trace-cmd does not need for events, and what it may not open everywhere, becomes a file of
# its own; an instance is all of tracefs that it sees.
# shellcheck disable=SC2016
alone='mount --bind "$1" /proc/sys/kernel/ftrace_enabled && mount --bind "$2" "$3" || exit
for file in "$3"/set_ftrace_*; do
	mount --bind "$1" "$file"
done
shift 3
exec trace-cmd record -q "$@"'

# trace_cmd NAME OPTION...: records a guest's port writes.
trace_cmd() {
	name=$1
	shift
	waiting_guest "$name"
	mkdir "$INSTANCE"
	echo 1 >"$TMP/enabled"
	# shellcheck disable=SC2016
	timeout 60 unshare -m sh -c "$alone" sh "$TMP/enabled" "$INSTANCE" "$TRACEFS" "$@" \
		-o "$TMP/$name.dat" -e kvm:kvm_pio -f "common_pid == $VCPU" \
		sh -c 'echo >"$0"; until grep -q ^done "$1"; do sleep 0.2; done; sleep 0.5' \
		"$TMP/$name.in" "$TMP/$name.out" >"$TMP/trace-cmd.out" 2>&1
	rmdir "$INSTANCE"
	if [ ! -e "$TMP/$name.dat" ]; then
		skip "$name" "trace-cmd cannot record here: $(head -n 1 "$TMP/trace-cmd.out")"
		return
	fi
	is "$(trace-cmd report -i "$TMP/$name.dat" 2>/dev/null | grep -c ' kvm_pio: ')" \
		"$(report "$TMP/$name.dat")" "$name: as many events as trace-cmd finds"
	is_whole "$TMP/$name.dat" "$name"
}

if command -v trace-cmd >/dev/null; then
	trace_cmd version6 --file-version 6
	trace_cmd version7 --file-version 7 --compression none
	trace_cmd version7-zstd --file-version 7 --compression zstd
else
	skip "trace-cmd's recordings" "trace-cmd is not installed"
fi

# ---- perf

# perf_record NAME OPTION...: of a guest, which runs when perf has enabled its events: only then it
# starts a command.
perf_record() {
	name=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's
	timeout -s INT 120 perf record -q -m 1024 "$@" \
		sh -c 'echo >"$0"; until grep -q ^done "$1"; do sleep 0.2; done; sleep 0.5' \
		"$TMP/$name.in" "$TMP/$name.out" 2>"$TMP/perf.out"
}

if command -v perf >/dev/null; then
	waiting_guest perf
	perf_record perf -e kvm:kvm_pio -p "$GUEST" -o "$TMP/perf.data"
	is "$(perf script -i "$TMP/perf.data" 2>/dev/null | grep -c kvm_pio)" \
		"$(report "$TMP/perf.data")" "perf.data: as many events as perf script finds"
	is_whole "$TMP/perf.data" "perf.data"

	# Of a group, perf records the first event and counts the others, of the guest's threads or
	# with -a of the CPUs, to a file or to a pipe. Only the first one is of use here.
	group='{kvm:kvm_pio,kvm:kvm_userspace_exit,kvm:kvm_mmio}:S'
	for name in threads cpus pipe; do
		waiting_guest "$name"
		case $name in
		threads) set -- -p "$GUEST" -o "$TMP/$name.data" ;;
		cpus) set -- -a -o "$TMP/$name.data" ;;
		pipe) set -- -p "$GUEST" -o - ;;
		esac
		perf_record "$name" -e "$group" "$@" >"$TMP/$name.piped"
		[ "$name" != pipe ] || mv "$TMP/pipe.piped" "$TMP/pipe.data"
		if ! [ -s "$TMP/$name.data" ]; then
			skip "a group of perf's, $name" "perf: $(head -n 1 "$TMP/perf.out")"
			continue
		fi
		is "$(report "$TMP/$name.data")" \
			"$(perf script -i "$TMP/$name.data" 2>/dev/null | grep -c kvm:kvm_pio:)" \
			"a group of perf's, $name: as many as perf script finds"
		is "$(sed 's/.*: //' "$TMP/problems")" \
			"record the others with an -e of their own" \
			"a group of perf's, $name: and one sentence"
		[ "$name" = cpus ] || is "$(report "$TMP/$name.data")" $ALL \
			"a group of perf's, $name: every port write"
	done
else
	skip "perf's recordings" "perf is not installed"
fi

# ---- the kernel's pages

if [ -d "$TRACEFS/instances" ]; then
	mkdir "$INSTANCE"
	waiting_guest raw
	echo 4096 >"$INSTANCE/buffer_size_kb"
	echo 0 >"$INSTANCE/buffer_percent"
	echo "common_pid == $VCPU" >"$INSTANCE/events/kvm/kvm_pio/filter"
	echo 1 >"$INSTANCE/events/kvm/kvm_pio/enable"
	# While the guest runs, pages are saved with what is in them; then what is left.
	readers=
	for cpu in "$INSTANCE"/per_cpu/cpu*; do
		spawn cat "$cpu/trace_pipe_raw" >"$TMP/raw-${cpu##*/}"
		readers="$readers $SPAWNED"
	done
	run_guest raw
	for reader in $readers; do
		stop "$reader"
	done
	for cpu in "$INSTANCE"/per_cpu/cpu*; do
		timeout 1 cat "$cpu/trace_pipe_raw" >>"$TMP/raw-${cpu##*/}"
	done
	rmdir "$INSTANCE"
	"$HELPERS/trace_make" raw "$TMP/raw.dat" "$TRACEFS/events/kvm/kvm_pio/format" \
		"$TMP"/raw-cpu*
	is_whole "$TMP/raw.dat" "trace_pipe_raw"
else
	skip "trace_pipe_raw" "this kernel has no instances"
fi
done_testing
