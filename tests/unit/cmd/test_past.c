// SPDX-License-Identifier: GPL-2.0-or-later
/* `kvmtop -r` of files that are damaged: every mode ends, in time, whatever the bytes are. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"
#include "cmd/command.h"
#include "history/file.h"
#include "history/past.h"
#include "core/monitor.h"
#include "core/views/query.h"
#include "core/views/view.h"
#include "tests/unit/unit.h"

#define NR_SAMPLES "25"
#define DAMAGES 10
#define LIMIT_S 20 /* of one mode */
#define STEPS 30

static const char *const modes[][8] = {
	{ "-1" },
	{ "-1", "--view", "exits", "--json" },
	{ "-1", "--view", "why" },
	{ "-1", "--from", "-40s", "--to", "-1s", "--view", "vcpus", "--json" },
	{ "-l" },
	{ "-l", "--json", "--view", "host", "--from", "-5s" },
	{ "-l", "-c", "--view", "hotspots", "--from", "-60s" },
	{ "-l", "--csv", "--to", "-1s" },
	{ "-l", "-z", "--view", "guests" },
	{ "-1", "--view", "long" },
	{ "--diff", "-30s..-2s", "--from", "-2s" },
	{ "-f", "help" },
};

/* A history that the program writes, of the captured machine. */
static unsigned char *make_history(char *path, size_t *ret_size)
{
	char words[][20] = { "kvmtop", "--sysroot", "tests/sysroot/amd", "-s", "0.1", "-n",
			     NR_SAMPLES, "-w" };
	char *argv[ARRAY_SIZE(words) + 2] = { NULL };
	pid_t child = fork();
	unsigned char *bytes;
	struct stat st;
	int status;
	FILE *in;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		argv[i] = words[i];
	argv[ARRAY_SIZE(words)] = path;
	assert_true(child >= 0);
	if (child == 0)
		_exit(command_main(ARRAY_SIZE(argv) - 1, argv));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fstat(fileno(in), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, in), st.st_size);
	fclose(in);
	*ret_size = (size_t)st.st_size;
	return bytes;
}

static size_t below(size_t n)
{
	return (size_t)rand() % n; /* NOLINT(cert-msc30-c,cert-msc50-cpp): the same each time */
}

/* Bytes, the head of a page, or whole pages; some files are cut, too. Returns the new size. */
static size_t damage(unsigned char *bytes, const unsigned char *whole, size_t size, size_t i)
{
	size_t pages = size / 4096;

	for (size_t k = below(6) + 1; k; k--) {
		unsigned char *page = bytes + below(pages) * 4096;

		if (i % 4 == 0)
			memcpy(page, whole + below(pages) * 4096, 4096);
		else if (i % 4 == 1)
			page[below(64)] = (unsigned char)rand();
		else
			bytes[below(size)] = (unsigned char)rand();
	}
	return i % 10 ? size : below(size);
}

static void write_file(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

/* What the keys of the screen do: to the end, back, forward, curves. */
static void step(struct past *past, const struct query *query, struct monitor *monitor)
{
	const struct key subject = { GUEST_ALL, -1, 0 };
	const struct series_span span = { .nr = 60, .nr_after = 5, .has_times = true };
	struct series series = { .nr = 0 };
	struct error error = { "" };

	for (int i = 0; i < 2 * STEPS; i++) {
		int err = past_step(past, i < STEPS, &error);

		if (!err)
			err = monitor_want(monitor, query, &error);
		if (!err)
			monitor_sample(monitor);
		if (!err && i % 10 == 0)
			(void)past_series(past, &subject, i % 20, &span, &series, &error);
	}
	free(series.points);
}

static void walk(const char *path)
{
	const struct query query = { .type = &view_exits };
	struct monitor_config config = { .list = history_players, .counts_all = true };
	struct history_file *file;
	struct monitor *monitor = NULL;
	struct past *past = NULL;
	struct error error = { "" };

	if (history_file_open(path, &file, &error) < 0)
		return;
	past = past_new(history_file_store(file), NULL);
	if (past_go(past, UINT64_MAX, &error) == 0) {
		config.recording = (struct monitor_recording){
			.recording = &past,
			.guests = past_guests(past),
		};
		if (monitor_open(&config, &monitor, &error) == 0)
			step(past, &query, monitor);
		monitor_close(monitor);
	}
	past_free(past);
	history_file_close(file, &error);
}

static int run_mode(size_t mode, char *path)
{
	char program[] = "kvmtop", option[] = "-r", words[8][16];
	char *argv[12] = { program, option, path };
	int argc = 3;

	if (mode == ARRAY_SIZE(modes)) {
		walk(path);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(modes[mode]) && modes[mode][i]; i++) {
		snprintf(words[i], sizeof(words[i]), "%s", modes[mode][i]);
		argv[argc++] = words[i];
	}
	optind = 0;
	return command_main(argc, argv);
}

/* Each mode's status is 0 or 1, as damage is no usage error. The child ends with its number. */
static void run_modes(char *path)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		_exit(100);
	for (size_t mode = 0; mode <= ARRAY_SIZE(modes); mode++) {
		alarm(LIMIT_S);
		if (run_mode(mode, path) > 1)
			_exit((int)mode + 1);
	}
	_exit(0);
}

TEST(every_mode_ends)
{
	size_t size, nr = unit_rounds(DAMAGES);
	char folder[] = "/tmp/kvmtop-damages.XXXXXX", path[64];
	unsigned char *whole, *bytes;
	int status;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/h.db", folder);
	whole = make_history(path, &size);
	bytes = malloc(size);
	assert_non_null(bytes);
	srand(4711); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same damages each time */
	for (size_t i = 0; i < nr; i++) {
		pid_t child;

		memcpy(bytes, whole, size);
		write_file(path, bytes, damage(bytes, whole, size, i));
		child = fork();
		assert_true(child >= 0);
		if (child == 0)
			run_modes(path);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (status)
			fail_msg("damage %zu: status 0x%x; the file is kept: %s", i, status, path);
	}
	unlink(path);
	rmdir(folder);
	free(bytes);
	free(whole);
}
