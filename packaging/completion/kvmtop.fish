# SPDX-License-Identifier: GPL-2.0-or-later
#
# Completion for fish. The program says what could come next: see --complete in kvmtop(8).

function __kvmtop_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	set -l begin ""

	# --NAME=VALUE is asked for as bash divides it; what is found has --NAME= before it.
	if string match -qr -- '^--[^=]+=' $last
		set -l parts (string split -m 1 = -- $last)
		set begin $parts[1]=
		set last $parts[2]
		set -a words $parts[1] =
	end
	for line in (kvmtop --complete -- $words[2..] "$last" 2>/dev/null)
		switch $line
			case \tfiles
				printf '%s\n' $begin(__fish_complete_path "$last")
			case \tfolders
				printf '%s\n' $begin(__fish_complete_directories "$last")
			case \tcommands
				printf '%s\n' $begin(__fish_complete_command)
			case '*'
				printf '%s\n' $begin$line
		end
	end
end
complete -c kvmtop -f -a '(__kvmtop_complete)'
