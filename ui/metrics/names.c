// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives guests their labels, and keeps what guests counted that ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "ui/metrics/metrics.h"

/* ---- what is kept of guests ---- */

/* Times of vCPUs by vCPU, or of all together. */
static void kept_add(struct kept_sums *sums, const struct fields *fields,
		     const struct stats_item *item, bool by_vcpu)
{
	const struct field *field = fields_get(fields, item->key.field);
	struct key key = { GUEST_NONE, -1, item->key.field };
	size_t at;

	if (field->kind != FIELD_COUNTER || field->use == USE_ARGUMENT || field->use == USE_CODE)
		return;
	if (by_vcpu && (field->use == USE_TIME || field->use == USE_HOST ||
			field->use == USE_INTERRUPT))
		key.vcpu = item->key.vcpu;
	at = key_index_add(&sums->index, sums->list, sizeof(*sums->list), sums->nr, &key);
	if (at == sums->nr) {
		*array_add(sums->list, sums->nr, sums->room) = (struct kept_sum){ .key = key };
	}
	sums->list[at].total += item->total;
	if (item->timing)
		timing_sum_add(&sums->list[at].timing, item->timing, true);
}

const struct kept_sum *kept_find(const struct kept_sums *sums, int32_t vcpu, uint32_t field)
{
	const struct key key = { GUEST_NONE, vcpu, field };
	uint32_t at = sums->nr ? *key_index_slot(&sums->index, sums->list, &key) : 0;

	return at ? &sums->list[at - 1] : NULL;
}

static void kept_release(struct kept_sums *sums)
{
	free(sums->list);
	key_index_release(&sums->index);
	*sums = (struct kept_sums){ .nr = 0 };
}

/* ---- guests and their labels ---- */

static struct named_guest *find_guest(const struct names *names, uint32_t id)
{
	struct named_guest *named;

	HASH_FIND(hh, names->by_id, &id, sizeof(id), named);
	return named;
}

static struct named_guest *find_label(struct names *names, const char *label)
{
	struct named_guest *named = names->by_id;

	if (strcmp(names->ended.label, label) == 0)
		return &names->ended;
	while (named && strcmp(named->label, label) != 0)
		named = named->hh.next;
	return named;
}

static void drop_label(struct named_guest *named)
{
	named->label[0] = '\0';
	free(named->shown);
	named->shown = NULL;
	named->nr_shown = named->room = 0;
	kept_release(&named->carried);
}

static void drop(struct names *names, struct named_guest *named)
{
	HASH_DEL(names->by_id, named);
	drop_label(named);
	free(named);
}

/* Whether it is one, if it has ended or ends now. */
static bool is_brief(const struct named_guest *named)
{
	return named->has_ended ? named->is_brief : !named->is_lasting || !named->label[0];
}

static void end_guest(struct named_guest *named, uint64_t now_ns)
{
	if (named->has_ended)
		return;
	named->is_brief = is_brief(named);
	named->has_ended = true;
	named->ended_ns = now_ns;
	if (named->is_brief)
		drop_label(named);
}

static void take_guest(struct names *names, const struct guest *guest, uint64_t now_ns)
{
	struct named_guest *named = find_guest(names, guest->id);

	if (!named) {
		named = xcalloc(1, sizeof(*named));
		named->id = guest->id;
		named->began_ns = now_ns;
		named->is_lasting = !names->has_begun;
		HASH_ADD(hh, names->by_id, id, sizeof(named->id), named);
	}
	named->guest = guest;
	if (guest->has_ended)
		end_guest(named, now_ns);
	named->is_lasting |= now_ns - named->began_ns >= METRICS_BRIEF_NS;
}

static void take_all(struct names *names, const struct guests *guests, uint64_t now_ns)
{
	const struct guest *guest;

	for (struct named_guest *named = names->by_id; named; named = named->hh.next)
		named->guest = NULL;
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		take_guest(names, guest, now_ns);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		take_guest(names, guest, now_ns);
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->guest)
			continue;
		end_guest(named, now_ns);
		drop_label(named);
	}
	names->has_begun = true;
}

static bool has_just_ended(const struct named_guest *named, uint64_t now_ns)
{
	return named->has_ended && now_ns - named->ended_ns < METRICS_STAY_NS;
}

/*
 * Whether a guest of this name lately ended before it had lasting series: series of a next one
 * would look as if they went on.
 */
static bool is_reserved(const struct names *names, const char *name, uint64_t now_ns)
{
	for (const struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->guest && has_just_ended(named, now_ns) && named->is_brief &&
		    strcmp(named->guest->name, name) == 0)
			return true;
	}
	return false;
}

/* The series of a guest that has ended go on with another one of its name. */
static void take_over(struct named_guest *ended, struct named_guest *named,
		      const struct facts *facts)
{
	const struct stats *stats = facts->stats;

	named->is_lasting = true;
	memcpy(named->label, ended->label, sizeof(named->label));
	named->shown = ended->shown;
	named->nr_shown = ended->nr_shown;
	named->room = ended->room;
	named->carried = ended->carried;
	ended->shown = NULL;
	ended->carried = (struct kept_sums){ .nr = 0 };
	drop_label(ended);
	for (size_t i = 0; i < stats->nr; i++) {
		if (stats->list[i].key.guest == ended->id)
			kept_add(&named->carried, facts->fields, &stats->list[i], true);
	}
}

static void give_label(struct names *names, struct named_guest *named, const struct facts *facts,
		       uint64_t now_ns)
{
	const struct guest *guest = named->guest;
	struct named_guest *owner = find_label(names, guest->name);
	char label[sizeof(named->label)];

	if (owner && owner->has_ended) {
		take_over(owner, named, facts);
		return;
	}
	if (!owner && is_reserved(names, guest->name, now_ns))
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

static void give_labels(struct names *names, const struct facts *facts, uint64_t now_ns)
{
	HASH_SORT(names->by_id, by_id);
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (!named->has_ended && !named->label[0])
			give_label(names, named, facts, now_ns);
	}
	for (struct named_guest *named = names->by_id; named; named = named->hh.next) {
		if (named->has_ended && !has_just_ended(named, now_ns))
			drop_label(named);
	}
}

/* ---- guests that ended ---- */

static bool is_guest(uint32_t id)
{
	return id != GUEST_NONE && id != STATS_ENDED;
}

/*
 * What stats have forgotten since the sample before. A guest that came and went between two samples
 * may have no name.
 */
static void take_forgotten(struct names *names, const struct facts *facts)
{
	const struct stats_item *item;

	for (size_t i = 0; (item = stats_removed_at(facts->stats, i)); i++) {
		const struct named_guest *named = find_guest(names, item->key.guest);

		if (is_guest(item->key.guest) && (!named || is_brief(named)))
			kept_add(&names->forgotten, facts->fields, item, false);
	}
}

/* What stats still have of guests that ended; a guest of which they have nothing is dropped. */
static void take_known(struct names *names, const struct facts *facts)
{
	const struct stats *stats = facts->stats;
	struct named_guest *named, *next;
	uint32_t latest = GUEST_NONE;
	bool is_added = false;

	names->all.nr = 0;
	key_index_clear(&names->all.index);
	for (size_t i = 0; i < names->forgotten.nr; i++) {
		const struct kept_sum *sum = &names->forgotten.list[i];

		array_grow_unset(&names->all.list, &names->all.room, i + 1);
		(void)key_index_add(&names->all.index, names->all.list, sizeof(*sum), i,
				    &sum->key);
		names->all.list[names->all.nr++] = *sum;
	}
	for (named = names->by_id; named; named = named->hh.next)
		named->has_keys = false;
	for (size_t i = 0; i < stats->nr; i++) {
		const struct stats_item *item = &stats->list[i];

		if (item->key.guest != latest) {
			latest = item->key.guest;
			named = find_guest(names, latest);
			if (named)
				named->has_keys = true;
			is_added = is_guest(latest) &&
				   (!named || (named->has_ended && named->is_brief));
		}
		if (is_added)
			kept_add(&names->all, facts->fields, item, false);
	}
	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		if (!named->guest && !named->has_keys)
			drop(names, named);
	}
}

void names_take(struct names *names, const struct facts *facts, uint64_t now_ns)
{
	names->ended.id = STATS_ENDED;
	strcpy(names->ended.label, "(ended)");
	take_forgotten(names, facts);
	take_all(names, facts->guests, now_ns);
	take_known(names, facts);
	give_labels(names, facts, now_ns);
}

void names_release(struct names *names)
{
	struct named_guest *named, *next;

	for (named = names->by_id; named; named = next) {
		next = named->hh.next;
		drop(names, named);
	}
	free(names->ended.shown);
	kept_release(&names->forgotten);
	kept_release(&names->all);
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
