/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timerguest - on AArch64: a guest that takes interrupts of its virtual timer, PPI 27.
 *
 * usage: timerguest [--name NAME] [--spin] COUNT US
 *
 * Prints "ready PID", waits for a line on stdin, and then has the timer interrupt the vCPU, which
 * halts, COUNT times, each US microseconds after it is set. With --spin the vCPU does not halt.
 * Then it prints "ns SUM MAX", which is how long the interrupts took from the timer's time to the
 * guest's handler; "done"; and stays for two minutes. Exit status: 0; 1 failure.
 */
#ifdef __aarch64__
#include <stddef.h>

#include "tests/worlds/small_guest.h"

#define MEMORY_SIZE 0x10000
#define BEGIN	    (CODE_GPA + 0x800)
#define GICD_GPA    0x08000000UL
#define GICR_GPA    0x080a0000UL

/* Registers of the guest's code. */
enum { COUNT = 19, CYCLES, SUM, MAX, SPINS };

extern const uint8_t timer_code[], timer_end[];

/*
 * EL1 with the MMU off. The code begins with the vectors, of which it has one: an interrupt of EL1.
 * The handler stops the timer before all else: while the line is up and the interrupt is not
 * pending, KVM may raise it once more. x24 is the timer's time, x25 whether it has come. Stores
 * where no memory is end it. The names are global because the linker takes two local ones of a
 * section for the same.
 */
__asm__(".pushsection .rodata\n"
	".globl	timer_code, timer_end\n"
	".balign 4\n"
	"timer_code:\n"
	"	.skip	0x280\n"
	"	mrs	x0, cntvct_el0\n"
	"	msr	cntv_ctl_el0, xzr\n"
	"	isb\n"
	"	sub	x0, x0, x24\n"
	"	add	x21, x21, x0\n"
	"	cmp	x0, x22\n"
	"	csel	x22, x0, x22, hi\n"
	"	mrs	x0, S3_0_C12_C12_0\n" /* ICC_IAR1_EL1 */
	"	msr	S3_0_C12_C12_1, x0\n" /* ICC_EOIR1_EL1 */
	"	mov	x25, #1\n"
	"	eret\n"
	"	.org	timer_code + 0x800\n"

	"	adr	x0, timer_code\n"
	"	msr	vbar_el1, x0\n"
	"	mov	x0, #0x08000000\n" /* GICD_CTLR: group 1 */
	"	mov	w1, #2\n"
	"	str	w1, [x0]\n"
	"	mov	x0, #0x080b0000\n" /* GICR_ISENABLER0 */
	"	mov	w1, #0x08000000\n"
	"	str	w1, [x0, #0x100]\n"
	"	mov	x0, #0xff\n"
	"	msr	S3_0_C4_C6_0, x0\n" /* ICC_PMR_EL1 */
	"	mov	x0, #1\n"
	"	msr	S3_0_C12_C12_7, x0\n" /* ICC_IGRPEN1_EL1 */
	"	isb\n"

	"1:	cbz	x19, 4f\n"
	"	mov	x25, #0\n"
	"	isb\n"
	"	mrs	x24, cntvct_el0\n"
	"	add	x24, x24, x20\n"
	"	msr	cntv_cval_el0, x24\n"
	"	mov	x0, #1\n"
	"	msr	cntv_ctl_el0, x0\n"
	"	isb\n"
	"2:	cbnz	x23, 3f\n"
	"	wfi\n"
	"3:	msr	daifclr, #2\n"
	"	isb\n"
	"	msr	daifset, #2\n"
	"	cbz	x25, 2b\n"
	"	sub	x19, x19, #1\n"
	"	b	1b\n"

	"4:	mov	x0, #0x10000000\n"
	"	strb	wzr, [x0]\n"
	"	b	4b\n"
	"timer_end:\n"
	".popsection\n");

static uint64_t core_register(unsigned int number)
{
	return CORE_REG(regs.regs[0]) + 2 * (uint64_t)number; /* counted in words of 32 bits */
}

static uint64_t get_register(const struct small_guest *guest, uint64_t id)
{
	uint64_t value = 0;
	const struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	must(ioctl(guest->vcpu, KVM_GET_ONE_REG, &reg), "KVM_GET_ONE_REG");
	return value;
}

static void set_device(int device, uint32_t group, uint64_t attr, uint64_t value)
{
	const struct kvm_device_attr attribute = { .group = group, .attr = attr,
						   .addr = (uintptr_t)&value };

	must(ioctl(device, KVM_SET_DEVICE_ATTR, &attribute), "KVM_SET_DEVICE_ATTR");
}

/* The interrupt controller is whole when the vCPU is there. */
static void add_vcpu(struct small_guest *guest)
{
	struct kvm_create_device gic = { .type = KVM_DEV_TYPE_ARM_VGIC_V3 };

	must(ioctl(guest->vm, KVM_CREATE_DEVICE, &gic), "KVM_CREATE_DEVICE");
	small_guest_add_vcpu(guest);
	small_guest_init_vcpu(guest);
	set_device((int)gic.fd, KVM_DEV_ARM_VGIC_GRP_ADDR, KVM_VGIC_V3_ADDR_TYPE_DIST, GICD_GPA);
	set_device((int)gic.fd, KVM_DEV_ARM_VGIC_GRP_ADDR, KVM_VGIC_V3_ADDR_TYPE_REDIST, GICR_GPA);
	set_device((int)gic.fd, KVM_DEV_ARM_VGIC_GRP_CTRL, KVM_DEV_ARM_VGIC_CTRL_INIT, 0);
}

static uint64_t cycles_per_s(void)
{
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}

static uint64_t ns_in(const struct small_guest *guest, unsigned int number)
{
	return get_register(guest, core_register(number)) * 1000000000 / cycles_per_s();
}

int main(int argc, char **argv)
{
	int first = first_argument(argc, argv);
	bool is_spinning = take_option(argv, &first, "--spin");
	struct small_guest guest;

	if (argc - first != 2) {
		fprintf(stderr, "usage: timerguest [--name NAME] [--spin] COUNT US\n");
		return 2;
	}
	small_guest_make(&guest, MEMORY_SIZE);
	small_guest_put_code(&guest, timer_code, timer_end);
	add_vcpu(&guest);
	small_guest_set(&guest, core_register(COUNT), number_of(argv[first]));
	small_guest_set(&guest, core_register(CYCLES),
			number_of(argv[first + 1]) * cycles_per_s() / 1000000);
	small_guest_set(&guest, core_register(SPINS), is_spinning);
	small_guest_set(&guest, CORE_REG(regs.pc), BEGIN);
	small_guest_wait();
	small_guest_run(&guest);
	if (guest.run->exit_reason != KVM_EXIT_MMIO)
		small_guest_fail(&guest);
	printf("ns %llu %llu\n", (unsigned long long)ns_in(&guest, SUM),
	       (unsigned long long)ns_in(&guest, MAX));
	small_guest_stay();
	return 0;
}
#else
#include "tests/worlds/other_machine.h"
#endif
