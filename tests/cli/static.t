#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The program of make static is one file: it runs in a root that has nothing else.
. tests/lib.sh
need_root
unshare -m true 2>"$TMP/err" || skip_all "no mount namespace: $(cat "$TMP/err")"

make -s static >"$TMP/out" 2>&1 || ! grep -q '^make static: ' "$TMP/out" ||
	skip_all "$(grep '^make static: ' "$TMP/out")"
is "$(grep -v '^  ' "$TMP/out")" "" "make static says nothing: no warning of the linker"

root=$TMP/root
mkdir -p "$root/proc" "$root/sys" "$root/dev"
cp build/static/kvmtop "$root/kvmtop"
cp -r tests/sysroot/amd "$root/amd"
# A mount namespace: whatever happens, there is nothing to unmount.
cat >"$TMP/inside" <<'EOF'
#!/bin/sh
cd "$1" && shift || exit 1
mount --rbind /proc proc && mount --rbind /sys sys || exit 1
if [ -e /dev/kvm ]; then
	: >dev/kvm && mount --bind /dev/kvm dev/kvm || exit 1
fi
exec chroot . /kvmtop "$@"
EOF
chmod +x "$TMP/inside"
inside="unshare -m $TMP/inside $root"
# shellcheck disable=SC2086 # words
$inside --version >"$TMP/out" 2>&1

is "$(cat "$TMP/out")" "$("$KVMTOP" --version)" "it runs in an empty root"
# Names and totals: rates are of the time that went by.
for view in events exits; do
	# shellcheck disable=SC2086
	is "$($inside --sysroot amd -1 -s 0.1 --view "$view" 2>&1 | awk '{ print $1, $2 }')" \
		"$("$KVMTOP" --sysroot tests/sysroot/amd -1 -s 0.1 --view "$view" |
			awk '{ print $1, $2 }')" "and shows what the other shows: $view"
done
# shellcheck disable=SC2086
like "$($inside --list-providers 2>&1)" '^exits ' "it names its providers"

no_live=$( (need_live) | sed -n 's/.*SKIP //p')
if [ -z "$no_live" ]; then
	for seconds in 1 4 16; do # on a busy machine the guest takes its time
		# shellcheck disable=SC2086
		$inside --demo -1 -z -s $seconds >"$TMP/out" 2>&1
		! grep -qE '^kvm_(exit|userspace_exit) ' "$TMP/out" || break
	done
	like "$(cat "$TMP/out")" '^kvm_(exit|userspace_exit) ' "it counts the demo guest"
else
	skip "it counts the demo guest" "$no_live"
fi

if has_screen; then
	for term in xterm xterm-256color screen screen-256color tmux tmux-256color linux vt100 \
		vt220; do
		screen_start 80 24 "TERM=$term exec $inside --sysroot amd --view events"
		screen_has '^ kvm_entry ' "it has a screen: $term"
	done
	screen_start 80 24 "TERM=foot exec $inside --sysroot amd --view events"
	screen_has '^TERM=foot is not in terminfo: the screen is one for xterm-256color' \
		"it says which terminal it does not know"
else
	skip "it has a screen" "$T_no_screen"
fi

done_testing
