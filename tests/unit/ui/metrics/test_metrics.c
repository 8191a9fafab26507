// SPDX-License-Identifier: GPL-2.0-or-later
/* The text for Prometheus: its bytes, guests that come and go, names, the limit of series. */
#include "lib/array.h"
#include "lib/hash.h"
#include "tests/unit/unit.h"
#include "tests/worlds/timed_world.h"
#include "ui/metrics/metrics.h"

#define NR_GUESTS 200

static const struct metrics_self self = {
	.arch = "SVM",
	.engine = "bpf",
	.start_ns = UINT64_C(1795220808123000000),
	.sample_ns = 250000,
	.sources = { { "tracepoint", true }, { "exits", false } },
	.nr_sources = 2,
};

static struct metrics *metrics_of(unsigned int groups, size_t max_series)
{
	const struct metrics_config config = { .groups = groups, .max_series = max_series };
	struct metrics *metrics = metrics_new(&config);

	if (!metrics)
		abort();
	return metrics;
}

/* For the caller to free. */
static char *text_of(struct world *world, struct metrics *metrics)
{
	const struct metrics_text *text;
	size_t nr_series = 0;
	char *copy;

	metrics_take(metrics, &world->facts, world->now_ns);
	text = metrics_write(metrics, &world->facts, &self);
	copy = strndup(text->bytes, text->size);
	if (!copy)
		abort();
	for (const char *line = copy; *line; line = strchr(line, '\n') + 1)
		nr_series += *line != '#';
	assert_int_equal(text->nr_series, nr_series);
	return copy;
}

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at++) {
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	}
	return false;
}

static void need_line(const char *text, const char *line)
{
	if (!has_line(text, line))
		fail_msg("no line %s in:\n%s", line, text);
}

static size_t count_of(const char *text, const char *part)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		nr++;
	return nr;
}

TEST(every_number, setup, teardown)
{
	static const char *const lines[] = {
		"# TYPE kvmtop_build_info gauge",
		"kvmtop_start_time_seconds 1795220808.123",
		"kvmtop_sample_duration_seconds 0.00025",
		"kvmtop_source_up{source=\"tracepoint\"} 1",
		"kvmtop_source_up{source=\"exits\"} 0",
		("kvmtop_guest_info{guest=\"db1\",uuid=\"\",id=\"\",title=\"\",project=\"\","
		 "flavor=\"\",pod=\"\",pid=\"4000\",vmm=\"qemu\"} 1"),
		"kvmtop_guest_vcpus{guest=\"db1\"} 2",
		"# TYPE kvmtop_exits_total counter",
		/* Of vCPU 0, which does all twice, and of vCPU 1, after two seconds. */
		"kvmtop_exits_total{guest=\"db1\",reason=\"HLT\"} 300",
		"kvmtop_exits_total{guest=\"db1\",reason=\"IO\"} 60",
		"kvmtop_exits_total{guest=\"web1\",reason=\"IO\"} 20",
		"kvmtop_exit_seconds_total{guest=\"db1\",reason=\"IO\"} 0.6",
		"kvmtop_exit_duration_seconds_bucket{guest=\"db1\",le=\"0.000000256\"} 0",
		"kvmtop_exit_duration_seconds_bucket{guest=\"db1\",le=\"0.001048576\"} 600",
		"kvmtop_exit_duration_seconds_bucket{guest=\"db1\",le=\"0.016777216\"} 660",
		"kvmtop_exit_duration_seconds_bucket{guest=\"db1\",le=\"1.073741824\"} 660",
		"kvmtop_exit_duration_seconds_bucket{guest=\"db1\",le=\"+Inf\"} 660",
		"kvmtop_exit_duration_seconds_sum{guest=\"db1\"} 1.2",
		"kvmtop_exit_duration_seconds_count{guest=\"db1\"} 660",
		"kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"guest\"} 1.52",
		"kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"1\",mode=\"kvm\"} 0.26",
		"kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"1\",mode=\"idle\"} 0.76",
		"kvmtop_vcpu_seconds_total{guest=\"web1\",vcpu=\"0\",mode=\"block\"} 0.04",
		"kvmtop_vcpu_seconds_total{guest=\"web1\",vcpu=\"0\",mode=\"wait\"} 0.04",
		"kvmtop_finding{guest=\"db1\",rule=\"serial\"} 2",
		"kvmtop_series_dropped{metric=\"kvmtop_exits_total\"} 0",
	};
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	char *text;

	usual(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_build_info{version=\"" KVMTOP_VERSION
			"\",arch=\"SVM\",engine=\"bpf\"} 1");
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		need_line(text, lines[i]);
	assert_int_equal(count_of(text, "_bucket{guest=\"db1\""), 13);
	assert_null(strstr(text, "kvmtop_user_exits"));
	assert_null(strstr(text, "# EOF"));
	/* The header of a metric is there once, before its first series. */
	assert_int_equal(count_of(text, "# HELP kvmtop_exits_total "), 1);
	free(text);
	metrics_free(metrics);
}

/* Its seconds are counted as they pass; a histogram has what ended. */
TEST(an_exit_that_does_not_end, setup, teardown)
{
	static const char *const lines[] = {
		"kvmtop_exits_total{guest=\"db1\",reason=\"IO\"} 2",
		"kvmtop_exit_seconds_total{guest=\"db1\",reason=\"IO\"} 3.01",
		"# TYPE kvmtop_exit_open_seconds gauge",
		"kvmtop_exit_open_seconds{guest=\"db1\",vcpu=\"0\",reason=\"IO\"} 3.0",
		"kvmtop_exit_duration_seconds_sum{guest=\"db1\"} 0.01",
		"kvmtop_exit_duration_seconds_count{guest=\"db1\"} 1",
		"kvmtop_finding{guest=\"db1\",rule=\"exit_open\"} 3",
	};
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	char *text;

	for (uint32_t second = 1; second <= 3; second++)
		stands_still(world, second);
	text = text_of(world, metrics);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		need_line(text, lines[i]);
	assert_int_equal(count_of(text, "kvmtop_exit_open_seconds{"), 1); /* no halt */
	free(text);
	metrics_free(metrics);
}

TEST(groups_add_and_leave_out, setup, teardown)
{
	struct world *world = *state;
	unsigned int groups = METRICS_DEFAULT;
	struct error error = { "" };
	struct metrics *metrics;
	char *text;

	assert_int_equal(metrics_groups_parse("user,reasons,no-vcpus", &groups, &error), 0);
	assert_int_equal(groups, (METRICS_DEFAULT & ~METRICS_VCPUS) | METRICS_USER |
				 METRICS_REASONS);
	assert_int_equal(metrics_groups_parse("user,vcpu", &groups, &error), -EINVAL);
	assert_string_equal(error.text,
			    "\"vcpu\": no such metrics; kvmtop export --metrics help lists them");
	assert_int_equal(metrics_groups_parse("", &groups, &error), -EINVAL);
	assert_int_equal(metrics_groups_parse("no-", &groups, &error), -EINVAL);

	usual(world);
	metrics = metrics_of(groups, METRICS_SERIES_MAX);
	text = text_of(world, metrics);
	assert_null(strstr(text, "kvmtop_vcpu_seconds"));
	need_line(text, "kvmtop_user_exits_total{guest=\"web1\",reason=\"IO\"} 20");
	need_line(text, "kvmtop_user_exit_seconds_total{guest=\"web1\",reason=\"IO\"} 0.18");
	need_line(text, "kvmtop_exit_reason_duration_seconds_count{guest=\"db1\",reason=\"HLT\"} "
			"300");
	free(text);
	metrics_free(metrics);
}

/* The kinds of what ran are added up over a guest's vCPUs; the waits themselves are no kind. */
TEST(waits_by_kind, setup, teardown)
{
	struct world *world = *state;
	const struct field waits = { .name = "waits", .parent = FIELD_NONE, .use = USE_WAIT };
	struct field ran = { .use = USE_WAIT, .part = WAIT_PROCESS };
	struct metrics *metrics = metrics_of(METRICS_WAITS, METRICS_SERIES_MAX);
	uint32_t make, cc, irq;
	char *text;

	ran.parent = fields_add(world->fields, &waits);
	ran.name = "waits(process make make)";
	make = fields_add(world->fields, &ran);
	ran.name = "waits(process cc1 cc1)";
	cc = fields_add(world->fields, &ran);
	ran.name = "waits(irq)";
	ran.part = WAIT_IRQ;
	irq = fields_add(world->fields, &ran);
	for (uint32_t i = 1; i <= 2; i++) {
		for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
			count(world, 1, vcpu, ran.parent, 9 * i, 1000000);
			count(world, 1, vcpu, make, 5 * i, 1000000);
			count(world, 1, vcpu, cc, 3 * i, 1000000);
		}
		count(world, 1, 1, irq, i, 1000000);
		take(world);
	}
	text = text_of(world, metrics);
	need_line(text, "# TYPE kvmtop_wait_seconds_total counter");
	need_line(text, "kvmtop_wait_seconds_total{guest=\"db1\",kind=\"process\"} 0.032");
	need_line(text, "kvmtop_wait_seconds_total{guest=\"db1\",kind=\"irq\"} 0.002");
	need_line(text, "kvmtop_wait_seconds_total{guest=\"(ended)\",kind=\"irq\"} 0.0");
	assert_int_equal(count_of(text, "kvmtop_wait_seconds_total{"), 4);
	free(text);
	metrics_free(metrics);
	metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	text = text_of(world, metrics);
	assert_null(strstr(text, "kvmtop_wait_seconds"));
	free(text);
	metrics_free(metrics);
}

/* By vCPU; entering is what waking and waiting leave, and never goes back. Vectors have none. */
TEST(interrupts_by_part, setup, teardown)
{
	struct world *world = *state;
	struct field field = { .name = "interrupts", .parent = FIELD_NONE, .use = USE_INTERRUPT,
			       .part = INTERRUPT_ALL, .reason = FIELD_NONE };
	struct metrics *metrics = metrics_of(METRICS_INTERRUPTS, METRICS_SERIES_MAX);
	uint32_t all = fields_add(world->fields, &field), waking, waiting, vector;
	static const uint64_t waking_ns[] = { 0, 3000000, 9000000 };
	char *text;

	field.parent = field.reason = all;
	field.name = "interrupts(waking)";
	field.part = INTERRUPT_WAKING;
	waking = fields_add(world->fields, &field);
	field.name = "interrupts(waiting)";
	field.part = INTERRUPT_WAITING;
	waiting = fields_add(world->fields, &field);
	field.name = "interrupts(vector 0xfd)";
	field.part = INTERRUPT_VECTOR;
	field.reason = FIELD_NONE;
	vector = fields_add(world->fields, &field);
	for (uint32_t i = 1; i <= 2; i++) {
		count(world, 1, 0, all, i, 1000000);
		count(world, 1, 1, all, 10 * i, 1000000);
		count(world, 1, 1, vector, 10 * i, 1000000);
		sample_add(&world->sample, (struct key){ 1, 1, waking }, waking_ns[i], ROW_NEW);
		sample_add(&world->sample, (struct key){ 1, 1, waiting }, 5000000 * i, ROW_NEW);
		take(world);
		text = text_of(world, metrics);
		need_line(text, "# TYPE kvmtop_interrupt_seconds_total counter");
		if (i == 1)
			need_line(text, "kvmtop_interrupt_seconds_total{guest=\"db1\",vcpu=\"1\","
					"part=\"waking\"} 0.003");
		need_line(text, "kvmtop_interrupt_seconds_total{guest=\"db1\",vcpu=\"1\","
				"part=\"entering\"} 0.002");
		need_line(text, "kvmtop_interrupt_seconds_total{guest=\"(ended)\","
				"part=\"waking\"} 0.0");
		assert_int_equal(count_of(text, "kvmtop_interrupt_seconds_total{"), 9);
		if (i == 2)
			need_line(text, "kvmtop_interrupt_seconds_total{guest=\"db1\",vcpu=\"1\","
					"part=\"waiting\"} 0.01");
		free(text);
	}
	metrics_free(metrics);
	metrics = metrics_of(METRICS_DEFAULT | METRICS_WAITS, METRICS_SERIES_MAX);
	text = text_of(world, metrics);
	assert_null(strstr(text, "kvmtop_interrupt_seconds"));
	free(text);
	metrics_free(metrics);
}

TEST(events_and_statistics, setup, teardown)
{
	static const struct field more[] = {
		{ .name = "pages_4k", .parent = FIELD_NONE, .source = 3, .kind = FIELD_GAUGE },
		{ .name = "io_exits", .parent = FIELD_NONE, .source = 3 },
	};
	const struct metrics_config config = {
		.groups = METRICS_EVENTS | METRICS_STATISTICS,
		.max_series = 100,
		.statistics = 1U << 3,
	};
	struct world *world = *state;
	struct metrics *metrics = metrics_new(&config);
	uint32_t pages, io;
	char *text;

	assert_non_null(metrics);
	pages = fields_add(world->fields, &more[0]);
	io = fields_add(world->fields, &more[1]);
	world->sample.time_ns[1] = world->sample.time_ns[3] = SECOND;
	for (int32_t vcpu = 0; vcpu < 2; vcpu++) {
		sample_add(&world->sample, (struct key){ 1, vcpu, KVM_EXIT }, 7, ROW_FROM_ZERO);
		sample_add(&world->sample, (struct key){ 1, vcpu, pages }, 40, 0);
		sample_add(&world->sample, (struct key){ 1, vcpu, io }, 5, ROW_FROM_ZERO);
	}
	sample_add(&world->sample, (struct key){ GUEST_NONE, -1, KVM_EXIT }, 20, ROW_FROM_ZERO);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_events_total{guest=\"db1\",event=\"kvm_exit\"} 14");
	need_line(text, "kvmtop_events_total{event=\"kvm_exit\"} 20");
	need_line(text, "kvmtop_statistic_total{guest=\"db1\",name=\"io_exits\"} 10");
	need_line(text, "kvmtop_statistic_level{guest=\"db1\",name=\"pages_4k\"} 80");
	free(text);
	metrics_free(metrics);
}

/* Events are counted from when a guest is found, and exits from the first one on. */
TEST(an_event_is_its_exits, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT | METRICS_EVENTS, METRICS_SERIES_MAX);
	char *text;

	sample_add(&world->sample, (struct key){ 1, 0, KVM_EXIT }, 7, ROW_FROM_ZERO);
	sample_add(&world->sample, (struct key){ 2, 0, KVM_EXIT }, 3, ROW_FROM_ZERO);
	usual_vcpu(world, 2, 0, 1);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_exits_total{guest=\"web1\",reason=\"HLT\"} 50");
	need_line(text, "kvmtop_exits_total{guest=\"web1\",reason=\"MSR_WRITE\"} 100");
	need_line(text, "kvmtop_exits_total{guest=\"web1\",reason=\"IO\"} 10");
	need_line(text, "kvmtop_events_total{guest=\"web1\",event=\"kvm_exit\"} 160");
	need_line(text, "kvmtop_events_total{guest=\"db1\",event=\"kvm_exit\"} 7");
	free(text);
	metrics_free(metrics);
}

/* Where KVM traces no VM exits, the times of exits to user space are not known: they are not 0. */
TEST(times_that_are_not_known, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT | METRICS_USER, METRICS_SERIES_MAX);
	char *text;

	field_set_add(&world->wanted, VMEXIT);
	field_set_add(&world->wanted, USERSPACE);
	for (int32_t field = USERSPACE; field <= USER_IO; field++)
		sample_add_timed(&world->sample, (struct key){ 1, 0, (uint32_t)field }, 457,
				 ROW_FROM_ZERO, &(struct timing){ 0 });
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_user_exits_total{guest=\"db1\",reason=\"IO\"} 457");
	assert_null(strstr(text, "kvmtop_user_exit_seconds_total{"));
	free(text);
	usual(world);
	text = text_of(world, metrics);
	assert_non_null(strstr(text, "kvmtop_user_exit_seconds_total{"));
	free(text);
	metrics_free(metrics);
}

/* An inventory of guests as a test has them now. */
struct fleet {
	struct guest list[NR_GUESTS];
	bool is_there[NR_GUESTS];
	uint64_t exits[NR_GUESTS], idle_ms[NR_GUESTS], poll_ms[NR_GUESTS];
};

static void set_guests(struct world *world, const struct fleet *fleet)
{
	guests_clear(world->guests);
	for (size_t i = 0; i < NR_GUESTS; i++) {
		if (fleet->is_there[i])
			guests_put(world->guests, &fleet->list[i]);
	}
}

static void take_fleet(struct world *world, const struct fleet *fleet)
{
	set_guests(world, fleet);
	world->sample.time_ns[0] = world->now_ns + SECOND;
	for (uint32_t i = 0; i < NR_GUESTS; i++) {
		if (!fleet->is_there[i] || fleet->list[i].has_ended)
			continue;
		count(world, i + 1, 0, MSR, (uint32_t)fleet->exits[i], 3000);
		live(world, i + 1, 0, IDLE, fleet->idle_ms[i]);
	}
	take(world);
}

#define WORDS "uuid=\"\",id=\"101\",title=\"\",project=\"shop\",flavor=\"\",pod=\"\""

static struct fleet *fleet_new(struct world *world)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	if (!fleet)
		abort();
	world->stats->guests = world->guests;
	for (uint32_t i = 0; i < NR_GUESTS; i++) {
		fleet->list[i] = (struct guest){ .id = i + 1, .pid = (pid_t)(1000 + i),
						 .vmm = "qemu", .words.text = { [WORD_ID] = "101",
								  [WORD_PROJECT] = "shop" },
						 .is_named = true };
		snprintf(fleet->list[i].name, sizeof(fleet->list[i].name), "vm-%u", i % 50);
	}
	return fleet;
}

static void wait_seconds(struct world *world, const struct fleet *fleet, unsigned int seconds)
{
	world->now_ns += (seconds - 1) * SECOND;
	take_fleet(world, fleet);
}

/* Whoever asks, and however often. */
TEST(a_guest_that_ended_stays_for_a_while, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	char *text;

	fleet->is_there[0] = fleet->is_there[1] = true;
	fleet->exits[0] = 5;
	take_fleet(world, fleet);
	metrics_take(metrics, &world->facts, world->now_ns);
	fleet->list[0].has_ended = true;
	take_fleet(world, fleet);
	for (int again = 0; again < 3; again++) {
		text = text_of(world, metrics);
		need_line(text, "kvmtop_exits_total{guest=\"vm-0\",reason=\"MSR_WRITE\"} 5");
		need_line(text, "kvmtop_exits_total{guest=\"(ended)\",reason=\"MSR_WRITE\"} 0");
		free(text);
		if (again)
			wait_seconds(world, fleet, 44);
	}
	wait_seconds(world, fleet, 2);
	text = text_of(world, metrics);
	assert_null(strstr(text, "vm-0"));
	assert_non_null(strstr(text, "vm-1"));
	need_line(text, "kvmtop_exits_total{guest=\"(ended)\",reason=\"MSR_WRITE\"} 0");
	free(text);
	free(fleet);
	metrics_free(metrics);
}

/* A guest that lives in one sample of seconds, and not in the next. */
TEST(a_guest_that_came_and_went, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	char *text;

	fleet->is_there[1] = true;
	take_fleet(world, fleet);
	metrics_take(metrics, &world->facts, world->now_ns);
	fleet->is_there[2] = fleet->list[2].has_ended = true;
	usual_vcpu(world, 3, 0, 1);
	take_fleet(world, fleet);
	for (int i = 0; i < 3; i++) {
		text = text_of(world, metrics);
		assert_null(strstr(text, "vm-2"));
		need_line(text, "kvmtop_exits_total{guest=\"(ended)\",reason=\"IO\"} 10");
		need_line(text, "kvmtop_exit_seconds_total{guest=\"(ended)\",reason=\"IO\"} 0.1");
		need_line(text, "kvmtop_exit_duration_seconds_count{guest=\"(ended)\"} 110");
		need_line(text, "kvmtop_vcpu_seconds_total{guest=\"(ended)\",mode=\"idle\"} 0.38");
		need_line(text, "kvmtop_vcpu_seconds_total{guest=\"(ended)\",mode=\"wait\"} 0.02");
		free(text);
		fleet->is_there[2] = false; /* the inventory forgets it, and stats do */
		take_fleet(world, fleet);
	}
	free(fleet);
	metrics_free(metrics);
}

/* What Prometheus' increase() is, over all series of a metric. */
struct increase {
	struct scraped {
		char name[240];
		double value;
	} list[64];
	size_t nr;
	double sum, values;
};

static void scrape(struct increase *increase, const char *text, const char *metric)
{
	increase->values = 0;
	for (const char *at = text; (at = strstr(at, metric)); at++) {
		size_t len = (size_t)(strchr(at, ' ') - at), i = 0;
		double value = strtod(at + len, NULL);

		if (at[-1] != '\n')
			continue;
		while (i < increase->nr && (strncmp(increase->list[i].name, at, len) != 0 ||
					    increase->list[i].name[len]))
			i++;
		assert_true(i < ARRAY_SIZE(increase->list));
		if (i == increase->nr)
			snprintf(increase->list[increase->nr++].name, 240, "%.*s", (int)len, at);
		else if (value >= increase->list[i].value)
			increase->sum += value - increase->list[i].value;
		else
			increase->sum += value;
		increase->list[i].value = value;
		increase->values += value;
	}
}

/* 20 guests of one name, each of 9 s and 1,000 exits, 12 s apart; readers scrape every 15 s. */
TEST(guests_that_no_scrape_sees, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	struct increase readers[3] = { { .nr = 0 } };

	fleet->is_there[0] = true;
	fleet->exits[0] = 7;
	for (unsigned int second = 0; second < 31 * 15; second++) {
		for (unsigned int i = 1; i <= 20; i++) {
			unsigned int begin = 20 + 12 * i;

			strcpy(fleet->list[i].name, "qemu");
			fleet->is_there[i] = second >= begin;
			fleet->list[i].has_ended = second >= begin + 9;
			fleet->exits[i] = 125 * (second - begin);
		}
		take_fleet(world, fleet);
		metrics_take(metrics, &world->facts, world->now_ns);
		if (second % 5 == 0) {
			struct increase *exits = &readers[second / 5 % 3];
			double before = exits->values;
			char *text = text_of(world, metrics);

			scrape(exits, text, "kvmtop_exits_total{");
			assert_true(exits->values >= before);
			free(text);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		assert_int_equal(readers[i].values, 20007);
		assert_int_equal(readers[i].sum, 20000);
	}
	free(fleet);
	metrics_free(metrics);
}

TEST(guests_of_one_name, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	char *text;

	fleet->is_there[0] = fleet->is_there[50] = fleet->is_there[100] = true; /* all vm-0 */
	strcpy(fleet->list[100].name, "vm-0 (1050)"); /* taken already */
	strcpy(fleet->list[150].name, "a\\b\"c");
	strcpy(fleet->list[151].name, "(ended)");
	fleet->is_there[150] = fleet->is_there[151] = true;
	take_fleet(world, fleet);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_guest_vcpus{guest=\"vm-0\"} 0");
	need_line(text, "kvmtop_guest_vcpus{guest=\"vm-0 (1050)\"} 0");
	need_line(text, "kvmtop_guest_vcpus{guest=\"vm-0 (1050) (1100)\"} 0");
	need_line(text, "kvmtop_guest_vcpus{guest=\"a\\\\b\\\"c\"} 0");
	need_line(text, "kvmtop_guest_vcpus{guest=\"(ended) (1151)\"} 0");
	free(text);
	/* The first ends: no label changes, and the next of the name has it. */
	fleet->list[0].has_ended = true;
	strcpy(fleet->list[1].name, "vm-0");
	fleet->is_there[1] = true;
	take_fleet(world, fleet);
	text = text_of(world, metrics);
	assert_int_equal(count_of(text, "pid=\"1000\""), 0);
	need_line(text, "kvmtop_guest_info{guest=\"vm-0\"," WORDS ",pid=\"1001\","
			"vmm=\"qemu\"} 1");
	need_line(text, "kvmtop_guest_vcpus{guest=\"vm-0 (1050)\"} 0");
	free(text);
	free(fleet);
	metrics_free(metrics);
}

/* A life after the other, of one name: no increase is lost, whenever a reader looks. */
TEST(a_guest_that_is_started_again, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	char *text;

	fleet->is_there[0] = true;
	for (uint32_t life = 1; life <= 3; life++) {
		usual_vcpu(world, life, 0, life);
		take_fleet(world, fleet);
		text = text_of(world, metrics);
		assert_non_null(strstr(text, "kvmtop_guest_vcpus{guest=\"vm-0\"}"));
		free(text);
		fleet->list[life - 1].has_ended = fleet->is_there[life] = true;
		strcpy(fleet->list[life].name, "vm-0");
	}
	take_fleet(world, fleet);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_exits_total{guest=\"vm-0\",reason=\"IO\"} 60");
	need_line(text, "kvmtop_exit_seconds_total{guest=\"vm-0\",reason=\"IO\"} 0.6");
	need_line(text, "kvmtop_exit_duration_seconds_count{guest=\"vm-0\"} 660");
	need_line(text, "kvmtop_exits_total{guest=\"(ended)\",reason=\"IO\"} 0");
	free(text);
	usual_vcpu(world, 4, 0, 1);
	take_fleet(world, fleet);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_exits_total{guest=\"vm-0\",reason=\"IO\"} 70");
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"vm-0\",vcpu=\"0\",mode=\"kvm\"} 0.91");
	assert_int_equal(count_of(text, "kvmtop_guest_info{"), 1);
	free(text);
	free(fleet);
	metrics_free(metrics);
}

/* A series in a text. */
struct seen {
	char name[240];
	double value;
	UT_hash_handle hh;
};

/* No series is there twice, nor less than before. */
static void check_text(struct seen **all, const char *whole)
{
	struct seen *now = NULL, *seen, *next;
	char *copy = strdup(whole), *text = copy, *line;

	while ((line = strsep(&text, "\n"))) {
		char *space = strrchr(line, ' ');

		if (!space || line[0] == '#' || strstr(line, "_total{") == NULL)
			continue;
		*space = '\0';
		HASH_FIND_STR(now, line, seen);
		if (seen)
			fail_msg("twice: %s", line);
		seen = calloc(1, sizeof(*seen));
		if (!seen)
			abort();
		snprintf(seen->name, sizeof(seen->name), "%s", line);
		seen->value = strtod(space + 1, NULL);
		HASH_ADD_STR(now, name, seen);
		HASH_FIND_STR(*all, line, next);
		if (next && seen->value < next->value)
			fail_msg("%s went back: %f, %f", line, next->value, seen->value);
	}
	for (seen = *all; seen; seen = next) {
		next = seen->hh.next;
		HASH_DEL(*all, seen);
		free(seen);
	}
	*all = now;
	free(copy);
}

/* 200 guests of 50 names come and go at random. Who asks less often gets the same. */
TEST(counters_never_go_back, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct metrics *seldom = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	struct fleet *fleet = fleet_new(world);
	struct seen *seen = NULL;
	uint32_t random = 1;
	size_t nr_ended = 0;

	for (int round = 0; round < 120; round++) {
		char *text, *other;

		for (size_t i = 0; i < NR_GUESTS; i++) {
			random = random * 1664525 + 1013904223;
			if (!fleet->is_there[i] && random >> 24 < 10) {
				fleet->is_there[i] = true;
			} else if (fleet->is_there[i] && !fleet->list[i].has_ended) {
				fleet->exits[i] += random >> 28;
				fleet->idle_ms[i] += random >> 29;
				fleet->list[i].has_ended = random >> 16 & 15 ? false : true;
				nr_ended += fleet->list[i].has_ended;
			}
		}
		wait_seconds(world, fleet, 10);
		text = text_of(world, metrics);
		check_text(&seen, text);
		metrics_take(seldom, &world->facts, world->now_ns);
		if (round % 17 == 0) {
			other = text_of(world, seldom);
			assert_string_equal(text, other);
			free(other);
		}
		free(text);
	}
	check_text(&seen, "");
	assert_true(nr_ended > 150);
	free(fleet);
	metrics_free(seldom);
	metrics_free(metrics);
}

/* A quota's part of waiting has a mode of its own, and is measured elsewhere. */
TEST(waiting_never_goes_back, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	uint32_t id = host_fields_add_part(world->fields, 0, HOST_THROTTLED);
	char *text;

	live(world, 1, 0, WAIT, 50);
	live(world, 1, 0, id, 10);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"wait\"} 0.04");
	free(text);
	live(world, 1, 0, WAIT, 60);
	live(world, 1, 0, id, 30);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\","
			"mode=\"throttled\"} 0.03");
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"wait\"} 0.04");
	free(text);
	metrics_free(metrics);
}

/* Where exits are not timed, what is on a CPU is one mode, by the scheduler. */
TEST(modes_without_exits_add_up, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	uint32_t id = host_fields_add_part(world->fields, 0, HOST_RUN);
	char *text;

	live(world, 1, 0, IDLE, 700);
	live(world, 1, 0, BLOCK, 100);
	live(world, 1, 0, id, 150);
	live(world, 2, 0, GUEST, 150); /* which is timed */
	live(world, 2, 0, IDLE, 700);
	live(world, 2, 0, id, 150);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"cpu\"} 0.15");
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"idle\"} 0.7");
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"0\",mode=\"block\"} 0.1");
	assert_int_equal(count_of(text, "mode=\"cpu\""), 1);
	free(text);
	metrics_free(metrics);
}

/* A VMM, which any user may run, chooses the number in the name of a vCPU's thread. */
TEST(a_high_number_of_a_vcpu_takes_no_room, setup, teardown)
{
	struct world *world = *state;
	struct metrics *metrics = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX);
	char *text;

	live(world, 1, 2147483639, IDLE, 2500);
	live(world, 1, 1, IDLE, 500);
	take(world);
	text = text_of(world, metrics);
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"1\",mode=\"idle\"} 0.5");
	need_line(text, "kvmtop_vcpu_seconds_total{guest=\"db1\",vcpu=\"2147483639\","
			"mode=\"idle\"} 2.5");
	free(text);
	metrics_free(metrics);
}

TEST(a_limit_of_series, setup, teardown)
{
	struct world *world = *state;
	static const char end[] = "# HELP kvmtop_series_dropped";
	struct metrics *all = metrics_of(METRICS_DEFAULT, METRICS_SERIES_MAX), *few;
	char *whole;
	size_t nr;

	usual(world);
	whole = text_of(world, all);
	nr = metrics_series(all);
	assert_int_equal(metrics_dropped(all), 0);
	metrics_free(all);
	for (size_t limit = 0; limit <= nr; limit++) {
		size_t dropped = 0;
		char *text;

		few = metrics_of(METRICS_DEFAULT, limit);
		text = text_of(world, few);
		assert_true(metrics_series(few) <= limit);
		for (const char *at = text; (at = strstr(at, "\nkvmtop_series_dropped{")); at++)
			dropped += strtoul(strchr(at, '}') + 1, NULL, 10);
		assert_int_equal(metrics_series(few) + dropped, nr);
		assert_int_equal(metrics_dropped(few), dropped);
		/* What is there is what comes first. */
		assert_memory_equal(text, whole, (size_t)(strstr(text, end) - text));
		/* A histogram is there as a whole or not. */
		assert_int_equal(count_of(text, "_bucket{") % 13, 0);
		free(text);
		metrics_free(few);
	}
	free(whole);
}
