# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2317 # variables of inside.sh; wait_for calls functions
#
# service.sh - systemd runs kvmtop's services. The history of kvmtop-history.service has each exit,
# over a restart and a kill, inside the sandbox, and with options of a drop-in.
# kvmtop-prometheus.service writes node_exporter's file, kvmtop-listen.socket answers.
#
# Runs as a unit of systemd in an emulated host (see svm-service.sh), in place of suite.sh.
PATH=/usr/bin:/bin
export PATH
/bin/busybox --install -s /bin
cd / || exit 1
. tests/lib.sh
. tests/hosts/inside.sh

UNIT=kvmtop-history.service
DB=/var/lib/kvmtop/history.db
DROP_IN=/etc/systemd/system/$UNIT.d

# property NAME: the unit's property, from systemd.
property() {
	systemctl show --value -p "$1" $UNIT
}

samples() {
	kvmtop -r $DB -l --json --view exits 2>"$TMP/err" | wc -l
}

has_samples() {
	[ "$(samples)" -ge "$1" ]
}

# more_samples: waits for two more samples: what happened before is in the file then.
more_samples() {
	wait_for 60 has_samples $(($(samples) + 2))
}

# drop_in LINE...: writes what `systemctl edit` would write.
drop_in() {
	mkdir -p $DROP_IN
	printf '%s\n' "[Service]" "$@" >$DROP_IN/override.conf
	systemctl daemon-reload
}

# other_process PID: the unit runs, and its process is not PID.
other_process() {
	o_pid=$(property MainPID)
	[ "$(property ActiveState)" = active ] && [ "$o_pid" != 0 ] && [ "$o_pid" != "$1" ]
}

# exits_of_guest NAME: how many exits of the guest's plan are in the file.
exits_of_guest() {
	kvmtop -r $DB -c --view exits --from @0 -1 -g "$1" 2>"$TMP/err" | awk -F, -v pio="$PIO" \
		-v cpuid="$CPUID" "$CSV_AT"'
		$at("reason") == pio || $at("reason") == cpuid {
			print $at("reason"), $at("delta")
		}' | sort
}

# run_guest NAME: runs a guest with a plan of 77 port writes and 55 CPUIDs.
run_guest() {
	guest "$1" --pio 77 --cpuid 55
	more_samples
	guest_run "$1"
	check "$1: its samples are written" more_samples
	stop "$GUEST"
}

# is_sandboxed PID: the process has the capabilities that the unit allows, and no other.
is_sandboxed() {
	is "$(sed -n 's/^\(NoNewPrivs\|Seccomp\):[[:blank:]]*//p' "/proc/$1/status" |
		tr '\n' ' ')" "1 2 " \
		"it gets no privileges, and only the system calls that are listed"
	check "and no devices" test ! -e "/proc/$1/root/dev/kvm"
	is "$(sed -n 's/^CapEff:[[:blank:]]*//p' "/proc/$1/status")" \
		"$(sed -n 's/^CapBnd:[[:blank:]]*//p' "/proc/$1/status")" \
		"and as few capabilities as the unit lists"
	exposure=$(systemd-analyze security $UNIT 2>&1 |
		sed -n 's/.*exposure level for [^:]*: \([0-9.]*\).*/\1/p')
	diag "systemd-analyze security: $exposure"
	check "systemd-analyze security: at most 3 of 10" \
		awk -v exposure="$exposure" 'BEGIN { exit !(exposure != "" && exposure <= 3) }'
	is "$(systemd-analyze verify --man=no $UNIT 2>&1)" "" "systemd-analyze verify"
}

# has_plan COMMAND...: the command prints the exits of the latest guest's plan.
has_plan() {
	"$@" >"$TMP/text" 2>/dev/null
	grep -qxF "kvmtop_exits_total{guest=\"$g_name\",reason=\"$PIO\"} 77" "$TMP/text" &&
		grep -qxF "kvmtop_exits_total{guest=\"$g_name\",reason=\"$CPUID\"} 55" "$TMP/text"
}

# night: two guests share a CPU, and the VMM of one takes 20 ms for each port write. $AT is a moment
# of that, in seconds.
night() {
	guest neighbour --cpuid 1000000 --rounds 0
	n_neighbour=$GUEST
	guest night --pio 300 --answer 20000 --spin
	taskset -a -p 2 "$n_neighbour" >/dev/null
	taskset -a -p 2 "$GUEST" >/dev/null
	guest_go neighbour
	guest_go night
	more_samples
	more_samples
	AT=$(date +%s)
	more_samples
	more_samples
	stop "$GUEST"
	stop "$n_neighbour"
}

# then_was VIEW: the view at that moment.
then_was() {
	kvmtop -r $DB -1 --view "$1" --at "@$AT" 2>&1
}

plan=$(printf '%s\n' "$PIO 77" "$CPUID 55" | sort)

load_modules
# The unit's ten seconds between samples are too long for a test. It keeps what the unit keeps.
KEEP=$(sed -n 's/^Environment=.*\(--keep [a-z,]*\).*/\1/p' /etc/systemd/system/$UNIT)
is "$KEEP" "--keep hotspots,who,long" "the unit keeps hot spots, who and long exits"
options="-s 0.5 --max-age 1d --max-size 100M $KEEP"
drop_in "Environment=\"KVMTOP_HISTORY=$options\"" RestartSec=1s
section "start"
is "$(status_of systemctl start $UNIT)" 0 "systemctl start"
check "it writes" wait_for 120 has_samples 2
first=$(property MainPID)
is "$(tr '\0' ' ' <"/proc/$first/cmdline")" \
	"/usr/bin/kvmtop -w $DB $options " \
	"with the options of a drop-in"
is "$(stat -c '%a %u' ${DB%/*} $DB | tr '\n' ' ')" "750 0 640 0 " \
	"what it writes is not for all users"
run_guest one

section "sandbox"
is_sandboxed "$first"
like "$(kvmtop -r $DB -1 --json --view exits -g one --from @0)" '"time_ns":[1-9]' \
	"BPF is among them: exits have times"

night

section "restart"
seen=$(samples)
is "$(status_of systemctl restart $UNIT)" 0 "systemctl restart"
check "another process writes" wait_for 60 other_process "$first"
check "what was there is still there" has_samples "$seen"
wait_for 60 has_samples $((seen + 1))
run_guest two

section "kill -9"
second=$(property MainPID)
seen=$(samples)
systemctl kill -s KILL $UNIT
check "systemd starts it again" wait_for 60 other_process "$second"
check "with all that was there" has_samples "$seen"
wait_for 60 has_samples $((seen + 1))
run_guest three

section "stop"
seen=$(samples)
is "$(status_of systemctl stop $UNIT)" 0 "systemctl stop"
is "$(property ActiveState) $(property Result)" "inactive success" "ends it well"
check "and all samples are there" has_samples "$seen"
is "$(ls ${DB%/*})" "${DB##*/}" "in one file"
for name in one two three; do
	is "$(exits_of_guest $name)" "$plan" "each exit of guest $name is in the history, once"
done

section "the night, two restarts later"
like "$(then_was hotspots)" '^io +0x[0-9a-f]+ write .* night ' "the port that the guest wrote to"
like "$(then_was who)" 'neighbour vCPU 0 +guest ' "the neighbour that had its CPU"
like "$(then_was long)" ' io .*0x[0-9a-f]+ write .* night ' "the long exit"
like "$(then_was why)" 'who had the CPU: neighbour vCPU 0' "the findings name the neighbour"
like "$(then_was why)" 'most: io 0x[0-9a-f]+ write' "the port"
like "$(then_was why)" 'longest: io 0x[0-9a-f]+ write' "and the long exit"

section "limits"
drop_in 'Environment="KVMTOP_HISTORY=-s 0.1 --max-age 1s --max-size 50M"'
is "$(status_of systemctl start $UNIT)" 0 "with another drop-in it starts"
forgets() {
	[ -z "$(exits_of_guest three)" ]
}
check "--max-age: what is older goes" wait_for 240 forgets
is "$(status_of systemctl stop $UNIT)" 0 "and ends"

section "a file for Prometheus"
UNIT=kvmtop-prometheus.service
DROP_IN=/etc/systemd/system/$UNIT.d
FILE=/var/lib/prometheus/node-exporter/kvmtop.prom
mkdir -p ${FILE%/*}
drop_in "Environment=\"KVMTOP_PROMETHEUS=$FILE -s 0.5\""
is "$(status_of systemctl start $UNIT)" 0 "systemctl start"
check "it writes" wait_for 120 test -s $FILE
is "$(stat -c '%a %u %g' $FILE)" "644 0 0" "root's file, for all to read"
is_sandboxed "$(property MainPID)"
check "it has no network" test ! /proc/self/ns/net -ef "/proc/$(property MainPID)/ns/net"
guest four --pio 77 --cpuid 55
guest_run four
check "each exit of a guest is in the file" wait_for 60 has_plan cat $FILE
stop "$GUEST"
is "$(status_of systemctl stop $UNIT)" 0 "systemctl stop"
is "$(property ActiveState) $(property Result)" "inactive success" "ends it well"

section "a server for Prometheus"
UNIT=kvmtop-listen.service
DROP_IN=/etc/systemd/system/$UNIT.d
drop_in 'Environment="KVMTOP_LISTEN=-s 0.5"'
is "$(status_of systemctl start kvmtop-listen.socket)" 0 "systemctl start of the socket"
is "$(property ActiveState)" inactive "counts nothing yet"
# id_of Uid|Gid: the service's user or group.
id_of() {
	sed -n "s/^$1:[[:blank:]]*\([0-9]*\).*/\1/p" "/proc/$(property MainPID)/status"
}
answers() {
	printf 'GET /%s HTTP/1.0\r\n\r\n' "$1" | nc 127.0.0.1 9752 | sed '1,/^\r$/d'
}
is "$(answers healthz)" ok "who asks gets an answer"
is "$(property ActiveState)" active "of the service"
is_sandboxed "$(property MainPID)"
check "it is not root" test "$(id_of Uid)" -gt 0
check "it can open no other socket" \
	test ! /proc/self/ns/net -ef "/proc/$(property MainPID)/ns/net"
guest five --pio 77 --cpuid 55
guest_run five
check "each exit of a guest is in an answer" wait_for 60 has_plan answers metrics
stop "$GUEST"
is "$(status_of systemctl stop kvmtop-listen.socket $UNIT)" 0 "systemctl stop"
is "$(property ActiveState) $(property Result)" "inactive success" "ends it well"
# What kvmtop-group(8) does.
echo kvmtop:x:987: >>/etc/group
chown 0:987 /usr/bin/kvmtop
chmod 750 /usr/bin/kvmtop
is "$(status_of systemctl start kvmtop-listen.socket)" 0 "where only a group may start kvmtop"
is "$(answers healthz)" ok "the service does"
is "$(id_of Gid)" 987 "as its member"
is "$(status_of systemctl stop kvmtop-listen.socket $UNIT)" 0 "systemctl stop"
kernel_is_content
done_testing
