/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * miniguest - a process with a VM that makes exactly the exits that its arguments name, for the
 * shell tests.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cmd/demo/demo.h"

#define LIMIT_S 240 /* no run is longer, whatever the arguments are */
#define MAX_HOLD_S 120

void answer_by_sleeping(uint32_t us);
void answer_by_spinning(uint32_t us);
void answer_and_count(uint32_t us);

struct order {
	struct demo_plan plan;
	uint32_t hold_s, lives, memory_mib;
	bool must_wait, must_time, is_unnamed;
};

static const char help[] =
	"usage: miniguest [OPTION...]\n"
	"Runs a VM whose vCPUs make exactly the exits that are asked for.\n"
	"  --pio N        port writes to user space in a round (elsewhere hypercalls; 0)\n"
	"  --mmio N       one-byte writes to unbacked memory in a round, an exit each (0)\n"
	"  --cpuid N      CPUIDs in a round (elsewhere other instructions that trap; 0)\n"
	"  --leaf-mask N  the leaf of a CPUID: the bits of N of how many are left (x86; 0)\n"
	"  --rounds N     0: for ever (1)\n"
	"  --pause US     between two rounds (0)\n"
	"  --answer US    before user space answers a port or MMIO write (0; at most 999999)\n"
	"  --spin         it computes meanwhile; else it sleeps\n"
	"  --lock         it waits for a lock, which another thread has for so long\n"
	"  --vcpus N      1 to 8, threads vcpu0 ..., each of which makes all of the above (1)\n"
	"  --memory MIB   more memory that is in use, and that no guest sees (0)\n"
	"  --unnamed      threads have no names of their own (not with --lives)\n"
	"  --name NAME    only to be seen in the command line; -name NAME is the same\n"
	"  --lives N      all of this so often, each time with new threads for the vCPUs (1)\n"
	"  --wait         begin the rounds when a line comes in on stdin\n"
	"  --time         print how many ns the rounds took, from the word to the last\n"
	"  --hold SECONDS stay after the rounds, VM open and idle (0; at most 120)\n"
	"\n"
	"Prints \"ready PID\" when the VM and its threads exist, \"done\" after the rounds, and\n"
	"with --time before that \"ns N\". Ends by itself after 240 seconds at the latest.\n"
	"Exit status: 0, 1 failure, 2 usage.\n"
	"\n"
	"Every round ends with one exit more on each vCPU, the mark. x86: a HLT (KVM_EXIT_HLT),\n"
	"which kvm_userspace_exit counts and kvm_pio, kvm_mmio, kvm_cpuid do not, so that\n"
	"  kvm_userspace_exit = vcpus * rounds * (pio + mmio + 1)\n"
	"Elsewhere: one MMIO write more and a halt (WFx, H_CEDE), which lasts for the pause and\n"
	"which a signal ends, so that kvm_userspace_exit has a few INTR besides\n"
	"  kvm_userspace_exit(MMIO) = vcpus * rounds * (mmio + 1)\n"
	"With virtualization hardware, kvm_exit also has a page fault or two for the first touch\n"
	"of the code, and the host's interrupts. An MMIO write is one EPT_MISCONFIG there\n"
	"(Intel; the first ones EPT_VIOLATION), npf (AMD), DABT_LOW (AArch64),\n"
	"H_DATA_STORAGE (POWER).\n";

enum option_key {
	KEY_PIO,
	KEY_MMIO,
	KEY_CPUID,
	KEY_LEAF_MASK,
	KEY_ROUNDS,
	KEY_PAUSE,
	KEY_ANSWER,
	KEY_SPIN,
	KEY_LOCK,
	KEY_VCPUS,
	KEY_HOLD,
	KEY_LIVES,
	KEY_MEMORY,
	KEY_NAME,
	KEY_UNNAMED,
	KEY_WAIT,
	KEY_TIME,
	KEY_HELP,
};

static const struct option options[] = {
	{ "pio", required_argument, NULL, KEY_PIO },
	{ "mmio", required_argument, NULL, KEY_MMIO },
	{ "cpuid", required_argument, NULL, KEY_CPUID },
	{ "leaf-mask", required_argument, NULL, KEY_LEAF_MASK },
	{ "rounds", required_argument, NULL, KEY_ROUNDS },
	{ "pause", required_argument, NULL, KEY_PAUSE },
	{ "answer", required_argument, NULL, KEY_ANSWER },
	{ "spin", no_argument, NULL, KEY_SPIN },
	{ "lock", no_argument, NULL, KEY_LOCK },
	{ "vcpus", required_argument, NULL, KEY_VCPUS },
	{ "hold", required_argument, NULL, KEY_HOLD },
	{ "lives", required_argument, NULL, KEY_LIVES },
	{ "memory", required_argument, NULL, KEY_MEMORY },
	{ "name", required_argument, NULL, KEY_NAME },
	{ "unnamed", no_argument, NULL, KEY_UNNAMED },
	{ "wait", no_argument, NULL, KEY_WAIT },
	{ "time", no_argument, NULL, KEY_TIME },
	{ "help", no_argument, NULL, KEY_HELP },
	{ NULL, 0, NULL, 0 },
};

static bool parse_number(const char *text, uint32_t *ret_number)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || number > UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

/* The names are looked for by tests of `kvmtop where`. */
void answer_by_sleeping(uint32_t us)
{
	usleep(us);
}

__attribute__((noinline)) void answer_by_spinning(uint32_t us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* Its caller: what it does after the call keeps it on the stack. */
void answer_and_count(uint32_t us)
{
	static volatile uint32_t answers;

	answer_by_spinning(us);
	answers++;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *us)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		usleep(*(uint32_t *)us);
		pthread_mutex_unlock(&lock);
		usleep(50);
	}
	return NULL;
}

static void answer_by_lock(uint32_t us)
{
	(void)us; /* hold_lock() has it for so long */
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static bool parse_option(int key, struct order *order)
{
	uint32_t *const numbers[] = {
		[KEY_PIO] = &order->plan.pio,
		[KEY_MMIO] = &order->plan.mmio,
		[KEY_CPUID] = &order->plan.cpuid,
		[KEY_LEAF_MASK] = &order->plan.leaf_mask,
		[KEY_ROUNDS] = &order->plan.rounds,
		[KEY_PAUSE] = &order->plan.pause_us,
		[KEY_ANSWER] = &order->plan.answer_us,
		[KEY_VCPUS] = &order->plan.vcpus,
		[KEY_HOLD] = &order->hold_s,
		[KEY_LIVES] = &order->lives,
		[KEY_MEMORY] = &order->memory_mib,
	};

	switch (key) {
	case KEY_NAME:
		return true;
	case KEY_UNNAMED:
		order->is_unnamed = true;
		return true;
	case KEY_SPIN:
		order->plan.answer = answer_and_count;
		return true;
	case KEY_LOCK:
		order->plan.answer = answer_by_lock;
		return true;
	case KEY_WAIT:
		order->must_wait = true;
		return true;
	case KEY_TIME:
		order->must_time = true;
		return true;
	case KEY_HELP:
		fputs(help, stdout);
		exit(0);
	case '?':
		return false;
	default:
		if (parse_number(optarg, numbers[key]))
			return true;
		fprintf(stderr, "miniguest: \"%s\" is not a number\n", optarg);
		return false;
	}
}

static bool parse(int argc, char **argv, struct order *order)
{
	int key;

	*order = (struct order){
		.plan = { .rounds = 1, .vcpus = 1, .answer = answer_by_sleeping }, .lives = 1,
	};
	while ((key = getopt_long_only(argc, argv, "", options, NULL)) != -1)
		if (!parse_option(key, order))
			return false;
	if (optind < argc) {
		fprintf(stderr, "miniguest: what is \"%s\"?\n", argv[optind]);
		return false;
	}
	if (order->hold_s > MAX_HOLD_S)
		order->hold_s = MAX_HOLD_S;
	return true;
}

/* False at the end of stdin: the word will never come. */
static bool wait_for_line(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1)
		if (byte == '\n')
			return true;
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int run_rounds(struct demo_vm *vm, const struct order *order, struct error *error)
{
	uint64_t begun_ns = now_ns();
	int err;

	demo_vm_go(vm);
	err = demo_vm_wait(vm, -1, error);
	if (!err && order->must_time)
		printf("ns %" PRIu64 "\n", now_ns() - begun_ns);
	return err;
}

/* The threads of the life before stay until the word. */
static int live(struct demo_vm *vm, const struct order *order, bool is_first, struct error *error)
{
	int err = 0;

	printf("ready %d\n", (int)getpid());
	if (order->must_wait && !wait_for_line())
		return error_set(error, -EIO, "stdin ended before a line came");
	if (!is_first)
		err = demo_vm_replace_threads(vm, error);
	if (!err)
		err = run_rounds(vm, order, error);
	if (!err)
		printf("done\n");
	return err;
}

/* It stays until the end. */
static int use_memory(uint32_t mib, struct error *error)
{
	void *memory;

	if (!mib)
		return 0;
	memory = mmap(NULL, (size_t)mib << 20, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return memory != MAP_FAILED ? 0 :
				      error_set(error, -errno, "%u MiB: %s", mib, strerror(errno));
}

/* As the threads of a VMM that gives them no names. */
static int take_names(struct error *error)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[sizeof("/proc/self/task//comm") + sizeof(entry->d_name)];
	int err = dir ? 0 : -errno;

	while (!err && (entry = readdir(dir))) {
		FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		if (entry->d_name[0] != '.')
			file = fopen(path, "w");
		if (file && (fputs("miniguest", file) < 0 || fclose(file) < 0))
			err = -errno;
	}
	if (dir)
		closedir(dir);
	return err ? error_set(error, err, "/proc/self/task: %s", strerror(-err)) : 0;
}

static int run(struct order *order)
{
	struct error error = { "" };
	struct demo_vm *vm = NULL;
	int err = use_memory(order->memory_mib, &error);
	pthread_t holder;

	if (!err && order->plan.answer == answer_by_lock)
		err = -pthread_create(&holder, NULL, hold_lock, &order->plan.answer_us);

	if (!err)
		err = demo_vm_new(&order->plan, &vm, &error);
	if (!err && order->is_unnamed)
		err = take_names(&error);
	for (uint32_t i = 0; !err && i < order->lives; i++)
		err = live(vm, order, i == 0, &error);
	if (err)
		fprintf(stderr, "miniguest: %s\n", error.text);
	if (!err && order->hold_s)
		sleep(order->hold_s);
	demo_vm_free(vm);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct order order;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse(argc, argv, &order)) {
		fprintf(stderr, "Try miniguest --help.\n");
		return 2;
	}
	alarm(LIMIT_S);
	return run(&order);
}
