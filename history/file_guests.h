/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * file_guests - the guests of a writer's segment, for the rows about them.
 */
#ifndef KVMTOP_HISTORY_FILE_GUESTS_H
#define KVMTOP_HISTORY_FILE_GUESTS_H

#include "host/guest.h"

struct file_guest {
	struct guest guest; /* without its vcpus */
	uint64_t first_s, last_s; /* when it was seen, in seconds since 1970 */
	bool is_known;	/* it is in the latest inventory, alive or ended */
	bool is_changed; /* its row is not as in the file */
	bool came, ended; /* and there is no note of that yet */
};

/* Zero-initialised: no inventory was seen. */
struct file_guests {
	struct file_guest *list; /* ascending by id */
	size_t nr, room;
	bool has_any; /* an inventory was seen; the guests of the first one did not come */
};

/* Takes a new inventory, or with NULL the old one, at this time. */
void file_guests_update(struct file_guests *guests, const struct guests *inventory,
			uint64_t time_ns);

/* Everything is in the file now; or with false nothing is, as it is a new one. */
void file_guests_written(struct file_guests *guests, bool is_written);

void file_guests_release(struct file_guests *guests);

#endif
