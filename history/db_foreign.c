// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SQLite's files of a foreign database, without memory of the file's owner.
 *
 * Programs that have a database open share memory by a file beside it, NAME-shm. If its owner makes
 * the file shorter, whoever looks into the memory gets a SIGBUS. So SQLite gets a copy of each
 * region, which is read again whenever SQLite locks something: after that it looks whether the head
 * has changed. The real memory is mapped for its locks, and not looked at.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/xalloc.h"
#include "history/file_state.h"

#define REGIONS_MAX 64 /* each is of 4,096 pages of the log */
#define HEAD_SIZE 48   /* of the first region, which begins with two that are the same */
#define TRIES 100      /* while the writer changes them */

/* What a file has behind the part that SQLite's own functions use. */
struct copied {
	const sqlite3_io_methods *real;
	const char *path; /* of the database, SQLite's */
	int fd;		  /* of the shared memory; -1: not open */
	int region_size;
	char *regions[REGIONS_MAX]; /* NULL: not asked for yet */
};

static sqlite3_vfs *real_vfs;
static sqlite3_io_methods methods;

static struct copied *copied_of(sqlite3_file *file)
{
	return (struct copied *)((char *)file + real_vfs->szOsFile);
}

/* What is missing is zeros, which have no right checksum. */
static void copy_once(const struct copied *copied, size_t i)
{
	size_t size = (size_t)copied->region_size;
	ssize_t n = pread(copied->fd, copied->regions[i], size, (off_t)(i * size));
	size_t len = n > 0 ? (size_t)n : 0;

	memset(copied->regions[i] + len, 0, size - len);
}

static void copy(const struct copied *copied, size_t i)
{
	const char *head = copied->regions[i];

	for (int try = 0; try < TRIES; try++) {
		copy_once(copied, i);
		if (i || memcmp(head, head + HEAD_SIZE, HEAD_SIZE) == 0)
			return;
	}
}

static void copy_all(const struct copied *copied)
{
	for (size_t i = 0; i < REGIONS_MAX; i++) {
		if (copied->regions[i])
			copy(copied, i);
	}
}

/* Not closed before the end: that would end SQLite's locks of the file. */
static bool open_shared(struct copied *copied)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s-shm", copied->path);
	if (copied->fd < 0)
		copied->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return copied->fd >= 0;
}

static int map(sqlite3_file *file, int region, int size, int extends,
	       void volatile **ret_memory)
{
	struct copied *copied = copied_of(file);
	int code = copied->real->xShmMap(file, region, size, 0, ret_memory);

	(void)extends; /* nothing is written there */
	if (!*ret_memory)
		return code;
	*ret_memory = NULL;
	if (region >= REGIONS_MAX || !open_shared(copied))
		return SQLITE_IOERR_SHMMAP;
	copied->region_size = size;
	if (!copied->regions[region])
		copied->regions[region] = xcalloc(1, (size_t)size);
	copy(copied, (size_t)region);
	*ret_memory = copied->regions[region];
	return SQLITE_READONLY; /* the copy: marks in it would be lost */
}

static int lock(sqlite3_file *file, int offset, int nr, int flags)
{
	const struct copied *copied = copied_of(file);
	int code = copied->real->xShmLock(file, offset, nr, flags);

	if (!code && flags & SQLITE_SHM_LOCK)
		copy_all(copied);
	return code;
}

static int unmap(sqlite3_file *file, int removes)
{
	struct copied *copied = copied_of(file);
	int code = copied->real->xShmUnmap(file, 0);

	(void)removes;
	for (size_t i = 0; i < REGIONS_MAX; i++) {
		free(copied->regions[i]);
		copied->regions[i] = NULL;
	}
	if (copied->fd >= 0)
		close(copied->fd);
	copied->fd = -1;
	return code;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	int code = real_vfs->xOpen(real_vfs, path, file, flags, ret_flags);

	(void)vfs;
	if (code || !(flags & SQLITE_OPEN_MAIN_DB) || file->pMethods->iVersion < 2)
		return code;
	*copied_of(file) = (struct copied){ .real = file->pMethods, .path = path, .fd = -1 };
	methods = *file->pMethods;
	methods.iVersion = 2; /* nothing of the database is mapped, either */
	methods.xShmMap = map;
	methods.xShmLock = lock;
	methods.xShmUnmap = unmap;
	file->pMethods = &methods;
	return code;
}

void db_foreign_register(void)
{
	static sqlite3_vfs vfs;

	if (real_vfs)
		return;
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.pNext = NULL;
	vfs.zName = DB_FOREIGN;
	vfs.szOsFile += (int)sizeof(struct copied);
	vfs.xOpen = open_file;
	sqlite3_vfs_register(&vfs, 0);
}
