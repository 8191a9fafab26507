#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An AArch64 host: QEMU emulates two CPUs with VHE, Debian's kernel has KVM built in.
. tests/hosts/lib.sh

need_cmd qemu-system-aarch64
kernel=$(kernel arm64 linux-image-cloud-arm64) || cannot "no kernel: $(why)"
cross_root arm64 aarch64-linux-gnu
root_suite
root_end >"$TMP/initrd"

# As in svm_boot, one thread.
qemu-system-aarch64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
	-machine virt,virtualization=on,gic-version=3 -accel tcg,thread=single -cpu neoverse-n1 \
	-smp 2 -m 512 -kernel "$kernel"/boot/vmlinuz-* -initrd "$TMP/initrd" \
	-append "console=ttyAMA0 quiet loglevel=2 panic=-1 nowatchdog" </dev/null
