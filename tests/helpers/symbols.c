/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols - names the functions of a guest's kernel from its memory, found by BPF.
 *
 * usage: symbols	makes a VM with a small kernel, and checks each of its names
 *	symbols PID TID	prints the symbols of the guest with this vCPU, as /proc/kallsyms
 *	symbols --name NAME EXITS	the same VM: its kernel makes so many writes to a device,
 *			func_100 three of four, func_201 the fourth; it begins and ends with a line
 *			of input
 *	symbols --name NAME lock	the same kernel on two vCPUs (x86-64): func_100 holds a lock
 *			most of the time, func_201 spins for it
 *
 * Exit status 77 and a reason: it cannot be done here.
 */
#include <inttypes.h>
#include <linux/kvm.h>
#include <pthread.h>

#include "arch/arch.h"
#include "lib/xalloc.h"
#include "providers/account/account.h"
#include "tests/worlds/guest_kernel.h"
#include "tests/worlds/small_guest.h"

#define CANNOT 77

static int cannot(const char *why)
{
	printf("%s\n", why);
	return CANNOT;
}

/* The symbols of a guest by BPF and /proc/PID/mem; NULL after words why not, with the status. */
static struct guest_symbols *find(pid_t pid, pid_t tid, int *ret_status)
{
	struct account_reader *reader = NULL;
	struct account_guest guest = { .nr = 0 };
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct guest_symbols *symbols = NULL;
	struct error error = { "" };
	struct env env;
	char path[64];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = must(open(path, O_RDONLY | O_CLOEXEC), path);
	*ret_status = 1;
	if (env_init(&env, "", &error) || account_check(&env, &error) ||
	    account_guest_reader_new(arch_of_host(""), &reader, &error)) {
		*ret_status = cannot(error.text);
		return NULL;
	}
	err = account_read_guest(reader, pid, tid, &guest);
	if (err)
		*ret_status = cannot(strerror(-err));
	fprintf(stderr, "%zu slots, PC %" PRIx64 ", root %" PRIx64 ", control %" PRIx64
		", LSTAR %" PRIx64 ", IDT %" PRIx64 "\n",
		guest.nr, guest.registers.pc, guest.registers.root, guest.registers.control,
		guest.registers.lstar, guest.registers.idt);
	guest_memory_init(memory, fd, guest.slots, guest.nr);
	if (!err && guest_symbols_find(memory, &guest.registers, &symbols, &error))
		printf("%s\n", error.text);
	account_reader_free(reader);
	free(guest.slots);
	free(memory);
	close(fd);
	return symbols;
}

static int print(pid_t pid, pid_t tid)
{
	int status;
	struct guest_symbols *symbols = find(pid, tid, &status);
	char name[GUEST_NAME_MAX + 1];
	uint64_t address;

	if (!symbols)
		return status;
	for (size_t i = 0; guest_symbols_at(symbols, i, &address, name, sizeof(name)); i++)
		printf("%016" PRIx64 " %c %s\n", address, name[0], name + 1);
	guest_symbols_free(symbols);
	return 0;
}

/* ---- the small kernel: two functions that write to a device, and jump to each other */

#if defined(__x86_64__) || defined(__aarch64__)
#define CALLER 100
#define CALLED 201

static uint8_t *code_at(const struct guest_kernel *kernel, uint64_t address)
{
	return kernel->memory + KERNEL_GPA + (address - kernel->paging->begin);
}
#endif

#if defined(__x86_64__)
#define PAGING 0
#define EXIT_REASON KVM_EXIT_IO

static void put_jump(uint8_t *at, const uint8_t *to)
{
	int32_t distance = (int32_t)(to - (at + 5));

	*at = 0xe9; /* jmp */
	memcpy(at + 1, &distance, sizeof(distance));
}

static void put_function(const struct guest_kernel *kernel, size_t i, size_t writes, size_t next)
{
	static const uint8_t write[] = { 0xe6, 0x10 }; /* out %al, $0x10 */
	uint8_t *at = code_at(kernel, kernel_address(kernel, i));

	for (size_t n = 0; n < writes; n++, at += sizeof(write))
		memcpy(at, write, sizeof(write));
	put_jump(at, code_at(kernel, kernel_address(kernel, next)));
}

static void enter_kernel(const struct small_guest *guest, struct guest_kernel *kernel)
{
	struct kvm_segment cs = { .type = 11, .present = 1, .s = 1, .l = 1, .g = 1,
				  .limit = UINT32_MAX, .selector = 8 };
	struct kvm_regs regs = { .rip = kernel_address(kernel, CALLER), .rflags = 2,
				 .rbx = kernel->paging->begin + KERNEL_END - 64 };
	struct kvm_sregs sregs;

	small_guest_set_cpuid(guest, 0);
	must(ioctl(guest->vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cr0 = 0x80010033;
	sregs.cr3 = kernel->registers.root;
	sregs.cr4 = 0x20;
	sregs.efer = 0xd01; /* long mode, no-execute pages */
	sregs.cs = cs;
	cs.type = 3;
	cs.l = 0;
	cs.db = 1;
	cs.selector = 16;
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss = cs;
	must(ioctl(guest->vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(guest->vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}
#elif defined(__aarch64__)
#define PAGING 3 /* pages of 4 KiB, 48 bits */
#define EXIT_REASON KVM_EXIT_MMIO
#define DEVICE 0x10000000 /* its physical address, where no memory is */
#define DEVICE_OFFSET 0x100000 /* behind the image's begin it is mapped */

static void put_function(const struct guest_kernel *kernel, size_t i, size_t writes, size_t next)
{
	uint32_t *at = (uint32_t *)(void *)code_at(kernel, kernel_address(kernel, i));
	uint8_t *to = code_at(kernel, kernel_address(kernel, next));

	for (size_t n = 0; n < writes; n++)
		*at++ = 0x39000001; /* strb w1, [x0] */
	*at = 0x14000000 | ((uint32_t)((to - (uint8_t *)at) / 4) & 0x3ffffff); /* b */
}

static void enter_kernel(const struct small_guest *guest, struct guest_kernel *kernel)
{
	small_guest_init_vcpu(guest);
	kernel_map(kernel, kernel->paging->begin + DEVICE_OFFSET, DEVICE, 0x403 | 1ull << 53);
	small_guest_set(guest, CORE_REG(regs.pc), kernel_address(kernel, CALLER));
	small_guest_set(guest, CORE_REG(regs.regs[0]), kernel->paging->begin + DEVICE_OFFSET);
	/* TTBR1_EL1 */
	small_guest_set(guest, ARM64_SYS_REG(3, 0, 2, 0, 1), kernel->registers.root);
	/* TCR_EL1: tables are cached and shared, none for the lower half; 40 bits of addresses. */
	small_guest_set(guest, ARM64_SYS_REG(3, 0, 2, 0, 2),
			kernel->paging->control | 0x35000000 | 1 << 7 | 2ull << 32 | 16);
	/* MAIR_EL1: memory; SCTLR_EL1: tables, caches */
	small_guest_set(guest, ARM64_SYS_REG(3, 0, 10, 2, 0), 0xff);
	small_guest_set(guest, ARM64_SYS_REG(3, 0, 1, 0, 0), 0x30d01805);
}
#endif

#if defined(__x86_64__) || defined(__aarch64__)
static int check(const struct guest_kernel *kernel, const struct guest_symbols *symbols)
{
	char name[256], wanted[256];
	uint64_t address;

	for (size_t i = 0; i < KERNEL_NR; i++) {
		kernel_symbol(kernel, i, wanted);
		if (!guest_symbols_at(symbols, i, &address, name, sizeof(name)) ||
		    strcmp(name, wanted) || address != kernel_address(kernel, i)) {
			printf("symbol %zu is not %s\n", i, wanted);
			return 1;
		}
	}
	printf("%d symbols\n", KERNEL_NR);
	return 0;
}

static void make(struct guest_kernel *kernel, struct small_guest *guest)
{
	kernel_make(kernel, &kernel_shapes[11], &kernel_pagings[PAGING]);
	put_function(kernel, CALLER, 3, CALLED);
	put_function(kernel, CALLED, 1, CALLER);
	small_guest_make_of(guest, kernel->memory, KERNEL_MEMORY, 0);
	small_guest_add_vcpu(guest);
	enter_kernel(guest, kernel);
}

static void write_often(struct small_guest *guest, long nr)
{
	for (long i = 0; i < nr; i++) {
		small_guest_run(guest);
		if (guest->run->exit_reason != EXIT_REASON)
			small_guest_fail(guest);
	}
}

/* An exit ends with the entry after it: the last one does not end. */
static int run(long exits)
{
	struct guest_kernel kernel;
	struct small_guest guest;

	make(&kernel, &guest);
	write_often(&guest, 1); /* AArch64: in the first one KVM maps the page tables, too */
	small_guest_wait();
	write_often(&guest, exits + 1);
	printf("done\n");
	small_guest_wait();
	kernel_end(&kernel);
	return 0;
}

#if defined(__x86_64__)
static void *run_vcpu(void *arg)
{
	for (;;)
		small_guest_run(arg);
	return NULL;
}

/* Both functions test the lock, which is at (%rbx). The first one has it for 100,000 rounds. */
static void put_lock(const struct guest_kernel *kernel)
{
	static const uint8_t hold[] = {
		0xb8, 1, 0, 0, 0,	    /* mov $1, %eax */
		0x87, 0x03,		    /* xchg %eax, (%rbx) */
		0x85, 0xc0, 0x75, 0x11,	    /* test %eax, %eax; jne behind this */
		0xb9, 0xa0, 0x86, 0x01, 0,  /* mov $100000, %ecx */
		0xff, 0xc9, 0x75, 0xfc,	    /* dec %ecx; jne */
		0xc7, 0x03, 0, 0, 0, 0,	    /* movl $0, (%rbx) */
		0xeb, 0xe4,		    /* jmp to the begin */
	};
	static const uint8_t spin[] = {
		0xf3, 0x90, 0x83, 0x3b, 0, 0x75, 0xf9, /* pause; cmpl $0, (%rbx); jne */
	};
	uint8_t *caller = code_at(kernel, kernel_address(kernel, CALLER));
	uint8_t *called = code_at(kernel, kernel_address(kernel, CALLED));

	memcpy(caller, hold, sizeof(hold));
	put_jump(caller + sizeof(hold), called);
	memcpy(called, spin, sizeof(spin));
	put_jump(called + sizeof(spin), caller);
}

static int contend(void)
{
	struct guest_kernel kernel;
	struct small_guest first, second;
	pthread_t thread;

	make(&kernel, &first);
	put_lock(&kernel);
	second = first;
	small_guest_add_vcpu_of(&second, 1);
	enter_kernel(&second, &kernel);
	small_guest_wait();
	if (pthread_create(&thread, NULL, run_vcpu, &second))
		die("pthread_create");
	run_vcpu(&first);
	return 0;
}
#endif

static int try(void)
{
	struct guest_symbols *symbols;
	struct guest_kernel kernel;
	struct small_guest guest;
	int status;

	make(&kernel, &guest);
	write_often(&guest, 4);
	symbols = find(getpid(), getpid(), &status);
	if (symbols)
		status = check(&kernel, symbols);
	guest_symbols_free(symbols);
	kernel_end(&kernel);
	return status;
}
#else
static int try(void)
{
	return cannot("the small kernel is for x86-64 and AArch64");
}

static int run(long exits)
{
	(void)exits;
	return try();
}
#endif

int main(int argc, char **argv)
{
	if (argc == 3)
		return print(atoi(argv[1]), atoi(argv[2]));
	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return cannot("no /dev/kvm");
#if defined(__x86_64__)
	if (argc == 4 && strcmp(argv[3], "lock") == 0)
		return contend();
#endif
	return argc == 4 ? run(atol(argv[3])) : try();
}
