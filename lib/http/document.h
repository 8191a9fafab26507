/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * document - what a server sends: bytes that several clients may be reading, slowly.
 */
#ifndef KVMTOP_LIB_HTTP_DOCUMENT_H
#define KVMTOP_LIB_HTTP_DOCUMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct document {
	atomic_uint nr_holders;
	const char *type; /* Content-Type */
	bool is_gzip;
	size_t size;
	char bytes[];
};

/* A copy of the bytes, compressed or as they are, with one holder. */
struct document *document_new(const char *type, const char *bytes, size_t size, bool is_gzip);

struct document *document_hold(struct document *document); /* returns it; NULL is fine */
void document_drop(struct document *document); /* the last one frees it; NULL is fine */

#endif
