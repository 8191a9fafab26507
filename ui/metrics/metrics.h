/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - a renderer: facts become text for Prometheus.
 *
 * It writes totals since counting began. A guest's series begin with the guest and never go back;
 * when the guest has ended, they stay for METRICS_STAY_NS, or go on with the next one of its name.
 * A guest that lived less than METRICS_BRIEF_NS has none from its end on: the guest "(ended)" has
 * its counts, which grow by a guest that no reader may have seen. What a text has depends on the
 * samples alone, so that all readers get the same.
 */
#ifndef KVMTOP_UI_METRICS_METRICS_H
#define KVMTOP_UI_METRICS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/hash.h"
#include "core/metrics.h"
#include "core/facts/facts.h"
#include "core/findings/rules.h"
#include "core/guests/guests.h"
#include "core/views/rollup.h"

/*
 * ---- text.c: text that grows, and metrics in it, in Prometheus' text format 0.0.4 without
 * timestamps.
 *
 * Every scraper reads this format, and so does node_exporter's textfile collector. Numbers are
 * written without floating point, so that no digit of a counter is lost.
 */

/* Zero-initialised is empty; free(bytes) when done. */
struct metrics_text {
	char *bytes; /* no NUL at the end */
	size_t size, room;
	size_t nr_series; /* lines with a value */
	const struct metric *metric; /* the latest */
};

/* Empties the text, but keeps its memory. */
void text_clear(struct metrics_text *text);

/*
 * One series: its metric, a suffix of the name ("_bucket" or ""), then labels, then the value. A
 * metric's first series is preceded by its HELP and TYPE.
 */
void text_series(struct metrics_text *text, enum metric_id id, const char *suffix);
/* value: any text; it is escaped. */
void text_label(struct metrics_text *text, const char *name, const char *value);
void text_label_number(struct metrics_text *text, const char *name, int64_t value);
void text_label_seconds(struct metrics_text *text, const char *name, uint64_t value_ns);
void text_value(struct metrics_text *text, uint64_t value);
void text_value_seconds(struct metrics_text *text, uint64_t value_ns);

/* ---- metrics.c */

#define METRICS_SERIES_MAX 20000 /* the default limit: 1,000 vCPUs have some 17,000 */

struct metrics_config {
	unsigned int groups; /* of enum metrics_group */
	size_t max_series;   /* of guests and CPUs; the program's own are few and always there */
	unsigned int statistics; /* the sources of KVM's own counters, as bits */
	const struct thresholds *thresholds; /* of findings; NULL: the defaults; outlive it */
};

struct metrics_source {
	const char *name;
	bool is_up;
};

/* About the program itself: facts do not have it. */
struct metrics_self {
	const char *arch, *engine; /* engine NULL: nothing counts trace events */
	uint64_t start_ns;	   /* CLOCK_REALTIME */
	uint64_t sample_ns;	   /* how long the latest sample took */
	struct metrics_source sources[SAMPLE_SOURCES];
	size_t nr_sources;
};

struct metrics;

struct metrics *metrics_new(const struct metrics_config *config);
void metrics_free(struct metrics *metrics);

/* Each sample, at CLOCK_MONOTONIC; further calls of the same sample do nothing. */
void metrics_take(struct metrics *metrics, const struct facts *facts, uint64_t now_ns);

/* The text of the facts taken last. It is metrics' own, and valid until the next call. */
const struct metrics_text *metrics_write(struct metrics *metrics, const struct facts *facts,
					 const struct metrics_self *self);

/* The latest text's series that are limited, and how many were left out. */
size_t metrics_series(const struct metrics *metrics);
size_t metrics_dropped(const struct metrics *metrics);

/*
 * ---- names.c, for metrics.c and sums.c alone: which guests are exported, and their labels: no two
 * guests have the same at a time.
 *
 * A label is the guest's name or, if a guest that runs has this label already, the name and the
 * pid: "web (4711)". It never changes. The next guest of a name goes on with the series of the one
 * before, if these are still there. If that one was brief, so that its counts are elsewhere, the
 * next one has no series for METRICS_STAY_NS: they would look as if they went on.
 */

#define METRICS_BRIEF_NS UINT64_C(60000000000) /* readers are expected to read as often */
#define METRICS_STAY_NS	 UINT64_C(90000000000) /* long enough for one that is late */

/* Counters of guests that ended, by field, and by vCPU or -1. Zero-initialised is empty. */
struct kept_sums {
	struct kept_sum {
		struct key key;
		uint64_t total;
		struct timing_sum timing;
	} *list;
	size_t nr, room;
	struct key_index index;
};

/* NULL: there is none. */
const struct kept_sum *kept_find(const struct kept_sums *sums, int32_t vcpu, uint32_t field);

/* The latest exported differences of two counters of a vCPU: they must not go back. */
struct vcpu_shown {
	int32_t index;
	uint64_t wait_ns;
	bool has_interrupts;
	uint64_t interrupt_ns[3]; /* waking, waiting, entering */
};

struct named_guest {
	uint32_t id;
	const struct guest *guest;   /* valid after names_take(); NULL: it is forgotten */
	char label[GUEST_NAME_SIZE]; /* "": it is not exported, or not yet */
	uint64_t began_ns, ended_ns; /* the samples that had it first, and as ended */
	bool is_lasting; /* it is not brief, or was there before the first sample */
	bool has_ended, is_brief; /* is_brief: "(ended)" has its counts */
	bool has_keys; /* stats have counts of it */
	struct vcpu_shown *shown; /* in the order in which the vCPUs came */
	size_t nr_shown, room;
	struct kept_sums carried; /* of guests that had the label before */
	UT_hash_handle hh;
};

/* A difference of counters which are read at different moments may be less than before. */
uint64_t vcpu_never_back(uint64_t whole_ns, uint64_t part_ns, uint64_t *shown_ns);

/* at: its probable index. The vCPU's number is none: it may be of any size. */
struct vcpu_shown *vcpu_shown_of(struct named_guest *named, int32_t index, size_t at);

/* Zero-initialised is empty. */
struct names {
	struct named_guest *by_id; /* ascending by id */
	struct named_guest ended;  /* "(ended)" */
	/* Brief guests that ended: what stats have forgotten; that, and what they still have. */
	struct kept_sums forgotten, all;
	bool has_begun;
};

/* Brings the names up to date with the next sample: labels are right, and the sums. */
void names_take(struct names *names, const struct facts *facts, uint64_t now_ns);

void names_release(struct names *names);

/*
 * ---- sums.c, for metrics.c alone: the exported numbers, the keys of stats added up by guest,
 * reason and vCPU.
 */

/* One field of one guest. */
struct cell_sum {
	bool is_set; /* the guest has the field */
	/* An event that is also counted as exits: the exits count from the first one on. */
	bool is_of_exits;
	uint64_t count;
	struct timing_sum *timing; /* since the start; valid as long as the sums */
};

struct guest_sum {
	struct named_guest *named;
	struct cell_sum *cells; /* by struct metric_sums' columns, nr_columns of them */
	struct owner *vcpus; /* ascending by number; of "(ended)" one, without a number */
	size_t nr_vcpus;
	uint64_t wait_ns[WAIT_PARTS]; /* while what had the CPU */
};

/* Zero-initialised is empty. */
struct metric_sums {
	struct guest_sum *guests; /* "(ended)", then ascending by id */
	size_t nr_guests, room_guests;
	uint32_t *columns; /* fields with a cell for each guest */
	uint32_t *column_of; /* by field */
	uint32_t *event_of; /* by field: the event that exits of this reason are; else FIELD_NONE */
	size_t room_events;
	size_t nr_columns, room_columns, room_fields;
	struct cell_sum *cells; /* of all guests, then host_cells */
	size_t room_cells;
	struct cell_sum *host_cells; /* the cells without a guest */
	struct owner ended; /* the vCPU of guests[0] */
	struct timing_sum none;
	const struct owner *cpus; /* the host's, ascending by number */
	size_t nr_cpus;
	bool has_waits[WAIT_PARTS]; /* a guest has had such */
	bool has_lost;
	uint64_t lost;
	struct rollup counts, times; /* of guests by field; of vCPUs and host CPUs */
};

/* Adds up all keys; the sums before are forgotten. */
void metric_sums_take(struct metric_sums *sums, const struct facts *facts, struct names *names);
/* What was waiting, and no quota's. */
const struct sum *owner_wait(const struct owner *vcpu);
/* NULL: the guest is not exported. */
struct guest_sum *guest_sum_of(const struct metric_sums *sums, uint32_t id);
void metric_sums_release(struct metric_sums *sums);

#endif
