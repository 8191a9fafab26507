#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The pictures in README.md and docs/ are what the program shows today; else: make pictures.
. tests/lib.sh
need_screen

is "$(status_of tests/tools/pictures "$TMP/new")" 0 "the pictures can be made"
same_files "$TMP/new/docs/screen.svg" docs/screen.svg "docs/screen.svg is up to date"
same_files "$TMP/new/docs/heat.svg" docs/heat.svg "so is docs/heat.svg"
same_files "$TMP/new/docs/diagnosis.svg" docs/diagnosis.svg "so is docs/diagnosis.svg"
same_files "$TMP/new/README.md" README.md "so is the picture in README.md"
is "$(grep -c '^    kvmtop  .* CPUs ' README.md)" 1 "which is there once"
# Chinese, Japanese and Korean begin with such bytes.
is "$(cat docs/*.svg README.md | LC_ALL=C tr -cd '\343-\355' | wc -c)" 0 \
	"all names are in letters that every font has"

done_testing
