/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_take - reads the values of options, each alone.
 */
#ifndef KVMTOP_CMD_OPTIONS_TAKE_H
#define KVMTOP_CMD_OPTIONS_TAKE_H

#include "cmd/option.h"

struct options;

/* See struct option_table. */
int options_take(void *ret_options, const struct option_spec *spec, const char *text,
		 struct why *why);

bool options_is_url(const char *text);
int options_take_url(const char *text, struct options *options, struct why *why);

#endif
