// SPDX-License-Identifier: GPL-2.0-or-later
/* Labels are a stranger's: series of unknown guests, reasons and vCPUs have limits in number. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "core/facts/shared_fields.h"
#include "history/fleet/scope.h"

#define NS_PER_S 1e9
#define LABEL_SIZE GUEST_NAME_SIZE
#define FIELDS_MAX 4096
#define VCPUS_MAX 4096
#define LINES_MAX 120000 /* of 2,000 hosts with 60 numbers each; take 200 MB in all */
#define LINES_BYTES ((size_t)64 << 20)
#define NUMBER_MAX 9e18 /* llround() can round it */

void lines_init(struct lines *lines)
{
	static const struct exit_events usual;
	struct fields *fields = lines->fields;
	/* Not all hosts have the other parts: see take_seconds(). */
	unsigned int parts = EXIT_FIELDS_PARTS & ~(EXIT_FIELDS_AWAY | 1U << TIME_POLL);

	exit_fields_add(fields, PROVIDER_EXITS, &usual, parts, &lines->exits);
	lines->waited = host_fields_add_part(fields, PROVIDER_HOST, HOST_WAITED);
	lines->throttled = host_fields_add_part(fields, PROVIDER_HOST, HOST_THROTTLED);
	if (lines->is_all)
		lines->guests = host_fields_add_part(fields, PROVIDER_HOST, HOST_GUESTS);
	lines->finding = host_fields_add_part(fields, PROVIDER_HOST, HOST_FINDING);
}

static void line_free(struct line *line)
{
	free(line->counts);
	free(line);
}

void lines_clear(struct lines *lines)
{
	hash_free(lines->lines, line_free);
	lines->nr_lines = 0;
	lines->size = 0;
}

static void member_free(struct member *member)
{
	free(member->guest.vcpus);
	free(member);
}

void lines_release(struct lines *lines)
{
	lines_clear(lines);
	hash_free(lines->members, member_free);
}

void lines_begin(struct lines *lines, uint64_t first, unsigned int nr)
{
	lines_clear(lines);
	for (struct member *member = lines->members; member; member = member->hh.next)
		memset(member->is_there, 0, sizeof(member->is_there));
	lines->first = first;
	lines->nr = nr;
}

static struct member *member_of(struct lines *lines, const struct answer_series *series)
{
	struct member *member;
	char label[LABEL_SIZE] = "";

	if (!answer_label(series, lines->is_all ? "instance" : "guest", label, sizeof(label)))
		return NULL;
	HASH_FIND_STR(lines->members, label, member);
	if (member || HASH_COUNT(lines->members) == MEMBERS_MAX)
		return member;
	member = xcalloc(1, sizeof(*member));
	/* Members differ by their start, as processes do: it is the same in all moments. */
	lines->last_member++;
	member->guest = (struct guest){ .id = lines->last_member,
					.start_ticks = lines->last_member, .is_named = true };
	memcpy(member->guest.name, label, sizeof(label));
	HASH_ADD_STR(lines->members, guest.name, member);
	return member;
}

/* Counts the bytes that a line is about to take. */
static int count_size(struct lines *lines, size_t size)
{
	if (lines->size + size > LINES_BYTES)
		return -EFBIG;
	lines->size += size;
	return 0;
}

static int line_of(struct lines *lines, struct key of, struct line **ret_line)
{
	size_t size = sizeof(struct line) + lines->nr * sizeof(struct line_cell);
	struct key key;
	struct line *line;
	int err;

	memset(&key, 0, sizeof(key)); /* it is a key of bytes */
	key.guest = of.guest;
	key.vcpu = of.vcpu;
	key.field = of.field;
	HASH_FIND(hh, lines->lines, &key, sizeof(key), line);
	if (!line) {
		err = lines->nr_lines == LINES_MAX ? -EFBIG : count_size(lines, size);
		if (err)
			return err;
		line = xcalloc(1, size);
		line->key = key;
		hash_add(lines->lines, key, line);
		lines->nr_lines++;
	}
	*ret_line = line;
	return 0;
}

/* Which cell a point belongs to. False: to none. */
static bool point_at(const struct lines *lines, const struct answer_series *series, size_t i,
		     unsigned int *ret_cell, double *ret_value)
{
	uint64_t time_ns, at;

	if (!answer_point(series, i, &time_ns, ret_value))
		return false;
	at = (time_ns + lines->step_ns / 2) / lines->step_ns;
	if (at < lines->first || at - lines->first >= lines->nr)
		return false;
	*ret_cell = (unsigned int)(at - lines->first);
	return true;
}

/* How the points of a series are taken. */
struct measure {
	bool is_ns;   /* seconds, of which the cell has ns; else a count */
	bool is_time; /* seconds, which are what the key counts */
};

/* Adds the points to the line; of rates, what happened in a step. */
static void add_points(const struct lines *lines, const struct answer_series *series,
		       struct line *line, struct measure measure)
{
	double factor = measure.is_ns || measure.is_time ? NS_PER_S : 1, value;
	unsigned int cell;

	if (lines->is_all)
		factor *= (double)lines->step_ns / NS_PER_S;
	for (size_t i = 0; i < answer_points(series); i++) {
		if (!point_at(lines, series, i, &cell, &value) || value * factor > NUMBER_MAX)
			continue;
		if (measure.is_ns) {
			line->is_timed = true;
			line->cells[cell].ns += (uint64_t)llround(value * factor);
		} else {
			line->cells[cell].has_count = true;
			line->cells[cell].count += (uint64_t)llround(value * factor);
		}
	}
}

static int add_to(struct lines *lines, const struct answer_series *series, struct key key,
		  struct measure measure)
{
	struct line *line;
	int err = line_of(lines, key, &line);

	if (!err)
		add_points(lines, series, line, measure);
	return err;
}

/* Whether a reason means that the vCPU has nothing to do, on any architecture. */
static bool is_idle(const char *reason)
{
	size_t len = strlen(reason), mark = strlen(EXIT_FIELDS_L2);

	if (len > mark && strcmp(reason + len - mark, EXIT_FIELDS_L2) == 0)
		len -= mark;
	for (size_t i = 0; arch_at(i); i++) {
		for (const struct split *split = arch_at(i)->splits; split && split->event;
		     split++) {
			for (size_t j = 0; j < split->nr_reasons; j++) {
				const struct reason *known = &split->reasons[j];

				if (known->flags & REASON_IDLE && strlen(known->name) == len &&
				    strncmp(known->name, reason, len) == 0)
					return true;
			}
		}
	}
	return false;
}

/* Whether the parent has the child, or may get it: a field that is known stays known. */
static bool may_have(const struct lines *lines, uint32_t parent, const char *label)
{
	char name[LABEL_SIZE + 16];

	if (fields_count(lines->fields) < FIELDS_MAX)
		return true;
	snprintf(name, sizeof(name), "%s(%s)", fields_get(lines->fields, parent)->name, label);
	return fields_find(lines->fields, name) != FIELD_NONE;
}

static int take_exits(struct lines *lines, const struct answer_series *series, bool is_ns)
{
	struct member *member = member_of(lines, series);
	const struct measure measure = { .is_ns = is_ns };
	char reason[LABEL_SIZE];
	uint32_t field;
	int err = 0;

	if (!member || !answer_label(series, "reason", reason, sizeof(reason)) ||
	    !may_have(lines, lines->exits.parents[EXITS_VMEXIT], reason))
		return 0;
	field = exit_fields_reason(&lines->exits, EXITS_VMEXIT, reason, NULL, is_idle(reason));
	err = add_to(lines, series, (struct key){ member->guest.id, -1, field }, measure);
	return err ? err : add_to(lines, series,
				  (struct key){ member->guest.id, -1,
						lines->exits.parents[EXITS_VMEXIT] }, measure);
}

/*
 * The exporter's modes, and the parts of a vCPU's time that they are. "throttled" is a part of
 * waiting that the exporter keeps apart; "cpu", of hosts that do not time exits, is in the whole
 * alone.
 */
static const struct mode {
	const char *name;
	enum time_part part;
} modes[] = {
	{ "guest", TIME_GUEST }, { "kvm", TIME_KVM },	  { "user", TIME_USER },
	{ "poll", TIME_POLL },	 { "idle", TIME_IDLE },	  { "block", TIME_BLOCK },
	{ "wait", TIME_WAIT },	 { "throttled", TIME_WAIT },
	{ "cpu", TIME_WHOLE },
};

static void add_vcpu(struct member *member, int32_t index)
{
	struct guest *guest = &member->guest;
	size_t at = guest->nr_vcpus;

	if (guest_vcpu(guest, index))
		return;
	array_grow(&guest->vcpus, &member->room_vcpus, guest->nr_vcpus + 1);
	for (; at && guest->vcpus[at - 1].index > index; at--)
		guest->vcpus[at] = guest->vcpus[at - 1];
	guest->vcpus[at] = (struct vcpu){ .index = index };
	guest->nr_vcpus++;
}

/* The vCPU of a series; -1: of all hosts, a sum. False: it has none. */
static bool vcpu_of(const struct lines *lines, const struct answer_series *series,
		    int32_t *ret_vcpu)
{
	char text[LABEL_SIZE], *end;
	long vcpu;

	*ret_vcpu = -1;
	if (lines->is_all)
		return true;
	if (!answer_label(series, "vcpu", text, sizeof(text)))
		return false;
	vcpu = strtol(text, &end, 10);
	*ret_vcpu = (int32_t)vcpu;
	return end != text && !*end && vcpu >= 0 && vcpu < VCPUS_MAX;
}

static int take_seconds(struct lines *lines, const struct answer_series *series)
{
	struct member *member = member_of(lines, series);
	const struct measure measure = { .is_time = true };
	const struct mode *mode = NULL;
	char name[LABEL_SIZE];
	struct key key;
	int32_t vcpu;
	int err;

	if (!member || !answer_label(series, "mode", name, sizeof(name)) ||
	    !vcpu_of(lines, series, &vcpu))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(modes[i].name, name) == 0)
			mode = &modes[i];
	}
	if (!mode)
		return 0;
	if (vcpu >= 0)
		add_vcpu(member, vcpu);
	if (lines->exits.times[mode->part] == FIELD_NONE)
		exit_fields_add_part(&lines->exits, mode->part);
	key = (struct key){ member->guest.id, vcpu, lines->exits.times[TIME_WHOLE] };
	err = add_to(lines, series, key, measure);
	key.field = lines->exits.times[mode->part];
	if (!err && mode->part != TIME_WHOLE)
		err = add_to(lines, series, key, measure);
	key.field = lines->waited;
	if (!err && mode->part == TIME_WAIT)
		err = add_to(lines, series, key, measure);
	if (!err && strcmp(name, "throttled") == 0)
		err = add_to(lines, series,
			     (struct key){ member->guest.id, vcpu, lines->throttled }, measure);
	return err;
}

/* The points of a series that is a level, and the only one of its line. */
static void take_levels(const struct lines *lines, const struct answer_series *series,
			struct line *line)
{
	unsigned int cell;
	double value;

	for (size_t i = 0; i < answer_points(series); i++) {
		if (!point_at(lines, series, i, &cell, &value))
			continue;
		line->cells[cell].has_count = true;
		line->cells[cell].count = (uint64_t)value;
	}
}

/* A guest is there when it has an info; a host, when it has guests. */
static int take_member(struct lines *lines, const struct answer_series *series)
{
	struct member *member = member_of(lines, series);
	struct guest *guest = member ? &member->guest : NULL;
	char pid[LABEL_SIZE] = "";
	struct line *line;
	unsigned int cell;
	double value;
	int err;

	if (!member)
		return 0;
	if (!lines->is_all) {
		if (answer_label(series, "pid", pid, sizeof(pid)))
			guest->pid = (pid_t)strtol(pid, NULL, 10);
		answer_label(series, "vmm", guest->vmm, sizeof(guest->vmm));
		for (unsigned int i = 0; i < GUEST_WORDS; i++)
			answer_label(series, guest_word_names[i], guest->words.text[i],
				     sizeof(guest->words.text[i]));
	} else {
		err = line_of(lines, (struct key){ member->guest.id, -1, lines->guests }, &line);
		if (err)
			return err;
		take_levels(lines, series, line);
	}
	for (size_t i = 0; i < answer_points(series); i++) {
		if (point_at(lines, series, i, &cell, &value))
			member->is_there[cell] = true;
	}
	return 0;
}

/* A finding without a guest is about all guests of its host. */
static int take_finding(struct lines *lines, const struct answer_series *series)
{
	char guest[LABEL_SIZE] = "", rule[LABEL_SIZE];
	bool has_member = lines->is_all || (answer_label(series, "guest", guest, sizeof(guest)) &&
					    guest[0]);
	const struct member *member = has_member ? member_of(lines, series) : NULL;
	struct line *line;
	uint32_t field;
	int err;

	if (has_member != (member != NULL) || !answer_label(series, "rule", rule, sizeof(rule)) ||
	    !may_have(lines, lines->finding, rule))
		return 0;
	field = host_fields_add_child(lines->fields, lines->finding, rule);
	err = line_of(lines, (struct key){ member ? member->guest.id : GUEST_NONE, -1, field },
		      &line);
	if (!err)
		take_levels(lines, series, line);
	return err;
}

/* ---- histograms: of a guest's exits without halts */

/* The bucket that ends at an edge. HIST_BUCKETS: none does. */
static unsigned int bucket_of(const char *edge)
{
	double ns = strtod(edge, NULL) * NS_PER_S;
	unsigned int i = 0;

	if (isinf(ns))
		return HIST_BUCKETS - 1;
	while (i < HIST_BUCKETS - 1 && fabs((double)hist_edge_ns(i) - ns) > ns / 100)
		i++;
	return i < HIST_BUCKETS - 1 ? i : HIST_BUCKETS;
}

/* No bucket is known yet. */
static int add_counts(struct lines *lines, struct line *line)
{
	size_t size = lines->nr * sizeof(*line->counts);
	int err = count_size(lines, size);

	if (err)
		return err;
	line->counts = xmalloc(size);
	for (unsigned int i = 0; i < lines->nr * HIST_BUCKETS; i++)
		line->counts[i / HIST_BUCKETS][i % HIST_BUCKETS] = -1;
	return 0;
}

static int take_bucket(struct lines *lines, const struct answer_series *series)
{
	struct member *member = member_of(lines, series);
	char edge[LABEL_SIZE];
	unsigned int bucket, cell;
	struct line *line;
	double value;
	int err;

	if (!member || !answer_label(series, "le", edge, sizeof(edge)))
		return 0;
	bucket = bucket_of(edge);
	err = line_of(lines, (struct key){ member->guest.id, -1,
					   lines->exits.parents[EXITS_VMEXIT] }, &line);
	if (!err && !line->counts)
		err = add_counts(lines, line);
	if (err)
		return err;
	for (size_t i = 0; bucket < HIST_BUCKETS && i < answer_points(series); i++) {
		if (point_at(lines, series, i, &cell, &value))
			line->counts[cell][bucket] = value;
	}
	return 0;
}

/* The lower edge of a bucket. */
static double begin_ns(unsigned int bucket)
{
	return bucket ? (double)hist_edge_ns(bucket - 1) : 0;
}

/*
 * Durations between two edges count as spread evenly, as for Prometheus. Only two buckets share
 * them: so none of their counts goes back while the sum grows.
 */
static void spread_counts(const double *counts, struct timing *timing)
{
	unsigned int first = 0;
	double before = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		uint64_t nr, lower = 0;

		if (counts[i] < 0)
			continue;
		nr = counts[i] > before ? (uint64_t)(counts[i] - before) : 0;
		if (i == first + 1 && i < HIST_BUCKETS - 1)
			lower = (uint64_t)((double)nr * (begin_ns(i) - begin_ns(first)) /
					   ((double)hist_edge_ns(i) - begin_ns(first)));
		timing->hist[first] += (uint32_t)lower;
		timing->hist[i < HIST_BUCKETS - 1 ? i : first] += (uint32_t)(nr - lower);
		first = i + 1;
		before = counts[i] > before ? counts[i] : before;
	}
}

void line_timing(const struct line *line, unsigned int cell, struct timing *ret_timing)
{
	*ret_timing = (struct timing){ .time_ns = line->cells[cell].ns };
	if (line->counts)
		spread_counts(line->counts[cell], ret_timing);
}

int lines_take(struct lines *lines, enum query query, const struct answer_series *series)
{
	switch (query) {
	case QUERY_EXITS:
	case QUERY_EXIT_SECONDS:
		return take_exits(lines, series, query == QUERY_EXIT_SECONDS);
	case QUERY_SECONDS:
		return take_seconds(lines, series);
	case QUERY_MEMBERS:
		return take_member(lines, series);
	case QUERY_FINDINGS:
		return take_finding(lines, series);
	default:
		return take_bucket(lines, series);
	}
}
