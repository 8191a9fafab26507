// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of KVM's counters, and the events below tracefs' folder. */
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "lib/array.h"
#include "lib/file.h"
#include "lib/process.h"
#include "host/machine.h"
#include "providers/providers.h"

#define FORMAT_MAX (1 << 20) /* bytes: the largest format file of today has some 30,000 */

/* ---- KVM's own counters */

/* What the name of a counter means. */
struct trait {
	const char *pattern; /* fnmatch(3) */
	enum field_kind kind;
	uint8_t exit_rank;
	enum event_kind counts;
	bool is_time;
};

/*
 * The first match counts; a name without a match is a counter. *_hist are histograms: the sum of
 * their buckets is a counter of how often it happened; debugfs has the first bucket only.
 */
static const struct trait traits[] = {
	{ .pattern = "*_ns", .is_time = true },
	{ .pattern = "max_*", .kind = FIELD_PEAK },
	{ .pattern = "pages_4k", .kind = FIELD_GAUGE, .counts = EVENT_PAGES_4K },
	{ .pattern = "pages_2m", .kind = FIELD_GAUGE, .counts = EVENT_PAGES_2M },
	{ .pattern = "pages_1g", .kind = FIELD_GAUGE, .counts = EVENT_PAGES_1G },
	{ .pattern = "pages*", .kind = FIELD_GAUGE },
	{ .pattern = "hugepages", .kind = FIELD_GAUGE },
	{ .pattern = "num_*_pages", .kind = FIELD_GAUGE },
	{ .pattern = "lpages", .kind = FIELD_GAUGE },
	{ .pattern = "largepages", .kind = FIELD_GAUGE },
	{ .pattern = "nx_lpage_splits", .kind = FIELD_GAUGE },
	{ .pattern = "nx_largepages_splits", .kind = FIELD_GAUGE },
	{ .pattern = "mmu_unsync", .kind = FIELD_GAUGE },
	{ .pattern = "guest_mode", .kind = FIELD_GAUGE },
	{ .pattern = "blocking", .kind = FIELD_GAUGE },
	{ .pattern = "synic_auto_eoi_used", .kind = FIELD_GAUGE },
	{ .pattern = "exits", .exit_rank = 1 },
	{ .pattern = "sum_exits", .exit_rank = 1 },
	{ .pattern = "halt_exits", .counts = EVENT_HALT },
	{ .pattern = "wf[ei]_exit_stat", .counts = EVENT_HALT },
	{ .pattern = "wrs_exit_stat", .counts = EVENT_HALT },
	{ .pattern = "idle_exits", .counts = EVENT_HALT },
	{ .pattern = "wait_exits", .counts = EVENT_HALT },
	{ .pattern = "exit_wait_state", .counts = EVENT_HALT },
	{ .pattern = "io_exits", .counts = EVENT_IO },
	{ .pattern = "mmio_exits", .counts = EVENT_MMIO },
	{ .pattern = "mmio_exit_*", .counts = EVENT_MMIO }, /* Arm, RISC-V: _user, _kernel */
	{ .pattern = "irq_exits", .counts = EVENT_INTERRUPT },
	{ .pattern = "ext_intr_exits", .counts = EVENT_INTERRUPT }, /* POWER */
	{ .pattern = "int_exits", .counts = EVENT_INTERRUPT }, /* LoongArch */
	{ .pattern = "exit_external_interrupt", .counts = EVENT_INTERRUPT }, /* s390 */
	{ .pattern = "signal_exits", .counts = EVENT_SIGNAL },
	{ .pattern = "insn_emulation", .counts = EVENT_EMULATED },
	{ .pattern = "emulated_inst_exits", .counts = EVENT_EMULATED }, /* POWER */
	{ .pattern = "exit_instruction", .counts = EVENT_EMULATED }, /* s390 */
	{ .pattern = "pf_taken", .counts = EVENT_FAULT },
};

static const struct trait *trait_of(const char *name)
{
	static const struct trait plain = { .kind = FIELD_COUNTER };

	for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
		if (fnmatch(traits[i].pattern, name, 0) == 0)
			return &traits[i];
	}
	return &plain;
}

static const char *parent_of(const struct env *env, const char *name)
{
	return env->arch->debugfs_parent ? env->arch->debugfs_parent(name) : NULL;
}

bool kvm_counter_is_child(const struct env *env, const char *name)
{
	return parent_of(env, name) != NULL;
}

void kvm_counter_add(const struct provider_args *args, const char *name, enum field_kind kind,
		     unsigned int part, uint32_t *ret_field)
{
	const struct trait *trait = trait_of(name);
	const char *parent = parent_of(args->env, name);
	struct field spec = {
		.name = name,
		.parent = parent ? fields_find(args->fields, parent) : FIELD_NONE,
		.source = args->source,
		.kind = trait->kind == FIELD_COUNTER ? kind : trait->kind,
		.part = EVENT_PART(trait->counts, part),
		.exit_rank = trait->exit_rank,
		.is_idle = trait->counts == EVENT_HALT,
	};
	uint32_t id = FIELD_NONE;

	if (!trait->is_time)
		id = fields_add(args->fields, &spec);
	if (id != FIELD_NONE && fields_get(args->fields, id)->source != args->source)
		id = FIELD_NONE;
	*ret_field = id;
}

uint64_t kvm_counter_level(uint64_t value)
{
	return value > INT64_MAX ? 0 : value;
}

/* ---- trace events: Documentation/trace/events.rst, events/SYSTEM/EVENT/id */

static char *event_path(const struct env *env, const char *system, const char *event,
			const char *name, char *buf)
{
	snprintf(buf, PATH_MAX, "%s/events/%s/%s/%s", env->tracefs ? env->tracefs : "", system,
		 event, name);
	return buf;
}

int trace_event_id(const struct env *env, const char *system, const char *event, uint64_t *ret_id)
{
	char path[PATH_MAX], text[32];
	long n = read_small(event_path(env, system, event, "id", path), text, sizeof(text));
	uint64_t id;

	if (n < 0)
		return (int)n;
	id = strtoull(text, NULL, 10);
	if (!id)
		return -EINVAL;
	*ret_id = id;
	return 0;
}

bool trace_event_exists(const struct env *env, const char *system, const char *event)
{
	char path[PATH_MAX];

	return path_exists(event_path(env, system, event, "id", path));
}

char *trace_event_format(const struct env *env, const char *system, const char *event)
{
	char path[PATH_MAX], *text;
	size_t size;

	return read_whole(event_path(env, system, event, "format", path), FORMAT_MAX, &text,
			  &size) ? NULL : text;
}

void trace_reasons(const struct env *env, const struct split *split, struct reasons *ret)
{
	char *format = trace_event_format(env, split->system, split->event);

	reasons_of(split, format, ret);
	free(format);
}

int trace_check(const struct env *env, struct error *error)
{
	if (env->tracefs)
		return 0;
	return error_set(error, -ENOENT, "tracefs is not mounted: mount -t tracefs tracefs "
				     "/sys/kernel/tracing; --cost none counts without it");
}

/*
 * Only one level of lockdown, confidentiality, forbids root to read tracefs; set at boot, it leaves
 * tracefs without any file. The level is not known where securityfs is not mounted.
 */
int trace_check_lockdown(const struct env *env, struct error *error)
{
	struct lockdown lockdown = lockdown_read(env);

	if (strcmp(lockdown.level, "confidentiality") != 0)
		return 0;
	return error_set(error, -EPERM,
			 "trace events are blocked by kernel lockdown (%s): boot with "
			 "lockdown=integrity",
			 lockdown.level);
}

bool kvm_is_loaded(const struct env *env)
{
	return env_has(env, "/sys/module/kvm");
}

int trace_why_none(const struct env *env, int unread_err, struct error *error)
{
	char path[PATH_MAX];
	int err = trace_check_lockdown(env, error);

	if (err)
		return err;
	err = unread_err;
	snprintf(path, sizeof(path), "%s/events", env->tracefs);
	if (!err && euidaccess(path, R_OK | X_OK) < 0)
		err = -errno;
	if (err == -EACCES)
		return error_set(error, err, "cannot read %s: %s: %sgrant it: setcap "
					 "cap_perfmon,cap_dac_read_search,cap_sys_ptrace+ep kvmtop",
				 path, strerror(-err), unless_root("run as root, or "));
	if (err)
		return error_set(error, -EPERM, "cannot read %s: %s: probably because of kernel "
					    "lockdown: boot with lockdown=integrity",
				 path, strerror(-err));
	if (kvm_is_loaded(env))
		return error_set(error, -ENODATA, "no KVM events in %s, though KVM is there: the "
				 "kernel is built without them, or a container hides them; "
				 "--cost none counts without them", path);
	return error_set(error, -ENOENT, "no KVM events in %s: load the kvm module", path);
}

bool trace_lacks_kvm(const struct env *env, struct error *error)
{
	if (!kvm_is_loaded(env) || trace_event_exists(env, "kvm", "kvm_userspace_exit"))
		return false;
	return trace_check(env, error) < 0 || trace_why_none(env, 0, error) == -ENODATA;
}
