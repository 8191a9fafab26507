#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# A POWER9 host without a hypervisor below it: QEMU emulates two cores of a PowerNV machine, and
# its firmware. Its exits are events of kvm_hv, its pages have 64 KiB.
. tests/hosts/lib.sh

need_cmd qemu-system-ppc64
kernel=$(kernel ppc64el linux-image-powerpc64le) || cannot "no kernel: $(why)"
cross_root ppc64el powerpc64le-linux-gnu
root_modules "$kernel" kvm kvm-hv
root_suite
root_end >"$TMP/initrd"

# The firmware boots no kernel without QEMU's default devices, or with one emulator thread.
qemu-system-ppc64 -no-user-config -display none -monitor none -no-reboot -serial stdio \
	-machine powernv9 -accel tcg,thread=multi -smp 2 -m 1024 \
	-kernel "$kernel"/boot/vmlinu* -initrd "$TMP/initrd" \
	-append "console=hvc0 quiet loglevel=2 panic=-1 nowatchdog" </dev/null
