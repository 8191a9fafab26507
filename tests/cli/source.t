#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every header compiles alone, no folder includes what its rank forbids, tests are executable.
. tests/lib.sh

check "every header compiles alone" make -s check-headers
check "facts flow one way" tools/check-layers

# A new view is one file and one line in views/view.c: no other folder knows a view by its name.
views=$(sed -n 's/^const struct view_type \(view_[a-z_]*\) = {/\1/p' views/*.c | tr '\n' '|')
not_ok_views=$(grep -rnwE "${views%|}" --include='*.[ch]' . |
	grep -vE '^\./(views|tests|bench|build)/')
is "${views:+found}" found "views have names"
is "$not_ok_views" "" "no file outside views/ names a view"

# A rule that cannot fail proves nothing.
tree=$TMP/tree
mkdir -p "$tree/ui/tui" "$tree/providers/exits" "$tree/facts" "$tree/arch" "$tree/host" "$tree/new"
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
is "$(tools/check-layers "$tree")" "\
arch/x86.c:1: includes host/env.h: arch is not above host
facts/draws.h:1: includes curses.h: facts does without curses
facts/reads.c:3: includes fcntl.h: facts does without I/O
loose.c: no line of the table in tools/check-layers covers it
new/room.c: no line of the table in tools/check-layers covers it
providers/exits/b and providers/exits/a include each other in a circle
providers/exits/climbs.c:1: includes ui/tui/a.h: providers/exits is not above ui/tui" \
	"every forbidden include is found, with file and line"
is "$(status_of tools/check-layers "$tree")" 1 "and is a failure"

is "$(find tests/cli -name '*.t' ! -perm -100)" "" "every test can be run by its name"

done_testing
