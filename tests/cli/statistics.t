#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What kvmtop says of the statistics that a VMM holds is what its guest did, to the halt; and of a
# guest that was looked at nothing stays, neither here nor in the kernel.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live

ERR=$TMP/err
ROUNDS=7
# The kernel counts a guest's HLT in halt_exits. Elsewhere a halt ends in other counters.
[ "$(uname -m)" = x86_64 ] || skip_all "the guest's halts are counted to the digit on x86 only"

# Where debugfs cannot be read, -d reads what VMMs hold.
need_cmd unshare
cat >"$TMP/stats" <<EOF
#!/bin/sh
exec unshare -m sh -c 'umount -l /sys/kernel/debug 2>/dev/null; exec "\$0" "\$@"' \
	"$(realpath "$KVMTOP")" "\$@"
EOF
chmod +x "$TMP/stats"

# of PROGRAM PID: the total of halt_exits since the guest began.
of() {
	"$1" -d -i -1 -p "$2" -f '^halt_exits$' 2>"$ERR" |
		awk '$1 == "halt_exits" { print $2 }'
}

# fds PID WORD: what it has open with this word in its name.
fds() {
	find "/proc/$1/fd" -type l -printf '%l\n' 2>/dev/null | grep -e "$2" | sort -u
}

has_no_pidfd() {
	[ -d "/proc/$1/fd" ] && [ -z "$(fds "$1" pidfd)" ]
}

no_folder() {
	! ls -d "/sys/kernel/debug/kvm/$1"-* >/dev/null 2>&1
}

provider_line() {
	"$KVMTOP" --list-providers | sed -n '/^stats/{n;p}'
}

guest held --stats --vcpus 3 --pio 20 --rounds $ROUNDS
held=$GUEST
if ! grep -q ready "$TMP/held.out"; then
	cat "$TMP/held.out" >&2
	skip_all "this kernel has no statistics (Linux 5.14)"
fi

like "$(provider_line)" '^ +works here$' "--list-providers: a guest holds statistics"
is "$(of "$TMP/stats" "$held")" 0 "before the guest runs"
is "$(cat "$ERR")" "" "and nothing to complain about"
# Sampled all the time, while it runs and when it ends.
spawn "$TMP/stats" -d -l --json -s 0.1 -p "$held" -f '^halt_exits$' >"$TMP/log" 2>"$TMP/log.err"
log=$SPAWNED
wait_for 20 is_sampling "$log"
go held
wait_for 20 grep -q '^done' "$TMP/held.out"
is "$(of "$TMP/stats" "$held")" $((3 * ROUNDS)) "each vCPU's halts"
is "$(of "$KVMTOP" "$held")" $((3 * ROUNDS)) "-d says the same, wherever it has it from"
is "$(cat "$ERR")" "" "and has nothing to complain about"
# Under lockdown debugfs is there and refuses; without securityfs that is seen by trying alone.
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	is "$(unshare -m sh -c 'mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
		umount -l /sys/kernel/security 2>/dev/null
		exec "$@"' sh "$(realpath "$KVMTOP")" -d -i -1 -p "$held" -f '^halt_exits$' |
		awk '{ print $2 }')" $((3 * ROUNDS)) "and where debugfs refuses its counters"
else
	skip "where debugfs refuses its counters" "no mount namespaces"
fi
like "$("$TMP/stats" -d -i -b -1 -p "$held" -f '^halt_exits$' 2>&1)" \
	"^held +$((3 * ROUNDS)) " "-b: by guest"

"$TMP/stats" -d -i -1 --json --view vcpus -p "$held" -f '^halt_exits$' >"$TMP/out" 2>"$ERR"
is "$(grep -o '"total":[0-9]*' "$TMP/out" | sort | uniq -c | awk '{ print $1, $2 }')" \
	"3 \"total\":$ROUNDS" "--view vcpus: each vCPU has its own"

# ---- a guest that holds none

guest bare --rounds 1
is "$("$TMP/stats" -d -1 -p "$GUEST" 2>&1 >"$TMP/out")" \
	"kvmtop: stats: no guest here holds statistics: QEMU 8.1 and later do
kvmtop: No event of KVM was counted." \
	"a guest without statistics is named"
like "$("$TMP/stats" -d -1 2>&1 >"$TMP/out")" '^kvmtop: stats: [0-9]+ of [0-9]+ guests hold' \
	"and how many such guests there are"
stop "$GUEST"

# ---- rights

if command -v setpriv >/dev/null; then
	setpriv --bounding-set=-sys_ptrace --inh-caps=-sys_ptrace "$TMP/stats" -d -1 \
		-p "$held" >"$TMP/out" 2>"$ERR"
	like "$? $(cat "$ERR")" '^1 kvmtop: .*CAP_SYS_PTRACE' "without the right: what is missing"
else
	skip "without the right" "setpriv is not installed"
fi

# ---- what is kept

"$TMP/stats" -d -i -w "$TMP/h.db" -s 0.1 -n 3 -p "$held" </dev/null >"$TMP/out" 2>"$ERR"
is "$("$KVMTOP" -r "$TMP/h.db" -1 -f '^halt_exits$' 2>&1 | awk '{ print $1, $2 }')" \
	"halt_exits $((3 * ROUNDS))" "a history has them"

# ---- nothing stays

spawn "$TMP/stats" -d -l -s 60 -p "$held" >"$TMP/slow" 2>"$ERR"
slow=$SPAWNED
wait_for 20 is_sampling "$slow" # the first sample has been taken, the next one is far away
is "$(fds "$slow" kvm-)" "" "between two samples nothing of the guest is open"
if [ -d /sys/kernel/debug/kvm ] && ! no_folder "$held"; then
	stop "$held"
	check "a guest that is looked at ends, and its VM with it" wait_for 20 no_folder "$held"
else
	skip "the VM ends" "debugfs does not show it"
	stop "$held"
fi
check "the look goes on" kill -0 "$log"
check "and has nothing open that names the VMM" wait_for 20 has_no_pidfd "$log"
stop "$slow"
stop "$log"
is "$(grep -o '"delta":[0-9]*' "$TMP/log" | awk -F: '{ n += $2 } END { print n }')" \
	$((3 * ROUNDS)) "a log: the halts, each once"
done_testing
