#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What tests/hosts/run makes of a host that passes, fails, breaks off, hangs or cannot be had.
# shellcheck disable=SC2317 # check and wait_for call functions
. tests/lib.sh

TREE=$TMP/tree
mkdir -p "$TREE/tests/hosts"
cp tests/hosts/run tests/hosts/lib.sh "$TREE/tests/hosts/"
cp tests/lib.sh "$TREE/tests/"

# host NAME: a host that is only the script on stdin.
host() {
	{
		echo '. tests/hosts/lib.sh'
		cat
	} >"$TREE/tests/hosts/$1.sh"
}

host good <<'END'
echo "noise of its kernel"
echo "ok 1 - one"
printf 'ok 2 - two # SKIP no such thing\r\n1..2\r\n'
END
host bad <<'END'
echo "just before"
echo "not ok 1 - one"
echo "#   why"
echo "just after"
echo "1..1"
END
host again <<'END'
. tests/lib.sh
disturbed "a case" 1 3
ok one
done_testing
END
host short <<'END'
echo "ok 1 - one"
echo "Kernel panic - not syncing"
END
host fewer <<'END'
echo "ok 1 - one"
echo "1..3"
END
host none <<'END'
need_cmd no-such-emulator
END
host hangs <<'END'
echo "$TMP" >"$LEFT"
sleep 300 &
echo $! >"$LEFT.pid"
wait
END

# hosts NAME...: prints all that tests/hosts/run says of them.
LEFT=$TMP/left
DEBIAN_MIRROR=none # not asked for: that takes a while
export LEFT DEBIAN_MIRROR
hosts() {
	(cd "$TREE" && exec tests/hosts/run "$@" 2>&1)
}

# nothing_left: neither a process of the host that hangs, nor its folder.
nothing_left() {
	[ -s "$LEFT.pid" ] && t_ended "$(cat "$LEFT.pid")" && [ ! -d "$(cat "$LEFT")" ]
}

out=$(hosts good)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "0 1 passed, 0 failed, 1 skipped" "a host that passes"
unlike "$out" noise "what else it prints is not shown"

out=$(hosts bad)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "1 0 passed, 1 failed, 0 skipped" "one that fails"
like "$out" '^bad  \| just before$' "what it printed before the failure is shown"
like "$out" '^bad  \| just after$' "and after it"

out=$(hosts again good)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "0 2 passed, 0 failed, 1 skipped" \
	"one with a try that failed and was repeated"
like "$out" '^  again: a case: try 1 of 3 failed$' "is listed with it"

out=$(hosts short)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "1 1 passed, 1 failed, 0 skipped" "one that breaks off"
like "$out" '^  short: it did not reach its end' "and a message says so"
like "$out" '^short  \| Kernel panic' "with its last words"

out=$(hosts fewer)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "1 1 passed, 2 failed, 0 skipped" \
	"what was planned and did not come has failed"

out=$(hosts none good)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "0 1 passed, 0 failed, 2 skipped" \
	"one that cannot be had is skipped"
like "$out" '^skipped none: no-such-emulator is not installed$' "with the reason"

out=$(HOST_SILENCE=2 hosts hangs)
is "$? $(printf '%s\n' "$out" | tail -n 1)" "1 0 passed, 1 failed, 0 skipped" "one that hangs"
like "$out" '^  hangs: stopped after [0-9]+ seconds, started again$' "is started once more"
like "$out" '^  hangs: stopped: it printed nothing for 2 seconds$' "and then ended"
check "and nothing of it is left" wait_for 30 nothing_left

out=$(HOST_TIMEOUT=3 hosts hangs)
like "$out" '^  hangs: stopped after 3 seconds$' "one that goes on for too long is ended, too"
check "and nothing of it is left" wait_for 30 nothing_left

rm -f "$LEFT" "$LEFT.pid"
# shellcheck disable=SC2016
spawn sh -c 'cd "$0" && exec tests/hosts/run hangs' "$TREE" >"$TMP/out" 2>&1
wait_for 10 test -s "$LEFT.pid"
stop "$SPAWNED" INT
is $? 130 "Ctrl-C ends it"
check "and nothing is left" wait_for 30 nothing_left

is "$(status_of hosts nowhere)" 2 "a host that does not exist is a usage error"

done_testing
