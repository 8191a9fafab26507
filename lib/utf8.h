/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * utf8 - text of others: what of it are characters, and how it is printed safely.
 */
#ifndef KVMTOP_LIB_UTF8_H
#define KVMTOP_LIB_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
