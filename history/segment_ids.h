/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment_ids - maps the ids of fields and guests in a segment to the reader's.
 *
 * A guest that goes on from one segment of a machine's boot to the next has one id here.
 */
#ifndef KVMTOP_HISTORY_SEGMENT_IDS_H
#define KVMTOP_HISTORY_SEGMENT_IDS_H

#include "core/facts/field.h"
#include "history/store.h"
#include "host/guest.h"

struct segment_ids;

/* fields: the dictionary that the store's ids are of; NULL: see segment_ids_open(). */
struct segment_ids *segment_ids_new(struct store store, struct fields *fields);
void segment_ids_free(struct segment_ids *ids);

/* Fields go to this dictionary from now on, the segment's fields at once. 0 or -errno with why. */
int segment_ids_open(struct segment_ids *ids, struct fields *fields, struct why *why);

/* From now on ids are of this segment. 0 or -errno with why. */
int segment_ids_load(struct segment_ids *ids, uint32_t segment, const struct segment *of,
		     struct why *why);

/* How many fields the dictionary here has. */
uint32_t segment_ids_fields(const struct segment_ids *ids);

/* Whether the segment has a field of the source. */
bool segment_ids_has_source(const struct segment_ids *ids, uint32_t source);

/* Whether a field, by its id in the segment, is a counter. */
bool segment_ids_is_counter(const struct segment_ids *ids, uint32_t field);

/* The event that a field is a reason of, both by their ids in the segment; FIELD_NONE: of none. */
uint32_t segment_ids_event(const struct segment_ids *ids, uint32_t field);

/* The field here of a field of the segment; FIELD_NONE: it is not known. */
uint32_t segment_ids_field(const struct segment_ids *ids, uint32_t field);

/* The key here of a key of the segment, and its field's source. False: its field is not known. */
bool segment_ids_key(const struct segment_ids *ids, const struct key *key, uint32_t *ret_source,
		     struct key *ret_key);

/* Makes `to` the inventory that `from` is, under the ids here. */
void segment_ids_guests(struct segment_ids *ids, const struct guests *from, struct guests *to);

#endif
