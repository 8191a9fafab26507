# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# symbols-guest.sh - what the guest of symbols.sh does: it writes the list of its symbols on its
# disk, and then works in its kernel and in user mode, sleeps, and writes to its console.
echo 0 >/proc/sys/kernel/kptr_restrict
cat /proc/kallsyms >/list
dd if=/list of=/dev/nvme0n1 bs=64k conv=sync,fsync 2>/dev/null
echo the list is written
while :; do
	dd if=/dev/zero of=/dev/null bs=1M count=5 2>/dev/null
	for _ in $(seq 500); do :; done
	usleep 1000
	echo more
done
