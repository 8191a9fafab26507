# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2317 # check and wait_for call functions
#
# suite.sh - kvmtop on a host whose kvm_exit fires: what it counts is what happened, to the exit.
#
# Runs inside an emulated host (see lib.sh beside it), as root, in busybox's shell, and prints TAP.
# Most cases compare three numbers: what the guest was told to do, what kvmtop counts, and what the
# kernel's trace or debugfs file has. A guest makes exits only between guest_go and guest_done, so
# that all samples before have the same numbers, and all samples after, however slow the emulation
# is.
. tests/lib.sh
. tests/hosts/inside.sh
. tests/hosts/suite_exits.sh
. tests/hosts/suite_views.sh
. tests/hosts/suite_traces.sh
. tests/hosts/suite_where.sh
. tests/hosts/suite_why.sh
. tests/hosts/suite_host.sh
. tests/hosts/suite_boxes.sh

# They run after before_the_module and before module_goes_and_comes, which always run. CASE:perf
# runs with the engine perf.
CASES="host_log host_batch filters one_guest by_guest debugfs account cost both_providers
interpreted_bpf guests_come_and_go cpu_goes_and_comes cpu_comes late_children exits_exact
exits_without_btf exits_pulled_away exits_times exits_open exits_long exits_long_untraced
exits_waits exits_options exits_arguments exits_queues exits_faults exits_beside_bpf exits_halt
exits_polls exits_kicks exits_nested exits_brief where_code where_emulation guest_code lock_holder
why_blocked findings host_waits host_who host_who_vhost host_who_softirq host_who_quota
host_vhost host_interrupts host_throttled boxes clock_steps both_engines views_exact screen_views
record_exact record_killed host_log:perf cpu_comes:perf"
ENGINE=bpf

CPU1=/sys/devices/system/cpu/cpu1/online

unload_modules() {
	tac /modules/order | while read -r m_name; do
		rmmod "$m_name" || return 1
	done
}

trace_begin() {
	mkdir "$INSTANCE" && echo 8192 >"$INSTANCE/buffer_size_kb" &&
		echo 1 >"$INSTANCE/events/$SYSTEM/$EXIT/enable" &&
		echo 1 >"$INSTANCE/events/$SYSTEM/$ENTRY/enable"
}

trace_end() {
	rmdir "$INSTANCE"
}

before_the_module() {
	section "before the module"
	if [ ! -e /modules/order ]; then
		skip "before the kvm module is loaded" "KVM is built in"
		return
	fi
	is "$(status_of kvmtop -1)" 1 "without the kvm module kvmtop -1 fails"
	like "$(cat "$TMP/err")" '^kvmtop: tracepoint: .*load the kvm module' \
		"and says what to load"
	is "$(status_of kvmtop -1 -d)" 1 "so does kvmtop -1 -d"
	like "$(cat "$TMP/err")" \
		'^kvmtop: debugfs: .*load the kvm module.*; account: .*load the kvm module' \
		"and says so too"
	if ! has_screen; then
		skip "the screen waits for the module" "$T_no_screen"
		load_modules
		return
	fi
	screen_start 100 30 "exec kvmtop --view events -s 0.3 --engine $ENGINE"
	screen_has 'load the kvm module' "the screen says so and waits" 30
	load_modules
	guest early --mmio 123
	b_seen=124 # and the mark
	[ "$MORE_MMIO" = 0 ] || b_seen='12[5-9]' # and the end of the halt behind it
	check "and goes on when it has come" wait_for 30 screen_lacks 'load the kvm module'
	wait_fds "$(screen_pid)"
	guest_run early
	screen_has "kvm_userspace_exit +$b_seen " "and counts" 30
	screen_quits
	stop "$GUEST"
}

# check_plan PIO MMIO CPUID ROUNDS NAME: $TMP/counted has what the guest was told to do. On x86
# other exits than MMIO writes have the same reason, so these are not compared.
check_plan() {
	is "$(counted "$EXIT($PIO)")" $(($1 * $4)) "$5: $EXIT($PIO) is the plan's"
	is "$(counted "$EXIT($CPUID)")" "$(cpuids "$3" "$4")" "$5: $EXIT($CPUID) is the plan's"
	[ "$MORE_MMIO" = 0 ] || is "$(counted "$EXIT($MMIO)")" $((($2 + 1) * $4)) \
		"$5: $EXIT($MMIO) is the plan's"
	[ "$MARK" = "$CPUID" ] || is "$(counted "$EXIT($MARK)")" "$4" \
		"$5: $EXIT($MARK) is the plan's"
}

# check_exits NAME [PID]: $TMP/counted has the same number of each reason as the trace.
check_exits() {
	c_name=$1
	shift
	is "$(counted_reasons "$EXIT")" "$(trace_reasons "$@")" \
		"$c_name: every reason has the kernel's name and number"
	is "$(counted "$EXIT")" "$(exits_of "$@")" "$c_name: $EXIT is all of them"
	is "$(counted_sum "$EXIT")" "$(counted "$EXIT")" "$c_name: no exit is without a reason"
}

host_log() {
	section "the log"
	guest one --pio 150 --mmio 100 --cpuid 250 --rounds 2
	log_begin
	trace_clear
	guest_run one
	log_end
	stop "$GUEST"
	check_plan 150 100 250 2 "log"
	check_exits "log"
	is "$(counted "$ENTRY")" "$(trace_of | grep -c " $ENTRY: ")" "log: $ENTRY"
	is "$(counted "$ENTRY")" "$(counted "$EXIT")" "log: each entry has its exit"
	if [ "$has_pio" = yes ]; then
		is "$(counted kvm_pio)" 300 "log: kvm_pio"
		is "$(counted kvm_mmio)" 200 "log: kvm_mmio"
		is "$(counted kvm_cpuid)" 500 "log: kvm_cpuid"
		is "$(counted kvm_userspace_exit)" 502 "log: kvm_userspace_exit"
		is "$(counted_reasons kvm_userspace_exit)" "HLT 2
IO 300
MMIO 200" "log: and its reasons"
	else
		[ "$has_mmio" = no ] || is "$(counted kvm_mmio)" 202 "log: kvm_mmio"
		is "$(counted "kvm_userspace_exit(MMIO)")" 202 "log: kvm_userspace_exit(MMIO)"
	fi
	is "$(cat "$TMP/log.err")" "" "log: nothing to complain about"
}

host_batch() {
	section "the batch"
	guest one --pio 70 --mmio 30 --cpuid 110 --rounds 3
	batch_begin -f "^($EXIT|$ENTRY)"
	trace_clear
	guest_run one
	batch_end
	stop "$GUEST"
	check_plan 70 30 110 3 "batch"
	check_exits "batch"
	is "$(counted "$ENTRY")" "$(counted "$EXIT")" "batch: each entry has its exit"
	is "$(awk '$2 != $3' "$TMP/batch")" "" "batch: the only interval's delta is the total"
	is "$BATCH_STATUS" 0 "batch: exit status"
}

filters() {
	section "-f"
	guest one --pio 40 --cpuid 60 --rounds 1
	batch_begin -f "$EXIT\\($PIO\\)"
	guest_run one
	batch_end
	stop "$GUEST"
	is "$(counted "$EXIT($PIO)")" 40 "-f of one reason counts it"
	is "$(counted "$EXIT($CPUID)")" none "and no other"
}

# two_guests: starts left, with one vCPU, and right, with two; two_run: both run at the same time.
two_guests() {
	guest left --pio 200 --cpuid 50 --rounds 2
	left=$GUEST
	guest right --pio 90 --cpuid 330 --rounds 1 --vcpus 2
	right=$GUEST
}

two_run() {
	trace_clear
	guest_go left
	guest_go right
	guest_done left
	guest_done right
}

two_stop() {
	stop "$left"
	stop "$right"
}

one_guest() {
	section "-p, -g"
	two_guests
	log_begin -f "^($EXIT|$ENTRY)" -p "$right"
	two_run
	log_end
	check_exits "-p" "$right"
	is "$(counted "$EXIT($PIO)") $(counted "$EXIT($CPUID)")" "180 $(cpuids 330 2)" \
		"-p: one guest's own, of both vCPUs"
	two_stop

	two_guests
	batch_begin -f "^($EXIT|$ENTRY)" -g left
	two_run
	batch_end
	check_exits "-g" "$left"
	is "$(counted "$EXIT($PIO)") $(counted "$EXIT($CPUID)")" "400 $(cpuids 50 2)" \
		"-g: one guest's own"
	two_stop
}

by_guest() {
	section "-b"
	two_guests
	batch_begin -b
	two_run
	batch_end
	is "$(counted left) $(counted right)" "$(exits_of "$left") $(exits_of "$right")" \
		"-b: $EXIT by guest"
	two_stop
}

debugfs() {
	section "-d"
	two_guests
	debugfs_values >"$TMP/before"
	batch_begin -d
	two_run
	batch_end
	debugfs_values >"$TMP/after"
	is "$(debugfs_differs "$TMP/before" "$TMP/after")" "" "-d: what the files grew by, each"
	is "$(cat "$TMP/batch.err")" "" "-d: nothing to complain about: no lockdown here"
	isnt "$(counted pages_4k)" 0 "-d: there are pages to be told of"

	batch_begin -d -i
	batch_end
	is "$(debugfs_differs /dev/null "$TMP/after")" "" "-d -i: what the files say, each"
	batch_begin -d -i -p "$right"
	batch_end
	debugfs_values "$right" >"$TMP/after"
	is "$(debugfs_differs /dev/null "$TMP/after")" "" "-d -i -p: what one guest's files say"
	if [ "$has_pio" = yes ]; then
		is "$(counted io_exits) $(counted mmio_exits)" "180 0" \
			"-d -i -p: the plan's port writes"
		batch_begin -d -b -i
		batch_end
		is "$(counted left) $(counted right)" \
			"$(debugfs_value exits "$left") $(debugfs_value exits "$right")" \
			"-d -b: exits by guest"
	fi
	two_stop
}

# by_vcpu COUNTER: what the vCPUs of the guest right have counted, in their order.
by_vcpu() {
	kvmtop -1 -i --view vcpus -p "$right" -f "^$1\$" 2>"$TMP/err" |
		awk '$1 == "right" { print $5 }'
}

# huge_share PID: the share of its memory in huge pages, by debugfs, as JSON has it.
huge_share() {
	echo "$(debugfs_value pages_4k "$1") $(debugfs_value pages_2m "$1")" \
		"$(debugfs_value pages_1g "$1")" |
		awk '{ huge = $2 * 512 + $3 * 262144
			if ($1 + huge) printf "%.3f", 100 * huge / ($1 + huge); else print "null" }'
}

# The account has no table of its own: each counter must be debugfs' one, of each guest. debugfs
# has no vCPUs: one of a guest with one is the guest's, and two must make the sum.
account() {
	section "--cost none: the account"
	account_works=$(kvmtop --list-providers | sed -n '/^account/{n;p}')
	case $account_works in
	*"works here"*) ;;
	*) skip "the account" "$account_works" && return ;;
	esac
	two_guests
	debugfs_values >"$TMP/before"
	batch_begin --cost none
	two_run
	batch_end
	debugfs_values >"$TMP/after"
	is "$(debugfs_differs "$TMP/before" "$TMP/after")" "" "--cost none: what the files grew by"
	is "$(cat "$TMP/batch.err")" "" "--cost none: nothing to complain about"
	for account_pid in "$left" "$right"; do
		batch_begin -i -p "$account_pid"
		batch_end
		debugfs_values "$account_pid" >"$TMP/after"
		is "$(debugfs_differs /dev/null "$TMP/after")" "" \
			"-i -p: what the guest's files say, each"
	done
	is "$(kvmtop -1 --cost none --view guests -p "$right" --json |
		sed -n 's/.*"huge_percent":\([^,]*\),.*/\1/p')" "$(huge_share "$right")" \
		"--cost none --view guests: the share of huge pages"
	for account_of in exits halt_exits halt_wakeup; do
		[ -n "$(debugfs_value "$account_of" "$right")" ] || continue # of x86 alone
		is "$(by_vcpu "$account_of" | awk '{ n += $1 } END { print NR, n + 0 }')" \
			"2 $(debugfs_value "$account_of" "$right")" \
			"-i --view vcpus: $account_of of both vCPUs"
	done
	[ "$has_pio" = no ] || is "$(by_vcpu io_exits | tr '\n' ' ')" "90 90 " \
		"-i --view vcpus: the port writes of each"
	two_stop
}

# has_own_cost: the latest object of $TMP/host.json says what kvmtop takes.
has_own_cost() {
	tail -n 1 "$TMP/host.json" | grep -q '"kvmtop":{"exit_ns":[0-9]*,"percent":[0-9.]*},'
}

# brief_total NAME: of the guest, in the latest sample that has it.
brief_total() {
	tr '{' '\n' <"$TMP/brief.json" |
		sed -n "s/.*\"guest\":\"$1\".*\"total\":\([0-9]*\),.*/\1/p" | tail -n 1
}

# A guest that is there at no sample, and what another one counts after the last sample before its
# end.
cost_brief() {
	[ "$has_pio" = no ] && return
	guest leaves --pio 100 --rounds 2
	spawn kvmtop -l --json --cost none --view guests -f '^io_exits$' -s 6 -n 3 \
		>"$TMP/brief.json" 2>"$TMP/err"
	wait_for 60 samples_or_ended "$SPAWNED"
	guest_run leaves
	stop "$GUEST" KILL
	miniguest --name brief --pio 300 --rounds 3 >/dev/null
	wait_for 60 grep -q '"brief"' "$TMP/brief.json"
	is "$(brief_total brief)" 900 \
		"--cost none: a guest that no sample sees has its name and its exits"
	is "$(brief_total leaves)" 200 "and one that ends has its last ones"
	stop "$SPAWNED"
}

# With --cost none nothing runs on an event, and KVM's own counters are what debugfs says. Else
# kvmtop says what it takes of each exit, and kvmtop why above a limit.
cost() {
	section "--cost"
	two_guests
	debugfs_values >"$TMP/before"
	batch_begin --cost none
	is "$(on_events "$BATCH")" 0 "--cost none: nothing is on any event"
	two_run
	batch_end
	debugfs_values >"$TMP/after"
	is "$(debugfs_differs "$TMP/before" "$TMP/after")" "" "--cost none: what the files grew by"
	is "$(cat "$TMP/batch.err")" "" "--cost none: nothing to complain about"
	two_stop
	cost_brief
	guest busy --cpuid 1000000 --rounds 0
	guest_go busy
	spawn kvmtop -l --json --view host -s 1 >"$TMP/host.json" 2>"$TMP/err"
	check "what kvmtop takes of an exit" wait_for 60 has_own_cost
	stop "$SPAWNED"
	echo 'kvmtop_ratio = 0.0001' >"$TMP/thresholds"
	why_by "$TMP/thresholds"
	finds kvmtop busy 'ns of each exit'
	stop "$GUEST"
}

# Debian's kernels for RISC-V, and for POWER, which has no BTF of KVM besides.
interpreted_bpf() {
	section "interpreted BPF"
	if [ "$(cat /proc/sys/net/core/bpf_jit_enable)" != 0 ]; then
		skip "interpreted BPF" "this kernel translates it"
		return
	fi
	like "$(kvmtop --list-providers)" \
		'no BTF of KVM|interprets BPF.*: net.core.bpf_jit_enable is 0' \
		"what BPF lacks is said"
	like "$(kvmtop --list-providers | sed -n '/^tracepoint/{n;p}')" 'works here' \
		"and events are counted without it"
}

both_providers() {
	section "-d -t"
	guest one --pio 80 --mmio 20 --rounds 2
	batch_begin -d -t -f "^($EXIT|exits|mmio_exit.*|ld|st)\$"
	guest_run one
	batch_end
	stop "$GUEST"
	like "$(counted "$EXIT")" '^[1-9]' "-d -t: the tracepoint"
	[ "$has_pio" = no ] ||
		is "$(counted exits)" "$(counted "$EXIT")" "-d -t: and debugfs say the same"
}

# json_begin NAME OPTION...: a JSON log in $TMP/NAME.json; NAME joins $LOGS, its pid $LOG_PIDS.
json_begin() {
	j_name=$1
	shift
	spawn kvmtop -l --json -s 0.1 --engine "$ENGINE" "$@" >"$TMP/$j_name.json" \
		2>"$TMP/$j_name.err"
	LOGS="$LOGS $j_name"
	LOG_PIDS="$LOG_PIDS $SPAWNED"
	wait_for 120 json_has "$j_name" 2
}

json_has() {
	[ "$(grep -c . "$TMP/$1.json")" -ge "$2" ]
}

# json_more: waits until each log has two more records: what happened before is in them.
json_more() {
	for j_name in $LOGS; do
		wait_for 60 json_has "$j_name" $(($(grep -c . "$TMP/$j_name.json") + 2)) ||
			not_ok "kvmtop -l --json: $j_name goes on" "$(cat "$TMP/$j_name.err")"
	done
}

# json_totals NAME: prints for each record the sum of all rows' totals. The latest total of a guest
# that has ended is in the sum, too.
json_totals() {
	sed 's/{"/\n{"/g' "$TMP/$1.json" | awk '
	/"rows"/ && nr++ { print sum }
	{ key = match($0, /"pid":[0-9]+/) ? substr($0, RSTART, RLENGTH) : "" }
	match($0, /"total":[0-9]+/) {
		total = substr($0, RSTART + 8, RLENGTH - 8)
		sum += total - last[key]
		last[key] = total
	}
	END { print sum }'
}

# Guests come, run and go under four logs: nothing is lost, no total goes back.
guests_come_and_go() {
	section "guests that come and go"
	LOGS=
	LOG_PIDS=
	guest first --pio 30 --cpuid 60
	first=$GUEST
	json_begin "-l" -f "^$EXIT\$"
	json_begin "-l-b" -b -f "^$EXIT\$"
	if [ "$has_pio" = yes ]; then
		json_begin "-l-d" -d -f '^exits$'
		json_begin "-l-d-b" -d -b -f '^exits$'
	fi
	trace_clear
	guest_run first
	json_more
	for c_guest in second third; do
		guest "$c_guest" --pio 45 --cpuid 70
		json_more
		guest_run "$c_guest"
		json_more
		stop "$GUEST"
		json_more
	done
	stop "$first"
	json_more
	for c_pid in $LOG_PIDS; do
		stop "$c_pid"
	done
	for c_log in $LOGS; do
		is "$(json_totals "$c_log" | tail -n 1)" "$(exits_of)" \
			"$c_log: what three guests that came and went did, to the exit"
		is "$(json_totals "$c_log" | awk '$1 < was { print was, $1 } { was = $1 }')" "" \
			"$c_log: the total never went back"
	done
}

set_cpu1() {
	echo "$1" >"$CPU1"
}

# CPU 1 goes offline and comes back while its guest runs. The guest is moved to CPU 1 only when
# kvmtop counts there: it counts on a new CPU from the next sample on.
cpu_goes_and_comes() {
	section "a CPU that goes and comes"
	if [ ! -w "$CPU1" ]; then
		skip "CPUs that go and come" "CPU 1 cannot be taken offline here"
		return
	fi
	guest hot --pio 20 --cpuid 10 --rounds $((100 * SLOW)) --pause 50000
	taskset -a -p 2 "$GUEST" >/dev/null
	log_begin -f "^$EXIT"
	spawn kvmtop -l -c -s 0.1 --engine "$ENGINE" -f "^$EXIT" -p "$GUEST" \
		>"$TMP/log.pid" 2>&1
	log_pid=$SPAWNED
	wait_for 60 test -s "$TMP/log.pid"
	log_more
	[ "$ENGINE" = perf ] || exits_begin -p "$GUEST"
	trace_clear
	guest_go hot
	log_more 3
	check "CPU 1 goes offline" set_cpu1 0
	log_more 3
	taskset -a -p 1 "$GUEST" >/dev/null
	check "and comes back" set_cpu1 1
	log_more
	wait_fds "$LOG"
	taskset -a -p 2 "$GUEST" >/dev/null
	log_more 3
	unlike "$(cat "$TMP/hot.out")" '^done' "the guest ran all the time"
	guest_done hot
	log_end
	stop "$log_pid"
	[ "$ENGINE" = perf ] || exits_end
	stop "$GUEST"
	like "$(trace_of | sed 's/.*\[\([0-9]*\)\].*/\1/' | sort | uniq -c | tr '\n' ' ')" \
		'[0-9]+ 000 +[0-9]+ 001' "on both CPUs"
	check_plan 20 0 10 $((100 * SLOW)) "CPU 1 gone and back"
	check_exits "CPU 1 gone and back"
	sums "$TMP/log.pid" >"$TMP/counted"
	check_exits "CPU 1 gone and back, -p"
	[ "$ENGINE" = perf ] || is "$(exit_of total "" "$PIO")" $((2000 * SLOW)) \
		"CPU 1 gone and back, exits"
}

# kvmtop starts while a CPU is offline, and counts on it when it is online.
cpu_comes() {
	section "a CPU that comes"
	if [ ! -w "$CPU1" ]; then
		skip "a CPU that comes is counted" "CPU 1 cannot be taken offline here"
		return
	fi
	set_cpu1 0
	log_begin -f "^$EXIT"
	check "CPU 1 comes after the start" set_cpu1 1
	guest cold --pio 40 --cpuid 20 --rounds 2
	taskset -a -p 2 "$GUEST" >/dev/null
	log_more
	wait_fds "$LOG"
	trace_clear
	guest_run cold
	log_end
	stop "$GUEST"
	check_exits "CPU 1 came later"
	is "$(trace_of | sed 's/.*\[\([0-9]*\)\].*/\1/' | sort -u)" 001 "where all of it happened"
}

# Reasons that are opened late (key x) count from then on; their event goes on counting.
late_children() {
	section "the screen"
	if ! has_screen; then
		skip "reasons that are opened late" "$T_no_screen"
		return
	fi
	guest before --pio 31 --rounds 1
	before=$GUEST
	guest after --pio 470 --cpuid 290 --rounds 1
	after=$GUEST
	screen_start 100 40 "exec kvmtop -s 0.3 --engine $ENGINE -f ^$EXIT"
	wait_for 120 samples_or_ended "$(screen_pid)"
	trace_clear
	guest_run before
	screen_has "[^_]$EXIT +$(on_screen "$(exits_of "$before")") " "the screen: $EXIT"
	screen_keys x
	wait_fds "$(screen_pid)"
	guest_run after
	screen_has " $PIO +470 " "x: reasons count from then on"
	screen_has " $CPUID +$(cpuids 290 1) " "x: each of them"
	screen_has "[^_]$EXIT +$(on_screen "$(exits_of)") " "x: their event goes on"
	screen_keys x
	sleep 1
	wait_fds "$(screen_pid)"
	screen_keys x
	wait_fds "$(screen_pid)"
	guest again --pio 55 --rounds 1
	guest_run again
	screen_has " $PIO +55 " "x, x: counted anew"
	stop "$GUEST"
	screen_quits
	stop "$before"
	stop "$after"
}

# The wall clock is set back an hour under a log and under a notice of the screen, and forth again.
clock_steps() {
	section "the clock is set back"
	LOGS=
	LOG_PIDS=
	guest steady --pio 100 --rounds 2
	json_begin steps --view exits
	s_has_screen=no
	if has_screen; then
		s_has_screen=yes
		screen_start 100 30 "exec kvmtop --view events -s 0.3"
		screen_wait 'kvm_exit|Nothing|No ' 30
		screen_keys %
		screen_has 'This key does nothing here' "the screen has a notice" 30
	fi
	date -s "@$(($(date +%s) - 3600))" >/dev/null
	guest_run steady
	json_more
	[ "$s_has_screen" = no ] || check "the notice goes all the same" \
		wait_for 30 screen_lacks 'This key does nothing here'
	date -s "@$(($(date +%s) + 3600))" >/dev/null
	json_more
	for s_pid in $LOG_PIDS; do
		stop "$s_pid"
	done
	[ "$s_has_screen" = no ] || screen_quits
	stop "$GUEST"
	sed -n 's/.*"elapsed_s":\([^,]*\).*/\1/p' "$TMP/steps.json" >"$TMP/elapsed"
	is "$(awk '!($1 > 0 && $1 < 60)' "$TMP/elapsed")" "" "no interval is negative or an hour"
	is "$(grep -o "\"reason\":\"$PIO\"[^}]*" "$TMP/steps.json" |
		sed 's/.*"delta":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum }')" 200 \
		"the exits are the plan's"
	is "$(sed 's/{"/\n{"/g' "$TMP/steps.json" | awk '
	match($0, /"elapsed_s":[0-9.]+/) { s = substr($0, RSTART + 12, RLENGTH - 12) }
	match($0, /"delta":[0-9]+/) {
		delta = substr($0, RSTART + 8, RLENGTH - 8)
		match($0, /"rate":[0-9.]+/)
		off = substr($0, RSTART + 7, RLENGTH - 7) * s - delta
		if (off * off > (0.02 * delta + 0.1) ^ 2)
			print
	}')" "" "and their rates those of the intervals"
}

# The static program, on a host without shared libraries.
static_program() {
	section "the static program"
	if [ ! -x /static/kvmtop ]; then
		skip "the static program" "it cannot be built here"
		return
	fi
	s_path=$PATH
	PATH=/static:$PATH
	is "$(command -v kvmtop)" /static/kvmtop "static: it is the one that is run"
	host_batch
	! must_work || exits_exact
	PATH=$s_path
}

no_kvmtop() {
	! pidof kvmtop >/dev/null
}

# debugfs keeps no module: it goes and comes back under a log.
module_goes_and_comes() {
	section "the module goes and comes"
	if [ ! -e /modules/order ]; then
		skip "the module goes and comes back" "KVM is built in"
		return
	fi
	wait_for 120 no_kvmtop
	guest old --pio 30
	log_begin -d
	guest_run old
	was=$(debugfs_value "$EXITS_FILE")
	log_more
	stop "$GUEST"
	log_more
	check "the modules are unloaded, nothing holds them" unload_modules
	log_more
	load_modules
	log_more
	guest new --pio 50
	log_more
	guest_run new
	is=$(debugfs_value "$EXITS_FILE")
	log_end
	stop "$GUEST"
	is "$(counted "$EXITS_FILE")" $((was + is)) "and come back: both guests' exits are counted"
	[ "$has_pio" = no ] || is "$(counted io_exits)" 80 "and all port writes"
}

# may_leave_out: the kernel can be preempted in a BPF program on a raw event (from Linux 7 on), and
# does not run the program for other threads of that CPU until then.
LEFT_OUT="the kernel was at work on another BPF program"
may_leave_out() {
	[ "$(uname -r | cut -d. -f1)" -ge 7 ]
}

# run_case FUNCTION: runs a case, and repeats it if it fails and kvmtop says that the kernel left
# exits out. With two busy threads on a CPU this is one case in four.
run_case() {
	r_nr=$T_nr r_failed=$T_failed
	for r_try in 1 2 3 4; do
		if ! may_leave_out || [ $r_try = 4 ]; then
			$1
			return
		fi
		$1 >"$TMP/case.out"
		if [ "$T_failed" = "$r_failed" ] || ! grep -q "$LEFT_OUT" "$TMP/case.out"; then
			cat "$TMP/case.out"
			return
		fi
		diag "$(cat "$TMP/case.out")"
		disturbed "$1, by the kernel" $r_try 4
		T_nr=$r_nr T_failed=$r_failed
	done
}

cases=$(cat /tests/hosts/cases)
diag "$(uname -mr), $(nproc) CPUs"
ENGINE_HERE=bpf
must_work || ENGINE_HERE=perf
ENGINE=$ENGINE_HERE
before_the_module
trace_begin
# Without BTF there is no BPF: what perf events and debugfs count.
WITHOUT_BPF=" debugfs interpreted_bpf exits_without_btf static_program "
for case in ${cases:-$CASES}; do
	ENGINE=$ENGINE_HERE
	[ "$case" = "${case%:*}" ] || ENGINE=${case#*:}
	case $WITHOUT_BPF$case in
	*" $case "* | *:perf) ;;
	*)
		if ! must_work; then
			skip "$case" "this kernel has no BTF of KVM, or interprets BPF"
			continue
		fi
		;;
	esac
	run_case "${case%:*}"
done
ENGINE=$ENGINE_HERE
trace_end
module_goes_and_comes
section "the end"
kernel_is_content
done_testing
