#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# History files: of the version, by SQL, foreign, in use, removed, full, after kill -9.
# shellcheck disable=SC2317 # check, wait_for and status_of call functions
. tests/lib.sh

DB=$TMP/h.db

# write OPTION...: a writer on a captured machine, without a terminal.
write() {
	"$AT_ONCE" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" "$@" </dev/null
}

# read_back: the samples of the file, one a line.
read_back() {
	"$KVMTOP" -r "$DB" -l --json --view exits 2>"$TMP/err.read"
}

# has_samples N: at least so many are in the file.
has_samples() {
	[ "$(read_back | wc -l)" -ge "$1" ]
}

# ---- the version: tests/data/history/README

DB=$TMP/v2.db
cp tests/data/history/version-2.db "$DB"
for view in vcpus exits; do
	"$KVMTOP" -r "$DB" -l --json --view $view >>"$TMP/v2.json" 2>&1
done
same_golden "$TMP/v2.json" tests/golden/history-version-2.json "a file of version 2 is read"
check "and nothing beside it is left" test "$(echo "$DB"*)" = "$DB"
# Of a host, where the scheduler had it.
cp "$DB" "$TMP/waits.db"
sqlite3 "$TMP/waits.db" "UPDATE field SET source = (SELECT source FROM field
	WHERE name = 'thread(run)') WHERE name = 'time(wait)'"
like "$("$KVMTOP" -r "$TMP/waits.db" -1 --json --view vcpus 2>/dev/null)" \
	'"guest_percent":40.967,.*"wait_percent":0.400,.*"idle_percent":40.967' \
	"its waits are beside the time of its vCPUs"
check "it is written to, too" write -n 2
is "$(read_back | wc -l)" 6 "and has the old samples and the new ones"
"$KVMTOP" -r "$DB" -l --json --view exits >"$TMP/both.json" 2>"$TMP/err"
# The note is of all fields that the file has.
is "$(head -4 "$TMP/both.json")" "$(tail -4 "$TMP/v2.json" | sed 's/"note":"[^"]*",//')" \
	"the old ones are as before"
like "$("$KVMTOP" -r "$DB" -1 --view hotspots 2>&1 >"$TMP/out")" \
	'^kvmtop: Hot spots were not kept: kvmtop -w FILE --keep hotspots keeps them\.$' \
	"what has no hot spots says so"
check "a run that counts them" write -n 1 --keep hotspots
for keep in hotspots where long; do
	# shellcheck disable=SC2086 # words
	is "$("$AT_ONCE" --sysroot tests/sysroot/amd -w "$TMP/kept.db" --keep $keep -l -n 1 2>&1)" \
		"$("$AT_ONCE" --sysroot tests/sysroot/amd -l -n 1 2>&1)" \
		"a log of events is the same with --keep $keep"
done
is "$("$KVMTOP" -r "$DB" -1 --view hotspots 2>&1 >"$TMP/out")" "" "what has them does not"
like "$(cat "$TMP/out")" '^npf +0x' "and has them"
DB=$TMP/h.db

# ---- read by another program, which follows kvmtop-history(5)

# exits_of FILE: reason, count, ns and histogram, as kvmtop adds them up.
exits_of() {
	"$KVMTOP" -r "$1" --from 2020-01-01 -1 --json --view exits | tr '}' '\n' | sed -n '
		s/.*"reason":"\([^"]*\)",.*"total":\([0-9]*\),/\1 \2 /
		s/"delta".*"time_ns":\([0-9]*\),.*"hist":\[\([0-9,]*\)\].*/\1 \2/p' |
		tr , ' ' | sort
}

# Debian's Python, which has Debian's modules.
python=/usr/bin/python3
if $python -c 'import zstandard' 2>"$TMP/err"; then
	is "$($python tests/cli/read_history.py tests/data/history/version-2.db 2>&1)" \
		"$(exits_of tests/data/history/version-2.db)" \
		"a reader without our code finds the same exits, times and histograms"
else
	skip "a reader without our code" "Python or its zstandard is not installed"
fi

# ---- SQL: the examples of kvmtop-history(5)

if command -v sqlite3 >/dev/null; then
	is "$(sqlite3 "$TMP/v2.db" 'PRAGMA integrity_check')" "ok" "SQLite finds it whole"
	sed -n '/^\.Sh EXAMPLES/,$p' man/kvmtop-history.5 |
		awk '/^sqlite3/ { on = 1 } /^\.Ed/ { on = 0 } on' |
		sed "s|/var/lib/kvmtop/history.db|$TMP/v2.db|; s|'2026-11-21 03:15'|'2040-01-01'|" \
			>"$TMP/sql"
	check "the man page has SQL" test "$(grep -c '^sqlite3' "$TMP/sql")" = 6
	is "$(sh "$TMP/sql" 2>&1 >"$TMP/out")" "" "which runs"
	like "$(cat "$TMP/out")" 'web1.* cpuid .*[0-9]' "and says what cost most"
	# The file of the version has one minute.
	sed "s|$TMP/v2.db|tests/data/history/version-2.db|
		s|unixepoch('2026-11-21 03:05', 'utc')|1795748705|" "$TMP/sql" >"$TMP/sql.v1"
	sed -i 's/ -box//' "$TMP/sql.v1"
	TZ=UTC0 sh "$TMP/sql.v1" >"$TMP/out" 2>&1
	for answer in 'db1|io|1674|0.303213083|1043.902' '2026-11-27 03:05:00|11288|1.7' \
		'2026-11-27 03:00:00|db1|3.4' '2026-11-27|npf|262.1|5.2' 'db1|115|2|qemu'; do
		check "an answer is $answer" grep -qxF "$answer" "$TMP/out"
	done
else
	skip "SQL" "sqlite3 is not installed"
fi

# ---- what is refused, in one line

# refused WHAT TEXT: neither -w nor -r takes it.
refused() {
	is "$(status_of write -n 1)" 1 "$1: -w fails"
	like "$(cat "$TMP/err")" "^kvmtop: $DB: $2\$" "and says why"
	is "$(status_of "$KVMTOP" -r "$DB" -1)" 1 "$1: -r fails"
	like "$(cat "$TMP/err")" "^kvmtop: $DB: $2\$" "and says why"
	is "$(wc -l <"$TMP/err")" 1 "in a line"
}

seq 1000 >"$DB"
sum=$(cksum <"$DB")
refused "another program's file" "not a history file of kvmtop; kvmtop report shows recordings"
is "$(cksum <"$DB")" "$sum" "it is as it was"
rm "$DB" && mkdir "$DB"
is "$(status_of write -n 1)" 1 "a folder: -w fails"
like "$(cat "$TMP/err")" "^kvmtop: $DB: Is a directory" "and says so"
rmdir "$DB"
is "$(DB=$TMP/none/h.db status_of write -n 1)" 1 "no folder: -w fails"
is "$(cat "$TMP/err")" \
	"kvmtop: $TMP/none/h.db: its folder is not there: make it, or choose another" \
	"and says what to do"
is "$(status_of "$KVMTOP" -r "$DB" -1)" 1 "no file: -r fails"
like "$(cat "$TMP/err")" "^kvmtop: $DB: No such file" "and says so"
# The header says version 255; a whole page of it is damaged.
write -n 2
cp "$DB" "$TMP/whole.db"
printf '\377' | dd of="$DB" bs=1 seek=63 conv=notrunc 2>"$TMP/dd"
refused "a newer version" "written by a newer kvmtop .*: update kvmtop"
cp "$TMP/whole.db" "$DB"
# The number of another application.
printf 't' | dd of="$DB" bs=1 seek=71 conv=notrunc 2>"$TMP/dd"
sum=$(cksum <"$DB")
refused "another program's database" "a database, but not a history file of kvmtop"
is "$(cksum <"$DB")" "$sum" "it is as it was"
cp "$TMP/whole.db" "$DB"
printf '%0300d' 0 | dd of="$DB" bs=1 seek=100 conv=notrunc 2>"$TMP/dd"
is "$(status_of "$KVMTOP" -r "$DB" -1)" 1 "a damaged file: -r fails"
like "$(cat "$TMP/err")" \
	"^kvmtop: $DB: damaged: move it away; sqlite3 FILE .recover prints what can be read\$" \
	"and says why"
for damaged in page cut zeros; do
	case $damaged in
	cut) head -c 9000 "$TMP/whole.db" >"$DB" ;;
	zeros) head -c 9000 /dev/zero >"$DB" ;;
	esac
	sum=$(cksum <"$DB")
	touch -d 2026-02-03 "$DB"
	is "$(status_of write -n 2)" 0 "a damaged file ($damaged): -w goes on"
	is "$(cat "$TMP/err")" \
		"kvmtop: $DB: damaged: renamed to h.db.2026-02-03; a new one is begun" "and says so"
	is "$(cksum <"$DB.2026-02-03")" "$sum" "the damaged file is kept"
	is "$(read_back | wc -l)" 2 "and the new one has the samples"
	rm -f "$DB"*
done
# In the middle, so that it is met when a sample is written.
cp "$TMP/whole.db" "$DB"
head -c $(($(wc -c <"$DB") - 8192)) /dev/zero | tr '\0' '\377' |
	dd of="$DB" bs=8192 seek=1 conv=notrunc 2>"$TMP/dd"
is "$(status_of write -n 4)" 0 "a damaged file in its middle: -w goes on"
like "$(cat "$TMP/err")" "damaged: renamed to h.db.*; a new one is begun\$" "and says so"
check "and the new one has samples" has_samples 2
rm -f "$DB"*

# ---- a damaged file is read as far as that can be done, and the exit status is 1

# tells_damage OPTION...: the exit status is 1, with a message, if damage was found; else 0.
tells_damage() {
	t_status=$(status_of timeout 20 "$KVMTOP" -r "$DB" "$@")
	t_said=$(grep -c damaged "$TMP/err")
	nr_said=$((nr_said + (t_said > 0)))
	if [ "$t_status" = 1 ] && [ -s "$TMP/out" ]; then
		nr_shown=$((nr_shown + 1))
		cp "$DB" "$TMP/shown.db"
	fi
	[ "$t_status" = $((t_said > 0)) ] || diag "status $t_status: $(cat "$TMP/err")"
	[ "$t_status" = $((t_said > 0)) ]
}

write -n 12
cp "$DB" "$TMP/whole.db"
pages=$(($(wc -c <"$DB") / 4096))
for options in -l "-l --csv" "-f help" -1 "-1 --json" "-1 --view exits" "-1 --from @0" \
	"--diff -1s..-0.6s --from -0.5s"; do
	# shellcheck disable=SC2086 # words
	is "$(status_of "$KVMTOP" -r "$DB" $options) $(cat "$TMP/err")" "0 " \
		"$options: a whole file"
	nr_wrong=0 nr_said=0 nr_shown=0
	for page in $(seq "$pages"); do
		for byte in 4095 1000; do # a key or a value, and the head of the page
			cp "$TMP/whole.db" "$DB"
			printf damage | dd of="$DB" bs=1 seek=$((page * 4096 - byte)) \
				conv=notrunc 2>"$TMP/dd"
			# shellcheck disable=SC2086
			tells_damage $options || nr_wrong=$((nr_wrong + 1))
		done
	done
	cp "$TMP/whole.db" "$DB"
	is "$nr_wrong" 0 "$options: status 1 where damage is found"
	check "which occurs" test "$nr_said" -gt 0
	case $options in
	*@0 | *diff*) is "$nr_shown" 0 "and of a span nothing is shown" ;;
	*) check "and what could be read is shown" test "$nr_shown" -gt 0 ;;
	esac
done
head -c $(((pages - 1) * 4096)) "$TMP/whole.db" >"$DB"
is "$(status_of "$KVMTOP" -r "$DB" -1)" 1 "a page less: status 1"
: >"$DB"
is "$(status_of "$KVMTOP" -r "$DB" -1) $(cat "$TMP/err")" \
	"1 kvmtop: $DB: nothing was written to it yet" "an empty file: status 1"
# The size is in the file's header: what comes after it belongs to no sample.
"$KVMTOP" -r "$TMP/whole.db" -l --json >"$TMP/whole" 2>&1
cp "$TMP/whole.db" "$DB"
seq 3000 >>"$DB"
is "$(status_of "$KVMTOP" -r "$DB" -l --json) $(cat "$TMP/err")" "0 " \
	"bytes after the end: status 0"
same_files "$TMP/out" "$TMP/whole" "and all samples"
rm -f "$DB"*
spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" >"$TMP/log" 2>&1 </dev/null
check "a writer" wait_for 10 has_samples 2
for options in -1 -l "-1 --json --from @0" "-f help"; do
	# shellcheck disable=SC2086
	is "$(status_of "$KVMTOP" -r "$DB" $options) $(cat "$TMP/err")" "0 " \
		"$options: a file that is being written is whole"
done
stop "$SPAWNED"
rm -f "$DB"*

# The latest sample is damaged: the screen says so while it is shown, and once more at its end.
script_start 120 24 -r "$TMP/shown.db" --view exits
screen_has 'damaged' "the screen says that a part is damaged"
screen_keys q
is "$(screen_status)" 1 "and status 1 at its end"
like "$(screen_shot)" '^kvmtop: .*damaged' "with a line"
is "$(screen_shot | grep -c .)" 1 "once"
screen_stop
rm -f "$DB"*

# ---- an operator with capabilities of the program's file, and the service's history

# as_operator OPTION...: without root's id, but with the right to read all files.
as_operator() {
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search \
		--ambient-caps=+dac_read_search "$KVMTOP" "$@"
}
if [ "$(id -u)" = 0 ] && setpriv --version >"$TMP/out" 2>&1; then
	mkdir -m 750 "$TMP/state"
	umask 027
	spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$TMP/state/history.db" \
		>"$TMP/out" 2>&1 </dev/null
	umask 022
	operator_reads() {
		[ "$(as_operator -r "$TMP/state/history.db" -l --json 2>"$TMP/err" | wc -l)" -ge 3 ]
	}
	check "an operator reads what is being written" wait_for 10 operator_reads
	stop "$SPAWNED"
	check "and what was closed" operator_reads
	check "with its whole folder of root's" test -z "$(find "$TMP/state" -perm /007)"
else
	skip "an operator with capabilities" "it needs root and setpriv"
fi

# ---- what is too old

is "$(status_of write -n 85 --max-age 1s)" 0 "--max-age"
is "$(cat "$TMP/err")" \
	"kvmtop: $DB: its oldest samples are dropped from now on, as --max-age or --max-size says
kvmtop: $DB: oldest samples that were dropped: 80" "says what was dropped"
rm -f "$DB"*

# ---- two writers, a file that goes away

begin_writer() {
	spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -w "$DB" >"$TMP/out" 2>&1 </dev/null
	writer=$SPAWNED
	wait_for 10 has_samples 2
}

check "a writer" begin_writer
is "$(status_of write -n 1)" 1 "another one fails"
like "$(cat "$TMP/err")" "^kvmtop: $DB: another kvmtop writes to it" "and says why"
rm -f "$DB"*
check "a file that was removed is made anew" wait_for 20 has_samples 2
stop "$writer"
if command -v sqlite3 >/dev/null; then
	like "$(sqlite3 "$DB" 'SELECT text FROM note')" 'was removed or replaced' "with a note"
fi

# ---- kill -9

rm -f "$DB"*
for round in 1 2 3; do
	check "a writer" begin_writer
	wait_for 10 has_samples $((round * 4))
	read_back >"$TMP/seen.$round"
	stop "$writer" KILL
	read_back >"$TMP/left"
	check "kill -9: what was seen is still there" cmp -n "$(wc -c <"$TMP/seen.$round")" \
		"$TMP/seen.$round" "$TMP/left"
done

# ---- no room

rm -f "$DB"*
(ulimit -f 600 && write -n 40) 2>"$TMP/err"
like "$(cat "$TMP/err")" "samples cannot be stored: $DB: may not become larger: raise ulimit -f" \
	"ulimit -f: it says so"
check "not with each sample" test "$(wc -l <"$TMP/err")" -lt 20
like "$(cat "$TMP/err")" '^kvmtop: samples that could not be stored: [1-9][0-9]*$' \
	"and how many at the end"
check "what was written is whole" has_samples 1
for blocks in 2 40 64 80; do # in different places while the file is made
	rm -f "$DB"*
	(ulimit -f $blocks && write -n 1) 2>"$TMP/err"
	like "$(cat "$TMP/err")" "$DB: may not become larger: raise ulimit -f" \
		"ulimit -f $blocks: it says so"
done
rm -f "$DB"*

if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	unshare -m sh -c "mkdir -p $TMP/small &&
		mount -t tmpfs -o size=1500k,mode=755 none $TMP/small &&
		$AT_ONCE --sysroot tests/sysroot/amd -s 0.1 -n 40 -w $TMP/small/h.db </dev/null
		$KVMTOP -r $TMP/small/h.db -l --json" >"$TMP/out" 2>"$TMP/err"
	like "$(cat "$TMP/err")" 'cannot be stored: .*/h.db: the disk is full: remove files' \
		"a full disk: it says so"
	check "what was written is whole" test -s "$TMP/out"

	# The disk is full for a while: what is stored afterwards does not make it good.
	cat >"$TMP/full" <<-END
		said() {
			for i in \$(seq 100); do grep -q "\$1" $TMP/err && break; sleep 0.1; done
		}
		mount -t tmpfs -o size=4m,mode=755 none $TMP/small || exit
		$KVMTOP --sysroot tests/sysroot/amd -s 0.1 -w $TMP/small/h.db </dev/null &
		for i in \$(seq 100); do [ -s $TMP/small/h.db-wal ] && break; sleep 0.1; done
		head -c 4m /dev/zero >$TMP/small/filler 2>/dev/null
		said 'cannot be stored'
		rm $TMP/small/filler
		said 'are stored again'
		kill \$!
		wait \$!
		echo "status \$?" >&2
	END
	unshare -m sh "$TMP/full" >"$TMP/out" 2>"$TMP/err"
	like "$(cat "$TMP/err")" 'samples are stored again; lost so far: [1-9]' \
		"a disk that was full for a while: it says so"
	like "$(cat "$TMP/err")" '^kvmtop: samples that could not be stored: [1-9][0-9]*$' \
		"and how many at the end"
	like "$(cat "$TMP/err")" '^kvmtop: .*/h.db: samples are missing: .*the disk is full' \
		"and why"
	is "$(tail -1 "$TMP/err")" "status 1" "with status 1"
else
	skip "a full disk" "it needs root and a mount namespace"
fi

done_testing
