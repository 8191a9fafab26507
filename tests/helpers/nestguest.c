/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nestguest - on an AMD host: a guest (L1) that runs a guest of its own (L2), for the shell tests.
 *
 * usage: nestguest [--name NAME] CPUIDS REFLECTED DIRECT
 *
 * Prints "ready PID", waits for a line on stdin, and makes exactly these exits:
 *	cpuid CPUIDS		of L1
 *	vmrun REFLECTED + 1	of L1, each of which enters L2
 *	cpuid L2 REFLECTED	which KVM hands on to L1
 *	io L2 DIRECT		which KVM answers itself
 *	hlt L2 1, hlt 1		the ends of both
 * Beside them are page faults of the first touch, and the host's interrupts. Then it prints "done"
 * and stays for two minutes. Exit status: 0; 1 failure.
 */
#ifdef __x86_64__
#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define L1_GPA	    0x1000
#define L2_GPA	    0x2000
#define VMCB_GPA    0x3000
#define SAVE_GPA    0x4000 /* where L1's processor keeps its state while L2 runs */
#define PAGES_GPA   0x5000
#define PORT	    0xe9

#define EFER_SVME      (1 << 12)
#define MSR_VM_HSAVE   0xc0010117

extern const uint8_t l1_code[], l1_end[], l2_code[], l2_end[];

/*
 * L1, flat with 32 bits: %ebp CPUIDs, then L2 as long as it leaves for a CPUID (exit code 0x72),
 * which L1 skips. %esi and %edi are L2's. An exit of L2 that is not awaited is told by port 0xf4.
 * L2, in real mode: %esi CPUIDs, %edi writes to a port, a halt (0x78).
 */
__asm__(".pushsection .rodata\n"
	".code32\n"
	"l1_code:\n"
	"	testl	%ebp, %ebp\n"
	"	jz	2f\n"
	"1:	cpuid\n"
	"	decl	%ebp\n"
	"	jnz	1b\n"
	"2:	movl	$0x3000, %eax\n"
	"	vmrun\n"
	"	movl	0x3070, %eax\n"
	"	cmpl	$0x72, %eax\n"
	"	jne	3f\n"
	"	addl	$2, 0x3578\n"
	"	jmp	2b\n"
	"3:	cmpl	$0x78, %eax\n"
	"	je	4f\n"
	"	outl	%eax, $0xf4\n"
	"4:	hlt\n"
	"	jmp	4b\n"
	"l1_end:\n"
	".code16\n"
	"l2_code:\n"
	"	testl	%esi, %esi\n"
	"	jz	6f\n"
	"5:	cpuid\n"
	"	decl	%esi\n"
	"	jnz	5b\n"
	"6:	testl	%edi, %edi\n"
	"	jz	8f\n"
	"7:	outb	%al, $0xe9\n"
	"	decl	%edi\n"
	"	jnz	7b\n"
	"8:	hlt\n"
	"l2_end:\n"
	".code64\n"
	".popsection\n");

static void put(uint8_t *memory, uint32_t at, uint64_t value, size_t size)
{
	memcpy(memory + at, &value, size);
}

/* Selector 0, 64 KiB, as in real mode. */
static void put_segment(uint8_t *vmcb, uint32_t at, uint16_t attributes, uint64_t base)
{
	put(vmcb, at + 2, attributes, 2);
	put(vmcb, at + 4, 0xffff, 4);
	put(vmcb, at + 8, base, 8);
}

/* Offsets are from AMD's manual, volume 2, appendix B. */
static void make_vmcb(uint8_t *vmcb)
{
	put(vmcb, 0x00c, 1 << 18 | 1 << 24, 4); /* CPUID and HLT leave L2 for L1 */
	put(vmcb, 0x010, 1, 4);			/* and VMRUN, as it must */
	put(vmcb, 0x058, 1, 4);			/* the ASID */
	for (uint32_t at = 0x400; at <= 0x450; at += 0x10)
		put_segment(vmcb, at, 0x93, 0);
	put_segment(vmcb, 0x410, 0x9b, L2_GPA); /* CS */
	put(vmcb, 0x410, L2_GPA >> 4, 2);
	put_segment(vmcb, 0x460, 0, 0);
	put_segment(vmcb, 0x470, 0x82, 0);
	put_segment(vmcb, 0x480, 0, 0);
	put_segment(vmcb, 0x490, 0x8b, 0);
	put(vmcb, 0x4d0, EFER_SVME, 8);
	put(vmcb, 0x558, 0x10, 8); /* CR0 */
	put(vmcb, 0x560, 0x400, 8);
	put(vmcb, 0x568, 0xffff0ff0, 8);
	put(vmcb, 0x570, 2, 8); /* RFLAGS */
	put(vmcb, 0x668, 0x0007040600070406, 8); /* the PAT */
}

static void fill_memory(uint8_t *memory)
{
	memcpy(memory + L1_GPA, l1_code, (size_t)(l1_end - l1_code));
	memcpy(memory + L2_GPA, l2_code, (size_t)(l2_end - l2_code));
	make_vmcb(memory + VMCB_GPA);
	put(memory, PAGES_GPA, 0x83, 4); /* the first 4 MiB, as they are */
}

static void set_msr(int vcpu, uint32_t index, uint64_t value)
{
	struct kvm_msrs *msrs = calloc(1, sizeof(*msrs) + sizeof(msrs->entries[0]));

	if (!msrs)
		die("memory");
	msrs->nmsrs = 1;
	msrs->entries[0] = (struct kvm_msr_entry){ .index = index, .data = value };
	if (must(ioctl(vcpu, KVM_SET_MSRS, msrs), "KVM_SET_MSRS") != 1) {
		errno = ENODEV;
		die("the host does not nest: is kvm_amd loaded with nested=1?");
	}
	free(msrs);
}

static void set_state(int vcpu, const uint32_t *numbers)
{
	struct kvm_segment flat = { .limit = UINT32_MAX, .type = 3, .present = 1, .db = 1, .s = 1,
				    .g = 1, .selector = 16 };
	struct kvm_regs regs = { .rip = L1_GPA, .rflags = 2, .rbp = numbers[0],
				 .rsi = numbers[1], .rdi = numbers[2] };
	struct kvm_sregs sregs;

	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.ds = sregs.es = sregs.ss = sregs.fs = sregs.gs = flat;
	flat.type = 11;
	flat.selector = 8;
	sregs.cs = flat;
	sregs.cr0 = 0x80000031; /* paging, protected mode */
	sregs.cr3 = PAGES_GPA;
	sregs.cr4 = 0x10; /* pages of 4 MiB */
	sregs.efer = EFER_SVME;
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
	set_msr(vcpu, MSR_VM_HSAVE, SAVE_GPA);
}

static void run(struct small_guest *guest)
{
	const struct kvm_run *shared = guest->run;

	for (;;) {
		small_guest_run(guest);
		if (shared->exit_reason == KVM_EXIT_HLT)
			return;
		if (shared->exit_reason == KVM_EXIT_IO && shared->io.port == PORT)
			continue;
		fprintf(stderr, "nestguest: exit to user space %u, port %#x, %#x\n",
			shared->exit_reason, shared->io.port,
			*(const uint32_t *)((const uint8_t *)shared + shared->io.data_offset));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	struct small_guest guest;
	uint32_t numbers[3];

	if (argc - first != 3) {
		fprintf(stderr, "usage: nestguest [--name NAME] CPUIDS REFLECTED DIRECT\n");
		return 2;
	}
	for (int i = 0; i < 3; i++)
		numbers[i] = number_of(argv[first + i]);
	small_guest_make(&guest, MEMORY_SIZE);
	fill_memory(guest.memory);
	small_guest_add_vcpu(&guest);
	small_guest_set_cpuid(&guest, 0); /* SVM is among it */
	set_state(guest.vcpu, numbers);
	small_guest_wait();
	run(&guest);
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
