#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages and README name the options that --help names, and no others.
. tests/lib.sh

# missing WANTED THERE: the lines of WANTED that are not lines of THERE.
missing() {
	printf '%s\n' "$1" | grep -vxF -e "$2"
}

# options_of [COMMAND]: the options that --help lists. From column 33 on, help may name others.
options_of() {
	# shellcheck disable=SC2086 # none or one word
	"$KVMTOP" $1 --help | sed '/^Commands/,$d' | grep '^  ' | cut -c1-31 |
		grep -oE -- '-[-a-zA-Z0-9]+' | sort
}

# described PAGE: the options that it describes.
described() {
	sed -n '1,/^\.Sh OPTIONS/d; /^\.Sh /q; s/^\.It Fl/Fl/p' "$1" |
		awk '{ for (i = 1; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }' | sort
}

check "--help names options" test "$(options_of "" | grep -c .)" -gt 30
# For programs and experts: in the pages only.
rare=$(described man/kvmtop.8 | grep -cxE -- '--(engine|complete|schema)')
is "$rare" 3 "kvmtop(8) has --engine, --complete and --schema"
is "$(described man/kvmtop.8 | grep -vxE -- '--(engine|complete|schema)')" "$(options_of "")" \
	"kvmtop(8) has the options of kvmtop --help, and no others"
commands=$("$KVMTOP" --help | sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p')
for command in "" $commands; do
	# shellcheck disable=SC2086 # none or one word
	"$KVMTOP" $command --help >"$TMP/help"
	case $command in
	"") screens=4 ;;
	report | timeline) screens=2 ;;
	*) screens=1 ;;
	esac
	check "kvmtop $command --help: screens of 24 lines: $screens" \
		test "$(wc -l <"$TMP/help")" -le $((screens * 24))
	is "$(awk 'length > 80' "$TMP/help")" "" "of 80 columns"
done
for command in $commands; do
	page=man/kvmtop-$command.8
	rare='engine|sysroot'
	[ "$command" != exits ] || rare="$rare|guest-symbols|guest-kallsyms"
	is "$(described "$page" | grep -vxE -- "--($rare)")" "$(options_of "$command")" \
		"kvmtop-$command(8) has the options of kvmtop $command --help, and no others"
	check "and examples" grep -q "^\.Dl .*kvmtop $command " "$page"
	like "$("$KVMTOP" "$command" --help)" "More: man kvmtop-$command$" \
		"its --help names the page"
	check "kvmtop(8) names it, too" grep -q "^\.Xr kvmtop-$command 8" man/kvmtop.8
done

# Pages of ours that a page refers to, by name and section.
gone=
for page in $(sed -n 's/^\.Xr \(kvmtop[a-z-]*\) \([0-9]\).*/\1.\2/p' man/* | sort -u); do
	[ -e "man/$page" ] || gone="$gone$page "
done
is "$gone" "" "pages refer to pages that there are"
for page in man/*; do
	sections=$(grep '^\.Sh ' "$page" | sort | uniq -d)
	long=$(awk 'length > 40 && !/^\./' "$page" | sort | uniq -d)
	is "$sections$long" "" "$page says nothing twice"
done

# The names of views in JSON: one for each set of columns.
names=$({
	"$AT_ONCE" --sysroot tests/sysroot/amd -1 --json --view exits
	"$KVMTOP" exits --sysroot tests/sysroot/amd --json 0.1
	"$KVMTOP" report --json tests/data/trace/svm-perf.data
	"$KVMTOP" report --json --diff tests/data/trace/svm-perf.data tests/data/trace/svm-perf.data
} | sed 's/.*"view":"\([a-z_]*\)".*/\1/' | tr '\n' ' ')
is "$names" "exits exits exits diff " "JSON names the view"
check "and the man page has diff" grep -qx "\.Ql diff ." man/kvmtop.8

# Tables of a history file, and their columns: "minute_row time".
tables=$(sed -n '/^const char sql_schema/,/;$/p' history/sql.c | tr -d '"\n\t' |
	grep -oE 'CREATE TABLE [a-z_]*\([^;]*' |
	sed 's/^CREATE TABLE //; s/, *PRIMARY KEY(.*//; s/)[^)]*$//' |
	awk -F '[(,]' '{ for (i = 2; i <= NF; i++) { split($i, w, " "); print $1, w[1] } }')
page=$(awk '/^\.S[sh] / { table = $2 } /^\.It Va / { print table, $3 }' man/kvmtop-history.5)
check "a history file has tables" test "$(printf '%s\n' "$tables" | grep -c .)" -gt 40
is "$(printf '%s\n' "$page" | grep -v '^minute ' | sort)" "$(printf '%s\n' "$tables" | sort)" \
	"kvmtop-history(5) has every column of every table"

# enumerators NAME: the numbers of an enum of core/facts, from 0.
enumerators() {
	sed -n "/^enum $1 {/,/^}/p" core/facts/field.h core/facts/stacks.h |
		sed 's/\/\*.*//; /^[ \t]*\*/d' | grep -oE '\b[A-Z0-9_]+,' | awk '{ print NR - 1 }'
}

# explained COLUMN TEXT: the numbers in the text about a column, from its line with TEXT on.
explained() {
	sed -n "/^\.It Va $1\$/,/^\.It/p" man/kvmtop-history.5 | sed -n "/$2/,/^\.br/p" |
		grep -oE '(^|[ (:])[0-9]+ [a-z]' | grep -oE '[0-9]+' | sort -nu
}
is "$(explained use '^0')" "$(enumerators field_use)" "and every use of a field"
waits=$(grep -oE '^\s+KIND\([A-Z_]+' core/facts/field.h | awk '{ print NR - 1 }')
is "$(explained part 'Use 6:')" "$waits" "and every part of a wait"
is "$(explained part 'Use 2:')" "$(enumerators time_part)" "and every part of a vCPU's time"
hosts=$(grep -oE '^\s+PART\([A-Z]+' core/facts/field.h | awk '{ print NR - 1 }')
is "$(explained part 'Use 5,')" "$hosts" "and whatever the host says"
is "$(explained part 'Use 7:')" "$(enumerators function_side)" "and every side of code"
is "$(explained part 'Use 8:')" "$(enumerators interrupt_part)" "and every part of an interrupt"
is "$(explained part 'Use 9:')" "$(enumerators exit_part)" "and every part of exits"

# Keys and headings come from the program's own tables.
keys=$("$HELPERS/headings" keys | tr ' ' '\n')
columns=$("$HELPERS/headings" columns | sort -u)
check "the help page has keys" test "$(printf '%s\n' "$keys" | grep -c .)" -gt 20
check "views have columns" test "$(printf '%s\n' "$columns" | grep -c .)" -gt 20
man=$(sed -n '/^\.Sh KEYS/,/^\.El/s/^\.It Ic //p' man/kvmtop-screen.7 | tr ' ' '\n' |
	sed 's/^\\&//')
is "$(missing "$keys" "$man")" "" "the man page has every key of the help page"
man=$(sed -n '/^\.Sh COLUMNS/,/^\.El/s/^\.It //p' man/kvmtop-screen.7 | sed 's/ , /\n/g; s/\\&//g')
is "$(missing "$columns" "$man")" "" "the man page has every column's heading"
# In by-guest views the column CurAvg/s has this heading while they count exits.
is "$(missing "$man" "$columns")" "Exits/s" "and no other heading"

# instead: what kvmtop(8) names to use instead of other programs.
instead() {
	sed -n '/^\.Sh INSTEAD/,/^\.Sh PLAT/s/^\.Ql //p' man/kvmtop.8 |
		sed -n 's/ [;:,.]$//; /^kvmtop /p'
}
check "there are commands instead of others" test "$(instead | wc -l)" -ge 10
is "$(instead | while read -r kvmtop options; do
	# shellcheck disable=SC2086 # words
	"$KVMTOP" ${options%% -- *} --help >"$TMP/out" 2>&1 || echo "$kvmtop $options"
done)" "" "and each is a command"

thresholds=$("$KVMTOP" why --thresholds help | sed -E 's/^# ([a-z_]+ = [0-9.]+).*/\1/' |
	grep -vE '^(critical|major|noise)_ratio ')
man=$(sed -n '/^A cause is found/,/^\.El/s/^\.It //p' man/kvmtop-why.8 | sed 's/ , /\n/g')
is "$man" "$thresholds" "the man page has every threshold of kvmtop why"

headings=$("$KVMTOP" exits --sysroot tests/sysroot/amd 0.1 | sed 's/^ *//; s/   */\n/g; q')
man=$(sed -n '/^The columns are Exit reason/,/^\.Xr/p' man/kvmtop-exits.8 | tr '\n' ' ' |
	sed 's/^The columns are //; s/, with.*//; s/, /\n/g; s/ and /\n/')
check "kvmtop exits has columns" test "$(printf '%s\n' "$headings" | grep -c .)" -gt 10
is "$(missing "$headings" "$man")" "" "the man page has every heading of kvmtop exits"

# Metrics with their labels: "kvmtop_exits_total guest reason".
metrics=$("$KVMTOP" export --metrics help | sed -n 's/^      \(kvmtop_[^ ].*\)/\1/p' | tr -d ',}' |
	tr '{' ' ')
man=$(sed -n '/^\.Sh METRICS/,/^\.Sh MANY/s/^\.It \(kvmtop_.*\)/\1/p' man/kvmtop-export.8 |
	sed 's/ ,//g')
check "there are metrics" test "$(printf '%s\n' "$metrics" | grep -c .)" -gt 15
is "$man" "$metrics" "the man page has every metric with its labels, in the same order"
names=$(grep -ohE 'kvmtop_[a-z_]+' README.md packaging/contrib/*/* |
	sed -E 's/_(bucket|sum|count)$//; s/__?$//' | sort -u)
known=$(printf '%s\n' "$metrics" | sed 's/ .*//')
is "$(missing "$names" "$known
kvmtop_exits
kvmtop_exit_seconds
kvmtop_vcpu_seconds")" "" "README, rules and dashboard name no other metric"

# The list of folders is the table of check-layers, in the same order.
is "$(sed -n '/^## Where things are/,/^## [^W]/s/^| `\([^`]*\)`.*/\1/p' docs/ARCHITECTURE.md)" \
	"$(tests/tools/check-layers --folders)" \
	"ARCHITECTURE.md lists the folders, from the top down"

is "$(sed -n '/^\* Counting:/,$p' docs/ARCHITECTURE.md | sed 's/.*: //' | tr -d '. ' | tr ',' '\n' |
	grep . | sort)" "$(basename -s .md docs/decisions/*.md | sort)" "and every decision"

# Paths in backquotes, but not patterns and names in capitals, such as arch/NAME.c; and links, which
# are relative to the folder of their document.
documents="$(ls ./*.md docs/*.md docs/decisions/*.md)"
paths=$({
	# shellcheck disable=SC2086 # names without blanks
	grep -ohE '`[A-Za-z_.-]+/[^` ]*`' $documents tests/sysroot/README | tr -d '`' |
		sed 's|^build/tests|tests|' | grep -vE '^build/|\*|[/_][A-Z]+(/|\.[ct])?$'
	for file in $documents; do
		grep -oE '\]\([^):]+\)' "$file" | tr -d '])(' | sed "s|^|$(dirname "$file")/|"
	done
} | sort -u)
check "the documentation names files" test "$(printf '%s\n' "$paths" | grep -c .)" -gt 20
gone=
for path in $paths; do
	[ -e "$path" ] || [ -e "$path.c" ] || ls -d tests/sysroot/*/"$path" >/dev/null 2>&1 ||
		gone="$gone$path "
done
is "$gone" "" "and each of them is there"

# All that a new machine needs: each installs what is missing.
is "$(sed -n '/^## Try it/,/^## [^T]/s/^    \(make [a-z]*\) .*/\1/p' README.md | head -n 2)" \
	"make run
make check" "README begins with the two commands that a new machine needs"
for target in run check; do
	like "$(make -n "$target" 2>&1)" '^packaging/tools/deps -q build' \
		"make $target installs what is missing"
done

targets=$(make -s help | awk '{ print $1 }')
wanted=$(grep -ohE '(^    |`)make [a-z][a-z-]*' ./*.md docs/*.md | sed 's/.*make //' | sort -u)
check "the documentation names make targets" test "$(printf '%s\n' "$wanted" | grep -c .)" -gt 5
is "$(missing "$wanted" "$targets")" "" "and make help has each of them"

done_testing
