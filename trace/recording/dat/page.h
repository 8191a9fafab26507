/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page - one page of the kernel's ring buffer, record by record.
 *
 * A page has its time, the number of bytes in use, and records. Each record begins with a word: 5
 * bits say what it is, 27 bits are the time since the record before.
 *
 *	0	an event; its size is in the next word
 *	1-28	an event of so many words
 *	29	padding: of the size in the next word, or without a time up to the end
 *	30	a longer time since the record before: the next word has the higher bits
 *	31	the time itself, of which the highest five bits are the page's
 *
 * Nothing is read outside of the page, and each step goes forward. trace-cmd, the kernel's
 * trace_pipe_raw and kvmtop record write such pages.
 *
 * Source: the kernel's kernel/trace/ring_buffer.c, include/linux/ring_buffer.h.
 */
#ifndef KVMTOP_TRACE_RECORDING_DAT_PAGE_H
#define KVMTOP_TRACE_RECORDING_DAT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

struct page {
	uint64_t time; /* of the current event; before the first one, of the page */
	int64_t missed; /* events that are missing before the page; 0: none, -1: some */
	const uint8_t *data; /* the current event */
	uint32_t size;	     /* bytes of data */
	const uint8_t *at, *end; /* the part that was not read yet */
	bool swap, is_big_endian;
};

/* Of what the page was written on. */
struct page_format {
	uint32_t size; /* bytes of a page */
	bool is_32bit, is_big_endian;
};

/* Begins a page of format->size bytes, which must outlive it. False: it is damaged. */
bool page_begin(struct page *page, const struct page_format *format, const uint8_t *bytes);

/* Sets the current event to the next one: 1, 0 at the end, or -EINVAL at a damaged record. */
int page_next(struct page *page);

#endif
