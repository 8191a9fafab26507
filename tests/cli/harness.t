#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The test runner counts what it should, the libraries' cleanup cleans up, and deps knows its ways.
. tests/lib.sh
TEST_TIMES=$TMP/times
export TEST_TIMES

# fake NAME LINE...: a shell test of these lines.
fake() {
	t=$TMP/$1.t
	shift
	printf '%s\n' "$@" >"$t"
}

# fake_program PATH LINE...: an executable below $TMP.
fake_program() {
	t=$TMP/$1
	shift
	printf '%s\n' '#!/bin/sh' "$@" >"$t"
	chmod +x "$t"
}

# run_fake NAME...: the runner's last line, and its exit status; SECONDS_EACH (1) is the limit.
run_fake() {
	for t; do
		set -- "$@" "$TMP/$t.t"
		shift
	done
	TEST_TIMEOUT=${SECONDS_EACH:-1} tests/run "$@" >"$TMP/log" 2>&1
	t_got=$?
	echo "$(tail -n 1 "$TMP/log"); $t_got"
}

fake good 'echo ok 1 - a' 'echo "ok 2 - b # SKIP no such thing"' 'echo 1..2'
fake bad 'echo 1..2' 'echo ok 1' 'echo "not ok 2 - x"' 'exit 1'
fake skipped 'echo "1..0 # SKIP not root"'
fake rest '. tests/lib.sh' 'ok a' 'skip_all "not root"'
fake short 'echo 1..3' 'echo ok 1'
fake long 'echo 1..1' 'echo ok 1' 'echo ok 2'
fake noplan 'echo ok 1'
fake status 'echo 1..1' 'echo ok 1' 'exit 3'
fake killed 'echo 1..1' 'echo ok 1' 'kill -KILL $$'
fake slow 'sleep 20 & echo $! >'"'$TMP/slow.pid'" 'wait' 'echo ok 1' 'echo 1..1'
check "its folder is gone" test ! -e "$(cat "$TMP/lib.tmp")"
check "its processes are gone" t_ended "$(cat "$TMP/lib.pid")"
fake empty 'echo 1..0'

is "$(run_fake good)" "1 passed, 0 failed, 1 skipped; 0" "passed and skipped are counted"
like "$(cat "$TMP/log")" 'good\.t: b: no such thing$' "a skipped case is listed with its reason"
is "$(run_fake good bad skipped)" "2 passed, 1 failed, 2 skipped; 1" "counts add up over files"
is "$(sed -n '/^skipped, by reason:/,/^[^ ]/s/^  *//p' "$TMP/log" | sort)" "1 no such thing
1 not root" "each reason is listed with the number of cases"
like "$(cat "$TMP/log")" 'skipped\.t: not root$' "a skipped file is listed with its reason"
like "$(cat "$TMP/log")" '^  .*bad\.t: x$' "a failed case is listed"
is "$(SECONDS_EACH=9 run_fake rest)" "1 passed, 0 failed, 1 skipped; 0" "and the rest of one"
fake again 'echo ok 1' 'echo "# disturbed: a case: try 1 of 3 failed"' 'echo 1..1'
is "$(run_fake again)" "1 passed, 0 failed, 0 skipped; 0" "a repeated case passes"
like "$(cat "$TMP/log")" '^tries that failed and were repeated: 1$' "its failed tries are counted"
like "$(cat "$TMP/log")" 'again\.t: a case: try 1 of 3 failed$' "and listed"
is "$(run_fake short)" "1 passed, 2 failed, 0 skipped; 1" "results that never came are failures"
is "$(run_fake long)" "2 passed, 1 failed, 0 skipped; 1" "so are more than planned"
is "$(run_fake noplan)" "1 passed, 1 failed, 0 skipped; 1" "so is a missing plan"
is "$(run_fake status)" "1 passed, 1 failed, 0 skipped; 1" "so is a bad exit status"
is "$(run_fake killed)" "1 passed, 1 failed, 0 skipped; 1" "so is a death by signal"
is "$(run_fake slow)" "0 passed, 1 failed, 0 skipped; 1" "so is one that takes too long"
check "and what that one started is gone" wait_for 30 t_ended "$(cat "$TMP/slow.pid")"
is "$(run_fake empty)" "0 passed, 1 failed, 0 skipped; 1" "so is a test of nothing"
is "$(run_fake skipped)" "0 passed, 0 failed, 1 skipped; 1" "nothing but skipped is a failure"
is "$(tests/run | tail -n 1)" "0 passed, 0 failed, 0 skipped" "no test at all is one too"

# Side by side: each waits for the other one.
pair() {
	fake "$1" "touch '$TMP/$1.began'" "until [ -e '$TMP/$2.began' ]; do sleep 0.05; done" \
		"sleep 0.$3" 'echo ok 1' 'echo 1..1'
}
pair one two 5
pair two one 0
is "$(SECONDS_EACH=60 TEST_JOBS=2 run_fake one two)" "2 passed, 0 failed, 0 skipped; 0" \
	"files run side by side"
is "$(grep -oE '(one|two)\.t' "$TMP/log" | tr '\n' ' ')" "one.t two.t " "they are shown in order"
rm -f "$TMP/one.began" "$TMP/two.began"
is "$(SECONDS_EACH=4 TEST_JOBS=1 run_fake one two)" "1 passed, 1 failed, 0 skipped; 1" \
	"TEST_JOBS at once"
# The longest of the run before is the first to start.
for name in quick lengthy unknown; do
	fake $name "echo $name >>'$TMP/began'" 'echo ok 1' 'echo 1..1'
done
printf '%s\n' "3 $TMP/quick.t" "40 $TMP/lengthy.t" "70 gone.t" >"$TMP/times"
is "$(SECONDS_EACH=60 TEST_JOBS=1 run_fake quick lengthy unknown)" \
	"3 passed, 0 failed, 0 skipped; 0" "files with known times run"
is "$(tr '\n' ' ' <"$TMP/began")" "unknown lengthy quick " "new ones first, then the longest"
is "$(sed -n 's|^ok .*/\([a-z]*\.t\) .*|\1|p' "$TMP/log" | tr '\n' ' ')" \
	"quick.t lengthy.t unknown.t " "and are shown as they were named"
is "$(sed "s|$TMP/||; s/^[0-9] /new /" "$TMP/times" | sort | tr '\n' ' ')" \
	"70 gone.t new lengthy.t new quick.t new unknown.t " "their times are kept"
# Alone: no other runs.
for name in left right; do
	fake $name "mkdir '$TMP/busy' || exit 1" 'sleep 0.3' "rmdir '$TMP/busy'" 'echo ok 1' \
		'echo 1..1'
done
printf '%s\tone guest is counted\n' "$TMP/left.t" "$TMP/right.t" >"$TMP/alone"
is "$(SECONDS_EACH=60 TEST_JOBS=2 TEST_ALONE="$TMP/alone" run_fake left good right)" \
	"3 passed, 0 failed, 1 skipped; 0" "a test that is on the list runs alone"
is "$(sed -n 's|^ok .*/\([a-z]*\.t\) .*|\1|p' "$TMP/log" | tr '\n' ' ')" "good.t left.t right.t " \
	"after the others"
is "$(sed -n 's/^\(tests[^[:blank:]]*\).*/\1/p' tests/alone | while read -r file; do
	[ -e "$file" ] || [ -e "$file.c" ] || echo "$file"
done)" "" "tests/alone names files that exist"

# cmocka before 1.1.6 says "not ok" of a skipped case.
cat >"$TMP/cmocka" <<-'EOF'
	#!/bin/sh
	echo 1..3
	echo ok 1 - a
	echo no device here
	echo 'not ok 2 # SKIP b'
	echo ok 3 - c
EOF
chmod +x "$TMP/cmocka"
is "$(tests/run "$TMP/cmocka" | tail -n 1)" "2 passed, 0 failed, 1 skipped" "cmocka's skips count"
like "$(tests/run "$TMP/cmocka")" 'cmocka: b: no device here$' "with what was printed as reason"

# lib.sh
fake lib '. tests/lib.sh' 'echo "$TMP" >'"'$TMP/lib.tmp'" 'spawn sleep 60' \
	'echo "$SPAWNED" >'"'$TMP/lib.pid'" 'is 1 2 "one is two"' 'like abc "^b" "b first"' \
	'unlike abc "^b" "b not first"' 'check "false is true" false' 'skip "x" "no x"' done_testing
is "$(run_fake lib)" "1 passed, 3 failed, 1 skipped; 1" "lib.sh's tests can fail"
fake empty '. tests/lib.sh' 'unlike "" a "nothing has no a"' done_testing
is "$(run_fake empty)" "0 passed, 1 failed, 0 skipped; 1" "that nothing is in nothing is no news"
fake lost '. tests/lib.sh' "printf 'a,b\n1,2\n' >\"\$TMP/csv\"" \
	'is "$(awk -F, "$CSV_AT{ print \$at(\"c\") }" "$TMP/csv")" "" column' done_testing
is "$(run_fake lost)" "1 passed, 1 failed, 0 skipped; 1" "nor is a column that is not there"
fake half '. tests/lib.sh' 'ok one' 'exit 0'
is "$(run_fake half)" "1 passed, 1 failed, 0 skipped; 1" "a test without done_testing is a failure"

# A terminal that is a script: time is the test's.
script_start 80 24 --sysroot tests/sysroot/amd --view events -s 0.1
screen_sees '[0-9]/s '
before=$(screen_shot)
is "$(screen_shot)" "$before" "time stands still"
screen_pass 0.1
isnt "$(screen_shot)" "$before" "until it passes"
like "$(screen_line 1)" ' 0\.1s  08:00:00$' "from a time of day that is always the same"
screen_pass 100
like "$(screen_line 1)" ' 0\.1s  08:01:40$' "as much as the test wants"
screen_keys Down Down
like "$(screen_selected)" '^.kvm_exit ' "the selected row is known"
is "$(screen_cursor)" 0,6,0 "and the cursor"
is "$(screen_status 1)" running "it goes on"
is "$(screen_sees '^no such line' 1 || echo no)" no "what is not there is not seen"
screen_keys Umbrella
is "$(screen_status)" 99 "a key that is none ends it"
like "$(screen_shot)" '^scripted: Umbrella: no such key$' "and says so"
script_start 80 24 --view nonsense
is "$(screen_status)" 2 "the status is the program's"
like "$(screen_shot)" 'nonsense' "and the picture what it says"

# deps
deps_on() {
	printf 'ID=%s\nID_LIKE="%s"\n' "$1" "$2" >"$TMP/os-release"
	OS_RELEASE=$TMP/os-release PKG_CONFIG=no-such-command packaging/tools/deps -n build 2>&1
}
is "$(packaging/tools/deps -q build test)" "" "deps is silent when nothing is missing"
like "$(deps_on debian '')" 'apt-get install -y --no-install-recommends pkg-config libtracefs-dev' \
	"Debian"
like "$(deps_on linuxmint 'ubuntu debian')" 'apt-get install .* pkg-config' "a relative of Debian"
like "$(deps_on rocky 'rhel centos fedora')" 'dnf install -y .* pkgconf-' "a relative of Fedora"
like "$(deps_on arch '')" 'pacman .*--noconfirm pkgconf' "Arch"
like "$(deps_on plan9 '')" 'missing: .*libtracefs' "an unknown system gets a list"
is "$(status_of deps_on plan9 '')" 1 "and that is a failure"
is "$(OS_RELEASE=/dev/null CC=no-such-compiler packaging/tools/deps -l build)" "" \
	"no packages, no list"
is "$(CC=no-such-compiler packaging/tools/deps build 2>&1)" \
	"deps: CC is no-such-compiler: no such command" "no package has a compiler of that name"

# With tools that cannot reach what they are to fetch.
mkdir -p "$TMP/world/bin"
fake_program world/bin/id 'echo 0'
fake_program world/bin/apt-cache 'echo "Candidate: 1"'
without_network() {
	echo ID=debian >"$TMP/os-release"
	OS_RELEASE=$TMP/os-release PATH=$TMP/world/bin:$PATH PKG_CONFIG=no-such-command \
		packaging/tools/deps build 2>&1 | grep -v '^deps: installing '
}
for text in "Temporary failure resolving 'deb.debian.org'" \
	'Could not connect to deb.debian.org:80 (1.2.3.4), connection timed out'; do
	fake_program world/bin/apt-get "echo \"E: Failed to fetch x  $text\" >&2" 'exit 100'
	like "$(without_network)" '^deps: no network; .*: apt-get install .* pkg-config' \
		"no network: $text"
	is "$(without_network | wc -l)" 1 "and no other line"
done
fake_program world/bin/apt-get 'echo "E: held broken packages" >&2' 'exit 100'
like "$(without_network)" '^E: held broken packages$' "all else is apt's own words"
rm -r "$TMP/world"

# tests/hosts/beside, in a folder with tools that make packages up
beside=$PWD/tests/hosts/beside
mkdir -p "$TMP/world/packaging/tools" "$TMP/world/bin"
fake_program world/packaging/tools/deps 'echo made-up'
fake_program world/bin/apt-get 'case "$*" in' '*" -s "*) echo "Inst made-up (1)" ;;' \
	'*" download "*) touch made-up.deb ;;' 'esac'
fake_program world/bin/dpkg-deb 'mkdir -p "$3/usr/share"' \
	'echo seen >"$3/usr/share/kvmtop-made-up"'
in_world() {
	(cd "$TMP/world" && XDG_CACHE_HOME=$TMP/cache PATH=$TMP/world/bin:$PATH \
		"$beside" a-host -- cat /usr/share/kvmtop-made-up 2>&1)
}
as_root=--map-root-user
[ "$(id -u)" != 0 ] || as_root=--propagation=private
layers=lowerdir=$TMP:/usr
if unshare --mount $as_root mount -t overlay overlay -o "$layers" /usr 2>/dev/null; then
	like "$(in_world)" '^seen$' "a host's packages are beside the system's"
	is "$(in_world)" "seen" "and fetched once"
	fake_program world/packaging/tools/deps 'echo made-up another'
	like "$(in_world)" "^seen\$" "with another host's"
	is "$(cat "$TMP/cache/kvmtop-hosts/beside/packages")" "made-up another" "all of them"
	check "the system has not got them" test ! -e /usr/share/kvmtop-made-up
	fake_program world/bin/unshare 'echo "unshare: not allowed" >&2' 'exit 1'
	rm -rf "$TMP/cache"
	like "$(in_world)" '^# cannot be shown below /usr: unshare: not allowed$' \
		"where they cannot be shown that is said"
	check "and nothing is fetched" test ! -e "$TMP/cache/kvmtop-hosts/beside/packages"
	rm "$TMP/world/bin/unshare"
else
	skip "a host's packages are beside the system's" "no overlay can be mounted here"
fi
fake_program world/bin/apt-get 'echo "E: no network" >&2' 'exit 100'
rm -rf "$TMP/cache"
like "$(in_world)" '^# cannot be fetched: E: no network$' "what cannot be fetched is said"
fake_program world/packaging/tools/deps 'echo'
like "$(in_world)" 'made-up.*No such file' "where nothing is missing the command runs as it is"

if has_screen; then
	screen_start 40 10 'printf "hello "; read x; echo "got=$x"; stty size; exit 3'
	screen_has '^hello' "a program's picture is seen"
	screen_type abc
	screen_keys Enter
	screen_has '^got=abc$' "keys reach it"
	screen_has '^10 40$' "its terminal has the size asked for"
	is "$(screen_status)" 3 "its exit status is known"
	screen_start 30 5 'sleep 60'
	kill -KILL "$(screen_pid)"
	is "$(screen_status)" SIG9 "so is the signal that ended it"
else
	skip "screens" "$T_no_screen"
fi

# shellcheck disable=SC2016 # for the shell inside
is "$(sh -c '. tests/lib.sh; T_done=1; [ ! -e "/proc/$$/fd/9" ] || echo kept' 9>"$TMP/held")" "" \
	"a test has no descriptors of its caller"
done_testing
