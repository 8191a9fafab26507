// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether BPF works. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/process.h"
#include "host/machine.h"
#include "providers/bpf/bpf.h"

/* Of KVM: a module has its own since Linux 5.11. */
static bool has_btf(const struct env *env)
{
	return env_has(env, "/sys/kernel/btf/%s",
		       env_has(env, "/sys/module/kvm/initstate") ? "kvm" : "vmlinux");
}

/* libbpf goes through the BTF of all modules. */
static bool may_read_btf(void)
{
	uint32_t id;

	return bpf_btf_get_next_id(0, &id) == 0 || errno == ENOENT;
}

/* Whether programs may run, and are of this machine's threads. */
static int check_programs(const struct env *env, struct error *error)
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
	if (!err && !may_read_btf())
		err = -EPERM;
	if (err == -EPERM || err == -EACCES)
		return error_set(error, err, "the kernel allows no BPF: %sgrant it: setcap "
					 "cap_bpf,cap_perfmon,cap_sys_admin,"
					 "cap_dac_read_search,cap_sys_ptrace+ep kvmtop",
				 unless_root("run as root, or "));
	if (err)
		return error_set(error, err, "the kernel has no BPF for trace events: %s",
				 strerror(-err));
	return 0;
}

int bpf_probe(const struct env *env, struct error *error)
{
	int err = check_programs(env, error);

	if (!err && !has_btf(env))
		return error_set(error, -ENOTSUP, "the kernel has no BTF of KVM, which Linux 5.16 "
					      "and later have with CONFIG_DEBUG_INFO_BTF_MODULES");
	return err;
}

bool bpf_has_jit(const struct env *env)
{
	char text[16];

	env_read(env, text, sizeof(text), "/proc/sys/net/core/bpf_jit_enable");
	return text[0] != '0';
}

static int check_jit(const struct env *env, struct error *error)
{
	if (!bpf_has_jit(env))
		return error_set(error, -ENOTSUP, "the kernel interprets BPF, which takes too "
					      "long in exits: net.core.bpf_jit_enable is 0");
	return 0;
}

int bpf_probe_exits(const struct env *env, struct error *error)
{
	int err = bpf_probe(env, error);

	return err ? err : check_jit(env, error);
}

int bpf_probe_counters(const struct env *env, struct error *error)
{
	int err = check_programs(env, error);

	return err ? err : check_jit(env, error);
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

uint64_t bpf_missed(int program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	return bpf_obj_get_info_by_fd(program, &info, &size) == 0 ? info.recursion_misses : 0;
}

void *bpf_memory(int map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int bpf_add_chunk(const struct bpf_object *object, const struct bpf_map *chunks, uint32_t at,
		  const struct bpf_map *like, uint32_t nr, void **ret_memory)
{
	struct bpf_map_create_opts options = { .sz = sizeof(options),
					       .map_flags = BPF_F_MMAPABLE };
	int btf = bpf_object__btf_fd(object), fd, err = 0;
	size_t size = (size_t)nr * bpf_map__value_size(like);
	void *memory;

	if (btf >= 0) { /* up to Linux 6.2 it must have types, as libbpf gives them to maps */
		options.btf_fd = (uint32_t)btf;
		options.btf_key_type_id = bpf_map__btf_key_type_id(like);
		options.btf_value_type_id = bpf_map__btf_value_type_id(like);
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, bpf_map__name(like), sizeof(uint32_t),
			    bpf_map__value_size(like), nr, &options);
	if (fd < 0)
		return -errno;
	memory = bpf_memory(fd, size);
	if (!memory || bpf_map_update_elem(bpf_map__fd(chunks), &at, &fd, BPF_ANY) < 0)
		err = -errno;
	close(fd);
	if (err && memory)
		munmap(memory, size);
	else if (!err)
		*ret_memory = memory;
	return err;
}
