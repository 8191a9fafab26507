#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages agree with the Makefile and packaging/tools/deps: version, libraries, rights. And
# make deb shows what it does.
# shellcheck disable=SC2046,SC2086 # words
. tests/lib.sh

# one_a_line WORD...
one_a_line() {
	printf '%s\n' "$@" | LC_ALL=C sort -u
}

version=$(sed -n 's/^VERSION = //p' Makefile)
is "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' packaging/debian/changelog)" "$version" \
	"the Debian package has the version"
is "$(sed -n 's/^Version: *//p' packaging/kvmtop.spec)" "$version" "so has the spec file"
is "$(sed -n 's/^pkgver=//p' packaging/PKGBUILD)" "$version" "so has the PKGBUILD"
like "$(cat NEWS.md)" "^## $version( |$)" "so have the news"
homepage=$(sed -n 's/^HOMEPAGE = //p' Makefile)
is "$(grep -rhoE 'https?://[^ ]*' packaging/debian/control packaging/kvmtop.spec \
	packaging/PKGBUILD packaging/oss-fuzz | grep -v "^$homepage")" "" \
	"each address is the project's"

# What spdx lists of archives: the source package, or the file where no package has it.
: >"$TMP/libown.a"
printf '%s\n' build/libkvmtop.a "($TMP/libown.a)a.o" "$TMP/libown.a(b.o)" /usr/lib/crt1.o \
	"$(gcc -print-libgcc-file-name)" >"$TMP/linked"
spdx() {
	SOURCE_DATE_EPOCH=0 packaging/tools/spdx "$KVMTOP" "$version" "$homepage" <"$TMP/linked"
}
spdx >"$TMP/spdx"
is "$(sed -n 's/^PackageName: //p' "$TMP/spdx" | grep -v gcc)" "kvmtop
libown.a" "an SPDX list has the program and its libraries"
is "$(sed -n 's/^Relationship: //p' "$TMP/spdx" | grep -v gcc)" \
	"SPDXRef-DOCUMENT DESCRIBES SPDXRef-kvmtop
SPDXRef-kvmtop STATIC_LINK SPDXRef-libown.a" "each once, as a part of the program"
like "$(cat "$TMP/spdx")" "^PackageChecksum: SHA256: $(sha256sum "$KVMTOP" | cut -d ' ' -f 1)$" \
	"with the program's checksum"
! command -v dpkg-query >"$TMP/out" ||
	like "$(cat "$TMP/spdx")" 'purl pkg:deb/[a-z]*/gcc[-0-9]*@[0-9].*arch=source$' \
		"and with packages"
is "$(spdx)" "$(cat "$TMP/spdx")" "the same each time"

# OSS-Fuzz gets each fuzzer that make fuzz has.
like "$(cat packaging/oss-fuzz/build.sh)" '^targets=\(tests/fuzz/fuzz_\*\.c\)$' "OSS-Fuzz has all"

deps=packaging/tools/deps
# What packaging/debian/ must not name: packages that every build has.
essential='gcc|libc6-dev|make|ncurses-bin'
is "$(sed -n '/^Build-Depends:/,/^[^ ]/s/^ \([a-z0-9.+-]*\).*/\1/p' packaging/debian/control |
	grep -vx 'debhelper-compat' | LC_ALL=C sort)" \
	"$(one_a_line $($deps -a debian build) libcmocka-dev | grep -vxE "$essential")" \
	"the Debian package is built with what packaging/tools/deps names"
is "$(sed -n 's/^BuildRequires: *//p' packaging/kvmtop.spec | grep -vx 'systemd-rpm-macros' |
	LC_ALL=C sort)" "$(one_a_line $($deps -a fedora build) libcmocka-devel)" \
	"so is the spec file"
is "$(sed -n 's/^[a-z]*depends=(\([^'\'']*\))/\1/p' packaging/PKGBUILD | tr ' ' '\n' |
	LC_ALL=C sort)" "$(one_a_line $($deps -a arch build) cmocka)" "so is the PKGBUILD"

is "$(sed -n 's/^%global units //p' packaging/kvmtop.spec | tr ' ' '\n' |
	LC_ALL=C sort -u)" \
	"$(cd packaging/systemd && one_a_line kvmtop*.service kvmtop*.socket)" \
	"the spec file knows each unit"

units=$(sed -n 's/^CapabilityBoundingSet=//p' packaging/systemd/kvmtop*.service | tr ' ' '\n' |
	LC_ALL=C sort -u)
is "$(sed -n 's/^capabilities=//p' packaging/kvmtop-group | tr ',' '\n' |
	grep '^cap_' | LC_ALL=C sort)" \
	"$(one_a_line $(echo "$units" | tr '[:upper:]' '[:lower:]'))" \
	"the group has the capabilities of the systemd units"
is "$(grep -l CAP_SYSLOG packaging/systemd/*)" packaging/systemd/kvmtop-history.service \
	"the kernel's functions have names in the history alone, no other unit shows them"

# For a Prometheus as the source alone: who installs kvmtop need not have it.
is "$(grep -hE '^(Depends|Recommends|depends=)' packaging/debian/control packaging/kvmtop.spec \
	packaging/PKGBUILD | grep curl)" "" "no package brings libcurl"
is "$(grep -lE '^( libcurl4|Suggests: *libcurl|optdepends=.*curl: )' packaging/debian/control \
	packaging/kvmtop.spec packaging/PKGBUILD | wc -l)" 3 "all name it"

# make deb takes minutes: its steps are shown as they come. A dpkg-buildpackage that is none waits
# in the middle.
mkdir -p "$TMP/bin" "$TMP/kvmtop-0/packaging/debian"
: >"$TMP/kvmtop-0/packaging/debian/control"
tar czf "$TMP/kvmtop-0.tar.gz" -C "$TMP" kvmtop-0
cat >"$TMP/bin/dpkg-buildpackage" <<EOF
#!/bin/sh
echo '   dh_auto_build'
echo "	gcc -c a.c"
until [ -e $TMP/go ]; do sleep 0.05; done
echo "  CC      a.o"
: >../kvmtop_0.deb
for file in dsc debian.tar.xz orig.tar.gz changes buildinfo; do : >../kvmtop_0.\$file; done
[ ! -e $TMP/fails ]
EOF
cp "$TMP/bin/dpkg-buildpackage" "$TMP/bin/dh"
chmod +x "$TMP/bin/"*
make_deb() {
	PATH=$TMP/bin:$PATH SOURCE_DATE_EPOCH=0 packaging/tools/package deb "$TMP/kvmtop-0.tar.gz" \
		"$TMP/made" >"$TMP/out" 2>"$TMP/err"
	echo $? >"$TMP/status"
}
if [ ! -e /tmp/kvmtop-package.deb ] || flock -n /tmp/kvmtop-package.deb true; then
	mkdir -p /tmp/kvmtop-package.deb/left.by.a.killed.build
	make_deb &
	check "make deb: a step is shown when it begins" wait_for 20 \
		grep -qx 'make deb: dh_auto_build' "$TMP/out"
	: >"$TMP/go"
	wait $!
	is "$(cat "$TMP/status" "$TMP/out" "$TMP/err")" "0
make deb: dh_auto_build
  CC      a.o" "and what is compiled, but no commands"
	check "the package is there" test -e "$TMP/made/kvmtop_0.deb"
	check "nothing is left" test ! -e /tmp/kvmtop-package.deb
	mkdir /tmp/kvmtop-package.deb
	flock /tmp/kvmtop-package.deb packaging/tools/package deb "$TMP/kvmtop-0.tar.gz" \
		"$TMP/made" 2>"$TMP/err"
	is "$? $(cat "$TMP/err")" "1 make deb: another build is using \
/tmp/kvmtop-package.deb; try again when it ends" "two builds at once"
	: >"$TMP/fails"
	make_deb
	is "$(cat "$TMP/status") $(grep -c 'gcc -c' "$TMP/err")" "1 1" "if it fails, all is shown"
else
	skip "make deb shows its steps" "a package is being built"
fi

done_testing
