/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring - a tracefs instance of our own: rings of KVM events, one per CPU, and what is read
 * from them.
 *
 * The instance is called kvmtop-PID, so that one whose process was killed can be known and removed
 * by the next. The top instance and those of others are never touched. Full pages are moved
 * (splice) from each ring to a file that has no name.
 */
#ifndef KVMTOP_TRACE_RECORD_RING_H
#define KVMTOP_TRACE_RECORD_RING_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "trace/record/pages.h"

/* Events to record, and which of them. */
struct ring_choice {
	const char *pattern; /* "kvm_exit", "kvm_*", "kvmmmu:*" */
	const char *filter;  /* the kernel's, for each event that matches; NULL: all */
};

struct ring_config {
	const char *tracefs; /* where it is mounted */
	const struct ring_choice *choices;
	size_t nr_choices; /* 0: all events of all systems of KVM but kvmmmu */
	const char *filter; /* with 0 choices: as above */
	const char *clock; /* NULL: the kernel's choice */
	unsigned long kib;   /* per CPU; 0: the kernel's choice */
	const pid_t *tids;   /* only what these threads and their children do; nr 0: all */
	size_t nr_tids;
	const char *folder;  /* where the files without a name are */
};

struct ring_event {
	char *system, *name;
};

/* What the kernel counted over all CPUs. */
struct ring_counts {
	uint64_t read; /* events that were read, in whole pages */
	uint64_t lost; /* overwritten or dropped because a ring was full */
};

struct ring;

/* Removes what killed recorders left, and makes an instance that does not record yet. */
int ring_new(const struct ring_config *config, struct ring **ret_ring, struct why *why);

/* Removes the instance. Takes NULL. */
void ring_free(struct ring *ring);

int ring_begin(struct ring *ring, struct why *why);
void ring_end(struct ring *ring);

/* Moves what is in full pages. Returns 0, or -errno with why; what had been moved stays. */
int ring_drain(struct ring *ring, struct why *why);

/* After ring_end(): moves all that is left. */
int ring_drain_rest(struct ring *ring, struct why *why);

/* What to wait for; nr_cpus of them. */
void ring_pollfds(const struct ring *ring, struct pollfd *fds);

/* Bytes that were moved. */
uint64_t ring_bytes(const struct ring *ring);

void ring_count(const struct ring *ring, struct ring_counts *ret_counts);

const struct ring_event *ring_events(const struct ring *ring, size_t *ret_nr);

/* What was moved, by CPU; nr_cpus of them. */
struct pages *ring_pages(struct ring *ring, size_t *ret_nr);

/* A small file of the instance: "trace_clock", "per_cpu/cpu0/stats". To be freed; NULL: none. */
char *ring_read(const struct ring *ring, const char *file);

#endif
