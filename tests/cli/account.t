#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What BPF reads of KVM's own statistics is what guests did, to the halt; and of a guest that was
# read nothing stays, neither here nor in the kernel.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh
need_live

ERR=$TMP/err
ROUNDS=7
# The kernel counts a guest's HLT in halt_exits. Elsewhere a halt ends in other counters.
[ "$(uname -m)" = x86_64 ] || skip_all "the guest's halts are counted to the digit on x86 only"

# Where debugfs cannot be read, -d reads by BPF.
need_cmd unshare
cat >"$TMP/account" <<EOF
#!/bin/sh
exec unshare -m sh -c 'umount -l /sys/kernel/debug 2>/dev/null; exec "\$0" "\$@"' \
	"$(realpath "$KVMTOP")" "\$@"
EOF
chmod +x "$TMP/account"

# of PROGRAM PID: the total of halt_exits since the guest began.
of() {
	"$1" -d -i -1 -s 0.2 -p "$2" -f '^halt_exits$' 2>"$ERR" |
		awk '$1 == "halt_exits" { print $2 }'
}

# links PID: how many links of iterators it has open.
links() {
	cat "/proc/$1"/fdinfo/* 2>/dev/null | grep -c 'link_type:.*iter'
}

# One of all processes stays.
has_no_link() {
	[ -d "/proc/$1/fd" ] && [ "$(links "$1")" = 1 ]
}

no_folder() {
	! ls -d "/sys/kernel/debug/kvm/$1"-* >/dev/null 2>&1
}

provider_line() {
	"$KVMTOP" --list-providers | sed -n '/^account/{n;p}'
}

provider_line | grep -q 'works here' || skip_all "account: $(provider_line)"
guest acc-three --vcpus 3 --pio 20 --rounds $ROUNDS
held=$GUEST
is "$(of "$TMP/account" "$held")" 0 "before the guest runs"
is "$(cat "$ERR")" "" "and nothing to complain about"
# Sampled all the time, while it runs and when it ends.
spawn "$TMP/account" -d -l --json -s 0.1 -p "$held" -f '^halt_exits$' >"$TMP/log" 2>"$TMP/log.err"
log=$SPAWNED
wait_for 20 is_sampling "$log"
go acc-three
wait_for 20 grep -q '^done' "$TMP/acc-three.out"
is "$(of "$TMP/account" "$held")" $((3 * ROUNDS)) "each vCPU's halts"
is "$(of "$KVMTOP" "$held")" $((3 * ROUNDS)) "-d says the same, wherever it has it from"
is "$(cat "$ERR")" "" "and has nothing to complain about"
is "$("$KVMTOP" -i -1 -s 0.2 -p "$held" -f '^halt_exits$' 2>"$ERR" |
	awk '{ print $1, $2 }')" "halt_exits $((3 * ROUNDS))" "-i alone asks for KVM's counters"
# Under lockdown debugfs is there and refuses; without securityfs that is seen by trying alone.
if unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016
	is "$(unshare -m sh -c 'mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
		umount -l /sys/kernel/security 2>/dev/null
		exec "$@"' sh "$(realpath "$KVMTOP")" -d -i -1 -s 0.2 -p "$held" -f '^halt_exits$' |
		awk '{ print $2 }')" $((3 * ROUNDS)) "and where debugfs refuses its counters"
else
	skip "where debugfs refuses its counters" "no mount namespaces"
fi
like "$("$TMP/account" -d -i -b -1 -s 0.2 -p "$held" -f '^halt_exits$' 2>&1)" \
	"^acc-three +$((3 * ROUNDS)) " "-b: by guest"

"$TMP/account" -d -i -1 -s 0.2 --json --view vcpus -p "$held" -f '^halt_exits$' \
	>"$TMP/out" 2>"$ERR"
is "$(grep -o '"total":[0-9]*' "$TMP/out" | sort | uniq -c | awk '{ print $1, $2 }')" \
	"3 \"total\":$ROUNDS" "--view vcpus: each vCPU has its own"

# ---- guests that come and go

guest acc-two --vcpus 2 --rounds 2
other=$GUEST
go acc-two
wait_for 20 grep -q '^done' "$TMP/acc-two.out"
is "$("$TMP/account" -d -i -1 -s 0.2 --view vcpus -f '^halt_exits$' 2>"$ERR" |
	awk '$1 == "acc-three" || $1 == "acc-two" { n[$1 " " $5]++ }
		END { for (i in n) print n[i], i }' | sort | tr '\n' ' ')" \
	"2 acc-two 2 3 acc-three $ROUNDS " "two VMMs: each vCPU has a row"
stop "$other"
# A guest that begins later has counted from 0.
spawn "$TMP/account" -d -l -c --view vcpus -s 0.1 -f '^halt_exits$' >"$TMP/late.csv" 2>"$ERR"
late=$SPAWNED
wait_for 20 is_sampling "$late"
guest late --rounds 3
go late
wait_for 20 grep -q '^done' "$TMP/late.out"
sleep 0.5
stop "$late"
check "a guest that begins later has counted from 0" grep -q "late" "$TMP/late.csv"
stop "$GUEST"

# ---- vCPUs and threads, by the kernel's word

# threads PID: lines of vCPU and TID.
threads() {
	"$KVMTOP" -1 -s 0.2 --json --view vcpus -p "$1" 2>"$ERR" |
		grep -o '"vcpu":[0-9]*,[^{]*"tid":[0-9a-z]*' |
		sed 's/"vcpu":\([0-9]*\),.*"tid":/\1 /'
}

# Which thread has which vCPU is compared with the names of threads in a test of units.
are_threads_of() {
	sort -u -k 2 "$2" | while read -r t_vcpu t_tid; do
		[ "$t_tid" != "$1" ] && [ -d "/proc/$1/task/$t_tid" ] && echo "$t_vcpu"
	done | sort | tr '\n' ' '
}

guest acc-unnamed --vcpus 3 --rounds 1 --unnamed
go acc-unnamed
wait_for 20 grep -q '^done' "$TMP/acc-unnamed.out"
threads "$GUEST" >"$TMP/threads"
is "$(are_threads_of "$GUEST" "$TMP/threads")" "0 1 2 " "each vCPU has a thread, without a name"
stop "$GUEST"

# ---- rights

if command -v setpriv >/dev/null; then
	setpriv --bounding-set=-syslog --inh-caps=-syslog "$KVMTOP" --cost none -1 -s 0.2 \
		-p "$held" >"$TMP/out" 2>"$ERR"
	is "$? $(cat "$ERR")" "0 " "the addresses of the kernel's functions are not needed"
else
	skip "the addresses of the kernel's functions" "setpriv is not installed"
fi

# ---- what is kept

"$TMP/account" -d -i -w "$TMP/h.db" -s 0.1 -n 3 -p "$held" </dev/null >"$TMP/out" 2>"$ERR"
is "$("$KVMTOP" -r "$TMP/h.db" -1 -f '^halt_exits$' 2>&1 |
	awk 'NR > 2 { print $1, $2 }')" \
	"halt_exits $((3 * ROUNDS))" "a history has them"

# ---- nothing stays

spawn "$TMP/account" -d -l -s 60 -p "$held" >"$TMP/slow" 2>"$ERR"
slow=$SPAWNED
wait_for 20 is_sampling "$slow" # the first sample has been taken, the next one is far away
if [ -d /sys/kernel/debug/kvm ] && ! no_folder "$held"; then
	stop "$held"
	check "a guest that is looked at ends, and its VM with it" wait_for 20 no_folder "$held"
else
	skip "the VM ends" "debugfs does not show it"
	stop "$held"
fi
check "the look goes on" kill -0 "$log"
check "and has nothing open for the guest" wait_for 20 has_no_link "$log"
stop "$slow"
stop "$log"
is "$(grep -o '"delta":[0-9]*' "$TMP/log" | awk -F: '{ n += $2 } END { print n }')" \
	$((3 * ROUNDS)) "a log: the halts, each once"
done_testing
