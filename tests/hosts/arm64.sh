#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An AArch64 host: QEMU emulates two CPUs with VHE, Debian's kernel has KVM built in.
. tests/hosts/lib.sh

arm64_root
root_foreign build/arm64/tests/helpers/symbols /bin/symbols
root_foreign build/arm64/tests/helpers/timerguest /bin/timerguest
root_foreign build/arm64/tests/helpers/kickguest /bin/kickguest
root_own_suite exits_arguments exits_halt exits_polls where_code host_interrupts
root_end >"$TMP/initrd"
arm64_boot 2 512
