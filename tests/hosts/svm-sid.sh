#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with the kernel of Debian unstable, the newest.
. tests/hosts/lib.sh

# Its clock counts instructions: this machine's clock would run ahead of a busy emulator.
svm_kernel sid -icount shift=2,sleep=off
