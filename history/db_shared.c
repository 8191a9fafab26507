// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite's usual VFS, but for three methods of the open file and of its log. Each database has
 * a VFS of its own, which these methods find from the file.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
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
	struct region *regions;
	size_t nr, room;
};

static bool writes_elsewhere(const char *path)
{
	struct statfs disk;
	uint32_t type = statfs(path, &disk) == 0 ? (uint32_t)disk.f_type : 0;

	return type == BTRFS_MAGIC || type == F2FS_MAGIC || type == BCACHEFS_MAGIC ||
	       type == ZFS_MAGIC;
}

/* Nothing tells which: is the disk full, or a quota used up? */
static int why_no_room(const char *path)
{
	struct statvfs disk;

	return statvfs(path, &disk) == 0 && disk.f_bavail > ROOM_BLOCKS ? -EDQUOT : -ENOSPC;
}

/* EFAULT is what would have been a SIGBUS. */
int db_shared_reserve(const struct db_shared *shared)
{
	for (size_t i = 0; i < shared->nr; i++) {
		const struct region *region = &shared->regions[i];

		if (madvise(region->at, region->size, MADV_POPULATE_WRITE) < 0 && errno == EFAULT)
			return why_no_room(shared->path);
	}
	return 0;
}

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

/* Near its limit btrfs makes room by writing pages, which then need room once more. */
static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	const struct methods *methods = methods_of(file);
	int code = methods->usual->xWrite(file, bytes, size, at);

	return code ? code : reserve_for(methods->shared, SQLITE_IOERR_WRITE);
}

/* A page may be larger than a region: it begins with the one before. */
static int add_region(struct db_shared *shared, uintptr_t begin, size_t size)
{
	size_t before = begin % (size_t)sysconf(_SC_PAGESIZE);
	struct region region = { (void *)(begin - before), size + before };

	for (size_t i = 0; i < shared->nr; i++) {
		if (shared->regions[i].at == region.at && shared->regions[i].size >= region.size)
			return 0;
	}
	if (array_grow(&shared->regions, &shared->room, shared->nr + 1) < 0)
		return -ENOMEM;
	shared->regions[shared->nr++] = region;
	return 0;
}

static int map(sqlite3_file *file, int region, int size, int extends, void volatile **ret_memory)
{
	const struct methods *methods = methods_of(file);
	struct db_shared *shared = methods->shared;
	int code = methods->usual->xShmMap(file, region, size, extends, ret_memory);

	if (code || !*ret_memory || !shared->writes_elsewhere)
		return code;
	code = add_region(shared, (uintptr_t)*ret_memory, (size_t)size) < 0 ?
		       SQLITE_NOMEM : reserve_for(shared, SQLITE_IOERR_SHMMAP);
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
	methods->ours.xWrite = write_file;
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
	int code = shared->usual->xOpen(shared->usual, path, file, flags, ret_flags);

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

struct db_shared *db_shared_new(void)
{
	struct db_shared *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	snprintf(shared->name, sizeof(shared->name), "kvmtop-%p", (void *)shared);
	shared->usual = sqlite3_vfs_find(NULL);
	shared->vfs = *shared->usual;
	shared->vfs.zName = shared->name;
	shared->vfs.xOpen = open_file;
	if (sqlite3_vfs_register(&shared->vfs, 0) == SQLITE_OK)
		return shared;
	free(shared);
	return NULL;
}

void db_shared_free(struct db_shared *shared)
{
	if (!shared)
		return;
	sqlite3_vfs_unregister(&shared->vfs);
	free(shared->regions);
	free(shared);
}

const char *db_shared_vfs(const struct db_shared *shared)
{
	return shared->name;
}
