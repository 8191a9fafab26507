// SPDX-License-Identifier: GPL-2.0-or-later
/* What is written to a history file is read from it: moments, fields, segments, rows for people. */
#include <errno.h>

#include "tests/unit/unit.h"
#include "tests/worlds/history_world.h"

/* ---- moments */

static struct stored find(struct history_file *reader, uint64_t time_ns)
{
	struct store store = history_file_store(reader);
	struct stored stored = { 0 };
	struct error error = { "" };

	if (store.type->find(store.state, time_ns, &stored, &error) != 0)
		fail_msg("%s", error.text);
	return stored;
}

TEST(a_moment_is_found_by_its_time, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct stored stored;

	begin_writer(w);
	add_many(w, 20);
	end_writer(w);
	reader = begin_reader(w);
	stored = find(reader, START + 5 * SECOND);
	assert_int_equal(stored.time_ns, START + 5 * SECOND);
	assert_int_equal(stored.elapsed_ns, SECOND);
	assert_int_equal(stored.segment, 1);
	assert_int_equal(stored.flags, 0);
	assert_int_equal(read_number(history_file_store(reader), stored.id), 4);
	assert_int_equal(find(reader, START + 6 * SECOND - 1).id, stored.id);
	assert_int_equal(find(reader, START - 100 * SECOND).time_ns, START + SECOND);
	assert_int_equal(find(reader, UINT64_MAX).time_ns, START + 20 * SECOND);
	assert_int_equal(find(reader, UINT64_MAX - 1).time_ns, START + 20 * SECOND);
	history_file_close(reader, NULL);
}

TEST(the_last_moment_is_the_one_that_came_last, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;

	begin_writer(w);
	add_many(w, 10);
	w->time_ns = START - 3600 * SECOND; /* the clock is set back */
	add_many(w, 3);
	end_writer(w);
	reader = begin_reader(w);
	assert_int_equal(read_number(history_file_store(reader), find(reader, UINT64_MAX).id), 12);
	assert_int_equal(find(reader, START + 10 * SECOND).time_ns, START + 10 * SECOND);
	assert_int_equal(find(reader, START - 3599 * SECOND).time_ns, START - 3599 * SECOND);
	history_file_close(reader, NULL);
}

TEST(one_steps_to_both_sides, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct store store;
	struct stored first, second, other;
	uint64_t last;

	begin_writer(w);
	add_many(w, 3);
	end_writer(w);
	reader = begin_reader(w);
	store = history_file_store(reader);
	first = find(reader, 0);
	assert_int_equal(store.type->step(store.state, first.id, false, &second, &w->error), 0);
	assert_int_equal(second.time_ns, first.time_ns + SECOND);
	assert_int_equal(store.type->step(store.state, second.id, true, &other, &w->error), 0);
	assert_memory_equal(&other, &first, sizeof(first));
	assert_int_equal(store.type->step(store.state, first.id, true, &other, &w->error), -ENOENT);
	assert_int_equal(read_all(w, reader, &last), 3);
	assert_int_equal(store.type->step(store.state, find(reader, UINT64_MAX).id, false, &other,
					  &w->error), -ENOENT);
	history_file_close(reader, NULL);
}

TEST(parts_are_as_they_were_given, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct blob blob = { 0 };
	struct store store;
	uint64_t id;

	w->part_size = 100000; /* of many pages */
	begin_writer(w);
	add_many(w, RUN + 2);
	end_writer(w);
	reader = begin_reader(w);
	store = history_file_store(reader);
	id = find(reader, START + (RUN + 1) * SECOND).id;
	for (int part = 0; part < PART_GUESTS; part++) {
		assert_int_equal(store.type->read(store.state, id, (enum moment_part)part, &blob,
						  &w->error), 0);
		assert_int_equal(blob.size, w->part_size);
		assert_int_equal(part_number(&blob, (enum moment_part)part), RUN);
	}
	assert_int_equal(store.type->read(store.state, id + 1, PART_TOTALS, &blob, &w->error), 0);
	assert_int_equal(blob.size, 0);
	assert_int_equal(store.type->read(store.state, 4711, PART_CHANGES, &blob, &w->error),
			 -ENOENT);
	free(blob.bytes);
	history_file_close(reader, NULL);
}

TEST(totals_are_found_in_the_segment, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct stored stored;
	struct store store;
	uint64_t last;

	begin_writer(w);
	add_many(w, 2 * RUN);
	end_writer(w);
	w->nr = 0; /* another run, of another machine */
	strcpy(w->segment.host, "other");
	begin_writer(w);
	add_many(w, 3);
	end_writer(w);
	reader = begin_reader(w);
	store = history_file_store(reader);
	last = find(reader, UINT64_MAX).id;
	assert_int_equal(store.type->find_flagged(store.state, last, MOMENT_HAS_TOTALS, &stored,
						  &w->error), 0);
	assert_int_equal(stored.id, last - 2);
	assert_int_equal(stored.segment, 2);
	assert_int_equal(store.type->find_flagged(store.state, last - 3, MOMENT_HAS_TOTALS, &stored,
						  &w->error), 0);
	assert_int_equal(stored.id, last - 2 - RUN);
	assert_int_equal(store.type->find_flagged(store.state, last - 3,
						  MOMENT_FIRST | MOMENT_RESET, &stored, &w->error),
			 0);
	assert_int_equal(stored.id, 1);
	assert_int_equal(store.type->find_flagged(store.state, last, MOMENT_RESET, &stored,
						  &w->error), -ENOENT);
	history_file_close(reader, NULL);
}

/* ---- fields and segments */

/* Ids of the file are from 1 on. */
static uint32_t id_of(uint32_t here)
{
	return here == FIELD_NONE ? FIELD_NONE : here + 1;
}

static int check_field(void *arg, uint32_t id, const struct field *field)
{
	const struct field *spec = &specs[id - 1];
	uint32_t *nr = arg;

	assert_int_equal(id, id_of(*nr));
	assert_string_equal(field->name, spec->name);
	assert_string_equal(field->listed, spec->listed);
	assert_string_equal(field->label, spec->label);
	assert_true(!field->alias == !spec->alias);
	assert_string_equal(field->alias ? field->alias : "", spec->alias ? spec->alias : "");
	assert_int_equal(field->parent, id_of(spec->parent));
	assert_int_equal(field->source, spec->source);
	assert_int_equal(field->kind, spec->kind);
	assert_int_equal(field->use, spec->use);
	assert_int_equal(field->part, spec->part);
	assert_int_equal(field->is_idle, spec->is_idle);
	assert_int_equal(field->is_extra, spec->is_extra);
	assert_int_equal(field->exit_rank, spec->exit_rank);
	assert_int_equal(field->reason, id_of(spec->reason));
	++*nr;
	return 0;
}

static int refuse(void *arg, uint32_t id, const struct field *field)
{
	(void)arg;
	(void)id;
	(void)field;
	return -ECANCELED;
}

TEST(fields_come_as_they_are_new, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct store store;
	uint32_t nr = 0;

	begin_writer(w);
	give_fields(w, 0, 2);
	make_up(w, 1, VMEXIT_HLT, 1);
	assert_int_equal(add(w), 0);
	reader = begin_reader(w); /* while the writer goes on */
	store = history_file_store(reader);
	assert_int_equal(store.type->fields(store.state, 0, check_field, &nr, &w->error), 0);
	assert_int_equal(nr, 2);
	give_fields(w, 2, 2);
	make_up(w, 1, VMEXIT_MSR, 1);
	assert_int_equal(add(w), 0);
	assert_int_equal(store.type->fields(store.state, id_of(nr), check_field, &nr, &w->error),
			 0);
	assert_int_equal(nr, NR_FIELDS);
	assert_int_equal(store.type->fields(store.state, 0, refuse, NULL, &w->error),
			 -ECANCELED);
	history_file_close(reader, NULL);
	end_writer(w);
}

TEST(a_segment_says_what_it_is_of, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct segment segment;
	struct store store;

	begin_writer(w);
	add_many(w, 1);
	end_writer(w);
	reader = begin_reader(w);
	store = history_file_store(reader);
	assert_int_equal(store.type->segment(store.state, 1, &segment, &w->error), 0);
	assert_string_equal(segment.host, "box");
	assert_string_equal(segment.kernel, "6.18");
	assert_string_equal(segment.boot_id, "abc");
	assert_string_equal(segment.arch, "SVM");
	assert_string_equal(segment.engine, "bpf");
	assert_int_equal(segment.nr_cpus, 2);
	assert_float_equal(segment.interval_s, 1.5, 0.001);
	assert_int_equal(store.type->segment(store.state, 2, &segment, &w->error), -ENOENT);
	history_file_close(reader, NULL);
}

/* ---- for people */

TEST(minutes_are_rows, setup, teardown)
{
	static const char sql[] = "SELECT datetime(time, 'unixepoch'), guest, pid, reason, count,"
				  " time_ns, max_ns, p50_ns, p99_ns FROM minute ORDER BY 1, 2, 4";
	struct world *w = *state;
	char text[1024];

	begin_writer(w);
	give_fields(w, 0, NR_FIELDS);
	for (uint32_t i = 0; i < 90; i++) {
		make_up(w, i < 80 ? 1 : 2, i % 2 ? VMEXIT_HLT : VMEXIT_MSR, 10);
		assert_int_equal(add(w), 0);
	}
	query(w, sql, text, sizeof(text)); /* the first minute is over */
	assert_string_equal(text, "2026-09-21 14:14:00|web|100|HLT|300|300000|1000|756|995\n"
				  "2026-09-21 14:14:00|web|100|MSR|290|290000|1000|756|995\n");
	end_writer(w);
	query(w, sql, text, sizeof(text));
	assert_string_equal(text, "2026-09-21 14:14:00|web|100|HLT|300|300000|1000|756|995\n"
				  "2026-09-21 14:14:00|web|100|MSR|290|290000|1000|756|995\n"
				  "2026-09-21 14:15:00|db|200|HLT|50|50000|1000|756|995\n"
				  "2026-09-21 14:15:00|db|200|MSR|50|50000|1000|756|995\n"
				  "2026-09-21 14:15:00|web|100|HLT|100|100000|1000|756|995\n"
				  "2026-09-21 14:15:00|web|100|MSR|100|100000|1000|756|995\n");
	query(w, "SELECT sum(count), sum(time_ns) FROM minute", text, sizeof(text));
	assert_string_equal(text, "890|890000\n");
}

TEST(a_minute_that_comes_twice_is_added_up, setup, teardown)
{
	struct world *w = *state;
	char text[256];

	begin_writer(w);
	add_many(w, 70);
	w->time_ns = START + 30 * SECOND; /* the clock is set back */
	add_many(w, 10);
	end_writer(w);
	query(w, "SELECT time, sum(count), count(*), sum(time_ns) FROM minute GROUP BY time", text,
	      sizeof(text));
	assert_string_equal(text, "1790000040|690|1|690000\n1790000100|100|1|100000\n");
}

/* Nor do spans count what a run's first sample has: what happened before it. */
TEST(the_first_sample_is_in_no_minute, setup, teardown)
{
	struct world *w = *state;
	char text[256];

	begin_writer(w);
	give_fields(w, 0, NR_FIELDS);
	make_up(w, 1, VMEXIT_HLT, 1000000);
	w->moment.elapsed_ns = 0;
	assert_int_equal(add(w), 0);
	make_up(w, 1, VMEXIT_HLT, 10);
	assert_int_equal(add(w), 0);
	end_writer(w);
	query(w, "SELECT guest, reason, count, time_ns FROM minute", text, sizeof(text));
	assert_string_equal(text, "web|HLT|10|10000\n");
}

/* Events count the exits of a host where they cannot be timed; no exit is in two rows. */
TEST(minutes_have_what_there_is, setup, teardown)
{
	static const struct field event = { .name = "kvm_exit", .listed = "kvm_exit",
					    .label = "kvm_exit", .parent = FIELD_NONE,
					    .exit_rank = 1, .reason = FIELD_NONE };
	static const struct field reason = { .name = "kvm_exit(HLT)", .listed = "kvm_exit(HLT)",
					     .label = "HLT", .parent = 0, .reason = FIELD_NONE };
	struct change change = { .key = { GUEST_NONE, -1, 1 }, .count = 7 };
	struct world *w = *state;
	char text[256];

	begin_writer(w);
	give_fields(w, 0, 2);
	w->moment.fields[0].field = event;
	w->moment.fields[1].field = reason;
	make_up(w, 1, VMEXIT, 5);
	changes_add(&w->moment.changes, &change);
	w->moment.elapsed_ns = SECOND;
	assert_int_equal(add(w), 0);
	end_writer(w);
	query(w, "SELECT guest, reason, count, time_ns, p99_ns FROM minute", text, sizeof(text));
	assert_string_equal(text, "-|HLT|7|-|-\n");
}

TEST(guests_and_notes_are_rows, setup, teardown)
{
	struct world *w = *state;
	struct guests *fewer = guests_new(NULL);
	char text[512];

	begin_writer(w);
	assert_int_equal(
		history_file_sink(w->file).note(w->file, START, "2 samples were lost", &w->error),
		0);
	add_many(w, 2);
	guests_add_fake(w->guests, 300, "late", 1);
	make_up(w, 1, VMEXIT_HLT, 1);
	w->moment.guests = w->guests;
	assert_int_equal(add(w), 0);
	guests_add_fake(fewer, 100, "web", 2);
	make_up(w, 1, VMEXIT_HLT, 1);
	w->moment.guests = fewer;
	assert_int_equal(add(w), 0);
	add_many(w, 2);
	end_writer(w);
	guests_free(fewer);
	query(w, "SELECT id, name, pid, vmm, vcpus, first - 1790000040, last - 1790000040"
		 " FROM guest", text, sizeof(text));
	assert_string_equal(text, "1|web|100|qemu|2|1|6\n"
				  "2|db|200|qemu|1|1|4\n"
				  "3|late|300|qemu|1|3|4\n");
	query(w, "SELECT time - 1790000040, segment, text FROM note", text, sizeof(text));
	assert_string_equal(text, "0|1|2 samples were lost\n"
				  "3|1|guest late (pid 300) came\n"
				  "4|1|guest db (pid 200) ended\n"
				  "4|1|guest late (pid 300) ended\n");
	query(w, "SELECT id, host, interval_s, began - 1790000040, ended - 1790000040 FROM segment",
	      text, sizeof(text));
	assert_string_equal(text, "1|box|1.5|0|6\n");
}

/* Replaces the world's guests, of which pid 0 ends the list. */
static void give_guests(struct world *w, const struct guest *list)
{
	struct vcpu vcpus[4] = { { 0 } };

	for (int i = 0; i < 4; i++)
		vcpus[i] = (struct vcpu){ .index = i, .tid = 10 + i };
	guests_free(w->guests);
	w->guests = guests_new(NULL);
	for (; list->pid; list++) {
		struct guest guest = *list;

		guest.vcpus = vcpus;
		guests_add(w->guests, &guest);
	}
}

/* "web 2, db 1; ended: late 3": the guests of a moment, and how many vCPUs they have. */
static void expect_guests(struct history_file *reader, uint64_t id, const char *expected)
{
	struct store store = history_file_store(reader);
	struct guests *guests = guests_new(NULL);
	struct error error = { "" };
	const struct guest *guest;
	struct stored stored;
	char text[1024] = "";

	assert_int_equal(store.type->step(store.state, id - 1, false, &stored, &error), 0);
	assert_int_equal(stored.id, id);
	if (store.type->guests(store.state, &stored, guests, &error) != 0)
		fail_msg("%s", error.text);
	for (size_t i = 0; (guest = guests_at(guests, i)); i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %zu",
			 i ? ", " : "", guest->name, guest->nr_vcpus);
	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; ended: %s %zu",
			 guest->name, guest->nr_vcpus);
	assert_string_equal(text, expected);
	guests_free(guests);
}

/* A second writer has other ids, and counts the same guest and the same fields. */
TEST(ids_belong_to_the_file, setup, teardown)
{
	static const struct guest web = { .pid = 100, .start_ticks = 7, .name = "web",
					  .nr_vcpus = 2 };
	static const struct guest db = { .pid = 200, .start_ticks = 8, .name = "db",
					 .nr_vcpus = 1 };
	static const struct guest other = { .pid = 100, .start_ticks = 9, .name = "new",
					    .nr_vcpus = 1 };
	const struct guest none = { .pid = 0 };
	struct world *w = *state;
	struct guest larger = web;
	struct history_file *reader;
	char text[512];

	begin_writer(w);
	give_guests(w, (struct guest[]){ web, db, none });
	add_many(w, 2);
	larger.nr_vcpus = 3;
	give_guests(w, (struct guest[]){ larger, none });
	make_up(w, 1, VMEXIT_HLT, 10);
	w->moment.guests = w->guests;
	assert_int_equal(add(w), 0);
	end_writer(w);
	w->nr = 0;
	begin_writer(w);
	give_guests(w, (struct guest[]){ other, larger, none });
	give_fields(w, 0, NR_FIELDS);
	make_up(w, 2, VMEXIT_HLT, 10);
	assert_int_equal(add(w), 0);
	assert_int_equal(w->moment.changes.list[0].key.guest, 1);
	assert_int_equal(w->moment.changes.list[0].key.field, id_of(VMEXIT_HLT));
	end_writer(w);
	query(w, "SELECT id, name, came, went FROM guest", text, sizeof(text));
	assert_string_equal(text, "1|web|1|-\n2|db|1|3\n3|new|4|-\n");
	query(w, "SELECT count(*), min(segment) FROM field", text, sizeof(text));
	assert_string_equal(text, "4|2\n");
	query(w, "SELECT guest, sum(count) FROM minute GROUP BY 1", text, sizeof(text));
	assert_string_equal(text, "web|20\n");
	reader = begin_reader(w);
	expect_guests(reader, 1, "web 2, db 1");
	expect_guests(reader, 2, "web 2, db 1");
	expect_guests(reader, 3, "web 3; ended: db 1");
	expect_guests(reader, 4, "web 3, new 1");
	history_file_close(reader, NULL);
}

TEST(a_closed_file_is_one_file, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	char text[64];

	begin_writer(w);
	add_many(w, 3);
	assert_true(size_of(w, "-wal") > 0);
	end_writer(w);
	assert_int_equal(size_of(w, "-wal"), 0);
	assert_int_equal(size_of(w, "-shm"), 0);
	reader = begin_reader(w);
	assert_int_equal(find(reader, UINT64_MAX).time_ns, START + 3 * SECOND);
	history_file_close(reader, NULL);
	assert_int_equal(size_of(w, "-shm"), 0);
	query(w, "PRAGMA application_id", text, sizeof(text));
	assert_string_equal(text, "1802923368\n");
	query(w, "PRAGMA user_version", text, sizeof(text));
	assert_string_equal(text, "2\n");
}
