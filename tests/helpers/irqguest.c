/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqguest - on x86: a guest that kicks devices, and a VMM that raises interrupts.
 *
 * usage: irqguest [--name NAME] KICKS WRITES LINES MESSAGES PER_S
 *
 * Prints "ready PID", waits for a line on stdin. Then the guest writes KICKS times each to a port
 * and to an address that are eventfds', WRITES times to a port of the VMM's, and halts for good.
 * The VMM prints "kicked" and the counts of the eventfds, raises and lowers line 5, which the guest
 * has masked, LINES times, and sends MESSAGES times an MSI, which the guest's local APIC does not
 * take; PER_S of both in a second, 0: at once. Then it prints "done", and stays for two minutes.
 * Exit status: 0; 1 failure.
 */
#ifdef __x86_64__
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define KICK_PORT   0xe0
#define WRITE_PORT  0xe4
#define KICK_GPA    0x80000
#define END_PORT    0xf4
#define LINE	    5

extern const uint8_t irq_code[], irq_end[];

/* In real mode: %esi kicks of each kind, %edi writes. %es begins at KICK_GPA. */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"irq_code:\n"
	"	test	%esi, %esi\n"
	"	jz	2f\n"
	"1:	outw	%ax, $0xe0\n"
	"	movw	%ax, %es:0\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"2:	test	%edi, %edi\n"
	"	jz	4f\n"
	"3:	outb	%al, $0xe4\n"
	"	decl	%edi\n"
	"	jnz	3b\n"
	"4:	outb	%al, $0xf4\n"
	"	cli\n"
	"5:	hlt\n"
	"	jmp	5b\n"
	"irq_end:\n"
	".code64\n"
	".popsection\n");

static int port_fd, address_fd;

/* The eventfd. */
static int add_kick(const struct small_guest *guest, uint64_t address, uint32_t flags)
{
	const struct kvm_ioeventfd kick = {
		.addr = address, .len = 2,
		.fd = must(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"),
		.flags = flags,
	};

	must(ioctl(guest->vm, KVM_IOEVENTFD, &kick), "KVM_IOEVENTFD");
	return kick.fd;
}

static unsigned long long count_kicks(int fd)
{
	eventfd_t kicks = 0;

	return eventfd_read(fd, &kicks) == 0 ? kicks : 0;
}

static void *run(void *arg)
{
	struct small_guest *guest = arg;

	pthread_setname_np(pthread_self(), "vcpu0");
	for (;;) {
		small_guest_run(guest);
		if (guest->run->exit_reason != KVM_EXIT_IO)
			small_guest_fail(guest);
		if (guest->run->io.port == END_PORT) {
			printf("kicked %llu %llu\n", count_kicks(port_fd),
			       count_kicks(address_fd));
			fflush(stdout);
		}
	}
	return NULL;
}

static void pause_for(uint32_t per_s)
{
	const struct timespec time = { .tv_nsec = per_s ? 1000000000L / per_s : 0 };

	if (per_s)
		nanosleep(&time, NULL);
}

static void raise_lines(const struct small_guest *guest, uint32_t nr, uint32_t per_s)
{
	for (uint32_t i = 0; i < 2 * nr; i++) {
		const struct kvm_irq_level level = { .irq = LINE, .level = i % 2 == 0 };

		must(ioctl(guest->vm, KVM_IRQ_LINE, &level), "KVM_IRQ_LINE");
		if (i % 2)
			pause_for(per_s);
	}
}

static void send_messages(const struct small_guest *guest, uint32_t nr, uint32_t per_s)
{
	const struct kvm_msi message = { .address_lo = 0xfee00000, .data = 0x41 };

	for (uint32_t i = 0; i < nr; i++) {
		must(ioctl(guest->vm, KVM_SIGNAL_MSI, &message), "KVM_SIGNAL_MSI");
		pause_for(per_s);
	}
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	struct small_guest guest;
	struct kvm_regs regs = { .rip = CODE_GPA, .rflags = 2 };
	uint32_t numbers[5];
	pthread_t thread;

	if (argc - first != 5) {
		fprintf(stderr, "usage: irqguest [--name N] KICKS WRITES LINES MESSAGES PER_S\n");
		return 2;
	}
	for (int i = 0; i < 5; i++)
		numbers[i] = number_of(argv[first + i]);
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, irq_code, irq_end);
	small_guest_add_irqchip(&guest);
	port_fd = add_kick(&guest, KICK_PORT, KVM_IOEVENTFD_FLAG_PIO);
	address_fd = add_kick(&guest, KICK_GPA, 0);
	small_guest_add_vcpu(&guest);
	regs.rsi = numbers[0];
	regs.rdi = numbers[1];
	small_guest_set_state(&guest, &regs, KICK_GPA);
	small_guest_wait();
	if (pthread_create(&thread, NULL, run, &guest))
		die("pthread_create");
	raise_lines(&guest, numbers[2], numbers[4]);
	send_messages(&guest, numbers[3], numbers[4]);
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
