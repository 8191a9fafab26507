#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with names that are meant to be more than names: each stays one name in every kind of line.
. tests/lib.sh

# name PID TEXT: QEMU's guest in this process has this name (printf's escapes).
cp -a tests/sysroot/amd "$TMP/amd"
name() {
	# shellcheck disable=SC2059
	printf "qemu-system-x86_64\\0-name\\0guest=$2\\0-accel\\0kvm\\0" \
		>"$TMP/amd/proc/$1/cmdline"
}

# lines OPTION...: two intervals, or one second with -1.
lines() {
	"$KVMTOP" --sysroot "$TMP/amd" "$@" 2>&1
}

name 112 '=cmd()|"x"\n{"y":1}\r\033[2J\tz'
name 115 '=cmd()|"x"\n{"y":1}\r\033[2J\tz'
clean='=cmd()|"x"?{"y":1}??[2J?z'

is "$(lines -1 -b | LC_ALL=C sort | sed 's/  */ /g')" \
	"$clean(112) 1698 1698
$clean(115) 3018 3018" "-1 -b: a line each, each with its pid"
is "$(lines -1 --view guests | cut -d ' ' -f 1 | tail -n 2)" "$clean
$clean" "-1 --view guests"
is "$(lines -1 --view hotspots -f 0x3f8 | sed 's/.* =/=/; 1d' | LC_ALL=C sort)" "$clean  112
$clean  115" "-1 --view hotspots: each with its pid, too"
is "$(lines -l -n 1 -s 0.1 -b | sed -n '1s/.*s)  *//p')" "$clean(115) $clean(112)" \
	"-l -b: headings"
is "$(lines -l -n 1 -s 0.1 --view vcpus | cut -d ' ' -f 3 | sed 1d | sort -u)" "$clean" \
	"-l --view vcpus"
is "$(lines -l -c -n 1 -s 0.1 --view vcpus | sed 1d | cut -d , -f 2,3,5)" \
	'"=cmd()|""x""?{""y"":1}??[2J?z",0,121
"=cmd()|""x""?{""y"":1}??[2J?z",0,122
"=cmd()|""x""?{""y"":1}??[2J?z",1,123' "-c: one quoted field"
json=$(lines -1 --json --view guests)
is "$(printf '%s\n' "$json" | wc -l)" 1 "--json: one line"
is "$(printf '%s\n' "$json" | sed 's/{"guest"/\n&/g' | sed -n 's/^{\("guest".*\),"vcpus".*/\1/p')" \
	'"guest":"=cmd()|\"x\"?{\"y\":1}??[2J?z","pid":115
"guest":"=cmd()|\"x\"?{\"y\":1}??[2J?z","pid":112' "and one string for each"
for options in "-1 -b" "-1 --view hotspots" "-l -n 1 -s 0.1 --view guests" "-1 --json -b" \
	"-l -c -n 1 -s 0.1 --view hotspots"; do
	# shellcheck disable=SC2086 # words
	is "$(lines $options | tr -d '\n' | LC_ALL=C tr -dc '\000-\037')" "" \
		"no control character: $options"
done

name 112 'a,,b'
is "$(lines -l -c -n 1 -s 0.1 -b | sed 1d | cut -d , -f 2-4)" \
	'"=cmd()|""x""?{""y"":1}??[2J?z",115,2
"a,b",112' "a comma is quoted"

done_testing
