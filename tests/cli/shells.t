#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# bash, zsh and fish take what the program offers, also for names with every character of a shell.
# shellcheck disable=SC2086 # options are words
. tests/lib.sh

amd="--sysroot tests/sysroot/amd"
mkdir "$TMP/bin"
ln -s "$(realpath "$KVMTOP")" "$TMP/bin/kvmtop"
PATH=$TMP/bin:$PATH
line="exits $amd -g"

# in_bash WORD...: what bash offers for the last one.
in_bash() {
	# shellcheck disable=SC2016 # bash's
	bash --norc -c '. packaging/completion/kvmtop.bash
		COMP_WORDS=(kvmtop "$@") COMP_CWORD=$#
		_kvmtop kvmtop "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		echo "${COMPREPLY[@]}"' bash "$@"
}
if command -v bash >/dev/null 2>&1; then
	is "$(in_bash re)" "record report" "bash: commands"
	is "$(in_bash $line '')" "web1 db1" "bash: guests"
	is "$(in_bash $line w)" "web1" "bash: the one that fits"
	is "$(in_bash report README)" "README.md" "bash: files"
	is "$(in_bash --sysroot tests/sys)" "tests/sysroot" "bash: folders"
else
	skip "bash" "it is not installed"
fi

# in_fish LINE: what fish offers.
in_fish() {
	HOME=$TMP XDG_CONFIG_HOME=$TMP fish --no-config -c '. packaging/completion/kvmtop.fish
		complete -C $argv[1]' "$1" | tr '\n\t' ' :'
}
if command -v fish >/dev/null 2>&1; then
	like "$(in_fish "kvmtop re")" "^record:record KVM.* report:" \
		"fish: commands and what they do"
	is "$(in_fish "kvmtop $line ")" "db1:process 115 web1:process 112 " "fish: guests"
	is "$(in_fish "kvmtop $line w")" "web1:process 112 " "fish: the one that fits"
	is "$(in_fish "kvmtop report README")" "README.md " "fish: files"
	like "$(in_fish "kvmtop --sysroot tests/sys")" "^tests/sysroot/" "fish: folders"
	is "$(in_fish "kvmtop $amd --guest=w")$(in_fish "kvmtop --read=README")" \
		"--guest=web1:process 112 --read=README.md " "fish: the value after --name="
	like "$(in_fish "kvmtop --sysroot=tests/sys")" "^--sysroot=tests/sysroot/" \
		"fish: folders after --name="
else
	skip "fish" "it is not installed"
fi

# in_zsh WORD...: what the function gives to zsh's own functions.
in_zsh() {
	# shellcheck disable=SC2016 # zsh's
	zsh -f -c '_describe() { print -rn -- "${(P@)2} " }
		_files() { print -rn "files $@" }
		_command_names() { print -rn programs }
		compset() { print -rn -- "$@ " }
		words=(kvmtop "$@") CURRENT=$#words
		. packaging/completion/_kvmtop' zsh "$@"
}
if command -v zsh >/dev/null 2>&1; then
	# shellcheck disable=SC2016
	is "$(zsh -f -c 'fpath=(packaging/completion $fpath); autoload -U compinit; compinit -D -u
		print $_comps[kvmtop]')" "_kvmtop" "zsh finds its function"
	like "$(in_zsh '')" '^exits:.* record:record KVM.* report:' "zsh: commands and what they do"
	is "$(in_zsh $line '')" "web1:process 112 db1:process 115 " "zsh: guests"
	is "$(in_zsh report '')$(in_zsh --sysroot '')$(in_zsh record '')" "files files -/programs" \
		"zsh: files, folders, programs"
	is "$(in_zsh $amd --guest=)" "-P 1 *= web1:process 112 db1:process 115 " \
		"zsh: the value after --name="
	is "$(in_zsh --sysroot=tests/sys)" "-P 1 *= files -/" "zsh: folders after --name="
else
	skip "zsh" "it is not installed"
fi

# ---- names with every character of the shell, by Tab in a terminal

# The program as the shells call it: offers the names of a file, and writes down what -g gets.
cat >"$TMP/bin/named" <<-'EOF'
	#!/bin/sh
	if [ "$1" = --complete ]; then
		cat "$NAMES/offered" && : >"$NAMES/asked"
	else
		printf '%s\n' "$2" >"$NAMES/got.new" && mv "$NAMES/got.new" "$NAMES/got"
	fi
EOF
chmod +x "$TMP/bin/named"
export NAMES="$TMP/names"
mkdir "$NAMES" "$NAMES/bin"
ln -s ../../bin/named "$NAMES/bin/kvmtop"
# shellcheck disable=SC2016 # what a guest may be called
cat >"$NAMES/list" <<-'EOF'
	v!x!
	v"x
	v#x
	v$x
	v%x
	v&x
	v'x
	v''x
	v(x)
	v*
	v+x
	v,x
	v-x
	v.x
	v/x
	v:x:y
	v;x
	v<x
	v=x=y
	v>x
	v?x
	v@x
	v[x]
	v\x
	v\\x\
	v^x^
	v_x
	v`x`
	v{x,y}
	v|x
	v~x
	v two words
	vélan
	v${PROMPT_COMMAND:=touch $NAMES/run}
	v${PS1:=$(touch $NAMES/run)}
	v$(touch $NAMES/run)
	v`touch $NAMES/run`
	v';touch $NAMES/run;'
	v";touch $NAMES/run;"
	v;touch $NAMES/run
	v%{$(touch $NAMES/run)%}
EOF

# complete_names: types "kvmtop -g v", Tab and Enter for each name; prints those that differ.
complete_names() {
	while IFS= read -r name; do
		printf '%s\tprocess 7\n' "$name" >"$NAMES/offered"
		rm -f "$NAMES/asked" "$NAMES/got"
		screen_type "kvmtop -g v$(printf '\t')"
		wait_for 3 test -e "$NAMES/asked"
		screen_keys Enter
		wait_for 3 test -e "$NAMES/got" || screen_keys C-c
		[ "$(cat "$NAMES/got" 2>&1)" = "$name" ] || echo "$name: $(cat "$NAMES/got" 2>&1)"
	done <"$NAMES/list"
	[ ! -e "$NAMES/run" ] || echo "a name was run"
	rm -f "$NAMES/run"
}

# by_tab SHELL COMMAND: a terminal with this shell completes all names.
by_tab() {
	if ! command -v "$1" >/dev/null 2>&1; then
		skip "$1: names by Tab" "it is not installed"
	elif ! has_screen; then
		skip "$1: names by Tab" "$T_no_screen"
	else
		screen_start 200 50 "cd $NAMES && HOME=$NAMES XDG_CONFIG_HOME=$NAMES" \
			"PATH=$NAMES/bin:$PATH $2"
		screen_wait 'ready'
		is "$(complete_names)" "" \
			"$1: names by Tab are the guests' names, and nothing is run"
		screen_stop
	fi
}
here=$PWD
cat >"$NAMES/bashrc" <<-EOF
	bind 'set enable-bracketed-paste off'
	. $here/packaging/completion/kvmtop.bash
	PS1='ready '
EOF
cat >"$NAMES/.zshrc" <<-EOF
	fpath=($here/packaging/completion \$fpath)
	autoload -U compinit && compinit -D -u
	PS1='ready '
EOF
by_tab bash "bash --noprofile --rcfile $NAMES/bashrc -i"
by_tab zsh "ZDOTDIR=$NAMES zsh -d -i"
cat >"$NAMES/fishrc" <<-EOF
	. $here/packaging/completion/kvmtop.fish
	function fish_prompt
		echo "ready "
	end
EOF
by_tab fish "fish --no-config -i -C '. $NAMES/fishrc'"

done_testing
