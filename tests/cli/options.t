#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every option of kvmtop in modes that print: it changes what is printed, or is refused with a
# reason. An option that has no effect and no message is a trap.
. tests/lib.sh

# source_of NAME: the options of a source.
source_of() {
	case $1 in
	machine) echo "--sysroot tests/sysroot/amd" ;;
	history) echo "-r tests/data/history/version-2.db" ;;
	recording) echo "-r tests/data/trace/arm64-perf.data" ;;
	esac
}

# Each option with a value, as in kvmtop --help. After # where it cannot show: in which of the
# modes and sources below, by a pattern, and why.
options() {
	cat <<-'EOF'
	-f hlt
	-g nobody
	-p 115
	-t # machine: it counts them anyhow
	-d
	-i
	--cost none
	-1 # -1: it is there
	-l -n 1 # -l: it is there
	-L FILE -n 1
	-c # -c: it is there
	--json # --json: it is there
	-z # .: something happens in all that is listed: see golden.t
	-s 0.2 # machine|recording: it has intervals of its own; a whole recording is one
	-n 3
	--view vcpus # vcpus: it is there
	-b # recording: it prints the table of the view
	-x # guests|-c|--json|history|recording: no rows are below, or they are there
	-k total # recording|vcpus: the order is the same
	-r nosuch
	--at 2026-11-27
	--from 2026-11-27 # history -l: it begins then
	--to 2026-11-28 # history|recording: it ends before
	--diff ..now
	--host x
	--http-config x
	--frequency 2GHz # recording: its times are no cycles
	--input-format acrn
	--buffer x
	--sysroot /nosuch
	-w /nosuch/x
	--keep who
	--max-age 1d
	--max-size 1G
	--demo
	--list-guests
	--list-providers
	--thresholds nosuch
	--guest-kallsyms x=/nosuch
	--guest-symbols
	-h
	-V
	--no-mouse
	EOF
}

# out_of WORD...: what is printed, and the status.
out_of() {
	"$AT_ONCE" "$@" 2>&1 </dev/null
	echo "status $?"
}

for option in $("$KVMTOP" --help | sed -n '/^Commands/q; s/^ *\(-[^ ,]*\).*/\1/p'); do
	options | grep -q -e "^$option\( \|\$\)" || not_ok "$option is tried here"
done
: >"$TMP/traps"
for mode in "-1 --view guests" "-1 --json --view exits" "-l -n 1 -c --view vcpus"; do
	for name in machine history recording; do
		source=$(source_of $name)
		# shellcheck disable=SC2086 # words
		out_of $source $mode >"$TMP/base"
		options | while IFS='#' read -r words reason; do
			where=${reason%%:*}
			if [ -n "$where" ] && echo "$name $mode" | grep -qE -e "${where# }"; then
				continue
			fi
			words=$(echo "$words" | sed "s|FILE|$TMP/log|")
			# shellcheck disable=SC2086 # words
			out_of $source $mode $words >"$TMP/out"
			! cmp -s "$TMP/base" "$TMP/out" || echo "$name $mode: $words" >>"$TMP/traps"
			rm -f "$TMP/log"
		done
	done
done
is "$(cat "$TMP/traps")" "" "each option changes what is printed, or says why not"
done_testing
