#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An Intel host: Bochs emulates one CPU with VMX, which QEMU cannot, Debian's kernel runs KVM on it.
. tests/hosts/lib.sh

bios=/usr/share/bochs
vga_bios=/usr/share/bochs/VGABIOS-lgpl-latest
need_cmd bochs grub-mkrescue xorriso mformat gzip
for file in $bios/BIOS-bochs-latest $vga_bios /usr/lib/grub/i386-pc/normal.mod; do
	[ -r "$file" ] || cannot "$file is missing"
done

x86_root
root_modules "$kernel" irqbypass kvm kvm-intel
root_suite
mkdir -p "$TMP/cd/boot/grub"
root_end | gzip >"$TMP/cd/boot/initrd"
cp "$kernel"/boot/vmlinuz-* "$TMP/cd/boot/vmlinuz"
cat >"$TMP/cd/boot/grub/grub.cfg" <<EOF
set timeout=0
linux /boot/vmlinuz console=ttyS0,115200 quiet loglevel=2 panic=-1 nokaslr tsc=reliable \
no_timer_check mitigations=off nowatchdog rcupdate.rcu_expedited=1
initrd /boot/initrd
boot
EOF
grub-mkrescue -o "$TMP/cd.iso" "$TMP/cd" >"$TMP/grub.log" 2>&1 || {
	cat "$TMP/grub.log"
	exit 1
}

# This model's TSC runs as fast as it says; skylake's does not, and then timers are late.
cat >"$TMP/bochsrc" <<EOF
memory: guest=512, host=512
cpu: model=corei7_haswell_4770, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=1
clock: sync=none
romimage: file=$bios/BIOS-bochs-latest
vgaromimage: file=$vga_bios
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=cdrom, path=$TMP/cd.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$TMP/serial
display_library: rfb, options="timeout=0"
panic: action=fatal
log: $TMP/bochs.log
EOF
: >"$TMP/serial"
echo c >"$TMP/commands" # its debugger waits for one

bochs -q -f "$TMP/bochsrc" -rc "$TMP/commands" </dev/null >"$TMP/bochs.out" 2>&1 &
emulator=$!
tail --pid=$emulator -n +1 -f "$TMP/serial"
wait $emulator
# Powering off ends it with status 1.
grep -q '^1\.\.' "$TMP/serial" || tail -n 5 "$TMP/bochs.log" "$TMP/bochs.out"
