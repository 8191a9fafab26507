/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * haltguest - on x86: a guest that halts in KVM, where miniguest halts in user space.
 *
 * usage: haltguest [--name NAME] [--kick] [--unstarted] HALTS US
 *
 * Prints "ready PID", waits for a line on stdin, and then halts HALTS times until the timer (KVM's
 * PIT) interrupts it US microseconds later. For each it makes three port writes, which KVM answers;
 * and eight once. With --kick a signal ends KVM_RUN every 200 ms, mostly in a halt, as QEMU kicks a
 * vCPU, and the VMM works for 50 ms then, a quarter of the time. Then it prints "ns" and how long
 * all took, "done", and stays for two minutes: with --unstarted in KVM_RUN, where the vCPU waits
 * for the interrupt that starts it, as a second one does before the guest has booted.
 * Exit status: 0; 1 failure.
 */
#ifdef __x86_64__
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define STACK_GPA   0x8000
#define VECTOR	    8 /* of the timer */
#define PIT_HZ	    1193182
#define KICK_US	    200000
#define WORK_NS	    50000000

extern const uint8_t halt_code[], halt_handler[], halt_end[];

/*
 * In real mode: %esi halts, %bx ticks of the PIT. The PIC gets the vector and ends interrupts by
 * itself. The PIT counts once (mode 0), and the handler lets it count again: where an interrupt
 * comes between STI and HLT, which an emulated host lets happen, another one ends the halt.
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
	"	int	$8\n"
	"1:	sti\n"
	"	hlt\n"
	"	cli\n"
	"	decl	%esi\n"
	"	jnz	1b\n"
	"	outb	%al, $0xf4\n"
	"halt_handler:\n"
	"	movb	$0x30, %al\n"
	"	outb	%al, $0x43\n"
	"	movb	%bl, %al\n"
	"	outb	%al, $0x40\n"
	"	movb	%bh, %al\n"
	"	outb	%al, $0x40\n"
	"	iretw\n"
	"halt_end:\n"
	".code64\n"
	".popsection\n");

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void on_kick(int signal)
{
	(void)signal;
}

static void begin_kicks(void)
{
	const struct sigaction action = { .sa_handler = on_kick };
	const struct itimerval each = { { 0, KICK_US }, { 0, KICK_US } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &each, NULL);
}

static void work(void)
{
	uint64_t end_ns = now_ns() + WORK_NS;

	while (now_ns() < end_ns)
		;
}

static void run(struct small_guest *guest)
{
	while (ioctl(guest->vcpu, KVM_RUN, 0) < 0) {
		if (errno != EINTR)
			die("KVM_RUN");
		work();
	}
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	bool has_kicks = take_option(argv, &first, "--kick");
	bool is_unstarted = take_option(argv, &first, "--unstarted");
	struct kvm_mp_state unstarted = { .mp_state = KVM_MP_STATE_UNINITIALIZED };
	struct kvm_regs regs = { .rip = CODE_GPA, .rsp = STACK_GPA, .rflags = 2 };
	struct kvm_pit_config pit = { 0 };
	struct small_guest guest;
	uint64_t begun_ns;

	if (argc - first != 2) {
		fprintf(stderr, "usage: haltguest [--name NAME] [--kick] [--unstarted] HALTS US\n");
		return 2;
	}
	regs.rsi = number_of(argv[first]);
	regs.rbx = (uint64_t)number_of(argv[first + 1]) * PIT_HZ / 1000000;
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, halt_code, halt_end);
	small_guest_set_handler(&guest, VECTOR, CODE_GPA + (uint32_t)(halt_handler - halt_code));
	small_guest_add_irqchip(&guest);
	must(ioctl(guest.vm, KVM_CREATE_PIT2, &pit), "KVM_CREATE_PIT2");
	small_guest_add_vcpu(&guest);
	small_guest_set_state(&guest, &regs, 0);
	small_guest_wait();
	begun_ns = now_ns();
	if (has_kicks)
		begin_kicks();
	run(&guest);
	setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 0 } }, NULL);
	if (guest.run->exit_reason != KVM_EXIT_IO || guest.run->io.port != 0xf4)
		small_guest_fail(&guest);
	printf("ns %llu\n", (unsigned long long)(now_ns() - begun_ns));
	if (is_unstarted) {
		alarm(HOLD_S);
		must(ioctl(guest.vcpu, KVM_SET_MP_STATE, &unstarted), "KVM_SET_MP_STATE");
		ioctl(guest.vcpu, KVM_RUN, 0);
	}
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
