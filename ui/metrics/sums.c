// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives guests their labels, and adds up the keys of stats in one pass. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "ui/metrics/sums.h"

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

/* ---- sums ---- */

static void forget(struct metric_sums *sums)
{
	for (size_t i = 0; i < sums->nr_guests; i++) {
		free(sums->guests[i].cells);
		free(sums->guests[i].vcpus);
	}
	free(sums->host_cells);
	sums->host_cells = NULL;
	sums->nr_guests = sums->nr_cpus = sums->nr_columns = 0;
	sums->has_lost = false;
}

void metric_sums_release(struct metric_sums *sums)
{
	forget(sums);
	free(sums->guests);
	free(sums->columns);
	free(sums->column_of);
	free(sums->event_of);
	free(sums->cpus);
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
	sums->host_cells = xcalloc(sums->nr_columns + 1, sizeof(*sums->host_cells));
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
		guest->cells = xcalloc(sums->nr_columns + 1, sizeof(*guest->cells));
		sums->nr_guests++;
	}
}

static int compare_id(const void *key, const void *element)
{
	const uint32_t *id = key;
	const struct guest_sum *guest = element;

	return (*id > guest->named->id) - (*id < guest->named->id);
}

/* Keys of one guest follow each other: looked up once. NULL: the guest is not exported. */
static struct guest_sum *guest_of(const struct metric_sums *sums, uint32_t id,
				  struct guest_sum *latest)
{
	if (latest && latest->named->id == id)
		return latest;
	if (!sums->nr_guests)
		return NULL;
	return bsearch(&id, sums->guests, sums->nr_guests, sizeof(*sums->guests), compare_id);
}

/* The same of vCPUs, in the order in which they come. */
static struct vcpu_sum *vcpu_of(struct guest_sum *guest, int32_t index)
{
	struct vcpu_sum *vcpu;

	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		size_t at = (guest->latest + i) % guest->nr_vcpus;

		if (guest->vcpus[at].index == index) {
			guest->latest = at;
			return &guest->vcpus[at];
		}
	}
	array_grow(&guest->vcpus, &guest->room_vcpus, guest->nr_vcpus + 1);
	guest->latest = guest->nr_vcpus++;
	vcpu = &guest->vcpus[guest->latest];
	*vcpu = (struct vcpu_sum){ .index = index };
	return vcpu;
}

static void add_to_vcpu(struct guest_sum *guest, const struct stats_item *stat,
			const struct field *field)
{
	struct vcpu_sum *vcpu;

	if (stat->key.vcpu < 0)
		return;
	vcpu = vcpu_of(guest, stat->key.vcpu);
	if (field->use == USE_TIME) {
		vcpu->has[field->part] = true;
		vcpu->part_ns[field->part] = stat->total;
	} else {
		vcpu->has_throttled = true;
		vcpu->throttled_ns = stat->total;
	}
}

static void add_host_cpu(struct metric_sums *sums, const struct stats_item *stat)
{
	array_grow(&sums->cpus, &sums->room_cpus, sums->nr_cpus + 1);
	sums->cpus[sums->nr_cpus++] = (struct host_cpu_sum){ stat->key.vcpu, stat->total };
}

static void add_to_cell(struct cell_sum *cell, const struct stats_item *stat,
			const struct field *field)
{
	cell->is_set = true;
	if (field->kind == FIELD_PEAK)
		cell->count = stat->total > cell->count ? stat->total : cell->count;
	else
		cell->count += stat->total;
	if (!stat->timing)
		return;
	cell->ns += stat->timing->total_ns;
	cell->ended_ns += stat->timing->total_ended_ns;
	for (unsigned int i = 0; i < HIST_BUCKETS; i++)
		cell->hist[i] += stat->timing->total[i];
}

/* Of an event that is known as exits, too, the sum of the exits counts: it is one number. */
static void add_to_cells(const struct metric_sums *sums, struct cell_sum *cells,
			 const struct stats_item *stat, const struct field *field)
{
	struct cell_sum *cell = &cells[sums->column_of[stat->key.field]], *event;

	if (!cell->is_of_exits)
		add_to_cell(cell, stat, field);
	if (sums->event_of[stat->key.field] == FIELD_NONE)
		return;
	event = &cells[sums->column_of[sums->event_of[stat->key.field]]];
	if (!event->is_of_exits)
		*event = (struct cell_sum){ .is_set = true, .is_of_exits = true };
	event->count += stat->total;
}

static void add_stat(struct metric_sums *sums, const struct stats_item *stat,
		     const struct field *field, struct guest_sum *guest)
{
	if (field->use == USE_HOST && field->part == HOST_BUSY) {
		add_host_cpu(sums, stat);
		return;
	}
	if (field->use == USE_EVENT && strcmp(field->name, "lost_exits") == 0) {
		sums->has_lost = true;
		sums->lost += stat->total;
		return;
	}
	if (has_cells(field) && (guest || stat->key.guest == GUEST_ANY))
		add_to_cells(sums, guest ? guest->cells : sums->host_cells, stat, field);
	if (guest && (field->use == USE_TIME ||
		      (field->use == USE_HOST && field->part == HOST_THROTTLED)))
		add_to_vcpu(guest, stat, field);
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct vcpu_sum *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static int compare_cpus(const void *a, const void *b)
{
	const struct host_cpu_sum *x = a, *y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void sort(struct metric_sums *sums)
{
	for (size_t i = 0; i < sums->nr_guests; i++) {
		if (sums->guests[i].nr_vcpus)
			qsort(sums->guests[i].vcpus, sums->guests[i].nr_vcpus,
			      sizeof(*sums->guests[i].vcpus), compare_vcpus);
	}
	if (sums->nr_cpus)
		qsort(sums->cpus, sums->nr_cpus, sizeof(*sums->cpus), compare_cpus);
}

void metric_sums_take(struct metric_sums *sums, const struct facts *facts,
		      const struct names *names)
{
	struct guest_sum *guest = NULL;

	forget(sums);
	sums->lost = 0;
	find_columns(sums, facts->fields);
	add_guests(sums, names);
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *stat = &facts->stats->list[i];

		guest = guest_of(sums, stat->key.guest, guest);
		add_stat(sums, stat, fields_get(facts->fields, stat->key.field), guest);
	}
	sort(sums);
}
