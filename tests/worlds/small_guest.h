/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small_guest - what the small guests of the shell tests share: a VM with memory and one vCPU.
 *
 * What fails ends the program.
 */
#ifndef KVMTOP_TESTS_WORLDS_SMALL_GUEST_H
#define KVMTOP_TESTS_WORLDS_SMALL_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_GPA 0x1000 /* where the guest's code begins */
#define HOLD_S	 120 /* how long a VM stays when its work is done */

struct small_guest {
	int kvm, vm, vcpu;
	uint8_t *memory; /* from the guest's address 0 on */
	struct kvm_run *run;
};

static inline void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(1);
}

static inline int must(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

static inline void *must_map(size_t size, int flags, int fd)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		die("memory");
	return memory;
}

/* The VM, without a vCPU. flags: of the memory, KVM_MEM_*. */
static inline void small_guest_make_of(struct small_guest *guest, uint8_t *memory, size_t size,
				       uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.flags = flags,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
	};

	guest->kvm = must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	guest->vm = must(ioctl(guest->kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	guest->memory = memory;
	must(ioctl(guest->vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
}

static inline void small_guest_make(struct small_guest *guest, size_t memory_size)
{
	small_guest_make_of(guest, must_map(memory_size, MAP_PRIVATE | MAP_ANONYMOUS, -1),
			    memory_size, 0);
}

static inline void small_guest_add_vcpu_of(struct small_guest *guest, int id)
{
	int size;

	guest->vcpu = must(ioctl(guest->vm, KVM_CREATE_VCPU, id), "KVM_CREATE_VCPU");
	size = must(ioctl(guest->kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	guest->run = must_map((size_t)size, MAP_SHARED, guest->vcpu);
}

static inline void small_guest_add_vcpu(struct small_guest *guest)
{
	small_guest_add_vcpu_of(guest, 0);
}

static inline void small_guest_put_code(const struct small_guest *guest, const uint8_t *code,
					const uint8_t *end)
{
	memcpy(guest->memory + CODE_GPA, code, (size_t)(end - code));
}

#if defined(__x86_64__)
/*
 * The vCPU has what the host offers: Linux 7.2 refuses long mode without it. features: more of them
 * in ECX of leaf 1.
 */
static inline void small_guest_set_cpuid(const struct small_guest *guest, uint32_t features)
{
	enum { MOST = 256 };
	struct kvm_cpuid2 *cpuid = calloc(1, sizeof(*cpuid) + MOST * sizeof(cpuid->entries[0]));

	if (!cpuid)
		die("memory");
	cpuid->nent = MOST;
	must(ioctl(guest->kvm, KVM_GET_SUPPORTED_CPUID, cpuid), "KVM_GET_SUPPORTED_CPUID");
	for (uint32_t i = 0; i < cpuid->nent; i++) {
		if (cpuid->entries[i].function == 1)
			cpuid->entries[i].ecx |= features;
	}
	must(ioctl(guest->vcpu, KVM_SET_CPUID2, cpuid), "KVM_SET_CPUID2");
	free(cpuid);
}

/* Intel needs it for real mode. */
static inline void small_guest_set_tss(const struct small_guest *guest)
{
	must(ioctl(guest->vm, KVM_SET_TSS_ADDR, 0xfffbd000UL), "KVM_SET_TSS_ADDR");
}

/* Before the vCPU. */
static inline void small_guest_add_irqchip(const struct small_guest *guest)
{
	small_guest_set_tss(guest);
	must(ioctl(guest->vm, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
}

/* In real mode: the code of a vector's interrupts. */
static inline void small_guest_set_handler(const struct small_guest *guest, uint32_t vector,
					   uint32_t address)
{
	memcpy(guest->memory + 4 * (size_t)vector, &address, sizeof(address));
}

/* Real mode, and the segment of %es; the others begin at 0. */
static inline void small_guest_set_state(const struct small_guest *guest,
					 const struct kvm_regs *regs, uint32_t es)
{
	struct kvm_sregs sregs;

	must(ioctl(guest->vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = sregs.cs.selector = 0;
	sregs.es.base = es;
	sregs.es.selector = (uint16_t)(es >> 4);
	must(ioctl(guest->vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(guest->vcpu, KVM_SET_REGS, regs), "KVM_SET_REGS");
}
#elif defined(__aarch64__)
#define CORE_REG(name) \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | KVM_REG_ARM_CORE_REG(name))

static inline void small_guest_init_vcpu(const struct small_guest *guest)
{
	struct kvm_vcpu_init init;

	must(ioctl(guest->vm, KVM_ARM_PREFERRED_TARGET, &init), "KVM_ARM_PREFERRED_TARGET");
	must(ioctl(guest->vcpu, KVM_ARM_VCPU_INIT, &init), "KVM_ARM_VCPU_INIT");
}

static inline void small_guest_set(const struct small_guest *guest, uint64_t id, uint64_t value)
{
	const struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	must(ioctl(guest->vcpu, KVM_SET_ONE_REG, &reg), "KVM_SET_ONE_REG");
}
#endif

static inline void small_guest_run(struct small_guest *guest)
{
	must(ioctl(guest->vcpu, KVM_RUN, 0), "KVM_RUN");
}

/* The guest left for another reason than it should. */
static inline _Noreturn void small_guest_fail(const struct small_guest *guest)
{
	fprintf(stderr, "%s: exit to user space %u\n", program_invocation_short_name,
		guest->run->exit_reason);
	exit(1);
}

/* Says that it is ready, and waits for a line on stdin. */
static inline void small_guest_wait(void)
{
	char line[8];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

/* Says that the work is done; the VM stays, to be looked at. */
static inline void small_guest_stay(void)
{
	printf("done\n");
	fflush(stdout);
	sleep(HOLD_S);
}

/* ---- arguments */

/* The position of the first one after --name NAME, which only kvmtop reads. */
static inline int first_argument(int argc, char **argv)
{
	return argc > 2 && strcmp(argv[1], "--name") == 0 ? 3 : 1;
}

/* Whether the next argument is this option; then it is taken. */
static inline bool take_option(char **argv, int *next, const char *option)
{
	bool is_given = argv[*next] && strcmp(argv[*next], option) == 0;

	*next += is_given;
	return is_given;
}

static inline uint32_t number_of(const char *argument)
{
	return (uint32_t)strtoul(argument, NULL, 10);
}

#endif
