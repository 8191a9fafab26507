#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages agree with the Makefile and packaging/tools/deps: version, libraries, rights.
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

# A template is there once for each of its logs.
is "$(sed -n 's/^%global units //p' packaging/kvmtop.spec | tr ' ' '\n' | sed 's/@[a-z]*/@/' |
	LC_ALL=C sort -u)" \
	"$(cd packaging/systemd && one_a_line kvmtop*.service kvmtop*.socket kvmtop*.target)" \
	"the spec file knows each unit"

unit=$(sed -n 's/^CapabilityBoundingSet=//p' packaging/systemd/kvmtop@.service)
is "$(sed -n 's/^capabilities=//p' packaging/kvmtop-group | tr ',' '\n' | LC_ALL=C sort)" \
	"$(one_a_line $unit | tr '[:upper:]' '[:lower:]')" \
	"the group has the capabilities of the systemd units"

done_testing
