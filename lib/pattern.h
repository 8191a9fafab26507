/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pattern - the regular expressions of filters and searches: PCRE2, with nearly Python's syntax.
 *
 * Unanchored and case sensitive; characters are UTF-8.
 */
#ifndef KVMTOP_LIB_PATTERN_H
#define KVMTOP_LIB_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/why.h"

struct pattern;

/* Compiles text. -EINVAL with why, which names the position, when it is no regular expression. */
int pattern_new(const char *text, struct pattern **ret_pattern, struct why *why);
void pattern_free(struct pattern *pattern); /* NULL is fine */

const char *pattern_text(const struct pattern *pattern);

/*
 * Where the first match in subject ends, as an offset; -1: no match. The text of the pattern itself
 * is a match as a whole, so that "kvm_exit(HLT)" matches the name kvm_exit(HLT).
 */
long pattern_match(const struct pattern *pattern, const char *subject);

#endif
