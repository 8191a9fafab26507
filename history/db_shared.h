/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db_shared - the memory that the programs at a history file share: the file -shm, mapped.
 *
 * On a file system that never writes in place, btrfs for one, a page of it that is written to needs
 * room on the disk, and without room the kernel ends the program with SIGBUS. So it is asked for
 * the room before, which fails like any other call: where a transaction begins and ends, and after
 * each write to the disk. Linux before 5.14 cannot be asked. Other file systems need none of this.
 */
#ifndef KVMTOP_HISTORY_DB_SHARED_H
#define KVMTOP_HISTORY_DB_SHARED_H

/* Of one database. */
struct db_shared;

struct db_shared *db_shared_new(void); /* NULL: no memory */
void db_shared_free(struct db_shared *shared);

/* The VFS with which SQLite opens the database. */
const char *db_shared_vfs(const struct db_shared *shared);

/* Before SQLite writes to the memory: 0, or -ENOSPC or -EDQUOT: there is no room for that. */
int db_shared_reserve(const struct db_shared *shared);

#endif
