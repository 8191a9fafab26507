// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the threads of the kernel that work for VMMs: proc(5) task/children, and their comm. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "host/guest_name.h"
#include "host/guest_proc.h"
#include "providers/host/host.h"

#define KTHREADD 2 /* the parent of all; in another pid namespace a process that is none */
#define UNNAMED "kthreadd\n" /* the name of a thread that has just begun */
#define LIST_MAX ((size_t)1 << 20) /* bytes of the list: some 100,000 threads */

struct kernel_thread {
	pid_t tid;
	pid_t maker; /* the thread that it has in its name; 0: none, or not read yet */
	bool is_read;
};

struct host_kernel_threads {
	const struct env *env;
	bool are_seen; /* else this is another pid namespace */
	struct kernel_thread *list; /* in order of their begin, as the kernel has it */
	size_t nr;
};

struct host_kernel_threads *host_kernel_threads_new(const struct env *env)
{
	struct host_kernel_threads *threads = xcalloc(1, sizeof(*threads));
	struct proc_stat stat;

	threads->env = env;
	threads->are_seen = proc_stat_read(env, KTHREADD, &stat) == 0 && stat.is_kernel;
	return threads;
}

void host_kernel_threads_free(struct host_kernel_threads *threads)
{
	if (!threads)
		return;
	free(threads->list);
	free(threads);
}

/*
 * New threads are at the end of the list: what follows the last one of the old list is read,
 * even if another thread had its number before.
 */
void host_kernel_threads_list(struct host_kernel_threads *threads)
{
	struct kernel_thread *list = NULL;
	size_t nr = 0, room = 0, old = 0, size;
	char path[PATH_MAX], *text, *at, *end;

	env_path(threads->env, path, sizeof(path), "/proc/%d/task/%d/children", KTHREADD, KTHREADD);
	if (!threads->are_seen || read_whole(path, LIST_MAX, &text, &size) < 0)
		return;
	for (at = text;; at = end) {
		pid_t tid = (pid_t)strtol(at, &end, 10);

		if (end == at)
			break;
		while (old < threads->nr && threads->list[old].tid != tid)
			old++;
		*array_add(list, nr, room) = old < threads->nr ? threads->list[old++] :
						 (struct kernel_thread){ .tid = tid };
	}
	free(text);
	free(threads->list);
	threads->list = list;
	threads->nr = nr;
}

void host_kernel_threads_name(struct host_kernel_threads *threads)
{
	char name[32];
	size_t left = HOST_KERNEL_THREADS_TURN;

	for (size_t i = threads->nr; left && i--;) {
		struct kernel_thread *thread = &threads->list[i];

		if (thread->is_read)
			continue;
		env_read(threads->env, name, sizeof(name), "/proc/%d/task/%d/comm",
			 (int)thread->tid, (int)thread->tid);
		thread->maker = guest_name_vmm_pid(name);
		thread->is_read = strcmp(name, UNNAMED) != 0;
		left--;
	}
}

void host_kernel_threads_add(const struct host_kernel_threads *threads, struct pid_list *tids)
{
	size_t nr = tids->nr;

	for (size_t i = 0; i < threads->nr; i++) {
		const struct kernel_thread *thread = &threads->list[i];
		const struct pid_list makers = { .pids = tids->pids, .nr = nr };

		if (thread->maker && pid_list_has(&makers, thread->maker))
			pid_list_add(tids, thread->tid);
	}
	pid_list_sort(tids);
}

bool host_kernel_threads_has(const struct host_kernel_threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->nr; i++) {
		if (threads->list[i].tid == tid)
			return true;
	}
	return false;
}
