/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * demo - drives the VM: memory, a thread for each vCPU, the run loop; and the child that hosts it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo/demo.h"
#include "demo/demo_vm.h"

#define KVM_PATH "/dev/kvm"
#define MAX_VCPUS 8

/*
 * Blocked in the vCPU threads, so no handler is needed: it is waited for, and only KVM_RUN lets it
 * in, which then returns EINTR and leaves it pending. None is lost between a test and a wait.
 */
#define KICK SIGUSR1

/* glibc has no name for where the thread of SIGEV_THREAD_ID goes before 2.38. */
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

/* 20 rounds a second of 111 exits on each of two vCPUs: 4440 a second. */
const struct demo_plan demo_default = {
	.pio = 30,
	.mmio = 20,
	.cpuid = 60,
	.rounds = 0,
	.pause_us = 50000,
	.vcpus = 2,
};

enum phase { PHASE_WAITING, PHASE_ROUNDS, PHASE_STOPPING };

struct vcpu {
	struct demo_vm *vm;
	int fd;
	struct kvm_run *run;
	pthread_t thread;
	timer_t timer; /* kicks the thread */
	struct why why;
	atomic_int err; /* set after why */
};

struct demo_vm {
	struct demo_plan plan;
	atomic_int phase; /* set before the kick that tells of it */
	int kvm_fd, vm_fd;
	int ended_fd; /* an eventfd: how many vCPUs have ended their rounds, well or not */
	uint8_t *memory;
	size_t memory_size, run_size;
	unsigned int nr_vcpus, nr_threads;
	struct vcpu vcpus[MAX_VCPUS];
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* ---- a vCPU's thread */

/* Sleeps until the next kick, at most that long; NULL: for as long as it takes. */
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

/* Runs until user space is asked for something, 1, or there was a kick, 0; or -errno with why. */
static int vcpu_run(struct vcpu *vcpu)
{
	static const struct timespec no_time = { 0 };

	if (ioctl(vcpu->fd, KVM_RUN, 0) == 0)
		return 1;
	if (errno != EINTR && errno != EAGAIN)
		return why_set(&vcpu->why, -errno, "the demo guest cannot run: %m");
	wait_for_kick(&no_time); /* takes it, else KVM_RUN never gets further */
	return 0;
}

/* The next KVM_RUN begins a round. */
static bool has_halted(const struct vcpu *vcpu)
{
	uint64_t offset = (uintptr_t)machine->halted - (uintptr_t)machine->code;

	return machine->read_pc(vcpu->fd) == machine->memory_gpa + DEMO_CODE_OFFSET + offset;
}

/* KVM waits in it until it is kicked. A kick may come too early: then it is given more time. */
static int vcpu_halt(struct vcpu *vcpu)
{
	uint64_t us = vcpu->vm->plan.pause_us > 1000 ? vcpu->vm->plan.pause_us : 1000;

	for (; is_running(vcpu->vm) && !has_halted(vcpu); us *= 2) {
		const struct itimerspec once = { .it_value = time_of_us(us) };
		int got;

		if (timer_settime(vcpu->timer, 0, &once, NULL) < 0)
			return why_set(&vcpu->why, -errno, "no timer for a demo vCPU: %m");
		got = vcpu_run(vcpu);
		if (got > 0)
			got = why_set(&vcpu->why, -EIO, "the demo guest does not halt: KVM exit %u",
				      vcpu->run->exit_reason);
		if (got < 0)
			return got;
	}
	return 0;
}

/* Runs until the round's mark, or the end of all rounds. */
static int vcpu_run_round(struct vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;

	while (is_running(vcpu->vm)) {
		int got = vcpu_run(vcpu);

		if (got < 0)
			return got;
		if (got == 0)
			continue;
		if (machine->is_mark(run))
			return machine->halted ? vcpu_halt(vcpu) : 0;
		if (run->exit_reason != KVM_EXIT_IO && run->exit_reason != KVM_EXIT_MMIO &&
		    run->exit_reason != KVM_EXIT_PAPR_HCALL)
			return why_set(&vcpu->why, -EIO, "the demo guest failed: KVM exit %u",
				       run->exit_reason);
		if (vcpu->vm->plan.answer_us)
			usleep(vcpu->vm->plan.answer_us);
	}
	return 0;
}

static int vcpu_run_rounds(struct vcpu *vcpu)
{
	const struct demo_plan *plan = &vcpu->vm->plan;
	const struct timespec pause = time_of_us(plan->pause_us);
	int err = 0;

	for (uint32_t round = 0; !err && (!plan->rounds || round < plan->rounds); round++) {
		if (!is_running(vcpu->vm))
			break;
		if (round && plan->pause_us && !machine->halted)
			wait_for_kick(&pause);
		err = vcpu_run_round(vcpu);
	}
	return err;
}

static int vcpu_add_timer(struct vcpu *vcpu)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = KICK };

	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &vcpu->timer) < 0)
		return why_set(&vcpu->why, -errno, "no timer for a demo vCPU: %m");
	return 0;
}

static int vcpu_live(struct vcpu *vcpu)
{
	int err;

	if (!machine->halted)
		return vcpu_run_rounds(vcpu);
	err = vcpu_add_timer(vcpu);
	if (err)
		return err;
	err = vcpu_run_rounds(vcpu);
	timer_delete(vcpu->timer);
	return err;
}

static void *vcpu_main(void *arg)
{
	struct vcpu *vcpu = arg;

	do { /* taken even if it comes late, else the first KVM_RUN ends with EINTR: an exit more */
		wait_for_kick(NULL);
	} while (atomic_load(&vcpu->vm->phase) == PHASE_WAITING);
	atomic_store(&vcpu->err, vcpu_live(vcpu));
	(void)eventfd_write(vcpu->vm->ended_fd, 1);
	while (is_running(vcpu->vm))
		wait_for_kick(NULL);
	return NULL;
}

/* All signals but the kick are the other threads' business. */
static int vcpu_start(struct vcpu *vcpu, unsigned int number)
{
	sigset_t all, before;
	char name[16];
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&vcpu->thread, NULL, vcpu_main, vcpu);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	snprintf(name, sizeof(name), "vcpu%u", number);
	pthread_setname_np(vcpu->thread, name);
	return 0;
}

/* ---- the VM */

static int open_kvm(int *ret_fd, struct why *why)
{
	int fd = open(KVM_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return why_set(why, -ENOENT, KVM_PATH " does not exist: %s", machine->remedy);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return why_set(why, -errno, KVM_PATH ": %m: be root or in the group kvm");
	if (fd < 0)
		return why_set(why, -errno, KVM_PATH ": %m");
	if (ioctl(fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION) {
		close(fd);
		return why_set(why, -EPROTO, KVM_PATH " does not speak version %d of KVM",
			       KVM_API_VERSION);
	}
	*ret_fd = fd;
	return 0;
}

static int create_vm(struct demo_vm *vm, struct why *why)
{
	unsigned long type = machine->vm_type ? machine->vm_type(vm->kvm_fd) : 0;

	do {
		vm->vm_fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, type);
	} while (vm->vm_fd < 0 && errno == EINTR);
	if (vm->vm_fd < 0)
		return why_set(why, -errno, "KVM makes no VM for the demo guest: %m");
	if (machine->prepare_vm)
		machine->prepare_vm(vm->vm_fd);
	return 0;
}

static int add_memory(struct demo_vm *vm, struct why *why)
{
	struct demo_counts counts = {
		.pio = vm->plan.pio,
		.mmio = vm->plan.mmio,
		.cpuid = vm->plan.cpuid,
	};
	struct kvm_userspace_memory_region region = { .guest_phys_addr = machine->memory_gpa };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return why_set(why, -errno, "no memory for the demo guest: %m");
	vm->memory = memory;
	vm->memory_size = size;
	memcpy(vm->memory, &counts, sizeof(counts));
	memcpy(vm->memory + DEMO_CODE_OFFSET, machine->code,
	       (uintptr_t)machine->code_end - (uintptr_t)machine->code);
	region.memory_size = size;
	region.userspace_addr = (uintptr_t)memory;
	if (ioctl(vm->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return why_set(why, -errno, "KVM gives the demo guest no memory: %m");
	return 0;
}

/* While KVM_RUN runs, only the kick is let in. */
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
	int err, fd = ioctl(vm->vm_fd, KVM_CREATE_VCPU, vm->nr_vcpus);
	struct vcpu *vcpu = &vm->vcpus[vm->nr_vcpus];
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
	err = set_signal_mask(fd);
	return err ? err : machine->prepare_vcpu(vm->vm_fd, fd);
}

static int add_vcpus(struct demo_vm *vm, struct why *why)
{
	int size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	int err = size < 0 ? -errno : 0;

	vm->run_size = size < 0 ? 0 : (size_t)size;
	while (!err && vm->nr_vcpus < vm->plan.vcpus)
		err = add_vcpu(vm);
	return err ? why_set(why, err, "KVM makes no demo vCPU: %s", strerror(-err)) : 0;
}

static int start_threads(struct demo_vm *vm, struct why *why)
{
	vm->ended_fd = eventfd(0, EFD_CLOEXEC);
	if (vm->ended_fd < 0)
		return why_set(why, -errno, "no eventfd for the demo guest: %m");
	for (; vm->nr_threads < vm->nr_vcpus; vm->nr_threads++) {
		int err = vcpu_start(&vm->vcpus[vm->nr_threads], vm->nr_threads);

		if (err)
			return why_set(why, err, "no thread for a demo vCPU: %s", strerror(-err));
	}
	return 0;
}

static int check_plan(const struct demo_plan *plan, struct why *why)
{
	struct utsname names;

	if (plan->vcpus < 1 || plan->vcpus > MAX_VCPUS)
		return why_set(why, -EINVAL, "a demo guest has 1 to %d vCPUs, not %u",
			       MAX_VCPUS, plan->vcpus);
	if (!machine)
		return why_set(why, -EOPNOTSUPP, "no demo guest for this kind of machine (%s)",
			       uname(&names) ? "?" : names.machine);
	return 0;
}

int demo_vm_new(const struct demo_plan *plan, struct demo_vm **ret_vm, struct why *why)
{
	struct demo_vm *vm;
	int err = check_plan(plan, why);

	if (err)
		return err;
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return why_set(why, -ENOMEM, "no memory for the demo guest");
	vm->plan = *plan;
	vm->kvm_fd = vm->vm_fd = vm->ended_fd = -1;
	err = open_kvm(&vm->kvm_fd, why);
	if (!err)
		err = create_vm(vm, why);
	if (!err)
		err = add_memory(vm, why);
	if (!err)
		err = add_vcpus(vm, why);
	if (!err)
		err = start_threads(vm, why);
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

int demo_vm_replace_threads(struct demo_vm *vm, struct why *why)
{
	end_threads(vm);
	atomic_store(&vm->phase, PHASE_WAITING);
	close_fd(vm->ended_fd);
	return start_threads(vm, why);
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

static int first_error(const struct demo_vm *vm, struct why *why)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		int err = atomic_load(&vm->vcpus[i].err);

		if (err)
			return why_set(why, err, "%s", vm->vcpus[i].why.text);
	}
	return 0;
}

int demo_vm_wait(struct demo_vm *vm, int stop_fd, struct why *why)
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
			return why_set(why, -errno, "poll: %m");
		if (nr <= 0)
			continue;
		if (fds[0].revents && !eventfd_read(vm->ended_fd, &nr_more))
			nr_ended += nr_more;
		err = first_error(vm, why);
		if (fds[1].revents)
			break;
	}
	return err;
}

int demo_run(const struct demo_plan *plan, int stop_fd, struct why *why)
{
	struct demo_vm *vm = NULL;
	int err = demo_vm_new(plan, &vm, why);

	if (!vm)
		return err;
	demo_vm_go(vm);
	err = demo_vm_wait(vm, stop_fd, why);
	demo_vm_free(vm);
	return err;
}

/* ---- the child */

/* What the child tells its parent, in one write of less than PIPE_BUF bytes. */
struct report {
	int err;
	struct why why;
};

/* The parent's handlers are not for us; Ctrl-C goes to the parent, which then ends us. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGINT ? SIG_IGN : SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Whoever reads the parent's output must see its end when the parent ends. */
static void let_go_of_stdio(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i <= STDERR_FILENO; i++) {
		if (fd < 0)
			close(i);
		else if (fd != i)
			dup2(fd, i);
	}
	if (fd > STDERR_FILENO)
		close(fd);
}

/* The pipe may have taken the place of a closed stdin or stdout. */
static int move_above_stdio(int fd)
{
	return fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* The signal comes when the thread that forked ends: demo_start() is for the main thread. */
_Noreturn static void child_main(const struct demo_plan *plan, pid_t parent, int report_fd)
{
	struct report report = { 0 };
	struct demo_vm *vm = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* it died before the line above */
	prctl(PR_SET_NAME, "kvmtop-demo");
	reset_signals();
	report_fd = move_above_stdio(report_fd);
	let_go_of_stdio();
	report.err = demo_vm_new(plan, &vm, &report.why);
	if (vm)
		demo_vm_go(vm);
	if (write(report_fd, &report, sizeof(report)) != (ssize_t)sizeof(report) || !vm)
		_exit(1);
	close(report_fd);
	_exit(demo_vm_wait(vm, -1, NULL) ? 1 : 0);
}

/* Signals wait meanwhile: a handler that ran in the child would be the parent's, with its fds. */
static pid_t fork_child(const struct demo_plan *plan, const int pipe_fds[2])
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	err = errno;
	if (!pid) {
		close(pipe_fds[0]);
		child_main(plan, parent, pipe_fds[1]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? -err : pid;
}

static void read_report(int fd, struct report *ret_report)
{
	struct report report;
	ssize_t len;

	do {
		len = read(fd, &report, sizeof(report));
	} while (len < 0 && errno == EINTR);
	if (len != (ssize_t)sizeof(report))
		report.err = why_set(&report.why, -EIO, "the demo guest's process died at once");
	*ret_report = report;
}

int demo_start(const struct demo_plan *plan, pid_t *ret_pid, struct why *why)
{
	struct report report;
	int pipe_fds[2];
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return why_set(why, -errno, "no pipe to the demo guest: %m");
	pid = fork_child(plan, pipe_fds);
	close(pipe_fds[1]);
	if (pid < 0) {
		close(pipe_fds[0]);
		return why_set(why, (int)pid, "no process for the demo guest: %s", strerror(-pid));
	}
	read_report(pipe_fds[0], &report);
	close(pipe_fds[0]);
	if (report.err) {
		demo_stop(pid);
		return why_set(why, report.err, "%s", report.why.text);
	}
	*ret_pid = pid;
	return 0;
}

/* It has nothing to put in order: the kernel takes the VM down with the process. */
void demo_stop(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}
