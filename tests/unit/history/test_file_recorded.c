// SPDX-License-Identifier: GPL-2.0-or-later
/* Every exit that a recorder is given is in the file, once: by guest, vCPU, reason; in each run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <errno.h>

#include "history/file.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SECOND UINT64_C(1000000000)
#define START (UINT64_C(1790000040) * SECOND)
#define GUESTS 2
#define VCPUS 2
#define REASONS 3
#define KEYS (GUESTS * VCPUS * REASONS)
#define SAMPLES 300 /* of a run: totals come more than once */
#define RUNS 3

static const char *const reasons[REASONS] = { "HLT", "MSR_WRITE", "IO" };
static const char *const names[GUESTS] = { "web", "db" };

/* What was counted of a guest's vCPU with a reason. */
struct counted {
	uint64_t count, time_ns, hist[HIST_BUCKETS];
};

static struct counted made[KEYS], found[KEYS];
static char folder[64], path[80];

static size_t key_index(size_t guest, size_t vcpu, size_t reason)
{
	return (guest * VCPUS + vcpu) * REASONS + reason;
}

/* ---- a run of a writer */

struct run {
	struct fields *fields;
	struct guests *guests;
	struct stats *stats;
	struct sample sample;
	struct field_set wanted;
	struct timing timings[KEYS]; /* since the run began */
	uint64_t counts[KEYS];
	uint32_t first_reason; /* ids differ from run to run */
};

static void add_field(struct run *run, const char *name, uint32_t parent)
{
	const struct field field = { .name = name, .parent = parent, .use = USE_EXIT,
				     .exit_rank = 1, .reason = FIELD_NONE };

	fields_add(run->fields, &field);
}

static void begin(struct run *run, unsigned int nr)
{
	char name[32];

	run->fields = fields_new();
	run->guests = guests_new(NULL);
	run->stats = stats_new();
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "event_%u", i);
		fields_add(run->fields, &(struct field){ .name = name,
							 .parent = FIELD_NONE });
		guests_add_fake(run->guests, 900 + (pid_t)i, "idle", 1);
	}
	run->first_reason = nr + 1;
	add_field(run, "vmexit", FIELD_NONE);
	for (unsigned int i = 0; i < REASONS; i++) {
		snprintf(name, sizeof(name), "vmexit(%s)", reasons[i]);
		add_field(run, name, nr);
	}
	for (size_t i = 0; i < GUESTS; i++)
		guests_add_fake(run->guests, 100 * (pid_t)(i + 1), names[i], VCPUS);
}

static void end(struct run *run)
{
	sample_release(&run->sample);
	stats_free(run->stats);
	guests_free(run->guests);
	fields_free(run->fields);
}

/* A few exits of some vCPUs, each of which takes as long as its bucket has it. */
static void make_exits(struct run *run, size_t i)
{
	for (int k = rand() % 4; k > 0; k--) {
		unsigned int bucket = (unsigned int)rand() % HIST_BUCKETS;
		uint64_t ns = UINT64_C(100) << bucket;

		run->counts[i]++;
		run->timings[i].hist[bucket]++;
		run->timings[i].time_ns += ns;
		if (run->timings[i].max_ns < ns)
			run->timings[i].max_ns = ns;
		made[i].count++;
		made[i].hist[bucket]++;
		made[i].time_ns += ns;
	}
}

static void make_sample(struct run *run, uint64_t now_ns)
{
	sample_reset(&run->sample);
	for (size_t i = 0; i < KEYS; i++) {
		struct key key = { run->first_reason + (uint32_t)(i / (VCPUS * REASONS)),
				   (int32_t)(i / REASONS % VCPUS),
				   run->first_reason + (uint32_t)(i % REASONS) };

		make_exits(run, i);
		sample_add_timed(&run->sample, key, run->counts[i], ROW_NEW,
						  &run->timings[i]);
	}
	run->sample.time_ns[0] = now_ns;
	stats_update(run->stats, run->fields, &run->sample);
}

static struct history_file *open_writer(void)
{
	const struct segment segment = { .host = "box" };
	const struct file_limits limits = { 0 };
	struct history_file *file;
	struct error error = { "" };

	if (history_file_create(path, &segment, &limits, &file, &error) != 0)
		fail_msg("%s", error.text);
	return file;
}

static void write_run(unsigned int nr, bool closes)
{
	struct history_file *file = open_writer();
	struct sink sink = history_file_sink(file);
	struct recorder *recorder;
	struct run run = { 0 };
	struct facts facts;

	begin(&run, nr);
	facts = (struct facts){ .wanted = &run.wanted, .fields = run.fields, .stats = run.stats,
				.guests = run.guests };
	assert_int_equal(recorder_start(&sink, &recorder), 0);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		uint64_t after_ns = (nr * 2 * SAMPLES + i) * SECOND;

		make_sample(&run, SECOND + after_ns);
		recorder_take(recorder, &facts, START + after_ns);
		recorder_flush(recorder, 10000); /* no moment is lost because this is too fast */
	}
	recorder_stop(recorder);
	if (closes)
		assert_int_equal(history_file_close(file, NULL), 0);
	end(&run);
}

/* ---- what is in the file */

struct reading {
	struct store store;
	struct packer *packer;
	struct moment moment;
	struct blob blobs[2];
	uint32_t sum_of[16]; /* by field, see struct sum_fields */
	size_t reason_of[16]; /* by field; REASONS: none */
};

static int take_field(void *arg, uint32_t id, const struct field *field)
{
	struct reading *reading = arg;

	assert_true(id < 16);
	reading->sum_of[id] = field_adds_up(field) ? field->parent + 1 : 0;
	reading->reason_of[id] = REASONS;
	for (size_t i = 0; i < REASONS; i++) {
		if (strcmp(field->label, reasons[i]) == 0)
			reading->reason_of[id] = i;
	}
	return 0;
}

static void read_parts(struct reading *reading, uint64_t id, enum moment_part part, unsigned int nr)
{
	const struct store *store = &reading->store;
	struct error error = { "" };

	for (unsigned int i = 0; i < nr; i++) {
		if (store->type->read(store->state, id, part + i, &reading->blobs[i], &error) != 0)
			fail_msg("%s", error.text);
	}
}

static void add_up(struct reading *reading, const struct changes *changes)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->list[i];
		const struct guest *guest =
			guests_by_id(reading->moment.guests, change->key.guest);
		size_t reason = reading->reason_of[change->key.field];
		const struct change_timing *timing;
		struct counted *to;

		assert_non_null(guest);
		assert_true(reason < REASONS);
		to = &found[key_index(strcmp(guest->name, names[1]) == 0,
				      (size_t)change->key.vcpu, reason)];
		to->count += change->count;
		timing = changes_timing(changes, change);
		if (!timing)
			continue;
		to->time_ns += timing->time_ns;
		changes_add_counts(changes, timing, to->hist);
	}
}

/* The first moment of a run has what was counted before it; each other one what it changed. */
static void add_moment(struct reading *reading, const struct stored *stored)
{
	const struct sum_fields fields = { reading->sum_of, 16 };
	struct error error = { "" };

	if (stored->flags & MOMENT_HAS_GUESTS) {
		guests_free(reading->moment.guests);
		reading->moment.guests = guests_new(NULL);
		assert_int_equal(reading->store.type->guests(reading->store.state, stored,
							     reading->moment.guests, &error), 0);
	}
	if (stored->flags & MOMENT_FIRST) {
		assert_int_equal(reading->store.type->fields(reading->store.state, 0, take_field,
							     reading, &error), 0);
		read_parts(reading, stored->id, PART_TOTALS, 2);
		assert_int_equal(unpack_rows(reading->packer, PART_TOTALS, reading->blobs,
					     UNPACK_ALL, &fields, &reading->moment, &error), 0);
		add_up(reading, &reading->moment.totals);
		return;
	}
	read_parts(reading, stored->id, PART_CHANGES, 2);
	assert_int_equal(unpack_rows(reading->packer, PART_CHANGES, reading->blobs, UNPACK_ALL,
				     &fields, &reading->moment, &error), 0);
	add_up(reading, &reading->moment.changes);
}

static size_t read_file(void)
{
	struct reading reading = { .packer = packer_new() };
	struct stored stored = { 0 };
	struct history_file *file;
	struct error error = { "" };
	uint64_t id = 0;
	size_t nr = 0;
	int err;

	if (history_file_open(path, &file, &error) != 0)
		fail_msg("%s", error.text);
	reading.store = history_file_store(file);
	while ((err = reading.store.type->step(file, id, false, &stored, &error)) == 0) {
		add_moment(&reading, &stored);
		id = stored.id;
		nr++;
	}
	assert_int_equal(err, -ENOENT);
	assert_int_equal(stored.segment, RUNS);
	history_file_close(file, NULL);
	moment_release(&reading.moment);
	blob_release(&reading.blobs[0]);
	blob_release(&reading.blobs[1]);
	packer_free(reading.packer);
	return nr;
}

/* ---- */

static int setup(void **state)
{
	(void)state;
	srand(4711); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same exits each time */
	strcpy(folder, "/tmp/kvmtop-recorded.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/h.db", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path) < 0 || rmdir(folder) < 0 ? -1 : 0;
}

/* In a child, which may leave the file without closing it. */
static void write_in_child(unsigned int nr, bool closes)
{
	size_t size = sizeof(made);
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		write_run(nr, closes);
		_exit(write(ends[1], made, size) == (ssize_t)size ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(read(ends[0], made, size), size);
	close(ends[0]);
	close(ends[1]);
}

TEST(each_exit_is_there_once, setup, teardown)
{
	uint64_t nr = 0;

	write_in_child(0, true);
	write_in_child(1, false);
	write_in_child(2, true);
	assert_int_equal(read_file(), RUNS * SAMPLES);
	for (size_t i = 0; i < KEYS; i++) {
		assert_int_equal(found[i].count, made[i].count);
		assert_int_equal(found[i].time_ns, made[i].time_ns);
		assert_memory_equal(found[i].hist, made[i].hist, sizeof(made[i].hist));
		nr += found[i].count;
	}
	assert_true(nr > KEYS * SAMPLES);
}
