/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switch - what the programs of `kvmtop who` add to a switch of a CPU for which a vCPU waits, and
 * the one of `kvmtop where` to any switch.
 *
 * Two threads of the highest priority give the last CPU to each other, so that nothing else runs
 * there; a third, which stands for the vCPU's, waits for it all the while. Prints the ns of a
 * switch without programs, with an empty one, with these, and with who's when the two are vCPUs as
 * well; the fastest of many short runs in turn. Beside it what a run of the program takes as the
 * kernel's statistics of programs have it, of which the empty program's is the statistics' own.
 * Where the kernel allows no programs, it says so and ends with 0.
 *
 * usage: build/tests/bench/switch [ROUNDS]	(6)
 */
#include <bpf/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/clock.h"
#include "providers/exits/shared.h"
#include "providers/who/program.h"
#include "tests/bench/measure.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define RUNS	   8
#define YIELDS	   10000 /* of each thread in a run */
#define ROUNDS_MAX 1000

enum way { BARE, EMPTY, WHERE, WHO, WHO_OF_VCPUS, NR_WAYS };

static const char *const way_names[] = { [BARE] = "without",
					 [EMPTY] = "with an empty program",
					 [WHERE] = "with kvmtop where",
					 [WHO] = "with kvmtop who",
					 [WHO_OF_VCPUS] = "with kvmtop who, of two vCPUs" };

static atomic_int vcpu_tid;
static pthread_barrier_t both;
static struct who_bpf *who_of_both; /* the two are vCPUs; NULL: they are not */

static void *be_vcpu(void *arg)
{
	atomic_store(&vcpu_tid, (int)syscall(SYS_gettid));
	for (;;)
		atomic_signal_fence(memory_order_seq_cst);
	return arg;
}

static void *yield(void *arg)
{
	const struct sched_param first = { .sched_priority = 10 };

	const uint32_t *number = arg;

	check(-pthread_setschedparam(pthread_self(), SCHED_FIFO, &first), NULL);
	if (who_of_both)
		check(who_bpf_add_vcpu(who_of_both, (pid_t)syscall(SYS_gettid), *number), NULL);
	pthread_barrier_wait(&both);
	for (int i = 0; i < YIELDS; i++)
		sched_yield();
	return arg;
}

static uint64_t count_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* ns of a switch */
static double run(void)
{
	static uint32_t numbers[] = { 1, 2 };
	pthread_t threads[ARRAY_SIZE(numbers)];
	uint64_t nr = count_switches(), ns = clock_now_ns();

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		check(-pthread_create(&threads[i], NULL, yield, numbers + i), NULL);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	ns = clock_now_ns() - ns;
	return (double)ns / (double)(count_switches() - nr);
}

static int open_empty(struct error *error)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int program = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "empty", "GPL", insns,
				    ARRAY_SIZE(insns), NULL);
	int event = program < 0 ? program : bpf_raw_tracepoint_open("sched_switch", program);

	if (program >= 0)
		close(program);
	return event < 0 ? error_set(error, event, "no empty program: %s", strerror(-event)) :
			   event;
}

/* Only the program on switches. */
static int open_where(struct exits_program **ret_program, struct error *error)
{
	struct exits_program *program = exits_program__open();
	struct bpf_program *each;
	int err;

	if (!program)
		return error_set(error, -errno, "no programs: %s", strerror(errno));
	*ret_program = program;
	bpf_object__for_each_program(each, program->obj)
		bpf_program__set_autoload(each, each == program->progs.on_switch);
	err = exits_program__load(program);
	if (!err)
		err = exits_program__attach(program);
	return err ? error_set(error, err, "no programs: %s", strerror(-err)) : 0;
}

/* ns of a run of the program by the kernel's statistics, which are a part of it. */
static double run_counted(const char *program)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), fd;
	struct bpf_prog_info info = { 0 };
	__u32 size, id = 0;
	double ns = 0;

	check(stats < 0 ? stats : 0, NULL);
	run();
	while (bpf_prog_get_next_id(id, &id) == 0) {
		size = sizeof(info);
		fd = bpf_prog_get_fd_by_id(id);
		memset(&info, 0, sizeof(info));
		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.run_cnt &&
		    strcmp(info.name, program) == 0)
			ns = (double)info.run_time_ns / (double)info.run_cnt;
		if (fd >= 0)
			close(fd);
	}
	close(stats);
	return ns;
}

/* ret_ns: of a switch, RUNS times, and of a run of the program, as the kernel counts it. */
static int run_with(enum way way, double *ret_ns, struct error *error)
{
	struct exits_program *where = NULL;
	struct who_bpf *who = NULL;
	int event = -1, err = 0;

	if (way == EMPTY)
		err = event = open_empty(error);
	if (way == WHERE)
		err = open_where(&where, error);
	if (way >= WHO)
		err = who_bpf_open(&who, error);
	if (err < 0)
		return err;
	if (who)
		check(who_bpf_add_vcpu(who, atomic_load(&vcpu_tid), 0), NULL);
	who_of_both = way == WHO_OF_VCPUS ? who : NULL;
	usleep(50000); /* the vCPU runs, so that its wait begins */
	run();
	for (int i = 0; i < RUNS; i++)
		ret_ns[i] = run();
	if (way != BARE)
		ret_ns[RUNS] = run_counted(way == EMPTY ? "empty" : "on_switch");
	if (who && !who_bpf_record(who, 0)->seen_ns)
		err = error_set(error, -EINVAL, "the programs have seen no wait");
	who_of_both = NULL;
	who_bpf_close(who);
	exits_program__destroy(where);
	if (event >= 0)
		close(event);
	return err < 0 ? err : 0;
}

int main(int argc, char **argv)
{
	static double ns[NR_WAYS][ROUNDS_MAX * RUNS], counted_ns[NR_WAYS][ROUNDS_MAX];
	double of_round[RUNS + 1] = { 0 };
	int rounds = argc > 1 ? atoi(argv[1]) : 6;
	struct error error = { "" };
	pthread_t vcpu;
	cpu_set_t set;

	rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	check(sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0, NULL);
	check(-pthread_barrier_init(&both, NULL, 2), NULL);
	check(-pthread_create(&vcpu, NULL, be_vcpu, NULL), NULL);
	while (!atomic_load(&vcpu_tid))
		sched_yield();
	for (int round = 0; round < rounds; round++) {
		for (enum way way = BARE; way < NR_WAYS; way++) {
			if (run_with(way, of_round, &error) < 0) {
				printf("switch: not here: %s\n", error.text);
				return 0;
			}
			memcpy(&ns[way][round * RUNS], of_round, RUNS * sizeof(*of_round));
			counted_ns[way][round] = of_round[RUNS];
		}
	}
	for (enum way way = BARE; way < NR_WAYS; way++) {
		double *of_way = ns[way];

		median(of_way, (size_t)rounds * RUNS); /* sorts them */
		printf("ns of a switch %s: %.0f", way_names[way], of_way[2]);
		median(counted_ns[way], (size_t)rounds);
		if (way != BARE)
			printf(", %.0f more; by the kernel's count %.0f", of_way[2] - ns[BARE][2],
			       counted_ns[way][0]);
		puts("");
	}
	return 0;
}
