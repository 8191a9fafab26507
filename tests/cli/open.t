#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An exit that is open for five samples: its time is counted as it passes, and every face says so.
. tests/lib.sh

# A captured machine. vCPU 0 of web1 has ten I/O exits of 1 ms, and one from 2.5 s to 7.5 s, which
# the VMM has; another one halts all the time.
machine=$TMP/machine
cp -r tests/sysroot/amd "$machine"
rm "$machine/kvmtop/host"
awk 'BEGIN {
	for (k = 1; k <= 9; k++) {
		open = k > 2.5 && k < 7.5 ? k - 2.5 : 0
		ended = k > 7.5
		spent = open + 5 * ended
		buckets = ended ? "13:10 25:1" : "13:10"
		number = sprintf("%.0f %.0f %.0f open:%.0f %s", 10 + (k > 2.5),
				 (spent + 0.01) * 1e9, ended ? 5e9 : 1e6, open * 1e9, buckets)
		printf "sample %.0f\nthread 122\ncpu 3\n", k * 1e9
		printf "userspace(IO) %s\nvmexit(io) %s\n", number, number
		printf "ioport(io 0x1f0 read 2 IDE1) %s\n", number
		printf "time(guest) %.0f\n", (k - 0.01 - spent) * 1e9
		printf "time(user) %.0f\n", (spent + 0.01) * 1e9
		printf "thread 123\nvmexit(hlt) 1 %.0f 0 open:%.0f\n", k * 1e9, k * 1e9
		printf "time(idle) %.0f\nvmexit_idle(hlt) %.0f\n", k * 1e9, k * 1e9
	}
}' >"$machine/kvmtop/exits"

DB=$TMP/h.db
# log OPTION...: eight intervals of the machine.
log() {
	"$AT_ONCE" --sysroot "$machine" -s 0.1 -n 8 -l --json "$@" </dev/null 2>"$TMP/err"
}

# of ID ROW: the member of the row that matches, in each sample; "-": there is no such row.
of() {
	while IFS= read -r line; do
		row=$(printf '%s\n' "$line" | tr '{' '\n' | tr '}' '\n' | grep -E -- "$2")
		printf '%s ' "${row:+$(printf '%s\n' "$row" |
			sed -nE "s/.*\"$1\":\"?([^,\"]*).*/\\1/p")}" | sed 's/^ $/- /'
	done
}

# says WHAT: the samples in $TMP/exits and $TMP/vcpus say what is true.
says() {
	io='"reason":"io"'
	is "$(of time_percent "$io" <"$TMP/exits")" \
		"25.000 50.000 50.000 50.000 50.000 25.000 - " "$1: the time as it passes"
	is "$(of time_ns "$io" <"$TMP/exits")" \
		"500000000 1000000000 1000000000 1000000000 1000000000 500000000 - " \
		"$1: five seconds in all"
	is "$(of open_ns "$io" <"$TMP/exits")" \
		"null 1500000000 2500000000 3500000000 4500000000 null - " \
		"$1: how long it is open, where longer than the interval"
	is "$(of avg_ns "$io" <"$TMP/exits")" "null null null null null 5000000000 - " \
		"$1: the average is of what ended"
	is "$(of open_ns '"reason":"hlt"' <"$TMP/exits")" \
		"null null null null null null null " "$1: a halt is not open"
	is "$(of time_ns '"reason":"hlt"' <"$TMP/exits" | tr ' ' '\n' | sort -u | grep .)" \
		1000000000 "$1: and has its time"
	is "$(of top_percent '"guest":"web1","vcpu":0,.*"top":"io"' <"$TMP/vcpus")" \
		"50.000 100.000 100.000 100.000 100.000 50.000 - " "$1: the vCPU's top exit"
	is "$(of open_ns '"guest":"web1","vcpu":0' <"$TMP/vcpus")" \
		"null 1500000000 2500000000 3500000000 4500000000 null null " \
		"$1: the vCPU stands still"
}

# Nothing happens in the first interval.
log --view exits -w "$DB" | tail -n +2 >"$TMP/exits"
log --view vcpus | tail -n +2 >"$TMP/vcpus"
says captured
"$KVMTOP" -r "$DB" -l --json --view exits | tail -n +2 >"$TMP/exits"
"$KVMTOP" -r "$DB" -l --json --view vcpus | tail -n +2 >"$TMP/vcpus"
says history
"$KVMTOP" -r "$DB" --from 2020-01-01 -1 --json --view exits >"$TMP/span"
is "$(of time_ns "$io" <"$TMP/span") $(of avg_ns "$io" <"$TMP/span")" "5000000000  5000000000 " \
	"a span of the history"

log --view hotspots | tail -n +2 >"$TMP/hotspots"
is "$(of time_ns '0x1f0' <"$TMP/hotspots")" \
	"500000000 1000000000 1000000000 1000000000 1000000000 500000000 - " \
	"the argument has the time of its exit"

log --view why | tail -n +2 >"$TMP/why"
# When it has ended its average is known: the VMM was slow.
is "$(of rule '"rule":"(exit_open|user_device|slow_vmm)' <"$TMP/why")" \
	"user_device exit_open exit_open exit_open exit_open slow_vmm - " "a finding while it is"
evidence='vCPU 0: open 4\.5 s \(threshold 1 s\); io, which the VMM has as IO'
like "$(cat "$TMP/why")" "\"evidence\":\"$evidence\"" "with the evidence"

# Four and a half seconds are open.
log_of() {
	"$AT_ONCE" --sysroot "$machine" -s 0.1 -n 6 "$@" </dev/null 2>"$TMP/err"
}
like "$(log_of -l --view exits | grep ' io ' | tail -1)" ' 4\.50s$' "a log has it"
like "$(log_of -l --csv --view exits | grep ',io,' | tail -1)" ',4500000000(,|$)' "CSV"
like "$("$KVMTOP" export --sysroot "$machine" -s 0.1 -n 6 --prometheus - 2>"$TMP/err")" \
	'kvmtop_exit_open_seconds\{guest="web1",vcpu="0",reason="io"\} [0-9.]+' "Prometheus"

# The screen plays the last interval, in which the exit goes on, again and again.
sed -i '/^sample 8/,$d' "$machine/kvmtop/exits"
for columns in 80 120; do
	script_start $columns 24 --sysroot "$machine" -s 0.2 --view exits
	screen_has '^ io .* [0-9.]+s *$' "a screen of $columns columns has it"
	screen_has ' Open' "with a heading"
	screen_has 'A vCPU stands still' "and the finding"
	screen_stop
done
done_testing
