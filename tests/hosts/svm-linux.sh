#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host in which QEMU boots Linux, watched by kvmtop, perf and trace-cmd. The clock of its
# only CPU counts instructions: what the watchers cost each other is the same for each exit, and a
# guest that stamps its interrupts loses no time to the emulator.
. tests/hosts/lib.sh

svm_root /tests/hosts/linux.sh
root_suite
root_add tests/hosts/linux.sh /tests/hosts/linux.sh
root_peer perf linux-perf

root_qemu

# The guest: the same kernel, a shell, and a script that makes exits of many kinds.
root_guest "$kernel" <<'END'
for i in 0 1 2 3 4 5 6 7 8 9; do
	usleep 20000
done
hwclock -r
cat /proc/cpuinfo >/dev/null
dd if=/dev/zero of=/memory bs=1M count=20 2>/dev/null
echo the guest has done all
reboot -f
END

root_end >"$TMP/initrd"
svm_boot 1 1024 "" -icount shift=0,sleep=off
