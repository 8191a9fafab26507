/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample - how long a sample of `kvmtop where` takes, by the number of frames.
 *
 * A thread stands for a vCPU's that is not in an exit, of which a sample has two stacks: the
 * kernel's and user space's. It spins, or is in calls of the kernel of different depths. Prints the
 * mean time of a sample as the kernel's statistics of programs have it, with the statistics: in the
 * quietest of some rounds, and in all; and the frames of the mean and of the deepest stack. Where
 * the kernel allows no programs, it says so and ends with 0.
 *
 * usage: build/tests/bench/sample [SECONDS]	(5, of each)
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/array.h"
#include "providers/exits/shared.h"
#include "tests/bench/measure.h"
/* Needs the types above. */
#include "providers/exits/exits.skel.h"

#define PERIOD_NS 1000000
#define ROUND_NS 200000000

static atomic_int tid;
static atomic_bool is_over;
static volatile char byte;

static void spin(void)
{
	for (int i = 0; i < 10000; i++)
		atomic_signal_fence(memory_order_seq_cst);
}

static void read_file(const char *path)
{
	static char text[1 << 16];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd < 0 ? -errno : 0, NULL);
	while (read(fd, text, sizeof(text)) > 0)
		byte = text[0];
	close(fd);
}

static void read_maps(void)
{
	read_file("/proc/self/smaps");
}

static void write_file(void)
{
	static const char text[1 << 16];
	char path[] = "sample-XXXXXX";
	int fd = mkstemp(path);

	check(fd < 0 || unlink(path) < 0 ? -errno : 0, NULL);
	for (int i = 0; i < 16; i++)
		check(write(fd, text, sizeof(text)) == sizeof(text) ? 0 : -EIO, NULL);
	close(fd);
}

/* A packet to a socket of this machine: the kernel receives it while it sends it. */
static void send_packet(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(to);
	char text[64] = "";
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	check(fd < 0 || bind(fd, (struct sockaddr *)&to, size) < 0 ||
	      getsockname(fd, (struct sockaddr *)&to, &size) < 0 ? -errno : 0, NULL);
	for (int i = 0; i < 1000; i++) {
		if (sendto(fd, text, sizeof(text), 0, (struct sockaddr *)&to, size) > 0)
			check(recv(fd, text, sizeof(text), 0) > 0 ? 0 : -errno, NULL);
	}
	close(fd);
}

static const struct work {
	const char *name;
	void (*run)(void);
} works[] = {
	{ "spins in user space", spin },
	{ "reads its memory maps", read_maps },
	{ "writes a file", write_file },
	{ "sends packets", send_packet },
};

static void *stand_for_vcpu(void *arg)
{
	void (**work)(void) = arg;

	atomic_store(&tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&is_over))
		(*work)();
	return NULL;
}

static int load(struct exits_program **ret_program, struct error *error)
{
	struct exits_program *program = exits_program__open();
	struct bpf_program *each;
	int err;

	if (!program)
		return error_set(error, -errno, "no programs: %s", strerror(errno));
	bpf_object__for_each_program(each, program->obj)
		bpf_program__set_autoload(each, each == program->progs.on_sample);
	err = exits_program__load(program);
	if (err) {
		exits_program__destroy(program);
		return error_set(error, err, "no programs: %s", strerror(-err));
	}
	*ret_program = program;
	return 0;
}

struct runs {
	uint64_t ns, nr;
};

static struct runs runs_of(const struct exits_program *program)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	check(bpf_obj_get_info_by_fd(bpf_program__fd(program->progs.on_sample), &info, &size),
	      NULL);
	return (struct runs){ info.run_time_ns, info.run_cnt };
}

static double us_each(const struct runs *runs)
{
	return runs->nr ? (double)runs->ns / (double)runs->nr / 1e3 : 0;
}

/* Samples the thread for some seconds while it works. Returns the quietest round. */
static struct runs sample(const struct exits_program *program, int seconds)
{
	const struct timespec round = { .tv_nsec = ROUND_NS };
	struct runs before, now, quietest = { 0 };

	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, atomic_load(&tid), -1, -1,
				 PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	check(event < 0 ? -errno : 0, NULL);
	link = bpf_program__attach_perf_event(program->progs.on_sample, event);
	check(link ? 0 : -errno, NULL);
	before = runs_of(program);
	for (int64_t i = 0; i < seconds * INT64_C(1000000000) / ROUND_NS; i++) {
		struct runs here;

		nanosleep(&round, NULL);
		now = runs_of(program);
		here = (struct runs){ now.ns - before.ns, now.nr - before.nr };
		if (here.nr && (!quietest.nr || us_each(&here) < us_each(&quietest)))
			quietest = here;
		before = now;
	}
	bpf_link__destroy(link);
	return quietest;
}

static unsigned int frames_of(const struct exits_program *program, uint64_t stack)
{
	uint64_t at[EXITS_FRAMES] = { 0 };
	unsigned int nr = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(program->maps.stack_frames), &stack, at) != 0)
		return 0;
	while (nr < EXITS_FRAMES && at[nr])
		nr++;
	return nr;
}

static void print_frames(const struct exits_program *program)
{
	int fd = bpf_map__fd(program->maps.stack_sums);
	struct exits_stack_key key, *last = NULL;
	uint64_t samples = 0, sum = 0;
	struct exits_stack_sum of_key;
	unsigned int nr, most = 0;

	while (bpf_map_get_next_key(fd, last, &key) == 0) {
		last = &key;
		if (bpf_map_lookup_elem(fd, &key, &of_key) != 0)
			continue;
		nr = frames_of(program, key.kernel) + frames_of(program, key.user);
		samples += of_key.count;
		sum += nr * of_key.count;
		most = nr > most ? nr : most;
	}
	printf("%.1f frames, at most %u", samples ? (double)sum / (double)samples : 0, most);
}

static int run(const struct work *work, int seconds, struct error *error)
{
	const struct exits_absence none = { 0 };
	struct exits_program *program = NULL;
	void (*run_of)(void) = work->run;
	struct runs quietest, all;
	pthread_t thread;
	__u32 number;

	if (load(&program, error) < 0)
		return -1;
	atomic_store(&tid, 0);
	atomic_store(&is_over, false);
	check(-pthread_create(&thread, NULL, stand_for_vcpu, &run_of), NULL);
	while (!(number = (__u32)atomic_load(&tid)))
		sched_yield();
	check(bpf_map_update_elem(bpf_map__fd(program->maps.absences), &number, &none, BPF_ANY),
	      NULL);
	quietest = sample(program, seconds);
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	all = runs_of(program);
	printf("%s: %.2f us a sample, %.2f in all rounds (%llu samples; ", work->name,
	       us_each(&quietest), us_each(&all), (unsigned long long)all.nr);
	print_frames(program);
	puts(")");
	exits_program__destroy(program);
	return 0;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 5, counts = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct error error = { "" };

	libbpf_set_print(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(works) && counts >= 0; i++) {
		if (run(&works[i], seconds < 1 ? 1 : seconds, &error) < 0)
			break;
	}
	if (counts < 0 || error.text[0])
		printf("sample: not here: %s\n", error.text[0] ? error.text : strerror(-counts));
	return 0;
}
