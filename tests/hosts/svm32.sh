#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with 32 CPUs, to measure what kvmtop costs.
. tests/hosts/lib.sh

svm_scale 32
