#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# A RISC-V host: QEMU emulates two CPUs with the hypervisor extension. Only newer kernels have the
# trace events of its exits.
. tests/hosts/lib.sh

need_cmd qemu-system-riscv64
kernel=$(kernel riscv64 linux-image-riscv64) || cannot "no kernel: $(why)"
cross_root riscv64 riscv64-linux-gnu
root_modules "$kernel" irqbypass kvm
root_suite
root_end >"$TMP/initrd"

qemu-system-riscv64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
	-machine virt -accel tcg,thread=single -cpu rv64,h=true -smp 2 -m 768 \
	-kernel "$kernel"/boot/vmlinu* -initrd "$TMP/initrd" \
	-append "console=ttyS0 quiet loglevel=2 panic=-1 nowatchdog" </dev/null
