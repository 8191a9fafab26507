// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmtop - which guest, which vCPU, which VM exits, and what they cost.
 *
 * Runs the command, or the program without one, and returns the exit status.
 */
#include <locale.h>

#include "lib/say.h"
#include "lib/process.h"
#include "cmd/command.h"
#include "cmd/leave.h"
#include "cmd/stale.h"

int main(int argc, char **argv)
{
	stdfd_fill();
	signals_init();
	/* Not LC_NUMERIC: a decimal comma would change the numbers of -s, CSV and JSON. */
	setlocale(LC_CTYPE, "");
	stale_end();
	leave(say_end(command_main(argc, argv)));
}
