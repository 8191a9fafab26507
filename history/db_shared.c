// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite's usual VFS, but for some methods of the open file and of its log. Each database has
 * a VFS of its own, which these methods find from the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/array.h"
#include "history/db_shared.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define ROOM_BLOCKS 1024 /* a disk with so many is not full */

/* From <linux/magic.h>, and two that are not in it. */
#define BTRFS_MAGIC 0x9123683eu
#define F2FS_MAGIC 0xf2f52010u
#define BCACHEFS_MAGIC 0xca451a4eu
#define ZFS_MAGIC 0x2fc12fc1u

/* A piece of the memory. */
struct region {
	void *at; /* the begin of a page */
	size_t size;
};

/* Methods of an open file. */
struct methods {
	sqlite3_io_methods ours;
	const sqlite3_io_methods *usual;
	struct db_shared *shared;
};

struct db_shared {
	sqlite3_vfs vfs;
	char name[32];
	sqlite3_vfs *usual;
	struct methods database, log; /* SQLite does not lock the log: they differ */
	const char *path; /* of the database; SQLite's, as long as it is open */
	bool writes_elsewhere; /* the file system does */
	bool only_looks;
	struct region *regions;
	size_t nr, room;
	volatile sig_atomic_t is_lost;
};

/* For the signal handler, which runs in the thread that had the error. */
static _Thread_local struct db_shared *in_use;

static bool writes_elsewhere(const char *path)
{
	struct statfs disk;
	uint32_t type = path && statfs(path, &disk) == 0 ? (uint32_t)disk.f_type : 0;

	return type == BTRFS_MAGIC || type == F2FS_MAGIC || type == BCACHEFS_MAGIC ||
	       type == ZFS_MAGIC;
}

/* No error says whether the disk is full, a quota is used up, or the disk is broken. */
static int why_no_room(const struct db_shared *shared)
{
	struct statvfs disk;

	if (statvfs(shared->path, &disk) < 0 || disk.f_bavail <= ROOM_BLOCKS)
		return -ENOSPC;
	return shared->writes_elsewhere ? -EDQUOT : -EIO;
}

/* EFAULT is what would have been a SIGBUS. */
int db_shared_reserve(const struct db_shared *shared)
{
	if (shared->is_lost)
		return why_no_room(shared);
	for (size_t i = 0; i < shared->nr && shared->writes_elsewhere; i++) {
		const struct region *region = &shared->regions[i];

		if (madvise(region->at, region->size, MADV_POPULATE_WRITE) < 0 && errno == EFAULT)
			return why_no_room(shared);
	}
	return 0;
}

void db_shared_use(struct db_shared *shared)
{
	in_use = shared;
}

bool db_shared_is_lost(const struct db_shared *shared)
{
	return shared->is_lost;
}

/* ---- SIGBUS */

static bool holds(const struct db_shared *shared, uintptr_t address)
{
	for (size_t i = 0; i < shared->nr; i++) {
		if (address - (uintptr_t)shared->regions[i].at < shared->regions[i].size)
			return true;
	}
	return false;
}

/*
 * Zeros that only this program sees take the place of all the memory. If they took the place of one
 * page, other programs would see what SQLite writes to the other pages, and miss what belongs to it
 * on that page. For SQLite, zeros are memory that is yet to be filled from the log.
 */
static bool replace(struct db_shared *shared)
{
	shared->is_lost = true;
	for (size_t i = 0; i < shared->nr; i++) {
		const struct region *region = &shared->regions[i];
		const void *zeros = mmap(region->at, region->size, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (zeros == MAP_FAILED)
			return false;
	}
	return true;
}

/* An error of other memory ends the program: the access that is tried again has it again. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (!in_use || !holds(in_use, (uintptr_t)info->si_addr) || !replace(in_use))
		signal(number, SIG_DFL);
}

/* ---- methods */

static const struct methods *methods_of(const sqlite3_file *file)
{
	return (const struct methods *)file->pMethods;
}

/* db_step() gets the errno. */
static int reserve_for(const struct db_shared *shared, int code)
{
	int err = db_shared_reserve(shared);

	if (!err)
		return SQLITE_OK;
	errno = -err;
	return code;
}

/* 0, or the code when the memory is lost, without which nothing in the files may be relied on. */
static int check_lost(const struct db_shared *shared, int code)
{
	return shared->is_lost ? reserve_for(shared, code) : SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
	const struct methods *methods = methods_of(file);
	int code = check_lost(methods->shared, SQLITE_IOERR_READ);

	return code ? code : methods->usual->xRead(file, bytes, size, at);
}

/* Near its limit btrfs makes room by writing pages, which then need room once more. */
static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	const struct methods *methods = methods_of(file);
	int code = check_lost(methods->shared, SQLITE_IOERR_WRITE);

	if (!code)
		code = methods->usual->xWrite(file, bytes, size, at);
	return code ? code : reserve_for(methods->shared, SQLITE_IOERR_WRITE);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	const struct methods *methods = methods_of(file);
	int code = check_lost(methods->shared, SQLITE_IOERR_TRUNCATE);

	return code ? code : methods->usual->xTruncate(file, size);
}

static bool is_beside(const struct db_shared *shared, const char *path)
{
	size_t len = shared->path ? strlen(shared->path) : 0;

	return len && strncmp(path, shared->path, len) == 0 &&
	       (strcmp(path + len, "-journal") == 0 || strcmp(path + len, "-wal") == 0);
}

static int delete_file(sqlite3_vfs *vfs, const char *path, int syncs)
{
	const struct db_shared *shared = (const struct db_shared *)vfs;
	int code = check_lost(shared, SQLITE_IOERR_DELETE);

	if (shared->only_looks || !is_beside(shared, path))
		return SQLITE_IOERR_DELETE;
	return code ? code : shared->usual->xDelete(shared->usual, path, syncs);
}

/* A page may be larger than a region: it begins with the one before. */
static void add_region(struct db_shared *shared, uintptr_t begin, size_t size)
{
	size_t before = begin % (size_t)sysconf(_SC_PAGESIZE);
	struct region region = { (void *)(begin - before), size + before };

	if (holds(shared, begin) && holds(shared, begin + size - 1))
		return;
	array_grow(&shared->regions, &shared->room, shared->nr + 1);
	shared->regions[shared->nr++] = region;
}

static int map(sqlite3_file *file, int region, int size, int extends, void volatile **ret_memory)
{
	const struct methods *methods = methods_of(file);
	struct db_shared *shared = methods->shared;
	int code = methods->usual->xShmMap(file, region, size, extends, ret_memory);

	if (code || !*ret_memory)
		return code;
	add_region(shared, (uintptr_t)*ret_memory, (size_t)size);
	code = reserve_for(shared, SQLITE_IOERR_SHMMAP);
	if (code)
		*ret_memory = NULL; /* SQLite would use it */
	return code;
}

static int unmap(sqlite3_file *file, int removes)
{
	const struct methods *methods = methods_of(file);

	methods->shared->nr = 0;
	return methods->usual->xShmUnmap(file, removes);
}

static void take_over(struct db_shared *shared, sqlite3_file *file, struct methods *methods)
{
	methods->shared = shared;
	methods->usual = file->pMethods;
	methods->ours = *file->pMethods;
	methods->ours.xRead = read_file;
	methods->ours.xWrite = write_file;
	methods->ours.xTruncate = truncate_file;
	if (methods->usual->xShmMap) {
		methods->ours.xShmMap = map;
		methods->ours.xShmUnmap = unmap;
	}
	file->pMethods = &methods->ours;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	struct db_shared *shared = (struct db_shared *)vfs;
	int code;

	file->pMethods = NULL;
	if (flags & SQLITE_OPEN_SUPER_JOURNAL) /* no transaction of ours has one */
		return SQLITE_CORRUPT;
	if (shared->only_looks && path) /* SQLite's temporary files have none */
		flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) |
			SQLITE_OPEN_READONLY;
	code = shared->usual->xOpen(shared->usual, path, file, flags, ret_flags);
	if (code)
		return code;
	if (flags & SQLITE_OPEN_MAIN_DB) {
		shared->path = path;
		shared->writes_elsewhere = writes_elsewhere(path);
		take_over(shared, file, &shared->database);
	} else if (flags & SQLITE_OPEN_WAL) {
		take_over(shared, file, &shared->log);
	}
	return SQLITE_OK;
}

void db_shared_only_look(struct db_shared *shared)
{
	shared->only_looks = true;
}

/*
 * SQLite asks access(2), which leaves out the rights that capabilities of the program's file give,
 * although open(2) has them. EPERM: a filter of an earlier systemd lacks the system call.
 */
static int access_as_open(const char *path, int mode)
{
	int err = faccessat(AT_FDCWD, path, mode, AT_EACCESS);

	return err < 0 && errno == EPERM ? access(path, mode) : err;
}

struct db_shared *db_shared_new(void)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	struct db_shared *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	snprintf(shared->name, sizeof(shared->name), "kvmtop-%p", (void *)shared);
	shared->usual = sqlite3_vfs_find(NULL);
	shared->usual->xSetSystemCall(shared->usual, "access", (sqlite3_syscall_ptr)access_as_open);
	shared->vfs = *shared->usual;
	shared->vfs.zName = shared->name;
	shared->vfs.xOpen = open_file;
	shared->vfs.xDelete = delete_file;
	if (sqlite3_vfs_register(&shared->vfs, 0) != SQLITE_OK) {
		free(shared);
		return NULL;
	}
	sigaction(SIGBUS, &action, NULL);
	return shared;
}

void db_shared_free(struct db_shared *shared)
{
	if (!shared)
		return;
	if (in_use == shared)
		in_use = NULL;
	sqlite3_vfs_unregister(&shared->vfs);
	free(shared->regions);
	free(shared);
}

const char *db_shared_vfs(const struct db_shared *shared)
{
	return shared->name;
}
