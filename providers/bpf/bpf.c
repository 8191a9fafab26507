// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether BPF works, attaches programs, and patches the placeholders in them. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/event_format.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/bpf/bpf.h"
#include "providers/bpf/placeholders.h"
#include "providers/providers.h"

int bpf_probe(const struct env *env, struct error *error)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd, err;

	err = pid_namespace_check(env, "BPF", error);
	if (err)
		return err;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACEPOINT, "kvmtop_probe", "GPL", insns, 2, NULL);
	err = fd < 0 ? -errno : 0;
	if (fd >= 0)
		close(fd);
	if (err == -EPERM || err == -EACCES)
		return error_set(error, err, "the kernel allows no BPF: run as root, or grant it: "
					 "setcap cap_bpf,cap_perfmon,cap_dac_read_search,"
					 "cap_sys_ptrace+ep kvmtop");
	if (err)
		return error_set(error, err, "the kernel has no BPF for trace events: %s",
				 strerror(-err));
	return 0;
}

static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

void bpf_be_quiet(void)
{
	libbpf_set_print(be_quiet);
}

static int take_cpu(void *arg, int cpu)
{
	int *first = arg;

	if (*first < 0)
		*first = cpu;
	return 0;
}

/* The event itself stays disabled: its count would be of one CPU, and is not used. */
int bpf_attach(const struct env *env, uint64_t tracepoint_id, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = tracepoint_id,
		.disabled = 1,
	};
	int cpu = -1, fd, err;

	if (cpus_online(env, take_cpu, &cpu) < 0 || cpu < 0)
		return -EIO;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return fd;
	err = -errno;
	close(fd);
	return err;
}

uint64_t bpf_missed(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(program, &info, &size) == 0 ? info.recursion_misses : 0;
}

static int make_map(enum bpf_map_type type, int inner)
{
	const struct bpf_map_create_opts options = { .sz = sizeof(options),
						     .inner_map_fd = (uint32_t)inner };
	int fd = bpf_map_create(type, "wait", sizeof(uint32_t), sizeof(uint32_t), 1,
				inner < 0 ? NULL : &options);

	return fd < 0 ? -errno : fd;
}

/*
 * The kernel waits for programs when an entry of a map of maps changes, because they may use the
 * old map. membarrier(2) refuses to wait on hosts with nohz_full.
 */
int bpf_wait_for_programs(void)
{
	int inner = make_map(BPF_MAP_TYPE_ARRAY, -1), outer = -EINVAL, err;
	uint32_t first = 0;

	if (inner >= 0)
		outer = make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, inner);
	err = inner < 0 ? inner : outer < 0 ? outer : 0;
	if (!err && bpf_map_update_elem(outer, &first, &inner, BPF_ANY) < 0)
		err = -errno;
	if (outer >= 0)
		close(outer);
	if (inner >= 0)
		close(inner);
	return err;
}

/* ---- fields */

/* Where a field is in the record of an event. */
struct location {
	bool is_there;
	int offset, size;
};

static bool is_placeholder(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_LDX && BPF_MODE(insn->code) == BPF_MEM &&
	       insn->off >= FIELD_FIRST && insn->off <= FIELD_LAST;
}

static int size_code(int size)
{
	switch (size) {
	case 1:
		return BPF_B;
	case 2:
		return BPF_H;
	case 4:
		return BPF_W;
	case 8:
		return BPF_DW;
	default:
		return -EINVAL;
	}
}

static int patch(struct bpf_insn *insn, const struct location *location, int absent)
{
	int size = location->is_there ? size_code(location->size) : 0;

	if (size < 0)
		return size;
	if (!location->is_there) {
		*insn = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K,
					   .dst_reg = insn->dst_reg,
					   .imm = absent };
		return 0;
	}
	insn->code = (__u8)(BPF_LDX | BPF_MEM | size);
	insn->off = (__s16)location->offset;
	return 0;
}

static struct location find_location(const struct format *format, const char *name, int bytes)
{
	const struct trace_field *field = name ? format_field(format, name) : NULL;

	if (!field)
		return (struct location){ .is_there = false };
	return (struct location){ true, (int)field->offset, bytes ? bytes : (int)field->size };
}

static int patch_event(struct bpf_insn *insns, size_t nr, const struct format *format,
		       const struct bpf_field *fields)
{
	int err = 0;

	for (const struct bpf_field *field = fields; field->placeholder; field++) {
		struct location location = find_location(format, field->name, field->bytes);

		if (field == fields && !location.is_there)
			return -ENOENT;
		for (size_t i = 0; i < nr && !err; i++) {
			if (is_placeholder(&insns[i]) && insns[i].off == field->placeholder)
				err = patch(&insns[i], &location, field->absent);
		}
	}
	return err;
}

static bool has_placeholder(const struct bpf_insn *insns, size_t nr)
{
	size_t i = 0;

	while (i < nr && !is_placeholder(&insns[i]))
		i++;
	return i < nr;
}

/* The event as its format file says. 0; -ENOENT: there is no such event; -EINVAL. */
static int read_format(const struct env *env, const char *system, const char *event,
		       struct format *ret_format)
{
	char *text = trace_event_format(env, system, event);
	int err = text ? format_read(text, strlen(text), ret_format) : -ENOENT;

	free(text);
	return err;
}

int bpf_fields_patch(struct bpf_insn *insns, size_t nr, const struct env *env, const char *system,
		     const char *event, const struct bpf_field *fields)
{
	struct format format;
	int err = read_format(env, system, event, &format);

	if (err)
		return err;
	err = patch_event(insns, nr, &format, fields);
	if (!err && has_placeholder(insns, nr))
		err = -EINVAL;
	format_release(&format);
	return err;
}

bool bpf_fields_are(const struct env *env, const char *system, const char *event,
		    const char *const *names)
{
	struct format format;

	if (read_format(env, system, event, &format) < 0)
		return false;
	for (size_t i = 0; i < format.nr_fields && *names; i++) {
		const char *name = format.fields[i].name;

		if (strncmp(name, "common_", 7) == 0)
			continue;
		if (strcmp(name, *names) != 0)
			break;
		names++;
	}
	format_release(&format);
	return !*names;
}

int bpf_field_size(const struct env *env, const char *system, const char *event,
		   const char *name)
{
	struct location location;
	struct format format;
	int err = read_format(env, system, event, &format);

	if (err)
		return err;
	location = find_location(&format, name, 0);
	format_release(&format);
	return location.is_there ? location.size : -ENOENT;
}

/* A copy of the program's instructions. */
static struct bpf_insn *copy_insns(const struct bpf_program *program, size_t *ret_nr)
{
	size_t nr = bpf_program__insn_cnt(program);
	struct bpf_insn *insns = xcalloc(nr, sizeof(*insns));

	memcpy(insns, bpf_program__insns(program), nr * sizeof(*insns));
	*ret_nr = nr;
	return insns;
}

int bpf_fields_set(struct bpf_program *program, const struct env *env, const char *system,
		   const char *event, const struct bpf_field *fields)
{
	size_t nr;
	struct bpf_insn *insns = copy_insns(program, &nr);
	int err = bpf_fields_patch(insns, nr, env, system, event, fields);

	if (!err)
		err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}

int bpf_fields_patch_number(struct bpf_insn *insns, size_t nr, int placeholder, int number)
{
	bool is_there = false;

	for (size_t i = 0; i < nr; i++) {
		bool is_move = insns[i].code == (BPF_ALU64 | BPF_MOV | BPF_K) ||
			       insns[i].code == (BPF_ALU | BPF_MOV | BPF_K);

		if (!is_move || insns[i].imm != placeholder)
			continue;
		insns[i].imm = number;
		is_there = true;
	}
	return is_there ? 0 : -EINVAL;
}

int bpf_fields_patch_offset(struct bpf_insn *insns, size_t nr, int placeholder, int offset)
{
	bool is_there = false;

	for (size_t i = 0; i < nr; i++) {
		if (BPF_CLASS(insns[i].code) != BPF_STX || insns[i].off != placeholder)
			continue;
		insns[i].off = (__s16)offset;
		is_there = true;
	}
	return is_there ? 0 : -EINVAL;
}

/* Replaces the placeholder by a load of an argument or of what a pointer points to. */
static int patch_place(struct bpf_insn *insns, size_t nr, const struct bpf_place *place)
{
	const struct location location = { place->bytes != 0, place->offset, place->bytes };
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_placeholder(&insns[i]) && insns[i].off == place->placeholder)
			err = patch(&insns[i], &location, 0);
	}
	return err;
}

/* A kernel without the function never runs these calls: each becomes the load of a number. */
static void patch_calls(struct bpf_insn *insns, size_t nr, uint32_t function)
{
	for (size_t i = 0; i < nr; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != CALL_CAST)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = (__s32)function;
		if (!function)
			insns[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_X,
						      .dst_reg = BPF_REG_0,
						      .src_reg = BPF_REG_1 };
	}
}

int bpf_places_set(struct bpf_program *program, const struct bpf_place *places,
		   const struct bpf_number *numbers, uint32_t cast)
{
	size_t nr;
	struct bpf_insn *insns = copy_insns(program, &nr);
	int err = 0;

	for (; places->placeholder && !err; places++)
		err = patch_place(insns, nr, places);
	for (; numbers->placeholder; numbers++)
		bpf_fields_patch_number(insns, nr, numbers->placeholder, numbers->number);
	patch_calls(insns, nr, cast);
	if (!err && has_placeholder(insns, nr))
		err = -EINVAL;
	if (!err)
		err = bpf_program__set_insns(program, insns, nr);
	free(insns);
	return err;
}
