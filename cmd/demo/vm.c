// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes and drives the VM: memory, a thread for each vCPU, the run loop. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lib/process.h"
#include "lib/xalloc.h"
#include "cmd/demo/demo.h"

#define KVM_PATH "/dev/kvm"
#define MAX_VCPUS 8

/*
 * Wakes a vCPU's thread. The threads block it and wait for it with sigtimedwait(2); only KVM_RUN
 * unblocks it, then returns EINTR and leaves it pending. So it needs no handler, and none is lost
 * between a test and a wait.
 */
#define KICK SIGUSR1

/* glibc before 2.38 has no name for the member that SIGEV_THREAD_ID needs. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#if defined(__x86_64__)
static const struct demo_machine *const machine = &demo_machine_x86;
#elif defined(__aarch64__)
static const struct demo_machine *const machine = &demo_machine_arm64;
#elif defined(__riscv) && __riscv_xlen == 64
static const struct demo_machine *const machine = &demo_machine_riscv64;
#elif defined(__powerpc64__)
static const struct demo_machine *const machine = &demo_machine_ppc64;
#else
static const struct demo_machine *const machine = NULL;
#endif

enum phase { PHASE_WAITING, PHASE_ROUNDS, PHASE_STOPPING };

struct demo_vcpu {
	struct demo_vm *vm;
	int fd;
	struct kvm_run *run;
	pthread_t thread;
	timer_t timer; /* kicks the thread */
	struct error error;
	atomic_int err; /* set after error */
};

struct demo_vm {
	struct demo_plan plan;
	atomic_int phase; /* set before the kick */
	int kvm_fd, vm_fd;
	int ended_fd; /* an eventfd: how many vCPUs have ended their rounds, well or not */
	uint8_t *memory;
	size_t memory_size, run_size;
	unsigned int nr_vcpus, nr_threads;
	struct demo_vcpu vcpus[MAX_VCPUS];
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- a vCPU's thread */

/* Sleeps until the next kick, for timeout at the most; NULL: without a limit. */
static void wait_for_kick(const struct timespec *timeout)
{
	sigset_t kick;

	sigemptyset(&kick);
	sigaddset(&kick, KICK);
	(void)sigtimedwait(&kick, NULL, timeout);
}

static struct timespec time_of_us(uint64_t us)
{
	return (struct timespec){
		.tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000 * 1000),
	};
}

static bool is_running(const struct demo_vm *vm)
{
	return atomic_load(&vm->phase) == PHASE_ROUNDS;
}

/* 1: the vCPU runs until KVM returns to user space; 0: until a kick; or -errno with error. */
static int vcpu_run(struct demo_vcpu *vcpu)
{
	static const struct timespec no_time = { 0 };

	if (ioctl(vcpu->fd, KVM_RUN, 0) == 0)
		return 1;
	if (errno != EINTR && errno != EAGAIN)
		return error_set(&vcpu->error, -errno, "the demo guest cannot run: %m");
	wait_for_kick(&no_time); /* while it is pending, KVM_RUN returns at once */
	return 0;
}

/* The guest's address at which a vCPU stands; 0: unknown. */
static uint64_t read_pc(int vcpu_fd)
{
	uint64_t pc = 0;
	struct kvm_one_reg reg = { .id = machine->pc_id, .addr = (uintptr_t)&pc };

	if (machine->read_pc)
		return machine->read_pc(vcpu_fd);
	return ioctl(vcpu_fd, KVM_GET_ONE_REG, &reg) < 0 ? 0 : pc;
}

static uint64_t code_gpa(void)
{
	return machine->memory_gpa + DEMO_CODE_OFFSET;
}

/* An interrupt can end a halt early: the guest halts again, and never begins a round by itself. */
static int set_pc(struct demo_vcpu *vcpu)
{
	uint64_t pc = code_gpa();
	struct kvm_one_reg reg = { .id = machine->pc_id, .addr = (uintptr_t)&pc };

	if (machine->pc_id && ioctl(vcpu->fd, KVM_SET_ONE_REG, &reg) < 0)
		return error_set(&vcpu->error, -errno, "cannot start the demo guest: %m");
	return 0;
}

static bool has_halted(const struct demo_vcpu *vcpu)
{
	uint64_t offset = (uintptr_t)machine->halted - (uintptr_t)machine->code;

	return read_pc(vcpu->fd) == code_gpa() + offset;
}

/* Halts in KVM until the timer's kick. If the kick came before the halt, the next comes later. */
static int vcpu_halt(struct demo_vcpu *vcpu)
{
	uint64_t us = vcpu->vm->plan.pause_us > 1000 ? vcpu->vm->plan.pause_us : 1000;

	for (; is_running(vcpu->vm) && !has_halted(vcpu); us *= 2) {
		const struct itimerspec once = { .it_value = time_of_us(us) };
		int got;

		if (timer_settime(vcpu->timer, 0, &once, NULL) < 0)
			return error_set(&vcpu->error, -errno, "no timer for the demo guest: %m");
		got = vcpu_run(vcpu);
		if (got > 0)
			got = error_set(&vcpu->error, -EIO,
					"the demo guest does not halt: KVM exit %u",
					vcpu->run->exit_reason);
		if (got < 0)
			return got;
	}
	return 0;
}

static bool is_mark(const struct kvm_run *run)
{
	if (!machine->mark_gpa)
		return run->exit_reason == KVM_EXIT_HLT;
	return run->exit_reason == KVM_EXIT_MMIO && run->mmio.phys_addr == machine->mark_gpa;
}

/* Runs until the round's mark, or the end of all rounds. */
static int vcpu_run_round(struct demo_vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;

	while (is_running(vcpu->vm)) {
		int got = vcpu_run(vcpu);

		if (got < 0)
			return got;
		if (got == 0)
			continue;
		if (is_mark(run))
			return machine->halted ? vcpu_halt(vcpu) : 0;
		if (run->exit_reason != KVM_EXIT_IO && run->exit_reason != KVM_EXIT_MMIO &&
		    run->exit_reason != KVM_EXIT_PAPR_HCALL)
			return error_set(&vcpu->error, -EIO, "the demo guest failed: KVM exit %u",
					 run->exit_reason);
		if (vcpu->vm->plan.answer_us)
			vcpu->vm->plan.answer(vcpu->vm->plan.answer_us);
	}
	return 0;
}

static int vcpu_run_rounds(struct demo_vcpu *vcpu)
{
	const struct demo_plan *plan = &vcpu->vm->plan;
	const struct timespec pause = time_of_us(plan->pause_us);
	int err = 0;

	for (uint32_t round = 0; !err && (!plan->rounds || round < plan->rounds); round++) {
		if (!is_running(vcpu->vm))
			break;
		if (round && plan->pause_us && !machine->halted)
			wait_for_kick(&pause);
		err = set_pc(vcpu);
		if (!err)
			err = vcpu_run_round(vcpu);
	}
	return err;
}

static int vcpu_do_plan(struct demo_vcpu *vcpu)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = KICK };
	int err;

	if (!machine->halted)
		return vcpu_run_rounds(vcpu);
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &vcpu->timer) < 0)
		return error_set(&vcpu->error, -errno, "no timer for the demo guest: %m");
	err = vcpu_run_rounds(vcpu);
	timer_delete(vcpu->timer);
	return err;
}

static void *vcpu_main(void *arg)
{
	struct demo_vcpu *vcpu = arg;

	do { /* even if phase is set: else the first KVM_RUN ends with EINTR, an exit more */
		wait_for_kick(NULL);
	} while (atomic_load(&vcpu->vm->phase) == PHASE_WAITING);
	atomic_store(&vcpu->err, vcpu_do_plan(vcpu));
	(void)eventfd_write(vcpu->vm->ended_fd, 1);
	while (is_running(vcpu->vm))
		wait_for_kick(NULL);
	return NULL;
}

/* ---- the VM */

static int open_kvm(int *ret_fd, struct error *error)
{
	int fd = open(KVM_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return error_set(error, -ENOENT, KVM_PATH " does not exist: %s", machine->remedy);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return error_set(error, -errno, KVM_PATH ": %m: be root or in the group kvm");
	if (fd < 0)
		return error_set(error, -errno, KVM_PATH ": %m");
	if (ioctl(fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION) {
		close(fd);
		return error_set(error, -EPROTO, KVM_PATH " does not speak version %d of KVM",
				 KVM_API_VERSION);
	}
	*ret_fd = fd;
	return 0;
}

static int create_vm(struct demo_vm *vm, struct error *error)
{
	unsigned long type = machine->vm_type ? machine->vm_type(vm->kvm_fd) : 0;

	do {
		vm->vm_fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, type);
	} while (vm->vm_fd < 0 && errno == EINTR);
	if (vm->vm_fd < 0)
		return error_set(error, -errno, "cannot create the demo guest's VM: %m");
	if (machine->prepare_vm)
		machine->prepare_vm(vm->vm_fd);
	return 0;
}

static int add_memory(struct demo_vm *vm, struct error *error)
{
	struct demo_counts counts = {
		.pio = vm->plan.pio,
		.mmio = vm->plan.mmio,
		.cpuid = vm->plan.cpuid,
		.leaf_mask = vm->plan.leaf_mask,
	};
	struct kvm_userspace_memory_region region = { .guest_phys_addr = machine->memory_gpa };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return error_set(error, -errno, "no memory for the demo guest: %m");
	vm->memory = memory;
	vm->memory_size = size;
	memcpy(vm->memory, &counts, sizeof(counts));
	memcpy(vm->memory + DEMO_CODE_OFFSET, machine->code,
	       (uintptr_t)machine->code_end - (uintptr_t)machine->code);
	region.memory_size = size;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(vm->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return error_set(error, -errno, "cannot give the demo guest memory: %m");
	return 0;
}

/* KVM_RUN blocks all signals but the kick. */
static int set_signal_mask(int vcpu_fd)
{
	uint64_t blocked = ~(UINT64_C(1) << (KICK - 1));
	union {
		struct kvm_signal_mask mask;
		uint8_t bytes[sizeof(struct kvm_signal_mask) + sizeof(blocked)];
	} arg = { .mask.len = sizeof(blocked) };

	memcpy(arg.bytes + sizeof(arg.mask), &blocked, sizeof(blocked));
	return ioctl(vcpu_fd, KVM_SET_SIGNAL_MASK, &arg) < 0 ? -errno : 0;
}

static int add_vcpu(struct demo_vm *vm)
{
	int fd = ioctl(vm->vm_fd, KVM_CREATE_VCPU, vm->nr_vcpus);
	struct demo_vcpu *vcpu = &vm->vcpus[vm->nr_vcpus];
	void *run;

	if (fd < 0)
		return -errno;
	vcpu->vm = vm;
	vcpu->fd = fd;
	vm->nr_vcpus++;
	run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (run == MAP_FAILED)
		return -errno;
	vcpu->run = run;
	if (set_signal_mask(fd) < 0)
		return -errno;
	return machine->prepare_vcpu(vm->vm_fd, fd);
}

static int add_vcpus(struct demo_vm *vm, struct error *error)
{
	int size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	int err = size < 0 ? -errno : 0;

	vm->run_size = size < 0 ? 0 : (size_t)size;
	while (!err && vm->nr_vcpus < vm->plan.vcpus)
		err = add_vcpu(vm);
	if (err)
		error_set(error, err, "cannot create the demo guest's vCPUs: %s", strerror(-err));
	return err;
}

static int start_threads(struct demo_vm *vm, struct error *error)
{
	vm->ended_fd = eventfd(0, EFD_CLOEXEC);
	if (vm->ended_fd < 0)
		return error_set(error, -errno, "no eventfd for the demo guest: %m");
	for (; vm->nr_threads < vm->nr_vcpus; vm->nr_threads++) {
		struct demo_vcpu *vcpu = &vm->vcpus[vm->nr_threads];
		int err = thread_start(&vcpu->thread, vcpu_main, vcpu);
		char name[16];

		if (err)
			return error_set(error, err, "cannot start the demo guest's threads: %s",
					 strerror(-err));
		snprintf(name, sizeof(name), "vcpu%u", vm->nr_threads);
		pthread_setname_np(vcpu->thread, name);
	}
	return 0;
}

static int check_plan(const struct demo_plan *plan, struct error *error)
{
	struct utsname names;

	if (plan->vcpus < 1 || plan->vcpus > MAX_VCPUS)
		return error_set(error, -EINVAL, "a demo guest has 1 to %d vCPUs, not %u",
				 MAX_VCPUS, plan->vcpus);
	if (!machine)
		return error_set(error, -EOPNOTSUPP, "no demo guest for this kind of machine (%s)",
				 uname(&names) ? "?" : names.machine);
	return 0;
}

int demo_vm_new(const struct demo_plan *plan, struct demo_vm **ret_vm, struct error *error)
{
	struct demo_vm *vm;
	int err = check_plan(plan, error);

	if (err)
		return err;
	vm = xcalloc(1, sizeof(*vm));
	vm->plan = *plan;
	vm->kvm_fd = vm->vm_fd = vm->ended_fd = -1;
	err = open_kvm(&vm->kvm_fd, error);
	if (!err)
		err = create_vm(vm, error);
	if (!err)
		err = add_memory(vm, error);
	if (!err)
		err = add_vcpus(vm, error);
	if (!err)
		err = start_threads(vm, error);
	if (err)
		demo_vm_free(vm);
	else
		*ret_vm = vm;
	return err;
}

static void enter_phase(struct demo_vm *vm, enum phase phase)
{
	atomic_store(&vm->phase, (int)phase);
	for (unsigned int i = 0; i < vm->nr_threads; i++)
		pthread_kill(vm->vcpus[i].thread, KICK);
}

static void end_threads(struct demo_vm *vm)
{
	enter_phase(vm, PHASE_STOPPING);
	for (unsigned int i = 0; i < vm->nr_threads; i++)
		pthread_join(vm->vcpus[i].thread, NULL);
	vm->nr_threads = 0;
}

int demo_vm_replace_threads(struct demo_vm *vm, struct error *error)
{
	end_threads(vm);
	atomic_store(&vm->phase, PHASE_WAITING);
	close_fd(vm->ended_fd);
	return start_threads(vm, error);
}

void demo_vm_free(struct demo_vm *vm)
{
	if (!vm)
		return;
	end_threads(vm);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (vm->vcpus[i].run)
			munmap(vm->vcpus[i].run, vm->run_size);
		close(vm->vcpus[i].fd);
	}
	close_fd(vm->ended_fd);
	close_fd(vm->vm_fd);
	close_fd(vm->kvm_fd);
	if (vm->memory)
		munmap(vm->memory, vm->memory_size);
	free(vm);
}

void demo_vm_go(struct demo_vm *vm)
{
	enter_phase(vm, PHASE_ROUNDS);
}

static int first_error(const struct demo_vm *vm, struct error *error)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		int err = atomic_load(&vm->vcpus[i].err);

		if (err)
			return error_set(error, err, "%s", vm->vcpus[i].error.text);
	}
	return 0;
}

int demo_vm_wait(struct demo_vm *vm, int stop_fd, struct error *error)
{
	struct pollfd fds[] = {
		{ .fd = vm->ended_fd, .events = POLLIN },
		{ .fd = stop_fd, .events = POLLIN },
	};
	eventfd_t nr_more, nr_ended = 0;
	int err = 0;

	while (!err && nr_ended < vm->nr_vcpus) {
		int nr = poll(fds, 2, -1);

		if (nr < 0 && errno != EINTR)
			return error_set(error, -errno, "poll: %m");
		if (nr <= 0)
			continue;
		if (fds[0].revents && !eventfd_read(vm->ended_fd, &nr_more))
			nr_ended += nr_more;
		err = first_error(vm, error);
		if (fds[1].revents)
			break;
	}
	return err;
}
