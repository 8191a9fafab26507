# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for bash.
_kvmtop()
{
	local current=$2 previous=$3

	COMPREPLY=()
	case $previous in
	-p | --pid)
		COMPREPLY=($(compgen -W "$(cd /proc && printf '%s\n' [0-9]*)" -- "$current"))
		return
		;;
	-f | --fields)
		COMPREPLY=($(compgen -W "help $(kvmtop -f help 2>/dev/null | tr -d '()')" -- "$current"))
		return
		;;
	-L | --log-to-file)
		COMPREPLY=($(compgen -f -- "$current"))
		return
		;;
	--sysroot)
		COMPREPLY=($(compgen -d -- "$current"))
		return
		;;
	--view)
		COMPREPLY=($(compgen -W "events guests" -- "$current"))
		return
		;;
	-o | --sort)
		COMPREPLY=($(compgen -W "event guest total share rate" -- "$current"))
		return
		;;
	-g | --guest | -s | --set-delay | -n | --samples)
		return
		;;
	esac
	COMPREPLY=($(compgen -W "
		-f --fields -g --guest -p --pid -t --tracepoints -d --debugfs -i --debugfs-include-past
		-1 --once --batch -l --log -L --log-to-file -c --csv --json -z --skip-zero-records
		-s --set-delay -n --samples --view -b --by-guest -x --children -o --sort
		--demo --list-providers --sysroot -h --help -V --version" -- "$current"))
}
complete -o filenames -F _kvmtop kvmtop
