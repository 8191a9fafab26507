#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The functions of a guest's kernel are named from its memory: by KVM's own list of memory slots, by
# the registers of its vCPU, and by the VMM's memory.
. tests/lib.sh
need_live

[ -x "$HELPERS/symbols" ] || skip_all "the tests were built without BPF"

"$HELPERS/symbols" >"$TMP/out" 2>&1
status=$?
[ $status != 77 ] || skip_all "$(tail -n 1 "$TMP/out")"
is "$status" 0 "each symbol of a small kernel in a VM is found" "$(cat "$TMP/out")"
like "$(cat "$TMP/out")" '^1100 symbols$' "and none is left out"
done_testing
