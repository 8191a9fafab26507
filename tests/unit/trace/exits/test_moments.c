// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_moments - a recording cut into intervals: what all of them counted is what the recording
 * has, by guest, vCPU, reason and bucket.
 */
#include <errno.h>
#include <math.h>

#include "lib/array.h"
#include "history/past.h"
#include "history/play.h"
#include "core/monitor.h"
#include "tests/unit/unit.h"
#include "tests/worlds/cmocka_range.h"
#include "tests/worlds/trace_file.h"
#include "history/recent.h"
#include "trace/exits/recording.h"
#include "core/views/query.h"
#include "core/views/view.h"

/* A recording that was read, and its moments. */
struct world {
	const char *path;
	struct recording recording;
	struct monitor *monitor;
	struct recent_writer writer;
	struct store store;
	struct played_rows rows; /* of the whole recording */
	double interval_s;
};

static const struct recording_choice choice = { .arguments = PAIRING_ALL_ARGUMENTS };

static void read_recording(const char *name, double interval_s, struct recording *ret_recording)
{
	struct recording_choice chosen = choice;
	struct error error = { "" };

	chosen.has_moments = true;
	chosen.interval_s = interval_s;
	assert_int_equal(recording_read(&name, 1, &chosen, ret_recording, &error), 0);
}

static uint64_t span_of(const char *name)
{
	struct recording recording;
	struct error error = { "" };
	uint64_t span_ns;

	assert_int_equal(recording_read(&name, 1, &choice, &recording, &error), 0);
	span_ns = recording.span_ns;
	recording_release(&recording);
	return span_ns;
}

/* interval_s: as recording_choice has it. */
static void open_cut(struct world *world, const char *name, double interval_s)
{
	struct monitor_config config = { .list = recorded_players };
	struct error error = { "" };
	struct segment segment = { 0 };
	struct fields *fields;

	*world = (struct world){ .path = name };
	read_recording(name, interval_s, &world->recording);
	config.recording = (struct monitor_recording){
		.recording = &world->recording,
		.guests = world->recording.guests,
	};
	assert_int_equal(monitor_open(&config, &world->monitor, &error), 0);
	fields = monitor_fields(world->monitor);
	segment.interval_s = moments_interval_s(&world->recording);
	if (interval_s > 0)
		assert_true(fabs(segment.interval_s / interval_s - 1) < 1e-6);
	world->interval_s = segment.interval_s;
	world->writer.recent = recent_new((size_t)256 << 20, &segment, fields);
	world->writer.start_ns = 86400 * UINT64_C(1000000000);
	assert_int_equal(moments_make(&world->recording, fields, recent_write, &world->writer), 0);
	world->store = recent_store(world->writer.recent);
	recorded_add_events(&world->rows, &world->recording, fields, RECORDED_EVENTS);
	recorded_add_exits(&world->rows, &world->recording, fields, RECORDED_EXITS);
	played_rows_join(&world->rows, fields);
}

/* nr: how many intervals, about. */
static void open_file(struct world *world, const char *name, double nr)
{
	open_cut(world, name, (double)span_of(name) / 1e9 / nr);
}

static void end(struct world *world)
{
	played_rows_release(&world->rows);
	recent_writer_release(&world->writer);
	recent_free(world->writer.recent);
	monitor_close(world->monitor);
	recording_release(&world->recording);
}

static struct played_row *find(struct played_rows *rows, const struct key *key)
{
	for (size_t i = 0; i < rows->nr; i++) {
		if (key_compare(&rows->list[i].key, key) == 0)
			return &rows->list[i];
	}
	return NULL;
}

/* Moments have the parts of an open exit's time, too: see parts_of_intervals(). */
static bool is_part(const struct fields *fields, const struct key *key)
{
	return fields_get(fields, key->field)->use == USE_EXIT_PART;
}

/* Takes what the interval counted away from what the recording has. */
static void subtract(struct world *world, const struct moment *moment, uint64_t elapsed_ns)
{
	const struct fields *fields = monitor_fields(world->monitor);

	for (size_t i = 0; i < moment->changes.nr; i++) {
		const struct change *change = &moment->changes.list[i];
		struct played_row *row = find(&world->rows, &change->key);
		const struct change_timing *timing;
		const uint64_t *counts;
		struct timing *spent;

		timing = changes_timing(&moment->changes, change);
		if (is_part(fields, &change->key))
			continue;
		if (!row) { /* the recording ends before it does */
			assert_int_equal(change->count, 0);
			assert_true(!timing || !timing->time_ns);
			continue;
		}
		assert_int_equal(change->flags & ~(CHANGE_NEW | CHANGE_HAS_RATE), 0);
		if (fields_get(fields, change->key.field)->kind != FIELD_COUNTER)
			continue;
		row->count -= change->count;
		/* A vCPU's time is known from its first exit on, and then from its first entry. */
		if (fields_get(fields, change->key.field)->use == USE_TIME &&
		    !(change->flags & CHANGE_NEW))
			assert_int_in_range(change->count, 0, elapsed_ns + 1);
		if (!timing)
			continue;
		/* No exit has more time than there was. What it read is known when it ends. */
		if (change->key.vcpu >= 0 &&
		    fields_get(fields, change->key.field)->use == USE_EXIT)
			assert_in_range(change_timing_spent_ns(timing), 0, elapsed_ns + 1);
		spent = played_rows_timing(&world->rows, row);
		spent->time_ns -= timing->time_ns;
		counts = changes_counts(&moment->changes, timing);
		for (unsigned int k = 0; k < timing->nr; k++)
			spent->hist[timing->first + k] -= (uint32_t)counts[k];
	}
}

/* Returns the number of moments. Their intervals adjoin, and are as long as the recording. */
static size_t subtract_all(struct world *world)
{
	struct moment moment = { .flags = 0 };
	struct error error = { "" };
	struct reader reader;
	struct stored stored;
	uint64_t at_ns = world->writer.start_ns;
	size_t nr = 0;
	int err = world->store.type->find(world->store.state, 0, &stored, &error);

	reader_init(&reader, world->store, monitor_fields(world->monitor));
	while (!err) {
		nr++;
		at_ns += stored.elapsed_ns;
		assert_int_equal(stored.time_ns, at_ns);
		assert_int_equal(reader_changes(&reader, stored.id, UNPACK_ALL, &moment, &error),
				 0);
		subtract(world, &moment, stored.elapsed_ns);
		err = world->store.type->step(world->store.state, stored.id, false, &stored,
					      &error);
	}
	assert_int_equal(err, -ENOENT);
	assert_int_equal(at_ns - world->writer.start_ns, world->recording.span_ns);
	moment_release(&moment);
	reader_release(&reader);
	return nr;
}

/* A vCPU's time before events that are missing may be taken back by them. */
static bool may_be_more(const struct world *world, const struct field *field)
{
	return field->use == USE_TIME && world->recording.pairing.nr_losses;
}

static void nothing_is_left(const struct world *world)
{
	static const uint32_t none[HIST_BUCKETS];
	const struct fields *fields = monitor_fields(world->monitor);

	for (size_t i = 0; i < world->rows.nr; i++) {
		const struct played_row *row = &world->rows.list[i];
		const struct timing *timed = played_rows_timing(&world->rows, row);
		const struct field *field = fields_get(fields, row->key.field);

		if (field->kind != FIELD_COUNTER || may_be_more(world, field) ||
		    is_part(fields, &row->key))
			continue;
		if (row->count || (timed && timed->time_ns))
			print_error("%s: %s\n", world->path, field->name);
		assert_int_equal(row->count, 0);
		if (!timed)
			continue;
		assert_int_equal(timed->time_ns, 0);
		assert_memory_equal(timed->hist, none, sizeof(none));
	}
}

static const char *const recordings[] = {
	"tests/data/trace/arm64-perf.data",
	"tests/data/trace/buffers-v7.dat",
	"tests/data/trace/small-v7.dat",
	"tests/data/trace/svm-perf.data",
};

TEST(sums_are_the_recordings)
{
	struct world world;

	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		for (unsigned int nr = 1; nr < 1000; nr = 7 * nr + 1) {
			open_file(&world, recordings[i], nr);
			assert_int_in_range(subtract_all(&world), nr, nr + 1);
			nothing_is_left(&world);
			end(&world);
		}
	}
}

/* Intervals that were joined while the file was read are as if it had been cut so. */
TEST(joined_intervals_are_as_cut_ones)
{
	struct world joined, cut;
	size_t nr_joined = 0;

	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++) {
		struct blob blobs[2] = { { .size = 0 }, { .size = 0 } };
		struct error error = { "" };
		uint64_t id = 1;

		open_cut(&joined, recordings[i], 0);
		nr_joined += joined.recording.pairing.intervals.nr_joins > 0;
		open_cut(&cut, recordings[i], joined.interval_s);
		assert_int_equal(cut.recording.pairing.intervals.nr_joins, 0);
		while (joined.store.type->read(joined.store.state, id, PART_CHANGES, &blobs[0],
					       &error) == 0) {
			assert_int_equal(cut.store.type->read(cut.store.state, id, PART_CHANGES,
							      &blobs[1], &error), 0);
			assert_int_equal(blobs[0].size, blobs[1].size);
			assert_memory_equal(blobs[0].bytes, blobs[1].bytes, blobs[0].size);
			id++;
		}
		assert_int_equal(subtract_all(&joined), id - 1);
		nothing_is_left(&joined);
		blob_release(&blobs[0]);
		blob_release(&blobs[1]);
		end(&joined);
		end(&cut);
	}
	assert_int_in_range(nr_joined, 2, ARRAY_SIZE(recordings));
}

/* Threads that change in each of too many intervals: these are joined before there is no room. */
TEST(what_is_kept_is_bounded)
{
	enum { NR_THREADS = 200, NR_TIMES = 1500, ROOM = 80 << 20 };
	struct table table = { .nr_threads = 0 };
	struct intervals intervals;

	intervals_init(&intervals, &table, 1, 0);
	intervals_begin(&intervals, 1);
	for (uint64_t time = 1; time <= NR_TIMES; time++) {
		for (uint64_t i = 0; i < NR_THREADS; i++) {
			const struct trace_event event = { .thread_key = i };
			struct recorded_thread *thread = table_add(&table, &event);

			intervals_touch(&intervals, thread, time);
			table_make_state(thread)->first = time;
		}
		assert_int_in_range(intervals.bytes, 0, ROOM);
	}
	intervals_end(&intervals);
	assert_int_in_range(intervals.nr_joins, 1, 2);
	assert_int_in_range(intervals.latest, NR_TIMES / 10 - 1, NR_TIMES / 2);
	intervals_rewind(&intervals);
	intervals_replay(&intervals, 5);
	/* The last time of the interval. */
	assert_int_equal(table.threads[7]->state->first,
			 intervals_end_of(&intervals, 5) - 1);
	intervals_replay(&intervals, UINT32_MAX);
	assert_int_equal(table.threads[7]->state->first, NR_TIMES);
	table_release(&table);
}

/* What a moment counted. */
static uint64_t count_of(const struct world *world, uint64_t id, const char *name)
{
	uint32_t field = fields_find(monitor_fields(world->monitor), name);
	struct moment moment = { .flags = 0 };
	struct error error = { "" };
	struct reader reader;
	uint64_t count = 0;

	assert_int_not_equal(field, FIELD_NONE);
	reader_init(&reader, world->store, monitor_fields(world->monitor));
	assert_int_equal(reader_changes(&reader, id, UNPACK_ALL, &moment, &error), 0);
	for (size_t i = 0; i < moment.changes.nr; i++) {
		if (moment.changes.list[i].key.field == field)
			count += moment.changes.list[i].count;
	}
	moment_release(&moment);
	reader_release(&reader);
	return count;
}

static void put_switch(struct bytes *bytes, uint32_t from, uint64_t state, uint32_t to)
{
	put_common(bytes, 107, from);
	put_u32(bytes, from);
	put_u32(bytes, 0);
	put_u64(bytes, state);
	put_u32(bytes, to);
	put_u32(bytes, 0);
}

static void put_waking(struct bytes *bytes, uint32_t by, uint32_t tid)
{
	put_common(bytes, 108, by);
	put_u32(bytes, tid);
}

/* What the whole recording has, of all vCPUs. */
static uint64_t whole_of(const struct world *world, const char *name)
{
	uint32_t field = fields_find(monitor_fields(world->monitor), name);
	uint64_t count = 0;

	assert_int_not_equal(field, FIELD_NONE);
	for (size_t i = 0; i < world->rows.nr; i++)
		count += world->rows.list[i].key.field == field ? world->rows.list[i].count : 0;
	return count;
}

/* A halt of four intervals is counted in the last one; the vCPU is halted in each. */
TEST(exit_of_many_intervals)
{
	struct bytes event = { .len = 0 }, file = { .len = 0 };
	struct world world;
	struct made_ring ring;

	ring_init(&ring, 0);
	put_exit(&event, 77, 0, 1, 12);
	ring_add(&ring, 1000, &event);
	put_entry(&event, 77, 0);
	ring_add(&ring, 9000, &event);
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	open_file(&world, path, 4);
	for (uint64_t id = 1; id <= 4; id++) {
		assert_int_equal(count_of(&world, id, "vmexit(HLT)"), id == 4);
		assert_int_equal(count_of(&world, id, "kvm_exit(HLT)"), id == 1);
		assert_int_equal(count_of(&world, id, "time"), 2000);
		assert_int_equal(count_of(&world, id, "time(idle)"), 2000);
	}
	assert_int_equal(subtract_all(&world), 4);
	nothing_is_left(&world);
	end(&world);
	bytes_release(&event);
	bytes_release(&file);
}

/*
 * An exit of four intervals of 2 us that sleeps from the first one on, and waits in the last one:
 * both are known as they pass. Its second exit has no end, and is in no row of the whole recording.
 */
TEST(parts_of_intervals)
{
	const char *formats[NR_WORLD_FORMATS + 2] = {
		[NR_WORLD_FORMATS] =
			"name: sched_switch\nID: 107\n" COMMON_FIELDS
			"\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
			"\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n"
			"\tfield:pid_t next_pid;\toffset:24;\tsize:4;\tsigned:1;\n\n"
			"print fmt: \"%d\", REC->prev_pid\n",
		[NR_WORLD_FORMATS + 1] =
			"name: sched_wakeup\nID: 108\n" COMMON_FIELDS
			"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
			"print fmt: \"%d\", REC->pid\n",
	};
	static const uint64_t blocked[] = { 1500, 2000, 2000, 500, 0 };
	static const uint64_t waited[] = { 0, 0, 0, 1000, 300 };
	struct bytes event = { .len = 0 }, file = { .len = 0 };
	struct world world;
	struct made_ring ring;

	memcpy(formats, world_formats, sizeof(world_formats));
	ring_init(&ring, 0);
	put_exit(&event, 77, 0, 1, 48);
	ring_add(&ring, 1000, &event);
	put_switch(&event, 77, 2, 0);
	ring_add(&ring, 1500, &event);
	put_waking(&event, 0, 77);
	ring_add(&ring, 7500, &event);
	put_switch(&event, 0, 0, 77);
	ring_add(&ring, 8500, &event);
	put_entry(&event, 77, 0);
	ring_add(&ring, 9000, &event);
	put_exit(&event, 77, 0, 1, 48);
	ring_add(&ring, 10000, &event);
	put_switch(&event, 77, 0, 0);
	ring_add(&ring, 10700, &event);
	put_waking(&event, 0, 6);
	ring_add(&ring, 11000, &event);
	put_dat6(&file, &ring, 1, formats, ARRAY_SIZE(formats), "[local]");
	save(path, file.data, file.len);
	open_cut(&world, path, 2e-6);
	for (uint64_t id = 1; id <= 5; id++) {
		assert_int_equal(count_of(&world, id, "time"), 2000);
		assert_int_equal(count_of(&world, id, "time(block)"), blocked[id - 1]);
		assert_int_equal(count_of(&world, id, "time(wait)"), waited[id - 1]);
		assert_int_equal(count_of(&world, id, "vmexit_blocked(EPT_VIOLATION)"),
				 blocked[id - 1]);
		assert_int_equal(count_of(&world, id, "vmexit_waited(EPT_VIOLATION)"),
				 waited[id - 1]);
	}
	assert_int_equal(whole_of(&world, "vmexit_blocked(EPT_VIOLATION)"), 6000);
	assert_int_equal(whole_of(&world, "vmexit_waited(EPT_VIOLATION)"), 1000);
	assert_int_equal(whole_of(&world, "time(wait)"), 1300);
	assert_int_equal(whole_of(&world, "time(kvm)"), 1000 + 700);
	end(&world);
	bytes_release(&event);
	bytes_release(&file);
}

/* A guest that has ended spends no time in the intervals after it. */
TEST(an_ended_guest_has_no_intervals)
{
	struct bytes event = { .len = 0 }, file = { .len = 0 };
	struct world world;
	struct made_ring ring;

	ring_init(&ring, 0);
	put_exit(&event, 77, 0, 1, 30);
	ring_add(&ring, 1000, &event);
	put_entry(&event, 77, 0);
	ring_add(&ring, 1500, &event);
	put_exit(&event, 77, 0, 1, 30);
	ring_add(&ring, 2000, &event);
	put_entry(&event, 300, 0); /* of another guest */
	ring_add(&ring, 9000, &event);
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	open_file(&world, path, 4);
	for (uint64_t id = 1; id <= 4; id++)
		assert_int_equal(count_of(&world, id, "time"), id == 1 ? 1000 : 0);
	assert_int_equal(subtract_all(&world), 4);
	nothing_is_left(&world);
	end(&world);
	bytes_release(&event);
	bytes_release(&file);
}

/* The second halt has no entry: the recording takes its time back, the moments do not. */
TEST(time_does_not_go_back)
{
	static const uint64_t times[] = { 1000, 21000, 22000, 27000, 29000 };
	struct bytes event = { .len = 0 }, file = { .len = 0 };
	struct world world;
	struct made_ring ring;

	ring_init(&ring, 0);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		if (i % 3 == 1)
			put_entry(&event, 77, 0);
		else
			put_exit(&event, 77, 0, 1, 12);
		ring_add(&ring, times[i], &event);
	}
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	open_file(&world, path, 14);
	for (uint64_t id = 1; id <= 14; id++)
		assert_int_in_range(count_of(&world, id, "time(idle)"), 0, 2000);
	end(&world);
	bytes_release(&event);
	bytes_release(&file);
}

/* The last moment has the totals of the recording, also by way of the monitor. */
TEST(totals_are_the_recordings)
{
	struct query query = { .type = &view_exits };
	struct monitor_config config = { .list = history_recorded_players, .counts_all = true };
	const struct facts *facts;
	struct error error = { "" };
	struct monitor *monitor;
	struct world world;
	struct past *past;
	size_t nr = 0;

	open_file(&world, recordings[3], 300);
	past = past_new(world.store, monitor_fields(world.monitor));
	assert_int_equal(past_go(past, UINT64_MAX, &error), 0);
	config.recording = (struct monitor_recording){
		.recording = &past,
		.guests = past_guests(past),
		.fields = monitor_fields(world.monitor),
	};
	assert_int_equal(monitor_open(&config, &monitor, &error), 0);
	assert_int_equal(monitor_want(monitor, &query, &error), 0);
	monitor_sample(monitor);
	assert_null(monitor_no_exits(monitor));
	facts = monitor_facts(monitor);
	for (size_t i = 0; i < facts->stats->nr; i++) {
		const struct stats_item *item = &facts->stats->list[i];
		const struct played_row *row = find(&world.rows, &item->key);
		const struct timing *timing;

		if (!row && !item->total) /* the recording ends before it does */
			continue;
		if (is_part(facts->fields, &item->key))
			continue;
		assert_non_null(row);
		assert_int_equal(item->total, row->count);
		nr += item->timing != NULL;
		if (!item->timing)
			continue;
		timing = played_rows_timing(&world.rows, row);
		assert_int_equal(item->timing->total_ended_ns, timing->time_ns);
		assert_int_equal(item->timing->max_ns, timing->max_ns);
	}
	assert_true(nr > 3);
	monitor_close(monitor);
	past_free(past);
	end(&world);
}

/* Of a damaged file: the last event has the latest time that there can be. */
TEST(the_latest_time_ends_the_last_interval)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct world world;
	size_t data;

	put_perf_header(&file);
	data = file.len;
	put_exit(&event, 77, 0, 1, 12);
	put_sample(&file, 1000, 0, 70, 77, &event);
	put_entry(&event, 77, 0);
	put_sample(&file, UINT64_MAX, 0, 70, 77, &event);
	put_perf_features(&file, data, "AuthenticAMD,25,1,1");
	save(path, file.data, file.len);
	bytes_release(&event);
	bytes_release(&file);
	open_file(&world, path, 10);
	assert_int_in_range(subtract_all(&world), 10, 11);
	end(&world);
}

static void assert_near(double is, double should_be)
{
	if (fabs(is - should_be) > 0.01 * should_be)
		fail_msg("%g, not %g", is, should_be);
}

/* The usual intervals take half a second to make, the shortest ones a few seconds. */
TEST(many_rows_make_long_intervals)
{
	enum { NR_VCPUS = 100, NR_REASONS = 80, NR = NR_VCPUS * NR_REASONS };
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct recording recording;
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i < NR; i++) {
		put_exit(&event, 1000 + i % NR_VCPUS, i % NR_VCPUS, 1, 200 + i / NR_VCPUS);
		ring_add(&ring, UINT64_C(1000000) * i, &event);
	}
	put_entry(&event, 1000, 0);
	ring_add(&ring, UINT64_C(1000000) * NR, &event);
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	/* 8 s with 8,000 rows: 62 intervals would be made in half a second, 499 in a few. */
	read_recording(path, 0, &recording);
	assert_near(moments_interval_s(&recording), 0.2);
	recording_release(&recording);
	read_recording(path, 0.001, &recording);
	assert_near(moments_interval_s(&recording), 0.02);
	recording_release(&recording);
}

struct moments_seen {
	uint64_t nr, latest_ns, last_length_ns;
};

static int see_moment(void *arg, const struct facts *facts, uint64_t offset_ns)
{
	struct moments_seen *seen = arg;

	(void)facts;
	seen->last_length_ns = offset_ns - seen->latest_ns;
	seen->latest_ns = offset_ns;
	seen->nr++;
	return 0;
}

/* The moments of an exit each ms, in intervals of 100 ms. */
static struct moments_seen moments_of_ms(uint32_t nr_ms)
{
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct moments_seen seen = { 0 };
	struct fields *fields = fields_new();
	struct recording recording;
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i <= nr_ms; i++) {
		if (i % 2)
			put_entry(&event, 1000, 0);
		else
			put_exit(&event, 1000, 0, 1, 200);
		ring_add(&ring, UINT64_C(1000000) * i, &event);
	}
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	read_recording(path, 0.1, &recording);
	assert_near(moments_interval_s(&recording), 0.1);
	assert_int_equal(moments_make(&recording, fields, see_moment, &seen), 0);
	recording_release(&recording);
	fields_free(fields);
	return seen;
}

/* The rates of a sliver would be the peaks of each chart. */
TEST(less_than_half_an_interval_is_of_the_last_one)
{
	struct moments_seen seen = moments_of_ms(1002);

	assert_int_equal(seen.nr, 11); /* with the first one, at 0 */
	assert_int_equal(seen.last_length_ns, 102000000);
	seen = moments_of_ms(1060);
	assert_int_equal(seen.nr, 12);
	assert_int_equal(seen.last_length_ns, 60000000);
	seen = moments_of_ms(30);
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.last_length_ns, 30000000);
}

/* Each thread is work in each interval, also without an exit. */
TEST(many_threads_make_long_intervals)
{
	enum { NR = 20000 };
	struct bytes file = { .len = 0 }, event = { .len = 0 };
	struct recording recording;
	struct made_ring ring;

	ring_init(&ring, 0);
	for (uint32_t i = 0; i < NR; i++) {
		put_entry(&event, 1000 + i, 0);
		ring_add(&ring, UINT64_C(500000000) * i, &event);
	}
	put_dat6(&file, &ring, 1, world_formats, NR_WORLD_FORMATS, "[local]");
	save(path, file.data, file.len);
	bytes_release(&file);
	bytes_release(&event);
	read_recording(path, 0, &recording); /* 10,000 s */
	assert_near(moments_interval_s(&recording), 1000);
	recording_release(&recording);
}

GROUP(set_up, tear_down);
