#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AArch64 host: QEMU emulates two CPUs with VHE, Debian's kernel has KVM built in; kvmtop and the
# guest are cross-built for it.
. tests/hosts/lib.sh

triplet=aarch64-linux-gnu
need_cmd qemu-system-aarch64 $triplet-gcc readelf make pkg-config busybox
kernel=$(kernel arm64 linux-image-cloud-arm64) || cannot "no kernel: $(why)"
sysroot=$(sysroot arm64 busybox-static libc6 uthash-dev libtraceevent1 libtraceevent-dev \
	libtracefs1 libtracefs-dev libtinfo6 libncursesw6 libncurses-dev libpcre2-8-0 \
	libpcre2-dev libjson-c5 libjson-c-dev tmux libevent-core-2.1-7 libutempter0) ||
	cannot "no libraries for arm64: $(why)"

# In the tree, so that the next time it is there already.
build=build/arm64
PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$triplet/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
	make BUILD=$build CC=$triplet-gcc CPPFLAGS="-I$sysroot/usr/include" \
	LDFLAGS="-L$sysroot/usr/lib/$triplet -L$sysroot/lib/$triplet \
-Wl,-rpath-link,$sysroot/lib/$triplet" \
	all $build/tests/miniguest >"$TMP/make.log" 2>&1 || { cat "$TMP/make.log" && exit 1; }

root_begin "$sysroot/bin/busybox"
root_foreign $build/kvmtop /bin/kvmtop "$sysroot" $triplet
root_foreign $build/tests/miniguest /bin/miniguest "$sysroot" $triplet
root_foreign "$sysroot/usr/bin/tmux" /bin/tmux "$sysroot" $triplet
root_add "$sysroot/lib/$triplet/ld-linux-aarch64.so.1" /lib/ld-linux-aarch64.so.1
root_terminal
root_suite
root_end >"$TMP/initrd"

# As in svm.sh, one thread.
qemu-system-aarch64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
	-machine virt,virtualization=on,gic-version=3 -accel tcg,thread=single -cpu neoverse-n1 \
	-smp 2 -m 512 -kernel "$kernel"/boot/vmlinuz-* -initrd "$TMP/initrd" \
	-append "console=ttyAMA0 quiet loglevel=2 panic=-1 nowatchdog" </dev/null
