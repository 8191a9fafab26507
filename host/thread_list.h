/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_list - lists of pids and of vCPUs with their threads.
 *
 * Lists start as { 0 } and are released by their owner.
 */
#ifndef KVMTOP_HOST_THREAD_LIST_H
#define KVMTOP_HOST_THREAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The pid that a folder is named after; 0: the name is not a pid. */
pid_t pid_parse(const char *name);

/* Processes or threads. */
struct pid_list {
	pid_t *pids; /* ascending, once sorted */
	size_t nr, room;
};

/* Replaces the list by the folders of path that have a pid as their name. Returns 0 or -errno. */
int pid_list_read(struct pid_list *list, const char *path);
void pid_list_add(struct pid_list *list, pid_t pid); /* at the end: sort before pid_list_has() */
void pid_list_sort(struct pid_list *list);
bool pid_list_has(const struct pid_list *list, pid_t pid);
void pid_list_release(struct pid_list *list);

struct vcpu {
	int index;  /* as the kernel numbers it in the VM */
	pid_t tid;  /* its thread; 0: not known */
	pid_t last; /* the thread that it had before; 0: none */
};

struct vcpu_list {
	struct vcpu *vcpus; /* ascending by index, then tid, once sorted */
	size_t nr, room;
};

void vcpu_list_add(struct vcpu_list *list, int index, pid_t tid);
void vcpu_list_sort(struct vcpu_list *list);
bool vcpu_list_is_same(const struct vcpu_list *a, const struct vcpu_list *b);

/* The thread of the vCPU, or the last it had, which has ended; 0: there was none. NULL is fine. */
pid_t vcpu_last_tid(const struct vcpu *vcpu);
size_t vcpu_list_missing(const struct vcpu_list *list); /* how many vCPUs have no thread */
void vcpu_list_release(struct vcpu_list *list);

#endif
