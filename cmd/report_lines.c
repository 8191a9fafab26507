// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop report` as text, CSV and JSON, and --diff: views of a recording, written as lines. */
#include <errno.h>
#include <string.h>

#include "lib/say.h"
#include "cmd/report.h"
#include "core/views/diff.h"
#include "ui/lines/lines.h"
#include "ui/lines/recording.h"
#include "core/views/build.h"

/* A view of a recording, and the description of the recording. */
struct printed {
	struct report_facts facts;
	struct view view;
	struct lines_recording about;
	const struct lines_recording *other; /* --diff: the view is of both; else NULL */
};

/* ---- what is said of the recording */

/* Counts the guests and vCPUs that the query asks for. */
static void count_vcpus(const struct report_facts *facts, struct lines_recording *about)
{
	const struct guests *guests = facts->reading->recorded.guests;

	for (size_t i = 0; !facts->is_none && i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);
		size_t nr = about->nr_vcpus;

		for (size_t j = 0; j < guest->nr_vcpus; j++) {
			const struct key key = { guest->id, guest->vcpus[j].index, FIELD_NONE };

			about->nr_vcpus += query_has_key(&facts->query, &key);
		}
		about->nr_guests += about->nr_vcpus > nr;
	}
}

/* Counts the exits of the query that began and have no end. */
static uint64_t count_unfinished(const struct report_facts *facts)
{
	const struct recorded *recorded = &facts->reading->recorded;
	const struct table *table = &recorded->recording->pairing.table;
	uint64_t nr = 0;

	for (size_t i = 0; !facts->is_none && i < table->nr_threads; i++) {
		const struct recorded_thread *thread = table->threads[i];
		const struct recorded_vcpu *vcpu = &recorded->vcpus[i];
		const struct key key = { vcpu->guest, vcpu->vcpu, FIELD_NONE };

		if (!query_has_key(&facts->query, &key))
			continue;
		for (size_t j = 0; j < thread->nr_counts; j++) {
			const struct exit_count *count = thread->counts[j];

			if (count->key.kind == facts->query.event)
				nr += count->begun - count->took.count;
		}
	}
	return nr;
}

/* The text instead of a table without rows. */
static const char *why_none(const struct query *query, const struct pairing *pairing)
{
	if (query->type->takes_longer && pairing->has_entries)
		return "None of the chosen exits took so long.";
	if (query->type->has_findings && pairing->has_exits[EXITS_VMEXIT])
		return "Nothing found that makes these guests slow.";
	if (pairing->table.nr_counts[query->event])
		return "The guests, processes, threads and vCPUs that were chosen have none of "
		       "these exits; --by tid shows which there are.";
	if (query->event == EXITS_VMEXIT && !pairing->has_exits[EXITS_VMEXIT])
		return "No VM exits (kvm_exit) are recorded; --event userspace shows the exits "
		       "to user space.";
	return query->type->takes_groups ? "No exits of this kind are recorded." :
					   "The recording has nothing for this view.";
}

static void describe(struct printed *printed)
{
	const struct report_facts *facts = &printed->facts;
	const struct recording *recording = &facts->reading->recording;
	const struct pairing *pairing = &recording->pairing;

	printed->about = (struct lines_recording){
		.trace = recording->trace,
		.pairing = pairing,
		.unit = facts->reading->unit,
		.ns_per_unit = facts->reading->recorded.ns_per_unit,
		.has_time = pairing->has_entries && facts->reading->recorded.ns_per_unit > 0,
		.span = facts->reading->unit == UNIT_CYCLES ? recording_span(recording) :
							      facts->reading->recorded.span_ns,
		.none = why_none(&facts->query, pairing),
	};
	count_vcpus(facts, &printed->about);
	if (printed->about.has_time)
		printed->about.nr_unfinished = count_unfinished(facts);
}

/* ---- making the view */

/* What compares times with a threshold cannot answer where the clock's unit is not known. */
static int check_clock(const struct source_reading *reading, const struct view_type *type,
		       struct error *why)
{
	const struct trace_info *info = trace_clock_info(reading->recording.trace);

	if (reading->unit == UNIT_NS || !(type->takes_longer || type->has_findings))
		return 0;
	return error_set(
		why, -EINVAL,
		info->clock == TRACE_CLOCK_COUNT ?
			"%s: the recording's clock counts events, not time" :
			"%s: times are in TSC cycles: give the TSC's frequency with -f 2.4GHz",
		info->path);
}

static int make(struct printed *printed, const struct source *source,
		const struct options *options, struct error *why)
{
	const struct view_type *type = report_view(options);
	struct report_facts *facts = &printed->facts;
	int err = report_facts_init(facts, source, options, type, why);
	const char *lacks;

	if (!err)
		err = check_clock(facts->reading, type, why);
	if (err)
		return err;
	if (!type->takes_groups && facts->query.nr_only && facts->query.guest == GUEST_ANY)
		return error_set(why, -EINVAL, "--view %s shows all guests or one: give -p one PID",
				 type->name);
	describe(printed);
	printed->view.type = type;
	facts->query.reverse = type->takes_longer && !options->sort; /* the oldest first */
	if (facts->is_none || !facts->monitor)
		return 0;
	monitor_sample(facts->monitor);
	view_build(&printed->view, &facts->query, monitor_facts(facts->monitor));
	lacks = query_lacks(&facts->query, monitor_facts(facts->monitor));
	if (lacks)
		printed->view.note = lacks;
	printed->about.has_exits = printed->view.nr_rows > 0;
	return 0;
}

static void release(struct printed *printed)
{
	view_release(&printed->view);
	report_facts_release(&printed->facts);
}

/* ---- writing it */

static int write_view(const struct printed *printed, const struct lines_config *config,
		      struct error *why)
{
	return lines_write_once(config, &printed->view, 0,
				printed->about.unit == UNIT_CYCLES ? 0 : printed->about.span, why);
}

/* Both recordings side by side: the first is OTHER. */
static int write_diff(const struct printed *printed, struct error *why)
{
	const struct lines_config table = { .format = LINES_TABLE };
	const struct lines_recording *sides[2] = { printed->other, &printed->about };
	int err;

	for (int i = 0; i < 2; i++)
		fprintf(stdout, "%d: %s\n", i + 1, trace_file(sides[i]->trace, 0)->path);
	if (printed->view.unit == UNIT_CYCLES)
		fputs("times in cycles\n", stdout);
	fputc('\n', stdout);
	err = write_view(printed, &table, why);
	for (int i = 0; i < 2 && !err; i++) {
		if (i == 0 && (lines_recording_has_lacks(sides[0]) ||
			       lines_recording_has_lacks(sides[1])))
			fputc('\n', stdout);
		lines_recording_lacks(sides[i], i + 1, stdout);
	}
	return err;
}

static int write_text(const struct printed *printed, struct error *why)
{
	const struct lines_config table = {
		.format = LINES_TABLE,
		.room = lines_room(),
	};
	int err;

	if (printed->other)
		return write_diff(printed, why);
	lines_recording_head(&printed->about, stdout);
	if (printed->view.nr_rows) {
		err = write_view(printed, &table, why);
		if (err)
			return err;
		lines_recording_total(&printed->about, &printed->view, stdout);
	} else {
		fprintf(stdout, "%s\n", printed->about.none);
	}
	lines_recording_notes(&printed->about, stdout);
	return 0;
}

static int write_all(const struct printed *printed, const struct options *options,
		     struct error *why)
{
	const struct lines_config config = {
		.format = options->json ? LINES_JSON : LINES_ROWS,
		.recording = options->json ? &printed->about : NULL,
		.other = options->json ? printed->other : NULL,
		.path = options->output,
		.overwrites = true,
	};

	return options->json || options->csv ? write_view(printed, &config, why) :
					       write_text(printed, why);
}

int report_lines(const struct source *source, const struct options *options, struct error *why)
{
	struct printed printed = { .view.nr_rows = 0 };
	int err = make(&printed, source, options, why);

	if (!err) {
		say(printed.view.note);
		err = write_all(&printed, options, why);
	}
	release(&printed);
	return err;
}

int report_two(const struct source *other, const struct source *source,
	       const struct options *options, struct error *why)
{
	const struct source *sources[2] = { other, source };
	struct printed sides[2] = { { .view.nr_rows = 0 }, { .view.nr_rows = 0 } };
	struct printed both = { .other = &sides[0].about };
	struct view_side compared[2];
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		err = make(&sides[i], sources[i], options, why);
		compared[i] = (struct view_side){
			.path = sources[i]->name,
			.view = &sides[i].view,
			.span = sides[i].about.span,
			.unit = sides[i].about.unit,
		};
	}
	if (!err)
		err = view_diff(compared, &both.view, why);
	both.about = sides[1].about;
	if (!err) {
		say(both.view.note);
		err = write_all(&both, options, why);
	}
	view_release(&both.view);
	release(&sides[0]);
	release(&sides[1]);
	return err;
}
