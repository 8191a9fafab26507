// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads KVM's account from the running kernel, by a BPF iterator over the descriptors of tasks
 * (Linux 5.8; over those of one process from 6.1 on), with names from the kernel's BTF.
 *
 * A link for each process stays open; an iterator is made for each reading, and holds nothing of a
 * guest once it is closed.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/account/account.h"
#include "providers/account/account.skel.h"
#include "providers/account/lives.skel.h"
#include "providers/bpf/bpf.h"

/* At least what the kernel gives at once: eight pages, of 64 KB at most. */
#define READ_BYTES ((size_t)8 * 65536)

struct process_link {
	pid_t pid; /* 0: all processes */
	int fd;
};

struct account_reader {
	struct account_program *program;
	struct bpf_program *iterator; /* the one of its programs that is loaded */
	struct process_link *links;
	size_t nr_links, room_links;
	bool reads_one;
	char *bytes; /* READ_BYTES */
	struct account_lives lives;
	struct lives_program *lives_program; /* NULL: they are not watched */
	struct ring_buffer *ring;	     /* what it notes */
};

/* ---- layouts */

static bool is_number(const struct btf_type *type)
{
	return btf_is_int(type) && type->size == sizeof(uint64_t);
}

static const struct btf_type *type_of(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, (uint32_t)resolved);
}

/*
 * Adds the counters of a struct that begins at byte `begin`: its numbers, its arrays of numbers,
 * and the counters of the structs inside; of a union its first member, which has the names. name:
 * what a number is called; NULL: as its member. (An atomic64_t has one number, with the name of the
 * atomic64_t.)
 */
static void add_members(struct account_layout *layout, const struct btf *btf,
			const struct btf_type *in, size_t begin, const char *name)
{
	const struct btf_member *members = btf_members(in);
	uint32_t nr = btf_is_union(in) && btf_vlen(in) ? 1 : btf_vlen(in);

	for (uint32_t i = 0; i < nr; i++) {
		const struct btf_type *type = type_of(btf, members[i].type), *element;
		const char *own = btf__name_by_offset(btf, members[i].name_off);
		size_t at = begin + btf_member_bit_offset(in, i) / 8;

		if (!type)
			continue;
		if (is_number(type)) {
			account_layout_add(layout, name ? name : own, at, 1);
		} else if (btf_is_array(type)) {
			element = type_of(btf, btf_array(type)->type);
			if (element && is_number(element))
				account_layout_add(layout, own, at, btf_array(type)->nelems);
		} else if (btf_is_composite(type)) {
			add_members(layout, btf, type, at, btf_vlen(type) == 1 ? own : NULL);
		}
	}
}

static int add_layout(struct account_layout *layout, const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);

	if (!type)
		return -ENOENT;
	layout->size = type->size;
	add_members(layout, btf, type, 0, NULL);
	account_layout_end(layout);
	return layout->nr ? 0 : -ENOENT;
}

static int add_layouts(struct account_layout layouts[ACCOUNT_LAYOUTS], struct error *error)
{
	struct btf *vmlinux = btf__load_vmlinux_btf();
	struct btf *module = vmlinux ? btf__load_module_btf("kvm", vmlinux) : NULL;
	const struct btf *btf = module ? module : vmlinux;
	int err = btf ? 0 : -ENOENT;

	if (!err)
		err = add_layout(&layouts[ACCOUNT_VM], btf, "kvm_vm_stat");
	if (!err)
		err = add_layout(&layouts[ACCOUNT_VCPU], btf, "kvm_vcpu_stat");
	btf__free(module);
	btf__free(vmlinux);
	if (err)
		return error_set(error, err, "the kernel has no BTF of KVM: its statistics are in "
					     "debugfs alone");
	return 0;
}

/* ---- reading */

static int open_link(struct account_reader *reader, pid_t pid)
{
	union bpf_iter_link_info info = { .task = { .pid = (uint32_t)pid } };
	LIBBPF_OPTS(bpf_link_create_opts, options);
	int fd;

	if (pid) {
		options.iter_info = &info;
		options.iter_info_len = sizeof(info);
	}
	fd = bpf_link_create(bpf_program__fd(reader->iterator), 0,
			     BPF_TRACE_ITER, &options);
	return fd < 0 ? -errno : fd;
}

static int link_of(struct account_reader *reader, pid_t pid)
{
	int fd;

	for (size_t i = 0; i < reader->nr_links; i++) {
		if (reader->links[i].pid == pid)
			return reader->links[i].fd;
	}
	fd = open_link(reader, pid);
	if (fd < 0)
		return fd;
	*array_add(reader->links, reader->nr_links, reader->room_links) =
		(struct process_link){ pid, fd };
	return fd;
}

void account_forget(struct account_reader *reader, pid_t pid)
{
	for (size_t i = 0; i < reader->nr_links; i++) {
		if (reader->links[i].pid != pid)
			continue;
		close(reader->links[i].fd);
		reader->links[i] = reader->links[--reader->nr_links];
		return;
	}
}

/* The kernel writes whole records only; what is no record ends the reading. */
static void take_records(const char *bytes, size_t size, account_take_fn *take, void *arg)
{
	struct account_head head;

	for (size_t at = 0; take && size - at >= sizeof(head); at += sizeof(head) + head.size) {
		memcpy(&head, bytes + at, sizeof(head));
		if (head.size > size - at - sizeof(head))
			return;
		take(arg, &head, bytes + at + sizeof(head));
	}
}

void account_set_clock(struct account_reader *reader)
{
	reader->program->bss->clock_ahead_ns = INT64_MIN;
	sched_yield(); /* the scheduler counts what this thread ran */
}

int account_read(struct account_reader *reader, pid_t pid, bool with_bytes, account_take_fn *take,
		 void *arg)
{
	int link = link_of(reader, pid), iterator, err;
	ssize_t n;

	if (link < 0)
		return link;
	reader->program->bss->wants_bytes = with_bytes;
	iterator = bpf_iter_create(link);
	if (iterator < 0)
		return -errno;
	while ((n = read(iterator, reader->bytes, READ_BYTES)) > 0)
		take_records(reader->bytes, (size_t)n, take, arg);
	err = n < 0 ? -errno : 0;
	close(iterator);
	return err;
}

bool account_reads_one(const struct account_reader *reader)
{
	return reader->reads_one;
}

/* ---- the reader */

void account_reader_free(struct account_reader *reader)
{
	if (!reader)
		return;
	while (reader->nr_links)
		account_forget(reader, reader->links[0].pid);
	account_program__destroy(reader->program);
	ring_buffer__free(reader->ring);
	lives_program__destroy(reader->lives_program);
	free(reader->links);
	free(reader->bytes);
	free(reader);
}

/* Reads this process, which holds no guest: so it is known at once what works. */
static int try_reading(struct account_reader *reader, struct error *error)
{
	int err = account_read(reader, getpid(), false, NULL, NULL);

	reader->reads_one = !err;
	account_forget(reader, getpid());
	if (err == -EINVAL || err == -E2BIG)
		err = account_read(reader, 0, false, NULL, NULL);
	if (err)
		return error_set(error, err, "cannot read VMs and vCPUs by BPF: %s",
				 strerror(-err));
	return 0;
}

int account_check(const struct env *env, struct error *error)
{
	struct lockdown lockdown = lockdown_read(env);
	int err;

	if (env_is_captured(env))
		return error_set(error, -ENOTSUP, "only a running kernel can be asked");
	err = bpf_probe(env, error);
	if (!env_has(env, "/sys/module/kvm"))
		err = error_set(error, -ENOENT, "/sys/module/kvm is missing: load the kvm module");
	if (strcmp(lockdown.level, "confidentiality") == 0)
		err = error_set(error, -EPERM, "BPF may not read VMs and vCPUs because of "
					       "kernel lockdown (confidentiality): boot with "
					       "lockdown=integrity");
	return err;
}

/* Loads one of the programs, and tries it. */
static int reader_new(struct account_reader **ret_reader, bool reads_guests, __u32 vcpu_place,
		      struct error *error)
{
	struct account_reader *reader = xcalloc(1, sizeof(*reader));
	int err = 0;

	bpf_be_quiet();
	reader->bytes = xmalloc(READ_BYTES);
	reader->program = account_program__open();
	if (reader->program) {
		struct bpf_program *statistics = reader->program->progs.read_account;
		struct bpf_program *guests = reader->program->progs.read_guest;

		reader->program->rodata->vcpu_place = vcpu_place;
		reader->iterator = reads_guests ? guests : statistics;
		bpf_program__set_autoload(reads_guests ? statistics : guests, false);
		err = account_program__load(reader->program);
	}
	if (!reader->program || err)
		err = error_set(error, -errno, "the kernel loads no BPF iterator over "
					       "descriptors: %s%s", strerror(errno),
				unless_root(": run as root, or with CAP_SYS_ADMIN"));
	if (!err)
		err = try_reading(reader, error);
	if (err)
		account_reader_free(reader);
	else
		*ret_reader = reader;
	return err;
}

int account_reader_new(struct account_layout *layouts, struct account_reader **ret_reader,
		       struct error *error)
{
	int err = layouts ? add_layouts(layouts, error) : 0;

	return err ? err : reader_new(ret_reader, false, EXIT_NOWHERE, error);
}

/* ---- the begin and the end of VMs */

static int take_life(void *arg, void *record, size_t size)
{
	const struct account_lives *lives = arg;
	const struct account_begun *begun = record;
	const struct account_ended *ended = record;

	if (begun->kind == ACCOUNT_BEGUN && size >= sizeof(*begun))
		lives->begun(lives->arg, begun);
	else if (begun->kind == ACCOUNT_ENDED && size >= sizeof(*ended) + ended->head.size)
		lives->ended(lives->arg, &ended->head, ended->bytes);
	return 0;
}

bool account_watch_lives(struct account_reader *reader, const struct account_lives *lives)
{
	struct lives_program *program = lives_program__open();

	if (!program)
		return false;
	reader->lives = *lives;
	bpf_program__set_autoload(program->progs.on_end, lives->ended);
	bpf_program__set_autoload(program->progs.on_vcpu_end, lives->ended);
	if (!lives_program__load(program) && !lives_program__attach(program))
		reader->ring = ring_buffer__new(bpf_map__fd(program->maps.lives), take_life,
						&reader->lives, NULL);
	if (reader->ring)
		reader->lives_program = program;
	else
		lives_program__destroy(program);
	return reader->ring;
}

void account_read_lives(struct account_reader *reader)
{
	if (reader->ring)
		ring_buffer__consume(reader->ring);
}

/* ---- guests: their memory and registers */

int account_guest_reader_new(const struct arch *arch, struct account_reader **ret_reader,
			     struct error *error)
{
	return reader_new(ret_reader, true, arch->splits->place, error);
}

struct guest_reading {
	pid_t tid;
	uint64_t vm; /* of the vCPU of this thread; 0: there is none so far */
	struct guest_registers registers;
	struct slot_of_vm {
		uint64_t vm;
		struct guest_slot slot;
	} *slots; /* of all VMs of the process */
	size_t nr, room;
};

static void take_guest(void *arg, const struct account_head *head, const char *bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct guest_reading *reading = arg;
	struct account_registers registers;
	struct account_slot slot;

	if (head->vcpu < 0 && head->size == sizeof(slot)) {
		memcpy(&slot, bytes, sizeof(slot));
		*array_add(reading->slots, reading->nr, reading->room) = (struct slot_of_vm){
			head->vm, { slot.gfn * page, slot.pages * page, slot.hva }
		};
	} else if (head->vcpu >= 0 && (pid_t)head->tid == reading->tid &&
		   head->size == sizeof(registers)) {
		memcpy(&registers, bytes, sizeof(registers));
		reading->vm = head->vm;
		reading->registers = (struct guest_registers){
			.pc = registers.pc, .root = registers.root,
			.control = registers.control, .lstar = registers.lstar,
			.idt = registers.idt,
		};
	}
}

int account_read_guest(struct account_reader *reader, pid_t pid, pid_t tid,
		       struct account_guest *ret_guest)
{
	struct guest_reading reading = { .tid = tid };
	int err = account_read(reader, reader->reads_one ? pid : 0, true, take_guest, &reading);
	size_t nr = 0;

	for (size_t i = 0; i < reading.nr; i++) {
		if (reading.slots[i].vm == reading.vm)
			reading.slots[nr++] = reading.slots[i];
	}
	if (!err && !reading.vm)
		err = -ESRCH;
	if (!err && (!nr || !reading.registers.root))
		err = -ENODATA;
	if (!err) {
		ret_guest->registers = reading.registers;
		ret_guest->registers.machine = reader->program->rodata->vcpu_place ==
					       EXIT_IN_SYNDROME ? GUEST_ARM64 : GUEST_X86_64;
		ret_guest->nr = nr;
		ret_guest->slots = xcalloc(nr, sizeof(*ret_guest->slots));
		for (size_t i = 0; i < nr; i++)
			ret_guest->slots[i] = reading.slots[i].slot;
	}
	free(reading.slots);
	return err;
}
