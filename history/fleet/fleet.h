/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet - what a Prometheus has of many hosts, as a store of moments (history/store.h).
 *
 * A moment is there for each multiple of the interval. A thread queries the server for moments that
 * are wanted; what came stays in memory. Of all hosts each is a guest, and each host is a segment
 * of its own, see struct store_type's enter.
 */
#ifndef KVMTOP_HISTORY_FLEET_FLEET_H
#define KVMTOP_HISTORY_FLEET_FLEET_H

#include "history/fleet/http.h"
#include "history/store.h"

struct fleet_config {
	const char *url; /* see http_open() */
	const struct http_access *access;
	double interval_s; /* 0: as the hosts are scraped */
	unsigned int timeout_s; /* how long an answer may take */
};

struct fleet;

/*
 * Queries the server for the time and how the hosts are scraped, and waits for the answers. 0, or
 * -errno with error.
 */
int fleet_open(const struct fleet_config *config, struct fleet **ret_fleet, struct error *error);
void fleet_close(struct fleet *fleet); /* NULL is fine; does not wait for the server */

/*
 * How long a reader waits for moments; then it goes on without, see -EAGAIN. Before this is called,
 * it waits for the answer.
 */
void fleet_set_patience(struct fleet *fleet, unsigned int ms);

/* Valid as long as the fleet. Reads are -EAGAIN with error where the server has not answered. */
struct store fleet_store(struct fleet *fleet);

#endif
