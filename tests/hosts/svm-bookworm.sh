#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with the kernel of Debian 12, Linux 6.1.
. tests/hosts/lib.sh

svm_kernel bookworm
