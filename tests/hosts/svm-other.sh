#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The AMD host of svm, with cases that take long, and the ones that perf events count: for releases.
. tests/hosts/lib.sh

svm_root
root_screen
root_suite adds_up one_guest:perf by_guest:perf guests_come_and_go:perf \
	cpu_goes_and_comes:perf late_children:perf
root_end >"$TMP/initrd"
svm_boot 2 512 rcupdate.rcu_expedited=1
