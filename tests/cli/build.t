#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The Makefile does what a packager expects: flags and folders are taken as given, install can be
# undone, the same source makes the same bytes in every folder, and BPF can be left out.
. tests/lib.sh

jobs=-j$(nproc)

# would TARGET [NAME=VALUE]...: the commands that a make of its own would run.
would() {
	env -u MAKEFLAGS make -n V=1 "BUILD=$TMP/none" "$@"
}

compiled=$(CFLAGS=-DOURS CPPFLAGS=-DTHEIRS would "$TMP/none/lib/error.o" | grep -e ' -c -o ')
like "$compiled" ' -DOURS ' "CFLAGS from the environment are used"
unlike "$compiled" ' -O2 ' "in place of the default"
like "$compiled" ' -DTHEIRS ' "so are CPPFLAGS"
compiled=$(would "$TMP/none/providers/exits/exits.bpf.o" CFLAGS=-DOURS | grep -e ' -c -o ')
like "$compiled" ' -fno-stack-protector ' "BPF is compiled without a stack protector"
unlike "$compiled" 'OURS' "and without CFLAGS"
like "$(would check)" 'packaging/tools/deps' "make check installs what is missing"
unlike "$(would test)" 'packaging/tools/deps' "make test does not"
shown=$(would run)
like "$shown" 'deps -q build$' "make run installs what is missing"
like "$shown" 'packaging/tools/show ' "and shows a picture"
# A program for packaging/tools/show; $TMP/cannot is why --demo cannot work.
cat >"$TMP/fake" <<'EOF'
#!/bin/sh
folder=$(dirname "$0")
echo "$@" >>"$folder/arguments"
case $1 in --demo) ! cat "$folder/cannot" >&2 2>/dev/null || exit 1 ;; esac
echo events
EOF
chmod +x "$TMP/fake"
is "$(packaging/tools/show "$TMP/fake")" "events
These happened in one second; $TMP/fake -1 prints all that is counted." \
	"in a pipe: what is active, and how to see the rest"
is "$(cat "$TMP/arguments")" "--demo -1 -z" "of a guest of its own"
echo "no KVM" >"$TMP/cannot"
is "$(packaging/tools/show "$TMP/fake" 2>&1)" "no KVM
So this is a captured machine: $TMP/fake --sysroot tests/sysroot/amd
events" "where KVM cannot be used: why, and what it shows instead"
is "$(tail -n 1 "$TMP/arguments")" "--sysroot tests/sysroot/amd -1 --view guests" \
	"a captured machine"
if has_screen && [ "$(id -u)" = 0 ] && unshare -mpf --mount-proc true 2>/dev/null; then
	# /dev/null stands for a /dev/kvm that is none; other tests' guests are out of sight.
	screen_start 80 24 "unshare -mpf --mount-proc sh -c '[ ! -e /dev/kvm ] ||
		mount --bind /dev/null /dev/kvm; exec packaging/tools/show $KVMTOP'"
	screen_has '^ db1 +2 ' "on a terminal its screen"
	screen_keys q
	screen_has '^So this is a captured machine: ' "and what it is stands there afterwards"
else
	skip "on a terminal the screen of a captured machine" "no terminal, or not root"
fi

# in_folder NAME=FOLDER...: where the files of make install go.
in_folder() {
	rm -rf "$TMP/root"
	make -s "$jobs" install "DESTDIR=$TMP/root" "$@" >"$TMP/out" 2>&1 || cat "$TMP/out"
	(cd "$TMP/root" && find . -type f | LC_ALL=C sort)
}
# man_pages FOLDER: where the pages are below it.
man_pages() {
	echo "$1/man5/kvmtop-history.5"
	echo "$1/man7/kvmtop-screen.7"
	for command in exits export format group record report timeline where who why; do
		echo "$1/man8/kvmtop-$command.8"
	done
	echo "$1/man8/kvmtop.8"
}
is "$(in_folder prefix=/usr)" "\
./usr/bin/kvmtop
./usr/lib/systemd/system/kvmtop-history.service
./usr/lib/systemd/system/kvmtop-listen.service
./usr/lib/systemd/system/kvmtop-listen.socket
./usr/lib/systemd/system/kvmtop-prometheus.service
./usr/lib/systemd/system/kvmtop.service
./usr/sbin/kvmtop-group
./usr/share/bash-completion/completions/kvmtop
./usr/share/fish/vendor_completions.d/kvmtop.fish
./usr/share/kvmtop/kvmtop.json
./usr/share/kvmtop/kvmtop.rules.yml
./usr/share/kvmtop/kvmtop.schema.json
./usr/share/kvmtop/telegraf.conf
./usr/share/kvmtop/vector.toml
$(man_pages ./usr/share/man)
./usr/share/zsh/site-functions/_kvmtop" "make install prefix=/usr"
# named: the files that come with kvmtop and that the installed man pages name.
named() {
	grep -rhoE '/[a-z/]*/kvmtop/?[a-z.]*|packaging/contrib/[a-z./]*' "$TMP/root/usr/share/man" |
		grep -vE '^/(var|etc)/' | sort -u
}
like "$(named)" '^/usr/share/kvmtop/kvmtop.rules.yml$' "man pages name installed files"
is "$(named | while read -r path; do
	[ -e "$TMP/root$path" ] || echo "$path"
done)" "" "and only files that are there"
units=$TMP/root/usr/lib/systemd/system
like "$(cat "$units/kvmtop.service")" '^ExecStart=/usr/bin/kvmtop ' \
	"the unit starts the program where it was installed"

like "$(cat "$units/kvmtop-history.service")" '^ExecStart=/usr/bin/kvmtop ' "so does the history's"
like "$(cat "$TMP/root/usr/sbin/kvmtop-group")" '^program=/usr/bin/kvmtop$' \
	"and kvmtop-group has it"
# sandbox UNIT: what it may do.
sandbox() {
	sed -n '/^# One descriptor/,$p' "$units/$1"
}
# options UNIT: the same without comments.
options() {
	sandbox "$1" | grep '^[A-Z]'
}
is "$(options kvmtop-history.service |
	sed 's/ CAP_SYSLOG$//; s/^ProtectKernelModules/ProtectKernelLogs=yes\n&/')" \
	"$(options kvmtop.service)" "which has the log's sandbox, and names the kernel's functions"
is "$(options kvmtop-prometheus.service)" "$(options kvmtop.service)" \
	"so has the file's for Prometheus"
is "$(options kvmtop-listen.service | grep -Ev '^(DynamicUser|User|Group|Ambient.*)=')" \
	"$(options kvmtop.service | sed 's/^ProtectSystem=full/ProtectSystem=strict/' |
		grep -v '^WantedBy=')" \
	"and the server's, which writes no file and gets its socket from systemd"
is "$(options kvmtop-listen.service | sed -n 's/^AmbientCapabilities=//p')" \
	"$(options kvmtop.service | sed -n 's/^CapabilityBoundingSet=//p')" \
	"its user has the capabilities that the log's root has"
# Both by systemd's own rules; of the program it only asks whether it is there.
if command -v systemd-analyze >/dev/null && systemd-analyze security --help | grep -q -e --offline
then
	mkdir -p "$TMP/units"
	cp "$units/kvmtop-listen.socket" "$TMP/units"
	for unit in kvmtop-history.service kvmtop.service kvmtop-prometheus.service \
		kvmtop-listen.service; do
		sed 's|/usr/bin/kvmtop|/bin/sh|' "$units/$unit" >"$TMP/units/$unit"
		is "$(systemd-analyze verify --man=no "$TMP/units/$unit" 2>&1)" "" \
			"$unit: systemd understands all of it"
		check "$unit: its exposure is at most 3 of 10" systemd-analyze security \
			--offline=true --threshold=30 "$TMP/units/$unit"
	done
else
	skip "the units by systemd's rules" "no systemd-analyze that knows --offline"
fi

# as_unit MACHINE: what the log's unit runs, for two intervals, of a captured machine.
as_unit() {
	# shellcheck disable=SC2046,SC2317 # words; check calls it
	"$KVMTOP" $(sed -n "s|/var/log/|$TMP/|; s|^ExecStart=[^ ]* ||p" "$units/kvmtop.service") \
		--sysroot "tests/sysroot/$1" -n 2 -s 0.1 2>"$TMP/err"
}
check "the unit logs" as_unit amd
like "$(cat "$TMP/kvmtop.csv")" '^timestamp,.*,kvm_exit,' "with kvm_stat's columns"
is "$(as_unit intel || echo $?)" 1 "a log of another kernel's events is refused"
like "$(cat "$TMP/err")" 'kvmtop.csv" has other columns .*: rename it, or choose another file' \
	"with the remedy"
# What the history's unit runs, of a captured machine.
history=$(sed -n 's/^Environment="KVMTOP_HISTORY=\(.*\)"$/\1/p' "$units/kvmtop-history.service")
command=$(sed -n 's|^ExecStart=[^ ]* ||p' "$units/kvmtop-history.service" |
	sed "s|/var/lib/kvmtop|$TMP|; s|[$]KVMTOP_HISTORY|$history|")
like "$command" '^-w .*/history.db -s 10 --max-age 7d --max-size 2G --keep hotspots,who,long$' \
	"a history of a week"
# shellcheck disable=SC2086 # words
check "the history's unit writes it" "$KVMTOP" $command --sysroot tests/sysroot/amd -n 2 -s 0.1
like "$("$KVMTOP" -r "$TMP/history.db" -1 --view exits)" '^hlt ' "and it is read"
is "$(in_folder exec_prefix=/e datarootdir=/d unitdir=/u)" "\
./d/bash-completion/completions/kvmtop
./d/fish/vendor_completions.d/kvmtop.fish
./d/kvmtop/kvmtop.json
./d/kvmtop/kvmtop.rules.yml
./d/kvmtop/kvmtop.schema.json
./d/kvmtop/telegraf.conf
./d/kvmtop/vector.toml
$(man_pages ./d/man)
./d/zsh/site-functions/_kvmtop
./e/bin/kvmtop
./e/sbin/kvmtop-group
./u/kvmtop-history.service
./u/kvmtop-listen.service
./u/kvmtop-listen.socket
./u/kvmtop-prometheus.service
./u/kvmtop.service" "the folders have GNU's names"
is "$(in_folder bindir=/b mandir=/m bashcompletiondir=/c PREFIX=/p)" "\
./b/kvmtop
./c/kvmtop
$(man_pages ./m)
./p/lib/systemd/system/kvmtop-history.service
./p/lib/systemd/system/kvmtop-listen.service
./p/lib/systemd/system/kvmtop-listen.socket
./p/lib/systemd/system/kvmtop-prometheus.service
./p/lib/systemd/system/kvmtop.service
./p/sbin/kvmtop-group
./p/share/fish/vendor_completions.d/kvmtop.fish
./p/share/kvmtop/kvmtop.json
./p/share/kvmtop/kvmtop.rules.yml
./p/share/kvmtop/kvmtop.schema.json
./p/share/kvmtop/telegraf.conf
./p/share/kvmtop/vector.toml
./p/share/zsh/site-functions/_kvmtop" "each of them, and PREFIX"
check "make uninstall" make -s uninstall "DESTDIR=$TMP/root" bindir=/b mandir=/m \
	bashcompletiondir=/c PREFIX=/p
is "$(find "$TMP/root" -mindepth 1)" "" "uninstall removes all of it, and empty folders"

# A copy without git, in a folder with another name, of what was built with it.
in_folder prefix=/usr >/dev/null
copy=$TMP/a/copy/of
mkdir -p "$copy"
tar cf - --exclude=./.git --exclude=./build/sanitize . | tar xf - -C "$copy"
is "$(env -u MAKEFLAGS make --no-print-directory -C "$copy" all 2>&1)" "" \
	"a copy has nothing to build"
# With what a release has of BPF, in which case clang and bpftool are not needed.
for skeleton in build/providers/*/*.skel.h; do
	to=${skeleton#build/}
	cp "$skeleton" "$copy/${to%.skel.h}.le.skel.h"
done
# Some of it is enough: the bytes of each file are made in the same way.
rm "$copy"/build/kvmtop.o "$copy"/build/lib/*.o "$copy/kvmtop"
check "without git, clang and bpftool it is built, as of a release" make -s "$jobs" -C "$copy" \
	install "DESTDIR=$TMP/of" prefix=/usr BPF_CLANG=none BPFTOOL=none
check "its program has the same bytes" cmp "$TMP/of/usr/bin/kvmtop" "$TMP/root/usr/bin/kvmtop"

is "$(env -u MAKEFLAGS make help PKG_CONFIG=none 2>&1 >/dev/null)" "" \
	"help needs no pkg-config, and misses none"

# What cannot be done is one line, beside make's own.
# cannot FOLDER NAME=VALUE...: what make says there.
cannot() {
	(cd "$1" && shift && env -u MAKEFLAGS make -s "$@" 2>&1 | grep -vE '^make(:|\[)')
}
is "$(cannot "$copy" CC=no-such-compiler)" "CC is no-such-compiler: no such command" \
	"a compiler that is not there"
is "$(cannot "$copy" run CC=no-such-compiler)" "deps: CC is no-such-compiler: no such command" \
	"which no package has"
is "$(cannot "$copy" dist)" "make dist: the tarball is of a git commit, and here is none" \
	"no tarball without git"
is "$(cannot "$copy" BUILD=/proc/none)" \
	"/proc/none cannot be written: choose another, BUILD=FOLDER" "a folder that is read-only"
check "what is made may be elsewhere" make -s -C "$copy" "BUILD=$TMP/elsewhere" \
	"$TMP/elsewhere/lib/error.o"
is "$(would test "TESTS=tests/unit/lib/test_when.c tests/unit/ui" | sed -n 's|.* tests/run ||p' |
	tr ' ' '\n' | sed "s|^$TMP/none/||" | head -n 2)" "\
tests/unit/lib/test_when
tests/unit/ui/lines/test_formats" "tests are named by their files and folders"
is "$(env -u MAKEFLAGS make -n V=1 "BUILD=$TMP/none" test 2>&1 | grep 'No rule')" "" \
	"and all of them are made elsewhere"
is "$(env -u MAKEFLAGS make -n test TESTS=tests/cli/host.t | sed -n 's/^make *all //p')" \
	"build/tests/helpers/miniguest build/tests/helpers/scripted" \
	"with no helpers that they do not name"

if git rev-parse --verify -q HEAD >"$TMP/out" 2>&1; then
	is "$(cannot . dist BUILD=/proc/none)" \
		"/proc/none cannot be written: choose another, BUILD=FOLDER" \
		"nor in a folder that is read-only"
	check "make dist" make -s dist "DIST=$TMP/one.tar.gz"
	(umask 077 && make -s dist "DIST=$TMP/two.tar.gz" >/dev/null)
	check "writes the same bytes each time" cmp "$TMP/one.tar.gz" "$TMP/two.tar.gz"
	is "$(tar tzf "$TMP/one.tar.gz" |
		sed -n 's|[^/]*/\(.*\)\.le\.skel\.h$|\1.bpf.c|p' | sort)" \
		"$(git ls-files '*.bpf.c' | sort)" "with the skeleton of each BPF program"
	version=$("$KVMTOP" --version)
	is "$(tar tzf "$TMP/one.tar.gz" | sed 's|/.*||' | sort -u)" "kvmtop-${version#kvmtop }" \
		"in a folder named after the version"
	like "$(tar tvzf "$TMP/one.tar.gz")" 'root/root .*/Makefile$' "owned by root"

	# What make release does before its checks.
	git clone -q . "$TMP/clone"
	echo "$version" >>"$TMP/clone/README.md"
	version=${version#kvmtop }
	is "$(cd "$TMP/clone" && packaging/tools/release "$version" "$TMP/release" 2>&1)" \
		"release: there are changes: commit them, or stash them" "release: a clean tree"
	git -C "$TMP/clone" checkout -q README.md
	like "$(cd "$TMP/clone" && packaging/tools/release 99.0 "$TMP/release" 2>&1)" \
		'^release: NEWS.md says nothing of 99.0$' "and news"
	check "nothing is written before" test ! -e "$TMP/release"
else
	skip "make dist" "this is no git repository"
fi

# not_linked TEXT: what make static says of this message of a linker.
not_linked() {
	echo "$1" >"$TMP/ld"
	packaging/tools/static-error "$TMP/ld" 2>&1
}
is "$(not_linked '/usr/bin/ld: cannot find -lpcre2-8: No such file or directory
/usr/bin/ld: cannot find -lz: No such file or directory')" \
	"make static: no libpcre2-8.a libz.a - Debian 12 and sid have all static libraries" \
	"make static: libraries that are not there"
is "$(not_linked "libelf.a(x.o): undefined reference to \`eu_search_tree_init'")" \
	"make static: libelf.a is not whole, as in Debian 13: use Debian 12 or sid" \
	"a library that is not whole"
is "$(not_linked 'ld: something else')" "ld: something else" "any other message is the linker's"

# Without clang, bpftool or libbpf. All that has no BPF in it is there.
rm "$copy/kvmtop"
check "make BPF=no" make -s "$jobs" -C "$copy" BPF=no
like "$("$copy/kvmtop" --list-providers)" '^ *not here: built without BPF: .*make deps' \
	"a program without BPF says what was missing"
check "and counts events" "$copy/kvmtop" --sysroot tests/sysroot/amd -1 -f '^kvm_exit$'
like "$(cat "$TMP/.check")" '^kvm_exit ' "as ever"
helpers=$(would BPF=no tests |
	sed -n "s|.* -o $TMP/none/\(tests/helpers/[a-z_]*\) .*|build/\1|p")
isnt "$helpers" "" "its tests have helpers"
# shellcheck disable=SC2086 # a list
check "which are linked without BPF" make -s "$jobs" -C "$copy" BPF=no $helpers

done_testing
