#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host: QEMU emulates two CPUs with SVM, Debian's kernel runs KVM on them.
. tests/hosts/lib.sh

need_cmd qemu-system-x86_64
[ "$(uname -m)" = x86_64 ] || cannot "this machine is no x86-64, the program is not for that host"
need_built "$KVMTOP" "$HELPERS/miniguest"
busybox=$(static_busybox) || cannot "no static busybox is installed"
kernel=$(kernel amd64 linux-image-cloud-amd64) || cannot "no kernel: $(why)"

root_begin "$busybox"
root_program "$KVMTOP" /bin/kvmtop
root_program "$HELPERS/miniguest" /bin/miniguest
root_screen
root_modules "$kernel" irqbypass kvm kvm-amd
root_suite
root_end >"$TMP/initrd"

# tsc=reliable: else the slow HPET is the clock, and the clock of traces stands still at times.
qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
	-machine q35 -accel tcg,thread=single -cpu max,+svm -smp 2 -m 512 \
	-kernel "$kernel"/boot/vmlinuz-* -initrd "$TMP/initrd" \
	-append "console=ttyS0 quiet loglevel=2 panic=-1 tsc=reliable nowatchdog \
rcupdate.rcu_expedited=1" </dev/null
