#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2119 # a function's arguments are not the script's
# An AMD host: QEMU emulates two CPUs with SVM, on a NUMA node each, and a disk; Debian's kernel
# runs KVM on them.
. tests/hosts/lib.sh

svm_root
root_screen
root_suite
root_end >"$TMP/initrd"
truncate -s 16M "$TMP/disk"
svm_boot 2,sockets=2 512 rcupdate.rcu_expedited=1 \
	-object memory-backend-ram,id=node0,size=256M -numa node,cpus=0,memdev=node0 \
	-object memory-backend-ram,id=node1,size=256M -numa node,cpus=1,memdev=node1 \
	-drive "file=$TMP/disk,format=raw,if=none,id=disk" -device nvme,serial=0,drive=disk
