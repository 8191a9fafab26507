# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2317 # variables of inside.sh; wait_for calls functions
#
# symbols.sh - Linux boots in a guest, and each of its symbols is found in its memory.
#
# Runs inside an emulated host (see lib.sh beside it) in place of suite.sh.
. tests/lib.sh
. tests/hosts/inside.sh

# The guest's machine; where its kernel's addresses begin; and exits by reason and function: of its
# console, and of its timer. AArch64's is set up without an exit: its interrupt is one, wherever the
# guest is then, and to wait for it is one of the idle loop.
case $(uname -m) in
aarch64)
	MACHINE="qemu-system-aarch64 -machine virt,gic-version=3 -cpu host" CONSOLE=ttyAMA0
	FIRST=ffff800000000000
	CONSOLE_CODE='DABT_LOW pl011_tx_chars?'
	TIMER_CODE='WFx [a-z_]*idle[a-z_]*'
	;;
*)
	MACHINE="qemu-system-x86_64 -machine pc -cpu qemu64" CONSOLE=ttyS0
	FIRST=ffffffff80000000
	CONSOLE_CODE='io io_serial_out'
	TIMER_CODE='msr [a-z_]*(write_msr|msr_write|wrmsr|lapic_next)[a-z_]*'
	;;
esac

# boot_guest: returns when the guest has written its list.
boot_guest() {
	: >"$TMP/console"
	dd if=/dev/zero of="$TMP/disk" bs=1M count=16 2>/dev/null
	# shellcheck disable=SC2086 # a program and options
	spawn $MACHINE -nodefaults -no-user-config -display none -nic none \
		-name guest,debug-threads=on -accel kvm -smp 1 -m 256 \
		-serial "file:$TMP/console" \
		-drive "file=$TMP/disk,format=raw,if=none,id=disk" \
		-device nvme,serial=1,drive=disk -kernel /guest/vmlinuz -initrd /guest/initrd \
		-append "console=$CONSOLE quiet panic=-1" >"$TMP/qemu" 2>&1
	GUEST=$SPAWNED
	wait_for "$1" grep -q '^the list is written' "$TMP/console"
}

# With KASLR it does not always boot in an emulated host, and newer kernels not with all features.
guest_boots() {
	for b_try in 1 2 3 4; do
		! boot_guest 20 || return 0
		diag "try $b_try: $(tail -n 2 "$TMP/qemu" "$TMP/console")"
		stop "$GUEST" KILL
	done
	return 1
}

# Without modules, and things of each CPU, which are no addresses.
list_of_guest() {
	tr -d '\000' <"$TMP/disk" | grep -v '\[' | awk -v first=$FIRST '$1 >= first'
}

# find_symbols: KVM's copies of registers may be old.
find_symbols() {
	for f_try in 1 2 3 4 5; do
		! symbols "$GUEST" "$1" >"$TMP/found" 2>"$TMP/registers" || return 0
		diag "try $f_try: $(cat "$TMP/registers" "$TMP/found" | head -n 3)"
		sleep 0.5
	done
	return 1
}

symbols_are_the_guests() {
	list_of_guest >"$TMP/list"
	diag "$(wc -l <"$TMP/list") symbols, from $(head -n 1 "$TMP/list")"
	check "the guest has a list" test "$(wc -l <"$TMP/list")" -gt 10000
	check "symbols are found in the guest's memory" \
		find_symbols "$(grep -l KVM "/proc/$GUEST/task/"*/comm | cut -d/ -f5)"
	diag "$(cat "$TMP/registers")"
	is "$(diff "$TMP/list" "$TMP/found" | head)" "" "each line is the guest's"
}

# code_of_guest: the tree of the code of its exits in $TMP/tree, and in $TMP/functions, by reason,
# the guest's own functions.
code_of_guest() {
	kvmtop where -p "$GUEST" --guest-code --guest-symbols --halts --csv -x 4 >"$TMP/tree.csv" \
		2>"$TMP/tree.err" || echo "status $?" >>"$TMP/tree.err"
	tr -d '"' <"$TMP/tree.csv" >"$TMP/tree"
	awk -F, '$2 == "exit" { reason = $1 } $2 == "guest" { print reason, $1 }' "$TMP/tree" |
		sort -u >"$TMP/functions"
}

# code_of_live_guest: the same of a guest that goes on, and writes to its console meanwhile. In an
# emulated host it locks up at times.
code_of_live_guest() {
	for c_try in 1 2 3 4; do
		code_of_guest
		! grep -Eqx "$CONSOLE_CODE" "$TMP/functions" || return 0
		diag "try $c_try: the guest does not go on"
		stop "$GUEST" KILL
		guest_boots || return 1
		list_of_guest >"$TMP/list"
	done
	return 1
}

# Without [user], and addresses outside the image, such as modules'.
code_has_names() {
	check "the serial console's function makes writes" code_of_live_guest
	diag "$(grep -E "^(${CONSOLE_CODE%% *}|${TIMER_CODE%% *}) " "$TMP/functions")"
	like "$(cat "$TMP/functions")" "^$TIMER_CODE\$" "the timer has the function of its exits"
	is "$(grep -v '^kvmtop: Samples are taken by' "$TMP/tree.err")" "" "where has no complaint"
	awk '{ print $3 }' "$TMP/list" | sort -u >"$TMP/names"
	is "$(sed 's/.* //' "$TMP/functions" | grep -v '^\[\|\]$\|^0x' | grep -vxFf "$TMP/names")" \
		"" "each function is one of the guest's"
	# Debian builds QEMU without frame pointers: what their register has is no caller.
	is "$(grep -c '^\[unknown\],VMM,' "$TMP/tree")" 0 "QEMU's functions have no false callers"
	like "$(grep '^vCPU 0,' "$TMP/tree")" ',[0-9]+\.[0-9]+$' \
		"the share of exits that its kernel makes is known"
}

# long_exits: exits of a guest that goes on, one by one.
long_exits_of_guest() {
	kvmtop exits -p "$GUEST" --longer 1us --guest-symbols --csv 2 2>"$TMP/long.err" |
		tr -d '"' | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == "symbol") column = i }
		NR > 1 && $column != "" { print $column }' >"$TMP/long"
	[ -s "$TMP/long" ]
}

long_exits_have_names() {
	check "long exits have the guest's functions" long_exits_of_guest
	is "$(cat "$TMP/long.err")" "" "and nothing to complain about"
	diag "$(wc -l <"$TMP/long") long exits, as of $(head -n 1 "$TMP/long")"
	is "$(sed 's/+0x[0-9a-f]*$//' "$TMP/long" | sort -u | grep -vxFf "$TMP/names")" "" \
		"each is one of the guest's"
}

load_modules
section "a guest boots"
diag "$(uname -mr), $(nproc) CPU"
if guest_boots; then
	section "its symbols"
	symbols_are_the_guests
	section "its code"
	code_has_names
	section "its long exits"
	long_exits_have_names
else
	skip "symbols of a guest" "Linux does not boot in a guest of this emulated host"
fi
kernel_is_content
done_testing
