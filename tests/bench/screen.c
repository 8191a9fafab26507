// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * screen - runs a program on a terminal of its own and measures what its user and its host notice.
 *
 * Usage: screen MARK INTERVAL COMMAND [ARG ...]
 *
 * Prints one line: milliseconds to the first frame, CPU milliseconds per refresh, kilobytes of
 * resident memory, descriptors, milliseconds from q to the end of the process.
 *
 * Usage: screen -k KEYS MARK COMMAND [ARG ...]
 *
 * Prints milliseconds to the first frame, CPU milliseconds until then, and of each of the keys the
 * CPU milliseconds until its frame comes. What the program prepares when it has nothing else to do
 * is not in them. KEYS has words: "t t j 30m": what is typed at once; a dot is Enter.
 *
 * MARK is a text of the first frame, INTERVAL the refresh interval that the command uses, in s.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAME_TIMEOUT_MS 20000
#define SETTLE_MS 1500 /* the first refreshes are not like the others */
#define MEASURE_MS 4000
#define QUIT_TIMEOUT_MS 15000
#define QUIET_MS 50 /* without CPU time and output: what a key does is done */

struct session {
	pid_t pid;
	int terminal;
	char seen[1 << 16]; /* what came before the mark */
	size_t len;
};

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "screen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void start(struct session *session, char **argv)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };

	session->pid = forkpty(&session->terminal, NULL, NULL, &size);
	if (session->pid < 0)
		die("forkpty");
	if (session->pid == 0) {
		setenv("TERM", "xterm-256color", 1);
		execvp(argv[0], argv);
		_exit(127);
	}
}

/* Takes what the program draws, for at most so long. False: it has closed the terminal. */
static bool drain(struct session *session, int timeout_ms)
{
	struct pollfd fd = { .fd = session->terminal, .events = POLLIN };
	char buf[4096];
	ssize_t n;

	if (poll(&fd, 1, timeout_ms) <= 0)
		return true;
	n = read(session->terminal, buf, sizeof(buf));
	if (n <= 0)
		return false;
	if (session->len + (size_t)n < sizeof(session->seen)) {
		memcpy(session->seen + session->len, buf, (size_t)n);
		session->len += (size_t)n;
	}
	return true;
}

static double wait_frame(struct session *session, const char *mark, double began)
{
	while (!memmem(session->seen, session->len, mark, strlen(mark))) {
		if (!drain(session, 100) || now_ms() - began > FRAME_TIMEOUT_MS) {
			fprintf(stderr, "screen: no \"%s\" in: %.*s\n", mark, (int)session->len,
				session->seen);
			exit(1);
		}
	}
	return now_ms() - began;
}

static void watch(struct session *session, double ms)
{
	double end = now_ms() + ms;

	while (now_ms() < end)
		drain(session, (int)(end - now_ms()) + 1);
}

/* CPU time of all threads in ns, from schedstat: what utime and stime round to ticks. */
static double cpu_ms(pid_t pid)
{
	char path[300];
	struct dirent *entry;
	double sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		unsigned long long ns;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (file && fscanf(file, "%llu", &ns) == 1)
			sum += (double)ns / 1e6;
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

/* Waits until the program does nothing. Returns its CPU time. */
static double wait_quiet(struct session *session)
{
	double before, now = cpu_ms(session->pid);

	do {
		before = now;
		watch(session, QUIET_MS);
		now = cpu_ms(session->pid);
	} while (now > before);
	return now;
}

static long rss_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "VmRSS: %ld", &kb);
	if (file)
		fclose(file);
	return kb;
}

static int count_fds(pid_t pid)
{
	char path[64];
	int n = -2; /* . and .. */
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	while (fds && readdir(fds))
		n++;
	if (fds)
		closedir(fds);
	return n;
}

static double quit(struct session *session)
{
	double began = now_ms();
	int status;

	if (write(session->terminal, "q", 1) != 1)
		die("write");
	while (waitpid(session->pid, &status, WNOHANG) == 0) {
		if (now_ms() - began > QUIT_TIMEOUT_MS) {
			kill(session->pid, SIGKILL);
			waitpid(session->pid, &status, 0);
			break;
		}
		drain(session, 1);
	}
	return now_ms() - began;
}

static void type(struct session *session, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (write(session->terminal, word[i] == '.' ? "\r" : word + i, 1) != 1)
			die("write");
	}
}

static int measure_keys(const char *keys, const char *mark, char **argv)
{
	static struct session session;
	double began = now_ms(), before;

	start(&session, argv);
	printf("%.1f", wait_frame(&session, mark, began));
	printf(" %.1f", cpu_ms(session.pid));
	before = wait_quiet(&session);
	for (size_t len; *keys; keys += len) {
		keys += strspn(keys, " ");
		len = strcspn(keys, " ");
		type(&session, keys, len);
		drain(&session, FRAME_TIMEOUT_MS);
		printf(" %.1f", cpu_ms(session.pid) - before);
		before = wait_quiet(&session);
	}
	putchar('\n');
	quit(&session);
	return 0;
}

static int measure(const char *mark, double interval_s, char **argv)
{
	static struct session session;
	double began = now_ms(), frame, cpu;

	start(&session, argv);
	frame = wait_frame(&session, mark, began);
	watch(&session, SETTLE_MS);
	cpu = cpu_ms(session.pid);
	watch(&session, MEASURE_MS);
	cpu = (cpu_ms(session.pid) - cpu) / (MEASURE_MS / 1e3 / interval_s);
	printf("%.1f %.3f %ld %d ", frame, cpu, rss_kb(session.pid), count_fds(session.pid));
	printf("%.1f\n", quit(&session));
	return 0;
}

int main(int argc, char **argv)
{
	bool has_keys = argc > 1 && strcmp(argv[1], "-k") == 0;

	if (argc < 4 + has_keys) {
		fprintf(stderr, "usage: screen MARK INTERVAL COMMAND [ARG ...]\n"
				"       screen -k KEYS MARK COMMAND [ARG ...]\n");
		return 2;
	}
	return has_keys ? measure_keys(argv[2], argv[3], argv + 4) :
			  measure(argv[1], atof(argv[2]), argv + 3);
}
