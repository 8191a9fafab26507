/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aside - calls that may never return, in threads that are left behind then.
 *
 * What reads /proc/PID/cmdline, maps or map_files waits for a lock of the process, which that
 * process can hold for as long as it likes; no signal but a deadly one ends the wait.
 */
#ifndef KVMTOP_LIB_ASIDE_H
#define KVMTOP_LIB_ASIDE_H

#include <stddef.h>

#define ASIDE_WAIT_MS 500 /* for a call */
#define ASIDE_MAX 32	  /* threads that are left behind at a time */

/*
 * As read_whole() and open_program() of lib/file.h. -ETIMEDOUT: there is no answer yet; nor is the
 * same path asked for again while there is none. -EAGAIN: too many threads are left behind.
 */
int aside_read_whole(const char *path, size_t max, char **ret_text, size_t *ret_size);
int aside_open_program(const char *path);

#endif
