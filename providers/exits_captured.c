// SPDX-License-Identifier: GPL-2.0-or-later
/* Plays back what was captured: not written yet. */
#include <errno.h>

#include "providers/exits_captured.h"

int exits_captured_probe(const struct env *env, struct why *why)
{
	(void)env;
	return why_set(why, -ENODATA, "nothing was captured");
}

int exits_captured_open(const struct provider_site *site, void **ret_state, struct why *why)
{
	(void)ret_state;
	return exits_captured_probe(site->env, why);
}

int exits_captured_want(void *state, const struct want *want, struct why *why)
{
	(void)state;
	(void)want;
	(void)why;
	return 0;
}

int exits_captured_collect(void *state, struct sample *sample, struct why *why)
{
	(void)state;
	(void)sample;
	(void)why;
	return 0;
}

void exits_captured_close(void *state)
{
	(void)state;
}
