/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analyze - declares to static analyzers what they cannot see; `make analyze` puts it before each
 * source.
 *
 * They look at one file at a time and cannot see that errno is set after a failure, that
 * error_set() returns its argument, or how uthash works. This file says it once, so that no line of
 * the sources has to silence them. No file of the program includes it.
 */
#ifndef KVMTOP_TOOLS_ANALYZE_H
#define KVMTOP_TOOLS_ANALYZE_H

#include <errno.h>
#include <utlist.h>

#include "lib/hash.h"
#include "lib/error.h"

/*
 * errno is read after a failure only, so it is not 0 here. The numbers are real ones, because clang
 * does not conclude from x != 0 that -x != 0. They are few, because each is a path of its own. A
 * macro, because analyzers do not follow calls that are nested deeply.
 */
int analyze_choice(void);
static int analyze_number __attribute__((unused));
#undef errno
#define errno                                                      \
	(*(analyze_number = analyze_choice() == 0 ? ENOENT         \
			    : analyze_choice() == 1 ? EPERM        \
			    : analyze_choice() == 2 ? EINTR : EIO, \
	   &analyze_number))

#define error_set(error, err, ...)                          \
	__extension__({                                   \
		int analyze_err = (err);                  \
		error_set(error, analyze_err, __VA_ARGS__); \
		analyze_err;                              \
	})

/* What uthash and utlist do inside is not analyzed. */
unsigned int analyze_hash(const void *key, size_t len);
void *analyze_any(void *head);
#undef HASH_FUNCTION
#define HASH_FUNCTION(key, len, hashv) ((hashv) = analyze_hash(key, len))
#undef HASH_EXPAND_BUCKETS
#define HASH_EXPAND_BUCKETS(hh, tbl, oomed) ((void)(tbl))
#undef HASH_DELETE_HH
#define HASH_DELETE_HH(hh, head, del) ((void)(del), (head) = analyze_any(head))
#undef HASH_DELETE
#define HASH_DELETE(hh, head, del) ((void)(del), (head) = analyze_any(head))
#undef LL_DELETE
#define LL_DELETE(head, del) ((void)(del), (head) = analyze_any(head))
#undef DL_DELETE
#define DL_DELETE(head, del) ((void)(del), (head) = analyze_any(head))

/* What bpftool generates hands its memory to libbpf. */
#if __has_include(<bpf/libbpf.h>)
#include <bpf/libbpf.h>
#define bpf_object__destroy_skeleton(skeleton) free(skeleton)
#endif

#endif
