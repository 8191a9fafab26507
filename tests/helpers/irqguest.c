/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * irqguest - on x86: a guest that halts, and a VMM that raises interrupts.
 *
 * usage: irqguest [--name NAME] LINES MESSAGES PER_S
 *
 * Prints "ready PID", waits for a line on stdin. Then the VMM raises and lowers line 5, which the
 * guest has masked, LINES times, and sends MESSAGES times an MSI, which the guest's local APIC does
 * not take; PER_S of both in a second, 0: at once. Then it prints "done", and stays for two
 * minutes. Exit status: 0; 1 failure.
 */
#ifdef __x86_64__
#include <pthread.h>
#include <time.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define LINE	    5

extern const uint8_t irq_code[], irq_end[];

__asm__(".pushsection .rodata\n"
	".code16\n"
	"irq_code:\n"
	"	cli\n"
	"1:	hlt\n"
	"	jmp	1b\n"
	"irq_end:\n"
	".code64\n"
	".popsection\n");

static void *run(void *arg)
{
	struct small_guest *guest = arg;

	pthread_setname_np(pthread_self(), "vcpu0");
	small_guest_run(guest);
	small_guest_fail(guest);
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

/* Every other one as QEMU does for a device of its own: by its place in the APICs' window. */
static void send_messages(const struct small_guest *guest, uint32_t nr, uint32_t per_s)
{
	struct kvm_msi message = { .data = 0x41 };

	for (uint32_t i = 0; i < nr; i++) {
		message.address_lo = i % 2 ? 0 : 0xfee00000;
		must(ioctl(guest->vm, KVM_SIGNAL_MSI, &message), "KVM_SIGNAL_MSI");
		pause_for(per_s);
	}
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	struct small_guest guest;
	const struct kvm_regs regs = { .rip = CODE_GPA, .rflags = 2 };
	uint32_t numbers[3];
	pthread_t thread;

	if (argc - first != 3) {
		fprintf(stderr, "usage: irqguest [--name NAME] LINES MESSAGES PER_S\n");
		return 2;
	}
	for (int i = 0; i < 3; i++)
		numbers[i] = number_of(argv[first + i]);
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, irq_code, irq_end);
	small_guest_add_irqchip(&guest);
	small_guest_add_vcpu(&guest);
	small_guest_set_state(&guest, &regs, 0);
	small_guest_wait();
	if (pthread_create(&thread, NULL, run, &guest))
		die("pthread_create");
	raise_lines(&guest, numbers[0], numbers[2]);
	send_messages(&guest, numbers[1], numbers[2]);
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
