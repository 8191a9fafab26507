/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db_shared - the memory that the programs at a history file share: the file -shm, mapped.
 *
 * On a file system that never writes in place, btrfs for one, a page of this memory that is written
 * to needs room on the disk, and without room the kernel sends SIGBUS, which ends the program. So
 * the kernel is asked for the room before, by a call that fails like any other: where a transaction
 * begins and ends, and after each write to the disk. Linux before 5.14 cannot be asked.
 *
 * The room may be used up between this call and the write. Then the memory is lost: a handler of
 * SIGBUS puts other memory there, and all reads and writes of the database fail until it is
 * opened again. The same happens where the file -shm was cut or the disk is broken. A transaction
 * that ends at that moment is in the log, where the next program that opens the file finds it,
 * unless another program has the file open all the time.
 *
 * The files of a database are its own, and the ones with SQLite's suffixes. SQLite removes any
 * other file that a journal names, and the journal may be somebody else's: here it does not.
 *
 * A program opens a file once at a time: SQLite would share the memory between both.
 */
#ifndef KVMTOP_HISTORY_DB_SHARED_H
#define KVMTOP_HISTORY_DB_SHARED_H

#include <stdbool.h>

/* Of one database. */
struct db_shared;

struct db_shared *db_shared_new(void); /* NULL: no memory */
void db_shared_free(struct db_shared *shared);

/*
 * Before SQLite is called: the database whose memory this thread uses from now on, NULL for none.
 * An error of other memory ends the program.
 */
void db_shared_use(struct db_shared *shared);

/* The VFS with which SQLite opens the database. */
const char *db_shared_vfs(const struct db_shared *shared);

/* Before it is opened: no file is made, removed or opened to write. */
void db_shared_only_look(struct db_shared *shared);

/*
 * Before SQLite writes to the memory: 0, or -ENOSPC or -EDQUOT: there is no room for that; of lost
 * memory also -EIO.
 */
int db_shared_reserve(const struct db_shared *shared);

/* Whether the memory is lost: the database is to be closed. */
bool db_shared_is_lost(const struct db_shared *shared);

#endif
