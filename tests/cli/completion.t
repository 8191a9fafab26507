#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the program offers for a command line's next word.
# shellcheck disable=SC2086 # options are words
. tests/lib.sh

amd="--sysroot tests/sysroot/amd"

# next WORD...: the words that can stand in place of the last one; @files: what the shell knows.
next() {
	"$KVMTOP" --complete -- "$@" | sed 's/\(.\)	.*/\1/' | tr '\t\n' '@ '
}

# options_of [COMMAND]: the options that --help lists.
options_of() {
	"$KVMTOP" "$@" --help | sed '/^Commands/,$d' | grep '^  ' | cut -c1-31 |
		grep -oE -- '-[-a-zA-Z0-9]+' | tr '\n' ' '
}

# The columns that an error lists, and those that stand next: both in the order of the alphabet.
listed() {
	sed -n '/there are:$/,/^Try/s/^  //p' "$TMP/err" | tr -s ' ' '\n' | sort | tr '\n' ' '
}
sorted() { tr -s ' ' '\n' | sort | tr '\n' ' '; }

commands=$("$KVMTOP" --help | sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p')
is "$(next '')" "$(printf '%s ' $commands)" "the commands, where one can stand"
for command in "" $commands; do
	is "$(next $command -)" "$(options_of $command)" "kvmtop $command: the options of --help"
done
is "$(next -z '')" "$(options_of)" "options, where nothing else can stand"

for command in "" exits why; do
	is "$(next $command $amd -g '') $(next $command $amd -p '')" "web1 db1  112 115 " \
		"${command:-kvmtop} -g: the guests, -p: their pids; of --sysroot"
done
is "$(next exits $amd --diff '')" "web1 db1 " "exits --diff: guests, too"
for view in $(next --view ''); do
	"$KVMTOP" -1 --view $view -k none 2>"$TMP/err"
	is "$(next --view $view -k '' | sorted)" "$(listed)" \
		"-o: the columns of the view $view"
done
is "$(next --view guests -k '')" "$(next -b -k '')" "-b is a view, too"
is "$(next --view=guests -k '')" "$(next --view = guests -k '')" \
	"--view=NAME, in bash's pieces, too"
"$KVMTOP" exits -k none 2>"$TMP/err"
is "$(next exits -k '' | sorted)" "$(listed)" "exits -k: its columns"
like "$(next report -k '')" 'stddev_ns' "report -k: what only recordings have, too"
like "$(next report --view host -k '')" '^cpu node' "and of a view its own"
# Each word is one that the option takes.
for option in exits:--event report:--event report:--by report:--input-format \
	format:--input-format; do
	for word in $(next ${option%:*} ${option#*:} ''); do
		"$KVMTOP" ${option%:*} ${option#*:} $word none 2>"$TMP/err" >/dev/null
		unlike "$(cat "$TMP/err")" "\"$word\"" "${option%:*} ${option#*:} takes $word"
	done
done
for word in $(next export --metrics ''); do
	check "--metrics takes $word" "$KVMTOP" export --metrics "$word" --help
done
field=$(next $amd -f '' | tr ' ' '\n' | grep '^kvm_exit.hlt')
like "$("$AT_ONCE" $amd -1 -f "$field")" '^kvm_exit\(hlt\) ' \
	"a field that is offered is that field"
if [ -r /sys/kernel/tracing/events/kvm/kvm_exit/id ]; then
	like " $(next record -e '')" ' kvm_exit ' "record -e: events"
else
	skip "record -e: events" "the kernel's events of KVM cannot be read"
fi

is "$(next report '')$(next report --diff '')$(next -r '')$(next -L '')" \
	"@files @files @files @files " "files are the shell's"
is "$(next --sysroot '')$(next record '')$(next record ls '')" "@folders @commands @files " \
	"so are folders and programs"
is "$(next -r -)" "$(options_of)" "the file of -r may be absent"
is "$(next --diff '')$(next -n '')" "" "of a number, and of a span of time, nothing is offered"
is "$(next report -- -)" "@files " "after -- there are no options"
is "$(next exits record '')" "$(options_of exits)" "the command is the first word"

done_testing
