# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
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
#	need_cmd qemu-system-x86_64
#	kernel=$(kernel amd64 linux-image-cloud-amd64) || cannot "no kernel: $(why)"
#	root_begin "$(static_busybox)"
#	root_suite
#	root_end >"$TMP/initrd"
#	qemu-system-x86_64 ...
#
# Nothing is installed: packages are fetched by apt-get with a state of its own into
# ${XDG_CACHE_HOME:-~/.cache}/kvmtop-hosts, unpacked there and used again. To get newer ones,
# remove the folder. Variables:
#	KVMTOP		the program to test, for this machine's architecture
#	HELPERS		the folder with miniguest
#	DEBIAN_MIRROR	where packages come from
#	TMP		this host's own folder; gone afterwards
# Names that start with h_ or H_ are this file's own.

KVMTOP=${KVMTOP:-./kvmtop}
HELPERS=${HELPERS:-build/tests}
CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kvmtop-hosts
H_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
# Where this machine's own packages come from.
H_MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE)' 2>/dev/null |
	grep -v security | head -n 1)}
H_SUITE=bookworm
H_CANNOT=77 # exit status: this host cannot be had here

TMP=$(mktemp -d "${TMPDIR:-/tmp}/kvmtop-host.XXXXXX") || exit 1
export TMP
export LC_ALL=C
trap 'rm -rf "$TMP"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

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

# why: the latest error of package or kernel, in a line.
why() {
	tail -n 1 "$TMP/why" 2>/dev/null
}

# ---- packages

# h_apt ARCH COMMAND...: an apt command that knows packages of this architecture only.
h_apt() {
	h_state=$CACHE/apt-$1
	h_arch=$1
	h_command=$2
	shift 2
	mkdir -p "$h_state/lists/partial" "$h_state/archives/partial" "$h_state/parts" || return 1
	echo "deb [signed-by=$H_KEYRING] $H_MIRROR $H_SUITE main" >"$h_state/sources.list"
	"$h_command" -q -o APT::Architecture="$h_arch" -o APT::Architectures="$h_arch" \
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=2 \
		-o Dir::State::Lists="$h_state/lists" -o Dir::State::status=/dev/null \
		-o Dir::Cache="$h_state" -o Dir::Etc::SourceList="$h_state/sources.list" \
		-o Dir::Etc::SourceParts="$h_state/parts" "$@"
}

# h_knows ARCH NAME: the lists are there and name the package.
h_knows() {
	h_apt "$1" apt-cache show "$2" >/dev/null 2>&1
}

# h_get ARCH NAME: makes $CACHE/ARCH/NAME.
h_get() {
	for h_cmd in apt-get apt-cache dpkg-deb; do
		command -v $h_cmd >/dev/null 2>&1 || { echo "$h_cmd is not installed" && return 1; }
	done
	[ -r $H_KEYRING ] || { echo "$H_KEYRING is missing" && return 1; }
	h_knows "$1" "$2" || h_apt "$1" apt-get update || return 1
	rm -rf "$TMP/deb" "$TMP/unpacked"
	mkdir -p "$TMP/deb" "$CACHE/$1"
	(cd "$TMP/deb" && h_apt "$1" apt-get download "$2") || return 1
	# The name is there only when all of it is.
	h_new=$CACHE/$1/.new.$$
	rm -rf "$h_new"
	dpkg-deb -x "$TMP/deb/$2"_*.deb "$h_new" && mv "$h_new" "$CACHE/$1/$2"
}

# package ARCH NAME: prints the folder with what is in the package.
package() {
	if [ ! -d "$CACHE/$1/$2" ]; then
		h_get "$1" "$2" >"$TMP/why" 2>&1 </dev/null || return 1
	fi
	echo "$CACHE/$1/$2"
}

# sysroot ARCH NAME...: prints a folder with all of these packages together.
sysroot() {
	h_sysroot=$CACHE/$1/sysroot
	if [ "$(cat "$h_sysroot/packages" 2>/dev/null)" != "$*" ]; then
		h_all=$*
		h_arch_=$1
		shift
		rm -rf "$h_sysroot"
		mkdir -p "$h_sysroot"
		for h_name; do
			h_from=$(package "$h_arch_" "$h_name") || return 1
			cp -a "$h_from/." "$h_sysroot" || return 1
		done
		# Where these point to, a linker would find this machine's libraries, or none.
		find "$h_sysroot" -type l -lname '/*' | while read -r h_link; do
			ln -sfn "$h_sysroot$(readlink "$h_link")" "$h_link"
		done
		echo "$h_all" >"$h_sysroot/packages"
	fi
	echo "$h_sysroot"
}

# kernel ARCH META: prints the folder with the kernel that the package META names today, or that
# it named when it was asked first.
kernel() {
	h_name=$CACHE/$1/$2.name
	if [ ! -s "$h_name" ]; then
		mkdir -p "$CACHE/$1"
		h_knows "$1" "$2" ||
			h_apt "$1" apt-get update >"$TMP/why" 2>&1 </dev/null || return 1
		h_apt "$1" apt-cache show "$2" 2>"$TMP/why" |
			sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -n 1 >"$h_name"
		[ -s "$h_name" ] || return 1
	fi
	package "$1" "$(cat "$h_name")"
}

# ---- the host's file system: an initramfs, not compressed, for unpacking is slow where it runs

# static_busybox: prints a busybox of this machine that needs no library.
static_busybox() {
	h_busybox=$(command -v busybox) && ! ldd "$h_busybox" >/dev/null 2>&1 && echo "$h_busybox"
}

# root_begin BUSYBOX: starts a file system with a shell and its commands in $TMP/root.
root_begin() {
	h_root=$TMP/root
	mkdir -p "$h_root/bin" "$h_root/dev" "$h_root/proc" "$h_root/sys" "$h_root/tmp" \
		"$h_root/tests/hosts" "$h_root/modules"
	cp "$1" "$h_root/bin/busybox"
	# Not "busybox --install": it may be one of another architecture.
	for h_cmd in sh mount mkdir; do
		ln -s busybox "$h_root/bin/$h_cmd"
	done
	cat >"$h_root/init" <<-'END'
		#!/bin/sh
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs dev /dev
		mount -t tracefs tracefs /sys/kernel/tracing
		mount -t debugfs debugfs /sys/kernel/debug
		mkdir -p /dev/pts
		mount -t devpts devpts /dev/pts
		/bin/busybox --install -s /bin
		sh /tests/hosts/suite.sh </dev/null
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

# root_foreign FILE PATH SYSROOT TRIPLET: the same for a program of another architecture.
root_foreign() {
	root_add "$1" "$2"
	for h_library in $(h_libraries "$1" "$3" "$4"); do
		root_add "$h_library" "/lib/$4/${h_library##*/}"
	done
}

# h_libraries FILE SYSROOT TRIPLET: prints the libraries that it needs, and those that they need.
h_libraries() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r h_needed; do
		for h_file in "$2/lib/$3/$h_needed" "$2/usr/lib/$3/$h_needed"; do
			[ -e "$h_file" ] || continue
			echo "$h_file"
			h_libraries "$h_file" "$2" "$3"
			break
		done
	done | sort -u
}

# root_screen: tmux and what it insists on, so that the suite can look at the screen.
root_screen() {
	! command -v tmux >/dev/null 2>&1 || root_program "$(command -v tmux)" /bin/tmux
	root_terminal
}

# root_terminal: what every machine's tmux insists on.
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
		h_file=$(find "$h_kernel/lib/modules" -name "$h_name.ko" | head -n 1)
		[ -n "$h_file" ] || cannot "the kernel has no module $h_name"
		cp "$h_file" "$h_root/modules/"
		echo "$h_name" >>"$h_root/modules/order"
	done
}

# root_suite: the suite and what it uses. The programs are the caller's.
root_suite() {
	cp tests/lib.sh "$h_root/tests/lib.sh"
	cp tests/hosts/inside.sh tests/hosts/suite.sh "$h_root/tests/hosts/"
}

# root_end: prints it, as the kernel wants it.
root_end() {
	(cd "$h_root" && find . | busybox cpio -o -H newc 2>/dev/null)
}
