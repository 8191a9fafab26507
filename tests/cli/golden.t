#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What every mode without a screen prints about captured machines, compared with tests/golden/*.txt.
#
# UPDATE=1 tests/cli/golden.t writes these files anew; look at the difference before you keep it.
. tests/lib.sh

root=tests/sysroot
names=

# What differs from run to run: the time of day.
mask() {
	sed -E -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}/DATE TIME/' \
		-e 's/^(kvmtop_(start_time|sample_duration)_seconds) .*/\1 TIME/' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}[+][0-9]{2}:[0-9]{2}/DATETIME/'
}

# golden NAME ARGUMENT...: runs it beside the others, most of which wait for their second.
golden() {
	names="$names $1"
	{
		name=$1
		shift
		"$AT_ONCE" "$@" >"$TMP/$name.out" 2>"$TMP/$name.err" </dev/null
		status=$?
		{
			echo "\$ kvmtop $*"
			cat "$TMP/$name.out"
			sed 's/^/stderr: /' "$TMP/$name.err"
			[ "$status" = 0 ] || echo "status: $status"
		} | mask >"$TMP/$name.txt"
	} &
}

compare() {
	wait
	for name in $names; do
		same_golden "$TMP/$name.txt" "tests/golden/$name.txt" "$name"
	done
	names=
}

for machine in amd intel arm64 lockdown no-kvm; do
	golden $machine-providers --sysroot $root/$machine --list-providers
	golden $machine-fields --sysroot $root/$machine -f help
	golden $machine-batch --sysroot $root/$machine -1
done
golden amd-debugfs-fields --sysroot $root/amd -d -f help
compare

golden amd-prometheus export --sysroot $root/amd --prometheus - -n 1 --metrics user
golden lockdown-prometheus export --sysroot $root/lockdown --prometheus - -n 1 \
	--metrics no-vcpus,events
golden metrics export --metrics help
golden amd-filter --sysroot $root/amd -1 -f 'exit.*(hlt|IO|MSR)'
golden lockdown-json --sysroot $root/lockdown -1 --json
golden amd-active --sysroot $root/amd -1 -z
golden amd-guests --sysroot $root/amd -1 -b
golden amd-guests-json --sysroot $root/amd -1 -b --json
golden amd-guest --sysroot $root/amd -1 -g web1
golden amd-pid --sysroot $root/amd -1 -p 115 -f kvm_exit
golden amd-tid --sysroot $root/amd -1 -p 123 -f kvm_exit
golden amd-debugfs --sysroot $root/amd -1 -d
golden amd-debugfs-past --sysroot $root/amd -1 -d -i
golden amd-debugfs-past-guest --sysroot $root/amd -1 -d -i -g db1 -f 'exits|pages'
golden amd-both --sysroot $root/amd -1 -d -t -i -f exits
golden amd-exits-fields --sysroot $root/amd --view exits -f help
golden amd-exits-filter --sysroot $root/amd -1 --view exits -f 'kvm_exit(io)'
golden amd-exits-no-match --sysroot $root/amd -1 --view exits -f kvm_entry
golden amd-hotspots-filter --sysroot $root/amd -1 --view hotspots -f 'kvm_exit\(io'
golden amd-host --sysroot $root/amd -1 --view host
golden amd-host-json --sysroot $root/amd -1 --view host --json
golden amd-host-guest --sysroot $root/amd -1 --view host -g db1
golden amd-host-csv --sysroot $root/amd -l -c -n 2 -s 0.1 --view host
golden lockdown-host --sysroot $root/lockdown -1 --view host
golden amd-vcpus-threads --sysroot $root/amd -1 --view vcpus -g db1
golden amd-vcpus-filter --sysroot $root/amd -1 --view vcpus -f kvm_userspace_exit
golden amd-sort-unlisted --sysroot $root/amd -1 --view exits -k hist
golden amd-no-match --sysroot $root/amd -1 -f nothing.is.called.this
golden intel-guests-json --sysroot $root/intel -1 -b --json
golden intel-wide-guest --sysroot $root/intel -1 -g データベース -f kvm_exit
golden arm64-guests-json --sysroot $root/arm64 -1 -b --json
golden arm64-debugfs-past --sysroot $root/arm64 -1 -d -i
golden lockdown-debugfs --sysroot $root/lockdown -1 -d -i
golden statistics-providers --sysroot $root/statistics --list-providers
golden statistics-debugfs --sysroot $root/statistics -1 -d -i -f 'exits|hist|blocking'
golden statistics-guests --sysroot $root/statistics -1 -d -i -b
golden statistics-vcpus --sysroot $root/statistics -1 -d -i --view vcpus
golden statistics-vcpus-filter --sysroot $root/statistics -1 -d -i --view vcpus -f halt_wakeup
golden amd-huge-guests --sysroot $root/amd -1 -d --cost times --view guests --json
golden cost-none-guests --sysroot $root/statistics -1 --cost none --view guests
golden cost-none-vcpus --sysroot $root/statistics -1 --cost none --view vcpus
golden cost-none-exits --sysroot $root/statistics -1 --cost none --view exits
golden cost-none-host --sysroot $root/statistics -1 --cost none --view host
golden statistics-fields --sysroot $root/statistics -d -f help
golden statistics-csv --sysroot $root/statistics -l -d -i -c -n 2 -s 0.1 -f '^exits|wait_hist'
compare

golden amd-log --sysroot $root/amd -l -n 3 -s 0.1
golden amd-log-reasons --sysroot $root/amd -l -n 3 -s 0.1 -x -f 'kvm_exit|kvm_pio'
golden amd-log-skip --sysroot $root/amd -l -n 3 -s 0.1 -z -f kvm_nested
golden amd-log-json --sysroot $root/amd -l -n 3 -s 0.1 --json -f '^kvm_(exit|pio)$'
golden amd-csv --sysroot $root/amd -l -c -n 3 -s 0.1 -f 'kvm_exit|kvm_pio'
golden amd-guests-log --sysroot $root/amd -l -n 3 -s 0.1 -b
golden no-kvm-log --sysroot $root/no-kvm -l -n 1
golden no-kvm-debugfs --sysroot $root/no-kvm -1 -d
golden no-kvm-both --sysroot $root/no-kvm -1 -d -t
golden no-such-machine --sysroot $root/nowhere -1
golden no-such-guest --sysroot $root/amd -1 -g web2
golden no-such-pid --sysroot $root/amd -1 -p 4711
golden not-a-guest --sysroot $root/amd -1 -p 1
compare

# A guest of another user, of which this one may not see the descriptors. To root of a container,
# without the capability, root is no remedy.
cp -r $root/amd "$TMP/denied"
rm -r "$TMP/denied/sys/kernel/debug"
chmod 711 "$TMP"
if chown 65534 "$TMP/denied/proc/112/fd" 2>/dev/null && setpriv --version >"$TMP/out" 2>&1; then
	chmod 700 "$TMP/denied/proc/112/fd"
	caps=-sys_ptrace,-dac_override,-dac_read_search
	like "$(setpriv --bounding-set=$caps --inh-caps=$caps \
		"$AT_ONCE" --sysroot "$TMP/denied" -1 -g web1 2>&1)" \
		'into these guests: 112 \(web1\): CAP_SYS_PTRACE is needed; there are: db1' \
		"root without the right to see a guest"
	mkdir "$TMP/denied/proc/9"
	cp "$TMP/denied/proc/1/"* "$TMP/denied/proc/9" 2>/dev/null
	mkdir -m 700 "$TMP/denied/proc/9/fd"
	chown 65534 "$TMP/denied/proc/9/fd"
	unlike "$(setpriv --bounding-set=$caps --inh-caps=$caps \
		"$AT_ONCE" --sysroot "$TMP/denied" --list-guests 2>&1)" 'other process' \
		"and a process that hides, and is no guest, is not mentioned"
	rm -r "$TMP/denied/proc/9"
	mkdir "$TMP/bin"
	cp "$KVMTOP" "$TMP/bin/kvmtop"
	like "$(setpriv --reuid=65533 --clear-groups \
		"$TMP/bin/kvmtop" --sysroot "$TMP/denied" -1 -p 112 2>&1)" \
		'no right to look into process 112: root or CAP_SYS_PTRACE is needed' \
		"and another user"
else
	skip "without the right to see a guest" "it needs root and setpriv"
fi

# The views of timed exits.
golden amd-timed-guests --sysroot $root/amd -1 --view guests --json
golden amd-guests-table --sysroot $root/amd -1 --view guests
golden amd-vcpus --sysroot $root/amd -1 --view vcpus
golden amd-vcpus-json --sysroot $root/amd -1 --view vcpus --json -g db1
golden amd-vcpus-log --sysroot $root/amd -l -n 3 -s 0.1 --view vcpus
golden amd-vcpus-csv --sysroot $root/amd -l -c -n 3 -s 0.1 --view vcpus
golden amd-exits --sysroot $root/amd -1 --view exits
golden amd-exits-json --sysroot $root/amd -1 --view exits --json -f 'hlt|^io$|hypercall'
golden amd-exits-csv --sysroot $root/amd -l -c -n 3 -s 0.1 --view exits
golden amd-exits-sort --sysroot $root/amd -1 --view exits -k avg_ns -p 112
golden amd-hotspots --sysroot $root/amd -1 --view hotspots -g web1
golden amd-hotspots-csv --sysroot $root/amd -l -c -n 2 -s 0.1 -z --view hotspots -g web1
golden intel-exits --sysroot $root/intel -1 --view exits
golden intel-vcpus --sysroot $root/intel -1 --view vcpus
golden lockdown-exits-filter --sysroot $root/lockdown -1 --view exits -f kvm_exit
golden lockdown-vcpus-filter --sysroot $root/lockdown -1 --view vcpus -f kvm_exit
golden lockdown-exits --sysroot $root/lockdown -1 --view exits
golden lockdown-exits-json --sysroot $root/lockdown -1 --view exits --json
golden arm64-exits --sysroot $root/arm64 -1 --view exits
golden arm64-timed-guests --sysroot $root/arm64 -1 --view guests --json
golden arm64-guests-table --sysroot $root/arm64 -1 --view guests
compare

# kvmtop exits
golden exits-all exits --sysroot $root/amd 0.1
golden exits-pid exits --sysroot $root/amd -p 115 -k time 0.1
golden exits-vcpu exits --sysroot $root/amd -p 115 -v 1 --csv 0.1
golden exits-alltids exits --sysroot $root/amd -p 115 -a -k percent_time 0.1
golden exits-tid exits --sysroot $root/amd --tid 122 --event ioport 0.1
golden exits-tids exits --sysroot $root/amd -T 121,122 --event cpuid -k max --json 0.1
golden exits-lockdown exits --sysroot $root/lockdown 0.1
golden exits-no-vcpu exits --sysroot $root/intel -p 4101 -v 10 0.1
golden exits-no-guest exits --sysroot $root/amd -p 1 0.1
golden exits-no-thread exits --sysroot $root/amd --tid 115 0.1
golden exits-no-provider exits --sysroot $root/arm64 0.1
golden exits-long-none exits --sysroot $root/amd --longer 5ms 0.1
compare

# A host without guests: all commands say it in the same words.
cp -r $root/amd "$TMP/idle"
rm -r "$TMP/idle/proc/112" "$TMP/idle/proc/115"
for command in "exits 0.1" "exits --longer 1ms 0.1" "exits --json 0.1" "why 0.1" "why --json 0.1" \
	"-1 --view guests" "-1 --view vcpus -f nothing"; do
	# shellcheck disable=SC2086 # words
	is "$("$AT_ONCE" $command --sysroot "$TMP/idle" 2>&1 >"$TMP/idle.out")" \
		"kvmtop: No guest is running." "$command without guests"
done

# A counter of debugfs that grows all the time, with as many digits.
cp -r $root/amd "$TMP/yields"
yields=$TMP/yields/sys/kernel/debug/kvm/112-10/directed_yield_attempted
(
	n=1000000000
	while [ -d "$TMP" ]; do
		n=$((n + 100000))
		printf %s $n 1<>"$yields"
		sleep 0.02
	done
) &
writer=$!
like "$("$KVMTOP" why --sysroot "$TMP/yields" --csv 1)" ',yield,112,' \
	"why: debugfs is asked where a rule needs it"
kill $writer

is "$("$KVMTOP" --view x -k y --help --no-such-option 2>&1 | head -n 1)" \
	"Usage: kvmtop [OPTION]..." "--help answers whatever else is wrong"

# kvmtop why: nothing is found on amd.
golden why-healthy why --sysroot $root/amd 0.1
golden why-intel why --sysroot $root/intel 0.1
golden why-guest why --sysroot $root/intel -g build-7f3a --json 0.1
golden why-csv why --sysroot $root/intel -p 4300 --csv 0.1
golden why-once --sysroot $root/amd -1 --view why
golden why-log --sysroot $root/intel -l -n 2 -s 0.1 --view why -f serial -z
golden why-not-traced why --sysroot $root/lockdown 0.1
golden why-no-times why --sysroot $root/arm64 0.1
golden why-thresholds why --thresholds help
printf 'cpu_wait_ratio = 0.01 # low\ntimer_per_second = off\n' >"$TMP/low"
printf '# one\n\nwait = 3\n' >"$TMP/bad"
printf 'msr_ratio = 0.0001 # of a recording that is nearly healthy\n' >"$TMP/lower"
compare
like "$("$AT_ONCE" why --thresholds "$TMP/low" --sysroot $root/amd --csv 0.1)" ',cpu_wait,115,1$' \
	"why: a threshold that is set"
like "$("$AT_ONCE" why --thresholds "$TMP/bad" --sysroot $root/amd 0.1 2>&1)" \
	"^kvmtop: $TMP/bad: line 3: \"wait\": no such threshold; " "why: a bad line"

# What a history has of it is what was found live, at each moment.
"$AT_ONCE" --sysroot $root/intel -w "$TMP/why.db" -n 3 -s 0.1 --view why -c -L "$TMP/why.csv"
check "why: it was logged live" test "$(wc -l <"$TMP/why.csv")" -gt 15
is "$("$KVMTOP" -r "$TMP/why.db" -l -c --view why | cut -d, -f2-)" \
	"$(cut -d, -f2- "$TMP/why.csv")" "why: a history has the same findings"
like "$("$KVMTOP" report --text --view why --thresholds "$TMP/lower" \
	tests/data/trace/svm-perf.data)" 'Why: vCPU 1: .*; most: msr 0x80b X2APIC_EOI write 58/s' \
	"why: and so has a recording"
like "$("$KVMTOP" report --text --view why tests/data/trace/svm-perf.data 2>"$TMP/why.err")" \
	'^Nothing found that makes these guests slow' "why: or it has none"
like "$(cat "$TMP/why.err")" \
	'^kvmtop: This recording cannot show: cpu_wait, throttled, .*: see kvmtop-why' \
	"why: and which causes it cannot tell of"

# Long exits of a recording; all that are longer than a nanosecond are what the table counts.
golden report-long-svm report --text --longer 1ms --guest-kallsyms \
	"116 qemu-system-x86=tests/data/trace/svm-kallsyms" tests/data/trace/svm-perf.data
golden report-long-arm64 report --longer 5ms --csv tests/data/trace/arm64-perf.data
golden report-long-none report --text --longer 10s tests/data/trace/svm-perf.data
compare
for recording in svm arm64; do
	recording=tests/data/trace/$recording-perf.data
	"$KVMTOP" report --longer 0.001us --halts --csv $recording | awk -F, "$CSV_AT"'
	{
		reason = $at("reason")
		total[reason]++
		time[reason] += $at("took_ns")
		if ($at("took_ns") > max[reason])
			max[reason] = $at("took_ns")
	}
	END { for (reason in total) print reason, total[reason], time[reason], max[reason] }' |
		sort >"$TMP/listed"
	"$KVMTOP" report --csv $recording | awk -F, "$CSV_AT"'
	{ print $at("reason"), $at("total"), $at("time_ns"), $at("max_ns") }' | sort >"$TMP/table"
	same_files "$TMP/listed" "$TMP/table" \
		"report --longer: all exits are the table's, $recording"
done
# A program finds a column by its id: no CSV has one twice.
twice=
for view in events guests vcpus exits hotspots host long why; do
	twice="$twice$({
		"$KVMTOP" -r tests/data/history/version-2.db -c --view $view -n 1
		echo
		"$KVMTOP" report --view $view --csv tests/data/trace/svm-perf.data
	} 2>/dev/null | awk -F, -v view=$view '
		NR == 1 || was_empty {
			split("", ids)
			for (i = 1; i <= NF; i++)
				if (ids[$i]++)
					print view, $i
		}
		{ was_empty = !NF }')"
done
is "$twice" "" "CSV: each column has an id of its own"
is "$(status_of "$KVMTOP" report --longer 1ms --by vcpu tests/data/trace/svm-perf.data)" 2 \
	"report --longer: not with --by"

# One order in all formats: the reasons of each format, one after the other.
reasons() {
	"$AT_ONCE" --sysroot $root/amd -l -n 1 -s 0.1 --view exits "$@"
}
for column in total avg_ns reason; do
	text=$(reasons -k $column | awk 'NR > 1 { print $2 }')
	like "$text" '^hypercall$' "-k $column: text has the reasons"
	csv=$(reasons -c -k $column | cut -d, -f2 | sed 1d)
	is "$csv" "$text" "CSV has them in the same order"
	json=$(reasons --json -k $column | grep -o '"reason":"[^"]*' | cut -d'"' -f4)
	is "$json" "$text" "and so has JSON"
done
is "$("$AT_ONCE" --sysroot $root/amd -1 -k total -f '^kvm_(cpuid|exit|entry)$' |
	awk '{ print $1 }')" "kvm_entry
kvm_exit
kvm_cpuid" "-1 -k total"

no_other_golden tests/golden

done_testing
