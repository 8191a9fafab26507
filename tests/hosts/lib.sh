# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2120,SC2119
#
# lib.sh - what every host script needs: packages, the host's only file system, and its emulator.
#
# A host is a POSIX shell script, run from the project's root by tests/hosts/run. It makes an
# initramfs with the program, a guest and suite.sh in it, and emulates the machine that boots it;
# what the machine writes to its serial line is the script's output:
#
#	#!/bin/sh
#	# SPDX-License-Identifier: GPL-2.0-or-later
#	# Says in one sentence which host it is.
#	. tests/hosts/lib.sh
#	need_cmd qemu-system-aarch64
#	kernel=$(kernel arm64 linux-image-cloud-arm64) || cannot "no kernel: $(why)"
#	cross_root arm64 aarch64-linux-gnu
#	root_suite
#	root_end >"$TMP/initrd"
#	qemu-system-aarch64 ...
#
# Nothing is installed: packages are fetched by apt-get with a state of its own into
# ${XDG_CACHE_HOME:-~/.cache}/kvmtop-hosts, unpacked there and used again. To get newer ones,
# remove the folder. Variables:
#	KVMTOP		the program to test, for this machine's architecture
#	HELPERS		the folder with miniguest and picture
#	CASES		the suite's cases to run, by their names in suite.sh (all)
#	DEBIAN_MIRROR	where packages come from
#	RELEASE		the release of Debian with the kernel of x86-64 and AArch64 hosts
#			(bookworm); the hosts svm-bullseye, svm-trixie ... have one each
#	TMP		this host's own folder; gone afterwards
# Names that start with h_ or H_ are this file's own.

KVMTOP=${KVMTOP:-./kvmtop}
HELPERS=${HELPERS:-build/tests/helpers}
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kvmtop-hosts
H_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# Where this machine's own packages come from.
H_MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null |
	grep -v security | head -n 1)}
H_BOCHS=/usr/share/bochs
VMX_IPS=50000000
H_CANNOT=77 # exit status: this host cannot be had here

TMP=$(mktemp -d "${TMPDIR:-/tmp}/kvmtop-host.XXXXXX") || exit 1
export TMP
export LC_ALL=C
trap 'rm -rf "$TMP"' EXIT
trap 'h_stop 129' HUP
trap 'h_stop 130' INT
trap 'h_stop 143' TERM

# timeout(1) sends a signal twice, to the shell and to its group: the second one must not end rm.
h_stop() {
	trap '' HUP INT TERM
	exit "$1"
}

# cannot REASON: this host cannot be had on this machine.
cannot() {
	echo "cannot: $1"
	exit $H_CANNOT
}

# need_cmd NAME...
need_cmd() {
	for h_cmd; do
		command -v "$h_cmd" >/dev/null 2>&1 || cannot "$h_cmd is not installed"
	done
}

# need_built PROGRAM...
need_built() {
	for h_file; do
		[ -x "$h_file" ] || cannot "$h_file is not built"
	done
}

# why: the latest error of package or kernel, in one line. Of several errors of apt the cause.
why() {
	grep -m 1 'Failed to fetch' "$TMP/why" 2>/dev/null || tail -n 1 "$TMP/why" 2>/dev/null
}

# ---- packages

# h_suite ARCH: the release to take packages from: bookworm has no riscv64.
h_suite() {
	case $1 in
	riscv64) echo trixie ;;
	*) echo "${h_release:-bookworm}" ;;
	esac
}

# h_apt ARCH COMMAND...: an apt command that knows packages of this architecture only.
h_apt() {
	h_state=$CACHE/apt-$1-$(h_suite "$1")
	h_arch=$1
	h_command=$2
	shift 2
	mkdir -p "$h_state/lists/partial" "$h_state/archives/partial" "$h_state/parts" || return 1
	echo "deb [signed-by=$H_KEYRING] $H_MIRROR $(h_suite "$h_arch") main" \
		>"$h_state/sources.list"
	"$h_command" -q -o APT::Architecture="$h_arch" -o APT::Architectures="$h_arch" \
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=2 \
		-o Dir::State::Lists="$h_state/lists" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$h_state" -o Dir::Etc::SourceList="$h_state/sources.list" \
		-o Dir::Etc::SourceParts="$h_state/parts" "$@"
}

# h_knows ARCH NAME: the package lists were fetched and have the package.
h_knows() {
	h_apt "$1" apt-cache show "$2" >/dev/null 2>&1
}

# h_get ARCH NAME: makes $CACHE/ARCH/NAME if it is missing.
h_get() {
	[ ! -d "$CACHE/$1/$2" ] || return 0
	for h_cmd in apt-get apt-cache dpkg-deb; do
		command -v $h_cmd >/dev/null 2>&1 || { echo "$h_cmd is not installed" && return 1; }
	done
	[ -r $H_KEYRING ] || { echo "$H_KEYRING is missing" && return 1; }
	h_knows "$1" "$2" || h_apt "$1" apt-get update || return 1
	rm -rf "$TMP/deb"
	mkdir -p "$TMP/deb" "$CACHE/$1"
	# shellcheck disable=SC2046 # a list
	(cd "$TMP/deb" && h_apt "$1" apt-get download "$2" $(h_parts "$1" "$2")) || return 1
	# The folder gets its name when it is complete.
	h_new=$CACHE/$1/.new.$$
	rm -rf "$h_new"
	for h_deb in "$TMP/deb"/*.deb; do
		dpkg-deb -x "$h_deb" "$h_new" || return 1
	done
	h_kernel_in_boot "$h_new" && mv "$h_new" "$CACHE/$1/$2"
}

# h_parts ARCH NAME: the packages that a kernel is divided into, since Linux 7; what QEMU needs.
h_parts() {
	case $2 in
	linux-*)
		h_apt "$1" apt-cache show "$2" | sed -n '/^Depends:/{s/[ ,]/\n/g;p;q}' |
			grep -E '^linux-(binary|modules)-'
		;;
	qemu-*)
		h_apt "$1" apt-get -s --no-install-recommends install "$2" |
			sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -vx "$2"
		;;
	esac
}

# h_kernel_in_boot FOLDER: moves a kernel to /boot, where older packages have it.
h_kernel_in_boot() {
	for h_file in "$1"/usr/lib/modules/*/vmlinuz; do
		[ -e "$h_file" ] || continue
		h_name=${h_file%/vmlinuz}
		mkdir -p "$1/boot" && ln -f "$h_file" "$1/boot/vmlinuz-${h_name##*/}" || return 1
	done
}

# package ARCH NAME: prints the folder with what is in the package.
package() {
	[ -d "$CACHE/$1/$2" ] ||
		h_alone h_get "$1" "$2" >"$TMP/why" 2>&1 </dev/null || return 1
	echo "$CACHE/$1/$2"
}

# h_alone COMMAND...: runs it while no other host runs it.
h_alone() {
	mkdir -p "$CACHE" && (
		! command -v flock >/dev/null 2>&1 || flock 9
		"$@"
	) 9>"$CACHE/lock"
}

# sysroot ARCH NAME...: prints a folder with all of these packages together.
sysroot() {
	h_packages=$*
	h_of=$1
	shift
	for h_name; do
		package "$h_of" "$h_name" >/dev/null || return 1
	done
	# shellcheck disable=SC2086 # a list
	h_alone h_sysroot $h_packages || return 1
	echo "$CACHE/$h_of/sysroot"
}

# h_sysroot ARCH NAME...: makes it, if it is of other packages.
h_sysroot() {
	h_into=$CACHE/$1/sysroot
	[ "$(cat "$h_into/packages" 2>/dev/null)" != "$*" ] || return 0
	h_from=$CACHE/$1
	h_all=$*
	shift
	rm -rf "$h_into"
	mkdir -p "$h_into"
	for h_name; do
		cp -a "$h_from/$h_name/." "$h_into" || return 1
	done
	[ -e "$h_into/lib" ] || ln -s usr/lib "$h_into/lib"
	# Absolute links lead to this machine's libraries, or nowhere.
	find "$h_into" -type l -lname '/*' | while read -r h_link; do
		ln -sfn "$h_into$(readlink "$h_link")" "$h_link"
	done
	echo "$h_all" >"$h_into/packages"
}

# kernel ARCH META: prints the folder with the kernel that the package META depends on, as of the
# first call. For x86-64 and AArch64 it is the kernel of $RELEASE.
kernel() {
	case $1 in
	amd64 | arm64) h_release=${RELEASE:-} ;; # of this subshell: all else is bookworm's
	esac
	h_name=$CACHE/$1/$2.$(h_suite "$1")
	[ -s "$h_name" ] || h_alone h_kernel_name "$1" "$2" >"$TMP/why" 2>&1 </dev/null || return 1
	package "$1" "$(cat "$h_name")"
}

h_kernel_name() {
	mkdir -p "$CACHE/$1"
	h_knows "$1" "$2" || h_apt "$1" apt-get update || return 1
	h_apt "$1" apt-cache show "$2" |
		sed -n 's/^Depends:.* \(linux-image-[^ ,]*\).*/\1/p' | head -n 1 >"$h_name"
	[ -s "$h_name" ]
}

# ---- the host's file system: an initramfs, not compressed: emulated hosts unpack slowly

# static_busybox: prints a busybox of this machine that needs no library.
static_busybox() {
	h_busybox=$(command -v busybox) && ! ldd "$h_busybox" >/dev/null 2>&1 && echo "$h_busybox"
}

# root_begin BUSYBOX [SCRIPT]: starts a file system with a shell and its commands in $TMP/root. The
# host runs the script, by its path there (the suite), and powers off.
root_begin() {
	h_root=$TMP/root
	h_script=${2:-/tests/hosts/suite.sh}
	mkdir -p "$h_root/bin" "$h_root/dev" "$h_root/proc" "$h_root/sys" "$h_root/tmp" \
		"$h_root/tests/hosts" "$h_root/modules"
	cp "$1" "$h_root/bin/busybox"
	# Not "busybox --install": the busybox may be for another architecture.
	for h_cmd in sh mount mkdir; do
		ln -s busybox "$h_root/bin/$h_cmd"
	done
	cat >"$h_root/init" <<-END
		#!/bin/sh
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs dev /dev
		mount -t tracefs tracefs /sys/kernel/tracing
		mount -t debugfs debugfs /sys/kernel/debug
		mkdir -p /dev/pts
		mount -t devpts devpts /dev/pts
		/bin/busybox --install -s /bin
		sh $h_script </dev/null
		poweroff -f
	END
	chmod +x "$h_root/init"
}

# root_add FILE [PATH]: copies a file, under its own path or another.
root_add() {
	h_to=$h_root/${2:-$1}
	[ -e "$h_to" ] || { mkdir -p "${h_to%/*}" && cp -L "$1" "$h_to"; }
}

# root_program FILE PATH: a program of this machine, and the libraries that it needs.
root_program() {
	root_add "$1" "$2"
	for h_library in $(ldd "$1" 2>/dev/null | sed -n 's|^[^/]*\(/[^ ]*\) (.*|\1|p'); do
		root_add "$h_library"
	done
}

# root_foreign FILE PATH: the same for a program whose libraries are in $sysroot.
root_foreign() {
	root_add "$1" "$2"
	for h_library in $(h_libraries "$1"); do
		root_add "$h_library" "/lib/$h_triplet/${h_library##*/}"
	done
	h_loader=$(readelf -l "$1" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	root_add "$sysroot$h_loader" "$h_loader"
}

# h_in_sysroot PATH: the path in $sysroot, below usr or not: releases differ.
h_in_sysroot() {
	if [ -e "$sysroot/$1" ]; then echo "$sysroot/$1"; else echo "$sysroot/usr/$1"; fi
}

# h_libraries FILE: prints the libraries that it needs, and the libraries that these need.
h_libraries() {
	h_all=
	h_new=$1
	while [ -n "$h_new" ]; do
		# shellcheck disable=SC2086 # a list
		h_new=$(readelf -d $h_new | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
			while read -r h_needed; do
				for h_file in "$sysroot/lib/$h_triplet/$h_needed" \
					"$sysroot/usr/lib/$h_triplet/$h_needed"; do
					[ ! -e "$h_file" ] || { echo "$h_file" && break; }
				done
			done | grep -vxF "$h_all")
		h_all="$h_all
$h_new"
	done
	echo "$h_all"
}

# root_screen: tmux and what it needs, so that the suite can look at the screen.
root_screen() {
	! command -v tmux >/dev/null 2>&1 || root_program "$(command -v tmux)" /bin/tmux
	root_terminal
}

# root_terminal: what tmux needs on every machine.
root_terminal() {
	for h_file in /usr/lib/locale/C.[Uu]*8/LC_CTYPE /lib/terminfo/t/tmux-256color \
		/usr/lib/terminfo/t/tmux-256color /usr/share/terminfo/t/tmux-256color; do
		[ ! -e "$h_file" ] || root_add "$h_file"
	done
}

# root_modules KERNEL NAME...: in the order in which the suite loads them.
root_modules() {
	h_kernel=$1
	shift
	for h_name; do
		h_file=$(find "$h_kernel"/lib/modules "$h_kernel"/usr/lib/modules \
			-name "$h_name.ko*" 2>/dev/null | head -n 1)
		case $h_file in
		*.ko) cp "$h_file" "$h_root/modules/" ;;
		*.xz) xz -dc "$h_file" >"$h_root/modules/$h_name.ko" ;;
		*) cannot "the kernel has no module $h_name" ;;
		esac
		echo "$h_name" >>"$h_root/modules/order"
	done
}

# root_suite [CASE...]: copies the suite and what it uses, except programs. It runs the cases in
# CASES, or these cases, or all.
root_suite() {
	cp tests/lib.sh "$h_root/tests/lib.sh"
	cp tests/hosts/inside.sh tests/hosts/suite*.sh "$h_root/tests/hosts/"
	echo "${CASES:-$*}" >"$h_root/tests/hosts/cases"
}

# root_own_suite [CASE]...: the same with the cases in which this machine's exits decide: how they
# are called, where they have their arguments, program counters and modules; and CASEs.
root_own_suite() {
	root_suite host_log exits_exact exits_pulled_away exits_long exits_long_untraced \
		exits_queues exits_faults guest_code host_log:perf "$@"
}

# root_other_suite [CASE]...: the cases with other code of ours, that is the same on each machine.
# The host svm has them in less time: they are for releases.
root_other_suite() {
	root_suite host_batch filters debugfs account both_providers late_children \
		exits_without_btf exits_times exits_open exits_options views_exact record_exact "$@"
}

# root_peer NAME PACKAGE: copies a program to compare with, if there is one: this machine's, or the
# package's, which may lack libraries.
root_peer() {
	h_peer=$(command -v "$1") || h_peer=$(package amd64 "$2")/usr/bin/$1
	[ ! -x "$h_peer" ] || root_program "$h_peer" "/bin/$1"
}

# root_guest KERNEL: what boots in a guest, in /guest: a kernel of this folder, and a file system
# that has busybox and runs the script on stdin.
root_guest() {
	h_guest=$TMP/guest
	mkdir -p "$h_guest/bin" "$h_guest/dev" "$h_guest/proc"
	cp "$h_root/bin/busybox" "$h_guest/bin/busybox"
	{
		cat <<-END
			#!/bin/busybox sh
			/bin/busybox --install -s /bin
			mount -t proc proc /proc
			mount -t devtmpfs dev /dev
		END
		cat
	} >"$h_guest/init"
	chmod +x "$h_guest/init"
	root_end "$h_guest" >"$TMP/guest-initrd"
	root_add "$TMP/guest-initrd" /guest/initrd
	root_add "$(echo "$1"/boot/vmlinuz-*)" /guest/vmlinuz
}

# root_symbols ARCH: symbols.sh, and a guest with the kernel of $GUEST_RELEASE (the host's).
root_symbols() {
	h_of_guest=$(RELEASE=${GUEST_RELEASE:-${RELEASE:-}} kernel "$1" "linux-image-cloud-$1") ||
		cannot "no kernel for the guest: $(why)"
	root_suite
	root_add tests/hosts/symbols.sh /tests/hosts/symbols.sh
	root_guest "$h_of_guest" <tests/hosts/symbols-guest.sh
}

# root_end [FOLDER]: prints the file system, or another folder, as an initramfs.
root_end() {
	(cd "${1:-$h_root}" && find . | busybox cpio -o -H newc 2>/dev/null)
}

# ---- hosts of other architectures: the programs are cross-built

# cross_root ARCH TRIPLET [SCRIPT]: builds kvmtop and the guest from this tree, in build/ARCH so
# that the next time it is done already, and begins the file system with them. $sysroot is where
# the libraries and headers are.
cross_root() {
	h_arch_root=$1
	h_triplet=$2
	shift 2
	need_cmd "$h_triplet-gcc" readelf make pkg-config busybox xz
	# shellcheck disable=SC2046 # a list
	sysroot=$(sysroot "$h_arch_root" busybox-static $(h_cross_packages "$h_arch_root")) ||
		cannot "no libraries for $h_arch_root: $(why)"
	h_alone cross_build "$h_arch_root" >"$TMP/make.log" 2>&1 || {
		cat "$TMP/make.log"
		exit 1
	}
	root_begin "$(h_in_sysroot bin/busybox)" "$@"
	root_foreign "build/$h_arch_root/kvmtop" /bin/kvmtop
	root_foreign "build/$h_arch_root/tests/helpers/miniguest" /bin/miniguest
	root_foreign "build/$h_arch_root/tests/helpers/picture" /bin/picture
	root_foreign "build/$h_arch_root/tests/helpers/invariants" /bin/invariants
	root_foreign "$sysroot/usr/bin/tmux" /bin/tmux
	root_terminal
}

# h_cross_packages ARCH: what kvmtop is built with, and what tmux needs beside it.
h_cross_packages() {
	echo libc6 libc6-dev linux-libc-dev uthash-dev zlib1g zlib1g-dev libzstd1 libzstd-dev \
		libtraceevent1 libtraceevent-dev libtracefs1 libtracefs-dev libtinfo6 \
		libncursesw6 libncurses-dev libpcre2-8-0 libpcre2-dev libjson-c5 libjson-c-dev \
		libyaml-0-2 libyaml-dev libexpat1 libexpat1-dev libcrypt1 libcrypt-dev \
		libmicrohttpd-dev libbpf1 libbpf-dev libelf-dev libsqlite3-0 libsqlite3-dev tmux \
		libutempter0 libcurl4-openssl-dev
	case $(h_suite "$1") in
	bookworm) echo libelf1 libevent-core-2.1-7 ;;
	*)
		echo libelf1t64 libevent-core-2.1-7t64 libsystemd0 libcap2 \
			libjemalloc2 libstdc++6 libgcc-s1
		;;
	esac
}

# Without the variables that a make above exports.
cross_build() {
	PKG_CONFIG_LIBDIR=$sysroot/usr/lib/$h_triplet/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
		env -u MAKEFLAGS -u CC -u CFLAGS -u WERROR make all \
		"build/$1/tests/helpers/miniguest" "build/$1/tests/helpers/picture" \
		"build/$1/tests/helpers/invariants" \
		"build/$1/tests/helpers/symbols" "build/$1/tests/helpers/timerguest" \
		"build/$1/tests/helpers/kickguest" "BUILD=build/$1" \
		"CROSS_COMPILE=$h_triplet-" "CPPFLAGS=--sysroot=$sysroot" \
		"LDFLAGS=--sysroot=$sysroot" PKG_CONFIG=pkg-config BPF=yes
}

# ---- x86-64 hosts: the programs are this machine's own

# x86_root [SCRIPT]: begins the file system, with the programs; the kernel's folder in $kernel.
x86_root() {
	[ "$(uname -m)" = x86_64 ] ||
		cannot "this machine is no x86-64, the program is not for that host"
	need_built "$KVMTOP" "$HELPERS/miniguest" "$HELPERS/nestguest" "$HELPERS/haltguest" \
		"$HELPERS/faultguest" "$HELPERS/stormguest" "$HELPERS/stampguest" \
		"$HELPERS/vhostguest" "$HELPERS/kickguest" "$HELPERS/datagrams" \
		"$HELPERS/mapreader" "$HELPERS/symbols" "$HELPERS/picture" "$HELPERS/invariants"
	h_busybox=$(static_busybox) || cannot "no static busybox is installed"
	kernel=$(kernel amd64 linux-image-cloud-amd64) || cannot "no kernel: $(why)"
	root_begin "$h_busybox" "$@"
	root_program "$KVMTOP" /bin/kvmtop
	root_program "$HELPERS/miniguest" /bin/miniguest
	root_program "$HELPERS/nestguest" /bin/nestguest
	root_program "$HELPERS/haltguest" /bin/haltguest
	root_program "$HELPERS/faultguest" /bin/faultguest
	root_program "$HELPERS/stormguest" /bin/stormguest
	root_program "$HELPERS/stampguest" /bin/stampguest
	root_program "$HELPERS/vhostguest" /bin/vhostguest
	root_program "$HELPERS/kickguest" /bin/kickguest
	root_program "$HELPERS/datagrams" /bin/datagrams
	root_program "$HELPERS/mapreader" /bin/mapreader
	root_program "$HELPERS/symbols" /bin/symbols
	root_program "$HELPERS/picture" /bin/picture
	root_program "$HELPERS/invariants" /bin/invariants
}

# svm_root [SCRIPT]: the same for an AMD host, with the modules.
svm_root() {
	need_cmd qemu-system-x86_64
	x86_root "$@"
	root_modules "$kernel" irqbypass kvm kvm-amd vhost_iotlb vhost tap tun vhost_net
	root_peer trace-cmd trace-cmd
}

# root_qemu: QEMU under the path that it has here, because it looks for its firmware from there.
root_qemu() {
	h_qemu=$(command -v qemu-system-x86_64)
	root_program "$h_qemu" "$h_qemu"
	for h_name in bios-256k.bin kvmvapic.bin linuxboot_dma.bin; do
		h_file=$(qemu-system-x86_64 -L help | while read -r h_folder; do
			[ ! -e "$h_folder/$h_name" ] || realpath -s "$h_folder/$h_name"
		done | head -n 1)
		[ -n "$h_file" ] || cannot "QEMU's $h_name is missing"
		root_add "$h_file"
	done
}

# svm_boot CPUS MIB KERNEL_PARAMETERS QEMU_OPTION...: runs it until it is off.
svm_boot() {
	h_cpus=$1
	h_mib=$2
	h_parameters=$3
	shift 3
	# tsc=reliable: else the slow HPET is the clock, and traces' clock stands still at times.
	# -cx16: QEMU before 8.0 leaves garbage in the flags after cmpxchg16b. Linux 6.12 has it in
	# kmalloc, and panics when an interrupt comes right behind it, with KVM or without.
	qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
		-machine q35 -accel tcg,thread=single -cpu max,+svm,-cx16 \
		-smp "$h_cpus" -m "$h_mib" \
		-kernel "$kernel"/boot/vmlinuz-* -initrd "$TMP/initrd" \
		-append "console=ttyS0 quiet loglevel=2 panic=-1 tsc=reliable nowatchdog \
$h_parameters" "$@" </dev/null
}

# svm_kernel RELEASE QEMU_OPTION...: a host with the unmodified kernel of a Debian release, and the
# cases that every kernel has to pass.
svm_kernel() {
	RELEASE=$1
	shift
	svm_root
	root_screen
	# A static program shows that it needs none of this machine's libraries.
	if h_alone h_static >"$TMP/make.log" 2>&1; then
		root_add build/static/kvmtop /static/kvmtop
	fi
	root_suite exits_exact exits_without_btf exits_times exits_waits exits_beside_bpf \
		where_code where_emulation guest_code host_who host_who_vhost host_who_softirq \
		host_who_quota host_vhost host_interrupts views_exact every_view adds_up \
		screen_views both_engines cpu_goes_and_comes cpu_comes:perf static_program
	root_end >"$TMP/initrd"
	svm_boot 2 512 rcupdate.rcu_expedited=1 "$@"
}

# Without the variables that a make above exports.
h_static() {
	env -u MAKEFLAGS make static
}

# svm_scale CPUS: a host that prints what kvmtop costs with 2 CPUs and with all.
svm_scale() {
	svm_root /tests/hosts/scale.sh
	root_suite
	root_add tests/hosts/scale.sh /tests/hosts/scale.sh
	root_end >"$TMP/initrd"
	svm_boot "$1" 2048 "maxcpus=2 rcupdate.rcu_expedited=1"
}

# ---- other hosts

# vmx_root [SCRIPT]: begins the file system of an Intel host, with the programs and the modules.
vmx_root() {
	need_cmd bochs grub-mkrescue xorriso mformat gzip
	for h_file in $H_BOCHS/BIOS-bochs-latest $H_BOCHS/VGABIOS-lgpl-latest \
		/usr/lib/grub/i386-pc/normal.mod; do
		[ -r "$h_file" ] || cannot "$h_file is missing"
	done
	x86_root "$@"
	root_modules "$kernel" irqbypass kvm kvm-intel
}

# vmx_boot [MODEL]: runs it, with one CPU, until it is off. An instruction takes 1/VMX_IPS seconds
# there. The usual model's TSC runs as fast as it says; skylake's does not, which makes timers late.
vmx_boot() {
	mkdir -p "$TMP/cd/boot/grub"
	gzip <"$TMP/initrd" >"$TMP/cd/boot/initrd"
	cp "$kernel"/boot/vmlinuz-* "$TMP/cd/boot/vmlinuz"
	cat >"$TMP/cd/boot/grub/grub.cfg" <<-END
		set timeout=0
		linux /boot/vmlinuz console=ttyS0,115200 quiet loglevel=2 panic=-1 nokaslr \
		tsc=reliable no_timer_check mitigations=off nowatchdog rcupdate.rcu_expedited=1
		initrd /boot/initrd
		boot
	END
	grub-mkrescue -o "$TMP/cd.iso" "$TMP/cd" >"$TMP/grub.log" 2>&1 || {
		cat "$TMP/grub.log"
		exit 1
	}

	cat >"$TMP/bochsrc" <<-END
		memory: guest=512, host=512
		cpu: model=${1:-corei7_haswell_4770}, count=1, ips=$VMX_IPS, ignore_bad_msrs=1
		cpu: reset_on_triple_fault=0
		clock: sync=none
		romimage: file=$H_BOCHS/BIOS-bochs-latest
		vgaromimage: file=$H_BOCHS/VGABIOS-lgpl-latest
		ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
		ata0-master: type=cdrom, path=$TMP/cd.iso, status=inserted
		boot: cdrom
		com1: enabled=1, mode=file, dev=$TMP/serial
		display_library: rfb, options="timeout=0"
		panic: action=fatal
		log: $TMP/bochs.log
	END
	: >"$TMP/serial"
	echo c >"$TMP/commands" # its debugger waits for one

	bochs -q -f "$TMP/bochsrc" -rc "$TMP/commands" </dev/null >"$TMP/bochs.out" 2>&1 &
	h_emulator=$!
	tail --pid=$h_emulator -n +1 -f "$TMP/serial"
	wait $h_emulator # its status is 1 when the host has powered off
	grep -q '^1\.\.' "$TMP/serial" || tail -n 5 "$TMP/bochs.log" "$TMP/bochs.out"
}

# arm64_root [SCRIPT]: the same for an AArch64 host, which has KVM built in.
arm64_root() {
	need_cmd qemu-system-aarch64
	kernel=$(kernel arm64 linux-image-cloud-arm64) || cannot "no kernel: $(why)"
	cross_root arm64 aarch64-linux-gnu "$@"
}

# arm64_qemu: QEMU for that host, with the libraries of its own packages.
arm64_qemu() {
	h_qemu=$(package arm64 qemu-system-arm) || cannot "no QEMU for the guest: $(why)"
	(
		sysroot=$h_qemu
		root_foreign "$h_qemu/usr/bin/qemu-system-aarch64" /bin/qemu-system-aarch64
	)
}

# arm64_boot CPUS MIB QEMU_OPTION...: runs it until it is off. As in svm_boot, one thread.
arm64_boot() {
	h_cpus=$1
	h_mib=$2
	shift 2
	qemu-system-aarch64 -nodefaults -no-user-config -display none -no-reboot -serial stdio \
		-machine virt,virtualization=on,gic-version=3 -accel tcg,thread=single \
		-cpu neoverse-n1 -smp "$h_cpus" -m "$h_mib" \
		-kernel "$kernel"/boot/vmlinuz-* -initrd "$TMP/initrd" \
		-append "console=ttyAMA0 quiet loglevel=2 panic=-1 nowatchdog" "$@" </dev/null
}
