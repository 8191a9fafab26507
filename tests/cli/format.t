#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop format prints what kvmtrace_format and acrntrace_format.py print.
. tests/lib.sh

# word NUMBER...: each as 4 bytes, little endian; be_word: big.
word() {
	for t_number; do
		t_number=$((t_number))
		# shellcheck disable=SC2059
		printf "$(printf '\\%03o' $((t_number & 255)) $((t_number >> 8 & 255)) \
			$((t_number >> 16 & 255)) $((t_number >> 24 & 255)))"
	done
}

be_word() {
	for t_number; do
		t_number=$((t_number))
		# shellcheck disable=SC2059
		printf "$(printf '\\%03o' $((t_number >> 24 & 255)) $((t_number >> 16 & 255)) \
			$((t_number >> 8 & 255)) $((t_number & 255)))"
	done
}

cat >"$TMP/rules" <<'EOF'
# like the ones that came with kvm-userspace
0x00000000  %(tsc)d (+%(reltsc)12d) 0x%(event)016x %(pid)d [ 0x%(1)08x 0x%(4)08x 0x%(5)08x ]

0x00010001  %(tsc)d (+%(reltsc)12d) VMENTRY vcpu = 0x%(vcpu)08x pid = 0x%(pid)08x
0x00010002  %(tsc)d (+%(reltsc)12d) VMEXIT  vcpu = %(vcpu)d [ 0x%(1)08x, 0x%(3)08x %(2)08x ]
EOF

# Entry at 2^32 + 10, exit 20 later, an event without TSC and seven words, entry 1 before the exit.
records() {
	"$1" 0x12345678
	t_order=$1
	set -- $((0x80010001)) 77 1
	"$t_order" "$@"
	tsc "$t_order" 1 10
	"$t_order" $((0xb0010002)) 77 1
	tsc "$t_order" 1 30
	"$t_order" 12 0xfff0 0xffffffff
	"$t_order" $((0x70020033)) 77 0 1 2 3 4 5 6 7
	"$t_order" $((0x80010001)) 78 0
	tsc "$t_order" 1 29
}

# tsc ORDER HIGH LOW
tsc() {
	if [ "$1" = word ]; then word "$3" "$2"; else be_word "$2" "$3"; fi
}

cat >"$TMP/want" <<'EOF'
4294967306 (+           0) VMENTRY vcpu = 0x00000001 pid = 0x0000004d
4294967326 (+          20) VMEXIT  vcpu = 1 [ 0x0000000c, 0xffffffff 0000fff0 ]
0 (+           0) 0x0000000000020033 77 [ 0x00000001 0x00000004 0x00000005 ]
4294967325 (+          -1) VMENTRY vcpu = 0x00000000 pid = 0x0000004e
EOF

records word >"$TMP/le"
records be_word >"$TMP/be"
tail -c +5 "$TMP/le" >"$TMP/unmarked"

"$KVMTOP" format "$TMP/rules" "$TMP/le" >"$TMP/got"
same_files "$TMP/got" "$TMP/want" "a kvmtrace file"
"$KVMTOP" format "$TMP/rules" <"$TMP/be" >"$TMP/got"
same_files "$TMP/got" "$TMP/want" "from standard input, big endian"
"$KVMTOP" format "$TMP/rules" - <"$TMP/unmarked" >"$TMP/got"
same_files "$TMP/got" "$TMP/want" "without the mark, as the first kernels wrote it"

is "$("$KVMTOP" format -c 1000 "$TMP/rules" "$TMP/le" | head -n 2 | cut -d' ' -f1)" "4
4" "-c makes seconds of the TSC"

# ---- several files

set -- "$TMP/cpu0" "$TMP/cpu1"
{ word 0x12345678 0x80010001 1 0 10 0 0x00010003 2 0 0x80010001 3 0 40 0; } >"$1"
{ word 0x12345678 0x80010001 4 1 20 0 0x80010001 5 1 40 0 0x80010001 6 1 50 0; } >"$2"
echo '0 %(pid)d %(tsc)d +%(reltsc)d' >"$TMP/short"
is "$("$KVMTOP" format "$TMP/short" "$@")" "1 10 +0
2 0 +0
4 20 +10
3 40 +20
5 40 +0
6 50 +10" "files are merged by their TSC; an event without one stays where it was"

# ---- ACRN: TSC, event with its numbers of words and CPU (and VM), words

cat >"$TMP/acrn" <<'EOF'
0x10 CPU%(cpu)d vm%(vm)d %(tsc)d vmexit [ reason = 0x%(1)08x, rIP = 0x%(2)08x ]
0x1001E CPU%(cpu)d %(1)d %(2)d %(3)d %(4)d
0xff %(1)c%(2)c%(3)c
0 never
EOF
{
	word 100 0 0x10 0x03020000 30 0 0x1000 0
	word 110 0 0x1001e 0x03040000 0x3f8 1 2 3
	word 120 0 0xff 0x03100000 0x006d766b 0 0 0
	word 130 0 0x12 0x03020000 0 0 0 0
} >"$TMP/acrn.old"
is "$("$KVMTOP" format "$TMP/acrn" "$TMP/acrn.old" | tr -d '\0')" \
	"CPU3 vm0 100 vmexit [ reason = 0x0000001e, rIP = 0x00001000 ]
CPU3 1016 1 2 3
kvm" "ACRN; rule 0 is no default there"
word 100 0 0x10 0x32150000 30 0 0x1000 0 >"$TMP/acrn.new"
word 110 0 0x1001e 0x34150000 0x3f8 1 2 3 >>"$TMP/acrn.new"
is "$("$KVMTOP" format "$TMP/acrn" "$TMP/acrn.new")" \
	"CPU3 vm5 100 vmexit [ reason = 0x0000001e, rIP = 0x00001000 ]
CPU3 1016 1 2 3" "ACRN since it knows VMs"

word 0x1001f003 2 0 5 >"$TMP/either"
is "$("$KVMTOP" format --input-format kvmtrace "$TMP/short" "$TMP/either")" "2 0 +0" \
	"--input-format overrides what the file looks like"

# ---- what goes wrong

head -c 50 "$TMP/le" >"$TMP/cut"
is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/cut")" 1 "a file that ends within a record"
is "$(cat "$TMP/out")" "77 4294967306 +0" "what was whole in it is printed"
is "$(cat "$TMP/err")" "kvmtop: $TMP/cut: at byte 24: the last record has 26 of 32 bytes" \
	"the rest is named with its offset"

is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/none" "$TMP/cpu1" "$TMP")" 1 \
	"a file that is missing, a folder"
is "$(wc -l <"$TMP/out") $(grep -c 'No such file\|is a folder' "$TMP/err")" "3 2" \
	"the others are read nevertheless"
: >"$TMP/empty"
is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/empty" "$TMP/cpu1")" 0 \
	"a CPU's file may be empty: nothing ran there"
is "$(wc -l <"$TMP/out")" 3 "the others are read"
is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/empty" "$TMP/empty")" 1 "but not all of them"
is "$(uniq "$TMP/err")" "kvmtop: $TMP/empty: the file is empty" "which is said of each"
word 0x12345678 >"$TMP/mark"
is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/mark")" 0 "a file of the mark alone"
is "$(status_of "$KVMTOP" format --input-format kvmtrace "$TMP/short" "$TMP/empty")" 0 \
	"nor has an empty one of a given kind"

# ---- files of other kinds

t_no_records="not records of kvmtrace or ACRN"
is "$(status_of "$KVMTOP" format "$TMP/short" "$TMP/short" "$TMP/cpu1")" 1 "text"
is "$(cat "$TMP/err")" "kvmtop: $TMP/short: is text, $t_no_records" "is named as such"
is "$(wc -l <"$TMP/out")" 3 "the others are read nevertheless"
is "$(printf 'hi\n' | "$KVMTOP" format "$TMP/short" 2>&1)" \
	"kvmtop: standard input: is text, $t_no_records" "so is a word of it in a pipe"
for kind in small-v7.dat=trace.dat svm-perf.data=perf.data; do
	file=tests/data/trace/${kind%=*}
	is "$(status_of "$KVMTOP" format "$TMP/short" "$file")" 1 "a ${kind#*=}"
	is "$(cat "$TMP/err")" \
		"kvmtop: $file: is ${kind#*=}, $t_no_records: kvmtop report reads it" \
		"is left to the command that reads it"
	is "$(wc -c <"$TMP/out")" 0 "and nothing of it is printed"
done
is "$(status_of "$KVMTOP" format --input-format acrn "$TMP/acrn" "$TMP/short")" 1 \
	"of a given kind is read as that"
like "$(cat "$TMP/err")" 'the last record has' "whatever it looks like"

printf '1 fine\n# fine\n2 %%(tcs)d\n' >"$TMP/bad"
is "$(status_of "$KVMTOP" format "$TMP/bad" "$TMP/le")" 1 "rules that make no sense"
like "$(cat "$TMP/err")" "^kvmtop: $TMP/bad:3: unknown field" \
	"are named with their line"
is "$(status_of "$KVMTOP" format)" 2 "no rules: wrong usage"
is "$(status_of "$KVMTOP" format --input-format x "$TMP/short")" 2 "no such kind: wrong usage"
is "$(status_of "$KVMTOP" format --help)" 0 "--help"

# ---- a pipe is read as it comes

mkfifo "$TMP/pipe"
# shellcheck disable=SC2016
spawn sh -c 'exec "$@" <"$0"' "$TMP/pipe" "$KVMTOP" format "$TMP/short" >"$TMP/live"
exec 9>"$TMP/pipe"
word 0x12345678 0x80010001 1 0 10 0 0x80010001 2 0 11 0 >&9
# shellcheck disable=SC2317 # wait_for calls it
has_lines() { [ "$(wc -l <"$TMP/live")" -eq "$1" ]; }
check "what has come in is printed before more comes" wait_for 30 has_lines 2
exec 9>&-
check "and at its end it ends" wait_for 30 t_ended "$SPAWNED"

if [ -e /dev/full ]; then
	"$KVMTOP" format "$TMP/rules" "$TMP/le" >/dev/full 2>"$TMP/err"
	is "$?" 1 "a full disk is an error"
fi
is "$(limited "$KVMTOP" format "$TMP/rules" "$TMP/le")" "$too_large" "and so is ulimit -f"

done_testing
