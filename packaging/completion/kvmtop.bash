# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for bash. The program says what could come next: see --complete in kvmtop(8).

_kvmtop()
{
	local word

	COMPREPLY=()
	while IFS= read -r word; do
		case $word in
		$'\tfiles')
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
			;;
		$'\tfolders')
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$2")
			;;
		$'\tcommands') mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -c -- "$2") ;;
		*)
			# Bash puts the word on the line as it is, and it may be a guest's name.
			printf -v word %q "${word%%$'\t'*}"
			[[ $word != "$2"* ]] || COMPREPLY+=("$word")
			;;
		esac
	done < <(kvmtop --complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _kvmtop kvmtop
