/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_debugfs - the debugfs provider over made-up folders, and once over this machine's.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/file.h"
#include "host/env.h"
#include "providers/providers.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define SOURCE 3
#define NOBODY 65534

#define ABSENT UINT64_MAX /* as a count: there is no row */

struct fixture {
	char root[64];
	char kvm[PATH_MAX];
	struct env env;
	struct provider_options options;
	struct guests *guests;
	struct fields *fields;
	void *provider;
	struct sample sample;
	struct error error;
	uint64_t now_ns;
};

/* The files of /sys/kernel/debug/kvm on an AMD host with Linux 6.1. */
static const char *const svm_files[] = {
	"blocking", "directed_yield_attempted", "directed_yield_successful", "exits", "fpu_reload",
	"guest_mode", "halt_attempted_poll", "halt_exits", "halt_poll_fail_hist",
	"halt_poll_fail_ns", "halt_poll_invalid", "halt_poll_success_hist", "halt_poll_success_ns",
	"halt_successful_poll", "halt_wait_hist", "halt_wait_ns", "halt_wakeup",
	"host_state_reload", "hypercalls", "insn_emulation", "insn_emulation_fail", "invlpg",
	"io_exits", "irq_exits", "irq_injections", "irq_window_exits", "l1d_flush",
	"max_mmu_page_hash_collisions", "max_mmu_rmap_size", "mmio_exits", "mmu_cache_miss",
	"mmu_flooded", "mmu_pde_zapped", "mmu_pte_write", "mmu_recycled", "mmu_shadow_zapped",
	"mmu_unsync", "nested_run", "nmi_injections", "nmi_window_exits", "notify_window_exits",
	"nx_lpage_splits", "pages_1g", "pages_2m", "pages_4k", "pf_emulate", "pf_fast", "pf_fixed",
	"pf_guest", "pf_mmio_spte_created", "pf_spurious", "pf_taken", "preemption_other",
	"preemption_reported", "remote_tlb_flush", "remote_tlb_flush_requests", "req_event",
	"request_irq_exits", "signal_exits", "tlb_flush",
};

static const char *const svm_gauges[] = {
	"blocking", "guest_mode", "mmu_unsync", "nx_lpage_splits", "pages_1g", "pages_2m",
	"pages_4k",
};

static bool is_among(const char *name, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

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

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void write_at(const struct fixture *f, const char *path, const char *text)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", f->root, path);
	write_file(full, text);
}

/* A counter of a VM, or with vm "." of all. */
static void set_text(const struct fixture *f, const char *vm, const char *name, const char *text)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->kvm, vm);
	if (mkdir(path, 0755) < 0)
		assert_int_equal(errno, EEXIST);
	snprintf(path, sizeof(path), "%s/%s/%s", f->kvm, vm, name);
	write_file(path, text);
}

static void set(const struct fixture *f, const char *vm, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)value);
	set_text(f, vm, name, text);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	assert_int_equal(nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void remove_vm(const struct fixture *f, const char *vm)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->kvm, vm);
	remove_tree(path);
}

/* A process in the made-up /proc; with a VM on descriptor 10 the inventory finds it. */
static void make_process(const struct fixture *f, int pid, bool has_vm)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, pid);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	make_folder(f, path);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text), "%d (vmm) S 1 %d %d 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 %d 0 0\n",
		 pid, pid, pid, pid);
	write_at(f, path, text);
	if (!has_vm)
		return;
	snprintf(text, sizeof(text), "%s/proc/%d/fd/10", f->root, pid);
	assert_int_equal(symlink("anon_inode:kvm-vm", text), 0);
}

static void end_process(const struct fixture *f, int pid)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/%d", f->root, pid);
	remove_tree(path);
}

/* What the inventory calls it. */
static uint32_t refresh(struct fixture *f, int pid)
{
	const struct guest *guest;

	f->now_ns += 60000000000;
	assert_int_equal(guests_refresh(f->guests, f->now_ns, &f->error), 0);
	guest = guests_by_pid(f->guests, pid);
	return guest ? guest->id : 0;
}

static int setup(void **ret_fixture)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->root, "/tmp/test_debugfs.XXXXXX");
	assert_non_null(mkdtemp(f->root));
	assert_int_equal(chmod(f->root, 0755), 0);
	make_folder(f, "/proc");
	make_folder(f, "/sys/kernel/security");
	make_folder(f, "/sys/kernel/debug/kvm");
	snprintf(f->kvm, sizeof(f->kvm), "%s/sys/kernel/debug/kvm", f->root);
	f->env = (struct env){
		.root = f->root,
		.arch = arch_by_name("SVM"),
		.debugfs_kvm = f->kvm,
	};
	f->guests = guests_new(&f->env);
	f->fields = fields_new();
	assert_non_null(f->guests);
	assert_non_null(f->fields);
	*ret_fixture = f;
	return 0;
}

static int teardown(void **fixture)
{
	struct fixture *f = *fixture;

	debugfs_provider.close(f->provider);
	sample_release(&f->sample);
	fields_free(f->fields);
	guests_free(f->guests);
	remove_tree(f->root);
	free(f);
	return 0;
}

static void make_counters(const struct fixture *f, const char *const *names, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		set(f, ".", names[i], 0);
}

static int try_open(struct fixture *f)
{
	struct provider_args args = { .env = &f->env, .guests = f->guests, .fields = f->fields,
				      .source = SOURCE, .options = f->options };

	f->error.text[0] = '\0';
	return debugfs_provider.open(&args, &f->provider, &f->error);
}

static void want_scope(struct fixture *f, const char *const *names, size_t nr,
		       enum want_scope scope, uint32_t guest)
{
	struct want want = { .scope = scope, .guest = guest };

	f->error.text[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		assert_int_not_equal(fields_find(f->fields, names[i]), FIELD_NONE);
		field_set_add(&want.fields, fields_find(f->fields, names[i]));
	}
	assert_int_equal(debugfs_provider.want(f->provider, &want, &f->error), 0);
	field_set_release(&want.fields);
}

/* Opens with these counters and wants them all. */
static void start(struct fixture *f, const char *const *names, size_t nr)
{
	make_counters(f, names, nr);
	assert_int_equal(try_open(f), 0);
	want_scope(f, names, nr, WANT_HOST, GUEST_ALL);
}

static int try_collect(struct fixture *f)
{
	sample_reset(&f->sample);
	f->error.text[0] = '\0';
	return debugfs_provider.collect(f->provider, &f->sample, &f->error);
}

static void collect(struct fixture *f)
{
	uint64_t before = f->sample.time_ns[SOURCE];

	assert_int_equal(try_collect(f), 0);
	assert_string_equal(f->error.text, "");
	assert_true(f->sample.time_ns[SOURCE] > before);
}

static const struct row *find_row(const struct fixture *f, uint32_t guest, const char *name)
{
	const struct row *found = NULL;

	for (size_t i = 0; i < f->sample.nr_rows; i++) {
		const struct row *row = &f->sample.rows[i];

		if (row->key.guest != guest || row->key.field != fields_find(f->fields, name))
			continue;
		assert_int_equal(row->key.vcpu, -1);
		assert_null(found);
		found = row;
	}
	return found;
}

static uint64_t count_of(const struct fixture *f, uint32_t guest, const char *name)
{
	const struct row *row = find_row(f, guest, name);

	return row ? row->count : ABSENT;
}

static bool is_from_zero(const struct fixture *f, uint32_t guest, const char *name)
{
	const struct row *row = find_row(f, guest, name);

	assert_non_null(row);
	return row->flags & ROW_FROM_ZERO;
}

static const char *const only_exits[] = { "exits" };

static void check_svm_field(const struct fixture *f, const char *name)
{
	enum field_kind kind = FIELD_COUNTER;
	uint32_t id = fields_find(f->fields, name);
	size_t len = strlen(name);

	if (strcmp(name + len - 3, "_ns") == 0) {
		assert_int_equal(id, FIELD_NONE);
		return;
	}
	assert_int_not_equal(id, FIELD_NONE);
	if (strncmp(name, "max_", 4) == 0)
		kind = FIELD_PEAK;
	else if (is_among(name, svm_gauges, SIZE(svm_gauges)))
		kind = FIELD_GAUGE;
	assert_int_equal(fields_get(f->fields, id)->kind, kind);
	assert_int_equal(fields_get(f->fields, id)->source, SOURCE);
	assert_int_equal(fields_get(f->fields, id)->parent, FIELD_NONE);
	assert_int_equal(fields_get(f->fields, id)->exit_rank, strcmp(name, "exits") == 0);
	assert_int_equal(fields_get(f->fields, id)->is_idle, strcmp(name, "halt_exits") == 0);
}

/* kvm_stat -f help had no names when no VM ran, and its log no columns (C1, E5). */
TEST(flaw_C1_fields_are_there_without_a_vm, setup, teardown)
{
	struct fixture *f = *state;

	make_counters(f, svm_files, SIZE(svm_files));
	assert_int_equal(try_open(f), 0);
	for (size_t i = 0; i < SIZE(svm_files); i++)
		check_svm_field(f, svm_files[i]);
	assert_int_equal(fields_count(f->fields), SIZE(svm_files) - 3);
}

TEST(fields_do_not_come_from_a_vm, setup, teardown)
{
	struct fixture *f = *state;

	set(f, ".", "exits", 1);
	set(f, "112-10", "mmu_rmaps_stat", 1);
	assert_int_equal(try_open(f), 0);
	assert_int_equal(fields_count(f->fields), 1);
}

TEST(unknown_read_only_file_is_a_gauge, setup, teardown)
{
	struct fixture *f = *state;
	char path[2 * PATH_MAX];

	f->env.root = "";
	set(f, ".", "exits", 0);
	set(f, ".", "new_counter", 0);
	set(f, ".", "new_level", 0);
	snprintf(path, sizeof(path), "%s/new_level", f->kvm);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(try_open(f), 0);
	assert_int_equal(fields_get(f->fields, fields_find(f->fields, "new_counter"))->kind,
			 FIELD_COUNTER);
	assert_int_equal(fields_get(f->fields, fields_find(f->fields, "new_level"))->kind,
			 FIELD_GAUGE);
}

TEST(s390_instructions_are_children, setup, teardown)
{
	static const char *const names[] = { "diagnose_10", "exit_instruction", "instruction_stsi",
					     "exit_null", "instruction_epsw" };
	struct fixture *f = *state;
	uint32_t parent, parent_at = UINT32_MAX;

	f->env.arch = arch_by_name("s390");
	guests_add_fake(f->guests, 7, "g", 1);
	start(f, names, SIZE(names));
	parent = fields_find(f->fields, "exit_instruction");
	for (size_t i = 0; i < SIZE(names); i++) {
		uint32_t id = fields_find(f->fields, names[i]);
		bool is_child = strncmp(names[i], "instruction_", 12) == 0;

		assert_int_equal(fields_get(f->fields, id)->parent, is_child ? parent : FIELD_NONE);
		set(f, "7-3", names[i], 1);
	}
	collect(f);
	assert_int_equal(f->sample.nr_rows, SIZE(names));
	for (uint32_t i = 0; i < f->sample.nr_rows; i++) {
		uint32_t id = f->sample.rows[i].key.field;

		if (id == parent)
			parent_at = i;
		if (fields_get(f->fields, id)->parent == parent)
			assert_true(parent_at < i);
	}
}

TEST(name_of_another_source_is_left_alone, setup, teardown)
{
	struct fixture *f = *state;
	struct field other = { .name = "exits", .parent = FIELD_NONE, .source = SOURCE + 1 };
	static const char *const names[] = { "exits", "hypercalls" };
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	fields_add(f->fields, &other);
	start(f, names, SIZE(names));
	set(f, "7-3", "exits", 5);
	set(f, "7-3", "hypercalls", 6);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, guest, "hypercalls"), 6);
}

TEST(missing_folder_is_explained, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(try_open(f), -ENOENT);
	assert_non_null(strstr(f->error.text, f->kvm));
	assert_non_null(strstr(f->error.text, "load the kvm module"));

	assert_int_equal(rmdir(f->kvm), 0);
	assert_int_equal(try_open(f), -ENOENT);
	assert_non_null(strstr(f->error.text, "load the kvm module"));

	f->env.debugfs_kvm = NULL;
	assert_int_equal(try_open(f), -ENOENT);
	assert_non_null(strstr(f->error.text, "mount debugfs"));
}

/* The module was loaded after the start. */
TEST(flaw_C5_folder_may_come_later, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(rmdir(f->kvm), 0);
	assert_int_equal(try_open(f), -ENOENT);
	make_folder(f, "/sys/kernel/debug/kvm");
	make_counters(f, svm_files, SIZE(svm_files));
	assert_int_equal(try_open(f), 0);
	assert_int_equal(fields_count(f->fields), SIZE(svm_files) - 3);
}

/* The module was unloaded and loaded again. */
TEST(folder_may_go_and_come_back, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 5);
	remove_tree(f->kvm);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	make_folder(f, "/sys/kernel/debug/kvm");
	set(f, "7-3", "exits", 2);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 2);
	assert_true(is_from_zero(f, guest, "exits"));
}

/* An unprivileged user may not read root's files: a stand-in for the kernel's refusal. */
static int as_nobody(struct fixture *f, int (*call)(struct fixture *f))
{
	bool is_root = geteuid() == 0;
	int err;

	if (is_root)
		assert_int_equal(seteuid(NOBODY), 0);
	err = call(f);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	return err;
}

static void forbid(const struct fixture *f, const char *name)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", f->kvm, name);
	assert_int_equal(chmod(path, 0200), 0);
}

TEST(flaw_A7_lockdown_is_said, setup, teardown)
{
	struct fixture *f = *state;

	make_counters(f, svm_files, SIZE(svm_files));
	forbid(f, "exits");
	write_at(f, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	assert_int_equal(as_nobody(f, try_open), -EPERM);
	assert_string_equal(f->error.text, "debugfs counters are blocked by kernel lockdown "
					 "(integrity): use tracepoints");
	write_at(f, "/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
	assert_int_equal(as_nobody(f, try_open), -EPERM);
	assert_non_null(strstr(f->error.text, "lockdown (confidentiality): so are tracepoints"));
}

TEST(flaw_A3_missing_rights_are_said, setup, teardown)
{
	struct fixture *f = *state;

	make_counters(f, svm_files, SIZE(svm_files));
	forbid(f, "exits");
	write_at(f, "/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
	assert_int_equal(as_nobody(f, try_open), -EPERM);
	assert_non_null(strstr(f->error.text, f->kvm));
	assert_non_null(strstr(f->error.text, "/exits: Permission denied: root is needed"));

	assert_int_equal(chmod(f->kvm, 0), 0);
	assert_int_equal(as_nobody(f, try_open), -EPERM);
	assert_non_null(strstr(f->error.text, "root is needed"));
	assert_int_equal(chmod(f->kvm, 0755), 0);

	snprintf(f->kvm, sizeof(f->kvm), "%s/sys/kernel/debug", f->root);
	f->env.debugfs_kvm = NULL;
	assert_int_equal(chmod(f->kvm, 0), 0);
	assert_int_equal(as_nobody(f, try_open), -EPERM);
	assert_non_null(strstr(f->error.text, "/debug: Permission denied: root is needed"));
	assert_int_equal(chmod(f->kvm, 0755), 0);
}

/* Locked down while we run: said once, for the provider is closed then. */
TEST(refusal_while_running_is_an_error, setup, teardown)
{
	struct fixture *f = *state;

	guests_add_fake(f->guests, 7, "g", 1);
	start(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	collect(f);
	forbid(f, "7-3/exits");
	write_at(f, "/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	assert_int_equal(as_nobody(f, try_collect), -EPERM);
	assert_non_null(strstr(f->error.text, "lockdown (integrity)"));
	assert_int_equal(f->sample.nr_rows, 0);
	assert_int_equal(f->sample.time_ns[SOURCE], 0);
}

TEST(live_lockdown_is_said, setup, teardown)
{
	struct fixture *f = *state;
	char kvm[] = "/sys/kernel/debug/kvm", text[128] = "";

	f->env.root = "";
	f->env.debugfs_kvm = kvm;
	read_small("/sys/kernel/security/lockdown", text, sizeof(text));
	if (!strstr(text, "[integrity]") || access("/sys/kernel/debug/kvm/exits", F_OK) < 0) {
		print_message("needs lockdown=integrity and debugfs with a kvm folder\n");
		skip();
	}
	assert_int_equal(try_open(f), -EPERM);
	assert_non_null(strstr(f->error.text, "lockdown (integrity): use tracepoints"));
}

TEST(no_vm_no_rows, setup, teardown)
{
	struct fixture *f = *state;

	set(f, ".", "exits", 58075); /* the host's sum is not used */
	assert_int_equal(try_open(f), 0);
	want_scope(f, only_exits, 1, WANT_HOST, GUEST_ALL);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
}

TEST(nothing_wanted_no_rows, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	make_counters(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	assert_int_equal(try_open(f), 0);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	want_scope(f, only_exits, 1, WANT_HOST, GUEST_ALL);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 5);
	/* It began before we looked, whenever that was. */
	assert_false(is_from_zero(f, guest, "exits"));
	want_scope(f, NULL, 0, WANT_HOST, GUEST_ALL);
	assert_int_equal(chmod(f->kvm, 0), 0); /* no sample is taken */
	assert_int_equal(as_nobody(f, try_collect), 0);
	assert_int_equal(chmod(f->kvm, 0755), 0);
	assert_int_equal(f->sample.nr_rows, 0);
	assert_int_not_equal(f->sample.time_ns[SOURCE], 0);
}

TEST(only_what_is_wanted, setup, teardown)
{
	static const char *const names[] = { "exits", "hypercalls" };
	struct fixture *f = *state;
	uint32_t a = guests_add_fake(f->guests, 7, "a", 1);
	uint32_t b = guests_add_fake(f->guests, 8, "b", 1);

	start(f, names, SIZE(names));
	set(f, "7-3", "exits", 1);
	set(f, "7-3", "hypercalls", 2);
	set(f, "8-3", "exits", 3);
	set(f, "8-3", "hypercalls", 4);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 4);
	want_scope(f, only_exits, 1, WANT_EACH, GUEST_ALL);
	forbid(f, "7-3/hypercalls"); /* not even opened */
	assert_int_equal(as_nobody(f, try_collect), 0);
	assert_int_equal(f->sample.nr_rows, 2);
	assert_int_equal(count_of(f, a, "exits"), 1);
	assert_int_equal(count_of(f, b, "exits"), 3);
	want_scope(f, names, SIZE(names), WANT_GUEST, b);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 2);
	assert_int_equal(count_of(f, b, "exits"), 3);
	assert_int_equal(count_of(f, b, "hypercalls"), 4);
}

TEST(flaw_B3_ended_vm_has_no_rows, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1026);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1026);
	remove_vm(f, "7-3");
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
}

/* A counter file that is kept open keeps the folder of a VM that ended. */
TEST(flaw_B3_folder_may_outlive_its_guest, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest;

	make_process(f, 112, true);
	start(f, only_exits, 1);
	collect(f);
	set(f, "112-10", "exits", 1026);
	guest = refresh(f, 112);
	assert_int_not_equal(guest, 0);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1026);
	end_process(f, 112);
	assert_int_equal(refresh(f, 112), 0);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	/* The number comes again, but this VM is not its. */
	make_process(f, 112, true);
	assert_int_not_equal(refresh(f, 112), guest);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
}

TEST(flaw_B4_others_stay_when_one_ends, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t a = guests_add_fake(f->guests, 7, "a", 1);
	uint32_t b = guests_add_fake(f->guests, 8, "b", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1000);
	set(f, "8-3", "exits", 50);
	collect(f);
	remove_vm(f, "7-3");
	set(f, "8-3", "exits", 60);
	collect(f);
	assert_int_equal(count_of(f, a, "exits"), ABSENT);
	assert_int_equal(count_of(f, b, "exits"), 60);
}

TEST(flaw_B4_sum_stays_when_one_of_two_vms_ends, setup, teardown)
{
	static const char *const names[] = { "exits", "pages_4k", "max_mmu_rmap_size" };
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, names, SIZE(names));
	set(f, "7-3", "exits", 1000);
	set(f, "7-3", "pages_4k", 300);
	set(f, "7-3", "max_mmu_rmap_size", 9);
	set(f, "7-4", "exits", 50);
	set(f, "7-4", "pages_4k", 20);
	set(f, "7-4", "max_mmu_rmap_size", 4);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1050);
	remove_vm(f, "7-3");
	set(f, "7-4", "exits", 60);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1060);
	assert_int_equal(count_of(f, guest, "pages_4k"), 20);
	assert_int_equal(count_of(f, guest, "max_mmu_rmap_size"), 9);
	remove_vm(f, "7-4");
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
}

/* A VMM that makes its VM anew gets the same descriptor again. */
TEST(vm_made_anew_under_its_old_name, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);
	char from[2 * PATH_MAX], to[2 * PATH_MAX];

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1000);
	collect(f);
	set(f, "new", "exits", 1500);
	remove_vm(f, "7-3");
	snprintf(from, sizeof(from), "%s/new", f->kvm);
	snprintf(to, sizeof(to), "%s/7-3", f->kvm);
	assert_int_equal(rename(from, to), 0);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 2500);
	assert_false(is_from_zero(f, guest, "exits"));
}

/* Anybody may write 0 to a counter; kvm_stat showed what was left as a loss. */
TEST(counter_reset_by_somebody_goes_on, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1000);
	set(f, "7-4", "exits", 50);
	collect(f);
	set(f, "7-3", "exits", 7);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1057);
}

TEST(flaw_B9_pid_is_exact, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 11830, "g", 1);
	uint32_t other = guests_add_fake(f->guests, 111830, "other", 1);

	start(f, only_exits, 1);
	set(f, "11830-9", "exits", 1000);
	set(f, "111830-9", "exits", 4680);
	want_scope(f, only_exits, 1, WANT_GUEST, guest);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, guest, "exits"), 1000);
	want_scope(f, only_exits, 1, WANT_EACH, GUEST_ALL);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1000);
	assert_int_equal(count_of(f, other, "exits"), 4680);
}

TEST(flaw_B9_other_folders_are_no_vms, setup, teardown)
{
	static const char *const folders[] = { "x7-3", "7-", "7", "-3", "7-x", "+7-3", " 7-3",
					       "7 -3", "0-3", "7-3x", "4294967303-3", "7_3",
					       "--", "7--3", "99999999999999999999-3" };
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	for (size_t i = 0; i < SIZE(folders); i++)
		set(f, folders[i], "exits", 1000);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	set(f, "7-3", "exits", 5);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, guest, "exits"), 5);
}

TEST(flaw_B10_vm_that_appears_later_counts, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	want_scope(f, only_exits, 1, WANT_GUEST, guest);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	set(f, "7-3", "exits", 1000);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1000);
	assert_true(is_from_zero(f, guest, "exits"));
	set(f, "7-4", "exits", 300);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1300);
	assert_false(is_from_zero(f, guest, "exits"));
}

TEST(flaw_B11_levels_are_no_counters, setup, teardown)
{
	static const char *const names[] = { "exits", "pages_4k", "max_mmu_rmap_size", "blocking" };
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, names, SIZE(names));
	set(f, "7-3", "pages_4k", 500);
	set(f, "7-4", "pages_4k", 200);
	set(f, "7-3", "max_mmu_rmap_size", 12);
	set(f, "7-4", "max_mmu_rmap_size", 30);
	set(f, "7-3", "blocking", UINT64_MAX); /* -1, printed unsigned */
	set(f, "7-4", "blocking", 2);
	collect(f);
	assert_int_equal(count_of(f, guest, "pages_4k"), 700);
	assert_int_equal(count_of(f, guest, "max_mmu_rmap_size"), 30);
	assert_int_equal(count_of(f, guest, "blocking"), 2);
	set(f, "7-3", "pages_4k", 200);
	collect(f);
	assert_int_equal(count_of(f, guest, "pages_4k"), 400);
}

TEST(past_is_included_on_request, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1000);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1000);
	assert_false(is_from_zero(f, guest, "exits"));
	debugfs_provider.close(f->provider);
	f->options.include_past = true;
	start(f, only_exits, 1);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1000);
	assert_true(is_from_zero(f, guest, "exits"));
}

TEST(vm_waits_for_the_inventory, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest;

	start(f, only_exits, 1);
	collect(f);
	make_process(f, 112, true);
	set(f, "112-10", "exits", 1000);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 0);
	guest = refresh(f, 112);
	assert_int_not_equal(guest, 0);
	set(f, "112-10", "exits", 1500);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, guest, "exits"), 1500);
	assert_true(is_from_zero(f, guest, "exits"));
}

TEST(vm_of_no_process_is_anybodys, setup, teardown)
{
	struct fixture *f = *state;

	start(f, only_exits, 1);
	set(f, "112-10", "exits", 1000);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1000);
	assert_false(is_from_zero(f, GUEST_NONE, "exits"));
	/* One that began since adds up, and stays in the sum when it ends. */
	set(f, "113-10", "exits", 30);
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1030);
	remove_vm(f, "113-10");
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1030);
	/* No other process takes it over when the last one ends. */
	remove_vm(f, "112-10");
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1030);
	set(f, "115-10", "exits", 5);
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1035);
	assert_false(is_from_zero(f, GUEST_NONE, "exits"));
}

/* One whose process was no guest: it would add what it had counted before we came. */
TEST(vm_of_unknown_past_does_not_join_anybodys, setup, teardown)
{
	struct fixture *f = *state;

	start(f, only_exits, 1);
	make_process(f, 114, false);
	set(f, "112-10", "exits", 1000);
	set(f, "114-10", "exits", 70000);
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1000);
	end_process(f, 114);
	collect(f);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1000);
}

TEST(other_pid_namespace_is_said, setup, teardown)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	guests_add_fake(f->guests, 7, "another one with the same number", 1);
	make_folder(f, "/proc/self/ns");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", f->root);
	assert_int_equal(symlink("pid:[4026532198]", path), 0);
	start(f, only_exits, 1);
	assert_non_null(strstr(f->error.text, "pid namespace"));
	set(f, "7-3", "exits", 1000);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, GUEST_NONE, "exits"), 1000);
}

TEST(first_pid_namespace_is_normal, setup, teardown)
{
	struct fixture *f = *state;
	char path[PATH_MAX];

	make_folder(f, "/proc/self/ns");
	snprintf(path, sizeof(path), "%s/proc/self/ns/pid", f->root);
	assert_int_equal(symlink("pid:[4026531836]", path), 0);
	start(f, only_exits, 1);
	assert_string_equal(f->error.text, "");
}

/* Text that is no number leaves the row out, not at 0. */
TEST(text_of_counters, setup, teardown)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{ "0\n", 0 }, { "38725\n", 38725 }, { "38725", 38725 }, { " 7 \n", 7 },
		{ "1 2\n", ABSENT }, { "-1\n", 0 }, { "-1 5\n", ABSENT },
		{ "18446744073709551614\n", UINT64_MAX - 1 }, { "007\n", 7 },
		{ "18446744073709551616\n", ABSENT }, { "", ABSENT }, { "\n", ABSENT },
		{ " \n", ABSENT }, { "x\n", ABSENT }, { "1x\n", ABSENT }, { "1 x\n", ABSENT },
		{ "+1\n", ABSENT }, { "--1\n", ABSENT }, { "-\n", ABSENT }, { "- 1\n", ABSENT },
		{ "0x10\n", ABSENT }, { "1.5\n", ABSENT }, { "Distributor\n", ABSENT },
	};
	struct fixture *f = *state;

	start(f, only_exits, 1);
	for (size_t i = 0; i < SIZE(cases); i++) {
		int pid = 100 + (int)i;
		uint32_t guest = guests_add_fake(f->guests, pid, "g", 1);
		char vm[32];

		snprintf(vm, sizeof(vm), "%d-3", pid);
		set_text(f, vm, "exits", cases[i].text);
		collect(f);
		if (count_of(f, guest, "exits") != cases[i].value ||
		    !find_row(f, guest, "exits") != (cases[i].value == ABSENT))
			fail_msg("\"%s\" is %llu", cases[i].text,
				 (unsigned long long)count_of(f, guest, "exits"));
	}
}

TEST(flaw_D4_absent_file_is_not_tried_again, setup, teardown)
{
	static const char *const names[] = { "exits", "hypercalls" };
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, names, SIZE(names));
	set(f, "7-3", "exits", 1);
	collect(f);
	assert_int_equal(count_of(f, guest, "hypercalls"), ABSENT);
	collect(f);
	set(f, "7-3", "hypercalls", 2);
	collect(f);
	assert_int_equal(count_of(f, guest, "hypercalls"), ABSENT);
	assert_int_equal(count_of(f, guest, "exits"), 1);
}

/* The kernel makes the folder first, then one file after the other. */
TEST(folder_in_the_making_is_read_again, setup, teardown)
{
	static const char *const names[] = { "exits", "hypercalls" };
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, names, SIZE(names));
	set(f, "7-3", "exits", 1);
	collect(f);
	set(f, "7-3", "hypercalls", 2);
	collect(f);
	assert_int_equal(count_of(f, guest, "hypercalls"), 2);
}

/* Between the list of folders and the last file the VM may end: what it counted is not lost. */
TEST(file_that_vanishes_keeps_its_count, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);
	char path[2 * PATH_MAX];

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 1000);
	set(f, "7-4", "exits", 50);
	collect(f);
	snprintf(path, sizeof(path), "%s/7-3/exits", f->kvm);
	assert_int_equal(unlink(path), 0);
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 1050);
}

TEST(flaw_D4_vcpu_folders_are_left_alone, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	set(f, "7-3/vcpu0", "exits", 1000);
	set(f, "7-3/8-3", "exits", 1000);
	collect(f);
	assert_int_equal(f->sample.nr_rows, 1);
	assert_int_equal(count_of(f, guest, "exits"), 5);
}

static size_t nr_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* An open counter file keeps the VM alive after the guest ended. */
/* With so many descriptors left to open, see getrlimit(2). */
static int collect_with(struct fixture *f, unsigned int left)
{
	int lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0), err;
	struct rlimit limit, few;

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = (rlim_t)lowest + left;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = try_collect(f);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return err;
}

TEST(without_descriptors_it_waits, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t guest = guests_add_fake(f->guests, 7, "g", 1);

	start(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	collect(f);
	set(f, "7-3", "exits", 9);
	/* For the folder of all, for the VM's, for its counter. */
	for (unsigned int left = 0; left < 3; left++) {
		assert_int_equal(collect_with(f, left), -EAGAIN);
		assert_non_null(strstr(f->error.text, "ulimit -n"));
		assert_int_equal(f->sample.nr_rows, 0);
		assert_int_equal(f->sample.time_ns[SOURCE], 0);
	}
	collect(f);
	assert_int_equal(count_of(f, guest, "exits"), 9);
}

TEST(no_descriptor_stays_open, setup, teardown)
{
	struct fixture *f = *state;
	size_t before = nr_descriptors();

	guests_add_fake(f->guests, 7, "g", 1);
	start(f, only_exits, 1);
	set(f, "7-3", "exits", 5);
	collect(f);
	collect(f);
	assert_int_equal(nr_descriptors(), before);
}

TEST(close_takes_null, setup, teardown)
{
	debugfs_provider.close(NULL);
}
