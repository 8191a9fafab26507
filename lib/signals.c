// SPDX-License-Identifier: GPL-2.0-or-later
/* Catches the signals that a write may raise. */
#include <signal.h>
#include <stddef.h>

#include "lib/signals.h"

static void do_nothing(int signal)
{
	(void)signal;
}

bool signal_is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Caught, not ignored: exec() takes the handler away, and would leave an ignored signal so. */
void signals_init(void)
{
	const struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART };

	if (!signal_is_ignored(SIGPIPE))
		sigaction(SIGPIPE, &action, NULL);
	if (!signal_is_ignored(SIGXFSZ))
		sigaction(SIGXFSZ, &action, NULL);
}
