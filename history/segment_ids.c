// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps ids of a segment: fields by their names, guests by boot, pid and start. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "history/segment_ids.h"

/* A guest, as any segment may have it. */
struct identity {
	char boot_id[sizeof(((struct segment *)NULL)->boot_id)];
	uint64_t start_ticks;
	pid_t pid;
	uint32_t segment, guest; /* of a guest that no inventory has; else 0 */
};

struct mapped_guest {
	struct identity identity;
	uint32_t id;
	UT_hash_handle hh;
};

struct mapped_field {
	uint32_t here;	 /* its id here */
	uint32_t parent; /* its parent's id there */
	uint32_t source; /* of the field here */
	bool is_counter;
};

struct segment_ids {
	struct store store;
	struct fields *fields; /* the dictionary here; NULL: none yet */
	bool is_same;	       /* ids are the same there and here */
	uint32_t segment;      /* 0: none yet */
	struct segment of;
	struct mapped_field *map; /* by the field's id there */
	size_t nr, room;
	uint32_t *guests; /* by the guest's id there: its id here; 0: not known yet */
	size_t room_guests;
	struct mapped_guest *known;
	uint32_t last_guest;
};

struct segment_ids *segment_ids_new(struct store store, struct fields *fields)
{
	struct segment_ids *ids = xcalloc(1, sizeof(*ids));

	ids->store = store;
	ids->fields = fields;
	ids->is_same = fields;
	return ids;
}

void segment_ids_free(struct segment_ids *ids)
{
	struct mapped_guest *known, *next;

	if (!ids)
		return;
	HASH_ITER(hh, ids->known, known, next) {
		HASH_DEL(ids->known, known);
		free(known);
	}
	free(ids->map);
	free(ids->guests);
	free(ids);
}

/* ---- fields */

static uint32_t here(const struct segment_ids *ids, uint32_t field)
{
	if (ids->is_same)
		return field < fields_count(ids->fields) ? field : FIELD_NONE;
	return field < ids->nr ? ids->map[field].here : FIELD_NONE;
}

static int take_field(void *arg, uint32_t id, const struct field *field)
{
	struct segment_ids *ids = arg;
	struct field spec = *field;
	struct mapped_field *mapped;
	const struct field *known;

	if (id < ids->nr) /* the ids of a damaged file may not ascend */
		return 0;
	array_grow(&ids->map, &ids->room, (size_t)id + 1);
	while (ids->nr < id)
		ids->map[ids->nr++] = (struct mapped_field){ FIELD_NONE, FIELD_NONE, 0, true };
	mapped = &ids->map[id];
	mapped->parent = spec.parent;
	if (spec.parent != FIELD_NONE)
		spec.parent = here(ids, spec.parent);
	if (spec.reason != FIELD_NONE)
		spec.reason = here(ids, spec.reason);
	mapped->here = fields_add(ids->fields, &spec);
	ids->nr++;
	known = fields_get(ids->fields, mapped->here);
	mapped->source = known->source;
	mapped->is_counter = known->kind == FIELD_COUNTER;
	return 0;
}

/* Fields that the segment has got since they were asked for last. */
static int load_fields(struct segment_ids *ids, struct why *why)
{
	if (ids->is_same || !ids->fields)
		return 0;
	return ids->store.type->fields(ids->store.state, ids->segment, (uint32_t)ids->nr,
				       take_field, ids, why);
}

int segment_ids_load(struct segment_ids *ids, uint32_t segment, const struct segment *of,
		     struct why *why)
{
	if (segment != ids->segment) {
		ids->nr = 0;
		if (ids->room_guests)
			memset(ids->guests, 0, ids->room_guests * sizeof(*ids->guests));
	}
	ids->segment = segment;
	ids->of = *of;
	return load_fields(ids, why);
}

int segment_ids_open(struct segment_ids *ids, struct fields *fields, struct why *why)
{
	if (ids->fields == fields)
		return 0;
	ids->fields = fields;
	ids->nr = 0;
	return load_fields(ids, why);
}

uint32_t segment_ids_fields(const struct segment_ids *ids)
{
	return ids->fields ? fields_count(ids->fields) : 0;
}

bool segment_ids_has_source(const struct segment_ids *ids, uint32_t source)
{
	for (uint32_t i = 0; i < fields_count(ids->fields); i++) {
		if (fields_get(ids->fields, i)->source == source)
			return true;
	}
	return false;
}

uint32_t segment_ids_field(const struct segment_ids *ids, uint32_t field)
{
	return here(ids, field);
}

bool segment_ids_is_counter(const struct segment_ids *ids, uint32_t field)
{
	if (!ids->is_same)
		return field >= ids->nr || ids->map[field].is_counter;
	return field >= fields_count(ids->fields) ||
	       fields_get(ids->fields, field)->kind == FIELD_COUNTER;
}

uint32_t segment_ids_event(const struct segment_ids *ids, uint32_t field)
{
	uint32_t id = here(ids, field);

	if (id == FIELD_NONE || fields_get(ids->fields, id)->use != USE_EVENT)
		return FIELD_NONE;
	return ids->is_same ? fields_get(ids->fields, id)->parent : ids->map[field].parent;
}

/* ---- guests */

/* The id here of a guest of the segment. */
static uint32_t id_of(struct segment_ids *ids, const struct identity *identity)
{
	struct mapped_guest *known;

	HASH_FIND(hh, ids->known, identity, sizeof(*identity), known);
	if (known)
		return known->id;
	known = xcalloc(1, sizeof(*known));
	known->identity = *identity;
	known->id = ids->last_guest + 1;
	hash_add(ids->known, identity, known);
	return ++ids->last_guest;
}

static void map_guest(struct segment_ids *ids, const struct guest *guest)
{
	struct identity identity;

	array_grow(&ids->guests, &ids->room_guests, (size_t)guest->id + 1);
	memset(&identity, 0, sizeof(identity)); /* it is a key, with its padding */
	memcpy(identity.boot_id, ids->of.boot_id, sizeof(identity.boot_id));
	identity.start_ticks = guest->start_ticks;
	identity.pid = guest->pid;
	if (!guest->start_ticks) { /* a pid alone may be another guest's, too */
		identity.segment = ids->segment;
		identity.guest = guest->id;
	}
	ids->guests[guest->id] = id_of(ids, &identity);
}

static uint32_t guest_here(const struct segment_ids *ids, uint32_t guest)
{
	if (ids->is_same || guest == GUEST_ANY || guest == STATS_ENDED)
		return guest;
	return guest < ids->room_guests && ids->guests[guest] ? ids->guests[guest] : STATS_ENDED;
}

static void put(struct segment_ids *ids, const struct guest *from, struct guests *to)
{
	struct guest guest = *from;

	if (!ids->is_same)
		map_guest(ids, from);
	guest.id = guest_here(ids, from->id);
	guests_put(to, &guest);
}

void segment_ids_guests(struct segment_ids *ids, const struct guests *from, struct guests *to)
{
	const struct guest *guest;

	guests_clear(to);
	for (size_t i = 0; (guest = guests_ended_at(from, i)); i++)
		put(ids, guest, to);
	for (size_t i = 0; (guest = guests_at(from, i)); i++)
		put(ids, guest, to);
}

bool segment_ids_key(const struct segment_ids *ids, const struct key *key, uint32_t *ret_source,
		     struct key *ret_key)
{
	uint32_t field = here(ids, key->field);

	if (field == FIELD_NONE)
		return false;
	*ret_source = ids->is_same ? fields_get(ids->fields, field)->source :
				     ids->map[key->field].source;
	*ret_key = (struct key){ guest_here(ids, key->guest), key->vcpu, field };
	return true;
}
