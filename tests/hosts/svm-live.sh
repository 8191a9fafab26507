#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with /dev/kvm for files of tests/cli that need it: those in CASES, or the
# one that takes a minute. Emulated, the others take long.
. tests/hosts/lib.sh

svm_root /tests/hosts/live.sh
root_screen
root_suite account
root_add tests/hosts/live.sh /tests/hosts/live.sh
for file in tests/*.sh tests/cli/*.t; do
	root_add "$file"
done
# The files are for a usual system: its own commands come before busybox's.
for name in dash env date stat sed grep awk find cut sort head tail wc tr sleep timeout mkfifo \
	unshare setpriv taskset prlimit getconf mount umount tmux; do
	file=$(command -v $name) && root_program "$file" "/usr/bin/$name"
done
root_program "$HELPERS/scripted" /helpers/scripted
root_end >"$TMP/initrd"
svm_boot 2,sockets=2 768 rcupdate.rcu_expedited=1
