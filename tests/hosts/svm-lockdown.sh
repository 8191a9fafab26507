#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with lockdown=integrity, as with Secure Boot.
. tests/hosts/lib.sh

svm_root /tests/hosts/lockdown.sh
root_suite
root_add tests/hosts/lockdown.sh /tests/hosts/lockdown.sh
root_end >"$TMP/initrd"
svm_boot 2 512 "rcupdate.rcu_expedited=1 lockdown=integrity"
