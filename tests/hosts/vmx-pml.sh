#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An Intel host with a processor that logs written pages (PML). Its clock is wrong, so the host is
# for the one case that needs the log.
. tests/hosts/lib.sh

vmx_root
root_suite why_dirty_log
root_end >"$TMP/initrd"
vmx_boot corei7_skylake_x
