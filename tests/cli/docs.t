#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The man page, completion and README name the options that --help names, and no others.
. tests/lib.sh

help=$("$KVMTOP" --help)
# The words about an option begin in column 33 and may name others.
options=$(printf '%s\n' "$help" | grep '^  ' | cut -c1-31 | grep -oE -- '-[-a-zA-Z0-9]+')

# Every option that --help names stands in this text, which is one word a line.
missing_in() {
	for option in $options; do
		printf '%s\n' "$1" | grep -qxF -- "$option" || printf '%s ' "$option"
	done
}

man=$(sed -n '/^\.Sh OPTIONS/,/^\.Sh THE SCREEN/p' man/kvmtop.8 | grep '^\.It Fl' |
	awk '{ for (i = 1; i < NF; i++) if ($i == "Fl") print "-" $(i + 1) }')
completion=$(grep -oE -- '-[-a-zA-Z0-9]+' completion/kvmtop.bash)

check "--help names options" test "$(printf '%s\n' "$options" | grep -c .)" -gt 30
is "$(missing_in "$man")" "" "the man page has every option of --help"
is "$(missing_in "$completion")" "" "the completion has every option of --help"

unknown=
for option in $man; do
	printf '%s\n' "$options" | grep -qxF -- "$option" || unknown="$unknown$option "
done
is "$unknown" "" "the man page has no option that --help has not"

for command in $("$KVMTOP" --help | sed -n '/^Commands/,$s/^  \([a-z]*\) .*/\1/p'); do
	for option in $("$KVMTOP" "$command" --help | grep '^  ' | cut -c1-31 |
		grep -oE -- '--[-a-z]+'); do
		grep -q -- "Fl $(echo "$option" | cut -c2-)" man/kvmtop.8 &&
			printf '%s\n' "$completion" | grep -qxF -- "$option" ||
			absent="${absent-}$command $option "
	done
done
is "${absent-}" "" "man page and completion have every long option of each command"

# offers WORD...: what bash offers for the last word.
offers() {
	# shellcheck disable=SC2016 # bash's
	PATH=$TMP:$PATH bash -c '. completion/kvmtop.bash
		COMP_WORDS=(kvmtop "$@") COMP_CWORD=$#
		_kvmtop kvmtop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		echo "${COMPREPLY[@]}"' bash "$@"
}
if command -v bash >/dev/null 2>&1; then
	printf '#!/bin/sh\nexec "%s" --sysroot tests/sysroot/amd "$@"\n' "$KVMTOP" >"$TMP/kvmtop"
	chmod +x "$TMP/kvmtop"
	is "$(offers re)" "record report" "commands are completed"
	field=$(offers -f kvm_exit.hl)
	like "$("$KVMTOP" --sysroot tests/sysroot/amd -1 -f "$field")" '^kvm_exit\(hlt\) ' \
		"a completed field matches that field"
	for view in events guests vcpus exits hotspots; do
		is "$(offers --view $view -o "" | tr '\n' ' ')" \
			"$("$KVMTOP" -1 --view $view -o none 2>&1 | sed -n 's/.*there are: //p') " \
			"-o: the columns of the view $view"
	done
else
	skip "completion" "bash is not installed"
fi

# Keys: the help page is painted from a table; the man page lists the same.
keys=$(sed -n '/^const struct key_help screen_keys/,/^};/p' ui/screen/picture.c |
	grep -oE '^	\{ "[^"]*"' | cut -d'"' -f2 | tr -s ' ,' '\n\n' | grep .)
listed=$(sed -n '/^\.Ss Keys/,/^\.El/p' man/kvmtop.8 | grep '^\.It Ic' | tr ' ' '\n' |
	sed 's/^\\&//')
missing=
for key in $keys; do
	printf '%s\n' "$listed" | grep -qxF -- "$key" || missing="$missing$key "
done
is "$missing" "" "the man page has every key of the help page"

for column in $(grep -ohE '^	\[[A-Z0-9_]+\] = \{ "[a-z0-9_]+", "[^"]+"' views/*.[ch] |
	grep -vE 'DELTA|LIFE_WHOLE' |
	cut -d'"' -f4 | tr ' ' '_'); do
	grep -q "$(echo "$column" | tr '_' ' ')" man/kvmtop.8 || missing="$missing$column "
done
is "$missing" "" "the man page has every column's heading"

for command in $(grep -oE '^    make [a-z]+' README.md | sort -u | awk '{ print $2 }'); do
	grep -q "^$command:" Makefile || missing="$missing$command "
done
is "$missing" "" "README's make targets exist"

done_testing
