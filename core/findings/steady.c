// SPDX-License-Identifier: GPL-2.0-or-later
/* Which findings have been there for a while, and the worst of them. */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "core/findings/steady.h"

static struct steady_finding *find(const struct steady *steady, const struct rule *rule,
				   uint32_t guest)
{
	for (size_t i = 0; i < steady->nr; i++) {
		struct steady_finding *this = &steady->list[i];

		if (this->latest.rule == rule && this->latest.guest == guest)
			return this;
	}
	return NULL;
}

static void take_one(struct steady *steady, const struct finding *finding)
{
	struct steady_finding *this = find(steady, finding->rule, finding->guest);

	if (!this) {
		array_grow(&steady->list, &steady->room, steady->nr + 1);
		this = &steady->list[steady->nr++];
		*this = (struct steady_finding){ .nr_found = 0 };
	}
	this->latest = *finding;
	this->nr_missing = 0;
	this->nr_found++;
	this->is_steady |= this->nr_found >= STEADY_SAMPLES;
}

/* A finding that is not steady yet begins anew; a steady one stays for a while. */
static void drop_missing(struct steady *steady)
{
	size_t kept = 0;

	for (size_t i = 0; i < steady->nr; i++) {
		struct steady_finding this = steady->list[i];

		if (this.nr_missing < (this.is_steady ? STEADY_SAMPLES : 1))
			steady->list[kept++] = this;
	}
	steady->nr = kept;
}

/* Names the worst steady finding, unless it is no more severe than the one that is named. */
static void choose(struct steady *steady)
{
	const struct finding *named = steady_worst(steady), *worst = named;

	for (size_t i = 0; i < steady->nr; i++) {
		const struct finding *this = &steady->list[i].latest;

		if (steady->list[i].is_steady && (!worst || finding_is_worse(this, worst)))
			worst = this;
	}
	if (named && worst->severity == named->severity)
		return;
	steady->rule = worst ? worst->rule : NULL;
	steady->guest = worst ? worst->guest : GUEST_ANY;
}

void steady_take(struct steady *steady, const struct findings *findings)
{
	for (size_t i = 0; i < steady->nr; i++)
		steady->list[i].nr_missing++;
	for (size_t i = 0; i < findings->nr; i++)
		take_one(steady, &findings->list[i]);
	drop_missing(steady);
	choose(steady);
}

const struct finding *steady_worst(const struct steady *steady)
{
	const struct steady_finding *named =
		steady->rule ? find(steady, steady->rule, steady->guest) : NULL;

	return named ? &named->latest : NULL;
}

size_t steady_count(const struct steady *steady)
{
	size_t nr = 0;

	for (size_t i = 0; i < steady->nr; i++)
		nr += steady->list[i].is_steady;
	return nr;
}

void steady_release(struct steady *steady)
{
	free(steady->list);
	*steady = (struct steady){ .rule = NULL };
}
