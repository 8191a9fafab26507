#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every header compiles alone, no folder includes what its rank forbids, tests are executable.
. tests/lib.sh

check "every header compiles alone" make -s check-headers
check "facts flow one way" tools/check-layers

# A rule that cannot fail proves nothing.
tree=$TMP/tree
mkdir -p "$tree/ui/tui" "$tree/providers/exits" "$tree/facts" "$tree/arch" "$tree/host" \
	"$tree/new" "$tree/views" "$tree/tests/unit/old" "$tree/tests/unit/ui/tui"
: >"$tree/tests/unit/old/test_room.c"
: >"$tree/tests/unit/ui/tui/test_a.c"
: >"$tree/ui/tui/a.h"
: >"$tree/new/room.c"
echo '#include "ui/tui/a.h"' >"$tree/providers/exits/climbs.c"
printf '\n#include "providers/exits/b.h"\n' >"$tree/providers/exits/a.h"
echo '#include "host/env.h"' >"$tree/providers/exits/a.c"
echo '#include "providers/exits/a.h"' >"$tree/providers/exits/b.h"
printf '\n\n#  include <fcntl.h>\n' >"$tree/facts/reads.c"
echo '#include <curses.h>' >"$tree/facts/draws.h"
: >"$tree/host/env.h"
echo '#include "host/env.h"' >"$tree/arch/x86.c"
: >"$tree/loose.c"
: >"$tree/views/list.h"
printf '#include "views/list.h"\nview_type_by_name("why")\n' >"$tree/ui/names.c"
printf 'view_type_by_name("why")\nview_type_by_name("why")\n' >"$tree/ui/tui/names.c"
is "$(tools/check-layers "$tree")" "\
arch/x86.c:1: includes host/env.h: arch is not above host
facts/draws.h:1: includes curses.h: facts does without curses
facts/reads.c:3: includes fcntl.h: facts does without I/O
loose.c: no line of the table in tools/check-layers covers it
new/room.c: no line of the table in tools/check-layers covers it
providers/exits/b and providers/exits/a include each other in a circle
providers/exits/climbs.c:1: includes ui/tui/a.h: providers/exits is not above ui/tui
tests/unit/old/test_room.c: the table in tools/check-layers has no folder old
ui/names.c:1: includes views/list.h, which is for views/ alone
ui/names.c:2: names a view: ask for a property of struct view_type
ui/tui/names.c:2: names a view: ask for a property of struct view_type" \
	"every forbidden include is found, with file and line"
is "$(status_of tools/check-layers "$tree")" 1 "and is a failure"

is "$(find tests/cli -name '*.t' ! -perm -100)" "" "every test can be run by its name"

done_testing
