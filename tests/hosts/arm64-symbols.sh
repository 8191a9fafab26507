#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AArch64 host in which QEMU boots Linux, whose functions are named from its memory.
# GUEST_RELEASE: the release of Debian with the guest's kernel (the host's).
. tests/hosts/lib.sh

arm64_root /tests/hosts/symbols.sh
root_foreign build/arm64/tests/helpers/symbols /bin/symbols
arm64_qemu
root_symbols arm64
root_end >"$TMP/initrd"
arm64_boot 1 1024
