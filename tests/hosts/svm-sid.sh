#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with the kernel of Debian unstable, the newest.
. tests/hosts/lib.sh

svm_kernel sid
