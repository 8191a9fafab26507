# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# live.sh - files of tests/cli that need /dev/kvm, on a host that has it: what a machine without it
# skips.
#
# Runs inside an emulated host (see svm-live.sh), in place of suite.sh, and prints one TAP for all.
. tests/lib.sh
. tests/hosts/inside.sh

load_modules
mkfifo "$TMP/results"
mkdir -p /helpers
for l_program in /bin/*guest; do
	ln -sf "$l_program" "/helpers/${l_program##*/}"
done
PATH=/usr/bin:/bin
KVMTOP=/bin/kvmtop
HELPERS=/helpers
export PATH KVMTOP HELPERS
for l_file in $(cat /tests/hosts/cases); do
	section "$l_file.t"
	# Results are shown as they come: a host that prints nothing for long is ended.
	dash "tests/cli/$l_file.t" >"$TMP/results" 2>"$TMP/err" </dev/null &
	has_plan=no
	while IFS= read -r l_line; do
		l_name="$l_file: ${l_line#*- }"
		case $l_line in
		"ok "*"# SKIP"*) skip "${l_name%% # SKIP*}" "${l_line#*# SKIP }" ;;
		"ok "*) ok "$l_name" ;;
		"not ok "*) not_ok "$l_name" ;;
		1..0*) has_plan=yes && skip "$l_file" "${l_line#*# SKIP }" ;;
		1..*) has_plan=yes ;;
		*) diag "$l_line" ;;
		esac
	done <"$TMP/results"
	[ $has_plan = yes ] || not_ok "$l_file: it reaches its end" "$(tail -n 5 "$TMP/err")"
done
kernel_is_content
done_testing
