#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An Intel host: Bochs emulates one CPU with VMX, which QEMU cannot; Debian's kernel runs KVM on it.
. tests/hosts/lib.sh

vmx_root
root_own_suite
root_end >"$TMP/initrd"
vmx_boot
