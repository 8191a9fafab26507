/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env - the machine that the program reads: this one, or a captured one below --sysroot.
 *
 * Every path into /proc, /sys or /etc goes through env_path(), so that a folder captured on another
 * machine can stand in for it in tests and support cases.
 */
#ifndef KVMTOP_HOST_ENV_H
#define KVMTOP_HOST_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/error.h"

struct arch;

struct env {
	const char *root;	 /* "" for this machine, else the captured one, no trailing slash */
	const struct arch *arch; /* never NULL once env_init() succeeded */
	char *tracefs;		 /* path of tracefs with root; NULL: not mounted */
	char *debugfs_kvm;	 /* debugfs' kvm folder with root; NULL: none */
};

/*
 * Looks at the machine below root ("" for this one): its architecture, and where tracefs and
 * debugfs are mounted. Not finding them is not an error. A captured machine has them at
 * sys/kernel/tracing and sys/kernel/debug. Returns 0, or -ENOENT with error when root is no
 * folder.
 */
int env_init(struct env *env, const char *root, struct error *error);
void env_release(struct env *env);

/* Looks again for tracefs and debugfs if they were missing: they may be mounted by now. */
void env_refresh(struct env *env);

/* True when a captured machine is read: nothing there changes by itself, nothing can be opened. */
bool env_is_captured(const struct env *env);

/* Writes root + formatted path; returns buf, or "" in it when it does not fit. */
char *env_path(const struct env *env, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Reads a small file of the machine, as read_small(); "" in buf after an error. */
long env_read(const struct env *env, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The first line of it, without the newline. */
long env_read_line(const struct env *env, char *buf, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Whether the machine has this file or folder. */
bool env_has(const struct env *env, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
