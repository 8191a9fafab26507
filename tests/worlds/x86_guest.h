/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86_guest - what the small guests of the shell tests share, of which one may be AArch64's: a VM
 * with memory and one vCPU.
 *
 * What fails ends the program.
 */
#ifndef KVMTOP_TESTS_WORLDS_X86_GUEST_H
#define KVMTOP_TESTS_WORLDS_X86_GUEST_H

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct x86_guest {
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
static inline void x86_guest_make_of(struct x86_guest *guest, uint8_t *memory, size_t size,
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

static inline void x86_guest_make(struct x86_guest *guest, size_t memory_size)
{
	x86_guest_make_of(guest, must_map(memory_size, MAP_PRIVATE | MAP_ANONYMOUS, -1),
			  memory_size, 0);
}

static inline void x86_guest_add_vcpu_of(struct x86_guest *guest, int id)
{
	int size;

	guest->vcpu = must(ioctl(guest->vm, KVM_CREATE_VCPU, id), "KVM_CREATE_VCPU");
	size = must(ioctl(guest->kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	guest->run = must_map((size_t)size, MAP_SHARED, guest->vcpu);
}

static inline void x86_guest_add_vcpu(struct x86_guest *guest)
{
	x86_guest_add_vcpu_of(guest, 0);
}

#if defined(__x86_64__)
/*
 * The vCPU has what the host offers: Linux 7.2 refuses long mode without it. features: more of them
 * in ECX of leaf 1.
 */
static inline void x86_guest_set_cpuid(const struct x86_guest *guest, uint32_t features)
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
#endif

static inline void x86_guest_run(struct x86_guest *guest)
{
	must(ioctl(guest->vcpu, KVM_RUN, 0), "KVM_RUN");
}

/* Says that it is ready, and waits for a line on stdin. */
static inline void x86_guest_wait(void)
{
	char line[8];

	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

#endif
