// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers are series with points. They are put into lines, one a key, with a cell for each time;
 * then each time is a sample, and stats and history make moments of samples as of live ones.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "facts/exit_fields.h"
#include "facts/host_fields.h"
#include "facts/key_sums.h"
#include "fleet/answer.h"
#include "fleet/scope.h"
#include "providers/provider.h"
#include "ui/metrics/table.h"

#define NS_PER_S 1e9
#define LABEL_SIZE GUEST_NAME_SIZE
#define MEMBERS_MAX 20000 /* guests or hosts */
#define FIELDS_MAX 4096
#define VCPUS_MAX 4096
#define HOSTS_AT_ONCE 2000 /* times steps; of each the answers have some 300 bytes */
#define RATE_WINDOW "5m" /* as in contrib/prometheus/kvmtop.rules.yml */

/* A guest of the host; or, of all hosts, a host. */
struct member {
	char label[LABEL_SIZE];
	uint32_t id;
	struct guest guest;
	size_t room_vcpus;
	bool is_there[SCOPE_STEPS]; /* at these times */
	UT_hash_handle hh;
};

struct scope_cell {
	bool has_count;
	uint64_t count, ns;
};

/* What one key was at each time. */
struct line {
	struct key key;
	bool is_timed;
	struct scope_cell cells[SCOPE_STEPS];
	/* How many took at most as long as the edge of a bucket; < 0: not known. NULL: none is. */
	double (*counts)[HIST_BUCKETS];
	UT_hash_handle hh;
};

/* Moments that follow each other. */
struct run {
	struct stats *stats;
	struct guests *guests;
	struct moment_taker taker;
	struct key_sums sums; /* of rates */
	struct moment moment;
	struct sample sample;
	uint64_t last;	/* the latest time; 0: none yet */
};

struct scope {
	const struct scope_common *common;
	uint32_t number;
	char *host; /* escaped for a query; NULL: all hosts */
	struct member *members;
	uint32_t last_member;
	struct exit_fields exits;
	uint32_t wait, throttled, guests, finding;
	struct packer *packer;
	struct run run;
	/* The answers that are being taken: */
	struct line *lines;
	uint64_t first; /* the time of the first cell */
	unsigned int nr;
};

/* ---- runs */

static void run_release(struct run *run)
{
	stats_free(run->stats);
	guests_free(run->guests);
	key_sums_release(&run->sums);
	moment_release(&run->moment);
	sample_release(&run->sample);
	*run = (struct run){ .stats = NULL };
}

static int run_begin(struct run *run)
{
	run_release(run);
	run->stats = stats_new();
	run->guests = guests_new(NULL);
	if (!run->stats || !run->guests)
		return -ENOMEM;
	stats_know_guests(run->stats, run->guests);
	return 0;
}

/* ---- the scope */

static int add_fields(struct scope *scope)
{
	static const struct exit_events usual;
	struct fields *fields = scope->common->fields;
	unsigned int parts = EXIT_FIELDS_PARTS & ~(1U << TIME_WAIT);
	int err = exit_fields_add(fields, PROVIDER_EXITS, &usual, parts, &scope->exits);

	if (!err)
		err = host_fields_add_wait(fields, PROVIDER_HOST, &scope->wait);
	if (!err)
		err = host_fields_add_part(fields, PROVIDER_HOST, HOST_THROTTLED,
					   &scope->throttled);
	if (!err && !scope->host)
		err = host_fields_add_part(fields, PROVIDER_HOST, HOST_GUESTS, &scope->guests);
	if (!err && !scope->host)
		err = host_fields_add_part(fields, PROVIDER_HOST, HOST_FINDING, &scope->finding);
	return err;
}

/* A text within the quotes of a query. */
static char *quote(const char *text)
{
	char *quoted = malloc(2 * strlen(text) + 1), *at = quoted;

	for (; quoted && *text; text++) {
		if (strchr("\"\\\n", *text))
			*at++ = '\\';
		*at++ = *text == '\n' ? 'n' : *text;
	}
	if (quoted)
		*at = '\0';
	return quoted;
}

struct scope *scope_new(const struct scope_common *common, uint32_t number, const char *host)
{
	struct scope *scope = calloc(1, sizeof(*scope));

	if (!scope)
		return NULL;
	scope->common = common;
	scope->number = number;
	scope->host = host ? quote(host) : NULL;
	scope->packer = packer_new();
	if (scope->packer && (scope->host || !host) && add_fields(scope) == 0)
		return scope;
	scope_free(scope);
	return NULL;
}

static void drop_lines(struct scope *scope)
{
	struct line *line, *next;

	HASH_ITER(hh, scope->lines, line, next) {
		HASH_DEL(scope->lines, line);
		free(line->counts);
		free(line);
	}
}

void scope_free(struct scope *scope)
{
	struct member *member, *next;

	if (!scope)
		return;
	drop_lines(scope);
	HASH_ITER(hh, scope->members, member, next) {
		HASH_DEL(scope->members, member);
		free(member->guest.vcpus);
		free(member);
	}
	run_release(&scope->run);
	packer_free(scope->packer);
	free(scope->host);
	free(scope);
}

unsigned int scope_steps(const struct scope *scope)
{
	uint64_t nr_hosts = scope->common->nr_summed ? scope->common->nr_summed : HOSTS_AT_ONCE;
	uint64_t steps = scope->host ? SCOPE_STEPS : HOSTS_AT_ONCE / nr_hosts;

	if (steps > SCOPE_STEPS - 1)
		return SCOPE_STEPS - 1;
	return steps ? (unsigned int)steps : 1;
}

/* ---- questions */

enum question { ASK_EXITS, ASK_EXIT_SECONDS, ASK_SECONDS, ASK_MEMBERS, ASK_MORE };

static const char *name_of(enum metric_id id)
{
	return metric_at(id)->name;
}

/* 0 or -ENOMEM; the query is the caller's to free. */
static int query_of_host(const struct scope *scope, enum question question, char **ret_query)
{
	static const struct {
		enum metric_id metric;
		const char *sum, *suffix;
	} all[] = {
		[ASK_EXITS] = { METRIC_EXITS, "sum by (guest, reason)", "" },
		[ASK_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "sum by (guest, reason)", "" },
		[ASK_SECONDS] = { METRIC_VCPU_SECONDS, "sum by (guest, vcpu, mode)", "" },
		[ASK_MEMBERS] = { METRIC_GUEST_INFO, "max by (guest, uuid, pid, vmm)", "" },
		[ASK_MORE] = { METRIC_EXIT_DURATION, "sum by (guest, le)", "_bucket" },
	};

	return asprintf(ret_query, "%s (%s%s{instance=\"%s\"})", all[question].sum,
			name_of(all[question].metric), all[question].suffix, scope->host);
}

static int query_of_all(const struct scope *scope, enum question question, char **ret_query)
{
	static const struct {
		enum metric_id metric;
		const char *labels, *rule;
	} rates[] = {
		[ASK_EXITS] = { METRIC_EXITS, "reason", "instance_reason:kvmtop_exits" },
		[ASK_EXIT_SECONDS] = { METRIC_EXIT_SECONDS, "reason",
				       "instance_reason:kvmtop_exit_seconds" },
		[ASK_SECONDS] = { METRIC_VCPU_SECONDS, "mode",
				  "instance_mode:kvmtop_vcpu_seconds" },
	};

	if (question == ASK_MEMBERS)
		return scope->common->nr_summed ?
			       asprintf(ret_query, SCOPE_HOSTS) :
			       asprintf(ret_query, "count by (instance) (%s)",
					name_of(METRIC_GUEST_INFO));
	if (question == ASK_MORE)
		return asprintf(ret_query, "max by (instance, rule) (%s)",
				name_of(METRIC_FINDING));
	if (scope->common->nr_summed)
		return asprintf(ret_query, "%s:rate" RATE_WINDOW, rates[question].rule);
	return asprintf(ret_query, "sum by (instance, %s) (rate(%s[" RATE_WINDOW "]))",
			rates[question].labels, name_of(rates[question].metric));
}

static void drop_questions(struct http_question *questions)
{
	for (unsigned int i = 0; i < SCOPE_QUESTIONS; i++) {
		free((char *)(uintptr_t)questions[i].form);
		questions[i].form = NULL;
	}
}

static int make_form(const struct scope *scope, const char *query, uint64_t first, uint64_t last,
		     char **ret_form)
{
	double step_s = (double)scope->common->step_ns / NS_PER_S;
	char escaped[2048];

	if (http_escape(query, escaped, sizeof(escaped)) < 0)
		return -ENOMEM;
	return asprintf(ret_form, "query=%s&start=%.3f&end=%.3f&step=%.3f", escaped,
			(double)first * step_s, (double)last * step_s, step_s) < 0 ? -ENOMEM : 0;
}

/* Where the answers to first and last begin: what is before is compared with. */
static uint64_t begins_at(const struct scope *scope, uint64_t first)
{
	return scope->run.last && scope->run.last + 1 == first ? first : first - 1;
}

int scope_ask(const struct scope *scope, uint64_t first, uint64_t last,
	      struct http_question *ret_questions)
{
	int err = 0;

	for (unsigned int i = 0; i < SCOPE_QUESTIONS; i++)
		ret_questions[i] = (struct http_question){ .path = "/api/v1/query_range" };
	for (unsigned int i = 0; !err && i < SCOPE_QUESTIONS; i++) {
		char *query = NULL, *form = NULL;

		if ((scope->host ? query_of_host : query_of_all)(scope, (enum question)i,
								 &query) < 0)
			err = -ENOMEM;
		else
			err = make_form(scope, query, begins_at(scope, first), last, &form);
		free(query);
		ret_questions[i].form = form;
	}
	if (err)
		drop_questions(ret_questions);
	return err;
}

/* ---- what is in the answers */

static struct member *member_of(struct scope *scope, const struct answer_series *series)
{
	struct member *member;
	char label[LABEL_SIZE] = "";

	if (!answer_label(series, scope->host ? "guest" : "instance", label, sizeof(label)))
		return NULL;
	HASH_FIND_STR(scope->members, label, member);
	if (member || scope->last_member == MEMBERS_MAX)
		return member;
	member = calloc(1, sizeof(*member));
	if (!member)
		return NULL;
	memcpy(member->label, label, sizeof(label));
	member->id = ++scope->last_member;
	/* Of a member the same in all moments, as pid and start are of a process. */
	member->guest = (struct guest){ .id = member->id, .start_ticks = member->id,
					.is_named = true };
	utf8_clean(label, strlen(label), member->guest.name, sizeof(member->guest.name));
	HASH_ADD_STR(scope->members, label, member);
	if (!hash_has(member)) {
		free(member);
		return NULL;
	}
	return member;
}

static struct line *line_of(struct scope *scope, uint32_t guest, int32_t vcpu, uint32_t field)
{
	struct line wanted, *line;

	memset(&wanted, 0, sizeof(wanted.key)); /* it is a key of bytes */
	wanted.key = (struct key){ guest, vcpu, field };
	HASH_FIND(hh, scope->lines, &wanted.key, sizeof(wanted.key), line);
	if (line)
		return line;
	line = calloc(1, sizeof(*line));
	if (!line)
		return NULL;
	line->key = wanted.key;
	hash_add(scope->lines, key, line);
	return line;
}

/* Which cell a point belongs to. False: to none. */
static bool point_at(const struct scope *scope, const struct answer_series *series, size_t i,
		     unsigned int *ret_cell, double *ret_value)
{
	uint64_t time_ns, at;

	if (!answer_point(series, i, &time_ns, ret_value))
		return false;
	at = (time_ns + scope->common->step_ns / 2) / scope->common->step_ns;
	if (at < scope->first || at - scope->first >= scope->nr)
		return false;
	*ret_cell = (unsigned int)(at - scope->first);
	return true;
}

/* How the points of a series are taken. */
struct measure {
	bool is_ns;   /* seconds, of which the cell has ns; else a count */
	bool is_time; /* seconds, which are what the key counts */
};

/* Adds the points to the line; of rates, what happened in a step. */
static void add_points(const struct scope *scope, const struct answer_series *series,
		       struct line *line, struct measure measure)
{
	double factor = measure.is_ns || measure.is_time ? NS_PER_S : 1, value;
	unsigned int cell;

	if (!scope->host)
		factor *= (double)scope->common->step_ns / NS_PER_S;
	for (size_t i = 0; i < answer_points(series); i++) {
		if (!point_at(scope, series, i, &cell, &value) || value * factor > 1e19)
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

static int add_to(struct scope *scope, const struct answer_series *series, struct key key,
		  struct measure measure)
{
	struct line *line = line_of(scope, key.guest, key.vcpu, key.field);

	if (!line)
		return -ENOMEM;
	add_points(scope, series, line, measure);
	return 0;
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

static int take_exits(struct scope *scope, const struct answer_series *series, bool is_ns)
{
	struct member *member = member_of(scope, series);
	const struct measure measure = { .is_ns = is_ns };
	char reason[LABEL_SIZE];
	uint32_t field;
	int err;

	if (!member || !answer_label(series, "reason", reason, sizeof(reason)) ||
	    fields_count(scope->common->fields) >= FIELDS_MAX)
		return 0;
	err = exit_fields_reason(&scope->exits, EXITS_VMEXIT, reason, NULL, is_idle(reason),
				 &field);
	if (!err)
		err = add_to(scope, series, (struct key){ member->id, -1, field }, measure);
	return err ? err : add_to(scope, series,
				  (struct key){ member->id, -1,
						scope->exits.parents[EXITS_VMEXIT] }, measure);
}

/* The exporter's modes, and the parts of a vCPU's time that they belong to. */
static const struct mode {
	const char *name;
	enum time_part parts[3]; /* TIME_PARTS: none */
} modes[] = {
	{ "guest", { TIME_WHOLE, TIME_GUEST, TIME_PARTS } },
	{ "kvm", { TIME_WHOLE, TIME_KVM, TIME_PARTS } },
	{ "user", { TIME_WHOLE, TIME_USER, TIME_PARTS } },
	{ "poll", { TIME_WHOLE, TIME_HALT, TIME_POLL } },
	{ "sleep", { TIME_WHOLE, TIME_HALT, TIME_PARTS } },
	{ "wait", { TIME_WAIT, TIME_PARTS, TIME_PARTS } },
	{ "throttled", { TIME_WAIT, TIME_PARTS, TIME_PARTS } },
};

static int add_vcpu(struct member *member, int32_t index)
{
	struct guest *guest = &member->guest;
	size_t at = guest->nr_vcpus;

	if (guest_vcpu(guest, index))
		return 0;
	if (array_grow(&guest->vcpus, &member->room_vcpus, guest->nr_vcpus + 1) < 0)
		return -ENOMEM;
	for (; at && guest->vcpus[at - 1].index > index; at--)
		guest->vcpus[at] = guest->vcpus[at - 1];
	guest->vcpus[at] = (struct vcpu){ .index = index };
	guest->nr_vcpus++;
	return 0;
}

/* The vCPU of a series; -1: of all hosts, a sum. False: it has none. */
static bool vcpu_of(const struct scope *scope, const struct answer_series *series,
		    int32_t *ret_vcpu)
{
	char text[LABEL_SIZE], *end;
	long vcpu;

	*ret_vcpu = -1;
	if (!scope->host)
		return true;
	if (!answer_label(series, "vcpu", text, sizeof(text)))
		return false;
	vcpu = strtol(text, &end, 10);
	*ret_vcpu = (int32_t)vcpu;
	return end != text && !*end && vcpu >= 0 && vcpu < VCPUS_MAX;
}

static int take_seconds(struct scope *scope, const struct answer_series *series)
{
	struct member *member = member_of(scope, series);
	const struct measure measure = { .is_time = true };
	const struct mode *mode = NULL;
	char name[LABEL_SIZE];
	int32_t vcpu;
	int err = 0;

	if (!member || !answer_label(series, "mode", name, sizeof(name)) ||
	    !vcpu_of(scope, series, &vcpu))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(modes[i].name, name) == 0)
			mode = &modes[i];
	}
	if (!mode)
		return 0;
	if (vcpu >= 0)
		err = add_vcpu(member, vcpu);
	for (size_t i = 0; !err && i < ARRAY_SIZE(mode->parts); i++) {
		enum time_part part = mode->parts[i];
		struct key key = { member->id, vcpu, scope->wait };

		if (part == TIME_PARTS)
			continue;
		if (part != TIME_WAIT)
			key.field = scope->exits.times[part];
		err = add_to(scope, series, key, measure);
	}
	if (!err && strcmp(name, "throttled") == 0)
		err = add_to(scope, series, (struct key){ member->id, vcpu, scope->throttled },
			     measure);
	return err;
}

/* A guest is there when it has an info; a host, when it has guests. */
static int take_member(struct scope *scope, const struct answer_series *series)
{
	struct member *member = member_of(scope, series);
	struct guest *guest = member ? &member->guest : NULL;
	char pid[LABEL_SIZE] = "";
	struct line *line = NULL;
	unsigned int cell;
	double value;

	if (!member)
		return 0;
	if (scope->host) {
		if (answer_label(series, "pid", pid, sizeof(pid)))
			guest->pid = (pid_t)strtol(pid, NULL, 10);
		answer_label(series, "vmm", guest->vmm, sizeof(guest->vmm));
		answer_label(series, "uuid", guest->uuid, sizeof(guest->uuid));
	} else {
		line = line_of(scope, member->id, -1, scope->guests);
		if (!line)
			return -ENOMEM;
	}
	for (size_t i = 0; i < answer_points(series); i++) {
		if (!point_at(scope, series, i, &cell, &value))
			continue;
		member->is_there[cell] = true;
		if (line) {
			line->cells[cell].has_count = true;
			line->cells[cell].count = (uint64_t)value;
		}
	}
	return 0;
}

static int take_finding(struct scope *scope, const struct answer_series *series)
{
	struct member *member = member_of(scope, series);
	char rule[LABEL_SIZE];
	struct line *line;
	unsigned int cell;
	uint32_t field;
	double value;

	if (!member || !answer_label(series, "rule", rule, sizeof(rule)) ||
	    fields_count(scope->common->fields) >= FIELDS_MAX)
		return 0;
	if (host_fields_add_child(scope->common->fields, scope->finding, rule, &field) < 0)
		return -ENOMEM;
	line = line_of(scope, member->id, -1, field);
	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < answer_points(series); i++) {
		if (!point_at(scope, series, i, &cell, &value))
			continue;
		line->cells[cell].has_count = true;
		line->cells[cell].count = (uint64_t)value;
	}
	return 0;
}

/* ---- histograms: those of a guest are its exits' but the halts */

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

static int take_bucket(struct scope *scope, const struct answer_series *series)
{
	struct member *member = member_of(scope, series);
	char edge[LABEL_SIZE];
	unsigned int bucket, cell;
	struct line *line;
	double value;

	if (!member || !answer_label(series, "le", edge, sizeof(edge)))
		return 0;
	bucket = bucket_of(edge);
	line = line_of(scope, member->id, -1, scope->exits.parents[EXITS_VMEXIT]);
	if (line && !line->counts) {
		line->counts = malloc(SCOPE_STEPS * sizeof(*line->counts));
		for (unsigned int i = 0; line->counts && i < SCOPE_STEPS * HIST_BUCKETS; i++)
			line->counts[i / HIST_BUCKETS][i % HIST_BUCKETS] = -1;
	}
	if (!line || !line->counts)
		return -ENOMEM;
	for (size_t i = 0; bucket < HIST_BUCKETS && i < answer_points(series); i++) {
		if (point_at(scope, series, i, &cell, &value))
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

/* ---- samples */

/* What a line has at a time; of rates, the sum so far. */
static int add_row(struct scope *scope, struct run *run, const struct line *line, unsigned int at)
{
	const struct scope_cell *cell = &line->cells[at];
	const struct field *field = fields_get(scope->common->fields, line->key.field);
	struct timing timing = { .time_ns = cell->ns };
	uint64_t count = cell->count;

	if (!cell->has_count)
		return 0;
	if (!scope->host && field->kind == FIELD_COUNTER) {
		struct key_sum *sum = key_sums_get(&run->sums, &line->key);

		if (!sum)
			return -ENOMEM;
		count = sum->count += cell->count;
		timing.time_ns = sum->ns += cell->ns;
	}
	if (line->counts)
		spread_counts(line->counts[at], &timing);
	return line->is_timed ? sample_add_timed(&run->sample, line->key, count, 0, &timing) :
				sample_add(&run->sample, line->key, count, 0);
}

static int put_guests(const struct scope *scope, struct run *run, unsigned int at)
{
	int err = 0;

	guests_clear(run->guests);
	for (const struct member *member = scope->members; !err && member;
	     member = member->hh.next) {
		if (member->is_there[at])
			err = guests_put(run->guests, &member->guest);
	}
	return err;
}

static int take_sample(struct scope *scope, struct run *run, unsigned int at)
{
	uint64_t time_ns = (scope->first + at) * scope->common->step_ns;
	int err = put_guests(scope, run, at);

	sample_reset(&run->sample);
	run->sample.time_ns[PROVIDER_EXITS] = time_ns;
	run->sample.time_ns[PROVIDER_HOST] = time_ns;
	for (const struct line *line = scope->lines; !err && line; line = line->hh.next)
		err = add_row(scope, run, line, at);
	return err ? err : stats_update(run->stats, scope->common->fields, &run->sample);
}

/* Each moment has all: any of them may be the oldest that is kept. */
static int make_moment(struct scope *scope, struct run *run, struct packed *ret_packed)
{
	const struct facts facts = { .fields = scope->common->fields, .stats = run->stats,
				     .guests = run->guests };
	int err;

	run->taker.since_totals = MOMENT_TOTALS_EVERY;
	err = moment_take(&run->taker, &facts, run->sample.time_ns[PROVIDER_EXITS],
			  &run->moment);
	return err ? err : pack_moment(scope->packer, &run->moment, ret_packed);
}

/* The first sample is there to be compared with: the next moment is one after a loss. */
static int make_moments(struct scope *scope, struct run *run, scope_moment_fn take, void *arg)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < scope->nr; i++) {
		struct packed packed = { .flags = 0 };
		bool is_first = !run->last;

		err = take_sample(scope, run, i);
		run->last = scope->first + i;
		if (err || is_first) {
			run->taker.tick = stats_tick(run->stats);
			run->taker.has_lost = true;
			continue;
		}
		err = make_moment(scope, run, &packed);
		if (!err)
			err = take(arg, scope->first + i, &packed);
		packed_release(&packed);
	}
	return err;
}

/* ---- answers */

struct taking {
	struct scope *scope;
	enum question question;
};

static int take_series(void *arg, const struct answer_series *series)
{
	const struct taking *taking = arg;

	switch (taking->question) {
	case ASK_EXITS:
	case ASK_EXIT_SECONDS:
		return take_exits(taking->scope, series, taking->question == ASK_EXIT_SECONDS);
	case ASK_SECONDS:
		return take_seconds(taking->scope, series);
	case ASK_MEMBERS:
		return take_member(taking->scope, series);
	default:
		return taking->scope->host ? take_bucket(taking->scope, series) :
					     take_finding(taking->scope, series);
	}
}

static int take_answers(struct scope *scope, const struct http_question *questions,
			struct why *why)
{
	int err = 0;

	for (struct member *member = scope->members; member; member = member->hh.next)
		memset(member->is_there, 0, sizeof(member->is_there));
	for (unsigned int i = 0; !err && i < SCOPE_QUESTIONS; i++) {
		struct taking taking = { scope, (enum question)i };

		err = answer_read(questions[i].status, questions[i].body, questions[i].size,
				  take_series, &taking, why);
	}
	return err;
}

int scope_take(struct scope *scope, uint64_t first, uint64_t last,
	       const struct http_question *questions, scope_moment_fn take, void *arg,
	       struct why *why)
{
	struct run other = { .stats = NULL }, *run = &scope->run;
	int err;

	scope->first = begins_at(scope, first);
	scope->nr = (unsigned int)(last - scope->first + 1);
	err = take_answers(scope, questions, why);
	if (!err && scope->first != first) { /* it does not go on from the latest one */
		if (first < scope->run.last)
			run = &other;
		err = run_begin(run);
	}
	if (!err)
		err = make_moments(scope, run, take, arg);
	run_release(&other);
	drop_lines(scope);
	return err;
}
