// SPDX-License-Identifier: GPL-2.0-or-later
/* Files to write to: which links, names and owners are used, and how files are set aside. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/output.h"
#include "tests/unit/unit.h"

#define STRANGER 54321 /* another user */
#define DAY 1790000000 /* in 2026-09-21 UTC */

static char folder[64];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kvmtop-output.XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return chdir("/") < 0 || system(command); /* NOLINT(cert-env33-c) */
}

static void make(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool has(const char *path, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	if (!fgets(found, sizeof(found), file))
		found[0] = '\0';
	fclose(file);
	return strcmp(found, text) == 0;
}

/* Writes a word to the path. 0, or the error. */
static int write_to(const char *path)
{
	struct error error = { "" };
	int fd = output_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644, &error);

	if (fd < 0) {
		assert_true(error.text[0] != '\0');
		return fd;
	}
	assert_int_equal(write(fd, "word", 4), 4);
	close(fd);
	return 0;
}

TEST(links_of_ours_are_followed, setup, teardown)
{
	assert_int_equal(mkdir("real", 0755), 0);
	assert_int_equal(symlink("real", "way"), 0);
	assert_int_equal(symlink("../file", "real/link"), 0);
	assert_int_equal(write_to("way/link"), 0);
	assert_true(has("file", "word"));
	assert_int_equal(write_to("./way//new"), 0);
	assert_true(has("real/new", "word"));
}

TEST(a_link_to_the_root_is_a_folder, setup, teardown)
{
	char path[128];

	assert_int_equal(symlink("/", "root"), 0);
	assert_int_equal(symlink("root//", "way"), 0);
	snprintf(path, sizeof(path), "way%s/file", folder);
	assert_int_equal(write_to(path), 0);
	assert_true(has("file", "word"));
	assert_int_equal(write_to("root"), -EISDIR);
}

/* In a child, which cannot be rid of the filter. */
static int without_openat2(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned int)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int write_without_openat2(int err)
{
	char path[128];
	int failed;

	if (without_openat2(err))
		return 2;
	snprintf(path, sizeof(path), "%s/real/../way/absolute", folder);
	failed = write_to("way/link") || write_to("plain") || write_to(path);
	return failed || write_to("nowhere/file") != -ENOENT;
}

TEST(kernels_without_openat2, setup, teardown)
{
	static const int errors[] = { ENOSYS, EPERM };

	assert_int_equal(mkdir("real", 0755), 0);
	assert_int_equal(symlink("real", "way"), 0);
	assert_int_equal(symlink("../file", "real/link"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (!child)
			_exit(write_without_openat2(errors[i]));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		assert_true(has("file", "word"));
		assert_true(has("plain", "word"));
		assert_true(has("real/absolute", "word"));
		assert_int_equal(unlink("file") | unlink("plain") | unlink("real/absolute"), 0);
	}
}

TEST(as_many_links_as_the_kernel_follows, setup, teardown)
{
	char from[16], to[16];

	make("0", "");
	for (int i = 1; i <= 41; i++) {
		snprintf(from, sizeof(from), "%d", i - 1);
		snprintf(to, sizeof(to), "%d", i);
		assert_int_equal(symlink(from, to), 0);
	}
	assert_int_equal(write_to("40"), 0);
	assert_true(has("0", "word"));
	assert_int_equal(write_to("41"), -ELOOP);
	assert_int_equal(symlink("self", "self"), 0);
	assert_int_equal(write_to("self"), -ELOOP);
	assert_int_equal(write_to("self/file"), -ELOOP);
}

TEST(names_that_are_none, setup, teardown)
{
	char name[NAME_MAX + 2], path[PATH_MAX + 2];

	memset(name, 'x', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	assert_int_equal(write_to(name), -ENAMETOOLONG);
	name[NAME_MAX] = '\0';
	assert_int_equal(write_to(name), 0);
	memset(path, '/', sizeof(path));
	strcpy(path + PATH_MAX - 1, "x");
	assert_int_equal(write_to(path), -ENAMETOOLONG);
	assert_int_equal(write_to(""), -ENOENT);
	assert_int_equal(write_to("nowhere/file"), -ENOENT);
	assert_int_equal(write_to("new/"), -EISDIR);
	assert_int_equal(write_to("."), -EISDIR);
	assert_false(exists("new"));
}

TEST(what_others_made, setup, teardown)
{
	if (geteuid() != 0) {
		print_message("only root can make files of others\n");
		skip();
	}
	make("theirs", "theirs");
	make("ours", "ours");
	assert_int_equal(chown("theirs", STRANGER, 0), 0);
	assert_int_equal(write_to("theirs"), -EPERM);
	assert_true(has("theirs", "theirs"));

	/* A link of theirs here, and one of ours in a folder of theirs. */
	assert_int_equal(symlink("ours", "trap"), 0);
	assert_int_equal(lchown("trap", STRANGER, 0), 0);
	assert_int_equal(write_to("trap"), -ELOOP);
	assert_int_equal(mkdir("house", 0755), 0);
	assert_int_equal(symlink("../ours", "house/link"), 0);
	assert_int_equal(chown("house", STRANGER, 0), 0);
	assert_int_equal(write_to("house/link"), -ELOOP);
	assert_int_equal(symlink(".", "house/up"), 0);
	assert_int_equal(write_to("house/up/file"), -ELOOP);

	/* A second name is refused where another user may have given it. */
	assert_int_equal(link("ours", "house/ours"), 0);
	assert_int_equal(write_to("house/ours"), -EPERM);
	assert_true(has("ours", "ours"));
	assert_int_equal(write_to("ours"), 0);

	/* A pipe is refused where all may write. */
	assert_int_equal(mkfifo("pipe", 0666), 0);
	assert_int_equal(chown("pipe", STRANGER, 0), 0);
	assert_int_equal(output_check("pipe", NULL), 0);
	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(output_check("pipe", NULL), -EPERM);
}

TEST(a_check_makes_nothing, setup, teardown)
{
	struct error error = { "" };

	make("old", "old");
	assert_int_equal(output_check("new", &error), 0);
	assert_false(exists("new"));
	assert_int_equal(output_check("old", &error), 0);
	assert_true(has("old", "old"));
	assert_int_equal(output_check("nowhere/new", &error), -ENOENT);
	assert_int_equal(output_check(".", &error), -EISDIR);
}

TEST(the_path_without_links, setup, teardown)
{
	struct output output;
	char expected[96], *path;

	assert_int_equal(mkdir("real", 0755), 0);
	assert_int_equal(symlink("real", "way"), 0);
	assert_int_equal(output_find("way/new", &output, NULL), 0);
	path = output_path(&output);
	snprintf(expected, sizeof(expected), "%s/real/new", folder);
	assert_string_equal(path, expected);
	free(path);
	output_release(&output);
	assert_int_equal(output_find("/new", &output, NULL), 0);
	path = output_path(&output);
	assert_string_equal(path, "/new");
	free(path);
	output_release(&output);
}

static void make_old(const char *path, const char *text)
{
	const struct timespec times[2] = { { .tv_sec = DAY }, { .tv_sec = DAY } };

	make(path, text);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* By the day of their last change, and a number; what belongs to a file goes with it. */
TEST(files_are_set_aside, setup, teardown)
{
	static const char *const suffixes[] = { "-wal", "-shm", NULL };
	struct error error = { "" };

	assert_int_equal(setenv("TZ", "UTC", 1), 0);
	make_old("h.db", "first");
	make("h.db-wal", "its log");
	assert_int_equal(output_set_aside("h.db", suffixes, &error), 0);
	assert_string_equal(error.text, "renamed to h.db.2026-09-21");
	assert_true(has("h.db.2026-09-21", "first"));
	assert_true(has("h.db.2026-09-21-wal", "its log"));
	assert_false(exists("h.db") || exists("h.db-wal") || exists("h.db.2026-09-21-shm"));
	for (int i = 1; i < 100; i++) {
		make_old("h.db", "next");
		assert_int_equal(output_set_aside("h.db", suffixes, &error), 0);
	}
	assert_string_equal(error.text, "renamed to h.db.2026-09-21.99");
	assert_true(has("h.db.2026-09-21", "first"));

	/* There is no end of days on which it is 100 times. */
	make_old("h.db", "one more");
	assert_int_equal(output_set_aside("h.db", suffixes, &error), -EEXIST);
	assert_string_equal(error.text, "cannot rename it: File exists");
	assert_true(has("h.db", "one more"));
	assert_int_equal(output_set_aside("nothing", suffixes, &error), -ENOENT);
}

TEST(an_input_is_no_output, setup, teardown)
{
	const char *const inputs[] = { "other", NULL, "in", "dir" };

	assert_int_equal(mkdir("dir", 0755), 0);
	make("other", "");
	make("in", "");
	make("dir/part", "");
	assert_int_equal(link("in", "second"), 0);
	assert_int_equal(symlink("in", "link"), 0);
	assert_string_equal(output_find_input("in", inputs, ARRAY_SIZE(inputs)), "in");
	assert_string_equal(output_find_input("second", inputs, ARRAY_SIZE(inputs)), "in");
	assert_string_equal(output_find_input("link", inputs, ARRAY_SIZE(inputs)), "in");
	assert_string_equal(output_find_input("dir/part", inputs, ARRAY_SIZE(inputs)), "dir");
	assert_null(output_find_input("dir/new", inputs, ARRAY_SIZE(inputs)));
	assert_null(output_find_input("in", inputs, 2));
	assert_null(output_find_input(NULL, inputs, ARRAY_SIZE(inputs)));
}
