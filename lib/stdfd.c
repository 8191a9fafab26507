// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills gaps among the standard descriptors. */
#include <fcntl.h>
#include <unistd.h>

#include "lib/stdfd.h"

void stdfd_fill(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* open() takes the lowest free number: fd. In this direction any use fails. */
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}
