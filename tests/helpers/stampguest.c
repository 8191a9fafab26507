/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stampguest - on x86: a guest that stamps its interrupts with its clock, which is the host's.
 *
 * usage: stampguest [--name NAME] [--spin | --behind | --timer] COUNT US
 *
 * Prints "ready PID", waits for a line on stdin, and then interrupts the vCPU, which halts, COUNT
 * times, each US microseconds after the one before has come. With --spin the vCPU does not halt;
 * with --behind it shares a CPU with its VMM, which keeps it for 20 ms after each request; with
 * --timer it does not halt, and its own timer interrupts it US microseconds after it is set. Then
 * it prints "ns SUM MAX", which is how long the interrupts took from the VMM's request, or the
 * timer's time, to the guest's handler; "done"; and stays for two minutes. Exit status: 0; 1
 * failure.
 */
#ifdef __x86_64__
#include <pthread.h>
#include <sched.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define STACK_GPA   0x8000
#define SHARED_GPA  0x7000
#define VECTOR	    0x40
#define BEHIND_MS   20

enum { X2APIC = 1U << 21, TSC_DEADLINE = 1U << 24 }; /* in ECX of CPUID's leaf 1 */

extern const uint8_t irq_code[], irq_handler[], irq_end[];

/* What the guest and its VMM share. */
struct shared {
	uint32_t is_spinning, cycles; /* of the timer; 0: the VMM interrupts */
	uint32_t count;		      /* of the interrupts that have come, */
	uint32_t seen;		      /* and that the VMM has looked at: then the next is set */
	uint64_t stamp;		      /* of the last one */
	uint64_t deadline;	      /* of the timer */
	uint32_t is_ready;	      /* its interrupts are switched on */
	uint32_t next;		      /* what count becomes with the next one */
};

/*
 * In real mode, with the x2APIC, which needs no memory: it is switched on, and its timer is set to
 * IA32_TSC_DEADLINE. The handler stamps, ends the interrupt, and counts last. It counts by a number
 * that the loop has set, as an emulated CPU may deliver one interrupt twice: QEMU's does.
 */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"irq_code:\n"
	"	movl	$0x1b, %ecx\n"
	"	rdmsr\n"
	"	orl	$0xc00, %eax\n"
	"	wrmsr\n"
	"	xorl	%edx, %edx\n"
	"	movl	$0x80f, %ecx\n"
	"	movl	$0x1ff, %eax\n"
	"	wrmsr\n"
	"	movl	$0x832, %ecx\n"
	"	movl	$0x40040, %eax\n"
	"	wrmsr\n"
	"	movl	$1, 0x7020\n"
	"1:	movl	0x7008, %ebx\n"
	"	leal	1(%ebx), %eax\n"
	"	movl	%eax, 0x7024\n"
	"	movl	0x700c, %edx\n"
	"	cmpl	$0, 0x7004\n"
	"	je	2f\n"
	"	cmpl	%ebx, %edx\n"
	"	jne	1b\n"
	"	rdtsc\n"
	"	addl	0x7004, %eax\n"
	"	adcl	$0, %edx\n"
	"	movl	%eax, 0x7018\n"
	"	movl	%edx, 0x701c\n"
	"	movl	$0x6e0, %ecx\n"
	"	wrmsr\n"
	"2:	sti\n"
	"	cmpl	$0, 0x7000\n"
	"	jne	3f\n"
	"	hlt\n"
	"	cli\n"
	"	jmp	4f\n"
	"3:	cmpl	%ebx, 0x7008\n"
	"	je	3b\n"
	"	cli\n"
	"4:	cmpl	%ebx, 0x7008\n"
	"	je	2b\n"
	"	jmp	1b\n"
	"irq_handler:\n"
	"	pushl	%eax\n"
	"	pushl	%ecx\n"
	"	pushl	%edx\n"
	"	rdtsc\n"
	"	movl	%eax, 0x7010\n"
	"	movl	%edx, 0x7014\n"
	"	xorl	%eax, %eax\n"
	"	xorl	%edx, %edx\n"
	"	movl	$0x80b, %ecx\n"
	"	wrmsr\n"
	"	movl	0x7024, %eax\n"
	"	movl	%eax, 0x7008\n"
	"	popl	%edx\n"
	"	popl	%ecx\n"
	"	popl	%eax\n"
	"	iretw\n"
	"irq_end:\n"
	".code64\n"
	".popsection\n");

/* The guest's clock is the host's, and it may have an x2APIC and a timer by deadline. */
static void set_state(const struct small_guest *guest)
{
	const struct kvm_regs regs = { .rip = CODE_GPA, .rsp = STACK_GPA, .rflags = 2 };
	uint64_t offset = 0;
	struct kvm_device_attr clock = { .group = KVM_VCPU_TSC_CTRL, .attr = KVM_VCPU_TSC_OFFSET,
					 .addr = (uintptr_t)&offset };

	small_guest_set_cpuid(guest, X2APIC | TSC_DEADLINE);
	must(ioctl(guest->vcpu, KVM_SET_DEVICE_ATTR, &clock), "KVM_VCPU_TSC_OFFSET");
	small_guest_set_state(guest, &regs, 0);
}

static uint64_t cycles_now(void)
{
	return __builtin_ia32_rdtsc();
}

static void *run_vcpu(void *arg)
{
	struct small_guest *guest = arg;

	pthread_setname_np(pthread_self(), "vcpu0");
	small_guest_run(guest);
	small_guest_fail(guest);
}

/* The VMM and its vCPU are on the last CPU, where this thread comes first. */
static void go_ahead(pthread_t vcpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	cpu_set_t last;

	CPU_ZERO(&last);
	CPU_SET((int)sysconf(_SC_NPROCESSORS_ONLN) - 1, &last);
	must(sched_setaffinity(0, sizeof(last), &last), "sched_setaffinity");
	must(sched_setscheduler(0, SCHED_FIFO, &first), "sched_setscheduler");
	if (pthread_setaffinity_np(vcpu, sizeof(last), &last) != 0)
		die("pthread_setaffinity_np");
}

struct measure {
	const struct small_guest *guest;
	volatile struct shared *shared;
	uint32_t count, us, khz;
	bool is_behind;
};

static uint64_t interrupt(const struct measure *measure)
{
	struct kvm_msi msi = { .address_lo = 0xfee00000, .data = VECTOR };
	uint64_t begun, keeps = measure->is_behind ? (uint64_t)measure->khz * BEHIND_MS : 0;

	usleep(measure->us);
	while (measure->shared->next == measure->shared->count)
		usleep(20);
	begun = cycles_now();
	must(ioctl(measure->guest->vm, KVM_SIGNAL_MSI, &msi), "KVM_SIGNAL_MSI");
	while (cycles_now() - begun < keeps)
		;
	return begun;
}

/* Interrupts the vCPU, or waits for its timer: how late the handler was, in cycles. */
static uint64_t round_cycles(const struct measure *measure, bool is_last)
{
	volatile struct shared *shared = measure->shared;
	uint64_t begun = shared->cycles ? 0 : interrupt(measure), took;

	while (shared->count == shared->seen)
		usleep(20);
	took = shared->stamp - (shared->cycles ? shared->deadline : begun);
	if (is_last)
		shared->cycles = 0;
	shared->seen = shared->count;
	return took;
}

static void print_rounds(const struct measure *measure)
{
	uint64_t sum = 0, max = 0, cycles;

	for (uint32_t i = 0; i < measure->count; i++) {
		cycles = round_cycles(measure, i + 1 == measure->count);
		sum += cycles;
		if (cycles > max)
			max = cycles;
	}
	printf("ns %llu %llu\n", (unsigned long long)(sum * 1000000 / measure->khz),
	       (unsigned long long)(max * 1000000 / measure->khz));
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	bool has_timer = take_option(argv, &first, "--timer");
	bool is_spinning = take_option(argv, &first, "--spin") || has_timer;
	struct measure measure = { .is_behind = take_option(argv, &first, "--behind") };
	struct small_guest guest;
	pthread_t thread;

	if (argc - first != 2) {
		fprintf(stderr, "usage: stampguest [--name NAME] [--spin | --behind | --timer] "
				"COUNT US\n");
		return 2;
	}
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, irq_code, irq_end);
	small_guest_set_handler(&guest, VECTOR, CODE_GPA + (uint32_t)(irq_handler - irq_code));
	small_guest_add_irqchip(&guest);
	small_guest_add_vcpu(&guest);
	set_state(&guest);
	measure.guest = &guest;
	measure.shared = (volatile struct shared *)(guest.memory + SHARED_GPA);
	measure.count = number_of(argv[first]);
	measure.us = number_of(argv[first + 1]);
	measure.khz = (uint32_t)must(ioctl(guest.vcpu, KVM_GET_TSC_KHZ), "KVM_GET_TSC_KHZ");
	measure.shared->is_spinning = is_spinning;
	measure.shared->cycles = has_timer ? measure.khz / 1000 * measure.us : 0;
	small_guest_wait();
	if (pthread_create(&thread, NULL, run_vcpu, &guest) != 0)
		die("thread");
	while (!measure.shared->is_ready)
		usleep(1000);
	if (measure.is_behind)
		go_ahead(thread);
	print_rounds(&measure);
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
