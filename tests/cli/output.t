#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is written to: never through another user's link, never another user's file or an input.
# shellcheck disable=SC2317 # check and status_of call functions
. tests/lib.sh

RECORDING=$TMP/a.dat
cp tests/data/trace/svm-perf.data "$RECORDING"

live() {
	"$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -n 1 "$@" </dev/null
}

# Each writes to FILE in one way. (record needs a kernel that records: record.t has it.)
ways="log csv_log history report acrn timeline prom"
write() {
	case $1 in
	log) live -l -L "$2" ;;
	csv_log) live -l --csv -L "$2" ;;
	history) live -w "$2" ;;
	report) "$KVMTOP" report --csv --output "$2" "$RECORDING" ;;
	acrn) "$KVMTOP" report --acrn --frequency 1000 --csv --output "$2" "$TMP/acrn" ;;
	timeline) "$KVMTOP" timeline -r "$RECORDING" -o "$2" ;;
	prom) "$KVMTOP" export --sysroot tests/sysroot/amd -n 1 --prometheus "$2" ;;
	esac
}
"$HELPERS/trace_make" acrn "$TMP/acrn"

# ---- what is used every day

for way in $ways; do
	is "$(status_of write "$way" "$TMP/own.$way")" 0 "$way: a new file"
	check "$way: has something" test -s "$TMP/own.$way"
	is "$(status_of write "$way" "$TMP/own.$way")" 0 "$way: the same again"
	ln -s "own.$way" "$TMP/link.$way"
	is "$(status_of write "$way" "$TMP/link.$way")" 0 "$way: a link of the user's own"
	check "$way: stays a link" test -L "$TMP/link.$way" -a ! -L "$TMP/own.$way"
	case $way in
	history | prom) continue ;;
	esac
	write "$way" /dev/stdout 2>"$TMP/err" | cat >"$TMP/out"
	check "$way: /dev/stdout, a pipe" test -s "$TMP/out"
	is "$(status_of write "$way" /dev/null)" 0 "$way: /dev/null"
	mkfifo "$TMP/fifo.$way"
	timeout 20 cat "$TMP/fifo.$way" >"$TMP/out" &
	reader=$!
	is "$(status_of write "$way" "$TMP/fifo.$way")" 0 "$way: a named pipe"
	wait "$reader"
	check "$way: which has it all" test -s "$TMP/out"
done

# ---- a log that cannot be opened anew

mkdir "$TMP/logs"
spawn "$KVMTOP" --sysroot tests/sysroot/amd -s 0.1 -l -L "$TMP/logs/log" >"$TMP/out" 2>"$TMP/err" \
	</dev/null
pid=$SPAWNED
has_lines() { # has_lines FILE N: at least
	[ "$(grep -c '' "$1" 2>/dev/null)" -ge "$2" ]
}
check "a log" wait_for 10 has_lines "$TMP/logs/log" 2
mv "$TMP/logs" "$TMP/moved"
kill -HUP "$pid"
check "SIGHUP without its folder: said" wait_for 10 grep -q \
	'^kvmtop: cannot open .*: its folder is not there.*; until then the old file is continued' \
	"$TMP/err"
lines=$(wc -l <"$TMP/moved/log")
check "the old file goes on" wait_for 10 has_lines "$TMP/moved/log" $((lines + 3))
mkdir "$TMP/logs"
kill -HUP "$pid"
check "and the new one, when it can be opened" wait_for 10 has_lines "$TMP/logs/log" 2
stop "$pid"

# ---- what cannot be written: said at once, not after a minute of measuring

at_once() { # at_once OPTION...
	is "$(status_of timeout 10 "$KVMTOP" "$@")" 1 "$*: status 1, and at once"
	is "$(cat "$TMP/err")" \
		"kvmtop: $TMP/none/x.prom: its folder is not there: make it, or choose another" \
		"and the reason"
}
# "-" is standard output, and no file.
for command in "report --csv --output" "report --folded --output" "report --svg"; do
	# shellcheck disable=SC2086 # words
	"$KVMTOP" $command - "$RECORDING" >"$TMP/to_stdout" 2>"$TMP/err"
	# shellcheck disable=SC2086 # words
	"$KVMTOP" $command "$TMP/to_file" "$RECORDING" 2>/dev/null
	check "$command -: standard output" cmp "$TMP/to_stdout" "$TMP/to_file"
done
check "and no file of this name" test ! -e ./-

mkfifo "$TMP/endless"
sleep 60 >"$TMP/endless" &
writer=$!
for command in "where --svg" "where --folded --output" "exits --csv --output" \
	"why --json --output" "export -s 60 --prometheus" "-1 -w" "-l -s 60 -L" "report --svg" \
	"report --folded --output" "timeline -o"; do
	words="$command $TMP/none/x.prom"
	case $command in
	report*) words="$words $TMP/endless" ;;
	timeline*) words="$words -r $TMP/endless" ;;
	*--output | *--svg) words="$words --sysroot tests/sysroot/amd 60" ;;
	*) words="$words --sysroot tests/sysroot/amd" ;;
	esac
	# shellcheck disable=SC2086 # words
	at_once $words
done
stop "$writer"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1; then
	mkdir -m 755 "$TMP/closed"
	echo old >"$TMP/closed/old"
	chmod 711 "$TMP"
	cp "$KVMTOP" "$TMP/copied"
	for name in new old; do
		is "$(status_of setpriv --reuid 65534 --regid 65534 --clear-groups timeout 10 \
			"$TMP/copied" exits --csv --output "$TMP/closed/$name" 60)" 1 \
			"a folder of root's: its $name file"
		is "$(cat "$TMP/err")" "kvmtop: $TMP/closed/$name: Permission denied" \
			"is said at once"
	done
else
	skip "a folder of root's" "it needs root and setpriv"
fi

# A run that fails before it has something to write leaves the old file as it is.
echo old >"$TMP/kept.csv"
is "$(status_of "$KVMTOP" exits --sysroot tests/sysroot/amd --csv --output "$TMP/kept.csv" \
	-- /no/such/program)" 1 "exits of a program that cannot be run"
is "$(cat "$TMP/kept.csv")" old "an old file stays"

# ---- inputs

cp "$RECORDING" "$TMP/b.dat"
report_onto() { # report_onto FILE OPTION...: an error, and the file is as it was
	t_file=$1
	shift
	is "$(status_of "$KVMTOP" "$@")" 1 "$*: refused"
	like "$(cat "$TMP/err")" 'choose another' "with the remedy"
	check "and the file is as it was" cmp -s "$t_file" tests/data/trace/svm-perf.data
}
report_onto "$RECORDING" report --csv --output "$RECORDING" "$RECORDING"
report_onto "$RECORDING" report --diff "$RECORDING" --csv --output "$RECORDING" "$TMP/b.dat"
ln -s b.dat "$TMP/to_b"
report_onto "$TMP/b.dat" report --diff "$RECORDING" --csv --output "$TMP/to_b" "$TMP/b.dat"
report_onto "$RECORDING" report --svg "$RECORDING" "$RECORDING"
report_onto "$RECORDING" timeline -r "$RECORDING" -o "$RECORDING"
cp "$TMP/own.history" "$TMP/before"
is "$(status_of "$KVMTOP" -r "$TMP/own.history" -l -L "$TMP/own.history")" 1 "-r FILE -L FILE"
like "$(cat "$TMP/err")" '^kvmtop: -L .*: this file is an input; choose another one$' \
	"is refused"
check "and the history is as it was" cmp -s "$TMP/before" "$TMP/own.history"

# ---- what uftrace recorded, with symbols of the guest's program

mkdir "$TMP/bin" "$TMP/traced"
printf '#!/bin/sh\ncat "$4/dump.json"\n' >"$TMP/bin/uftrace"
chmod +x "$TMP/bin/uftrace"
echo '{"traceEvents":[{"ts":1,"ph":"B","pid":1,"name":"f"},{"ts":2,"ph":"E","pid":1,"name":"f"}]}' \
	>"$TMP/traced/dump.json"
symbols() {
	PATH="$TMP/bin:$PATH" "$KVMTOP" timeline -o "$TMP/picture" "$@" "$TMP/traced"
}
echo old >"$TMP/traced/test.sym"
is "$(status_of symbols --binary "$TMP/none")" 1 "nm fails"
is "$(cat "$TMP/traced/test.sym")" old "and the old symbols stay"
is "$(status_of symbols --binary "$TMP/traced/test.sym")" 1 "symbols of what would be overwritten"
is "$(cat "$TMP/traced/test.sym")" old "stay, too"
is "$(status_of symbols --binary "$HELPERS/miniguest")" 0 "a program"
check "has its symbols there" grep -q ' main$' "$TMP/traced/test.sym"
echo precious >"$TMP/precious"
ln -sf ../precious "$TMP/traced/test.sym"
is "$(status_of symbols --binary "$HELPERS/miniguest")" 1 "a link in the folder"
like "$(cat "$TMP/err")" 'test.sym: a link, which is not followed: remove it$' "is not followed"
is "$(cat "$TMP/precious")" precious "and its target is as it was"

# ---- other users

if [ "$(id -u)" != 0 ]; then
	skip "other users' folders" "it needs root"
	done_testing
	exit
fi
eve=$TMP/eve
mkdir "$eve" "$TMP/roots"
echo precious >"$TMP/roots/old"
# With the ending that --prometheus asks for.
for name in new old; do
	ln -s "$TMP/roots/$name" "$eve/$name.prom"
done
ln -s "$TMP/roots" "$eve/folder"
echo eves >"$eve/file.prom"
chown -hR 65534:65534 "$eve"
echo linked >"$TMP/roots/linked"
ln "$TMP/roots/linked" "$eve/linked.prom"
ln -s "$TMP/roots/new" "$eve/by_root.prom"
for way in $ways; do
	for name in new.prom old.prom folder/new.prom by_root.prom file.prom linked.prom; do
		is "$(status_of write "$way" "$eve/$name")" 1 "$way: another user's $name"
		is "$(wc -l <"$TMP/err")" 1 "$way: $name: one line"
		like "$(cat "$TMP/err")" \
			"/eve/$name.*: (name the file|remove it|choose|as root choose)" \
			"$way: $name: with a remedy"
	done
	check "$way: root's files are as they were" test "$(ls "$TMP/roots")" = "linked
old" -a "$(cat "$TMP/roots/old" "$TMP/roots/linked" "$eve/file.prom")" = "precious
linked
eves"
	[ "$way" = history ] ||
		is "$(status_of write "$way" "$eve/plain.$way.prom")" 0 \
			"$way: a new file in the folder"
done
rm "$eve"/plain.*
ln -s "$eve/folder" "$TMP/by_eve"
is "$(status_of write report "$TMP/by_eve/new")" 1 "root's link that goes on by another user's"
like "$(cat "$TMP/err")" '/by_eve/new: "folder" is a link of another user' "is refused"
ln -s roots "$TMP/by_roots"
is "$(status_of write report "$TMP/by_roots/../by_roots/report")" 0 "links of root's to folders"
check "are followed" test -s "$TMP/roots/report"
rm "$TMP/roots/report"

# ---- another user's pipe, device and socket where all may write, as in /tmp

open=$TMP/open
mkdir -m 1777 "$open"
mkfifo -m 666 "$open/pipe.prom"
mknod -m 666 "$open/device.prom" c 1 3 2>/dev/null
chown 65534:65534 "$open/pipe.prom" "$open/device.prom" 2>/dev/null
# A pipe that is taken waits for its reader.
write_soon() {
	cat "$open/pipe.prom" >/dev/null &
	t_reader=$!
	write "$@"
	t_status=$?
	kill "$t_reader" 2>/dev/null
	wait "$t_reader" 2>/dev/null
	return "$t_status"
}
for way in $ways; do
	for name in pipe device; do
		[ -e "$open/$name.prom" ] || continue
		is "$(status_of write_soon "$way" "$open/$name.prom")" 1 \
			"$way: another user's $name where all may write"
		like "$(cat "$TMP/err")" 'it belongs to another user|not a regular file' \
			"is refused"
	done
done
# A device in a folder of root's alone is everybody's: a terminal, say.
mkdir "$TMP/devices"
if mknod "$TMP/devices/null" c 1 3 2>/dev/null && chown 65534 "$TMP/devices/null" &&
	(: >"$TMP/devices/null") 2>/dev/null; then
	is "$(status_of write report "$TMP/devices/null")" 0 \
		"another user's device in root's folder"
else
	skip "another user's device in root's folder" "no device can be made here"
fi
listens() { # listens PATH: what is said of a socket there
	timeout 10 "$KVMTOP" export --sysroot tests/sysroot/amd --listen "unix:$1" 2>&1
}
ln -s "$TMP/roots/socket" "$eve/socket"
chown -h 65534 "$eve/socket"
like "$(listens "$eve/socket")" 'cannot listen at .*/eve/socket: .*link' \
	"a unix socket by another user's link"
check "is not made" test ! -e "$TMP/roots/socket"
if command -v python3 >/dev/null; then
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \
		"$open/dead"
	chown 65534 "$open/dead"
	like "$(listens "$open/dead")" 'it belongs to another user' "another user's dead socket"
	check "stays" test -S "$open/dead"
else
	skip "another user's dead socket" "python3 is not installed"
fi

# ---- a history, whose other files have known names

refused() { # refused FOLDER NAME
	is "$(status_of live -w "$1/h.db")" 1 "a history in $2"
	like "$(cat "$TMP/err")" \
		'h.db: other users may change the files beside it: as root choose a folder that' \
		"is refused, with the remedy"
	check "and nothing is made" test ! -e "$1/h.db"
}
refused "$eve" "another user's folder"
mkdir "$eve/roots" "$TMP/sticky" "$TMP/group"
refused "$eve/roots" "root's folder in another user's"
chmod 1777 "$TMP/sticky"
refused "$TMP/sticky" "a folder where all may write"
mkdir "$TMP/sticky/roots"
is "$(status_of live -w "$TMP/sticky/roots/h.db")" 0 "root's folder below that is root's"
chgrp 65534 "$TMP/group"
chmod 770 "$TMP/group"
refused "$TMP/group" "a folder where a group may write"

# hot_journal DB VICTIM: a journal that names a super-journal, which SQLite's recovery removes.
hot_journal() {
	t_name=$(printf %s "$2" | od -An -v -tu1 | tr -s ' \n' '\n\n')
	t_sum=0
	for t_byte in $t_name; do
		t_sum=$((t_sum + t_byte))
	done
	# shellcheck disable=SC2059 # the bytes are a format
	word() {
		printf "\\$(printf %03o $(($1 >> 24 & 255)))\\$(printf %03o $(($1 >> 16 & 255)))"
		printf "\\$(printf %03o $(($1 >> 8 & 255)))\\$(printf %03o $(($1 & 255)))"
	}
	t_magic='\331\325\005\371\040\241\143\327'
	{
		# shellcheck disable=SC2059 # the magic is a format
		printf "$t_magic"
		word 0
		word 12345
		word $(($(wc -c <"$1") / 4096))
		word 512
		word 4096
		head -c 484 /dev/zero
		word 262145
		printf %s "$2"
		word ${#2}
		word $t_sum
		# shellcheck disable=SC2059
		printf "$t_magic"
	} >"$1-journal"
}
mkdir "$TMP/db"
for own in 0 65534; do
	cp "$TMP/own.history" "$TMP/db/h.db"
	hot_journal "$TMP/db/h.db" "$TMP/precious"
	chown $own "$TMP/db/h.db-journal"
	is "$(status_of "$KVMTOP" -r "$TMP/db/h.db" -l)" 0 "a journal of user $own: is read"
	check "the file that it names is there" test -e "$TMP/precious"
	check "and so is the journal" test -e "$TMP/db/h.db-journal"
	status_of live -w "$TMP/db/h.db" >/dev/null
	check "after writing, too" test -e "$TMP/precious"
	rm -f "$TMP/db"/h.db*
done
cp "$TMP/own.history" "$TMP/db/h.db"
: >"$TMP/roots/new"
ln -s "$TMP/roots/new" "$TMP/db/h.db-wal"
is "$(status_of live -w "$TMP/db/h.db")" 1 "a log that is a link"
like "$(cat "$TMP/err")" '"h.db-wal" beside it is a link, or of another user: remove it$' \
	"is refused"

# Another user's history is read, and nothing beside it is made, changed or removed.
cp "$TMP/own.history" "$eve/h.db"
chown 65534 "$eve/h.db"
hot_journal "$eve/h.db" "$TMP/precious"
before=$(ls -l "$eve")
is "$(status_of "$KVMTOP" -r "$eve/h.db" -l)" 0 "another user's history is read"
is "$(ls -l "$eve")" "$before" "and its folder is as it was"
check "and the named file is there" test -e "$TMP/precious"

# The name of a file that others made does not steer the terminal.
for way in "-r" "report" "timeline -r"; do
	# shellcheck disable=SC2086
	status_of "$KVMTOP" $way "$(printf 'a\033[2J\nb\302\233c')" >"$TMP/status"
	is "$(cat "$TMP/status" "$TMP/err")" "1
kvmtop: a?[2J?b?c: No such file or directory" "$way: a name with controls"
done

done_testing
