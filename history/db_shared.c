// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands in for SQLite's calls of mmap(), munmap() and pwrite(). */
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/* Those of <linux/magic.h>, and two that are not in it. */
#define BTRFS_MAGIC 0x9123683eu
#define F2FS_MAGIC 0xf2f52010u
#define BCACHEFS_MAGIC 0xca451a4eu
#define ZFS_MAGIC 0x2fc12fc1u

struct mapping {
	void *at;
	size_t size;
};

/* SQLite has its system calls once for all databases, and so the list is the process's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mapping *list;
static size_t nr, room;

/* EFAULT is what would have been a SIGBUS. */
static int reserve(const struct mapping *mapping)
{
	return madvise(mapping->at, mapping->size, MADV_POPULATE_WRITE) < 0 && errno == EFAULT ?
		       -ENOSPC : 0;
}

static int remember(void *at, size_t size)
{
	const struct mapping mapping = { at, size };
	int err = reserve(&mapping);

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	err = array_grow(&list, &room, nr + 1);
	if (!err)
		list[nr++] = mapping;
	pthread_mutex_unlock(&lock);
	return err;
}

static bool writes_elsewhere(int fd)
{
	struct statfs disk;
	uint32_t type = fstatfs(fd, &disk) == 0 ? (uint32_t)disk.f_type : 0;

	return type == BTRFS_MAGIC || type == F2FS_MAGIC || type == BCACHEFS_MAGIC ||
	       type == ZFS_MAGIC;
}

static void *map(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *mapped = mmap(at, size, protection, flags, fd, offset);
	int err = 0;

	if (mapped != MAP_FAILED && protection & PROT_WRITE && flags & MAP_SHARED &&
	    writes_elsewhere(fd))
		err = remember(mapped, size);
	if (!err)
		return mapped;
	munmap(mapped, size);
	errno = -err;
	return MAP_FAILED;
}

static int unmap(void *at, size_t size)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr && list[i].at != at)
		i++;
	if (i < nr)
		list[i] = list[--nr];
	if (!nr) {
		free(list);
		list = NULL;
		room = 0;
	}
	pthread_mutex_unlock(&lock);
	return munmap(at, size);
}

/* Is the disk full, or a quota used up? */
static int why_no_room(int fd)
{
	struct statvfs disk;

	return fstatvfs(fd, &disk) == 0 && disk.f_bavail > ROOM_BLOCKS ? EDQUOT : ENOSPC;
}

/* Near its limit btrfs makes room by writing pages, which then need room once more. */
static ssize_t check_room(int fd, ssize_t nr_written)
{
	if (nr_written < 0 || db_shared_reserve() == 0)
		return nr_written;
	errno = why_no_room(fd);
	return -1;
}

static ssize_t write_at(int fd, const void *bytes, size_t size, off_t at)
{
	return check_room(fd, pwrite(fd, bytes, size, at));
}

static ssize_t write_at64(int fd, const void *bytes, size_t size, off64_t at)
{
	return check_room(fd, pwrite64(fd, bytes, size, at));
}

void db_shared_begin(void)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	if (!vfs || vfs->iVersion < 3)
		return;
	vfs->xSetSystemCall(vfs, "mmap", (sqlite3_syscall_ptr)map);
	vfs->xSetSystemCall(vfs, "munmap", (sqlite3_syscall_ptr)unmap);
	vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)write_at);
	vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)write_at64);
}

int db_shared_reserve(void)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < nr && !err; i++)
		err = reserve(&list[i]);
	pthread_mutex_unlock(&lock);
	return err;
}
