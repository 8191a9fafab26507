#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with the kernel of Debian 11, Linux 5.10.
. tests/hosts/lib.sh

svm_kernel bullseye
