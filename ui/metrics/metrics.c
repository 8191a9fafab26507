// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes metric after metric, each for all guests. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/number.h"
#include "lib/xalloc.h"
#include "core/facts/facts.h"
#include "core/findings/findings.h"
#include "ui/metrics/metrics.h"

/* 256 ns, four times as much, and so on to 1.07 s; then +Inf. */
#define FIRST_EDGE 1 /* the bucket of struct timing that ends there */
#define EDGES 12
#define HISTOGRAM_SERIES (EDGES + 3) /* with +Inf, sum and count */

struct metrics {
	struct metrics_config config;
	struct names names;
	struct metric_sums sums;
	uint64_t tick; /* of the sample that they are of */
	struct findings findings;
	size_t nr_series;
	size_t dropped[METRICS_NR], nr_dropped;
	struct metrics_text text; /* the latest; its memory serves the next one */
};

/* What every writer works with. */
struct output {
	struct metrics *metrics;
	const struct facts *facts;
	struct metrics_text *text;
	bool has_times; /* of exits: KVM traces VM exits, which they are measured by */
};

struct metrics *metrics_new(const struct metrics_config *config)
{
	struct metrics *metrics = xcalloc(1, sizeof(*metrics));

	metrics->config = *config;
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	names_release(&metrics->names);
	metric_sums_release(&metrics->sums);
	findings_release(&metrics->findings);
	free(metrics->text.bytes);
	free(metrics);
}

size_t metrics_series(const struct metrics *metrics)
{
	return metrics->nr_series;
}

size_t metrics_dropped(const struct metrics *metrics)
{
	return metrics->nr_dropped;
}

/* ---- series */

/* Whether there is room for nr series more; if not, they and all that follow are dropped. */
static bool has_room(const struct output *out, enum metric_id id, size_t nr)
{
	struct metrics *metrics = out->metrics;

	if (metrics->nr_dropped || metrics->nr_series + nr > metrics->config.max_series) {
		metrics->dropped[id] += nr;
		metrics->nr_dropped += nr;
		return false;
	}
	metrics->nr_series += nr;
	return true;
}

static bool is_chosen(const struct output *out, enum metric_id id)
{
	unsigned int group = metric_at(id)->group;

	return !group || out->metrics->config.groups & group;
}

/* Begins a series with the guest's label; guest NULL: it is of no guest. */
static void begin_metric(const struct output *out, enum metric_id id, const char *suffix,
			 const struct guest_sum *guest)
{
	text_series(out->text, id, suffix);
	if (guest)
		text_label(out->text, "guest", guest->named->label);
}

/* The same of one that may be left out: false if there is no room for it. */
static bool begin_limited(const struct output *out, enum metric_id id,
			  const struct guest_sum *guest)
{
	if (!has_room(out, id, 1))
		return false;
	begin_metric(out, id, "", guest);
	return true;
}

/* ---- the program's own */

static void write_self(const struct output *out, const struct metrics_self *self)
{
	text_series(out->text, METRIC_BUILD_INFO, "");
	text_label(out->text, "version", KVMTOP_VERSION);
	text_label(out->text, "arch", self->arch);
	text_label(out->text, "engine", self->engine ? self->engine : "");
	text_value(out->text, 1);
	text_series(out->text, METRIC_START_TIME, "");
	text_value_seconds(out->text, self->start_ns);
	text_series(out->text, METRIC_SAMPLE_DURATION, "");
	text_value_seconds(out->text, self->sample_ns);
	for (size_t i = 0; i < self->nr_sources; i++) {
		text_series(out->text, METRIC_SOURCE_UP, "");
		text_label(out->text, "source", self->sources[i].name);
		text_value(out->text, self->sources[i].is_up);
	}
	if (out->metrics->sums.has_lost) {
		text_series(out->text, METRIC_EXITS_LOST, "");
		text_value(out->text, out->metrics->sums.lost);
	}
}

/* What the program's own BPF programs take: in seconds of each second, as a ratio. */
static void write_cost(const struct output *out)
{
	struct own_cost cost = facts_cost(out->facts);

	if (!cost.exit_ns)
		return;
	text_series(out->text, METRIC_OWN_EXIT, "");
	text_value_seconds(out->text, cost.exit_ns);
	if (!cost.has_share)
		return;
	text_series(out->text, METRIC_OWN_RATIO, "");
	text_value_seconds(out->text, (uint64_t)(cost.share * 1e9 + 0.5));
}

static void write_dropped(const struct output *out)
{
	for (unsigned int id = METRIC_GUEST_INFO; id < METRIC_SERIES_DROPPED; id++) {
		if (!is_chosen(out, (enum metric_id)id))
			continue;
		text_series(out->text, METRIC_SERIES_DROPPED, "");
		text_label(out->text, "metric", metric_at(id)->name);
		text_value(out->text, out->metrics->dropped[id]);
	}
}

/* ---- guests */

static void write_guest_info(const struct output *out, const struct guest_sum *sum)
{
	const struct guest *guest = sum->named->guest;

	if (!begin_limited(out, METRIC_GUEST_INFO, sum))
		return;
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		text_label(out->text, guest_word_names[i], guest->words.text[i]);
	text_label_number(out->text, "pid", guest->pid);
	text_label(out->text, "vmm", guest->vmm);
	text_value(out->text, 1);
}

static void write_guest_vcpus(const struct output *out, const struct guest_sum *sum)
{
	if (begin_limited(out, METRIC_GUEST_VCPUS, sum))
		text_value(out->text, sum->named->guest->nr_vcpus);
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	return compared(x->guest, y->guest) ?: compared(x->rule, y->rule);
}

static void write_findings(const struct output *out)
{
	struct findings *findings = &out->metrics->findings;

	if (!is_chosen(out, METRIC_FINDING))
		return;
	findings_find(findings, out->facts, GUEST_ALL, out->metrics->config.thresholds);
	if (findings->nr)
		qsort(findings->list, findings->nr, sizeof(*findings->list), compare_findings);
	for (size_t i = 0; i < findings->nr; i++) {
		const struct finding *finding = &findings->list[i];
		const struct guest_sum *guest = guest_sum_of(&out->metrics->sums, finding->guest);

		if ((finding->guest != GUEST_ALL && !guest) ||
		    !begin_limited(out, METRIC_FINDING, guest))
			continue;
		text_label(out->text, "rule", finding->rule->id);
		text_value(out->text, finding->severity);
	}
}

/* ---- exits, events and counters: the cells of guests */

/* Whether a field is exported as a metric. */
static bool is_of(const struct output *out, enum metric_id id, const struct field *field)
{
	bool is_statistic = field->use == USE_EVENT &&
			    out->metrics->config.statistics & 1U << field->source;

	switch (id) {
	case METRIC_EXITS:
	case METRIC_EXIT_SECONDS:
	case METRIC_EXIT_OPEN:
	case METRIC_EXIT_DURATION:
	case METRIC_REASON_DURATION:
		return field->use == USE_EXIT && field->exit_rank == 1;
	case METRIC_USER_EXITS:
	case METRIC_USER_EXIT_SECONDS:
		return field->use == USE_EXIT && field->exit_rank == 2;
	case METRIC_EVENTS:
		return field->use == USE_EVENT && !is_statistic && field->parent == FIELD_NONE;
	case METRIC_STATISTIC:
		return is_statistic && field->kind == FIELD_COUNTER;
	case METRIC_STATISTIC_LEVEL:
		return is_statistic && field->kind != FIELD_COUNTER;
	default:
		return false;
	}
}

static void write_histogram(const struct output *out, enum metric_id id,
			    const struct guest_sum *guest, const char *reason,
			    const struct timing_sum *timing)
{
	uint64_t count = 0;
	unsigned int bucket = 0;

	if (!has_room(out, id, HISTOGRAM_SERIES))
		return;
	for (unsigned int edge = 0; edge <= EDGES; edge++) {
		unsigned int end = edge < EDGES ? FIRST_EDGE + 2 * edge + 1 : HIST_BUCKETS;

		for (; bucket < end; bucket++)
			count += timing->hist[bucket];
		begin_metric(out, id, "_bucket", guest);
		if (reason)
			text_label(out->text, "reason", reason);
		if (edge < EDGES)
			text_label_seconds(out->text, "le", hist_edge_ns(end - 1));
		else
			text_label(out->text, "le", "+Inf");
		text_value(out->text, count);
	}
	begin_metric(out, id, "_sum", guest);
	if (reason)
		text_label(out->text, "reason", reason);
	text_value_seconds(out->text, timing->total_ended_ns);
	begin_metric(out, id, "_count", guest);
	if (reason)
		text_label(out->text, "reason", reason);
	text_value(out->text, count);
}

static void write_cell(const struct output *out, enum metric_id id, const struct guest_sum *guest,
		       const struct cell_sum *cell, const struct field *field)
{
	static const char *const names[METRICS_NR] = {
		[METRIC_EXITS] = "reason",	    [METRIC_EXIT_SECONDS] = "reason",
		[METRIC_USER_EXITS] = "reason",	    [METRIC_USER_EXIT_SECONDS] = "reason",
		[METRIC_EVENTS] = "event",	    [METRIC_STATISTIC] = "name",
		[METRIC_STATISTIC_LEVEL] = "name",
	};

	if (id == METRIC_REASON_DURATION) {
		write_histogram(out, id, guest, field->label, cell->timing);
		return;
	}
	if (!begin_limited(out, id, guest))
		return;
	text_label(out->text, names[id], field->label);
	if (metric_at(id)->unit)
		text_value_seconds(out->text, cell->timing->total_ns);
	else
		text_value(out->text, cell->count);
}

static void write_cells(const struct output *out, enum metric_id id)
{
	const struct metric_sums *sums = &out->metrics->sums;

	if (!is_chosen(out, id) || (metric_at(id)->unit && !out->has_times))
		return;
	for (size_t i = 0; i <= sums->nr_guests; i++) {
		const struct guest_sum *guest = i < sums->nr_guests ? &sums->guests[i] : NULL;
		const struct cell_sum *cells = guest ? guest->cells : sums->host_cells;

		for (size_t j = 0; j < sums->nr_columns; j++) {
			const struct field *field = fields_get(out->facts->fields,
							       sums->columns[j]);

			if (cells[j].is_set && is_of(out, id, field))
				write_cell(out, id, guest, &cells[j], field);
		}
	}
}

static void write_open(const struct output *out)
{
	const struct stats *stats = out->facts->stats;

	for (size_t i = 0; is_chosen(out, METRIC_EXIT_OPEN) && i < stats->nr; i++) {
		const struct stats_item *stat = &stats->list[i];
		const struct field *field = fields_get(out->facts->fields, stat->key.field);
		uint64_t open_ns = is_of(out, METRIC_EXIT_OPEN, field) ?
					   stats_open_ns(stats, field, stat) : 0;
		const struct guest_sum *guest =
			open_ns ? guest_sum_of(&out->metrics->sums, stat->key.guest) : NULL;

		if (!guest || !begin_limited(out, METRIC_EXIT_OPEN, guest))
			continue;
		text_label_number(out->text, "vcpu", stat->key.vcpu);
		text_label(out->text, "reason", field->label);
		text_value_seconds(out->text, open_ns);
	}
}

/* All exits of a guest but the halts. */
static void write_durations(const struct output *out)
{
	const struct metric_sums *sums = &out->metrics->sums;

	if (!is_chosen(out, METRIC_EXIT_DURATION))
		return;
	for (size_t i = 0; i < sums->nr_guests; i++) {
		struct timing_sum all = { 0 };
		bool is_set = false;

		for (size_t j = 0; j < sums->nr_columns; j++) {
			const struct cell_sum *cell = &sums->guests[i].cells[j];
			const struct field *field = fields_get(out->facts->fields,
							       sums->columns[j]);

			if (!cell->is_set || field->is_idle ||
			    !is_of(out, METRIC_EXIT_DURATION, field))
				continue;
			is_set = true;
			timing_sum_join(&all, cell->timing);
		}
		if (is_set)
			write_histogram(out, METRIC_EXIT_DURATION, &sums->guests[i], NULL, &all);
	}
}

/* ---- vCPUs and CPUs */

static void write_host_cpus(const struct output *out)
{
	const struct metric_sums *sums = &out->metrics->sums;

	for (size_t i = 0; is_chosen(out, METRIC_HOST_CPU) && i < sums->nr_cpus; i++) {
		const struct sum *busy = &sums->cpus[i].host[HOST_BUSY];

		if (!busy->nr || !begin_limited(out, METRIC_HOST_CPU, NULL))
			continue;
		text_label_number(out->text, "cpu", sums->cpus[i].key.vcpu);
		text_value_seconds(out->text, busy->total);
	}
}

static void write_part(const struct output *out, enum metric_id id, const struct guest_sum *guest,
		       int32_t vcpu, const char *part, uint64_t ns)
{
	if (!begin_limited(out, id, guest))
		return;
	if (vcpu >= 0)
		text_label_number(out->text, "vcpu", vcpu);
	text_label(out->text, id == METRIC_VCPU_SECONDS ? "mode" : "part", part);
	text_value_seconds(out->text, ns);
}

static void write_vcpu(const struct output *out, const struct guest_sum *guest, size_t at)
{
	static const struct {
		enum time_part part;
		const char *mode;
	} modes[] = { { TIME_GUEST, "guest" }, { TIME_KVM, "kvm" }, { TIME_USER, "user" },
		      { TIME_POLL, "poll" }, { TIME_IDLE, "idle" }, { TIME_BLOCK, "block" } };
	const struct owner *vcpu = &guest->vcpus[at];
	const struct sum *throttled = &vcpu->host[HOST_THROTTLED];

	/* Where exits are not timed, all that is on a CPU: the modes always add up. */
	if (!vcpu->time[TIME_GUEST].nr && vcpu->time[TIME_IDLE].nr && vcpu->host[HOST_RUN].nr)
		write_part(out, METRIC_VCPU_SECONDS, guest, vcpu->key.vcpu, "cpu",
			   vcpu->host[HOST_RUN].total);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (vcpu->time[modes[i].part].nr)
			write_part(out, METRIC_VCPU_SECONDS, guest, vcpu->key.vcpu, modes[i].mode,
				   vcpu->time[modes[i].part].total);
	}
	if (owner_wait(vcpu)->nr)
		write_part(out, METRIC_VCPU_SECONDS, guest, vcpu->key.vcpu, "wait",
			   vcpu_shown_of(guest->named, vcpu->key.vcpu, at)->wait_ns);
	if (throttled->nr)
		write_part(out, METRIC_VCPU_SECONDS, guest, vcpu->key.vcpu, "throttled",
			   throttled->total);
}

static void write_vcpus(const struct output *out)
{
	const struct metric_sums *sums = &out->metrics->sums;

	for (size_t i = 0; is_chosen(out, METRIC_VCPU_SECONDS) && i < sums->nr_guests; i++) {
		for (size_t j = 0; j < sums->guests[i].nr_vcpus; j++)
			write_vcpu(out, &sums->guests[i], j);
	}
}

static void write_waits(const struct output *out)
{
	const struct metric_sums *sums = &out->metrics->sums;

	for (size_t i = 0; is_chosen(out, METRIC_WAIT_SECONDS) && i < sums->nr_guests; i++) {
		const struct guest_sum *guest = &sums->guests[i];

		for (unsigned int part = 0; part < WAIT_PARTS; part++) {
			bool is_set = i ? guest->wait_ns[part] : sums->has_waits[part];

			if (!is_set || !begin_limited(out, METRIC_WAIT_SECONDS, guest))
				continue;
			text_label(out->text, "kind", wait_part_name((enum wait_part)part));
			text_value_seconds(out->text, guest->wait_ns[part]);
		}
	}
}

static void write_interrupts(const struct output *out)
{
	static const char *const parts[] = { "waking", "waiting", "entering" };
	const struct metric_sums *sums = &out->metrics->sums;

	for (size_t i = 0; is_chosen(out, METRIC_INTERRUPT_SECONDS) && i < sums->nr_guests; i++) {
		const struct guest_sum *guest = &sums->guests[i];

		for (size_t j = 0; j < 3 * guest->named->nr_shown; j++) {
			const struct vcpu_shown *shown = &guest->named->shown[j / 3];

			if (shown->has_interrupts)
				write_part(out, METRIC_INTERRUPT_SECONDS, guest, shown->index,
					   parts[j % 3], shown->interrupt_ns[j % 3]);
		}
	}
}

static void write_all(const struct output *out, const struct metrics_self *self)
{
	const struct metric_sums *sums = &out->metrics->sums;

	write_self(out, self);
	write_cost(out);
	for (size_t i = 1; i < sums->nr_guests; i++)
		write_guest_info(out, &sums->guests[i]);
	for (size_t i = 1; i < sums->nr_guests; i++)
		write_guest_vcpus(out, &sums->guests[i]);
	write_findings(out);
	write_cells(out, METRIC_EXITS);
	write_cells(out, METRIC_EXIT_SECONDS);
	write_open(out);
	write_durations(out);
	write_host_cpus(out);
	write_vcpus(out);
	write_waits(out);
	write_interrupts(out);
	for (unsigned int id = METRIC_USER_EXITS; id < METRIC_SERIES_DROPPED; id++)
		write_cells(out, (enum metric_id)id);
	write_dropped(out);
}

void metrics_take(struct metrics *metrics, const struct facts *facts, uint64_t now_ns)
{
	if (metrics->tick == facts->stats->tick)
		return;
	metrics->tick = facts->stats->tick;
	names_take(&metrics->names, facts, now_ns);
	metric_sums_take(&metrics->sums, facts, &metrics->names);
}

const struct metrics_text *metrics_write(struct metrics *metrics, const struct facts *facts,
					 const struct metrics_self *self)
{
	const struct output out = {
		.metrics = metrics,
		.facts = facts,
		.text = &metrics->text,
		.has_times = exits_choose(facts, true, true).rank != 2,
	};

	metrics->nr_series = metrics->nr_dropped = 0;
	for (size_t i = 0; i < METRICS_NR; i++)
		metrics->dropped[i] = 0;
	text_clear(&metrics->text);
	write_all(&out, self);
	return &metrics->text;
}
