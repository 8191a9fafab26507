#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host in which QEMU boots Linux, whose functions are named from its memory. GUEST_RELEASE:
# the release of Debian with the guest's kernel (the host's).
. tests/hosts/lib.sh

svm_root /tests/hosts/symbols.sh
root_qemu
root_symbols amd64
root_end >"$TMP/initrd"
svm_boot 1 1024 ""
