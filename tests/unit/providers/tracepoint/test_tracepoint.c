/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_tracepoint - the tracepoint provider over made-up tracefs folders with real format files.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/file.h"
#include "host/machine.h"
#include "providers/tracepoint/tracepoint.c" /* NOLINT(bugprone-suspicious-include): no engine */
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define SOURCE 4
#define NOBODY 65534

#define EXIT_ID 101
#define USERSPACE_ID 102

struct fixture {
	char root[64];
	struct env env;
	struct guests *guests;
	struct fields *fields;
	void *provider;
	struct sample sample;
	struct want want;
	struct error error;
};

/* ---- a made-up machine */

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

static void write_file(const struct fixture *f, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", f->root, path);
	file = fopen(full, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* A file of an event's folder; text NULL: none. */
static void event_file(const struct fixture *f, const char *event, const char *name,
		       const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s", event);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/%s", event, name);
	if (text)
		write_file(f, path, text);
}

/* libtracefs wants a file "enable" in the folders. */
static void make_event(const struct fixture *f, const char *event, const char *id,
		       const char *format)
{
	char system[64];

	snprintf(system, sizeof(system), "%.*s", (int)strcspn(event, "/"), event);
	event_file(f, system, "enable", "0\n");
	event_file(f, event, "enable", "0\n");
	event_file(f, event, "id", id);
	event_file(f, event, "format", format);
}

static void read_format(const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "tests/formats/%s.format", name);
	assert_true(read_small(path, buf, size) > 0);
}

/* A KVM with the exit event of a captured kernel, and three more. */
static void make_kvm(const struct fixture *f, const char *exit_format)
{
	char format[65536];

	read_format(exit_format, format, sizeof(format));
	make_event(f, "kvm/kvm_exit", "101\n", format);
	read_format("kvm_userspace_exit-6.18", format, sizeof(format));
	make_event(f, "kvm/kvm_userspace_exit", "102\n", format);
	make_event(f, "kvm/kvm_entry", "103\n", NULL);
	make_event(f, "kvm/kvm_pio", "104\n", NULL);
}

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .root = "/tmp/kvmtop-tracepoint.XXXXXX" };
	*state = &f;
	if (!mkdtemp(f.root) || chmod(f.root, 0755) < 0)
		return -1;
	make_folder(&f, "/sys/kernel/tracing/events");
	make_folder(&f, "/sys/devices/system/cpu");
	make_folder(&f, "/proc");
	write_file(&f, CPUS_ONLINE, "0-1\n");
	make_event(&f, "sched/sched_switch", "7\n", NULL);
	if (env_init(&f.env, f.root, NULL) < 0)
		return -1;
	f.env.arch = arch_by_name("VMX");
	f.guests = guests_new(&f.env);
	f.fields = fields_new();
	return f.guests && f.fields ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tracepoint_provider.close(f->provider);
	field_set_release(&f->want.fields);
	sample_release(&f->sample);
	fields_free(f->fields);
	guests_free(f->guests);
	env_release(&f->env);
	return nftw(f->root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* An engine that counts nothing: these tests are about names and targets. */
static unsigned int nr_retargets;

static void no_want(void *state, const struct field_set *fields)
{
	(void)state;
	(void)fields;
}

static int count_retarget(void *state, const struct target *targets, size_t nr, uint32_t keep)
{
	(void)state;
	(void)targets;
	(void)nr;
	(void)keep;
	nr_retargets++;
	return 0;
}

static int no_read(void *state, struct sample *sample, uint64_t *ret_time_ns, struct error *error)
{
	(void)state;
	(void)sample;
	(void)error;
	*ret_time_ns = 1;
	return 0;
}

static void no_close(void *state)
{
	(void)state;
}

static const struct engine no_engine = {
	.name = "none", .want = no_want, .retarget = count_retarget, .read = no_read,
	.close = no_close,
};

/* As the provider's open(), with that engine. */
static int open_provider(struct fixture *f)
{
	struct provider_args args = { .env = &f->env, .guests = f->guests, .fields = f->fields,
					      .source = SOURCE };
	struct tracepoints *tp = calloc(1, sizeof(*tp));
	int err;

	assert_non_null(tp);
	tp->args = args;
	err = tracepoint_events_find(&tp->events, &args, &f->error);
	if (err) {
		tracepoints_close(tp);
		return err;
	}
	tp->works[tp->nr_works++].engine = &no_engine;
	f->provider = tp;
	return 0;
}

static const struct field *field_named(const struct fixture *f, const char *name)
{
	uint32_t id = fields_find(f->fields, name);

	return id == FIELD_NONE ? NULL : fields_get(f->fields, id);
}

static size_t children_of(const struct fixture *f, const char *name)
{
	uint32_t parent = fields_find(f->fields, name);
	size_t n = 0;

	for (uint32_t i = 0; i < fields_count(f->fields); i++)
		n += fields_get(f->fields, i)->parent == parent;
	return n;
}

static const struct counter *counter_of(const struct fixture *f, const char *name)
{
	const struct tracepoints *tp = f->provider;
	uint32_t field = fields_find(f->fields, name);

	for (size_t i = 0; i < tp->events.nr; i++) {
		if (tp->events.counters[i].field == field)
			return &tp->events.counters[i];
	}
	return NULL;
}

/* ---- fields */

TEST(test_fields, setup, teardown)
{
	struct fixture *f = *state;
	const struct tracepoints *tp;
	const struct field *field;
	bool had_child = false;

	make_kvm(f, "kvm_exit-vmx-6.1");
	make_event(f, "kvmmmu/kvm_mmu_get_page", "300\n", NULL);
	assert_int_equal(open_provider(f), 0);
	assert_null(field_named(f, "sched_switch"));
	assert_int_equal(field_named(f, "kvm_exit")->exit_rank, 1);
	assert_int_equal(field_named(f, "kvm_userspace_exit")->exit_rank, 2);
	assert_int_equal(field_named(f, "kvm_pio")->exit_rank, 0);
	assert_false(field_named(f, "kvm_pio")->is_extra);
	assert_true(field_named(f, "kvm_mmu_get_page")->is_extra);
	assert_int_equal(counter_of(f, "kvm_mmu_get_page")->tracepoint_id, 300);
	assert_int_equal(field_named(f, "kvm_pio")->parent, FIELD_NONE);

	field = field_named(f, "kvm_exit(HLT)");
	assert_non_null(field);
	assert_string_equal(field->label, "HLT");
	assert_true(field->is_idle);
	assert_int_equal(field->source, SOURCE);
	assert_int_equal(field->exit_rank, 0);
	assert_false(field_named(f, "kvm_exit(CPUID)")->is_idle);

	/* Plain events come first: they go without last. Parents are older than their children. */
	tp = f->provider;
	for (size_t i = 0; i < tp->events.nr; i++) {
		const struct counter *counter = &tp->events.counters[i];

		field = fields_get(f->fields, counter->field);
		assert_string_equal(counter->name, field->name);
		assert_true(!counter->filter == (field->parent == FIELD_NONE));
		assert_true(!had_child || counter->filter);
		had_child = counter->filter;
		assert_true(field->parent == FIELD_NONE || field->parent < counter->field);
	}
	assert_int_equal(tp->events.nr, fields_count(f->fields));
}

/* Each kernel's exits are split into all reasons that it or our tables know, by its own field. */
static void check_split(const struct fixture *f, const struct split *split, const char *format_name,
			uint64_t id)
{
	char format[65536], name[256], filter[256];
	struct reasons reasons;

	read_format(format_name, format, sizeof(format));
	reasons_of(split, format, &reasons);
	assert_true(reasons.nr >= 30);
	assert_int_equal(children_of(f, split->event), reasons.nr);
	for (size_t i = 0; i < reasons.nr; i++) {
		const struct reason *reason = &reasons.list[i];
		const struct counter *counter;

		snprintf(name, sizeof(name), "%s(%s)", split->event, reason->name);
		assert_non_null(field_named(f, name));
		counter = counter_of(f, name);
		split_filter(split, reason, filter, sizeof(filter));
		assert_string_equal(counter->filter, filter);
		assert_int_equal(counter->tracepoint_id, id);
		if (!reason->alias)
			continue;
		assert_non_null(field_named(f, name)->alias);
		assert_non_null(strstr(field_named(f, name)->alias, reason->alias));
	}
	reasons_release(&reasons);
}

static void check_arch(struct fixture *f, const char *arch, const char *format)
{
	f->env.arch = arch_by_name(arch);
	assert_non_null(f->env.arch);
	make_kvm(f, format);
	assert_int_equal(open_provider(f), 0);
	check_split(f, f->env.arch->splits, format, EXIT_ID);
	check_split(f, &arch_userspace_split, "kvm_userspace_exit-6.18", USERSPACE_ID);
	assert_int_equal(field_named(f, "kvm_exit")->exit_rank, 1);
}

TEST(test_vmx, setup, teardown)
{
	check_arch(*state, "VMX", "kvm_exit-vmx-6.1");
}

TEST(test_svm, setup, teardown)
{
	check_arch(*state, "SVM", "kvm_exit-svm-6.1");
}

/* libtraceevent cannot parse what this kernel prints, but it can its fields. */
TEST(test_svm_u64, setup, teardown)
{
	check_arch(*state, "SVM", "kvm_exit-svm-7.0");
}

TEST(test_arm64, setup, teardown)
{
	struct fixture *f = *state;

	check_arch(f, "arm64", "kvm_exit-arm64-6.1");
	assert_true(field_named(f, "kvm_exit(WFx)")->is_idle);
}

/* kvm_stat dies on hosts whose CPU has neither flag. */
TEST(test_no_flag, setup, teardown)
{
	struct fixture *f = *state;

	write_file(f, "/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2 lm\n");
	f->env.arch = arch_of_host(f->root);
	make_kvm(f, "kvm_exit-pvm-6.18");
	assert_int_equal(open_provider(f), 0);
	assert_int_equal(field_named(f, "kvm_exit")->exit_rank, 1);
	assert_false(field_named(f, "kvm_exit")->has_children);
	check_split(f, &arch_userspace_split, "kvm_userspace_exit-6.18", USERSPACE_ID);
}

/* ---- what other kernels, and bad days, may have */

TEST(test_missing_id, setup, teardown)
{
	struct fixture *f = *state;

	make_kvm(f, "kvm_exit-vmx-6.1");
	make_event(f, "kvm/kvm_hidden", NULL, NULL);
	make_event(f, "kvm/kvm_empty", "", NULL);
	make_event(f, "kvm/kvm_odd", "odd\n", NULL);
	make_event(f, "kvm/kvm_zero", "0\n", NULL);
	assert_int_equal(open_provider(f), 0);
	assert_null(field_named(f, "kvm_hidden"));
	assert_null(field_named(f, "kvm_empty"));
	assert_null(field_named(f, "kvm_odd"));
	assert_null(field_named(f, "kvm_zero"));
	assert_int_equal(counter_of(f, "kvm_pio")->tracepoint_id, 104);
}

TEST(test_missing_exit_id, setup, teardown)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	make_kvm(f, "kvm_exit-vmx-6.1");
	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/events/kvm/kvm_exit/id", f->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_provider(f), 0);
	assert_null(field_named(f, "kvm_exit"));
	assert_null(field_named(f, "kvm_exit(HLT)"));
	assert_true(children_of(f, "kvm_userspace_exit") > 0);
}

/* It is counted, but not split. */
static void check_not_split(struct fixture *f, const char *format)
{
	make_kvm(f, "kvm_exit-vmx-6.1");
	event_file(f, "kvm/kvm_exit", "format", format);
	assert_int_equal(open_provider(f), 0);
	assert_int_equal(counter_of(f, "kvm_exit")->tracepoint_id, EXIT_ID);
	assert_int_equal(children_of(f, "kvm_exit"), 0);
	assert_true(children_of(f, "kvm_userspace_exit") > 0);
}

TEST(test_missing_format, setup, teardown)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	make_kvm(f, "kvm_exit-vmx-6.1");
	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/events/kvm/kvm_exit/format", f->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_provider(f), 0);
	assert_int_equal(children_of(f, "kvm_exit"), 0);
}

/* A filter on a field that is not there is refused: kvm_stat dies of that. */
TEST(test_missing_field, setup, teardown)
{
	struct fixture *f = *state;
	char format[65536];

	read_format("kvm_exit-arm64-6.1", format, sizeof(format));
	check_not_split(f, format);
}

TEST(test_empty_format, setup, teardown)
{
	check_not_split(*state, "");
}

TEST(test_garbled_format, setup, teardown)
{
	check_not_split(*state, "name: kvm_exit\nID: \xff\nformat:\n\tfield:exit_reason;;\n"
				"print fmt: {{\n");
}

TEST(test_two_systems, setup, teardown)
{
	struct fixture *f = *state;
	char format[65536];

	make_kvm(f, "kvm_exit-vmx-6.1");
	read_format("kvm_exit-vmx-6.1", format, sizeof(format));
	make_event(f, "kvm_other/kvm_exit", "500\n", format);
	make_event(f, "kvm_other/kvm_alone", "501\n", NULL);
	assert_int_equal(open_provider(f), 0);
	assert_int_equal(counter_of(f, "kvm_exit")->tracepoint_id, EXIT_ID);
	assert_int_equal(counter_of(f, "kvm_other:kvm_exit")->tracepoint_id, 500);
	assert_int_equal(counter_of(f, "kvm_alone")->tracepoint_id, 501);
	assert_int_equal(field_named(f, "kvm_exit")->exit_rank, 1);
	assert_int_equal(field_named(f, "kvm_other:kvm_exit")->exit_rank, 0);
	assert_true(children_of(f, "kvm_exit") > 0);
	assert_int_equal(children_of(f, "kvm_other:kvm_exit"), 0);
}

/* ---- nothing there */

TEST(test_no_module, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(open_provider(f), -ENOENT);
	assert_non_null(strstr(f->error.text, "/sys/kernel/tracing/events: load the kvm module"));
	assert_null(f->provider);
}

TEST(test_no_tracefs, setup, teardown)
{
	struct fixture *f = *state;
	struct env env = f->env;
	struct provider_args args = { .env = &env, .guests = f->guests, .fields = f->fields,
					      .source = SOURCE };

	env.tracefs = NULL;
	assert_int_equal(trace_check(&f->env, &f->error), 0);
	assert_int_equal(tracepoint_provider.open(&args, &f->provider, &f->error), -ENOENT);
	assert_non_null(strstr(f->error.text, "mount -t tracefs"));
}

/* What is true of the folder, not "load the module". */
static void check_unreadable(struct fixture *f, const char *path, mode_t mode)
{
	char full[PATH_MAX];
	pid_t pid;
	int status;

	make_kvm(f, "kvm_exit-vmx-6.1");
	snprintf(full, sizeof(full), "%s%s", f->root, path);
	assert_int_equal(chmod(full, mode), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (getuid() == 0 && setuid(NOBODY) < 0)
			_exit(1);
		if (open_provider(f) != -EACCES)
			_exit(2);
		_exit(strstr(f->error.text, "tracing/events: Permission denied") &&
		      strstr(f->error.text, "cap_dac_read_search") ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(chmod(full, 0755), 0);
	assert_int_equal(status, 0);
}

TEST(test_unreadable_folder, setup, teardown)
{
	check_unreadable(*state, "/sys/kernel/tracing/events", 0);
}

TEST(test_unreadable_tracefs, setup, teardown)
{
	/* As it is by default: root's. */
	check_unreadable(*state, "/sys/kernel/tracing", getuid() == 0 ? 0700 : 0);
}

TEST(test_lockdown, setup, teardown)
{
	struct fixture *f = *state;

	make_folder(f, "/sys/kernel/security");
	write_file(f, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	/* Set at boot it leaves no events, set later they cannot be read. */
	assert_int_equal(trace_why_none(&f->env, 0, &f->error), -EPERM);
	assert_string_equal(f->error.text, "trace events are blocked by kernel lockdown "
					 "(confidentiality): boot with "
					 "lockdown=integrity");
	assert_int_equal(trace_why_none(&f->env, -EPERM, &f->error), -EPERM);
	assert_non_null(strstr(f->error.text, "lockdown (confidentiality)"));
	/* Which does not forbid it. */
	write_file(f, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	assert_int_equal(trace_why_none(&f->env, 0, &f->error), -ENOENT);
	assert_false(trace_lacks_kvm(&f->env, &f->error));
	assert_non_null(strstr(f->error.text, "load the kvm module"));
	/* A kernel without them, or a container. */
	make_folder(f, "/sys/module/kvm");
	assert_int_equal(trace_why_none(&f->env, 0, &f->error), -ENODATA);
	assert_true(trace_lacks_kvm(&f->env, &f->error));
	assert_null(strstr(f->error.text, "load the kvm module"));
	assert_non_null(strstr(f->error.text, "--cost none counts without them"));
	/* Without securityfs the level is not known, but what it does is seen. */
	write_file(f, "/sys/kernel/security/lockdown", "");
	assert_int_equal(trace_why_none(&f->env, -EPERM, &f->error), -EPERM);
	assert_non_null(strstr(f->error.text, "tracing/events: Operation not permitted: "
					    "probably because of kernel lockdown"));
}

/* ---- which engine counts */

static void set_pid_namespace(const struct fixture *f, const char *name)
{
	char path[PATH_MAX];

	make_folder(f, "/proc/self/ns");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", f->root);
	unlink(path);
	assert_int_equal(symlink(name, path), 0);
}

/* Where BPF has other pids than /proc, neither the engine nor the provider "exits" use it. */
TEST(test_other_pid_namespace, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(pid_namespace_check(&f->env, "BPF", &f->error), 0);
	set_pid_namespace(f, "pid:[4026531836]");
	assert_int_equal(pid_namespace_check(&f->env, "BPF", &f->error), 0);
	set_pid_namespace(f, "pid:[4026532198]");
	assert_int_equal(pid_namespace_check(&f->env, "BPF", &f->error), -EXDEV);
	assert_non_null(strstr(f->error.text, "pid namespace"));
	assert_int_not_equal(bpf_engine.probe(&f->env, &f->error), 0);
}

/* A guest that came later counts from zero, one that was there when the want came does not. */
TEST(test_first_row_of_a_guest, setup, teardown)
{
	const struct counter counter = { .field = 0 };
	struct counts counts = { &counter, 1, NULL };
	const bool is_wanted = true;
	struct sample sample = { 0 };

	counts_get(&counts, 1, false)->is_counted[0] = true;
	counts_get(&counts, 2, true)->is_counted[0] = true;
	counts_emit(&counts, &is_wanted, NULL, &sample);
	assert_int_equal(sample.nr_rows, 2);
	for (size_t i = 0; i < sample.nr_rows; i++)
		assert_int_equal(sample.rows[i].flags,
				 sample.rows[i].key.guest == 1 ? ROW_FROM_ZERO : 0);
	counts_release(&counts);
	sample_release(&sample);
}

static const struct engine *engine_at(const char *asked, size_t i)
{
	struct provider_args args = { .options.engine = asked };
	const struct engine *const *at = engines, *engine = NULL;

	for (size_t n = 0; n <= i; n++)
		engine = next_engine(&at, &args);
	return engine;
}

TEST(test_engines, setup, teardown)
{
	assert_ptr_equal(engine_at(NULL, 0), &bpf_engine);
	assert_ptr_equal(engine_at(NULL, 1), &perf_engine);
	assert_null(engine_at(NULL, 2));
	assert_ptr_equal(engine_at("perf", 0), &perf_engine);
	assert_null(engine_at("perf", 1));
	assert_null(engine_at("none", 0));
}

static int may_count(const struct env *env, struct error *error)
{
	(void)env;
	(void)error;
	return 0;
}

static int may_not_count(const struct env *env, struct error *error)
{
	(void)env;
	return error_set(error, -EPERM, "not allowed");
}

/* What each of two engines was opened for: the first of its counters, and how many there are. */
static struct {
	const struct counter *counters;
	size_t nr;
} opened[2];

static int open_for_events(const struct provider_args *args, const struct counter *counters,
			   size_t nr, void **ret_state, struct error *error)
{
	(void)args;
	for (size_t i = 0; i < nr; i++) {
		if (counters[i].split)
			return error_set(error, -ENOTSUP, "no reasons");
	}
	opened[0].counters = counters;
	opened[0].nr = nr;
	*ret_state = NULL;
	return 0;
}

static int open_for_all(const struct provider_args *args, const struct counter *counters, size_t nr,
			void **ret_state, struct error *error)
{
	(void)args;
	(void)error;
	opened[1].counters = counters;
	opened[1].nr = nr;
	*ret_state = NULL;
	return 0;
}

#define FAKE(name_, probe_, open_)                                                                 \
	{ .name = (name_), .probe = (probe_), .open = (open_), .want = no_want,                    \
	  .retarget = count_retarget, .read = no_read, .close = no_close }

static const struct engine events_alone = FAKE("first", may_count, open_for_events);
static const struct engine not_allowed = FAKE("first", may_not_count, open_for_all);
static const struct engine all = FAKE("second", may_count, open_for_all);

/* Without BTF of KVM there are no programs for reasons: these are the next engine's. */
TEST(test_reasons_by_another_engine, setup, teardown)
{
	const struct engine *const both[] = { &events_alone, &all, NULL };
	const struct engine *const one[] = { &events_alone, NULL };
	const struct engine *const refused[] = { &not_allowed, &all, NULL };
	struct fixture *f = *state;
	struct tracepoints *tp;
	struct error error = { "" };

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	tp = f->provider;
	tp->nr_works = 0;
	assert_int_equal(open_engine(tp, both, &error), 0);
	assert_int_equal(tp->nr_works, 2);
	assert_string_equal(tracepoint_provider.engine(tp), "first");
	assert_string_equal(tp->refused.text,
			    "reasons are not counted by first, which costs least: no reasons");
	assert_ptr_equal(opened[0].counters, tp->events.counters);
	assert_int_equal(opened[0].nr, 4);
	assert_ptr_equal(opened[1].counters, tp->events.counters + 4);
	assert_int_equal(opened[1].nr, tp->events.nr - 4);
	nr_retargets = 0;
	assert_int_equal(tracepoint_provider.collect(tp, &f->sample, &error), 0);
	assert_int_equal(nr_retargets, 2);

	tp->nr_works = 0;
	assert_int_equal(open_engine(tp, one, &error), -ENOTSUP);
	assert_string_equal(error.text, "no reasons");

	tp->nr_works = 0;
	assert_int_equal(open_engine(tp, refused, &error), 0);
	assert_int_equal(tp->nr_works, 1);
	assert_string_equal(tp->refused.text,
			    "events are not counted by first, which costs least: not allowed");
	assert_int_equal(opened[1].nr, tp->events.nr);
}

TEST(test_refused_engine_is_told, setup, teardown)
{
	struct fixture *f = *state;
	struct tracepoints *tp;

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	tp = f->provider;
	assert_string_equal(tp->refused.text, "");
	error_set(&tp->refused, 0, "not counted by bpf");
	for (unsigned int i = 0; i < REFUSED_SAMPLES + 2; i++) {
		struct error error = { "" };

		assert_int_equal(tracepoint_provider.collect(tp, &f->sample, &error), 0);
		assert_string_equal(error.text, i < REFUSED_SAMPLES ? "not counted by bpf" : "");
	}
}

/* ---- where it counts */

static void want_everything(struct fixture *f, enum want_scope scope, uint32_t guest)
{
	for (uint32_t i = 0; i < fields_count(f->fields); i++)
		field_set_add(&f->want.fields, i);
	f->want.scope = scope;
	f->want.guest = guest;
	assert_int_equal(tracepoint_provider.want(f->provider, &f->want, &f->error), 0);
}

static void check_targets(const struct fixture *f, bool are_threads, const int *ids, size_t nr,
			  uint32_t guest)
{
	const struct tracepoints *tp = f->provider;

	assert_int_equal(tp->nr_targets, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(tp->targets[i].is_thread, are_threads);
		assert_int_equal(tp->targets[i].id, ids[i]);
		assert_int_equal(tp->targets[i].guest, guest);
	}
}

TEST(test_targets_host, setup, teardown)
{
	struct fixture *f = *state;

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	write_file(f, CPUS_ONLINE, "8,0-2,2\n");
	want_everything(f, WANT_HOST, GUEST_ALL);
	check_targets(f, false, (const int[]){ 0, 1, 2, 8 }, 4, GUEST_NONE);

	/* CPUs go and come. */
	write_file(f, CPUS_ONLINE, "1-3\n");
	assert_int_equal(tracepoint_provider.collect(f->provider, &f->sample, &f->error), 0);
	check_targets(f, false, (const int[]){ 1, 2, 3 }, 3, GUEST_NONE);
}

TEST(test_targets_guest, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest;

	make_kvm(f, "kvm_exit-vmx-6.1");
	make_folder(f, "/proc/4711/task/4711");
	make_folder(f, "/proc/4711/task/4720");
	make_folder(f, "/proc/4711/task/999");
	guest = guests_add_fake(f->guests, 4711, "web", 2);
	assert_int_equal(open_provider(f), 0);
	want_everything(f, WANT_GUEST, guest);
	check_targets(f, true, (const int[]){ 999, 4711, 4720 }, 3, guest);

	/* A thread comes; then the guest is gone. */
	make_folder(f, "/proc/4711/task/5000");
	assert_int_equal(tracepoint_provider.collect(f->provider, &f->sample, &f->error), 0);
	check_targets(f, true, (const int[]){ 999, 4711, 4720, 5000 }, 4, guest);
	want_everything(f, WANT_GUEST, guest + 1);
	check_targets(f, true, NULL, 0, 0);
	assert_int_equal(tracepoint_provider.collect(f->provider, &f->sample, &f->error), 0);
}

TEST(test_targets_thousands_of_threads, setup, teardown)
{
	struct fixture *f = *state;
	const struct tracepoints *tp;
	char path[64];

	make_kvm(f, "kvm_exit-vmx-6.1");
	for (int tid = 10000; tid < 15000; tid++) {
		snprintf(path, sizeof(path), "/proc/4711/task/%d", tid);
		make_folder(f, path);
	}
	assert_int_equal(open_provider(f), 0);
	want_everything(f, WANT_GUEST, guests_add_fake(f->guests, 4711, "web", 2));
	tp = f->provider;
	assert_int_equal(tp->nr_targets, 5000);
	assert_int_equal(tp->targets[4999].id, 14999);
}

TEST(test_targets_each, setup, teardown)
{
	struct fixture *f = *state;
	const struct guest *guest;
	uint32_t known, unknown;

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	want_everything(f, WANT_EACH, GUEST_ALL);
	check_targets(f, true, NULL, 0, 0);

	/* Where the vCPU threads are known only those, else all; a thread that runs two, once. */
	known = guests_add_fake(f->guests, 200, "web", 3);
	guest = guests_by_id(f->guests, known);
	guest->vcpus[2].tid = guest->vcpus[1].tid;
	unknown = guests_add_fake(f->guests, 100, "db", 0);
	make_folder(f, "/proc/100/task/100");
	make_folder(f, "/proc/200/task/200");
	want_everything(f, WANT_EACH, GUEST_ALL);
	assert_int_equal(((struct tracepoints *)f->provider)->nr_targets, 3);
	assert_int_equal(((struct tracepoints *)f->provider)->targets[0].guest, unknown);
	assert_int_equal(((struct tracepoints *)f->provider)->targets[0].id, 100);
	assert_int_equal(((struct tracepoints *)f->provider)->targets[1].id, 201);
	assert_int_equal(((struct tracepoints *)f->provider)->targets[2].id, 202);
	assert_int_equal(((struct tracepoints *)f->provider)->targets[2].guest, known);
}

/* Looks with no descriptor to be had: a notice, and it counts on where it did. */
static void collect_without_descriptors(struct fixture *f)
{
	struct rlimit limit, none;
	int err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	f->error.text[0] = '\0';
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	err = tracepoint_provider.collect(f->provider, &f->sample, &f->error);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(err, 0);
	assert_non_null(strstr(f->error.text, "ulimit -n"));
	f->error.text[0] = '\0';
}

TEST(test_targets_without_descriptors, setup, teardown)
{
	struct fixture *f = *state;
	struct tracepoints *tp;

	make_kvm(f, "kvm_exit-vmx-6.1");
	make_folder(f, "/proc/4711/task/4711");
	assert_int_equal(open_provider(f), 0);
	tp = f->provider;
	want_everything(f, WANT_HOST, GUEST_ALL);
	nr_retargets = 0;
	collect_without_descriptors(f);
	want_everything(f, WANT_GUEST, guests_add_fake(f->guests, 4711, "web", 2));
	nr_retargets = 0;
	collect_without_descriptors(f);
	assert_int_equal(nr_retargets, 0);
	assert_int_equal(tracepoint_provider.collect(tp, &f->sample, &f->error), 0);
	assert_int_equal(nr_retargets, 1);
}

/* The module was unloaded and loaded again. */
TEST(test_events_are_numbered_anew, setup, teardown)
{
	struct fixture *f = *state;
	const struct counter *reason;

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	assert_int_equal(counter_of(f, "kvm_exit")->tracepoint_id, EXIT_ID);
	event_file(f, "kvm/kvm_entry", "id", "303\n");
	event_file(f, "kvm/kvm_exit", "id", "301\n");
	event_file(f, "kvm/kvm_pio", "id", "304\n");
	event_file(f, "kvm/kvm_userspace_exit", "id", "302\n");
	want_everything(f, WANT_HOST, GUEST_ALL);
	assert_int_equal(counter_of(f, "kvm_entry")->tracepoint_id, 303);
	assert_int_equal(counter_of(f, "kvm_exit")->tracepoint_id, 301);
	reason = counter_of(f, "kvm_exit(HLT)");
	assert_non_null(reason);
	assert_int_equal(reason->tracepoint_id, 301);
	/* While it is away they stay as they were. */
	event_file(f, "kvm/kvm_entry", "id", "");
	want_everything(f, WANT_HOST, GUEST_ALL);
	assert_int_equal(counter_of(f, "kvm_entry")->tracepoint_id, 303);
}

TEST(test_no_cpu_list, setup, teardown)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	make_kvm(f, "kvm_exit-vmx-6.1");
	assert_int_equal(open_provider(f), 0);
	snprintf(path, sizeof(path), "%s" CPUS_ONLINE, f->root);
	assert_int_equal(unlink(path), 0);
	f->want.scope = WANT_HOST;
	assert_int_equal(tracepoint_provider.want(f->provider, &f->want, &f->error), -ENOENT);
	assert_non_null(strstr(f->error.text, CPUS_ONLINE));
}

/* ---- the kernel's lists of CPUs */

TEST(test_cpu_lists, setup, teardown)
{
	static const struct {
		const char *text;
		int nr, cpus[8];
	} cases[] = {
		{ "0\n", 1, { 0 } },
		{ "0-3\n", 4, { 0, 1, 2, 3 } },
		{ "0,2-3,8191", 4, { 0, 2, 3, 8191 } },
		{ "", 0, { 0 } },
		{ "\n", 0, { 0 } },
		{ "x", 0, { 0 } },
		{ "-1", 0, { 0 } },
		{ "1,", 1, { 1 } },
		{ "1,,2", 1, { 1 } },
		{ "3-1", 0, { 0 } },
		{ "2-", 0, { 0 } },
		{ "1-2x,5", 2, { 1, 2 } },
		{ "8192", 0, { 0 } },
		{ "5,99999999999999999999", 1, { 5 } },
	};

	for (size_t i = 0; i < SIZE(cases); i++) {
		struct cpus cpus = cpus_of(cases[i].text);

		assert_int_equal(cpus_count(cases[i].text), cases[i].nr);
		for (int k = 0; k < cases[i].nr; k++)
			assert_int_equal(cpus_next(&cpus), cases[i].cpus[k]);
		assert_int_equal(cpus_next(&cpus), -1);
		assert_int_equal(cpus_next(&cpus), -1);
	}
}

/* Eight CPUs, and the engine bpf needs twelve places. */
TEST(test_cpus_with_gaps, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(cpus_end(&f->env, CPUS_POSSIBLE), -ENOENT);
	write_file(f, CPUS_POSSIBLE, "0-3,8-11\n");
	assert_int_equal(cpus_end(&f->env, CPUS_POSSIBLE), 12);
	write_file(f, CPUS_POSSIBLE, "0\n");
	assert_int_equal(cpus_end(&f->env, CPUS_POSSIBLE), 1);
}
