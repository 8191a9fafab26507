/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * utf8 - characters of foreign text, how it is printed safely, and how it is cut.
 */
#ifndef KVMTOP_LIB_UTF8_H
#define KVMTOP_LIB_UTF8_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many of the left bytes (at least 1) at text are one character of valid UTF-8, and its code
 * point; 0: none are, and ret_code is untouched.
 */
size_t utf8_decode(const char *text, size_t left, uint32_t *ret_code);

/*
 * A text that does not fit into its size is cut at a character, and ends with "…". A name has eight
 * digits after that, a hash of the whole: two long names stay two.
 */
__attribute__((format(printf, 3, 4))) void text_put(char *ret_text, size_t size,
						    const char *format, ...);
__attribute__((format(printf, 3, 4))) void name_put(char *ret_name, size_t size,
						    const char *format, ...);
/* After what is there. Nothing follows a text that was cut; the digits of a name are of all. */
__attribute__((format(printf, 3, 4))) void text_add(char *text, size_t size,
						    const char *format, ...);
__attribute__((format(printf, 3, 4))) void name_add(char *name, size_t size,
						    const char *format, ...);
__attribute__((format(printf, 3, 0))) void text_vadd(char *text, size_t size,
						     const char *format, va_list args);

/*
 * Copies the len bytes at raw without the blanks at both ends, with '?' for each character that is
 * a control or invisible and each byte that is not UTF-8, cut as a name to fit, or as a text if
 * size is less than UTF8_NAME_LEAST. raw and ret_text may be the same.
 * False, with ret_text untouched, when nothing but blanks is there.
 */
#define UTF8_NAME_LEAST 64
bool utf8_clean(const char *raw, size_t len, char *ret_text, size_t size);

#endif
