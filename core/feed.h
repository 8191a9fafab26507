/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feed - a provider of a monitor: opened, wanted, collected from, and switched off when it fails.
 * Its notice says what is wrong.
 */
#ifndef KVMTOP_CORE_FEED_H
#define KVMTOP_CORE_FEED_H

#include "lib/error.h"
#include "core/provider.h"

struct feed {
	const struct provider *provider;
	struct provider_args args;
	bool is_aside; /* see monitor_config.asides */
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
