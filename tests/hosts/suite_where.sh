# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of suite.sh and inside.sh
#
# suite_where.sh - kvmtop where names the code that takes the time of exits: part of suite.sh.

# where_of NAME OPTION...: what kvmtop where finds, as CSV in $TMP/where.
where_of() {
	w_name=$1
	shift
	section "where of $w_name"
	kvmtop where -g "$w_name" --csv "$@" 3 >"$TMP/where" 2>"$TMP/where.err"
	is $? 0 "where: exit status"
	diag "$(head -n 12 "$TMP/where.err" "$TMP/where")"
}

# where_top: the function that most time is in, beside the guest.
where_top() {
	sed 1d "$TMP/where" | grep -v '^"*\[guest' | head -n 1 | cut -d, -f1 | tr -d '"'
}

# where_share FUNCTION [FIELD]: its share of the time with what it calls, in percent.
where_share() {
	sed 's/"//g' "$TMP/where" | grep -F -m 1 "$1," | cut -d, -f"${2:-4}"
}

# A VMM that computes for each write, and one that sleeps. The kernel's code in exits that are much
# shorter than a clock's period is no case: how much the clock sees of it differs from run to run.
where_code() {
	guest spins "--$WHERE_WRITES" 10 --answer 2000 --spin --rounds 0
	w_guest=$GUEST
	guest_go spins
	where_of spins
	is "$(where_top)" answer_by_spinning "where: the function that spins is on top"
	where_adds_up spins "${SLOW_EXITS%% *}" 10
	stop "$w_guest"
	guest sleeps "--$WHERE_WRITES" 10 --answer 20000 --rounds 0
	w_guest=$GUEST
	guest_go sleeps
	where_of sleeps
	is "$(where_top)" "[off CPU]" "where: a VMM that sleeps is off its CPU"
	unlike "$(where_share clock_nanosleep)" '^([0-4]?[0-9]([.]|$)|$)' \
		"where: most time is below the function that sleeps"
	where_adds_up sleeps "${SLOW_EXITS%% *}" 10
	stop "$w_guest"
}

# percent_of FILE NAME: the column time_percent of the first line that has the name.
percent_of() {
	tr -d '"' <"$1" | awk -F, -v name="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_percent") column = i }
		{ for (i = 1; i <= NF; i++) if ($i == name) { print $column; exit } }'
}

# where_adds_up NAME REASON POINTS: the reason has the share of the vCPU's time that kvmtop exits
# has, within so many points: on a CPU, off it, and in user space. Some 600 samples of a share of
# 30 % are right within 2 points. More of them would take much of an emulated host's time
# themselves. The two commands do not count at exactly one time: a host that stands still meanwhile
# has another try.
where_adds_up() {
	for w_try in 1 2 3; do
		kvmtop exits -g "$1" --csv 4 >"$TMP/exits" 2>"$TMP/exits.err" &
		w_pid=$!
		where_of "$1" -x --halts --hertz 199
		wait "$w_pid"
		w_where=$(percent_of "$TMP/where" "$2") w_exits=$(percent_of "$TMP/exits" "$2")
		w_equal=$(awk -v a="$w_where" -v b="$w_exits" -v most="$3" 'BEGIN {
			print a != "" && a - b < most && b - a < most ? "equal" : "not equal" }')
		[ "$w_equal" != equal ] || break
	done
	is "$w_equal" equal \
		"where: $2 of $1 has the time of its exits ($w_where, $w_exits %, try $w_try)"
}

# begin_where OPTION...: kvmtop where, as CSV in $TMP/where; it counts when this returns, until
# end_where.
begin_where() {
	spawn kvmtop where --csv "$@" 600 >"$TMP/where" 2>"$TMP/where.err"
	WHERE=$SPAWNED
	wait_for 60 is_sampling "$WHERE" || not_ok "where begins" "$(cat "$TMP/where.err")"
}

end_where() {
	kill -TERM "$WHERE"
	wait "$WHERE"
	is $? 0 "where: exit status"
	diag "$(head -n 12 "$TMP/where.err" "$TMP/where")"
}

# where_exits FUNCTION: how many it makes.
where_exits() {
	tr -d '"' <"$TMP/where" | awk -F, -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "exits") column = i }
		$1 == name { print $column }'
}

# Two functions of a small kernel leave it, one three times as often as the other. Of a guest that
# has no addresses of a kernel all exits are its user mode's.
guest_code() {
	section "the guest's code"
	guest low --pio 77 --rounds 1
	g_guest=$GUEST
	begin_where -p "$g_guest" -e "^$PIO\$" --guest-code
	guest_run low
	end_where
	is "$(where_exits "[user]")" 77 "low addresses are of user mode"
	stop "$g_guest"
	if ! command -v symbols >/dev/null; then
		skip "the guest's code" "the small kernel is for x86-64"
		return
	fi
	guest_of symbols kernel 4000
	g_guest=$GUEST
	begin_where -p "$g_guest" -e "^$PIO\$" --guest-code --guest-symbols --hertz 999
	guest_go kernel
	guest_done kernel
	end_where
	is "$(where_exits func_100)" 3000 "three of four exits are one function's"
	is "$(where_exits func_201)" 1000 "the fourth is the other one's"
	like "$(percent_of "$TMP/where" func_100)" '[1-9]' "samples have the time of its exits"
	stop "$g_guest"
}
