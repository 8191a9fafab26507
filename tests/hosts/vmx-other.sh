#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Intel host of vmx, with the cases that are the same on each machine, and one that takes
# long: for releases.
. tests/hosts/lib.sh

vmx_root
root_other_suite why_pause exits_arguments exits_halt where_code
root_end >"$TMP/initrd"
vmx_boot
