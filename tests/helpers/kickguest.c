/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kickguest - a guest that kicks devices, on x86 and AArch64.
 *
 * usage: kickguest [--name NAME] KICKS
 *
 * Prints "ready PID", waits for a line on stdin. Then the guest writes to what eventfds take, KICKS
 * times to a device's queue 0 and twice as often to its queue 1: on x86 to a port that takes the
 * number of the queue; to an address that does; to the addresses of two queues. And KICKS times to
 * an address of which the queue cannot be known; and once the number 2 to the address that takes
 * numbers, of which there is no eventfd. It prints what to find and how often, by the eventfds, a
 * line each; "done"; and stays for two minutes. Exit status: 0; 1 failure.
 */
#if defined(__x86_64__) || defined(__aarch64__)
#include <sys/eventfd.h>

#include "lib/array.h"
#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define PORT	    0xe0
#define DEVICES	    0x80000
#define VALUE_GPA   (DEVICES + 0x50)
#define ROW_GPA	    (DEVICES + 0x1000)
#define LONE_GPA    (DEVICES + 0x2004)
#define END_GPA	    (DEVICES + 0x3000)

extern const uint8_t kick_code[], kick_end[];

#ifdef __x86_64__
/* In real mode: %esi kicks. %es begins at DEVICES. */
__asm__(".pushsection .rodata\n"
	".code16\n"
	".globl	kick_code, kick_end\n"
	"kick_code:\n"
	"1:	xorl	%eax, %eax\n"
	"	outw	%ax, $0xe0\n"
	"	movl	%eax, %es:0x50\n"
	"	movw	%ax, %es:0x1000\n"
	"	movw	%ax, %es:0x2004\n"
	"	incl	%eax\n"
	"	outw	%ax, $0xe0\n"
	"	outw	%ax, $0xe0\n"
	"	movl	%eax, %es:0x50\n"
	"	movl	%eax, %es:0x50\n"
	"	movw	%ax, %es:0x1004\n"
	"	movw	%ax, %es:0x1004\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"	incl	%eax\n"
	"	movl	%eax, %es:0x50\n"
	"2:	movb	%al, %es:0x3000\n"
	"	jmp	2b\n"
	"kick_end:\n"
	".code64\n"
	".popsection\n");

static void begin(const struct small_guest *guest, uint64_t kicks)
{
	const struct kvm_regs regs = { .rip = CODE_GPA, .rflags = 2, .rsi = kicks };

	small_guest_set_tss(guest);
	small_guest_set_state(guest, &regs, DEVICES);
}
#else
/* x19 kicks, EL1 with the MMU off. */
__asm__(".pushsection .rodata\n"
	".globl	kick_code, kick_end\n"
	".balign 4\n"
	"kick_code:\n"
	"	mov	x0, #0x80000\n"
	"	add	x2, x0, #0x1000\n"
	"	add	x3, x0, #0x2000\n"
	"1:	mov	w1, #0\n"
	"	str	w1, [x0, #0x50]\n"
	"	strh	w1, [x2]\n"
	"	strh	w1, [x3, #4]\n"
	"	mov	w1, #1\n"
	"	str	w1, [x0, #0x50]\n"
	"	str	w1, [x0, #0x50]\n"
	"	strh	w1, [x2, #4]\n"
	"	strh	w1, [x2, #4]\n"
	"	sub	x19, x19, #1\n"
	"	cbnz	x19, 1b\n"
	"	mov	w1, #2\n"
	"	str	w1, [x0, #0x50]\n"
	"	add	x3, x0, #0x3000\n"
	"2:	strb	w1, [x3]\n"
	"	b	2b\n"
	"kick_end:\n"
	".popsection\n");

static void begin(const struct small_guest *guest, uint64_t kicks)
{
	small_guest_init_vcpu(guest);
	small_guest_set(guest, CORE_REG(regs.regs[19]), kicks);
	small_guest_set(guest, CORE_REG(regs.pc), CODE_GPA);
}
#endif

/* What is written, and what an eventfd takes of it. */
static struct kick {
	const char *what;
	uint64_t address;
	uint32_t bytes; /* 0: any */
	bool is_port, has_value;
	uint64_t value;
	int fd;
} kicks[] = {
#ifdef __x86_64__
	{ "0xe0 write 2 queue 0", PORT, 2, true, true, 0, -1 },
	{ "0xe0 write 2 queue 1", PORT, 2, true, true, 1, -1 },
#endif
	{ "0x80050 write 4 queue 0", VALUE_GPA, 4, false, true, 0, -1 },
	{ "0x80050 write 4 queue 1", VALUE_GPA, 4, false, true, 1, -1 },
	{ "0x81000 write 2 queue 0", ROW_GPA, 0, false, false, 0, -1 },
	{ "0x81004 write 2 queue 1", ROW_GPA + 4, 0, false, false, 0, -1 },
	{ "0x82004 write 2", LONE_GPA, 0, false, false, 0, -1 },
};

static void add_kick(const struct small_guest *guest, struct kick *kick)
{
	struct kvm_ioeventfd eventfd_of = {
		.addr = kick->address,
		.len = kick->bytes,
		.datamatch = kick->value,
		.flags = (kick->is_port ? KVM_IOEVENTFD_FLAG_PIO : 0) |
			 (kick->has_value ? KVM_IOEVENTFD_FLAG_DATAMATCH : 0),
	};

	kick->fd = must(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
	eventfd_of.fd = kick->fd;
	must(ioctl(guest->vm, KVM_IOEVENTFD, &eventfd_of), "KVM_IOEVENTFD");
}

static void print_kick(const struct kick *kick)
{
	eventfd_t nr = 0;

	eventfd_read(kick->fd, &nr);
	printf("%s: %llu\n", kick->what, (unsigned long long)nr);
}

/* Until the write that ends it. */
static void run(struct small_guest *guest)
{
	do {
		small_guest_run(guest);
		if (guest->run->exit_reason != KVM_EXIT_MMIO)
			small_guest_fail(guest);
	} while (guest->run->mmio.phys_addr != END_GPA);
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	struct small_guest guest;

	if (argc - first != 1) {
		fprintf(stderr, "usage: kickguest [--name NAME] KICKS\n");
		return 2;
	}
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, kick_code, kick_end);
	for (size_t i = 0; i < ARRAY_SIZE(kicks); i++)
		add_kick(&guest, &kicks[i]);
	small_guest_add_vcpu(&guest);
	begin(&guest, number_of(argv[first]));
	small_guest_wait();
	run(&guest);
	for (size_t i = 0; i < ARRAY_SIZE(kicks); i++)
		print_kick(&kicks[i]);
	printf("0x80050 write 4 queue 2: 1\n");
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
