/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * captured_exits - plays back what the provider "exits" had said on a captured machine.
 *
 * The functions are struct provider's; exits/exits.c hands a captured machine to them. Source:
 * DIR/kvmtop/exits, see captured_exits.c.
 */
#ifndef KVMTOP_PROVIDERS_CAPTURED_EXITS_H
#define KVMTOP_PROVIDERS_CAPTURED_EXITS_H

#include "providers/provider.h"

int exits_captured_probe(const struct env *env, struct why *why);
int exits_captured_open(const struct provider_site *site, void **ret_state, struct why *why);
int exits_captured_want(void *state, const struct want *want, struct why *why);
int exits_captured_collect(void *state, struct sample *sample, struct why *why);
void exits_captured_close(void *state);

#endif
