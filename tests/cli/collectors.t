#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What Vector, Telegraf and journald run gives what they read: a JSON object a line.
# shellcheck disable=SC2317 # wait_for calls functions
. tests/lib.sh

vector=packaging/contrib/vector/kvmtop.toml
telegraf=packaging/contrib/telegraf/kvmtop.conf

# command_in FILE: the words after kvmtop of the command that it runs.
command_in() {
	sed -nE 's/^ *command = \["kvmtop", (.*)\]$/\1/p' "$1" | tr -d '",'
}

# Instead of kvmtop, for whoever runs it by its name: of the captured machine, and quicker.
mkdir "$TMP/bin"
cat >"$TMP/bin/kvmtop" <<END
#!/bin/sh
exec $(readlink -f "$KVMTOP") --sysroot $PWD/tests/sysroot/amd "\$@" -s 0.2
END
chmod +x "$TMP/bin/kvmtop"

# ---- what their parsers rely on

for file in $vector $telegraf; do
	name=${file#packaging/contrib/} name=${name%/*}
	options=$(command_in "$file")
	like "$options" '^-l --json ' "$name: a command that writes JSON lines"
	# shellcheck disable=SC2086 # words
	"$TMP/bin/kvmtop" $options -n 3 >"$TMP/$name"
	is "$(grep -c '^{.*}$' "$TMP/$name") $(wc -l <"$TMP/$name")" "3 3" "$name: an object a line"
	is "$(grep -cE '^\{"time":"2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]+[+-][0-9:]{5}",' \
		"$TMP/$name")" 3 "$name: with the time as RFC 3339 has it"
	if ! command -v jq >/dev/null; then
		skip "$name: rows without anything nested" "jq is not installed"
		continue
	fi
	is "$(jq -c '[.rows[] | .[] | select(type == "object" or type == "array")]' \
		"$TMP/$name" | sort -u)" "[]" "$name: rows without anything nested"
	is "$(jq -r '.rows[] | [.guest, .pid, .vmm, .rate, .kvm_percent] |
		map(type) | join(" ")' "$TMP/$name" | sort -u)" \
		"string number string number number" "$name: numbers are numbers"
done
for tag in $(sed -n 's/^ *tags = \[\(.*\)\]$/\1/p' $telegraf | tr -d '",'); do
	check "telegraf: $tag is in each row" \
		awk -v tag="\"$tag\":" '{ n += gsub(tag, "") } END { exit n != 6 }' "$TMP/telegraf"
done

# ---- the programs themselves

if command -v vector >/dev/null; then
	spawn env PATH="$TMP/bin:$PATH" VECTOR_DATA_DIR="$TMP" vector -q --config $vector \
		>"$TMP/events"
	has_events() {
		grep '"guest":"web1"' "$TMP/events" | grep -q '"timestamp":"2'
	}
	check "vector has events" wait_for 60 has_events
	stop "$SPAWNED"
else
	skip "vector has events" "vector is not installed: Debian has no such package"
fi
if command -v telegraf >/dev/null; then
	PATH=$TMP/bin:$PATH telegraf --config $telegraf --test --test-wait 5 >"$TMP/metrics" \
		2>"$TMP/err"
	like "$(cat "$TMP/metrics")" '^> kvmtop,.*guest=web1.* rate=' "telegraf has metrics"
else
	skip "telegraf has metrics" "telegraf is not installed: Debian has no such package"
fi

# A journald of our own, which sees neither the kernel's messages nor other programs.
journald=/lib/systemd/systemd-journald
line=$(sed -n 's/^\.Dl \(kvmtop .* | systemd-cat .*\)/\1/p' man/kvmtop-export.8)
isnt "$line" "" "the manual has a line for journald"
if [ "$(id -u)" != 0 ] || [ ! -x $journald ] || ! unshare -m true 2>/dev/null; then
	skip "journald has each object" "no journald, or no mount namespace here"
	done_testing
fi
printf '%s\n' '[Journal]' Storage=volatile ReadKMsg=no Audit= RateLimitIntervalSec=0 \
	>"$TMP/journald.conf"
cat >"$TMP/inside" <<'END'
mount -t tmpfs run /run || exit 77
mount --bind "$TMP/journald.conf" /etc/systemd/journald.conf || exit 77
mkdir -p /run/systemd/journal /run/log/journal
$1 &
journald=$!
until [ -S /run/systemd/journal/stdout ]; do
	kill -0 $journald || exit 77
	sleep 0.05
done
PATH=$TMP/bin:$PATH
eval "$2" || exit
for try in $(seq 200); do
	journalctl -t kvmtop -o cat --no-pager >"$TMP/journal"
	[ "$(wc -l <"$TMP/journal")" -lt 3 ] || break
	sleep 0.05
done
kill $journald
END
# The line without an end, for three samples.
t_status=$(status_of unshare -m sh "$TMP/inside" $journald \
	"$(printf '%s\n' "$line" | sed 's/ -s [0-9]*//; s/ |/ -n 3 |/')")
if [ "$t_status" = 77 ]; then
	skip "journald has each object" "$(tail -n 1 "$TMP/err")"
else
	is "$(grep -cE '^\{"time":.*"guest":"web1".*\}$' "$TMP/journal")" 3 \
		"journald has each object as one message"
fi
done_testing
