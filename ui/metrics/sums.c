// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives guests their labels, and takes what is exported from roll-ups of stats. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "ui/metrics/metrics.h"

/* ---- guests and their labels ---- */

static struct named_guest *find(const struct names *names, uint32_t id)
{
	struct named_guest *named;

	HASH_FIND(hh, names->by_id, &id, sizeof(id), named);
	return named;
}

static struct named_guest *find_label(const struct names *names, const char *label)
{
	struct named_guest *named = names->by_id;

	while (named && strcmp(named->label, label) != 0)
		named = named->hh.next;
	return named;
}

static void drop(struct names *names, struct named_guest *named)
{
	HASH_DEL(names->by_id, named);
	free(named->shown);
	free(named);
}

void names_release(struct names *names)
{
	struct named_guest *named, *next;

	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		drop(names, named);
	}
}

static void take(struct names *names, const struct guest *guest)
{
	struct named_guest *named = find(names, guest->id);

	if (!named) {
		named = xcalloc(1, sizeof(*named));
		named->id = guest->id;
		HASH_ADD(hh, names->by_id, id, sizeof(named->id), named);
	}
	named->guest = guest;
	named->has_ended = guest->has_ended;
}

static void take_all(struct names *names, const struct guests *guests)
{
	const struct guest *guest;

	for (struct named_guest *named = names->by_id; named; named = named->hh.next)
		named->guest = NULL;
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		take(names, guest);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		take(names, guest);
}

/* Drops forgotten guests, and the labels of guests that ended and were exported once more. */
static void drop_ended(struct names *names, uint64_t tick)
{
	struct named_guest *named, *next;

	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		if (!named->guest) {
			drop(names, named);
		} else if (named->is_done && named->last_tick != tick) {
			named->guest = NULL;
			named->label[0] = '\0';
			free(named->shown);
			named->shown = NULL;
			named->nr_shown = named->room = 0;
		}
	}
}

static void give_label(const struct names *names, struct named_guest *named)
{
	const struct guest *guest = named->guest;
	const struct named_guest *owner = find_label(names, guest->name);
	char label[sizeof(named->label)];

	if (owner && owner->has_ended)
		return;
	snprintf(label, sizeof(label), "%s", guest->name);
	if (owner)
		snprintf(label, sizeof(label), "%.*s (%d)", VM_NAME_SIZE - 1, guest->name,
			 (int)guest->pid);
	for (unsigned int i = 2; find_label(names, label); i++)
		snprintf(label, sizeof(label), "%.*s (%d.%u)", VM_NAME_SIZE - 1,
			 guest->name, (int)guest->pid, i);
	memcpy(named->label, label, sizeof(label));
}

static int by_id(const struct named_guest *a, const struct named_guest *b)
{
	return (a->id > b->id) - (a->id < b->id);
}

void names_update(struct names *names, const struct guests *guests, uint64_t tick)
{
	take_all(names, guests);
	drop_ended(names, tick);
	HASH_SORT(names->by_id, by_id);
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->guest && !named->label[0])
			give_label(names, named);
		if (named->guest && named->has_ended && named->label[0]) {
			named->is_done = true;
			named->last_tick = tick;
		}
		if (!named->label[0])
			named->guest = NULL;
	}
}

/* ---- what was shown ---- */

uint64_t vcpu_never_back(uint64_t whole_ns, uint64_t part_ns, uint64_t *shown_ns)
{
	uint64_t rest_ns = whole_ns > part_ns ? whole_ns - part_ns : 0;

	if (rest_ns > *shown_ns)
		*shown_ns = rest_ns;
	return *shown_ns;
}

struct vcpu_shown *vcpu_shown_of(struct named_guest *named, int32_t index, size_t at)
{
	for (size_t i = 0; i < named->nr_shown; i++) {
		struct vcpu_shown *shown = &named->shown[(at + i) % named->nr_shown];

		if (shown->index == index)
			return shown;
	}
	array_grow(&named->shown, &named->room, named->nr_shown + 1);
	named->shown[named->nr_shown].index = index;
	return &named->shown[named->nr_shown++];
}

/* ---- sums ---- */

static void forget(struct metric_sums *sums)
{
	sums->nr_guests = sums->nr_cpus = sums->nr_columns = 0;
	sums->has_lost = false;
	sums->lost = 0;
}

void metric_sums_release(struct metric_sums *sums)
{
	forget(sums);
	free(sums->guests);
	free(sums->cells);
	free(sums->columns);
	free(sums->column_of);
	free(sums->event_of);
	rollup_release(&sums->counts);
	rollup_release(&sums->times);
	*sums = (struct metric_sums){ .nr_guests = 0 };
}

/* A reason of exits, an event, or a counter of KVM's. */
static bool has_cells(const struct field *field)
{
	return (field->use == USE_EXIT && field->parent != FIELD_NONE) || field->use == USE_EVENT;
}

static void find_event(const struct metric_sums *sums, const struct fields *fields, uint32_t id)
{
	const struct field *field = fields_get(fields, id);
	uint32_t event;

	if (field->use != USE_EXIT || field->parent == FIELD_NONE || field->is_abandoned)
		return;
	event = fields_find(fields, fields_get(fields, field->parent)->listed);
	if (event == FIELD_NONE || fields_get(fields, event)->use != USE_EVENT)
		return;
	sums->event_of[id] = event;
}

static void find_columns(struct metric_sums *sums, const struct fields *fields)
{
	uint32_t nr = fields_count(fields);

	array_grow(&sums->column_of, &sums->room_fields, nr);
	array_grow(&sums->event_of, &sums->room_events, nr);
	for (uint32_t i = 0; i < nr; i++)
		sums->event_of[i] = FIELD_NONE;
	for (uint32_t i = 0; i < nr; i++) {
		find_event(sums, fields, i);
		if (!has_cells(fields_get(fields, i)))
			continue;
		array_grow(&sums->columns, &sums->room_columns, sums->nr_columns + 1);
		sums->column_of[i] = (uint32_t)sums->nr_columns;
		sums->columns[sums->nr_columns++] = i;
	}
}

static void add_guests(struct metric_sums *sums, const struct names *names)
{
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		struct guest_sum *guest;

		if (!named->guest)
			continue;
		array_grow(&sums->guests, &sums->room_guests, sums->nr_guests + 1);
		guest = &sums->guests[sums->nr_guests];
		*guest = (struct guest_sum){ .named = named };
		sums->nr_guests++;
	}
}

static void clear_cells(struct metric_sums *sums)
{
	size_t nr = (sums->nr_guests + 1) * sums->nr_columns;

	array_grow_unset(&sums->cells, &sums->room_cells, nr);
	sums->host_cells = sums->cells + sums->nr_guests * sums->nr_columns;
	for (size_t i = 0; i < sums->nr_guests; i++)
		sums->guests[i].cells = sums->cells + i * sums->nr_columns;
	for (size_t i = 0; i < nr; i++)
		sums->cells[i] = (struct cell_sum){ .is_set = false };
}

static int compare_id(const void *key, const void *element)
{
	const uint32_t *id = key;
	const struct guest_sum *guest = element;

	return (*id > guest->named->id) - (*id < guest->named->id);
}

struct guest_sum *guest_sum_of(const struct metric_sums *sums, uint32_t id)
{
	if (!sums->nr_guests)
		return NULL;
	return bsearch(&id, sums->guests, sums->nr_guests, sizeof(*sums->guests), compare_id);
}

static void add_to_cell(struct cell_sum *cell, const struct group *group)
{
	cell->is_set = true;
	cell->count = group->total;
	cell->timing = &group->timing;
}

/* An event that is also counted as exits has the sum of the exits: it is one number. */
static void add_to_cells(const struct metric_sums *sums, struct cell_sum *cells,
			 const struct group *group)
{
	uint32_t field = group->key.field;
	struct cell_sum *cell = &cells[sums->column_of[field]], *event;

	if (!cell->is_of_exits)
		add_to_cell(cell, group);
	if (sums->event_of[field] == FIELD_NONE)
		return;
	event = &cells[sums->column_of[sums->event_of[field]]];
	if (!event->is_of_exits)
		*event = (struct cell_sum){ true, true, 0, &group->timing };
	event->count += group->total;
}

/* Counts since the start, by guest and field. */
static void take_counts(struct metric_sums *sums, const struct facts *facts)
{
	uint32_t lost = fields_find(facts->fields, "lost_exits");

	rollup_begin(&sums->counts, GROUP_GUEST | GROUP_REASON);
	sums->counts.has_groups = sums->counts.is_since_start = true;
	for (size_t i = 0; i < sums->nr_columns; i++)
		field_set_add(&sums->counts.counted, sums->columns[i]);
	rollup(&sums->counts, facts);
	for (size_t i = 0; i < sums->counts.nr_groups; i++) {
		const struct group *group = &sums->counts.groups[i];
		struct guest_sum *guest = guest_sum_of(sums, group->key.guest);

		if (group->key.field == lost) {
			sums->has_lost = true;
			sums->lost += group->total;
		} else if (guest || group->key.guest == GUEST_NONE) {
			add_to_cells(sums, guest ? guest->cells : sums->host_cells, group);
		}
	}
}

/* Times since the start, by vCPU. Owners ascend by guest and vCPU; host CPUs have no guest. */
static void take_times(struct metric_sums *sums, const struct facts *facts)
{
	const struct rollup *times = &sums->times;

	rollup_begin(&sums->times, GROUP_GUEST | GROUP_VCPU);
	rollup(&sums->times, facts);
	for (size_t i = 0; i < times->nr_owners; i++) {
		const struct owner *owner = &times->owners[i];
		struct guest_sum *guest = guest_sum_of(sums, owner->key.guest);

		if (owner->key.vcpu < 0)
			continue;
		if (owner->key.guest == GUEST_NONE && !sums->nr_cpus++)
			sums->cpus = owner;
		if (guest && !guest->nr_vcpus++)
			guest->vcpus = owner;
	}
}

/* Waits since the start, by guest and the kind of what had the CPU. */
static void take_waits(struct metric_sums *sums, const struct facts *facts)
{
	const struct stats *stats = facts->stats;

	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *item = &stats->list[i];
		const struct field *field = fields_get(facts->fields, item->key.field);
		struct guest_sum *guest;

		if (field->use != USE_WAIT || field->parent == FIELD_NONE || !item->timing)
			continue;
		guest = guest_sum_of(sums, item->key.guest);
		if (guest)
			guest->wait_ns[field->part] += item->timing->total_ns;
	}
}

static uint64_t total_of(const struct facts *facts, struct key key, const char *field)
{
	const struct stats_item *item;

	key.field = fields_find(facts->fields, field);
	item = key.field == FIELD_NONE ? NULL : stats_find(facts->stats, &key);
	return item ? item->total : 0;
}

/* How long interrupts were pending, by vCPU; entering is what the other parts leave. */
static void take_interrupts(struct metric_sums *sums, const struct facts *facts)
{
	const struct stats *stats = facts->stats;
	uint32_t all = fields_find(facts->fields, "interrupts");

	for (size_t i = 0; all != FIELD_NONE && i < stats->nr; i++) {
		const struct stats_item *item = &stats->list[i];
		struct guest_sum *guest = guest_sum_of(sums, item->key.guest);
		struct vcpu_shown *shown;

		if (item->key.field != all || !item->timing || !guest)
			continue;
		shown = vcpu_shown_of(guest->named, item->key.vcpu, (size_t)item->key.vcpu);
		shown->has_interrupts = true;
		shown->interrupt_ns[0] = total_of(facts, item->key, "interrupts(waking)");
		shown->interrupt_ns[1] = total_of(facts, item->key, "interrupts(waiting)");
		(void)vcpu_never_back(item->timing->total_ns,
				      shown->interrupt_ns[0] + shown->interrupt_ns[1],
				      &shown->interrupt_ns[2]);
	}
}

void metric_sums_take(struct metric_sums *sums, const struct facts *facts,
		      const struct names *names)
{
	forget(sums);
	find_columns(sums, facts->fields);
	add_guests(sums, names);
	clear_cells(sums);
	take_counts(sums, facts);
	take_times(sums, facts);
	take_waits(sums, facts);
	take_interrupts(sums, facts);
}
