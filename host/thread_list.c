// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorted lists of pids and of vCPUs. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/number.h"
#include "host/thread_list.h"

#define READ_TRIES 4

pid_t pid_parse(const char *name)
{
	long pid = 0;

	for (; isdigit((unsigned char)*name); name++) {
		pid = pid * 10 + (*name - '0');
		if (pid > INT_MAX)
			return 0;
	}
	return *name ? 0 : (pid_t)pid;
}

void pid_list_add(struct pid_list *list, pid_t pid)
{
	*array_add(list->pids, list->nr, list->room) = pid;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

void pid_list_sort(struct pid_list *list)
{
	if (list->nr)
		qsort(list->pids, list->nr, sizeof(*list->pids), compare_pids);
}

static int read_once(struct pid_list *list, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err;

	if (!dir)
		return -errno;
	list->nr = 0;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		pid_t pid = pid_parse(entry->d_name);

		if (pid)
			pid_list_add(list, pid);
	}
	err = -errno;
	closedir(dir);
	return err;
}

static bool is_sorted(const struct pid_list *list)
{
	size_t i = 1;

	while (i < list->nr && list->pids[i - 1] < list->pids[i])
		i++;
	return i >= list->nr;
}

/* Processes and threads that end meanwhile can make the kernel fail with EIO. */
int pid_list_read(struct pid_list *list, const char *path)
{
	int err = -EIO;

	for (int i = 0; i < READ_TRIES && err == -EIO; i++)
		err = read_once(list, path);
	if (!err && !is_sorted(list)) /* /proc is sorted, a captured folder is not */
		pid_list_sort(list);
	return err;
}

bool pid_list_has(const struct pid_list *list, pid_t pid)
{
	return list->nr && bsearch(&pid, list->pids, list->nr, sizeof(pid), compare_pids);
}

void pid_list_release(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){ 0 };
}

void vcpu_list_add(struct vcpu_list *list, int index, pid_t tid)
{
	*array_add(list->vcpus, list->nr, list->room) = (struct vcpu){ .index = index, .tid = tid };
}

static int compare_vcpus(const void *a, const void *b)
{
	const struct vcpu *x = a, *y = b;

	return compared(x->index, y->index) ?: compared(x->tid, y->tid);
}

void vcpu_list_sort(struct vcpu_list *list)
{
	if (list->nr)
		qsort(list->vcpus, list->nr, sizeof(*list->vcpus), compare_vcpus);
}

bool vcpu_list_is_same(const struct vcpu_list *a, const struct vcpu_list *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++) {
		if (compare_vcpus(&a->vcpus[i], &b->vcpus[i]) != 0)
			return false;
	}
	return true;
}

pid_t vcpu_last_tid(const struct vcpu *vcpu)
{
	if (!vcpu)
		return 0;
	return vcpu->tid ? vcpu->tid : vcpu->last;
}

size_t vcpu_list_missing(const struct vcpu_list *list)
{
	size_t missing = 0;

	for (size_t i = 0; i < list->nr; i++)
		missing += !list->vcpus[i].tid;
	return missing;
}

void vcpu_list_release(struct vcpu_list *list)
{
	free(list->vcpus);
	*list = (struct vcpu_list){ 0 };
}
