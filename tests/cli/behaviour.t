#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The live screen where something changes under the user's hands: guests end, samples are held, and
# Enter, Backspace, b, f and g lead somewhere from wherever they are pressed.
. tests/lib.sh

amd=tests/sysroot/amd
lockdown=tests/sysroot/lockdown

# look MACHINE OPTION...: until there are rates.
look() {
	t_root=$1
	shift
	case " $* " in
	*" --view "* | *" -b "*) ;;
	*) set -- --view events "$@" ;;
	esac
	script_start 120 24 --sysroot "$t_root" "$@"
	screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
}

# shows KEYS REGEX NAME: the keys, then what must be seen.
shows() {
	# shellcheck disable=SC2086
	screen_keys $1
	screen_has "$2" "$3"
}

# type_in KEY PROMPT TEXT: what a prompt is answered.
type_in() {
	screen_keys "$1"
	screen_wait "$2"
	screen_type "$3"
	screen_keys Enter
}

# never REGEX NAME: it is not on the screen.
never() {
	unlike "$(screen_shot)" "$1" "$2"
}

# total_of REASON: the first number in its row, without marks.
total_of() {
	screen_shot | sed -n "s/^ $1 *\([0-9,][0-9,]*\) .*/\1/p" | tr -d ,
}

# A machine with guests that can end: leave PID takes one away.
copy_amd() {
	rm -rf "$TMP/amd"
	cp -a $amd "$TMP/amd"
}
leave() {
	rm -rf "$TMP/amd/proc/$1" "$TMP/amd/sys/kernel/debug/kvm/$1"-*
}

# ---- the selected guest ends

copy_amd
look "$TMP/amd" -s 0.1 --view guests
screen_wait '^ db1 .* [1-9][0-9]* '
type_in / '^Search' web1
screen_wait '^ web1 '
screen_pass 0.3
leave 112
screen_has ' 1 guest ' "a guest ends"
screen_has '^ web1 \(ended\) +112 +1 +0 ' "and keeps its row"
shows Enter '\[3 vCPUs\].* web1 .*DEAD' "which Enter opens"
shows 'BSpace Home Enter' '\[3 vCPUs\].* db1 ' "as it opens the others"
screen_keys q

# ---- the guest that is looked at ends

copy_amd
look "$TMP/amd" -s 0.1 --view guests
type_in / '^Search' web1
shows Enter '\[3 vCPUs\].* web1 \(pid 112\)$' "the vCPUs of a guest"
screen_wait '^ 0 +- +122 .* io '
screen_keys 4
screen_wait '^ hlt .* 0\.[0-9] '
total=$(total_of npf)
leave 112
screen_has ' web1 .*is DEAD$' "which ends"
screen_has '^ npf +[0-9,]+ +0 ' "its exits keep their totals, and their rates are 0"
check "they do not go back" test "$(total_of npf)" -ge "${total:-1}"
shows 3 '^ web1 \(ended\) +0 .* 0 ' "so do its vCPUs"
screen_keys q
copy_amd
look "$TMP/amd" -s 0.1 --view guests -g web1
leave 112
screen_has 'is DEAD$' "a guest that was asked for ends"
screen_has '^ web1 \(ended\) ' "its row stays"
shows 'r' '^ web1 has ended; c shows all guests' "until its totals are reset"
shows c '^ db1 ' "c shows the others"
screen_keys q

# ---- pause holds what is there

look $amd -s 25 --view guests
screen_wait '^ db1 .* [1-9][0-9]* '
screen_keys Space
screen_wait PAUSED
shows 'Down Down Enter' '\[3 vCPUs\].* db1 ' "paused, Enter goes deeper"
screen_has '^ 1 +- +123 .* [0-9,]+ ' "with the numbers that are held"
shows Enter '\[4 Exits\].* db1 › vCPU ' "and deeper"
screen_has '^ hlt .* 0\.[0-9] ' "with numbers"
shows Enter '^ Nothing of this view was counted at that moment; End leads back' \
	"what is not held says so"
shows 'BSpace BSpace BSpace' '\[2 Guests\]' "back again"
screen_has '^ db1 +115 +2 .* 4[0-9]\.[0-9] ' "the numbers are still there"
never 'no exits counted yet' "in the summary, too"
shows 5 '^ Nothing of this view was counted at' "another view"
shows Space '^ (io|msr|npf|cpuid) .* db1' "goes on with what was asked meanwhile"
screen_keys q

look $amd -s 25
screen_keys Space
screen_wait PAUSED
shows 4 '^ hlt .* 0\.[0-9] ' "from the events: exits are counted for every view"
type_in f '^Filter' kvm_exit
shows 1 'kvm_exit +[0-9,]+ ' "a filter works on what is held"
never 'kvm_entry' "and leaves nothing else"
shows Space 'kvm_exit +[0-9,]+ ' "and then counts"
shows c '^ kvm_entry +[0-9,]+ ' "until it is cleared"
shows '4 Space' '^ hlt .* 0\.[0-9] ' "a pause before the first rates holds the first that come"
screen_has 'PAUSED' "and is one"
screen_keys q

# ---- where Enter leads

look $amd -s 25
screen_keys x
screen_wait '^ .* interrupt +[0-9]+ '
type_in / '^Search' 'interrupt'
shows Enter '\[4 Exits\]' "Enter on a reason shows the exits"
screen_has '^ interrupt  Time ' "with that reason selected"
shows Enter '^ No argument of interrupt seen yet.*' "which has no arguments"
shows Enter '\[3 vCPUs\].* all guests › interrupt$' "but Enter shows the guest"
screen_has '^ db1 +[01] .* interrupt' "by vCPU"
shows Enter '\[4 Exits\].* db1 › vCPU ' "and deeper, the exits of one"
screen_has '^ interrupt  Time ' "with that reason selected"
shows 'BSpace BSpace BSpace BSpace' '\[1 Events\]' "Backspace comes back all the way"
shows 5 '^ (io|msr|npf|cpuid) .* db1' "the hot spots"
shows Enter '\[3 vCPUs\].* (db1|web1) › ' "Enter on one shows the vCPUs of its guest"
screen_keys BSpace
screen_wait '\[5 Hot'
shows 1 '\[1 Events\]' "the events"
type_in / '^Search' kvm_entry
shows Enter '^Nothing is known below kvm_entry' "an event without reasons says so"
screen_keys q

look $lockdown -s 25 --view exits
screen_wait '^ MMIO +[0-9,]+ +[1-9]'
shows Enter '^ No argument of MMIO seen yet' "where kvm_exit never fires"
shows Enter '\[3 vCPUs\].*› MMIO$' "Enter shows their guest"
screen_keys q

# ---- what the second line is about

look $amd -s 25 -g db1
screen_wait ' db1 '
screen_has '^exits 3,[0-9]{3}/s .* db1: ' "with one guest, the rate is that guest's"
shows 4 '^ Total .* 3,[0-9]{3} ' "in another view"
rate=$(screen_shot | sed -n 's/^exits \([0-9,]*\).s .*/\1/p')
screen_has "^ Total .* ${rate:-none} " "it is that of the table"
screen_has '^exits 3,[0-9]{3}/s ' "as before"
never 'hottest web1' "what is hottest is one of its exits"
screen_keys q
look tests/sysroot/arm64 -s 25 --view exits
never 'no exits counted' "where none can be counted it says nothing"
screen_has '^ .*reasons, without times' "and the table what can be"
screen_keys q

# ---- b

look $amd -s 25 --view exits
screen_wait '^ hlt .* 0\.[0-9] '
shows b '\[2 Guests\]' "b shows the guests"
shows b '\[4 Exits\]' "and goes back to where it was pressed"
shows 'b Down Down Enter' '\[3 vCPUs\].* db1 ' "from there one can go deeper"
shows BSpace '\[2 Guests\]' "come back"
shows BSpace '\[4 Exits\]' "and on"
shows w '\[w Why\]' "w shows the findings"
shows BSpace '\[4 Exits\].*' "and Backspace goes back to where it was pressed"
screen_keys q

# ---- what is said, and for how long

look $amd -s 25
shows o '^Sorted by total' "what a key did is said"
shows 2 '^h help' "until the next one"
shows Enter '^h help .*Backspace back' "Backspace is among the keys where it leads somewhere"
shows '4 x' '^x opens the reasons of events, all of Who and the calls of code' \
	"x has nothing to open among the exits"
shows 1 '^.kvm_exit ' "and opens nothing elsewhere"
never '├' "without a key"
screen_keys q

# ---- a filter, and one that matches nothing

look $amd -s 25 --view exits
type_in f '^Filter' 'kvm_exit(io)'
screen_has '^ io +[0-9,]+ ' "a filter by an event's reason shows the reason"
shows 3 '^ db1 +0 .*[0-9] io +[0-9.]+$' "its exits, where the vCPUs are shown"
shows 5 '^ io +0x3f8 write' "and its arguments in the hot spots"
shows 1 'kvm_exit\(io\)|└io +[0-9,]+ ' "as among the events"
type_in f '^Filter' 'nosuch'
screen_has '^ The filter kvm_exit\(io\)nosuch matches no event; c clears it' "no match"
shows 4 '^ The filter .* matches no exit so far; c clears it' "among the exits"
shows 3 '^ The filter matches no exit so far' "by vCPU"
shows 5 '^ The filter .* matches no argument' "in the hot spots"
shows 1 'matches no event' "and back"
shows c '^ kvm_entry ' "c clears it"

# ---- the guest

type_in g '^Guest' eb
screen_has 'web1 \(pid 112\)$' "g takes a part of a name that one guest has"
type_in g '^Guest' 1
screen_has '^2 guests match: b lists all of them' "but not one of several"
screen_keys Escape
type_in g '^Guest' 99999
screen_has '^no guest has a process or thread 99999' "a pid that no process has"
screen_keys Escape
screen_keys q

cp -a $amd "$TMP/libvirt"
mkdir -p "$TMP/libvirt/run/libvirt/qemu"
cat >"$TMP/libvirt/run/libvirt/qemu/web1.xml" <<-EOF
	<domstatus pid='112'><domain><title>shop frontend</title></domain></domstatus>
EOF
look "$TMP/libvirt"
type_in g '^Guest' front
screen_has 'web1 \(pid 112\)$' "g takes a part of a title"
screen_keys q

# ---- small stacks: they are raised, or the limit is said

for way in -S ''; do
	# shellcheck disable=SC2086,SC3045 # words; dash has ulimit -s
	(ulimit $way -s 64 && "$AT_ONCE" --sysroot tests/sysroot/amd -1) >"$TMP/out" 2>"$TMP/err"
	status=$?
	like "$status $(head -n 1 "$TMP/err")" '^(0 |1 kvmtop: .*: ulimit -s 1024$)' \
		"ulimit $way -s 64: numbers, or the reason"
done

is "$(status_of "$AT_ONCE" --sysroot tests/sysroot/amd -1 -f '(\w+_?)+INTERRUPT$')" 1 \
	"a filter that runs into PCRE2's limit fails"
like "$(cat "$TMP/err")" 'cannot be matched with all names: match limit exceeded' "and says so"

# ---- a guest of this machine

if [ "$(id -u)" != 0 ] || [ ! -e /dev/kvm ] || ! tracefs >/dev/null; then
	skip "a guest that ends while it is looked at" "needs root, /dev/kvm and tracefs"
	done_testing
fi
need_screen
name=victim-$$
spawn "$HELPERS/miniguest" --name $name --vcpus 2 --rounds 0 --pio 5 --mmio 2 --pause 2000 \
	>"$TMP/victim.out"
victim=$SPAWNED
wait_for 20 grep -q ready "$TMP/victim.out"
# With -g: other guests may come and go on this machine.
SCRIPT_CLOCK=real
export SCRIPT_CLOCK
script_start 100 24 -b -s 0.3 -g $name
if ! screen_sees "^ $name .* [1-9][0-9]+ .* IO "; then
	skip "a guest that ends while it is looked at" "exits cannot be counted by reason here"
	done_testing
fi
shows Enter '^ 1 .* [0-9]+ ' "the vCPUs of a guest that runs"
screen_wait '^ 0 +- .* [1-9][0-9,]+ .* IO '
screen_keys Enter
screen_wait "\[4 Exits\].* $name › vCPU "
screen_wait '^ IO +[1-9]'
shows 'Home Enter' "\[5 Hot spots\].* $name › vCPU [01] › [A-Z]" "what its exits were about"
screen_wait '(0x[0-9a-f]+ write|No argument of)'
screen_keys BSpace
screen_wait '^ IO +[1-9][0-9,]* +[1-9]'
stop "$victim" KILL
screen_has " $name › vCPU [01] \(DEAD\)$" "it ends"
screen_has '^ IO +[1-9][0-9,]* +0 ' "and its exits keep their totals"
shows 'BSpace' "^ $name \(ended\) +0 .* [1-9][0-9,]* " "so do its vCPUs"
shows 'BSpace' '\[2 Guests\]' "Backspace goes back to the guests"
screen_wait "^ $name \(ended\) "
shows Enter "\[3 vCPUs\].* $name .*DEAD" "where it can be opened again"

done_testing
