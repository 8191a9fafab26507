#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every header compiles alone, no folder knows what it must not, install leaves nothing behind, and
# what cannot be compiled for BPF is not needed to build.
. tests/lib.sh

check "every header compiles alone" make -s check-headers
check "facts flow one way" tools/check-layers

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

# install and uninstall are one list.
check "make install" make -s install "DESTDIR=$TMP/root" PREFIX=/opt/k
installed=$(cd "$TMP/root" && find . -type f | LC_ALL=C sort)
like "$installed" '^\./opt/k/bin/kvmtop$' "the program is installed"
like "$installed" '^\./etc/logrotate\.d/kvmtop$' "the log rotation is installed"
like "$(cat "$TMP/root/opt/k/lib/systemd/system/kvmtop.service")" \
	'^ExecStart=/opt/k/bin/kvmtop ' "the unit starts the program where it was installed"
check "make uninstall" make -s uninstall "DESTDIR=$TMP/root" PREFIX=/opt/k
is "$(find "$TMP/root" -type f)" "" "uninstall removes all of it"

# Without clang, bpftool or libbpf.
check "make BPF=no" make -s BPF=no BUILD="$TMP/build" PROGRAM="$TMP/kvmtop"
like "$("$TMP/kvmtop" --list-providers | sed -n '/^exits/{n;p}')" 'built without BPF: .*make deps' \
	"a program without BPF says what was missing"
is "$(status_of "$TMP/kvmtop" --sysroot tests/sysroot/amd -1 -f '^kvm_exit$')" 0 "and counts events"
like "$(cat "$TMP/out")" '^kvm_exit ' "as ever"

done_testing
