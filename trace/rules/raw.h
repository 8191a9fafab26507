/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw - the binary records that the rules of kvmtrace_format and its kin are about, one by
 * one and with all their words, as nothing else needs them.
 *
 * kvmtrace and xentrace: a word with the event, the number of words and whether there is a TSC;
 * kvmtrace then has pid and vCPU. A kvmtrace file of a kernel after 2.6.26 begins with a mark that
 * tells the byte order. ACRN: 32 bytes, always little endian.
 */
#ifndef KVMTOP_TRACE_RULES_RAW_H
#define KVMTOP_TRACE_RULES_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

#define RAW_WORDS 16
#define RAW_CPU_CHANGE 0x1f003 /* xentrace: the first word is the CPU of what follows */

enum raw_kind { RAW_KVMTRACE, RAW_XENTRACE, RAW_ACRN };

struct raw_layout {
	enum raw_kind kind;
	bool is_swapped;  /* the other byte order than ours */
	bool has_vm;	  /* ACRN since 2020: 4 bits each of VM, vCPU, number of words, CPU */
	size_t skip;	  /* bytes before the first record */
};

struct raw_record {
	uint64_t event;
	uint64_t tsc; /* 0 without */
	bool has_tsc;
	bool is_signed; /* the words are int64_t */
	uint32_t pid, vcpu, cpu, vm; /* 0 where the kind has none */
	uint64_t words[RAW_WORDS];   /* 0 where there are fewer */
};

/* "kvmtrace", "xentrace", "acrn"; -EINVAL: no such. */
int raw_kind_by_name(const char *name, enum raw_kind *ret_kind);

/* What these first bytes of a file are; kind: NULL where it has to be guessed. */
struct raw_layout raw_layout_of(const uint8_t *data, size_t size, const enum raw_kind *kind);

/* Decodes the record at data. Returns how many bytes it has; 0: more than there are. */
size_t raw_decode(const struct raw_layout *layout, const uint8_t *data, size_t size,
		  struct raw_record *ret_record);

/* A file that is read from its beginning to its end. */
struct raw_file;

/*
 * path "-": standard input. Reads the first bytes. Returns 0, or -errno with why: a folder is
 * refused, and without a kind what is plainly another one's: text, trace.dat, perf.data. An empty
 * file is not: kvmtrace and acrntrace make one for each CPU, also if nothing ran there.
 */
int raw_file_open(const char *path, const enum raw_kind *kind, struct raw_file **ret_file,
		  struct why *why);
void raw_file_free(struct raw_file *file);

const struct raw_layout *raw_file_layout(const struct raw_file *file);
const char *raw_file_path(const struct raw_file *file); /* for errors */
bool raw_file_is_empty(const struct raw_file *file);	 /* not even a mark was in it */

/* Bytes that were read, and of how many; 0: not known, as of a pipe. */
void raw_file_progress(const struct raw_file *file, uint64_t *ret_done, uint64_t *ret_total);

/* Whether raw_file_next() may wait for more to come in. */
bool raw_file_may_wait(const struct raw_file *file);

/*
 * The next record. Returns 1; 0 at the end; -errno with why when the file cannot be read or ends
 * within a record.
 */
int raw_file_next(struct raw_file *file, struct raw_record *ret_record, struct why *why);

#endif
