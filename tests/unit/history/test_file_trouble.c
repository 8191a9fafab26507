// SPDX-License-Identifier: GPL-2.0-or-later
/* Trouble with a history file: foreign, locked, full, removed, damaged, killed, too large. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/unit/unit.h"
#include "tests/worlds/history_world.h"

static void says(const struct world *w, const char *part)
{
	if (!strstr(w->error.text, part))
		fail_msg("\"%s\" does not say \"%s\"", w->error.text, part);
}

static const char some_text[] = "Some text that is longer than the header of a database, and so "
				"on for a while, until there are a hundred bytes of it.\n";

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

static int open_reader(struct world *w, struct history_file **ret_file)
{
	w->error.text[0] = '\0';
	return history_file_open(w->path, ret_file, &w->error);
}

static void execute(const struct world *w, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Runs a function in a child; its result is the exit status. */
static int in_child(int (*function)(struct world *), struct world *w)
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0)
		_exit(function(w));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- files that are not ours */

TEST(files_of_others_stay_as_they_are, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	char text[64];

	assert_int_equal(open_reader(w, &reader), -ENOENT);
	says(w, "h.db: No such file");
	write_text(w->path, some_text);
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	says(w, "not a history file of kvmtop");
	assert_int_equal(open_writer(w), -EINVAL);
	says(w, "not a history file of kvmtop");
	assert_int_equal(size_of(w, ""), sizeof(some_text) - 1);

	assert_int_equal(unlink(w->path), 0);
	execute(w, "CREATE TABLE mine(x)");
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	assert_int_equal(open_writer(w), -EINVAL);
	says(w, "a database, but not a history file of kvmtop");
	query(w, "PRAGMA journal_mode", text, sizeof(text));
	assert_string_equal(text, "delete\n");
}

TEST(another_version_is_left_alone, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;

	begin_writer(w);
	add_many(w, 2);
	end_writer(w);
	execute(w, "PRAGMA user_version = 3");
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	assert_int_equal(open_writer(w), -EINVAL);
	says(w, "newer kvmtop (version 3 of the format, this one reads 2): update kvmtop");
	execute(w, "PRAGMA user_version = 1");
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	assert_int_equal(open_writer(w), -EINVAL);
	says(w, "an older kvmtop (version 1 of the format, this one reads 2): choose another file");
}

TEST(only_regular_files, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;

	assert_int_equal(mkdir(w->path, 0700), 0);
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	says(w, "not a regular file");
	assert_int_equal(open_writer(w), -EISDIR);
	assert_int_equal(rmdir(w->path), 0);
	assert_int_equal(mkfifo(w->path, 0600), 0);
	assert_int_equal(open_reader(w, &reader), -EINVAL);
	assert_int_equal(open_writer(w), -EINVAL);
	strcat(w->path, "/no/such");
	assert_int_equal(open_writer(w), -ENOTDIR);
	says(w, "Not a directory");
}

TEST(an_empty_file_is_taken, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;

	write_text(w->path, "");
	assert_int_equal(open_reader(w, &reader), -ENODATA);
	says(w, "nothing was written to it yet");
	begin_writer(w);
	add_many(w, 1);
	assert_int_equal(open_reader(w, &reader), 0);
	history_file_close(reader, NULL);
}

TEST(one_process_writes, setup, teardown)
{
	struct world *w = *state;
	struct history_file *first;

	begin_writer(w);
	first = w->file;
	assert_int_equal(open_writer(w), -EBUSY);
	says(w, "another kvmtop writes to it");
	assert_int_equal(history_file_close(first, NULL), 0);
	begin_writer(w);
	add_many(w, 1);
}

static int read_as_nobody(struct world *w)
{
	struct history_file *reader;
	uint64_t last;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 77;
	if (open_reader(w, &reader) != 0)
		return strstr(w->error.text, "-wal belongs to it") ? 2 : 1;
	return read_all(w, reader, &last) == 3 ? 0 : 1;
}

/* The folder, and nothing in it, can be written to by the one who reads. */
TEST(a_folder_without_permission_is_read, setup, teardown)
{
	struct world *w = *state;

	begin_writer(w);
	add_many(w, 3);
	assert_int_equal(chmod(w->folder, 0555), 0);
	assert_int_equal(in_child(read_as_nobody, w), 0);
	assert_int_equal(chmod(w->folder, 0755), 0);
	end_writer(w);
	assert_int_equal(chmod(w->folder, 0555), 0);
	assert_int_equal(in_child(read_as_nobody, w), 0);
	assert_int_equal(chmod(w->folder, 0755), 0);
}

/* A file of another user; -1: this needs root. */
static int give_away(const struct world *w)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	char path[96];
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(suffixes); i++) {
		snprintf(path, sizeof(path), "%s%s", w->path, suffixes[i]);
		err = chown(path, 65534, 65534);
	}
	return err;
}

/* The owner of a history cannot end its reader, which sees what is added. */
static int read_a_cut_one(struct world *w)
{
	struct history_file *reader = begin_reader(w);
	struct store store = history_file_store(reader);
	struct stored stored = { 0 };
	uint64_t last;
	char path[96];
	int fd;

	while (read_all(w, reader, &last) < 5) /* the parent adds more */
		usleep(1000);
	snprintf(path, sizeof(path), "%s-shm", w->path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) < 0)
		return 1;
	if (!store.type->step(store.state, 0, false, &stored, &w->error))
		return 2; /* an error, and no signal */
	return ftruncate(fd, 32768) < 0 || !store.type->step(store.state, 0, false, &stored,
							     &w->error);
}

TEST(the_owner_of_a_file_ends_no_reader, setup, teardown)
{
	static struct history_file *cut; /* it cannot be closed: its memory is cut, too */
	struct world *w = *state;
	pid_t child;
	int status;

	begin_writer(w);
	add_many(w, 3);
	if (give_away(w) < 0)
		skip();
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		alarm(60);
		_exit(read_a_cut_one(w));
	}
	usleep(50000);
	add_many(w, 2);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	cut = w->file;
	w->file = NULL;
	assert_non_null(cut);
}

static int write_and_die(struct world *w)
{
	begin_writer(w);
	add_many(w, 3);
	_exit(0);
}

TEST(a_log_without_its_index_is_not_left_out, setup, teardown)
{
	struct world *w = *state;
	char path[96];

	assert_int_equal(in_child(write_and_die, w), 0);
	snprintf(path, sizeof(path), "%s-shm", w->path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(chmod(w->folder, 0555), 0);
	assert_int_equal(in_child(read_as_nobody, w), 2);
	assert_int_equal(chmod(w->folder, 0755), 0);
}

static int write_as_nobody(struct world *w)
{
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 77;
	return open_writer(w) == -EACCES && strstr(w->error.text, "Permission denied") ? 0 : 1;
}

TEST(a_folder_without_permission_is_not_written, setup, teardown)
{
	struct world *w = *state;

	assert_int_equal(chmod(w->folder, 0555), 0);
	assert_int_equal(in_child(write_as_nobody, w), 0);
	assert_int_equal(chmod(w->folder, 0755), 0);
}

/* ---- a disk that fails: SQLite calls these instead of the system */

static int write_error; /* 0: none */

static ssize_t failing_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	if (!write_error)
		return pwrite(fd, bytes, size, offset);
	errno = write_error;
	return -1;
}

static void let_writes_fail(int error)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	write_error = error;
	vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)failing_pwrite);
	vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)failing_pwrite);
}

/* As when moments before the next one were lost. */
static void skip_to_totals(struct world *w)
{
	while (w->nr % RUN)
		make_up(w, 1, VMEXIT_HLT, 10);
}

static void check_failed(struct world *w, int error, const char *text)
{
	int err;

	skip_to_totals(w);
	let_writes_fail(error);
	make_up(w, 1, VMEXIT_HLT, 10);
	err = add(w);
	let_writes_fail(0);
	assert_int_equal(err, -error);
	says(w, text);
}

static int count_fields(void *arg, uint32_t id, const struct field *field)
{
	(void)id;
	(void)field;
	++*(int *)arg;
	return 0;
}

TEST(what_a_disk_refuses_is_tried_again, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct segment segment;
	struct store store;
	uint64_t last;
	int nr = 0, err;

	begin_writer(w);
	add_many(w, 2);
	check_failed(w, ENOSPC, "the disk is full: remove files, or lower --max-size");
	check_failed(w, EDQUOT, "the quota is used up");
	check_failed(w, EIO, "Input/output error");
	skip_to_totals(w);
	make_up(w, 1, VMEXIT_HLT, 10);
	/* What is taken next has totals, so that no total is wrong. */
	make_up(w, 1, VMEXIT_HLT, 10);
	assert_int_equal(add(w), -ESTALE);
	skip_to_totals(w);
	add_many(w, 3);
	reader = begin_reader(w);
	assert_int_equal(read_all(w, reader, &last), 5);
	assert_int_equal(last, w->nr - 1);
	history_file_close(reader, NULL);

	/* The first moment with the fields fails, and so does a notice. */
	end_writer(w);
	begin_writer(w);
	skip_to_totals(w);
	give_fields(w, 0, NR_FIELDS);
	check_failed(w, ENOSPC, "the disk is full");
	skip_to_totals(w);
	let_writes_fail(ENOSPC);
	err = history_file_sink(w->file).note(w->file, START, "x", &w->error);
	let_writes_fail(0);
	assert_int_equal(err, -ENOSPC);
	skip_to_totals(w);
	assert_int_equal(history_file_sink(w->file).note(w->file, START, "x", &w->error), 0);
	add_many(w, 1);
	reader = begin_reader(w);
	store = history_file_store(reader);
	assert_int_equal(store.type->fields(store.state, 0, count_fields, &nr, &w->error), 0);
	assert_int_equal(nr, NR_FIELDS);
	assert_int_equal(store.type->segment(store.state, 2, &segment, &w->error), 0);
	history_file_close(reader, NULL);
}

/* The file with a date in its name, that a writer has set aside. */
static void find_aside(const struct world *w, char *path, size_t size)
{
	DIR *folder = opendir(w->folder);
	struct dirent *entry = NULL;
	bool is_there = false;

	assert_non_null(folder);
	while (!is_there && (entry = readdir(folder)))
		is_there = strncmp(entry->d_name, "h.db.2", 6) == 0 &&
			   !strchr(entry->d_name + 6, 's') && !strchr(entry->d_name + 6, 'w');
	assert_true(is_there);
	snprintf(path, size, "%.40s/%.15s", w->folder, entry->d_name);
	closedir(folder);
}

/*
 * Half of a transaction is done when it fails. Tables that are not as they were made are no damage.
 */
TEST(nothing_is_left_of_half_a_moment, setup, teardown)
{
	struct world *w = *state;
	char text[64];

	begin_writer(w);
	execute(w, "DROP TABLE vcpu"); /* which comes after fields and guests */
	give_fields(w, 0, NR_FIELDS);
	make_up(w, 1, VMEXIT_HLT, 10);
	assert_int_equal(add(w), -EINVAL);
	says(w, "h.db: not as kvmtop makes it: no such table: ");
	query(w, "SELECT count(*) FROM sample UNION ALL SELECT count(*) FROM field", text,
	      sizeof(text));
	assert_string_equal(text, "0\n0\n");
}

/* A later kvmtop may add columns, as kvmtop-history(5) says. */
TEST(columns_may_be_added, setup, teardown)
{
	static const char *const tables[] = { "meta", "segment", "field", "guest", "vcpu", "sample",
					      "minute_row", "note", "clock" };
	struct world *w = *state;
	char text[64];

	begin_writer(w);
	end_writer(w);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		snprintf(text, sizeof(text), "ALTER TABLE %s ADD COLUMN later TEXT", tables[i]);
		execute(w, text);
	}
	begin_writer(w);
	assert_int_equal(history_file_sink(w->file).note(w->file, START, "x", &w->error), 0);
	add_many(w, 100);
	end_writer(w);
	query(w, "SELECT count(*) FROM sample", text, sizeof(text));
	assert_string_equal(text, "100\n");
}

/* A rule of another program's is no damage: the file stays where it is. */
TEST(rules_may_be_added, setup, teardown)
{
	struct world *w = *state;
	char text[64];

	begin_writer(w);
	add_many(w, 1);
	end_writer(w);
	execute(w, "CREATE UNIQUE INDEX only ON sample(id * 0)");
	begin_writer(w);
	skip_to_totals(w);
	make_up(w, 1, VMEXIT_HLT, 10);
	assert_int_equal(add(w), -EINVAL);
	says(w, "h.db: not as kvmtop makes it: UNIQUE constraint failed");
	query(w, "SELECT count(*) FROM sample", text, sizeof(text));
	assert_string_equal(text, "1\n");
}

static void check_stored(struct world *w, int nr)
{
	struct history_file *reader = begin_reader(w);
	uint64_t last;

	assert_int_equal(read_all(w, reader, &last), nr);
	history_file_close(reader, NULL);
}

static int fill(const char *path, off_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err = fd < 0 || posix_fallocate(fd, 0, size) ? -1 : 0;

	close(fd);
	return err;
}

static int write_beyond_ulimit(struct world *w)
{
	const struct rlimit low = { 65536, RLIM_INFINITY }, high = { RLIM_INFINITY, RLIM_INFINITY };
	int err = 0;

	signal(SIGXFSZ, SIG_IGN);
	begin_writer(w);
	add_many(w, 1);
	if (setrlimit(RLIMIT_FSIZE, &low) < 0)
		return 2;
	for (int i = 0; i < 1000 && !err; i++)
		err = add_next(w);
	if (err != -EFBIG || !strstr(w->error.text, "may not become larger: raise ulimit -f"))
		return 3;
	if (setrlimit(RLIMIT_FSIZE, &high) < 0)
		return 2;
	skip_to_totals(w);
	add_many(w, 1);
	end_writer(w);
	return 0;
}

TEST(ulimit_is_named, setup, teardown)
{
	assert_int_equal(in_child(write_beyond_ulimit, *state), 0);
}

/* Mounts a small disk in the folder; another program fills it, and makes room again. */
static int write_to_a_small_disk(struct world *w)
{
	char other[96];
	int err;

	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", w->folder, "tmpfs", 0, "size=4m,mode=755") < 0)
		return 77;
	begin_writer(w);
	add_many(w, 2);
	snprintf(other, sizeof(other), "%s.other", w->path);
	write_text(other, "");
	if (fill(other, 3 << 20) < 0)
		return 2;
	err = add_next(w);
	if (err != -ENOSPC || !strstr(w->error.text, "the disk is full"))
		return 3;
	if (unlink(other) < 0)
		return 2;
	skip_to_totals(w);
	add_many(w, 2);
	end_writer(w);
	check_stored(w, 4);
	return 0;
}

/* Where a disk may be full in the midst of a transaction, none begins. */
TEST(a_disk_that_is_nearly_full_is_left_alone, setup, teardown)
{
	int status = in_child(write_to_a_small_disk, *state);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* As ramfs, and tmpfs without a limit. */
static int write_to_a_disk_without_a_size(struct world *w)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", w->folder, "tmpfs", 0, "size=0,mode=755") < 0)
		return 77;
	begin_writer(w);
	if (add_next(w) != 0)
		return 3;
	end_writer(w);
	check_stored(w, 1);
	return 0;
}

TEST(a_disk_that_has_no_size_is_not_full, setup, teardown)
{
	int status = in_child(write_to_a_disk_without_a_size, *state);

	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

/* ---- a file that goes away while it is written */

static void check_made_anew(struct world *w)
{
	struct history_file *reader;
	char text[256];
	uint64_t last;
	int err = 0;

	/* Not before there are totals again; then with all fields and guests. */
	for (int i = 0; i < RUN && (err = add_next(w)) != 0; i++)
		assert_int_equal(err, -ESTALE);
	assert_int_equal(err, 0);
	add_many(w, 2);
	reader = begin_reader(w);
	assert_int_equal(read_all(w, reader, &last), 3);
	assert_int_equal(last, w->nr - 1);
	history_file_close(reader, NULL);
	query(w, "SELECT count(*) FROM field UNION ALL SELECT count(*) FROM guest", text,
	      sizeof(text));
	assert_string_equal(text, "4\n2\n");
	query(w, "SELECT text FROM note", text, sizeof(text));
	assert_string_equal(text, "the history file was removed or replaced: its samples are "
				  "missing here\n");
}

TEST(a_removed_file_is_made_anew, setup, teardown)
{
	struct world *w = *state;

	begin_writer(w);
	add_many(w, 3);
	assert_int_equal(unlink(w->path), 0);
	check_made_anew(w);
}

TEST(a_replaced_file_is_not_written_to, setup, teardown)
{
	struct world *w = *state;
	char other[96];

	begin_writer(w);
	add_many(w, 3);
	snprintf(other, sizeof(other), "%s.other", w->path);
	write_text(other, some_text);
	assert_int_equal(rename(other, w->path), 0);
	assert_int_equal(add_next(w), -EINVAL);
	says(w, "not a history file of kvmtop");
	assert_int_equal(size_of(w, ""), sizeof(some_text) - 1);
	assert_int_equal(unlink(w->path), 0);
	check_made_anew(w);
}

TEST(a_removed_log_loses_nothing, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	char log[96];
	uint64_t last;

	begin_writer(w);
	add_many(w, 3);
	snprintf(log, sizeof(log), "%s-wal", w->path);
	assert_int_equal(unlink(log), 0);
	while (w->nr % RUN)
		assert_int_equal(add_next(w), -ESTALE);
	add_many(w, 1);
	end_writer(w);
	reader = begin_reader(w);
	assert_int_equal(read_all(w, reader, &last), 4);
	history_file_close(reader, NULL);
}

/* ---- limits */

static void fill_with_limits(struct world *w, int nr)
{
	uint64_t most = 0;

	for (int i = 0; i < nr; i++) {
		uint64_t size;

		add_many(w, 1);
		size = size_of(w, "") + size_of(w, "-wal");
		most = most < size ? size : most;
	}
	if (w->limits.size && most > w->limits.size)
		fail_msg("the file had %llu bytes", (unsigned long long)most);
}

TEST(the_size_is_kept, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct stored first;
	struct store store;
	char text[128];
	uint64_t nr, last;

	w->limits.size = 8 << 20;
	w->part_size = 10000; /* and as much for histograms */
	begin_writer(w);
	fill_with_limits(w, 1500); /* 30 MB and more */
	reader = begin_reader(w);
	nr = read_all(w, reader, &last);
	assert_true(nr > 150 && nr < 400);
	assert_int_equal(last, w->nr - 1);
	/* What is left begins with totals; what belongs to what was dropped is gone, too. */
	store = history_file_store(reader);
	assert_int_equal(store.type->find(store.state, 0, &first, &w->error), 0);
	assert_true(first.flags & MOMENT_HAS_TOTALS);
	query(w, "SELECT min(time_ns) / 1000000000 - (SELECT min(time) FROM minute)"
		 " BETWEEN 0 AND 120 FROM sample", text, sizeof(text));
	assert_string_equal(text, "1\n");
	history_file_close(reader, NULL);
	/* Less is to be kept from now on: the file shrinks. */
	end_writer(w);
	w->limits.size = HISTORY_SIZE_LEAST;
	begin_writer(w);
	skip_to_totals(w);
	add_many(w, 200);
	assert_true(size_of(w, "") + size_of(w, "-wal") <= w->limits.size);
	/* There is room for a good part of that size. */
	fill_with_limits(w, 600);
	reader = begin_reader(w);
	nr = read_all(w, reader, &last);
	assert_true(nr > HISTORY_SIZE_LEAST / 3 / 20000);
	history_file_close(reader, NULL);
}

/* Many guests: one batch of what the next totals allow to drop is most of the limit. */
TEST(the_size_is_kept_of_large_samples, setup, teardown)
{
	struct world *w = *state;

	w->limits.size = HISTORY_SIZE_LEAST;
	w->part_size = 200000;
	w->asks = true;
	begin_writer(w);
	fill_with_limits(w, 60);
}

/* As a screen over a file does: it looks, and lets go, for as long as the file is written. */
TEST(a_reader_that_stays_open_does_not_keep_it_large, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct stored latest;
	struct store store;
	uint64_t before_ns = 0;

	w->limits.size = 8 << 20;
	w->part_size = 20000;
	begin_writer(w);
	fill_with_limits(w, 500);
	reader = begin_reader(w);
	store = history_file_store(reader);
	assert_true(size_of(w, "") > 6 << 20);
	end_writer(w);
	w->limits.size = 3 << 20;
	begin_writer(w);
	skip_to_totals(w);
	for (int i = 0; i < 200; i++) {
		add_many(w, 1);
		store.type->hold(store.state, true);
		assert_int_equal(store.type->find(store.state, UINT64_MAX, &latest, &w->error), 0);
		store.type->hold(store.state, false);
		assert_true(latest.time_ns > before_ns);
		before_ns = latest.time_ns;
	}
	assert_true(size_of(w, "") + size_of(w, "-wal") <= w->limits.size);
	history_file_close(reader, NULL);
}

TEST(the_age_is_kept, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	uint64_t nr, last, full;
	char text[128];

	w->limits.age_ns = 200 * SECOND;
	w->part_size = 20000;
	begin_writer(w);
	add_many(w, 1000);
	full = size_of(w, "");
	reader = begin_reader(w); /* open for long, without reading */
	nr = read_all(w, reader, &last);
	assert_true(nr >= 200 && nr <= 200 + 2 * RUN);
	/* With less to keep the file becomes smaller. */
	w->part_size = 1000;
	add_many(w, 1000);
	assert_true(size_of(w, "") < full / 2);
	nr = read_all(w, reader, &last);
	assert_true(nr >= 200 && nr <= 200 + 2 * RUN);
	/* Of another run, a day later, only that one is left. */
	end_writer(w);
	w->nr = 0;
	w->time_ns += 86400 * SECOND;
	w->monotonic_ns += 86400 * SECOND;
	begin_writer(w);
	add_many(w, RUN + 1);
	query(w, "SELECT (SELECT group_concat(id) FROM segment), (SELECT count(DISTINCT segment)"
		 " FROM field), (SELECT count(*) FROM guest), (SELECT min(segment) FROM sample),"
		 " (SELECT count(*) FROM minute_row WHERE time < (SELECT min(time_ns) FROM sample)"
		 " / 1000000000 - 120)", text, sizeof(text));
	assert_string_equal(text, "2|1|2|2|0\n");
	history_file_close(reader, NULL);
}

#define YEARS (UINT64_C(10) * 365 * 86400 * SECOND)

static void check_all_there(struct world *w, int nr_samples, const char *of_minutes)
{
	char text[64];

	check_stored(w, nr_samples);
	assert_int_equal(history_file_dropped(w->file), 0);
	query(w, "SELECT sum(count) FROM minute WHERE time < 1800000000", text, sizeof(text));
	assert_string_equal(text, of_minutes);
}

/* The age is counted by what was recorded: neither a jump nor a wrong clock drops anything. */
TEST(a_clock_that_is_set_drops_nothing, setup, teardown)
{
	struct world *w = *state;

	w->limits.age_ns = 1000 * SECOND;
	begin_writer(w);
	add_many(w, 100);
	w->time_ns += YEARS;
	add_many(w, 2 * RUN);
	w->time_ns -= YEARS;
	add_many(w, 100);
	check_all_there(w, 200 + 2 * RUN, "1630\n");
	end_writer(w);

	/* Another boot, which begins with a wrong clock; then one with a clock of 1970. */
	strcpy(w->segment.boot_id, "def");
	w->time_ns += YEARS;
	w->monotonic_ns = 10 * SECOND;
	skip_to_totals(w);
	begin_writer(w);
	add_many(w, 3 * RUN);
	check_all_there(w, 200 + 5 * RUN, "1990\n");
	w->time_ns = SECOND;
	add_many(w, 3 * RUN);
	check_stored(w, 200 + 8 * RUN);
	w->time_ns = START + 1000 * SECOND;
	add_many(w, 500);
	check_stored(w, 700 + 8 * RUN);
	/* What was recorded for long is dropped nevertheless, also what has times of the future. */
	add_many(w, 1000);
	assert_true(history_file_dropped(w->file) > 700);
	end_writer(w);
}

TEST(a_reader_that_never_ends_does_not_fill_the_disk, setup, teardown)
{
	struct world *w = *state;
	int err = 0;
	sqlite3 *db;

	w->limits.size = 16 << 20;
	w->part_size = 100000;
	begin_writer(w);
	add_many(w, 1);
	assert_int_equal(sqlite3_open(w->path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sample", NULL, NULL, NULL),
			 SQLITE_OK);
	for (int i = 0; i < 1000 && !err; i++)
		err = add_next(w);
	assert_int_equal(err, -EBUSY);
	says(w, "has been reading in one transaction");
	assert_true(size_of(w, "") + size_of(w, "-wal") < w->limits.size);
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	skip_to_totals(w);
	add_many(w, 1);
	sqlite3_close(db);
}

/* ---- several at once */

static int read_until_end(struct world *w)
{
	struct history_file *reader;
	uint64_t last = 0, nr;

	do {
		if (open_reader(w, &reader) != 0)
			return 1;
		nr = read_all(w, reader, &last);
		if (nr != last + 1)
			return 2;
		history_file_close(reader, NULL);
	} while (last < 299);
	return 0;
}

TEST(two_read_while_one_writes, setup, teardown)
{
	struct world *w = *state;
	pid_t children[2];
	int status;

	begin_writer(w);
	add_many(w, 1);
	for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0)
			_exit(read_until_end(w));
	}
	add_many(w, 299);
	for (size_t i = 0; i < ARRAY_SIZE(children); i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(w->nr, 300);
}

/* ---- kill -9 */

#define KILLS 10

/* Writes until it is killed, and says after each moment that it is in the file. */
static void write_for_ever(struct world *w, int told)
{
	if (open_writer(w) != 0)
		_exit(1);
	give_fields(w, 0, NR_FIELDS);
	for (;;) {
		uint64_t nr = w->nr;

		make_up(w, 1, VMEXIT_HLT, 10);
		if (add(w) != 0 || write(told, &nr, sizeof(nr)) != sizeof(nr))
			_exit(2);
	}
}

/* Raises the number of the last moment that is known to be in the file. */
static void write_and_kill(struct world *w, unsigned int seed, uint64_t *committed)
{
	struct timespec pause = { .tv_nsec = 3000000 + (long)(seed * 7919 % 20) * 1000000 };
	uint64_t nr;
	int told[2], status;
	pid_t child;

	w->nr += 2; /* the one that it did not tell of may be in the file */
	skip_to_totals(w);
	assert_int_equal(pipe(told), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		write_for_ever(w, told[1]);
	close(told[1]);
	if (seed % 2) /* others are killed at any moment, these when there is something to lose */
		assert_int_equal(read(told[0], committed, sizeof(nr)), sizeof(nr));
	nanosleep(&pause, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status)); /* it had no error */
	while (read(told[0], &nr, sizeof(nr)) == sizeof(nr))
		*committed = nr;
	close(told[0]);
	if (w->nr <= *committed)
		w->nr = *committed + 1;
}

TEST(nothing_is_lost_by_kill_9, setup, teardown)
{
	struct world *w = *state;
	uint64_t committed = 0, last, nr = 0;
	struct history_file *reader;
	char text[64];

	w->limits.size = 4 << 20;
	w->part_size = 2000;
	for (unsigned int i = 0; i < unit_rounds(KILLS); i++) {
		write_and_kill(w, i, &committed);
		if (i % 10 != 9)
			continue;
		reader = begin_reader(w);
		nr = read_all(w, reader, &last); /* each number once, ascending */
		assert_true(last >= committed);
		history_file_close(reader, NULL);
	}
	assert_true(nr > 0);
	query(w, "PRAGMA integrity_check", text, sizeof(text));
	assert_string_equal(text, "ok\n");
}

/* ---- damages */

#define DAMAGES 100

static unsigned char *read_file(const struct world *w, size_t *ret_size)
{
	FILE *in = fopen(w->path, "r");
	unsigned char *bytes;

	*ret_size = size_of(w, "");
	bytes = malloc(*ret_size);
	assert_non_null(in);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, *ret_size, in), *ret_size);
	fclose(in);
	return bytes;
}

static void write_file(const struct world *w, const unsigned char *bytes, size_t size)
{
	FILE *out = fopen(w->path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, size, out), size);
	assert_int_equal(fclose(out), 0);
}

/* Each is 0, or an error that says something; at most so many calls. */
static void check_result(const struct world *w, int err)
{
	if (err && err != -ENOENT && !strstr(w->error.text, "h.db"))
		fail_msg("%d: \"%s\"", err, w->error.text);
}

/* Reads all that can be read. Returns how many moments. */
static uint64_t try_all(struct world *w, struct history_file *reader)
{
	struct store store = history_file_store(reader);
	struct stored stored = { 0 };
	struct segment segment;
	struct guests *guests = guests_new(NULL);
	struct blob blob = { 0 };
	uint64_t id = 0, nr = 0;
	int err, fields = 0;

	for (int i = 0; i < 200; i++) {
		err = store.type->step(store.state, id, false, &stored, &w->error);
		check_result(w, err);
		if (err)
			break;
		id = stored.id;
		for (int part = 0; part < PART_GUESTS; part++) {
			err = store.type->read(store.state, id, (enum moment_part)part, &blob,
					       &w->error);
			check_result(w, err);
			nr += !err && part == PART_CHANGES;
		}
		check_result(w, store.type->guests(store.state, &stored, guests, &w->error));
		check_result(w, store.type->find_flagged(store.state, id, MOMENT_HAS_TOTALS,
							 &stored, &w->error));
	}
	check_result(w, store.type->find(store.state, START + 30 * SECOND, &stored, &w->error));
	check_result(w, store.type->fields(store.state, 0, count_fields, &fields, &w->error));
	check_result(w, store.type->segment(store.state, 1, &segment, &w->error));
	guests_free(guests);
	free(blob.bytes);
	return nr;
}

TEST(a_damaged_file_is_no_harm, setup, teardown)
{
	struct world *w = *state;
	size_t size, nr = unit_rounds(DAMAGES);
	unsigned char *whole, *bytes;
	uint64_t nr_read = 0;

	w->part_size = 700;
	begin_writer(w);
	add_many(w, 100);
	end_writer(w);
	whole = read_file(w, &size);
	bytes = malloc(size);
	assert_non_null(bytes);
	srand(4711); /* NOLINT(cert-msc32-c,cert-msc51-cpp): the same damages each time */
	for (size_t i = 0; i < nr; i++) {
		size_t kept = i % 10 ? size : (size_t)rand() % size;
		struct history_file *reader;
		int err;

		memcpy(bytes, whole, size);
		for (int k = rand() % 16; k >= 0; k--)
			bytes[(size_t)rand() % (i % 3 ? size : 4096)] = (unsigned char)rand();
		write_file(w, bytes, kept);
		err = open_reader(w, &reader);
		check_result(w, err);
		if (!err) {
			nr_read += try_all(w, reader);
			history_file_close(reader, NULL);
		}
		if (i % 20 != 1)
			continue;
		err = open_writer(w);
		check_result(w, err);
		if (!err) {
			w->nr = 1000 * RUN;
			check_result(w, add_next(w));
			history_file_close(w->file, &w->error);
			w->file = NULL;
		}
	}
	/* Most damages leave most moments readable. */
	assert_true(nr_read > nr * 100 / 2);
	free(bytes);
	free(whole);
}

/* In a leaf of a table: the byte with the id of a row, a small one; NULL: it is not there. */
static unsigned char *find_id(unsigned char *page, unsigned char id)
{
	size_t nr = page[0] == 13 ? (size_t)page[3] << 8 | page[4] : 0;

	for (size_t i = 0; i < nr; i++) {
		unsigned char *cell = page + ((size_t)page[8 + 2 * i] << 8 | page[9 + 2 * i]);

		while (*cell & 128) /* the size of the row */
			cell++;
		if (cell[1] == id)
			return cell + 1;
	}
	return NULL;
}

/* Goes through the file from the end. At most nr steps, or a step came back to where it was. */
static int walk_ends(struct world *w, bool is_back, int nr)
{
	struct history_file *reader = begin_reader(w);
	struct store store = history_file_store(reader);
	struct stored at = { .id = is_back ? 1000 : 0 };
	int err = 0;

	for (int i = 0; !err && i <= nr; i++)
		err = store.type->step(store.state, at.id, is_back, &at, &w->error);
	history_file_close(reader, NULL);
	return err;
}

/* A search in a page whose ids are out of order finds the same rows again and again. */
TEST(ids_ascend_at_every_step, setup, teardown)
{
	static const unsigned char ids[] = { 1, 7, 50, 99, 100, 126 };
	struct world *w = *state;
	size_t size;
	unsigned char *bytes;
	int nr_damaged = 0;

	begin_writer(w);
	add_many(w, 100);
	end_writer(w);
	bytes = read_file(w, &size);
	for (size_t i = 0; i < 90 * ARRAY_SIZE(ids); i++) {
		unsigned char id = (unsigned char)(5 + i / ARRAY_SIZE(ids)), *at = NULL;

		for (size_t page = 4096; page < size && !at; page += 4096)
			at = find_id(bytes + page, id);
		assert_non_null(at);
		*at = ids[i % ARRAY_SIZE(ids)];
		write_file(w, bytes, size);
		*at = id;
		for (int is_back = 0; is_back < 2; is_back++) {
			int err = walk_ends(w, is_back, 100);

			assert_true(err == -EBADMSG || err == -ENOENT);
			nr_damaged += err == -EBADMSG;
		}
	}
	assert_true(nr_damaged > 0);
	free(bytes);
}

enum damage {
	DAMAGE_PAGES,
	DAMAGE_CUT,
	DAMAGE_LAST_ID,
	DAMAGE_LAST_SEGMENT,
	DAMAGE_FIELD_ID,
	DAMAGE_NEXT_FIELD,
	DAMAGES_KINDS
};

static void damage(struct world *w, enum damage kind)
{
	static const char *const statements[DAMAGES_KINDS] = {
		[DAMAGE_LAST_ID] = "UPDATE sample SET id = 9223372036854775807 WHERE id = 20",
		[DAMAGE_LAST_SEGMENT] = "UPDATE segment SET id = 4294967295",
		[DAMAGE_FIELD_ID] = "UPDATE field SET id = 20000000 WHERE id = 3",
		[DAMAGE_NEXT_FIELD] =
			"DELETE FROM field; UPDATE sqlite_sequence SET seq = 4294967296",
	};
	size_t size;
	unsigned char *bytes = read_file(w, &size);

	if (kind == DAMAGE_PAGES)
		memset(bytes + 8192, 0xff, size - 8192);
	if (kind == DAMAGE_PAGES || kind == DAMAGE_CUT)
		write_file(w, bytes, kind == DAMAGE_CUT ? 5000 : size);
	else
		execute(w, statements[kind]);
	free(bytes);
}

/* It is met at once, or when a sample is written; the samples after it are in a new file. */
TEST(a_damaged_file_is_set_aside, setup, teardown)
{
	struct world *w = *state;
	char path[96];

	for (enum damage kind = DAMAGE_PAGES; kind < DAMAGES_KINDS; kind++) {
		int nr_failed = 0;

		w->nr = 0;
		begin_writer(w);
		add_many(w, 20);
		end_writer(w);
		damage(w, kind);
		skip_to_totals(w);
		begin_writer(w);
		give_fields(w, 0, NR_FIELDS);
		for (int i = 0; i < 3 * RUN; i++)
			nr_failed += add_next(w) != 0;
		assert_true(nr_failed <= RUN);
		end_writer(w);
		find_aside(w, path, sizeof(path));
		assert_int_equal(unlink(path), 0);
		check_stored(w, 3 * RUN - nr_failed);
		assert_int_equal(unlink(w->path), 0);
	}
}

/* Readers have a table by id, and a damaged id must not make it larger than the memory. */
TEST(an_id_that_no_field_has_is_damage, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct store store;
	int nr = 0;

	begin_writer(w);
	add_many(w, 3);
	end_writer(w);
	execute(w, "UPDATE field SET id = 2000000000 WHERE id = 3");
	assert_int_equal(open_reader(w, &reader), 0);
	store = history_file_store(reader);
	assert_int_equal(store.type->fields(store.state, 0, count_fields, &nr, &w->error),
			 -EBADMSG);
	says(w, "h.db: damaged");
	history_file_close(reader, NULL);
}

TEST(a_sample_of_no_segment_is_damage, setup, teardown)
{
	struct world *w = *state;
	struct history_file *reader;
	struct stored stored;
	struct store store;

	begin_writer(w);
	add_many(w, 3);
	end_writer(w);
	execute(w, "UPDATE sample SET segment = 0 WHERE id = 2");
	assert_int_equal(open_reader(w, &reader), 0);
	store = history_file_store(reader);
	assert_int_equal(store.type->step(store.state, 0, false, &stored, &w->error), 0);
	assert_int_equal(store.type->step(store.state, stored.id, false, &stored, &w->error),
			 -EBADMSG);
	says(w, "h.db: damaged");
	history_file_close(reader, NULL);
}

/* Who reads a file is told when another one has its name, or none. */
TEST(a_file_that_goes, setup, teardown)
{
	struct world *w = *state;
	struct history_file *file;
	struct store store;
	char other[100];

	begin_writer(w);
	add_many(w, 3);
	end_writer(w);
	file = begin_reader(w);
	store = history_file_store(file);
	assert_int_equal(store.type->check(store.state, &w->error), 0);
	snprintf(other, sizeof(other), "%s/other.db", w->folder);
	assert_int_equal(rename(w->path, other), 0);
	assert_int_equal(store.type->check(store.state, &w->error), -ESTALE);
	assert_non_null(strstr(w->error.text, " was removed: this is what it had"));
	begin_writer(w); /* a new one */
	end_writer(w);
	assert_int_equal(store.type->check(store.state, &w->error), -ESTALE);
	assert_non_null(strstr(w->error.text, " was replaced: this is the former file"));
	assert_int_equal(rename(other, w->path), 0);
	assert_int_equal(store.type->check(store.state, &w->error), 0);
	history_file_close(file, NULL);
}
