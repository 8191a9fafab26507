#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages are without faults, and in a fresh Debian they are installed, run, upgraded and
# removed, and nothing is left of them.
#
# make check-packages runs it, in a few minutes; it needs root and Debian's archive. The fresh
# system is kept in ${XDG_CACHE_HOME:-~/.cache}/kvmtop-packages; each package gets a copy of it.
# shellcheck disable=SC2317 # some functions are only called by check
. tests/lib.sh
need_root
need_cmd debootstrap unshare

packages=$(realpath "${PACKAGES:-build/packages}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kvmtop-packages
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
tools=libcap2-bin
[ -z "$(find "$packages" -name '*.rpm')" ] || tools="$tools rpm"
[ -z "$(find "$packages" -name '*.pkg.tar.*')" ] || tools="$tools pacman-package-manager"
# It has what the package needs, so that all else is the package's.
needs=$(dpkg-deb -f "$packages"/kvmtop_*.deb Depends 2>/dev/null | cksum | cut -d ' ' -f 1)
fresh=$cache/$suite-$(echo "$tools" | tr ' ' '-')-$needs
root=$TMP/root
version=$("$KVMTOP" --version)

# Mounts are of a namespace: there is nothing to unmount.
inside() {
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -c 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" &&
		mount --rbind /sys "$0/sys" &&
		exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
			DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@" </dev/null
}

apt() {
	inside apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
}

# Not of the packages: what the kernel shows, and what package managers and groupadd note.
own='packages|dev|proc|sys|tmp|root/\.rpmdb|var/(cache|log|lib/(dpkg|apt|rpm|pacman))'
own="^\./($own)(/|\$)|^\./etc/g(roup|shadow)-\$"

# All other names in the system.
names() {
	(cd "$root" && find . -xdev) | grep -vE "$own" | LC_ALL=C sort
}

if [ ! -e "$fresh/etc/debian_version" ]; then
	rm -rf "$fresh.new"
	mkdir -p "$cache"
	debootstrap --variant=minbase "$suite" "$fresh.new" >"$TMP/log" 2>&1 ||
		skip_all "no fresh system: $(tail -n 1 "$TMP/log")"
	root=$fresh.new
	# What kvmtop needs, as far as Debian has it; and what installs the other packages.
	cp "$packages"/kvmtop_*.deb "$root/kvmtop.deb"
	apt update >"$TMP/log" 2>&1 || skip_all "no fresh system: $(tail -n 1 "$TMP/log")"
	# shellcheck disable=SC2086 # words
	! inside apt-get -qq -s install /kvmtop.deb >/dev/null 2>&1 ||
		{ apt install /kvmtop.deb && apt purge kvmtop && apt install $tools; } \
			>"$TMP/log" 2>&1 || skip_all "no fresh system: $(tail -n 1 "$TMP/log")"
	rm "$root/kvmtop.deb"
	mv "$fresh.new" "$fresh"
	root=$TMP/root
fi

# begin KIND: a fresh system with the packages of that kind in /packages.
begin() {
	rm -rf "$root"
	cp -a "$fresh" "$root"
	# What Fedora and Arch have.
	mkdir "$root/packages" "$root/usr/share/licenses"
	ln -sf /proc/self/mounts "$root/etc/mtab"
	# pacman asks which file system / is.
	[ ! -e "$root/etc/pacman.conf" ] || sed -i 's/^CheckSpace/#&/' "$root/etc/pacman.conf"
	cp -a tests/sysroot/amd "$root/packages"
	find "$packages" -maxdepth 1 -type f -exec cp {} "$root/packages" \;
	names >"$TMP/before"
}

# contributed: what the Makefile installs of packaging/contrib/.
contributed() {
	sed -n 's|.*contrib/[^:]*:.*/\(kvmtop/[^:]*\):.*|\1|p' Makefile
}

# not_there: the files of this tree that a package has to have, and does not have.
not_there() {
	(cd "$root" && find usr etc -type f) | sed 's/\(\.gz\)\{0,1\}$/:/' >"$TMP/files"
	for file in packaging/systemd/*.* man/* $(contributed) \
		_kvmtop kvmtop.fish completions/kvmtop; do
		case $file in
		completions/* | kvmtop/*) name=$file ;;
		*) name=${file##*/} ;;
		esac
		grep -qF "/$name:" "$TMP/files" || echo "$name"
	done
}

# runs KIND: what is the same of all packages, once one is installed.
runs() {
	is "$(inside kvmtop --version)" "$version" "$1: it runs"
	like "$(inside kvmtop --sysroot /packages/amd -1 -s 0.1 --view exits)" '^hlt ' \
		"$1: it shows a captured machine"
	is "$(find "$root/etc/systemd" -name '*kvmtop*')" "" "$1: no service is enabled"
	is "$(not_there)" "" "$1: units, pages, completion and packaging/contrib/ are there"
	is "$(inside stat -c '%U %G %a' /usr/bin/kvmtop)" "root root 755" "$1: all may start it"
}

# group_of KIND: it was installed with a group kvmtop there.
group_of() {
	is "$(inside stat -c '%U %G %a' /usr/bin/kvmtop)" "root kvmtop 750" \
		"$1: with a group kvmtop its members may start it"
	like "$(inside getcap /usr/bin/kvmtop)" 'cap_sys_admin.*cap_perfmon.*=ep' \
		"$1: and it has capabilities"
}

# An earlier version is made up: a program and a file that the packages do not have any more.
older_files() {
	mkdir -p "$1/usr/bin" "$1/usr/share/kvmtop"
	echo older >"$1/usr/bin/kvmtop"
	echo older >"$1/usr/share/kvmtop/older"
}

older_rpm() {
	cat >"$TMP/older.spec" <<-'EOF'
		Name: kvmtop
		Version: 0.1
		Release: 1
		Summary: An earlier kvmtop
		License: GPL-2.0-or-later
		%description
		It has a file that later ones do not have.
		%files
		/usr/bin/kvmtop
		/usr/share/kvmtop/older
	EOF
	older_files "$TMP/older-rpm"
	rpmbuild -bb --buildroot "$TMP/older-rpm" --define "_topdir $TMP/rpmbuild" \
		"$TMP/older.spec" >"$TMP/log" 2>&1 || { cat "$TMP/log" && return 1; }
	cp "$TMP"/rpmbuild/RPMS/*/kvmtop-0.1-1.*.rpm "$root/packages/older.rpm"
}

older_pkg() {
	older_files "$TMP/older-pkg"
	printf '%s\n' 'pkgname = kvmtop' 'pkgver = 0.1-1' 'pkgdesc = An earlier kvmtop' \
		'arch = any' 'size = 12' >"$TMP/older-pkg/.PKGINFO"
	tar -czf "$root/packages/older.pkg.tar.gz" --owner=0 --group=0 \
		-C "$TMP/older-pkg" .PKGINFO usr
}

# upgraded KIND: from the earlier version.
upgraded() {
	is "$(head -c 4 "$root/usr/bin/kvmtop" | tail -c 3)" ELF "$1: the program is the later one"
	check "$1: and a file of the earlier one is gone" test ! -e "$root/usr/share/kvmtop/older"
	group_of "$1"
}

nothing_left() {
	names >"$TMP/after"
	is "$(diff "$TMP/before" "$TMP/after")" "" "$1: nothing is left"
}

# ---- Debian

if command -v lintian >/dev/null; then
	is "$(lintian --allow-root --fail-on none --display-level '>=warning' \
		"$packages"/*.changes 2>&1)" "" "lintian has nothing to say"
else
	skip "lintian" "it is not installed"
fi
begin
# By apt: what it depends on has to be there.
check "deb: it is installed" apt install "/packages/$(basename "$packages"/kvmtop_*.deb)"
runs deb
for test in $(sed -n 's/^Tests: //p' packaging/debian/tests/control); do
	mkdir -p "$root/packages/tests/sysroot" "$root/packages/tests/tools"
	cp -a tests/data "$root/packages/tests"
	cp -a tests/sysroot/amd.txt "$root/packages/tests/sysroot"
	cp -a tests/tools/archive "$root/packages/tests/tools"
	cp "packaging/debian/tests/$test" "$root/packages/test"
	inside sh -c 'cd /packages && ./test' >"$TMP/out" 2>&1
	case $? in
	0) ok "deb: its test $test" ;;
	77) skip "deb: its test $test" "$(tail -n 1 "$TMP/out")" ;;
	*) not_ok "deb: its test $test" "$(cat "$TMP/out")" ;;
	esac
done
# The next version: the same with another number.
mkdir "$TMP/next"
dpkg-deb -R "$packages"/kvmtop_*.deb "$TMP/next/kvmtop"
sed -i 's/^Version: .*/&.1/' "$TMP/next/kvmtop/DEBIAN/control"
dpkg-deb --root-owner-group -b "$TMP/next/kvmtop" "$root/packages/next.deb" >/dev/null
check "deb: a group is made" inside groupadd --system kvmtop
check "deb: it is upgraded" inside dpkg -i /packages/next.deb
group_of deb
inside groupdel kvmtop
# What the services write.
inside sh -c 'mkdir -p /var/lib/kvmtop /var/lib/prometheus/node-exporter &&
	cd /var/lib && echo >kvmtop/history.db && echo >prometheus/node-exporter/kvmtop.prom &&
	echo >/var/log/kvmtop.csv'
check "deb: it is removed" inside dpkg --remove kvmtop
check "deb: its history stays" test -e "$root/var/lib/kvmtop/history.db"
check "deb: it is purged" inside dpkg --purge kvmtop
is "$(find "$root/var/log" -name 'kvmtop*')" "" "deb: its log is gone"
is "$(find "$root/var/lib/prometheus" -type f)" "" "deb: so is the file for node_exporter"
rm -r "$root/var/lib/prometheus"
nothing_left deb

# ---- RPM and Arch's: their tools in the same system, whose libraries have the same names

if [ -n "$(find "$packages" -name '*.rpm')" ]; then
	if command -v rpmlint >/dev/null; then
		rpmlint -r packaging/kvmtop.rpmlintrc packaging/kvmtop.spec "$packages"/*.rpm \
			>"$TMP/out" 2>&1
		like "$(cat "$TMP/out")" ' 0 errors, 0 warnings' "rpmlint has nothing to say"
	else
		skip "rpmlint" "it is not installed"
	fi
	begin
	rpm=$(cd "$packages" && echo kvmtop-*[!c].rpm | tr ' ' '\n' | grep -v '\.src\.rpm')
	check "rpm: it is installed" inside rpm -i --nodeps "/packages/$rpm"
	runs rpm
	check "rpm: it is removed" inside rpm -e --nodeps kvmtop
	nothing_left rpm
	check "rpm: there is an earlier one" older_rpm
	check "rpm: it is installed" inside rpm -i --nodeps /packages/older.rpm
	inside groupadd --system kvmtop
	check "rpm: it is upgraded" inside rpm -U --nodeps "/packages/$rpm"
	upgraded rpm
	inside groupdel kvmtop
	check "rpm: it is removed" inside rpm -e --nodeps kvmtop
	nothing_left rpm
else
	skip "rpm" "no package was built"
fi

if [ -n "$(find "$packages" -name '*.pkg.tar.*')" ]; then
	begin
	pkg=$(cd "$packages" && echo ./*.pkg.tar.*)
	check "pkg: it is installed" inside pacman -U --noconfirm -dd "/packages/$pkg"
	runs pkg
	check "pkg: it is removed" inside pacman -R --noconfirm kvmtop
	nothing_left pkg
	check "pkg: there is an earlier one" older_pkg
	check "pkg: it is installed" inside pacman -U --noconfirm -dd /packages/older.pkg.tar.gz
	inside groupadd --system kvmtop
	check "pkg: it is upgraded" inside pacman -U --noconfirm -dd "/packages/$pkg"
	upgraded pkg
	inside groupdel kvmtop
	check "pkg: it is removed" inside pacman -R --noconfirm kvmtop
	nothing_left pkg
else
	skip "pkg" "no package was built"
fi

done_testing
