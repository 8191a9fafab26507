#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Keys, clicks and sizes at random: the screen goes on and ends well. The same ones in every run;
# KEYS=N: so many on each screen (20,000; 500 in tmux), SEED=N: others.
. tests/lib.sh

# A line for each hand's work: "keys KEY...", "click COLUMN ROW [BUTTON]", "resize COLUMNS ROWS".
# No key ends the program, and no click is in the last line, which has a key that does.
at_random() {
	awk -v nr="$nr_keys" -v seed="${SEED:-1}" '
	function less_than(n) {
		seed = (seed * 16807) % 2147483647
		return seed % n
	}
	BEGIN {
		nr_keys = split("Up Down Left Right PPage NPage Home End Tab BTab Enter Enter " \
			"Escape BSpace BSpace Space DC F1 F2 F5 C-a C-l C-u " \
			"1 2 3 4 5 6 7 8 9 0 a b c d e f g h i j k l m n o p r s t u v w x y z " \
			"A B D E H I J M N R S T X < > + - / ? . : [ ( * @ é 界", key, " ")
		rows = 24
		while (nr > 0) {
			line = "keys"
			for (i = 1 + less_than(30); i > 0; i--)
				line = line " " key[1 + less_than(nr_keys)]
			nr -= split(line, word, " ") - 1
			print line
			if (less_than(2))
				print "click", 1 + less_than(100), 1 + less_than(rows - 1),
					less_than(8) ? 0 : 64 + less_than(2)
			if (less_than(4) == 0) {
				rows = 2 + less_than(60)
				print "resize", 2 + less_than(200), rows
			}
		}
		print "resize 80 24"
	}'
}

# stands NAME: the screen does all of that, then still opens its help and ends.
stands() {
	name=$1
	screen_wait 'h help  q quit'
	at_random >"$TMP/random"
	# shellcheck disable=SC2086 # words
	while read -r t_what t_words; do
		set -f
		screen_$t_what $t_words
		set +f
		screen_pass 0.05
	done <"$TMP/random"
	screen_keys Escape
	screen_wait 'h help  q quit'
	screen_keys h
	screen_has '^ q F10 +quit' "$name: after keys at random the help opens"
	screen_keys q
	screen_wait 'h help  q quit'
	screen_keys q
	is "$(screen_status)" 0 "and q ends it"
	is "$(screen_shot | grep -E 'kvmtop:|ERROR|runtime error')" "" "without a complaint"
}

nr_keys=${KEYS:-20000}
script_start 80 24 --sysroot tests/sysroot/amd -s 0.1
stands "a live machine"
script_start 80 24 report tests/data/trace/svm-perf.data
stands "a recording"
if has_screen; then
	nr_keys=${KEYS:-500}
	screen_start 80 24 "exec $KVMTOP --sysroot tests/sysroot/amd -s 0.1"
	stands "a real terminal"
else
	skip "a real terminal" "$T_no_screen"
fi

screen_stop
done_testing
