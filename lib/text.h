/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text - text of others: its characters (lib/utf8.h), bytes as digits, and regular expressions.
 */
#ifndef KVMTOP_LIB_TEXT_H
#define KVMTOP_LIB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "lib/utf8.h"

/*
 * Which word was typed, in small or capital letters: one of them, or the only one that begins with
 * it. Its index, or -ENOENT.
 */
int word_find(const char *const *words, size_t nr, const char *typed);

/*
 * The word that is most like what was typed; NULL: in each, (length + 4) / 3 letters or more are
 * wrong, by the length of what was typed.
 */
const char *word_nearest(const char *const *words, size_t nr, const char *typed);

/* For qsort(3) and bsearch(3) among pointers to texts. */
int text_compare(const void *a, const void *b);

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
