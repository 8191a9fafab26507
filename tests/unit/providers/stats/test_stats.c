/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_stats - the provider "stats" over made-up processes, whose descriptors are files of bytes,
 * and the layout of these bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "host/env.h"
#include "providers/providers.h"
#include "providers/stats/held.h"
#include "tests/unit/unit.h"

#define SOURCE 3
#define NAME_SIZE 48
#define DESC_SIZE (16 + NAME_SIZE)
#define DESCS_AT 72
#define ABSENT UINT64_MAX /* as a count: there is no row */

enum { CUMULATIVE, INSTANT, PEAK, LINEAR_HIST, LOG_HIST, UNKNOWN_TYPE, IN_NS = 0x20 };

struct made {
	const char *name;
	uint32_t type;
	uint16_t nr;
	uint64_t values[10];
};

/* ---- bytes */

struct bytes {
	char data[4096];
	size_t size;
};

static void put32(struct bytes *bytes, size_t at, uint32_t value)
{
	memcpy(bytes->data + at, &value, sizeof(value));
}

static void put16(struct bytes *bytes, size_t at, uint16_t value)
{
	memcpy(bytes->data + at, &value, sizeof(value));
}

/* As the kernel lays them out: header, id, counters, values. */
static struct bytes make_bytes(const struct made *made, size_t nr)
{
	struct bytes bytes = { .size = DESCS_AT + nr * DESC_SIZE };
	size_t values_at = bytes.size;

	put32(&bytes, 4, NAME_SIZE);
	put32(&bytes, 8, (uint32_t)nr);
	put32(&bytes, 12, 24);
	put32(&bytes, 16, DESCS_AT);
	put32(&bytes, 20, (uint32_t)values_at);
	strcpy(bytes.data + 24, "kvm-1/vcpu-0");
	for (size_t i = 0; i < nr; i++) {
		size_t at = DESCS_AT + i * DESC_SIZE, size = made[i].nr * sizeof(uint64_t);

		put32(&bytes, at, made[i].type);
		put16(&bytes, at + 4, made[i].type & IN_NS ? (uint16_t)-9 : 0);
		put16(&bytes, at + 6, made[i].nr);
		put32(&bytes, at + 8, (uint32_t)(bytes.size - values_at));
		strcpy(bytes.data + at + 16, made[i].name);
		memcpy(bytes.data + bytes.size, made[i].values, size);
		bytes.size += size;
	}
	return bytes;
}

static const struct made all_kinds[] = {
	{ "exits", CUMULATIVE, 1, { 7 } },
	{ "halt_wait_ns", CUMULATIVE, 1, { 123456789 } },
	{ "halt_wait_hist", LOG_HIST, 4, { 1, 2, 3, 4 } },
	{ "linear_hist", LINEAR_HIST, 2, { 10, 20 } },
	{ "blocking", INSTANT, 1, { 1 } },
	{ "negative", INSTANT, 1, { UINT64_MAX } },
	{ "max_size", PEAK, 1, { 99 } },
	{ "strange", UNKNOWN_TYPE, 1, { 5 } },
	{ "exits", CUMULATIVE, 1, { 8 } },
	{ "a b", CUMULATIVE, 1, { 9 } },
	{ "halt_exits", CUMULATIVE, 1, { 3 } },
};

static const struct stats_counter *find_counter(const struct stats_layout *layout, const char *name)
{
	for (size_t i = 0; i < layout->nr_counters; i++) {
		if (strcmp(layout->counters[i].name, name) == 0)
			return &layout->counters[i];
	}
	return NULL;
}

static void check_counter(const struct stats_layout *layout, const struct bytes *bytes,
			  const char *name, enum field_kind kind, uint64_t value)
{
	const struct stats_counter *counter = find_counter(layout, name);

	assert_non_null(counter);
	assert_int_equal(counter->kind, kind);
	assert_int_equal(stats_counter_value(counter, bytes->data), value);
}

static void each_kind_of_counter(void **state)
{
	struct bytes bytes = make_bytes(all_kinds, ARRAY_SIZE(all_kinds));
	struct stats_layout *layout = NULL;

	(void)state;
	assert_int_equal(stats_layout_parse(bytes.data, bytes.size, &layout), 0);
	check_counter(layout, &bytes, "exits", FIELD_COUNTER, 7);
	check_counter(layout, &bytes, "halt_wait_ns", FIELD_COUNTER, 123456789);
	check_counter(layout, &bytes, "halt_wait_hist", FIELD_COUNTER, 10);
	check_counter(layout, &bytes, "linear_hist", FIELD_COUNTER, 30);
	check_counter(layout, &bytes, "blocking", FIELD_GAUGE, 1);
	check_counter(layout, &bytes, "negative", FIELD_GAUGE, 0);
	check_counter(layout, &bytes, "max_size", FIELD_PEAK, 99);
	check_counter(layout, &bytes, "halt_exits", FIELD_COUNTER, 3);
	/* Not: an unknown type, a second one of a name, a name with a blank. */
	assert_int_equal(layout->nr_counters, ARRAY_SIZE(all_kinds) - 3);
	assert_int_equal(layout->size, bytes.size);
	assert_true(stats_layout_fits(layout, bytes.data, 0, bytes.size));
	assert_false(stats_layout_fits(layout, bytes.data, 0, bytes.size - 1));
	bytes.data[DESCS_AT + 16]++;
	assert_false(stats_layout_fits(layout, bytes.data, 0, bytes.size));
	/* What the tail does not have is not looked at. */
	assert_int_equal(layout->tail_at,
			 DESCS_AT + (ARRAY_SIZE(all_kinds) - 1) * DESC_SIZE);
	assert_true(stats_layout_fits(layout, bytes.data, layout->tail_at, bytes.size));
	assert_false(stats_layout_fits(layout, bytes.data, layout->tail_at, bytes.size + 8));
	bytes.data[layout->tail_at + 16]++;
	assert_false(stats_layout_fits(layout, bytes.data, layout->tail_at, bytes.size));
	stats_layout_free(layout);
}

/* The kernel's buckets end at 1, 2, 4 ... ns; ours begin with all that is below 128 ns. */
static void histograms_are_durations(void **state)
{
	static const struct made made[] = {
		{ "halt_wait_hist", LOG_HIST | IN_NS, 10, { 1, 0, 0, 0, 0, 0, 0, 20, 300, 4000 } },
		{ "alone_hist", LOG_HIST | IN_NS, 2, { 1, 2 } },
		{ "pages_hist", LOG_HIST, 2, { 1, 2 } },
		{ "halt_wait_ns", CUMULATIVE | IN_NS, 1, { 12345 } },
	};
	struct bytes bytes = make_bytes(made, ARRAY_SIZE(made));
	struct stats_layout *layout = NULL;
	struct timing timing;

	(void)state;
	assert_int_equal(stats_layout_parse(bytes.data, bytes.size, &layout), 0);
	assert_true(find_counter(layout, "halt_wait_hist")->has_durations);
	assert_false(find_counter(layout, "alone_hist")->has_durations);
	assert_false(find_counter(layout, "pages_hist")->has_durations);
	stats_counter_timing(find_counter(layout, "halt_wait_hist"), bytes.data, &timing);
	assert_int_equal(timing.time_ns, 12345);
	assert_int_equal(timing.hist[0], 21);
	assert_int_equal(timing.hist[1], 300);
	assert_int_equal(timing.hist[2], 4000);
	assert_int_equal(timing.max_ns, INT64_MAX); /* the last bucket has no end */
	stats_layout_free(layout);
}

static void refuse(const struct bytes *bytes, size_t size)
{
	struct stats_layout *layout = NULL;

	assert_int_equal(stats_layout_parse(bytes->data, size, &layout), -EINVAL);
	assert_null(layout);
}

static void damaged_bytes_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} damage[] = {
		{ 4, 0 }, { 4, UINT32_MAX }, { 4, 257 },     /* the size of a name */
		{ 8, 0 }, { 8, UINT32_MAX }, { 8, 513 },     /* how many there are */
		{ 16, 0 }, { 16, 23 }, { 16, UINT32_MAX },   /* where they are */
		{ 20, UINT32_MAX },			     /* where the values are */
		{ DESCS_AT + 8, UINT32_MAX },		     /* where the value is */
		{ DESCS_AT + 4, UINT32_MAX }, { DESCS_AT + 4, 0 }, /* how many values */
	};
	const struct bytes whole = make_bytes(all_kinds, ARRAY_SIZE(all_kinds));

	(void)state;
	for (size_t size = 0; size < whole.size; size++)
		refuse(&whole, size);
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		struct bytes bytes = whole;

		put32(&bytes, damage[i].at, damage[i].value);
		refuse(&bytes, bytes.size);
	}
}

static void name_without_an_end_is_left_out(void **state)
{
	struct bytes bytes = make_bytes(all_kinds, ARRAY_SIZE(all_kinds));
	struct stats_layout *layout;

	(void)state;
	memset(bytes.data + DESCS_AT + 16, 'x', NAME_SIZE);
	assert_int_equal(stats_layout_parse(bytes.data, bytes.size, &layout), 0);
	assert_int_equal(stats_counter_value(find_counter(layout, "exits"), bytes.data), 8);
	stats_layout_free(layout);
}

/* ---- the provider */

struct fixture {
	char root[64];
	struct env env;
	struct provider_options options;
	struct guests *guests;
	struct fields *fields;
	void *provider;
	struct sample sample;
	struct error error;
	uint64_t now_ns;
};

static void make_folder(const struct fixture *f, const char *path)
{
	char full[PATH_MAX];

	for (const char *end = strchrnul(path + 1, '/');; end = strchrnul(end + 1, '/')) {
		snprintf(full, sizeof(full), "%s%.*s", f->root, (int)(end - path), path);
		if (mkdir(full, 0755) < 0)
			assert_int_equal(errno, EEXIST);
		if (!*end)
			return;
	}
}

static void write_at(const struct fixture *f, const char *path, const void *data, size_t size)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", f->root, path);
	file = fopen(full, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void hold(const struct fixture *f, int pid, int fd, const char *link)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/%d/fd/%d", f->root, pid, fd);
	unlink(path);
	assert_int_equal(symlink(link, path), 0);
}

static void make_guest(const struct fixture *f, int pid)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, pid);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/kvmtop/stats/%d", pid);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text), "%d (vmm) S 1 %d %d 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 %d 0 0\n",
		 pid, pid, pid, pid);
	write_at(f, path, text, strlen(text));
	hold(f, pid, 10, "anon_inode:kvm-vm");
}

static void set_bytes(const struct fixture *f, int pid, int fd, const struct bytes *bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "/kvmtop/stats/%d/%d", pid, fd);
	write_at(f, path, bytes->data, bytes->size);
}

/* A vCPU: its statistics are on the descriptor 20 + vcpu. */
static void set_vcpu(const struct fixture *f, int pid, int vcpu, uint64_t exits)
{
	const struct made made[] = {
		{ "exits", CUMULATIVE, 1, { exits } },
		{ "halt_wait_ns", CUMULATIVE, 1, { 1 } },
		{ "guest_mode", INSTANT, 1, { 1 } },
	};
	struct bytes bytes = make_bytes(made, ARRAY_SIZE(made));
	char link[64];

	snprintf(link, sizeof(link), "anon_inode:kvm-vcpu:%d", vcpu);
	hold(f, pid, 40 + vcpu, link);
	snprintf(link, sizeof(link), "anon_inode:kvm-vcpu-stats:%d", vcpu);
	hold(f, pid, 20 + vcpu, link);
	set_bytes(f, pid, 20 + vcpu, &bytes);
}

static void set_vm(const struct fixture *f, int pid, uint64_t pages)
{
	const struct made made[] = { { "pages_4k", INSTANT, 1, { pages } } };
	struct bytes bytes = make_bytes(made, ARRAY_SIZE(made));

	hold(f, pid, 11, "anon_inode:kvm-vm-stats");
	set_bytes(f, pid, 11, &bytes);
}

static int setup(void **ret_fixture)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/test_stats.XXXXXX");
	assert_non_null(mkdtemp(f->root));
	make_folder(f, "/proc/sys/kernel/yama");
	make_folder(f, "/kvmtop/stats");
	f->env = (struct env){ .root = f->root, .arch = arch_by_name("VMX") };
	f->guests = guests_new(&f->env);
	f->fields = fields_new();
	assert_non_null(f->guests);
	assert_non_null(f->fields);
	*ret_fixture = f;
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void end_guest(const struct fixture *f, int pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/%d", f->root, pid);
	assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static int teardown(void **fixture)
{
	struct fixture *f = *fixture;

	stats_provider.close(f->provider);
	sample_release(&f->sample);
	fields_free(f->fields);
	guests_free(f->guests);
	assert_int_equal(nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
	free(f);
	return 0;
}

static uint32_t guest_of(struct fixture *f, int pid)
{
	const struct guest *guest = guests_by_pid(f->guests, pid);

	return guest ? guest->id : 0;
}

static int try_open(struct fixture *f)
{
	struct provider_args args = { .env = &f->env, .guests = f->guests, .fields = f->fields,
				      .source = SOURCE, .options = f->options };

	f->error.text[0] = '\0';
	return stats_provider.open(&args, &f->provider, &f->error);
}

static void want(struct fixture *f, enum want_scope scope, uint32_t guest)
{
	struct want want = { .scope = scope, .guest = guest };

	for (uint32_t i = 0; i < fields_count(f->fields); i++)
		field_set_add(&want.fields, i);
	assert_int_equal(stats_provider.want(f->provider, &want, &f->error), 0);
	field_set_release(&want.fields);
}

static void collect(struct fixture *f)
{
	f->now_ns += 60000000000;
	assert_int_equal(guests_refresh(f->guests, f->now_ns, &f->error), 0);
	sample_reset(&f->sample);
	f->error.text[0] = '\0';
	assert_int_equal(stats_provider.collect(f->provider, &f->sample, &f->error), 0);
	assert_int_not_equal(f->sample.time_ns[SOURCE], 0);
}

static const struct row *find_row(struct fixture *f, int pid, int vcpu, const char *name)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < f->sample.nr_rows; i++) {
		const struct row *row = &f->sample.rows[i];

		if (row->key.guest != guest_of(f, pid) || row->key.vcpu != vcpu ||
		    row->key.field != fields_find(f->fields, name))
			continue;
		assert_null(found);
		found = row;
	}
	return found;
}

static uint64_t count_of(struct fixture *f, int pid, int vcpu, const char *name)
{
	const struct row *row = find_row(f, pid, vcpu, name);

	return row ? row->count : ABSENT;
}

static bool is_from_zero(struct fixture *f, int pid, int vcpu)
{
	const struct row *row = find_row(f, pid, vcpu, "exits");

	assert_non_null(row);
	return row->flags & ROW_FROM_ZERO;
}

static void start(struct fixture *f)
{
	assert_int_equal(try_open(f), 0);
	want(f, WANT_HOST, GUEST_ALL);
}

static void rows_are_by_vcpu(void **fixture)
{
	struct fixture *f = *fixture;
	const struct field *field;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	set_vcpu(f, 7, 3, 200);
	set_vm(f, 7, 512);
	start(f);
	collect(f);
	assert_string_equal(f->error.text, "");
	assert_int_equal(count_of(f, 7, 0, "exits"), 100);
	assert_int_equal(count_of(f, 7, 3, "exits"), 200);
	assert_int_equal(count_of(f, 7, 3, "guest_mode"), 1);
	assert_int_equal(count_of(f, 7, -1, "pages_4k"), 512);
	assert_int_equal(f->sample.nr_rows, 5);
	assert_false(is_from_zero(f, 7, 0)); /* it may have run for months */
	/* The same names with the same meaning as in debugfs, and no times. */
	field = fields_get(f->fields, fields_find(f->fields, "exits"));
	assert_int_equal(field->exit_rank, 1);
	assert_int_equal(field->source, SOURCE);
	assert_int_equal(fields_get(f->fields, fields_find(f->fields, "pages_4k"))->kind,
			 FIELD_GAUGE);
	assert_int_equal(fields_find(f->fields, "halt_wait_ns"), FIELD_NONE);
	set_vcpu(f, 7, 0, 150);
	collect(f);
	assert_int_equal(count_of(f, 7, 0, "exits"), 150);
}

static void past_is_included_if_asked_for(void **fixture)
{
	struct fixture *f = *fixture;

	f->options.include_past = true;
	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	start(f);
	collect(f);
	assert_true(is_from_zero(f, 7, 0));
}

/* It and its vCPUs came while we watched: all that they counted is new. */
static void late_guest_counts_from_zero(void **fixture)
{
	struct fixture *f = *fixture;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	start(f);
	collect(f);
	make_guest(f, 9);
	set_vcpu(f, 9, 0, 5);
	collect(f);
	assert_true(is_from_zero(f, 9, 0));
	assert_false(is_from_zero(f, 7, 0));
	set_vcpu(f, 9, 1, 6);
	collect(f);
	assert_true(is_from_zero(f, 9, 1));
	/* A new question begins now. */
	make_guest(f, 11);
	set_vcpu(f, 11, 0, 5);
	collect(f);
	want(f, WANT_HOST, GUEST_ALL);
	collect(f);
	assert_false(is_from_zero(f, 11, 0));
}

static void guest_ends(void **fixture)
{
	struct fixture *f = *fixture;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	make_guest(f, 9);
	set_vcpu(f, 9, 0, 5);
	start(f);
	collect(f);
	end_guest(f, 7);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 2);
	assert_int_equal(count_of(f, 9, 0, "exits"), 5);
	assert_string_equal(f->error.text, "");
	end_guest(f, 9);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	assert_string_equal(f->error.text, "");
}

/* QEMU opens them as it makes its vCPUs, which may take a while. */
static void descriptors_may_come_later(void **fixture)
{
	struct fixture *f = *fixture;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	make_guest(f, 9);
	hold(f, 9, 12, "anon_inode:kvm-vcpu:0");
	start(f);
	collect(f);
	assert_string_equal(f->error.text,
			    "1 of 2 guests hold no statistics: QEMU 8.1 and later do");
	set_vcpu(f, 9, 0, 5);
	collect(f);
	assert_int_equal(count_of(f, 9, 0, "exits"), 5);
	assert_string_equal(f->error.text, "");
}

static void one_descriptor_of_each_vcpu(void **fixture)
{
	struct fixture *f = *fixture;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	hold(f, 7, 30, "anon_inode:kvm-vcpu-stats:0");
	start(f);
	collect(f);
	assert_int_equal(count_of(f, 7, 0, "exits"), 100);
}

static void only_the_guest_that_is_wanted(void **fixture)
{
	struct fixture *f = *fixture;

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	make_guest(f, 9);
	start(f);
	want(f, WANT_GUEST, guest_of(f, 7));
	collect(f);
	assert_int_equal(f->sample.nr_rows, 2);
	assert_string_equal(f->error.text, ""); /* the other one is not asked for */
	want(f, WANT_GUEST, guest_of(f, 9));
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	assert_string_equal(f->error.text, "no guest here holds statistics: QEMU 8.1 and later do");
}

static void nothing_wanted_nothing_read(void **fixture)
{
	struct fixture *f = *fixture;
	struct want nothing = { .scope = WANT_HOST };

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	start(f);
	collect(f);
	assert_int_equal(stats_provider.want(f->provider, &nothing, &f->error), 0);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	/* What happened meanwhile is not counted. */
	make_guest(f, 9);
	set_vcpu(f, 9, 0, 5);
	collect(f);
	want(f, WANT_HOST, GUEST_ALL);
	collect(f);
	assert_false(is_from_zero(f, 9, 0));
}

static void what_is_missing_is_said(void **fixture)
{
	struct fixture *f = *fixture;

	assert_int_equal(try_open(f), -ENOENT);
	assert_string_equal(f->error.text, "no guest here holds statistics: QEMU 8.1 and later do");
	make_guest(f, 7);
	assert_int_equal(try_open(f), -ENOENT);
	assert_string_equal(f->error.text, "no guest here holds statistics: QEMU 8.1 and later do");
	/* The link, but not the bytes. */
	hold(f, 7, 20, "anon_inode:kvm-vcpu-stats:0");
	assert_int_equal(try_open(f), -ENOENT);
	assert_null(f->provider);
}

static void strange_bytes_are_no_statistics(void **fixture)
{
	static const struct bytes strange = { .data = "strange", .size = 4000 };
	struct fixture *f = *fixture;

	make_guest(f, 7);
	hold(f, 7, 20, "anon_inode:kvm-vcpu-stats:0");
	set_bytes(f, 7, 20, &strange);
	assert_int_equal(try_open(f), -ENOENT);
	make_guest(f, 9);
	set_vcpu(f, 9, 0, 5);
	start(f);
	collect(f);
	assert_int_equal(count_of(f, 9, 0, "exits"), 5);
	assert_string_equal(f->error.text,
			    "1 of 2 guests hold no statistics: QEMU 8.1 and later do");
}

static int open_as_nobody(struct fixture *f)
{
	bool is_root = geteuid() == 0;
	int err;

	if (is_root)
		assert_int_equal(seteuid(65534), 0);
	err = try_open(f);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	return err;
}

static void missing_rights_are_said(void **fixture)
{
	struct fixture *f = *fixture;
	char path[PATH_MAX];

	make_guest(f, 7);
	set_vcpu(f, 7, 0, 100);
	snprintf(path, sizeof(path), "%s/kvmtop/stats/7/20", f->root);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(f->root, 0755), 0);
	assert_int_equal(open_as_nobody(f), -EPERM);
	assert_string_equal(f->error.text, "no right to the statistics of 1 of 1 guests: "
					 "CAP_SYS_PTRACE is needed");
	write_at(f, "/proc/sys/kernel/yama/ptrace_scope", "3\n", 2);
	assert_int_equal(open_as_nobody(f), -EPERM);
	assert_non_null(strstr(f->error.text, "kernel.yama.ptrace_scope is 3"));
}

UNIT(test_stats)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_counter),
		cmocka_unit_test(histograms_are_durations),
		cmocka_unit_test(damaged_bytes_are_refused),
		cmocka_unit_test(name_without_an_end_is_left_out),
		T(rows_are_by_vcpu),
		T(past_is_included_if_asked_for),
		T(late_guest_counts_from_zero),
		T(guest_ends),
		T(descriptors_may_come_later),
		T(one_descriptor_of_each_vcpu),
		T(only_the_guest_that_is_wanted),
		T(nothing_wanted_nothing_read),
		T(what_is_missing_is_said),
		T(strange_bytes_are_no_statistics),
		T(missing_rights_are_said),
	};

	return cmocka_run_group_tests_name("kernel_stats", tests, NULL, NULL);
#undef T
}
