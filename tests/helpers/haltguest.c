/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * haltguest - on x86: a guest that halts in KVM, where miniguest halts in user space.
 *
 * usage: haltguest [--name NAME] HALTS US
 *
 * Prints "ready PID", waits for a line on stdin, and then halts HALTS times until the timer (KVM's
 * PIT) interrupts it US microseconds later. For each it makes three port writes, which KVM answers,
 * and five once. Then it prints "ns" and how long all took, "done", and stays for two minutes. Exit
 * status: 0; 1 failure.
 */
#ifdef __x86_64__
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_SIZE 0x10000
#define CODE_GPA    0x1000
#define STACK_GPA   0x8000
#define TSS_GPA	    0xfffbd000UL
#define VECTOR	    8 /* of the timer */
#define PIT_HZ	    1193182
#define HOLD_S	    120

extern const uint8_t halt_code[], halt_handler[], halt_end[];

/*
 * In real mode: %esi halts, %bx ticks of the PIT. The PIC gets the vector and ends interrupts by
 * itself. The PIT counts once (mode 0).
 */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"halt_code:\n"
	"	movb	$0x11, %al\n"
	"	outb	%al, $0x20\n"
	"	movb	$8, %al\n"
	"	outb	%al, $0x21\n"
	"	movb	$4, %al\n"
	"	outb	%al, $0x21\n"
	"	movb	$3, %al\n"
	"	outb	%al, $0x21\n"
	"	movb	$0xfe, %al\n"
	"	outb	%al, $0x21\n"
	"1:	movb	$0x30, %al\n"
	"	outb	%al, $0x43\n"
	"	movb	%bl, %al\n"
	"	outb	%al, $0x40\n"
	"	movb	%bh, %al\n"
	"	outb	%al, $0x40\n"
	"	sti\n"
	"	hlt\n"
	"	cli\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"	outb	%al, $0xf4\n"
	"halt_handler:\n"
	"	iretw\n"
	"halt_end:\n"
	".code64\n"
	".popsection\n");

static void die(const char *what)
{
	fprintf(stderr, "haltguest: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int must(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

static void make_memory(int vm)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY_SIZE };
	uint8_t *memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t handler = CODE_GPA + (uint32_t)(halt_handler - halt_code);

	if (memory == MAP_FAILED)
		die("memory");
	memcpy(memory + CODE_GPA, halt_code, (size_t)(halt_end - halt_code));
	memcpy(memory + 4 * (size_t)VECTOR, &handler, sizeof(handler));
	region.userspace_addr = (uintptr_t)memory;
	must(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
}

static void set_state(int vcpu, uint32_t halts, uint32_t ticks)
{
	struct kvm_regs regs = { .rip = CODE_GPA, .rsp = STACK_GPA, .rflags = 2, .rsi = halts,
				 .rbx = ticks };
	struct kvm_sregs sregs;

	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = sregs.cs.selector = 0;
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	int first = argc == 5 ? 3 : 1, kvm, vm, vcpu, size;
	struct kvm_pit_config pit = { 0 };
	const struct kvm_run *shared;
	uint64_t begun_ns, ticks;
	char line[8];

	if (argc - first != 2) {
		fprintf(stderr, "usage: haltguest [--name NAME] HALTS US\n");
		return 2;
	}
	ticks = strtoull(argv[first + 1], NULL, 10) * PIT_HZ / 1000000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	kvm = must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	must(ioctl(vm, KVM_SET_TSS_ADDR, TSS_GPA), "KVM_SET_TSS_ADDR");
	must(ioctl(vm, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
	must(ioctl(vm, KVM_CREATE_PIT2, &pit), "KVM_CREATE_PIT2");
	make_memory(vm);
	vcpu = must(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	size = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	shared = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (shared == MAP_FAILED)
		die("the vCPU's memory");
	set_state(vcpu, (uint32_t)strtoul(argv[first], NULL, 10), (uint32_t)ticks);
	printf("ready %d\n", (int)getpid());
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	begun_ns = now_ns();
	must(ioctl(vcpu, KVM_RUN, 0), "KVM_RUN");
	if (shared->exit_reason != KVM_EXIT_IO || shared->io.port != 0xf4) {
		fprintf(stderr, "haltguest: exit to user space %u\n", shared->exit_reason);
		return 1;
	}
	printf("ns %llu\ndone\n", (unsigned long long)(now_ns() - begun_ns));
	sleep(HOLD_S);
	return 0;
}
#else
#include <stdio.h>

int main(void)
{
	fprintf(stderr, "haltguest: for x86 only\n");
	return 1;
}
#endif
