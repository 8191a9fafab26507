// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes what is exported from roll-ups of stats. */
#include <stdlib.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "ui/metrics/metrics.h"

static void forget(struct metric_sums *sums)
{
	sums->nr_guests = sums->nr_cpus = sums->nr_columns = 0;
	sums->has_lost = false;
	sums->lost = 0;
	sums->ended = (struct owner){ .key = { STATS_ENDED, -1, FIELD_ANY } };
	for (unsigned int part = 0; part < WAIT_PARTS; part++)
		sums->has_waits[part] = false;
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
		sums->column_of[i] = (uint32_t)sums->nr_columns;
		*array_add(sums->columns, sums->nr_columns, sums->room_columns) = i;
	}
}

static void add_guest(struct metric_sums *sums, struct named_guest *named)
{
	*array_add(sums->guests, sums->nr_guests, sums->room_guests) =
		(struct guest_sum){ .named = named };
}

static void add_guests(struct metric_sums *sums, struct names *names)
{
	add_guest(sums, &names->ended);
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->label[0])
			add_guest(sums, named);
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
	if (sums->nr_guests < 2)
		return NULL;
	return bsearch(&id, sums->guests + 1, sums->nr_guests - 1, sizeof(*sums->guests),
		       compare_id);
}

/* An event that is also counted as exits has the sum of the exits: it is one number. */
static void add_to_cells(struct metric_sums *sums, struct cell_sum *cells, uint32_t field,
			 uint64_t total, struct timing_sum *timing)
{
	struct cell_sum *cell = &cells[sums->column_of[field]], *event;

	if (!cell->is_of_exits) {
		if (cell->is_set && cell->timing != &sums->none)
			timing_sum_join(cell->timing, timing);
		else
			cell->timing = timing;
		cell->is_set = true;
		cell->count += total;
	}
	if (sums->event_of[field] == FIELD_NONE)
		return;
	event = &cells[sums->column_of[sums->event_of[field]]];
	if (!event->is_of_exits)
		*event = (struct cell_sum){ true, true, 0, &sums->none };
	event->count += total;
}

/* Counts since the start, by guest and field. */
static void take_counts(struct metric_sums *sums, const struct facts *facts)
{
	uint32_t lost = fields_find(facts->fields, "lost_exits");

	rollup_begin(&sums->counts, GROUP_GUEST | GROUP_REASON);
	sums->counts.is_since_start = true;
	for (size_t i = 0; i < sums->nr_columns; i++)
		field_set_add(&sums->counts.counted, sums->columns[i]);
	rollup_groups(&sums->counts, facts);
	for (size_t i = 0; i < sums->counts.nr_groups; i++) {
		struct group *group = &sums->counts.groups[i];
		struct guest_sum *guest = guest_sum_of(sums, group->key.guest);

		if (group->key.field == lost) {
			sums->has_lost = true;
			sums->lost += group->sum.total;
		} else if (guest || group->key.guest == GUEST_NONE) {
			add_to_cells(sums, guest ? guest->cells : sums->host_cells,
				     group->key.field, group->sum.total, &group->timing);
		}
	}
}

const struct sum *owner_wait(const struct owner *vcpu)
{
	return vcpu->time[TIME_WAIT].nr ? &vcpu->time[TIME_WAIT] : &vcpu->host[HOST_WAITED];
}

static void take_differences(struct metric_sums *sums)
{
	for (size_t i = 0; i < sums->nr_guests; i++) {
		const struct guest_sum *guest = &sums->guests[i];

		for (size_t j = 0; j < guest->nr_vcpus; j++) {
			const struct owner *vcpu = &guest->vcpus[j];

			if (owner_wait(vcpu)->nr)
				(void)vcpu_never_back(
					owner_wait(vcpu)->total, vcpu->host[HOST_THROTTLED].total,
					&vcpu_shown_of(guest->named, vcpu->key.vcpu, j)->wait_ns);
		}
	}
}

/* Times since the start, by vCPU. Owners ascend by guest and vCPU; host CPUs have no guest. */
static void take_times(struct metric_sums *sums, const struct facts *facts)
{
	const struct rollup *times = &sums->times;

	rollup_begin(&sums->times, GROUP_GUEST | GROUP_VCPU);
	rollup_owners(&sums->times, facts);
	for (size_t i = 0; i < times->nr_owners; i++) {
		struct owner *owner = &times->owners[i];
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

/* The sum of a guest, and of the ones that had its label before. */
static uint64_t total_of(const struct facts *facts, const struct guest_sum *guest, struct key key,
			 const char *field)
{
	const struct kept_sum *kept;
	const struct stats_item *item;

	key.field = fields_find(facts->fields, field);
	if (key.field == FIELD_NONE)
		return 0;
	item = stats_find(facts->stats, &key);
	kept = kept_find(&guest->named->carried, key.vcpu, key.field);
	return (item ? item->total : 0) + (kept ? kept->total : 0);
}

/* How long interrupts were pending, by vCPU; entering is what the other parts leave. */
static void take_interrupts(struct metric_sums *sums, const struct facts *facts)
{
	const struct stats *stats = facts->stats;
	uint32_t all = fields_find(facts->fields, "interrupts");

	for (size_t i = 0; all != FIELD_NONE && i < stats->nr; i++) {
		const struct stats_item *item = &stats->list[i];
		struct guest_sum *guest = guest_sum_of(sums, item->key.guest);
		const struct kept_sum *kept;
		struct vcpu_shown *shown;

		if (item->key.field != all || !item->timing || !guest)
			continue;
		kept = kept_find(&guest->named->carried, item->key.vcpu, all);
		shown = vcpu_shown_of(guest->named, item->key.vcpu, (size_t)item->key.vcpu);
		shown->has_interrupts = true;
		shown->interrupt_ns[0] = total_of(facts, guest, item->key, "interrupts(waking)");
		shown->interrupt_ns[1] = total_of(facts, guest, item->key, "interrupts(waiting)");
		(void)vcpu_never_back(item->timing->total_ns + (kept ? kept->timing.total_ns : 0),
				      shown->interrupt_ns[0] + shown->interrupt_ns[1],
				      &shown->interrupt_ns[2]);
	}
}

/* ---- guests that ended */

/* What a guest has had, "(ended)" has from then on: a counter must be seen at 0 before it grows. */
static void begin_ended(struct metric_sums *sums, const struct fields *fields,
			const struct guest_sum *guest)
{
	struct guest_sum *ended = &sums->guests[0];

	for (size_t i = 0; i < sums->nr_columns; i++) {
		if (guest->cells[i].is_set &&
		    fields_get(fields, sums->columns[i])->kind == FIELD_COUNTER)
			ended->cells[i] = (struct cell_sum){ true, false, 0, &sums->none };
	}
	for (size_t i = 0; i < guest->nr_vcpus; i++) {
		for (int part = 0; part < TIME_PARTS; part++)
			sums->ended.time[part].nr |= guest->vcpus[i].time[part].nr;
		for (int part = 0; part < HOST_PARTS; part++)
			sums->ended.host[part].nr |= guest->vcpus[i].host[part].nr;
	}
	for (unsigned int part = 0; part < WAIT_PARTS; part++)
		sums->has_waits[part] |= guest->wait_ns[part] != 0;
	for (size_t i = 0; i < guest->named->nr_shown; i++) {
		if (guest->named->shown[i].has_interrupts)
			vcpu_shown_of(ended->named, -1, 0)->has_interrupts = true;
	}
}

static void take_ended_interrupts(struct metric_sums *sums, const struct names *names,
				  const struct fields *fields)
{
	struct vcpu_shown *shown = NULL;
	uint64_t all_ns = 0;

	for (size_t i = 0; i < names->all.nr; i++) {
		const struct kept_sum *sum = &names->all.list[i];
		const struct field *field = fields_get(fields, sum->key.field);

		if (field->use != USE_INTERRUPT)
			continue;
		shown = vcpu_shown_of(sums->guests[0].named, -1, 0);
		if (field->part == INTERRUPT_ALL)
			all_ns = sum->timing.total_ns;
		else if (field->part == INTERRUPT_WAKING)
			shown->interrupt_ns[0] = sum->total;
		else if (field->part == INTERRUPT_WAITING)
			shown->interrupt_ns[1] = sum->total;
	}
	if (!shown)
		return;
	shown->has_interrupts = true;
	(void)vcpu_never_back(all_ns, shown->interrupt_ns[0] + shown->interrupt_ns[1],
			      &shown->interrupt_ns[2]);
}

static void add_part(struct owner *vcpu, const struct field *field, uint64_t total)
{
	struct sum *part = field->use == USE_TIME ? &vcpu->time[field->part] :
							 &vcpu->host[field->part];

	part->total += total;
	part->nr |= 1;
}

/* Adds what is kept to a guest. */
static void take_kept(struct metric_sums *sums, struct guest_sum *guest, struct kept_sum *kept,
		      const struct field *field)
{
	if (has_cells(field)) {
		add_to_cells(sums, guest->cells, kept->key.field, kept->total, &kept->timing);
	} else if (field->use == USE_WAIT && field->parent != FIELD_NONE) {
		guest->wait_ns[field->part] += kept->timing.total_ns;
	} else if (field->use == USE_TIME ||
		   (field->use == USE_HOST && field->parent == FIELD_NONE)) {
		for (size_t i = 0; i < guest->nr_vcpus; i++) {
			if (guest->vcpus[i].key.vcpu == kept->key.vcpu)
				add_part(&guest->vcpus[i], field, kept->total);
		}
	}
}

static void take_all_kept(struct metric_sums *sums, struct guest_sum *guest,
			  const struct kept_sums *kept, const struct fields *fields)
{
	for (size_t i = 0; i < kept->nr; i++)
		take_kept(sums, guest, &kept->list[i], fields_get(fields, kept->list[i].key.field));
}

static void take_ended(struct metric_sums *sums, const struct names *names,
		       const struct fields *fields)
{
	struct guest_sum *ended = &sums->guests[0];

	ended->vcpus = &sums->ended;
	ended->nr_vcpus = 1;
	for (size_t i = 1; i < sums->nr_guests; i++) {
		take_all_kept(sums, &sums->guests[i], &sums->guests[i].named->carried, fields);
		begin_ended(sums, fields, &sums->guests[i]);
	}
	take_all_kept(sums, ended, &names->all, fields);
	for (unsigned int part = 0; part < WAIT_PARTS; part++)
		sums->has_waits[part] |= ended->wait_ns[part] != 0;
	take_ended_interrupts(sums, names, fields);
}

void metric_sums_take(struct metric_sums *sums, const struct facts *facts, struct names *names)
{
	forget(sums);
	find_columns(sums, facts->fields);
	add_guests(sums, names);
	clear_cells(sums);
	take_counts(sums, facts);
	take_times(sums, facts);
	take_waits(sums, facts);
	take_interrupts(sums, facts);
	take_ended(sums, names, facts->fields);
	take_differences(sums);
}
