/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stormguest - a guest that does too much of many things, for the shell tests.
 *
 * usage: stormguest [--name NAME] [--file FILE]
 *        stormguest [--name NAME] --spin
 *        stormguest [--name NAME] --dirty
 *
 * On an AMD host it prints "ready PID", waits for a line on stdin, and then makes these exits in
 * turn, for two minutes at the most: a write to the serial port; and 16 times each a timer that
 * is set, a request to interrupt vCPUs, one to give the CPU to another vCPU, an MSR that is
 * read, a CPUID, an access to the interrupt controller's memory, and the first touch of a page,
 * which user space took away when it answered the serial port. The kernel keeps a ring of the
 * pages that were written. With a file, which must be on a disk, the pages are the file's, and
 * are read from the disk again. On an Intel host, too: with --spin it makes PAUSEs, and no exits
 * but theirs; with --dirty it writes 1024 pages, which the kernel logs as it does in a migration,
 * and to the serial port, in turn. Exit status: 1 failure.
 */
#ifdef __x86_64__
#include <getopt.h>

#include "tests/worlds/small_guest.h"

#define PAGES_GPA   0x10000 /* 16 of them */
#define PAGES_SIZE  0x10000
#define DIRTY_GPA   0x100000 /* 1024 of them */
#define DIRTY_SIZE  0x400000
#define MEMORY_SIZE (DIRTY_GPA + DIRTY_SIZE)
#define APIC_GPA    0xfee00000
#define PORT	    0x3f8
#define RING_SIZE   0x10000
#define LIMIT_S	    120

extern const uint8_t storm_code[], spin_code[], dirty_code[], code_end[];

struct ring {
	struct kvm_dirty_gfn *entries; /* NULL: this kernel has none (Linux 5.11) */
	size_t next;
};

/*
 * In real mode. The MSRs are IA32_TSC_DEADLINE and IA32_TSC, the hypercalls are KVM_HC_SEND_IPI and
 * KVM_HC_SCHED_YIELD, and 0xb0 of the interrupt controller is its EOI; %es has the pages, %fs all
 * memory.
 */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"storm_code:\n"
	"	movw	$0x3f8, %dx\n"
	"	outb	%al, %dx\n"
	"	movl	$16, %esi\n"
	"1:	movl	$0x6e0, %ecx\n"
	"	xorl	%eax, %eax\n"
	"	xorl	%edx, %edx\n"
	"	wrmsr\n"
	"	movl	$10, %eax\n"
	"	vmmcall\n"
	"	movl	$11, %eax\n"
	"	vmmcall\n"
	"	movl	$0x10, %ecx\n"
	"	rdmsr\n"
	"	xorl	%eax, %eax\n"
	"	cpuid\n"
	"	movl	%eax, 0xb0\n"
	"	movw	%si, %di\n"
	"	shlw	$12, %di\n"
	"	movb	%al, %es:(%di)\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"	jmp	storm_code\n"
	"spin_code:\n"
	"	pause\n"
	"	jmp	spin_code\n"
	"dirty_code:\n"
	"	movl	$0x100000, %edi\n"
	"1:	movb	%al, %fs:(%edi)\n"
	"	addl	$0x1000, %edi\n"
	"	cmpl	$0x500000, %edi\n"
	"	jb	1b\n"
	"	movw	$0x3f8, %dx\n"
	"	outb	%al, %dx\n"
	"	jmp	dirty_code\n"
	"code_end:\n"
	".code64\n"
	".popsection\n");

static void set_segment(struct kvm_segment *segment, uint32_t base)
{
	segment->base = base;
	segment->selector = (uint16_t)(base >> 4);
}

/* Interrupts are allowed: else a vCPU waits for a page itself, and KVM does not wait for it. */
static void set_state(int vcpu, const uint8_t *code)
{
	struct kvm_regs regs = { .rflags = 0x202, .rip = (uint64_t)(code - storm_code) };
	struct kvm_sregs sregs;

	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	set_segment(&sregs.cs, CODE_GPA);
	set_segment(&sregs.ds, APIC_GPA);
	set_segment(&sregs.es, PAGES_GPA);
	sregs.fs.limit = UINT32_MAX;
	sregs.fs.g = 1;
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

/* The kernel logs from now on which pages are written. */
static void log_writes(const struct small_guest *guest)
{
	struct kvm_userspace_memory_region region = {
		.flags = KVM_MEM_LOG_DIRTY_PAGES,
		.memory_size = MEMORY_SIZE,
		.userspace_addr = (uintptr_t)guest->memory,
	};

	must(ioctl(guest->vm, KVM_SET_USER_MEMORY_REGION, &region), "KVM_SET_USER_MEMORY_REGION");
}

/* The log is in rings, which vCPUs that are added later have. */
static bool log_in_rings(const struct small_guest *guest)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_DIRTY_LOG_RING, .args = { RING_SIZE } };

	return ioctl(guest->vm, KVM_ENABLE_CAP, &cap) >= 0;
}

/* Reads the log, so that the next write of each page is logged again. */
static void read_log(const struct small_guest *guest)
{
	static uint8_t bits[MEMORY_SIZE / 4096 / 8];
	struct kvm_dirty_log log = { .dirty_bitmap = bits };

	must(ioctl(guest->vm, KVM_GET_DIRTY_LOG, &log), "KVM_GET_DIRTY_LOG");
}

static void map_ring(const struct small_guest *guest, struct ring *ring)
{
	void *entries = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, guest->vcpu,
			     KVM_DIRTY_LOG_PAGE_OFFSET * sysconf(_SC_PAGESIZE));

	if (entries == MAP_FAILED)
		die("the ring");
	ring->entries = entries;
}

static void empty_ring(const struct small_guest *guest, struct ring *ring)
{
	size_t nr = RING_SIZE / sizeof(*ring->entries);

	if (!ring->entries)
		return;
	while (ring->entries[ring->next % nr].flags == KVM_DIRTY_GFN_F_DIRTY)
		ring->entries[ring->next++ % nr].flags = KVM_DIRTY_GFN_F_RESET;
	must(ioctl(guest->vm, KVM_RESET_DIRTY_RINGS), "KVM_RESET_DIRTY_RINGS");
}

static int map_file(const char *path, uint8_t *pages)
{
	int file = must(open(path, O_RDWR | O_CLOEXEC), path);

	if (mmap(pages, PAGES_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
	    MAP_FAILED)
		die(path);
	return file;
}

/* file: of the pages; -1: none. */
static void take_pages_away(uint8_t *pages, int file)
{
	must(madvise(pages, PAGES_SIZE, MADV_DONTNEED), "madvise");
	if (file < 0)
		return;
	must(fdatasync(file), "fdatasync");
	posix_fadvise(file, 0, PAGES_SIZE, POSIX_FADV_DONTNEED);
}

static const struct option options[] = {
	{ "name", required_argument, NULL, 'n' },
	{ "file", required_argument, NULL, 'f' },
	{ "spin", no_argument, NULL, 's' },
	{ "dirty", no_argument, NULL, 'd' },
	{ 0 },
};

int main(int argc, char **argv)
{
	struct ring ring = { .entries = NULL };
	const uint8_t *code = storm_code;
	const char *path = NULL;
	struct small_guest guest;
	int option, file = -1;
	bool has_ring;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case '?':
			return 1;
		case 'f':
			path = optarg;
			break;
		case 's':
			code = spin_code;
			break;
		case 'd':
			code = dirty_code;
			break;
		}
	}
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, storm_code, code_end);
	if (path)
		file = map_file(path, guest.memory + PAGES_GPA);
	has_ring = code == storm_code && log_in_rings(&guest);
	if (has_ring || code == dirty_code)
		log_writes(&guest);
	small_guest_add_irqchip(&guest);
	small_guest_add_vcpu(&guest);
	if (has_ring)
		map_ring(&guest, &ring);
	set_state(guest.vcpu, code);
	small_guest_wait();
	alarm(LIMIT_S);
	do {
		if (code == dirty_code) {
			read_log(&guest);
		} else {
			take_pages_away(guest.memory + PAGES_GPA, file);
			empty_ring(&guest, &ring);
		}
		small_guest_run(&guest);
	} while (guest.run->exit_reason == KVM_EXIT_IO && guest.run->io.port == PORT);
	small_guest_fail(&guest);
}
#else
#include "tests/worlds/other_machine.h"
#endif
