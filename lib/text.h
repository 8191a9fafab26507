/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - characters of foreign text, how it is printed safely, and regular expressions.
 */
#ifndef KVMTOP_LIB_TEXT_H
#define KVMTOP_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"

/*
 * How many of the left bytes (at least 1) at text are one character of valid UTF-8, and its code
 * point; 0: none are, and ret_code is untouched.
 */
size_t utf8_decode(const char *text, size_t left, uint32_t *ret_code);

/*
 * Copies the len bytes at raw without the blanks at both ends, with '?' for each character that is
 * a control or invisible and each byte that is not UTF-8, cut at a character to fit. raw and
 * ret_text may be the same.
 * False, with ret_text untouched, when nothing but blanks is there.
 */
bool utf8_clean(const char *raw, size_t len, char *ret_text, size_t size);

/* Two digits for each byte, and a NUL. */
void hex_put(char *ret_text, const uint8_t *bytes, size_t nr);

/*
 * The regular expressions of filters and searches: PCRE2, with nearly Python's syntax. Unanchored;
 * characters are UTF-8. Without a capital letter the case does not matter: KVM's tables write
 * one reason as "io" for AMD and "IO_INSTRUCTION" for Intel.
 */
struct pattern;

/* Compiles text. -EINVAL with error, which names the position, when it is no regular expression. */
int pattern_new(const char *text, struct pattern **ret_pattern, struct error *error);
void pattern_free(struct pattern *pattern); /* NULL is fine */

const char *pattern_text(const struct pattern *pattern);

/*
 * Where the first match in subject ends, as an offset; -1: no match. The text of the pattern itself
 * is a match as a whole, so that "kvm_exit(HLT)" matches the name kvm_exit(HLT).
 */
long pattern_match(const struct pattern *pattern, const char *subject);

/*
 * Whether all matches so far were finished: -EINVAL with error where one ran into PCRE2's limits,
 * so that it is not known what the pattern selects.
 */
int pattern_check(const struct pattern *pattern, struct error *error);

#endif
