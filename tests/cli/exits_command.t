#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# `kvmtop exits`: how it begins and ends. What it prints is in golden.t.
. tests/lib.sh

root=tests/sysroot

like "$("$KVMTOP" --help)" '^  exits ' "--help names the command"
is "$(status_of "$KVMTOP" exits --help)" 0 "it has a help of its own"
like "$(cat "$TMP/out")" '^Usage: kvmtop exits ' "with its usage"

# Whatever ends it, it prints.
"$KVMTOP" exits --sysroot $root/amd >"$TMP/int" 2>"$TMP/int.err" </dev/null &
pid=$!
sleep 0.3
kill -TERM "$pid"
wait "$pid"
is "$?" 0 "a signal ends it"
like "$(cat "$TMP/int")" '^cpuid +115  121  db1 +0 +[0-9]+ ' "and what was counted is printed"
is "$(cat "$TMP/int.err")" "" "without a message"

# So does the end of the guest, with what it did.
guest_ends() {
	cp -r $root/amd "$TMP/machine"
	"$KVMTOP" exits --sysroot "$TMP/machine" "$@" 60 >"$TMP/out" 2>"$TMP/err" </dev/null &
	pid=$!
	wait_for 20 is_sampling "$pid"
	rm -r "$TMP/machine/proc/115"
	wait "$pid"
	is "$?" 0 "exits $1 ends with its guest"
	rm -r "$TMP/machine"
}
guest_ends -p 115
is "$(cat "$TMP/err")" "kvmtop: guest db1 (pid 115) has ended" "and says so"
like "$(cat "$TMP/out")" '^Exit reason +PID ' "and prints what it counted"
guest_ends -T 121,123
is "$(cat "$TMP/err")" "kvmtop: the guests of these threads have ended" "as it does for threads"

is "$(status_of "$KVMTOP" exits --sysroot $root/amd -p 115 -v 10 0.1)" 2 "-v 10 is not vCPU 1"
is "$(cat "$TMP/err")" "kvmtop: guest db1 (pid 115) has no vCPU 10: kvmtop exits -a -p 115 lists \
the ones that it has
Try kvmtop exits --help." "and says how to find them"
is "$(status_of "$KVMTOP" exits --sysroot $root/nowhere 0.1)" 1 "no such machine"
is "$(status_of "$KVMTOP" exits --sysroot $root/no-kvm 0.1)" 1 "nothing to count with"
like "$(cat "$TMP/err")" '^kvmtop: exits: ' "says why"

if [ -w /dev/full ]; then
	"$KVMTOP" exits --sysroot $root/amd 0.1 >/dev/full 2>"$TMP/err"
	is "$?" 1 "a full disk is an error"
	like "$(cat "$TMP/err")" 'No space left' "that is named"
fi
is "$(limited "$KVMTOP" exits --sysroot $root/amd 0.1)" "$too_large" "and so is ulimit -f"
echo old >"$TMP/file"
is "$(limited "$KVMTOP" exits --sysroot $root/amd -a -p 112 --json --output "$TMP/file" 0.1)" \
	"kvmtop: cannot write to \"$TMP/file\": File too large
1" "a file, too"
is "$(cat "$TMP/file")" old "which keeps what it had"
"$KVMTOP" exits --sysroot $root/amd 0.1 2>"$TMP/err" | true
is "$(cat "$TMP/err")" "" "a reader that went away is none"

# A command: it runs while exits are counted, and its status is ours.
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -- sh -c 'echo ran; exit 7')" 7 \
	"the status of a command"
is "$(head -n 1 "$TMP/out")" ran "which writes first"
like "$(cat "$TMP/out")" '^cpuid +115  121  db1 +0 +[0-9]+ ' "then the table is there"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -- sh -c 'kill -KILL $$')" 137 \
	"128 and the signal's number"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -- /no/such/program)" 1 "no such program"
is "$(cat "$TMP/err")" "kvmtop: /no/such/program cannot be run: No such file or directory" \
	"is reported"
cp -r $root/amd "$TMP/machine"
is "$(status_of "$KVMTOP" exits --sysroot "$TMP/machine" -p 115 -- \
	sh -c "rm -r $TMP/machine/proc/115; sleep 2; exit 3")" 3 \
	"a guest's end does not end the command"
rm -r "$TMP/machine"

# The counts of one guest's threads add up to the guest's.
sum() {
	"$KVMTOP" exits --sysroot $root/amd --csv "$@" 0.1 |
		awk -F, '$1 == "msr" { n += $6 } END { print n }'
}
is "$(sum -p 115 -a)" "$(sum -p 115)" "-a splits what -p adds up"
is "$(sum -T 121,123)" "$(sum -p 115)" "-T by thread"
is "$(sum -g db1)" "$(sum -p 115)" "-g by name"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -g db3 0.1)" 1 "no such guest"
like "$(cat "$TMP/err")" 'no guest named "db3"; there are: db1' "says which there are"

# --by has rows of less, which add up to the same; and it is the view Exits of all the time.
by() {
	"$KVMTOP" exits --sysroot $root/amd --csv --by "$1" 0.1 |
		awk -F, "$CSV_AT"'
			{ n += $at("total") } END { print NR - 1, n }'
}
is "$(by guest) $(by vcpu | cut -d' ' -f1)" "2 $(by reason | cut -d' ' -f2) 3" "--by"
is "$("$KVMTOP" exits --sysroot $root/amd --by reason -k time_percent 0.1)" \
	"$("$KVMTOP" --sysroot $root/amd -1 --view exits)" "one second is the view's"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -p 115 -a --by guest 0.1)" 2 "--by and -a"

# Two guests side by side: each number is what the guest's own table has.
"$KVMTOP" exits --sysroot $root/amd -g db1 --diff web1 --json 0.5 >"$TMP/diff"
like "$(cat "$TMP/diff")" '"guest":{"name":"db1","pid":115},"other":{"name":"web1","pid":112}' \
	"--diff: another guest, by its name"
diff_of() {
	sed 's/.*"elapsed_s":\([0-9.]*\).*"reason":"msr"[^}]*"'"$1"'":\([0-9.]*\).*/\1 \2/' \
		"$TMP/diff" | awk '{ printf "%.0f\n", $1 * $2 }'
}
is "$(diff_of other_rate)" "$(sum -g web1)" "1 is the guest of --diff"
is "$(diff_of rate)" "$(sum -g db1)" "2 is that of -g"
like "$("$KVMTOP" exits --sysroot $root/amd -p 115 --diff 112 0.1)" '^1: web1 \(pid 112\)' \
	"or by its pid"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -g db1 --diff db1 0.1)" 2 "not with itself"
is "$(status_of "$KVMTOP" exits --sysroot $root/amd -g db1 --diff db3 0.1)" 1 "no other guest"
like "$(cat "$TMP/err")" 'no guest named "db3"; there are: db1' "says which there are, too"
for options in "--diff db1" "-g db1 --diff web1 -a" "-g db1 --diff web1 -v 0" \
	"-g db1 --diff web1 -k avg"; do
	# shellcheck disable=SC2086
	is "$(status_of "$KVMTOP" exits --sysroot $root/amd $options 0.1)" 2 "exits $options"
done

done_testing
