#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with 64 CPUs, for what kvmtop costs there.
. tests/hosts/lib.sh

svm_scale 64
