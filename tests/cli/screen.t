#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The live screen: every key and prompt, the mouse, every size; tests/cli/terminal.t has what a
# terminal decides.
#
# UPDATE=1 tests/cli/screen.t writes tests/golden/screen/*.txt anew.
# shellcheck disable=SC2317 # some functions are only called by check
. tests/lib.sh

amd=tests/sysroot/amd
intel=tests/sysroot/intel

# start COLUMNS ROWS MACHINE OPTION...: until rates are there.
start() {
	t_cols=$1 t_rows=$2 t_root=$3
	shift 3
	case " $* " in
	*" --view "* | *" -b "*) ;;
	*) set -- --view events "$@" ;;
	esac
	script_start "$t_cols" "$t_rows" --sysroot "$t_root" "$@"
	screen_wait '[0-9]/s |[a-z)] +[0-9]+$'
}

# The picture without the time of day.
shot() {
	screen_shot | sed -E 's/[0-9]{2}:[0-9]{2}:[0-9]{2}/HH:MM:SS/g'
}

# settle: until the second sample after a question was taken.
settle() {
	screen_pass 1
}

# picture NAME [SED]: the whole of it.
picture() {
	shot | sed "${2:-}" >"$TMP/picture"
	same_golden "$TMP/picture" "tests/golden/screen/$1.txt" "picture $1"
}

# keys_show KEYS REGEX NAME: the keys, then what must be seen.
keys_show() {
	# shellcheck disable=SC2086
	screen_keys $1
	screen_has "$2" "$3"
}

# selects NAME TEXT: the first word of the selected row; "": there is none.
selects() {
	is "$(screen_selected | sed 's/^[^a-z]*//; s/ .*//')" "$1" "$2"
}

# The name in the N-th row of the table.
row() {
	screen_line $((5 + $1)) | sed 's/^[^a-z]*//; s/ .*//'
}
is_row() {
	[ "$(row "$1")" = "$2" ]
}

ends_with() {
	is "$(screen_status)" "$1" "$2"
}

lacks() {
	! screen_shot | grep -q -e "$1"
}

# ---- pictures

start 80 24 $amd -s 25
screen_wait 4715
picture amd-80x24

# ---- the cursor and the tree

screen_keys Down
selects kvm_entry "the first arrow selects the first row"
screen_keys Down
selects kvm_exit "the next one goes down"
is "$(screen_cursor)" 0,6,0 "the terminal's cursor, which screen readers follow, is there"
keys_show Enter ' ├ cpuid ' "Enter opens an event's reasons"
screen_keys Down Down Down
selects interrupt "the cursor goes into the tree"
screen_keys Home Down Enter
check "Enter closes them" is_row 3 kvm_write_tsc_offset
keys_show x '^▾kvm_exit ' "x opens all"
screen_keys x
check "and closes them" is_row 3 kvm_write_tsc_offset
screen_keys End
selects kvm_hypercall "End"
screen_keys Home
selects kvm_entry "Home goes to the first row"
screen_keys Escape
selects "" "Esc lets go of the row"

keys_show F5 '^This key does nothing here; h lists the keys' "a key without a meaning says so"
keys_show 9 '^This key does nothing here' "so does a digit without a view"
screen_keys Escape
screen_wait '^h help'

settle
before=$(shot)
screen_keys Down Up F5
screen_wait '^This key does nothing here'
screen_keys Escape
screen_wait '^h help'
selects "" "after these keys"
is "$(shot)" "$before" "flaw_B7: keys take no sample, unknown ones do nothing"

# ---- views

keys_show Tab '\[2 Guests\]' "Tab goes to the next view"
screen_has '^ db1 +2 +[0-9]+ +[0-9.]+ +4[0-9]\.[0-9] ' "with a row for each guest"
keys_show BTab '\[1 Events\]' "Shift-Tab goes back"
keys_show 2 '\[2 Guests\]' "2"
keys_show 1 '\[1 Events\]' "1"
keys_show b '\[2 Guests\]' "b goes to the guests"
keys_show b '\[1 Events\]' "b goes back to the events"
keys_show 3 '\[3 vCPUs\]' "3"
keys_show 4 '\[4 Exits\]' "4"
keys_show 5 '\[5 Hot spots\]' "5"
keys_show 1 '\[1 Events\]' "1"

# ---- drilling down

keys_show '2 /' '^Search' "the guests"
screen_type db1
screen_keys Enter
selects db1 "with a guest selected"
check "there is nothing to go back to" lacks 'Backspace back'
keys_show Enter '\[3 vCPUs\].* db1 \(pid 115\)$' "Enter on a guest shows its vCPUs"
screen_has '^h help .* Backspace back ' "the last line says how to go back"
check "and nothing that does nothing here" lacks 'x reasons'
screen_has '^ 1 +- .* 5[0-9]\.[0-9] ' "one a line"
unlike "$(screen_shot)" web1 "and no other guest's"
keys_show 'Down Down Enter' '\[4 Exits\].* db1 › vCPU 1$' "Enter on a vCPU shows its exits"
screen_has '^ hlt +[0-9]+ +[0-9.]+ +0\.[0-9] ' "of halts what KVM works is a cost"
screen_has '^ io  Time .* Avg .* ended$' "the latency of the first row is below"
keys_show 'End' '^ hypercall  Time ' "of the selected one when there is one"
keys_show '/' '^Search' "a search"
screen_type '^msr'
screen_keys Enter
selects msr "for a reason"
keys_show Enter '\[5 Hot spots\].* db1 › vCPU 1 › msr$' "Enter on an exit shows its arguments"
screen_has '^ 0x6e0 IA32_TSC_DEADLINE write +[0-9]+ ' "by name"
unlike "$(screen_shot)" '0x3f8' "and no others"
keys_show BSpace '\[4 Exits\].* db1 › vCPU 1$' "Backspace goes back to the exits"
selects msr "and to the row it came from"
settle
keys_show 'Home' '^ (io|npf)  Time ' "another row"
screen_keys End
keys_show Enter 'No argument of hypercall seen yet' "an exit without arguments says so"
keys_show 'BSpace BSpace' '\[3 vCPUs\].* db1 \(pid 115\)$' "twice back to the vCPUs"
keys_show BSpace '\[2 Guests\].* 8 Where *$' "Backspace goes back to the guests"
keys_show 'Enter 4' '\[4 Exits\].* db1 \(pid 115\)$' "a tab stays with the guest"
keys_show 2 '\[2 Guests\].* 8 Where *$' "but for the guests"
keys_show c '\[2 Guests\].* 8 Where *$' "c"
keys_show b '\[1 Events\]' "b goes back to the events"

# ---- order

keys_show o '▾Total' "flaw_E2: o sorts by total, and the heading says so"
screen_has '^Sorted by total' "so does the last line"
keys_show o '▾CurAvg/s' "o again by rate"
keys_show '<' '▾%Total' "< sorts by the column to the left"
keys_show '<' ' ▾Total' "and the next"
keys_show '<' ' Event▾' "and the name"
check "in the order of the names" is_row 1 kvm_apic
keys_show R ' Event▴' "R reverses"
check "and has the last name first" is_row 1 vcpu_match_mmio
keys_show '<' '▴CurAvg/s' "< comes around to the rate"
keys_show '>' ' Event▴' "> is its opposite"
keys_show '> > > R' '▾CurAvg/s' "> R"
check "the highest rate first" is_row 1 kvm_entry
keys_show '2 o o' 'vCPUs +▾Total ' "a column that had no room has it when it is sorted by"
keys_show 1 '▾CurAvg/s' "each view has an order of its own"
keys_show '3 2' 'vCPUs +▾Total ' "and keeps it while others are looked at"
keys_show 'R Enter BSpace' 'vCPUs +▴Total ' "on the way back, too"
screen_keys R o 1
screen_wait '▾CurAvg/s'

# ---- reset, interval, pause

settle
rate=$(screen_shot | sed -n 's/^ kvm_entry .* \([0-9]*\)  *█.*/\1/p')
keys_show r '^ kvm_entry +0 ' "r: totals count from now on"
screen_has '^Totals count from now on' "and that is said"
is "$(screen_shot | sed -n 's/^ kvm_entry  *0 .* \([0-9]*\)  *█.*/\1/p')" "$rate" \
	"flaw_B6: the rate stays what it was"
keys_show s '^Seconds \(now 25\.0, Enter: 3\.0\): *$' "s asks"
is "$(screen_cursor)" 32,23,1 "with the terminal's cursor in the prompt"
screen_type abc
keys_show Enter '^"abc": not a time from' "what is no number is refused"
keys_show C-u '^Seconds .*: *$' "and can be corrected"
screen_type 0.05
keys_show Enter 'not a time from 0\.1 s to 86400 s' "what is too short is refused"
screen_keys C-u
screen_type 1.5
keys_show Enter '   1\.5s  ' "1.5 seconds"
keys_show 's Enter' '   3\.0s  ' "nothing is the usual interval"
screen_keys s
screen_type 25
keys_show Enter '  25\.0s  ' "25 seconds"
keys_show Space 'paused at [0-9:]{8}, ([0-9]+ s ago|now)$' "Space holds the moment"
screen_has '^PAUSED  h help' "a message goes by itself; PAUSED stands in the last line, too"
keys_show Space '^kvmtop.*vCPUs  +25\.0s' "and goes on"

# ---- over time

screen_has '^h help .* m heat map' "the last line lists m"
keys_show m '^ all exits  [0-9.]+m?i?n?s?( |$)' "m: all exits over time"
screen_has '^h help  q quit  m table  Left Right time ' "with keys of its own"
keys_show h '^ m +the row' "h: help"
keys_show Escape '^ all exits  [0-9.]+m?i?n?s?( |$)' "which goes back to it"
keys_show m '^ kvm_entry ' "m again: the table"
keys_show 'm Escape' '^ kvm_entry ' "Esc, too"

# ---- search

screen_keys /
screen_wait '^Search'
screen_type 'p[i]o'
screen_keys Enter
selects kvm_pio "/ finds a name"
screen_keys /
screen_type '^kvm_p'
screen_keys Enter
selects kvm_page_fault "the next from there"
screen_keys n
selects kvm_pvclock_update "n: the next, around the end"
screen_keys n
selects kvm_pv_tlb_flush "and the next"
screen_keys /
screen_type 'nothing'
keys_show Enter '^Not found' "what is not there is not found"
screen_keys /
screen_type '('
keys_show Enter '^"\(" is not a valid' "what is no regular expression is refused"
screen_keys Escape
screen_wait '^(Not found|h help)'
screen_keys Home
selects kvm_entry "Home from there"

# ---- help

keys_show h '^ q F10 +quit' "h: help"
picture help-80x24 2d
keys_show q '^ kvm_entry ' "q leaves the help, not the program"
keys_show '?' '^ q F10 +quit' "?: help"
keys_show 'q F1' '^ q F10 +quit' "F1: help"
screen_resize 60 12
screen_has '^arrows: more' "help that does not fit can be scrolled"
keys_show 'Down Down' '^ 1 - 8 Tab' "by a line"
keys_show End '^ History +the rate' "to its end"
keys_show 'PPage PPage PPage PPage PPage Down Down' '^ 1 - 8 Tab' "and back"
screen_resize 80 40
screen_has '^any key: back' "and fits again"
screen_resize 80 24
keys_show Escape '^ kvm_entry ' "Esc leaves it"

# ---- the filter

keys_show f '^Filter \(regex\): *$' "f asks for a filter"
screen_type 'wrong'
screen_keys Left Left Up Down PPage C-a
screen_type '^'
screen_keys End BSpace DC Home Right DC C-k
screen_type 'kvm_exit$'
screen_has '^Filter \(regex\): \^kvm_exit\$$' "flaw_E3: arrows move in the prompt, they are no text"
keys_show Enter ' \^kvm_exit\$$' "the filter is at work"
check "and nothing else is shown" is_row 2 ""
screen_keys f
screen_type '('
keys_show Enter '^"\^kvm_exit\$\(" is not a valid' "a wrong one is refused"
keys_show Left '^Filter \(regex\): \^kvm_exit\$\($' "and can be corrected"
keys_show Escape '^(h help|[A-Z])[^:]*$' "flaw_E3: Esc leaves the prompt"
is "$(screen_line 4 | grep -c ' ^kvm_exit\$$')" 1 "and changes nothing"
keys_show 'f C-u Enter' ' 8 Where *$' "an empty one is none"
screen_keys f
screen_type 'kvm_userspace_exit\('
keys_show Enter ' ├ IO ' "a filter that names reasons shows them"
keys_show c ' 8 Where *$' "c clears it"
screen_keys f
screen_wait '^Filter'
screen_type x
screen_keys Escape
screen_has '^[a-z[:upper:]][^:]*$' "flaw_E3: so does Esc"

# ---- the guest

keys_show g '^Guest or pid [(]Enter: all[)]:' "g asks for a guest"
screen_type web2
keys_show Enter 'no guest named "web2"; there are: ' "nobody's name is refused"
screen_keys C-u
screen_type web1
keys_show Enter ' web1 \(pid 112\)$' "a name"
screen_keys g
screen_type 115
keys_show Enter ' db1 \(pid 115\)$' "a pid"
screen_keys g
screen_type 99999999999999999999
keys_show Enter 'no guest has a process or thread 9+' "a number that is no pid"
keys_show Escape ' db1 \(pid 115\)$' "flaw_E3: Esc changes nothing"
screen_keys g
screen_type 0
keys_show Enter ' 8 Where *$' "0: all"
screen_keys g
screen_type 115
screen_keys Enter
screen_wait ' db1 \(pid 115\)$'
keys_show 'g Enter' ' 8 Where *$' "nothing: all"
screen_keys F10
ends_with 0 "F10 ends it"

# ---- durations over time

# intervals N: so many, or more, of the captured ones, which are a second long.
intervals() {
	t_nr=$(screen_shot | sed -n '5s/.*  \([0-9]*\)\(\.0\)*s .*/\1/p')
	[ -n "$t_nr" ] && [ "$t_nr" -ge "$1" ]
}

start 80 24 $amd -s 0.2 --view exits
keys_show 'Home m' '^ io  [0-9.]+s +up to · 3 ░ 10 ▒ 32 ▓ 102 █ 325 exits  ─ p50  ━ p99$' \
	"a heat map of the selected row"
screen_pass 2
check "has a column for each interval" intervals 9
screen_keys s
screen_wait '^Seconds'
screen_type 25
screen_keys Enter
screen_wait '25\.0s'
screen_keys Space
screen_has '^ [0-9:]+  720 exits  720/s  p50 94\.6µs  p99 1\.03ms  max 2\.10ms-4\.19ms$' \
	"with the numbers of the newest"
screen_has '^ +131µs +[█▓]+│?$' "the durations that most have"
screen_has '^ +66µs +─+$' "the line of p50"
screen_has '^ +[0-9:]+▲$' "the time cursor is at the moment that is held"
keys_show Left '│.$' "Left: one sample back"
screen_has '^ +1k + │ ?$' "the cursor goes through the graphs"
keys_show 'Left Left' '│..*$' "and further"
keys_show Home '^ +[0-9:]*▲[^▲]*$' "Home: the first sample"
keys_show Left '^No earlier sample is remembered' "and no further"
screen_keys End
check "End: the newest" lacks '▲'
screen_keys Right
check "nothing is behind it" lacks '▲'
keys_show Down '^ npf  ' "Down: the next row"
keys_show Up '^ io  ' "Up: the row before"
keys_show Enter '› io$' "Enter leads from the heat map, too"
keys_show 'BSpace m' 'Exit reason' "m: the table"
screen_keys q
ends_with 0 "and the end"

# ---- a table longer than the screen

start 80 24 $amd -s 25 -x
keys_show NPage '^ Total  1-17 of [0-9]+ ' "flaw_E2: more rows than fit"
keys_show 'NPage NPage' '^ Total +2?[0-9]-[0-9]+ of' "PgDn"
screen_keys End
is_at_end() {
	t_shown=$(screen_shot | sed -n 's/.* [0-9]*-\([0-9]*\) of \([0-9]*\) .*/\1 \2/p')
	[ -n "$t_shown" ] && [ "${t_shown% *}" = "${t_shown#* }" ]
}
check "End shows the last row" is_at_end
keys_show 'PPage PPage PPage' '^ Total  1-17 of ' "PgUp goes back to the first"
sums=$(screen_shot | sed -n 's/^ Total *[0-9]*-[0-9]* of [0-9]* *//p')
screen_resize 80 10
screen_has '^ Total  1-4 of ' "fewer rows"
is "$(screen_shot | sed -n 's/^ Total *[0-9]*-[0-9]* of [0-9]* *//p')" "$sums" \
	"flaw_B8: the Total row is of all rows, seen or not"

# ---- sizes

screen_resize 1 1
screen_keys Down
for size in "2 2" "3 3" "20 2" "20 3" "200 4" "16 50"; do
	# shellcheck disable=SC2086
	screen_resize $size
	screen_has '^(t|too| Event|\[1 Ev)' "flaw_E1: ${size% *} columns, ${size#* } rows"
done
screen_keys h
screen_resize 2 2
screen_keys Down f g
screen_resize 80 24
screen_has '^Filter|^Guest|^h help|^any key' "flaw_E1: back to a size with room"
screen_keys Escape
screen_keys Escape
screen_wait '^h help'
screen_keys q
ends_with 0 "and alive"

start 20 5 $amd -s 25
screen_wait '4715'
picture amd-20x5
keys_show f '^>' "a prompt at 20x5"
screen_type abcdefghijklmnopqrstuvwxyz
screen_has '^> jklmnopqrstuvwxyz$' "shows the end of its line"
keys_show 'C-u Escape h' '^arrows: more' "help at 20x5"
keys_show 'NPage NPage NPage' '^ Enter' "scrolls"
screen_keys q q
ends_with 0 "q leaves the help, and another one the program"

start 200 60 $intel -s 25 -x
screen_wait '4,124,8'
picture intel-200x60
start 80 24 $intel -s 25 -b
screen_wait '^ Total +515569 '
picture intel-guests-80x24
screen_resize 200 60
screen_wait '^ Total .* 515,569 '
picture intel-guests-200x60
keys_show 'Down Down' '^ Exits of build-7f3a ' "a large screen has a guest's exits below the guests"
screen_has '^ vCPUs of build-7f3a ' "with its vCPUs"
screen_has ' all exits of build-7f3a  ' "and what it did over time"
keys_show Left '▲' "Left goes back in time there, too"
keys_show End '^kvmtop.* 25\.0s  [0-9:]+$' "End to now"
keys_show Enter '^ Exits of build-7f3a ' "the vCPUs of a guest have its exits below"
keys_show 'Down' '^ Exits of build-7f3a vCPU [01] ' "a vCPU has its own"
start 80 24 $intel -s 25 --view vcpus
screen_wait '^ データベース +0 +[0-9]+ +159827 '
picture intel-vcpus-80x24
start 80 24 $intel -s 25 --view exits
screen_wait 'MSR_WRITE +234927 '
picture intel-exits-80x24
screen_resize 200 60
screen_wait 'MSR_WRITE +235,024 '
picture intel-exits-200x60
screen_resize 20 5
screen_has '^ MSR_WRITE +4\.2$' "exits at 20x5: what they are sorted by"
start 80 24 $intel -s 25 --view hotspots
screen_wait '^ MSR_WRITE .*データ'
picture intel-hotspots-80x24
start 80 24 $intel -s 25 --view why
screen_wait '^ The guest sets its timer .*cloud'
picture intel-why-80x24
screen_keys 1 # another picture between: the next lines would match the one that is there
screen_wait '\[1 Events\]'
keys_show w '\[w Why\]' "w shows the view"
screen_wait '^ The guest sets its timer .*build'
screen_keys /
screen_type build
keys_show Enter '; 2 of 2 vCPUs$' "below the table the row's evidence"
keys_show o '^The rows of this view have no rate' "o says that there is no such order"
keys_show Enter '\[3 vCPUs\]' "Enter leads to what shows more of it"
screen_has ' build-7f3a \(pid 4200\)$' "of its guest"
start 80 24 $intel -s 0.1 --view hotspots
screen_has '^[^ ].*: .* \((minor|major)\), and [0-9]+ more: press w$' \
	"a finding of three samples is in line 2"
# Arguments of exits need other BPF programs: that is no gap in the graphs.
start 80 24 $amd -s 0.4 --view exits
screen_keys m
screen_has '^ [0-9:]+  [0-9,]+ exits ' "the heat map of a live machine"
screen_pass 1
screen_keys 5
screen_has '\[5 Hot spots\]' "and of its hot spots"
screen_pass 1.5
screen_keys w 4
screen_wait '\[4 Exits\]'
screen_pass 1.5
unlike "$(screen_shot)" '┊' "without a gap between them"
# Counting began anew twice: t passes over the samples that have no rates.
start 80 24 $amd -s 1 --view exits
screen_pass 4
screen_keys 5
screen_pass 3
screen_keys 4
screen_pass 2
for t_nr in 1 2 3 4 5 6; do
	screen_keys t
	screen_shot
done >"$TMP/past"
is "$(grep -c '^exits [0-9]*/s' "$TMP/past")" 6 "t: each moment has rates"
unlike "$(cat "$TMP/past")" '^exits -/s' "and none is a hole that the screen made"
# Long exits: a captured machine has none.
start 80 24 $amd -s 25 --view exits
keys_show l '^ Long exits were not kept: they are listed live' "l: the list of long exits"
screen_has '\[l Long exits\].*all guests . longer than 1.00ms' "which says how long they are"
keys_show l 'Longer than \(now 1.00ms, Enter: 1.00ms\):' "l there: how long"
screen_type 250us
keys_show Enter 'longer than 250µs' "and so long they are"
keys_show BSpace '\[4 Exits\]' "Backspace leads back"
keys_show 'Home Down l' 'all guests . [a-zA-Z_]+ . longer than 250µs' "of the selected exit only"
keys_show '2 Home l' ' db1 . longer than 250µs|web1 . longer than 250µs' "of the selected guest"
keys_show '3 Home l' ' (db1|web1) . vCPU [01] . longer than 250µs' "of the selected vCPU"
keys_show '4 m' ' all exits ' "the heat map"
keys_show 3 '^ vCPU .*Cost%' "a view's key shows the view, not its heat map"

start 80 24 tests/sysroot/lockdown -s 25 --view exits
screen_wait '^ MMIO +1004 '
picture lockdown-exits-80x24
keys_show Enter '^ No argument of MMIO seen yet' "Enter says what is not seen here"
keys_show 5 '^ Nothing has been counted yet' "arguments of what is not traced are not there"

# ---- where exits cannot be timed

start 80 24 tests/sysroot/arm64 -s 25 --view exits
screen_has '^ This view needs what cannot be counted here. exits: ' "the view says why it is empty"
screen_has '^h help' "which is no notice"
keys_show 3 '^ This view needs what cannot' "so does another"
keys_show 1 '^▸kvm_exit ' "the events have nothing to say of it"
keys_show '2 Down' '^ edge2 +112 +2 +[0-9]+ +60\.0' "guests are counted by their events"
keys_show Enter '\[1 Events\].* edge2 ' "Enter on a guest shows its events"
screen_has '^▸kvm_exit +[0-9]+ ' "and counts them"
keys_show BSpace '\[2 Guests\].* 8 Where *$' "Backspace goes back to the guests"
screen_keys q
ends_with 0 "q ends it"

# ---- the mouse

start 80 24 $amd -s 25
screen_click 10 8
selects kvm_write_tsc_offset "a click selects a row"
screen_click 40 11 65
selects kvm_pvclock_update "the wheel moves on"
screen_click 40 11 64
selects kvm_write_tsc_offset "and back"
screen_click 31 5
screen_has ' ▾Total' "a click on a heading sorts by it"
screen_click 31 5
screen_has ' ▴Total' "another reverses"
screen_click 77 5
screen_has ' ▴Total' "a picture cannot be sorted by"
screen_click 47 5
screen_wait ' ▴CurAvg/s'
screen_click 47 5
screen_wait ' ▾CurAvg/s'
screen_click 15 4
screen_has '\[2 Guests\]' "a click on a tab"
screen_click 5 4
screen_has '\[1 Events\]' "and on the other"
settle
before=$(shot)
screen_click 40 1
screen_click 40 23
is "$(shot)" "$before" "a click on nothing"
screen_click 3 24
screen_has '^ q F10 +quit' "a click on a key in the last line"
screen_click 3 24
screen_has '^▸kvm_exit ' "and one on the help, which leaves it"
screen_keys 2 Down Enter
screen_has '\[3 vCPUs\].* (db1|web1) ' "the vCPUs of a guest"
screen_click 30 24
screen_has '\[2 Guests\]' "a click on Backspace"

# ---- time

start 80 24 $amd -s 0.1
screen_keys f
screen_wait '^Filter'
total=$(screen_total kvm_entry)
screen_pass 0.1
check "flaw_E3: samples go on while a prompt is open" screen_total_moved kvm_entry "$total"
screen_keys Escape Space
screen_has PAUSED "pause"
before=$(shot)
screen_pass 0.4
is "$(shot)" "$before" "paused numbers stand still"
keys_show o '▾Total' "paused, it can be sorted"
screen_keys Space
total=$(screen_total kvm_entry)
screen_pass 0.1
check "and it goes on" screen_total_moved kvm_entry "$total"
screen_keys f
screen_type 'kvm_userspace_exit\('
screen_keys Enter
screen_wait ' ├ IO '
total=$(screen_total kvm_userspace_exit)
screen_pass 0.1
check "flaw_B5: the parent of reasons that a filter names counts on" \
	screen_total_moved kvm_userspace_exit "$total"
screen_keys c
screen_wait '^ kvm_entry '
for _ in 1 2 3 4 5 6 7 8; do
	screen_keys r
	screen_shot | awk '$1 == "kvm_entry" { print $4 }'
done >"$TMP/rates"
is "$(grep -c . "$TMP/rates") $(grep -vcxE -e '-|4716|3915|5285' "$TMP/rates")" "8 0" \
	"flaw_B6: rates after a reset are what they were"
script_start 80 24 --sysroot $amd --view events -s 0.1 -n 3
ends_with 0 "-n 3 ends it"

# ---- guests that end

cp -a $amd "$TMP/amd"
awk '/^sample/ { flush() }
	/^(sample|thread) / { mine = $0 == "thread 122" }
	{ print }
	mine { copy = copy $0 "\n" }
	END { flush() }
	function flush() {
		sub("thread 122", "thread 222", copy)
		printf "%s", copy
		copy = ""
	}' $amd/kvmtop/counters >"$TMP/amd/kvmtop/counters"
start 80 24 "$TMP/amd" -s 0.1 -g web1
screen_wait ' web1 \(pid 112\)$'
mv "$TMP/amd/proc/112" "$TMP/web1"
mv "$TMP/amd/sys/kernel/debug/kvm/112-10" "$TMP/web1-kvm"
screen_has ' web1 \(pid 112\) is DEAD$' "a guest that ended is said to be dead"
screen_has '^ kvm_entry +[0-9]+ +[0-9.]+ +0 ' "flaw_B3: its rates are 0, its totals stay"
sed -i 's/^112 /212 /' "$TMP/web1/stat"
mv "$TMP/web1/task/122" "$TMP/web1/task/222"
mv "$TMP/web1/task/112" "$TMP/web1/task/212"
echo 222 >"$TMP/web1-kvm/vcpu0/pid"
mv "$TMP/web1" "$TMP/amd/proc/212"
mv "$TMP/web1-kvm" "$TMP/amd/sys/kernel/debug/kvm/212-10"
screen_has ' web1 \(pid 212\)$' "flaw_E8: it is followed when it comes back,"
screen_has '^web1 is back as pid 212: counting anew' "and that is said"
screen_has '^ kvm_entry +[0-9]+ +[0-9.]+ +1[0-9]{3} ' "and its rates are there again"

# An ended guest that is chosen stays, also where another guest has its name.
cp -a $amd "$TMP/amd2"
start 80 24 "$TMP/amd2" -s 0.1 --view guests
screen_wait '^ +web1 +1 +[1-9]'
mv "$TMP/amd2/proc/112" "$TMP/web1"
mv "$TMP/amd2/sys/kernel/debug/kvm/112-10" "$TMP/web1-kvm"
screen_wait '^ +web1 \(ended\) +1 '
screen_keys End # a row that is idle is the last
sed -i 's/^112 /212 /' "$TMP/web1/stat"
mv "$TMP/web1/task/112" "$TMP/web1/task/212"
mv "$TMP/web1" "$TMP/amd2/proc/212"
mv "$TMP/web1-kvm" "$TMP/amd2/sys/kernel/debug/kvm/212-10"
screen_has '^ +web1 +1 ' "a guest of the same name comes, beside the one that ended,"
screen_keys Enter
screen_has ' web1 \(pid 112\) is DEAD$' "which can be chosen"
screen_pass 0.5
screen_has ' web1 \(pid 112\) is DEAD$' "and stays: none has come back since"

# Two guests of one name are told apart, also where there is no room for a column of pids.
cp -a $amd "$TMP/twins"
printf 'qemu-system-x86_64\0-name\0guest=a-name-that-two-guests-have-db1\0' |
	tee "$TMP/twins/proc/112/cmdline" >"$TMP/twins/proc/115/cmdline"
for view in guests vcpus hotspots; do
	start 80 24 "$TMP/twins" -s 0.1 --view $view
	screen_has ' a-.*\(112\)' "$view: two guests of one name have their pids"
	screen_has ' a-.*\(115\)' "both of them"
done

# What has ended comes last, as one row that Enter opens and closes.
cp -a $amd "$TMP/amd3"
start 80 24 "$TMP/amd3" -s 0.1 --view guests
screen_wait '^ +web1 +1 +[1-9]'
mv "$TMP/amd3/proc/112" "$TMP/web1-dead"
mv "$TMP/amd3/proc/115" "$TMP/db1-dead"
mv "$TMP/amd3/sys/kernel/debug/kvm/112-10" "$TMP/web1-dead-kvm"
mv "$TMP/amd3/sys/kernel/debug/kvm/115-10" "$TMP/db1-dead-kvm" 2>/dev/null
screen_has '^.2 ended  +' "two guests that ended are one row,"
unlike "$(screen_shot)" 'web1 \(ended\)' "without rows of their own"
screen_keys Home Enter
screen_has ' web1 \(ended\) ' "Enter opens it,"
screen_keys Enter
is_closed() {
	! screen_shot | grep -q 'web1 (ended)'
}
check "and closes it" is_closed

# ---- the module comes later

cp -a tests/sysroot/no-kvm "$TMP/late"
script_start 80 24 --sysroot "$TMP/late" --view events -s 0.1
screen_has '^ Waiting for KVM$' "without the module it waits"
screen_has '^tracepoint: no KVM events in( |$)' "and says for what"
screen_has '^h help  q quit' "above the keys, which stay"
screen_keys x 2 1 f Escape
screen_wait '^ Waiting for KVM$'
mkdir "$TMP/late/kvmtop"
cp $amd/kvmtop/counters "$TMP/late/kvmtop/"
cp -a $amd/sys/kernel/tracing/events/kvm "$TMP/late/kvm"
mv "$TMP/late/kvm" "$TMP/late/sys/kernel/tracing/events/kvm"
screen_has '^ kvm_entry +[0-9]+ ' "and shows what happens once it is there"

no_other_golden tests/golden/screen

done_testing
