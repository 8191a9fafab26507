# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for fish. The program says what could come next: see --complete in kvmtop(8).

function __kvmtop_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)

	for line in (kvmtop --complete -- $words[2..] "$last" 2>/dev/null)
		switch $line
			case \tfiles
				__fish_complete_path "$last"
			case \tfolders
				__fish_complete_directories "$last"
			case \tcommands
				__fish_complete_command
			case '*'
				printf '%s\n' $line
		end
	end
end
complete -c kvmtop -f -a '(__kvmtop_complete)'
