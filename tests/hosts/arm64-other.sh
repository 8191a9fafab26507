#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# The AArch64 host of arm64, with the cases that are the same on each machine: for releases.
. tests/hosts/lib.sh

arm64_root
root_other_suite
root_end >"$TMP/initrd"
arm64_boot 2 512
