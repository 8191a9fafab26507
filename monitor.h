/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monitor - providers, inventory and stats together: what the modes of the program drive.
 *
 * One direction: monitor_want() tells the providers what the query needs, monitor_sample()
 * collects and updates the stats, monitor_facts() is what views are built from. Providers that
 * cannot work, fail later, or fall short are notices, not failures, as long as another one works.
 */
#ifndef KVMTOP_MONITOR_H
#define KVMTOP_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "facts/facts.h"
#include "host/env.h"

#define MONITOR_NOTICES (1 + SAMPLE_SOURCES)

struct monitor;
struct player;
struct query;

/*
 * A recording, which outlives the monitor. Zero-initialised is none. Its players can seek: two of
 * their samples answer a question, and monitor_sample() takes both.
 */
struct monitor_recording {
	const struct player *const *players; /* NULL ends them */
	const void *recording;		     /* what they play */
	struct guests *guests;		     /* the inventory */
};

struct monitor_config {
	struct env *env; /* outlives the monitor */
	unsigned int providers; /* to open: bits, see providers/provider.h */
	/* A provider whose source is not there yet (-ENOENT: module not loaded) is waited for. */
	bool waits;
	struct monitor_recording recording; /* in place of a machine; then env is NULL */
};

/* 0; -errno with why when no provider asked for works and nothing is waited for. */
int monitor_open(const struct monitor_config *config, struct monitor **ret_monitor,
		 struct why *why);

/* Closes everything; may take seconds, see cmd/leave.h. */
void monitor_close(struct monitor *monitor);

/*
 * Counts what the query needs, from now on. Does not wait for events to be opened or closed, see
 * struct provider. The query and its filter may go as soon as it returns. 0 or -errno with why.
 */
int monitor_want(struct monitor *monitor, const struct query *query, struct why *why);

/* Whether the latest want changed what is counted; else what is known already answers it. */
bool monitor_has_new_question(const struct monitor *monitor);

/*
 * Looks for providers that are waited for. True when one has come: its fields are new, so the
 * query must be wanted again.
 */
bool monitor_revive(struct monitor *monitor);

/* Waits until all of it is being counted, at most so long. False: not yet. */
bool monitor_wait_ready(struct monitor *monitor, unsigned int timeout_ms);
bool monitor_is_ready(struct monitor *monitor);

/* Brings the inventory up to date and takes a sample. 0 or -ENOMEM. */
int monitor_sample(struct monitor *monitor);

/* Brings the inventory alone up to date, to look a guest up before the first sample. */
int monitor_find_guests(struct monitor *monitor, struct why *why);

/* Totals count from now on. */
void monitor_reset(struct monitor *monitor);

/* Valid until the next call of monitor_want() or monitor_sample(). */
const struct facts *monitor_facts(const struct monitor *monitor);

/* What the last two samples of the main source are apart; 0: there were not two. */
uint64_t monitor_elapsed_ns(const struct monitor *monitor);

/*
 * The i-th trouble, "NAME: what and why", the inventory's before the providers'; NULL past the
 * last, and there are at most MONITOR_NOTICES. That of the provider "exits" only while it is
 * wanted; that it cannot work here at all is no notice, for the views that need it say so
 * themselves:
 */
const char *monitor_notice(const struct monitor *monitor, size_t i);

/* Why the provider "exits" was never there; NULL: it was, or nobody asked for it. */
const char *monitor_no_exits(const struct monitor *monitor);

/* What counts events where there is a choice: "bpf", "perf". NULL: nothing, or no choice. */
const char *monitor_engine(const struct monitor *monitor);

/* Some provider works, i.e. has fields. */
bool monitor_is_live(const struct monitor *monitor);

/* For --list-providers: name, help, and in why, why it cannot work here; false past the last. */
bool monitor_provider(const struct env *env, size_t i, const char **ret_name, const char **ret_help,
		      int *ret_err, struct why *why);

#endif
