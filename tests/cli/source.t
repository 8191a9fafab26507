#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# No folder includes what its rank forbids, tests are executable.
. tests/lib.sh

check "facts flow one way" tests/tools/check-layers

# A rule that cannot fail proves nothing.
tree=$TMP/tree
mkdir -p "$tree/ui/tui" "$tree/providers/exits" "$tree/core/facts" "$tree/arch" "$tree/host" \
	"$tree/new" "$tree/core/views" "$tree/tests/unit/old" "$tree/tests/unit/ui/tui"
: >"$tree/tests/unit/old/test_room.c"
: >"$tree/tests/unit/ui/tui/test_a.c"
: >"$tree/ui/tui/a.h"
: >"$tree/new/room.c"
echo '#include "ui/tui/a.h"' >"$tree/providers/exits/climbs.c"
printf '\n#include "providers/exits/b.h"\n' >"$tree/providers/exits/a.h"
echo '#include "host/env.h"' >"$tree/providers/exits/a.c"
echo '#include "providers/exits/a.h"' >"$tree/providers/exits/b.h"
printf '\n\n#  include <fcntl.h>\n' >"$tree/core/facts/reads.c"
echo '#include <curses.h>' >"$tree/core/facts/draws.h"
: >"$tree/host/env.h"
echo '#include "host/env.h"' >"$tree/arch/x86.c"
: >"$tree/loose.c"
is "$(tests/tools/check-layers "$tree")" "\
arch/x86.c:1: includes host/env.h: arch is not above host
core/facts/draws.h:1: includes curses.h: core/facts does without curses
core/facts/reads.c:3: includes fcntl.h: core/facts does without I/O
loose.c: no line of the table in check-layers covers it
new/room.c: no line of the table in check-layers covers it
providers/exits/b and providers/exits/a include each other in a circle
providers/exits/climbs.c:1: includes ui/tui/a.h: providers/exits is not above ui/tui
tests/unit/old/test_room.c: check-layers has no folder old" \
	"every forbidden include is found, with file and line"
is "$(status_of tests/tools/check-layers "$tree")" 1 "and is a failure"

is "$(find tests/cli -name '*.t' ! -perm -100)" "" "every test can be run by its name"

done_testing
