#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A folder as one text: what tests/tools/archive unpacks is what was packed, and is made anew when
# the text changes.
. tests/lib.sh

pack() {
	tests/tools/archive pack "$1"
}

unpack() {
	tests/tools/archive unpack "$@"
}

for archive in tests/sysroot/*.txt tests/formats.txt; do
	cp "$archive" "$TMP/known.txt"
	unpack "$TMP/known.txt"
	pack "$TMP/known" >"$TMP/again"
	check "$archive: pack writes what unpack reads" cmp "$TMP/again" "$archive"
	rm -r "$TMP/known"
done

# All kinds of files.
mkdir -p "$TMP/odd/a b/c" "$TMP/odd/empty"
printf 'one\n\ntwo \\\n' >"$TMP/odd/a b/lines"
printf '== no heading\n' >"$TMP/odd/a b/c/like-a-heading"
printf 'no end' >"$TMP/odd/a b/c/no-end"
printf 'a\\\0\0017\n\t \377 \n\0' >"$TMP/odd/bytes"
: >"$TMP/odd/nothing"
ln -s 'a b/lines' "$TMP/odd/link"
ln -s 'anon_inode:kvm-vcpu:0' "$TMP/odd/a b/dangling"
pack "$TMP/odd" >"$TMP/copy.txt"
unpack "$TMP/copy.txt"
check "bytes, links and empty folders come back" diff -r --no-dereference "$TMP/odd" "$TMP/copy"
is "$(find "$TMP/copy" | wc -l)" "$(find "$TMP/odd" | wc -l)" "and nothing else"
is "$(LC_ALL=C tr -d '\n\t -~' <"$TMP/copy.txt" | wc -c)" 0 "the archive is text"

echo changed >"$TMP/copy/nothing"
unpack "$TMP/copy.txt"
is "$(cat "$TMP/copy/nothing")" changed "what is there is not unpacked again"
printf '== other\n1\n' >"$TMP/copy.txt"
touch -d 2001-01-01 "$TMP/copy.txt"
unpack "$TMP/copy.txt"
is "$(cd "$TMP/copy" && grep -r .)" "other:1" "another archive is, also an older one"
printf 'text\n' >"$TMP/bad.txt"
is "$(unpack "$TMP/bad.txt" 2>&1 || echo $?)" "archive: $TMP/bad.txt: a line before a heading
1" "no archive: says so"
check "and leaves nothing" test ! -e "$TMP/bad" -a "$(echo "$TMP"/bad*)" = "$TMP/bad.txt"

mkdir "$TMP/fixed"
cp "$TMP/copy.txt" "$TMP/fixed/odd.txt"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # the inner shell's
	is "$(unshare -m sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" &&
		tests/tools/archive unpack "$0/odd.txt"' "$TMP/fixed" 2>&1)" \
		"archive: $TMP/fixed cannot be written: the tests unpack files there" \
		"a folder that is read-only: says so in one line"
else
	skip "a folder that is read-only" "no mounts of our own"
fi

done_testing
