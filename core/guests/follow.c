// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists that follow the inventory. */
#include <stdlib.h>
#include <string.h>

#include "core/guests/follow.h"
#include "lib/number.h"
#include "lib/xalloc.h"

static void *item_at(const struct follow *follow, void *list, size_t i)
{
	return (char *)list + i * follow->size;
}

static int compare(const void *a, const void *b)
{
	const struct followed *x = a, *y = b;

	return compared(x->guest, y->guest) ?: compared(x->vcpu, y->vcpu) ?:
	       compared(x->tid, y->tid);
}

static size_t add_guest(const struct follow *follow, const struct guest *guest, void *list,
			size_t nr)
{
	struct followed *item;

	for (size_t i = 0; i < (follow->of_vcpus ? guest->nr_vcpus : 1); i++) {
		const struct vcpu *vcpu = follow->of_vcpus ? &guest->vcpus[i] : NULL;

		if (vcpu && !vcpu->tid)
			continue;
		item = item_at(follow, list, nr++);
		*item = (struct followed){ guest->id, vcpu ? vcpu->index : -1,
					   vcpu ? vcpu->tid : 0, guest->pid };
	}
	return nr;
}

/* Takes over what is there still. Both lists are in order. */
static void replace(struct follow *follow, void *list, size_t nr)
{
	const void *turn = item_at(follow, follow->list, follow->next);
	size_t old = 0, new = 0, next = 0;

	while (old < follow->nr || new < nr) {
		void *from = item_at(follow, follow->list, old), *to = item_at(follow, list, new);
		int order = old == follow->nr ? 1 : new == nr ? -1 : compare(from, to);

		if (order == 0)
			memcpy(to, from, follow->size);
		else if (order < 0 && follow->drop)
			follow->drop(follow->arg, from);
		else if (order > 0 && follow->begin)
			follow->begin(follow->arg, to);
		if (order >= 0 && follow->nr && compare(to, turn) < 0)
			next++;
		old += order <= 0;
		new += order >= 0;
	}
	free(follow->list);
	follow->list = list;
	follow->nr = nr;
	follow->next = next < nr ? next : 0;
}

bool follow_update(struct follow *follow)
{
	uint64_t generation = guests_generation(follow->guests) + 1;
	const struct guest *guest;
	size_t nr = 0;
	void *list;

	if (follow->generation == generation)
		return false;
	follow->generation = generation;
	list = xcalloc((follow->of_vcpus ? guests_count_vcpus(follow->guests) :
					   guests_count(follow->guests)) + 1, follow->size);
	for (size_t i = 0; (guest = guests_at(follow->guests, i)); i++)
		nr = add_guest(follow, guest, list, nr);
	qsort(list, nr, follow->size, compare);
	replace(follow, list, nr);
	return true;
}

void *follow_find(const struct follow *follow, uint32_t guest)
{
	const struct followed sought = { .guest = guest, .vcpu = -1 };

	return follow->nr ? bsearch(&sought, follow->list, follow->nr, follow->size, compare) :
			    NULL;
}

void *follow_take_turn(struct follow *follow)
{
	void *item = item_at(follow, follow->list, follow->next);

	follow->next = (follow->next + 1) % follow->nr;
	return item;
}

void follow_release(struct follow *follow)
{
	for (size_t i = 0; i < follow->nr && follow->drop; i++)
		follow->drop(follow->arg, item_at(follow, follow->list, i));
	free(follow->list);
	follow->list = NULL;
	follow->nr = 0;
}
