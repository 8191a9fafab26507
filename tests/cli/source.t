#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every header compiles alone, no folder knows what it must not, install leaves nothing behind, and
# what cannot be compiled for BPF is not needed to build.
. tests/lib.sh

check "every header compiles alone" make -s check-headers
check "facts flow one way" tools/check-layers

# A rule that cannot fail proves nothing.
tree=$TMP/tree
mkdir -p "$tree/ui" "$tree/providers" "$tree/arch"
echo '#include "providers/foo.h"' >"$tree/both.h"
: >"$tree/providers/foo.h"
printf '#include <stdio.h>\n#include "both.h"\n' >"$tree/ui/a.c"
echo '#include "view_x.h"' >"$tree/providers/foo.c"
printf '\n\n#  include <fcntl.h>\n' >"$tree/stats.c"
echo '#include <curses.h>' >"$tree/view_x.h"
echo '#include "ui/a.h"' >"$tree/arch/x86.c"
echo '#include "env.h"' >"$tree/sample.c"
is "$(tools/check-layers "$tree" | sed 's/: [^:]*$//')" "\
arch/x86.c:1: includes ui/a.h
providers/foo.c:1: includes view_x.h
sample.c:1: includes env.h
stats.c:3: includes fcntl.h
ui/a.c:2: includes both.h, which includes providers/foo.h
view_x.h:1: includes curses.h" "every forbidden include is found, with file and line"
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
