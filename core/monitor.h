/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * monitor - the providers, or the players of a recording, with the guests and the stats.
 *
 * monitor_want() gives the providers what a query needs, monitor_sample() collects a sample and
 * updates the stats, monitor_facts() gives what views are built from. A provider that cannot work,
 * fails later, or misses something is a notice, and no failure as long as another one works.
 */
#ifndef KVMTOP_CORE_MONITOR_H
#define KVMTOP_CORE_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/error.h"
#include "host/env.h"
#include "core/facts/facts.h"
#include "core/provider.h"

#define MONITOR_NOTICES (1 + SAMPLE_SOURCES)

struct monitor;
struct query;

/* What a history has besides what is always counted, for these views: it costs guests more. */
enum keep { KEEP_HOTSPOTS, KEEP_WHO, KEEP_WHERE, KEEP_INTERRUPTS, KEEP_LONG, KEEPS };

/*
 * A recording, which outlives the monitor. Zero-initialised is none. Its players can rewind:
 * monitor_sample() takes all samples that answer a want.
 */
struct monitor_recording {
	const void *recording; /* what the players play */
	struct guests *guests; /* the inventory */
	struct fields *fields; /* the dictionary; NULL: one of its own */
	const struct long_exits *long_exits; /* NULL: samples have them */
};

struct monitor_config {
	struct env *env; /* outlives the monitor; NULL: the recording below is played */
	const struct provider *const *list; /* of providers, or of players; NULL ends it */
	unsigned int providers; /* to open: bits, see core/provider.h; of a recording all are */
	/* The optional ones among them: useless alone; when they fail silent, unless asked for. */
	unsigned int asides, asked;
	struct provider_options options;
	bool waits; /* for a provider that is not there yet (-ENOENT: the module is not loaded) */
	/*
	 * Count events and exits whatever the query needs, for a look back at what no query asked
	 * for.
	 */
	bool counts_all;
	unsigned int keeps; /* a bit for each enum keep */
	struct monitor_recording recording;
	/* What a recording's facts describe; see struct facts. */
	enum source_kind source;
	bool is_span;
	enum time_unit unit;
	enum cost cost; /* that chose the providers; see struct facts */
};

/* 0, or -errno with error: no provider of the set works, and none is waited for. */
int monitor_open(const struct monitor_config *config, struct monitor **ret_monitor,
		 struct error *error);

/* Closes everything; may take seconds, see kvmtop.c. */
void monitor_close(struct monitor *monitor);

/*
 * Counts what the query needs, from now on. Does not wait until events are open or closed, see
 * struct provider. The query and its filter are not used after the call. If a provider fails
 * there is a notice, and the other providers count its fields if they can. 0, or -errno with error:
 * no provider is left.
 */
int monitor_want(struct monitor *monitor, const struct query *query, struct error *error);

/*
 * Whether the query would make all counts begin anew, as with another filter: what was counted
 * since the latest sample would be lost. A view that needs more leaves what is counted as it is.
 */
bool monitor_begins_anew(struct monitor *monitor, const struct query *query);

/* Whether the latest monitor_want() has more to count; if not, the facts answer it. */
bool monitor_has_new_counts(const struct monitor *monitor);

/*
 * Tries again to open the providers that are waited for. True: one was opened, and its fields are
 * new, so monitor_want() must be called again.
 */
bool monitor_revive(struct monitor *monitor);

/* Whether everything that is wanted is being counted. */
bool monitor_is_ready(struct monitor *monitor);

/* Brings the guests up to date and takes a sample. */
void monitor_sample(struct monitor *monitor);

/* Between two samples: what is measured of a vCPU's thread is measured soon after it begins. */
void monitor_look(struct monitor *monitor);

/* The next monitor_sample() takes the one sample of a recording that follows the latest. */
void monitor_go_on(struct monitor *monitor);

/* Brings only the guests up to date, to find one before the first sample. */
int monitor_find_guests(struct monitor *monitor, struct error *error);

/* Totals begin at 0 again. */
void monitor_reset(struct monitor *monitor);

/* Valid until the next call of monitor_want() or monitor_sample(). */
const struct facts *monitor_facts(const struct monitor *monitor);

/* The dictionary, for a monitor that shares it. */
struct fields *monitor_fields(struct monitor *monitor);

/* The time between the last two samples of the first source that has two, asides last; 0: none. */
uint64_t monitor_elapsed_ns(const struct monitor *monitor);

/*
 * The i-th notice, "NAME: what is wrong and why", the guests' before the providers'; NULL past the
 * last one, of at most MONITOR_NOTICES. The provider "exits" has one only while its fields are
 * wanted.
 */
const char *monitor_notice(const struct monitor *monitor, size_t i);

/*
 * Why the provider "exits" could not be opened, or failed before its first sample. NULL: it did
 * not, or it is not in the set. This is no notice: the views that need exits say it.
 */
const char *monitor_no_exits(const struct monitor *monitor);

/*
 * The i-th source that was chosen, and whether it counts; one that replaces a source that counts
 * is left out. False past the last one.
 */
bool monitor_source(const struct monitor *monitor, size_t i, const char **ret_name,
		    bool *ret_is_up);

/* What counts events where there is a choice: "bpf", "perf". NULL: nothing, or no choice. */
const char *monitor_engine(const struct monitor *monitor);

/* Whether a provider is open, so that there are fields. */
bool monitor_is_live(const struct monitor *monitor);

/*
 * ---- a provider of a monitor: opened, wanted, collected from, and switched off when it fails; its
 * notice says what is wrong
 */

struct feed {
	const struct provider *provider;
	struct provider_args args;
	bool is_aside, is_asked; /* see monitor_config.asides */
	bool is_open, has_collected;
	bool is_waiting; /* it is not there yet; monitor_revive() tries again */
	char notice[sizeof(struct error) + 32]; /* "": none */
	size_t nr_samples; /* of a player, for its want; 0: it cannot rewind */

	/* feed.c's own: */
	void *state;
	unsigned int nr_failures; /* of collect(), in a row */
	bool has_want;
	struct want want;   /* the latest */
	uint32_t nr_fields; /* so many there were then */
};

/* Opens it, or leaves it waiting or failed with its notice set. */
int feed_open(struct feed *feed, bool waits);
void feed_close(struct feed *feed);

/* Sets the notice, "tracepoint: TEXT"; "": none. */
void feed_say(struct feed *feed, const char *text);

/*
 * Passes the part of a want that is about its fields, if that has changed or is_new is set: each
 * call makes the feed begin anew, and exits that have just begun are lost. Returns whether it was
 * passed. A feed that cannot do it is closed.
 */
bool feed_want(struct feed *feed, const struct want *all, bool is_new);

/* Lets it take note of new threads, if it is open and wanted. */
void feed_look(const struct feed *feed);

/* Adds its rows, if it is open. A feed that fails too often is closed. */
void feed_collect(struct feed *feed, struct sample *sample);

/* Whether it is the provider of exits, and could not be opened, or failed before a sample. */
bool feed_has_no_exits(const struct feed *feed);

/*
 * For --list-providers: tries a provider. 0: error has how it counts where kernels differ; -errno:
 * error has why it cannot work here.
 */
int provider_try(const struct provider *provider, const struct env *env,
		 const struct provider_options *options, struct error *error);

#endif
