/* SPDX-License-Identifier: GPL-2.0-or-later */
/* other_machine - all of a helper that is for another kind of machine. */
#ifndef KVMTOP_TESTS_WORLDS_OTHER_MACHINE_H
#define KVMTOP_TESTS_WORLDS_OTHER_MACHINE_H

#include <errno.h>
#include <stdio.h>

int main(void)
{
	fprintf(stderr, "%s: not for this machine\n", program_invocation_short_name);
	return 1;
}

#endif
