# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for bash.

# The names of the guests that are running, which may have blanks; their pids.
_kvmtop_names()
{
	local name

	while read -r _ _ name; do
		[[ $name != "$1"* ]] || COMPREPLY+=("$name")
	done < <(kvmtop --list-guests 2>/dev/null)
}

_kvmtop_pids()
{
	COMPREPLY=($(compgen -W "$(kvmtop --list-guests 2>/dev/null |
		while read -r pid _; do echo "$pid"; done)" -- "$1"))
}

_kvmtop_report()
{
	local current=$1 previous=$2 words=

	case $previous in
	--event) words="vmexit userspace mmio ioport msr cpuid hypercall sysreg" ;;
	--view) words="events guests vcpus exits hotspots host long why" ;;
	--by) words="reason guest vcpu tid" ;;
	-k | --key) words="total rate share time_ns time_percent poll_percent sleep_percent halt_percent min_ns avg_ns
		stddev_ns p50_ns p99_ns max_ns reason guest pid vcpu tid" ;;
	--input-format) words="trace.dat perf.data acrn kvmtrace" ;;
	--longer) words="1ms 5ms 100ms" ;;
	-f | --frequency | --vcpu | --guest-kallsyms | -g | --guest | -p | --pid | -B | --buffer | -s | --set-delay) return ;;
	*) [[ $current != -* ]] || words="--event --by --vcpu -g --guest -p --pid -k --key --view --thresholds --diff
		--longer --halts --guest-kallsyms -f --frequency -s --set-delay -B --buffer --input-format --text --csv --json --acrn
		-h --help" ;;
	esac
	if [ -n "$words" ]; then
		COMPREPLY=($(compgen -W "$words" -- "$current"))
	else
		COMPREPLY=($(compgen -f -- "$current"))
	fi
}

_kvmtop_format()
{
	local current=$1 previous=$2

	case $previous in
	--input-format) COMPREPLY=($(compgen -W "kvmtrace xentrace acrn" -- "$current")) && return ;;
	-c | --mhz) return ;;
	esac
	if [[ $current == -* ]]; then
		COMPREPLY=($(compgen -W "-c --mhz -s --statistics --input-format -h --help" -- "$current"))
	else
		COMPREPLY=($(compgen -f -- "$current"))
	fi
}

_kvmtop_record()
{
	local current=$1 previous=$2 words=

	case $previous in
	-e | --event) words=$(kvmtop -f help 2>/dev/null | grep -v '(') ;;
	-p | --pid) _kvmtop_pids "$current"; return ;;
	-g | --guest) _kvmtop_names "$current"; return ;;
	-C | --clock) words="local global counter uptime perf mono mono_raw boot tai x86-tsc" ;;
	--filter | -b | --buffer) return ;;
	-o | --output) COMPREPLY=($(compgen -f -- "$current")) && return ;;
	*) [[ $current != -* ]] || words="-o --output -p --pid -g --guest -e --event --filter
		--sched -b --buffer -C --clock -h --help" ;;
	esac
	if [ -n "$words" ]; then
		COMPREPLY=($(compgen -W "$words" -- "$current"))
	else
		COMPREPLY=($(compgen -c -- "$current"))
	fi
}

_kvmtop_timeline()
{
	local current=$1 previous=$2 words=

	case $previous in
	-O | --offset) words=auto ;;
	--input-format) words="trace.dat perf.data acrn kvmtrace" ;;
	-f | --freq | -B | --binaryname | --buffer) return ;;
	*) [[ $current != -* ]] || words="-o --output -k --kvm -p --perf-stat -O --offset -f --freq
		-F --filter -m --merge -b --binary -B --binaryname --buffer --input-format -h
		--help" ;;
	esac
	if [ -n "$words" ]; then
		COMPREPLY=($(compgen -W "$words" -- "$current"))
	else
		COMPREPLY=($(compgen -f -- "$current"))
	fi
}

_kvmtop_exits()
{
	local current=$1 previous=$2 words=

	case $previous in
	-p | --pid) _kvmtop_pids "$current"; return ;;
	-g | --guest) _kvmtop_names "$current"; return ;;
	--event) words="vmexit userspace mmio ioport msr cpuid hypercall sysreg" ;;
	-k | --key) words="total share time_ns time_percent avg_ns min_ns max_ns p50_ns p99_ns reason" ;;
	--sysroot) COMPREPLY=($(compgen -d -- "$current")) && return ;;
	--longer) words="1ms 5ms 100ms" ;;
	-v | --vcpu | -t | --tid | -T | --tids | --guest-kallsyms) return ;;
	*) [[ $current != -* ]] || words="-p --pid -g --guest -v --vcpu -a --alltids --diff -t --tid -T --tids
		--longer --halts --arguments --guest-kallsyms --event -k --key --json --csv --sysroot -h --help" ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$current"))
}

_kvmtop_why()
{
	local current=$1 previous=$2 words=

	case $previous in
	-p | --pid) _kvmtop_pids "$current"; return ;;
	-g | --guest) _kvmtop_names "$current"; return ;;
	--sysroot) COMPREPLY=($(compgen -d -- "$current")) && return ;;
	--thresholds) COMPREPLY=($(compgen -f -W help -- "$current")) && return ;;
	*) [[ $current != -* ]] || words="-p --pid -g --guest --thresholds --json --csv --sysroot -h --help" ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "$current"))
}

# The columns of the view that the command line names.
_kvmtop_columns()
{
	local i view=events

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--view) view=${COMP_WORDS[i + 1]} ;;
		-b | --by-guest) view=guests ;;
		esac
	done
	case $view in
	events) echo "event total share delta rate" ;;
	guests) echo "guest pid vcpus vmm vmm_percent total share delta rate guest_percent l2_percent
		kvm_percent user_percent halt_percent poll_percent sleep_percent wait_percent throttled_percent cpu_percent migrations vcpu_ns
		top top_percent ended" ;;
	vcpus) echo "guest vcpu thread tid cpu total share delta rate guest_percent l2_percent
		kvm_percent user_percent halt_percent poll_percent sleep_percent wait_percent throttled_percent cpu_percent migrations vcpu_ns
		top top_percent ended affinity remote_percent" ;;
	exits) echo "reason total delta rate share time_percent poll_percent time_ns avg_ns p50_ns
		p99_ns interval_max_ns max_ns" ;;
	long) echo "time end_ns took_ns user_percent user_ns poll_percent wait_percent reason
		argument guest pid vcpu cpu pc symbol ended" ;;
	hotspots) echo "what argument total delta rate time_percent time_ns avg_ns p50_ns p99_ns
		interval_max_ns max_ns guest pid ended" ;;
	host) echo "cpu node core sibling busy_percent vcpu_percent vcpus want_percent wait_percent
		throttled_percent rate kvm_percent" ;;
	why) echo "finding guest severity cost_percent evidence remedy rule pid vcpu" ;;
	esac
}

_kvmtop()
{
	local current=$2 previous=$3

	COMPREPLY=()
	if [ "$COMP_CWORD" -gt 1 ]; then
		case ${COMP_WORDS[1]} in
		exits | format | record | report | timeline | why)
			"_kvmtop_${COMP_WORDS[1]}" "$current" "$previous"
			return
			;;
		esac
	fi
	case $previous in
	-p | --pid)
		_kvmtop_pids "$current"
		return
		;;
	-g | --guest)
		_kvmtop_names "$current"
		return
		;;
	-f | --fields)
		# A dot matches any character, and the shell leaves it alone.
		COMPREPLY=($(compgen -W "help $(kvmtop -f help 2>/dev/null | tr '()' '..')" -- "$current"))
		return
		;;
	--listen)
		COMPREPLY=($(compgen -W "systemd unix:" -- "$current"))
		return
		;;
	--metrics)
		COMPREPLY=($(compgen -W "help $(kvmtop --metrics help 2>/dev/null |
			sed -n 's/^  \([a-z]*\) .*/\1 no-\1/p')" -- "$current"))
		return
		;;
	-L | --log-to-file | -w | --write | --prometheus | --web-config)
		COMPREPLY=($(compgen -f -- "$current"))
		return
		;;
	-r | --read) # a file may follow
		[[ $current == -* ]] || COMPREPLY=($(compgen -f -- "$current"))
		;;
	--at | --from | --to)
		COMPREPLY=($(compgen -W "now today yesterday" -- "$current"))
		return
		;;
	--sysroot)
		COMPREPLY=($(compgen -d -- "$current"))
		return
		;;
	--thresholds)
		COMPREPLY=($(compgen -f -- "$current"))
		return
		;;
	--engine)
		COMPREPLY=($(compgen -W "bpf perf" -- "$current"))
		return
		;;
	--view)
		COMPREPLY=($(compgen -W "events guests vcpus exits hotspots host long why" -- "$current"))
		return
		;;
	-o | --sort)
		COMPREPLY=($(compgen -W "$(_kvmtop_columns)" -- "$current"))
		return
		;;
	-s | --set-delay | -n | --samples | --max-age | --max-size | --max-series | --past | --diff)
		return
		;;
	esac
	[ "$COMP_CWORD" -gt 1 ] || [[ $current == -* ]] ||
		COMPREPLY=($(compgen -W "exits format record report timeline why" -- "$current"))
	[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -W "
		-f --fields -g --guest -p --pid -t --tracepoints -d --debugfs --stats
		-i --debugfs-include-past -1 --once --batch -l --log -L --log-to-file -c --csv --json -z --skip-zero-records
		-s --set-delay -n --samples --view -b --by-guest -x --children -o --sort
		-w --write --max-age --max-size -r --read --at --from --to --diff --past
		--prometheus --listen --web-config --metrics --max-series
		--demo --engine --guest-kallsyms --list-guests --list-providers --thresholds --sysroot -h --help -V --version" -- "$current"))
}
complete -o filenames -F _kvmtop kvmtop
