// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads cpu.stat of the cgroups that threads are in, and of all above. */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "host/machine.h"
#include "providers/host/host.h"

#define NS_PER_US UINT64_C(1000)
#define QUOTA_PATH_MAX 200 /* as much of a path is shown */

struct host_cgroup {
	struct host_cgroup *parent; /* NULL: none */
	int fd; /* of cpu.stat; -1: it has none, as has the root of v2 */
	uint64_t total_ns, delta_ns;
	uint64_t weight_ns; /* of its threads, and of the threads below */
	bool has_total, has_quota, is_kept;
	UT_hash_handle hh;
	char path[]; /* with the mount point */
};

/* Where cgroups are mounted if the list of mounts does not say. */
#define USUAL "/sys/fs/cgroup"

struct host_cgroups {
	const struct env *env;
	/* Where the controller "cpu" of v1, and where v2 is mounted; "": not known. */
	char v1[PATH_MAX], v2[PATH_MAX];
	struct host_cgroup *by_path;
};

static void find_mounts(struct host_cgroups *cgroups)
{
	char path[PATH_MAX];
	FILE *file = setmntent(env_path(cgroups->env, path, sizeof(path), "/proc/mounts"), "re");
	const struct mntent *mount;

	while (file && (mount = getmntent(file))) {
		bool is_v2 = strcmp(mount->mnt_type, "cgroup2") == 0;
		bool is_v1 = strcmp(mount->mnt_type, "cgroup") == 0 && hasmntopt(mount, "cpu");
		char *to = is_v2 ? cgroups->v2 : cgroups->v1;

		if ((is_v1 || is_v2) && !*to && strlen(mount->mnt_dir) < PATH_MAX)
			strcpy(to, mount->mnt_dir);
	}
	if (file)
		endmntent(file);
}

struct host_cgroups *host_cgroups_new(const struct env *env)
{
	struct host_cgroups *cgroups = xcalloc(1, sizeof(*cgroups));

	cgroups->env = env;
	find_mounts(cgroups);
	return cgroups;
}

static void drop(struct host_cgroups *cgroups, struct host_cgroup *cgroup)
{
	HASH_DEL(cgroups->by_path, cgroup);
	if (cgroup->fd >= 0)
		close(cgroup->fd);
	free(cgroup);
}

void host_cgroups_free(struct host_cgroups *cgroups)
{
	struct host_cgroup *cgroup, *next;

	if (!cgroups)
		return;
	HASH_ITER(hh, cgroups->by_path, cgroup, next)
		drop(cgroups, cgroup);
	free(cgroups);
}

/* ---- which cgroup a thread is in ---- */

/* Whether the controller is one of a list, "cpu,cpuacct:/path". */
static bool has_controller(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (;; list++) {
		if (strncmp(list, name, len) == 0 && (list[len] == ',' || list[len] == ':'))
			return true;
		list += strcspn(list, ",:\n");
		if (*list != ',')
			return false;
	}
}

/*
 * Where quotas of a thread are, by its file cgroup(7) /proc/PID/cgroup: the line of the controller
 * "cpu" of v1, "4:cpu,cpuacct:/path", or the one of v2, "0::/path". False: there is neither.
 */
static bool find_path(const struct host_cgroups *cgroups, const char *text, char *ret_path,
		      size_t size)
{
	const struct env *env = cgroups->env;
	const char *v1 = NULL, *v2 = NULL;
	int len;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *list = strchr(line, ':');

		if (!list)
			continue;
		if (strncmp(line, "0::", 3) == 0)
			v2 = line + 3;
		else if (has_controller(list + 1, "cpu"))
			v1 = list + 1;
	}
	if (v1) {
		len = (int)strcspn(v1, ":");
		if (*cgroups->v1)
			env_path(env, ret_path, size, "%s%.*s", cgroups->v1,
				 (int)strcspn(v1 + len + 1, "\n"), v1 + len + 1);
		else
			env_path(env, ret_path, size, USUAL "/%.*s%.*s", len, v1,
				 (int)strcspn(v1 + len + 1, "\n"), v1 + len + 1);
		return true;
	}
	if (!v2)
		return false;
	env_path(env, ret_path, size, "%s%.*s",
		 *cgroups->v2 ? cgroups->v2 :
		 env_has(env, USUAL "/unified") ? USUAL "/unified" : USUAL,
		 (int)strcspn(v2, "\n"), v2);
	return true;
}

static struct host_cgroup *new_cgroup(struct host_cgroups *cgroups, const char *path, size_t len)
{
	struct host_cgroup *cgroup = xcalloc(1, sizeof(*cgroup) + len + 1);

	memcpy(cgroup->path, path, len);
	cgroup->fd = -1;
	HASH_ADD_KEYPTR(hh, cgroups->by_path, cgroup->path, len, cgroup);
	return cgroup;
}

/* The length of the mount point that the path is below, and of the slash after it. */
static size_t length_of_mount(const struct host_cgroups *cgroups, const char *path)
{
	const char *const mounts[] = { cgroups->v1, cgroups->v2 };
	size_t root = strlen(cgroups->env->root);

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		size_t len = strlen(mounts[i]);

		if (len && strncmp(path + root, mounts[i], len) == 0 && path[root + len] == '/')
			return root + len + 1;
	}
	return root + strlen(USUAL "/");
}

/* The cgroup of the first len bytes of path, and all above it, up to the mount point. */
static struct host_cgroup *get_cgroup(struct host_cgroups *cgroups, const char *path, size_t len)
{
	size_t root = length_of_mount(cgroups, path);
	struct host_cgroup *cgroup;
	const char *slash;

	HASH_FIND(hh, cgroups->by_path, path, len, cgroup);
	if (cgroup)
		return cgroup;
	cgroup = new_cgroup(cgroups, path, len);
	slash = memrchr(path, '/', len);
	if (slash && (size_t)(slash - path) > root)
		cgroup->parent = get_cgroup(cgroups, path, (size_t)(slash - path));
	return cgroup;
}

static bool path_of_thread(const struct host_cgroups *cgroups, pid_t pid, pid_t tid,
			   char *ret_path, size_t size)
{
	char text[4096];

	return env_read(cgroups->env, text, sizeof(text), "/proc/%d/task/%d/cgroup", (int)pid,
			(int)tid) > 0 &&
	       find_path(cgroups, text, ret_path, size);
}

/* cgroup_namespaces(7): such a path begins with "/..". */
static bool is_hidden(const char *path)
{
	size_t len = strlen(path);

	return strstr(path, "/../") || (len >= 3 && !strcmp(path + len - 3, "/.."));
}

bool host_cgroup_is_hidden(const struct host_cgroups *cgroups, pid_t pid, pid_t tid)
{
	char path[PATH_MAX];

	return path_of_thread(cgroups, pid, tid, path, sizeof(path)) && is_hidden(path);
}

struct host_cgroup *host_cgroups_find(struct host_cgroups *cgroups, pid_t pid, pid_t tid)
{
	char path[PATH_MAX];
	size_t len;

	if (!path_of_thread(cgroups, pid, tid, path, sizeof(path)) || is_hidden(path))
		return NULL;
	len = strlen(path);
	while (len && path[len - 1] == '/')
		len--;
	return len ? get_cgroup(cgroups, path, len) : NULL;
}

/* ---- how long it was throttled ---- */

/* The number after a name at the beginning of a line. */
static bool number_of(const char *text, const char *name, uint64_t *ret_number)
{
	const char *at = strstr(text, name);

	if (!at || (at != text && at[-1] != '\n'))
		return false;
	*ret_number = strtoull(at + strlen(name), NULL, 10);
	return true;
}

/* ret_has_quota: one is or was in force: its periods are counted. */
static bool read_throttled(struct host_cgroup *cgroup, uint64_t *ret_ns, bool *ret_has_quota)
{
	char path[PATH_MAX + 16] = "", text[1024];
	uint64_t nr_periods;

	if (cgroup->fd < 0)
		snprintf(path, sizeof(path), "%s/cpu.stat", cgroup->path);
	if (!descriptors_read(&cgroup->fd, path, text, sizeof(text)))
		return false;
	*ret_has_quota = number_of(text, "nr_periods ", &nr_periods) && nr_periods;
	if (number_of(text, "throttled_time ", ret_ns))
		return true;
	if (!number_of(text, "throttled_usec ", ret_ns))
		return false;
	*ret_ns *= NS_PER_US;
	return true;
}

void host_cgroups_begin(struct host_cgroups *cgroups)
{
	for (struct host_cgroup *cgroup = cgroups->by_path; cgroup; cgroup = cgroup->hh.next) {
		uint64_t now_ns;
		bool has_quota = false, has_total = read_throttled(cgroup, &now_ns, &has_quota);

		cgroup->delta_ns = 0;
		cgroup->weight_ns = 0;
		if (has_total && cgroup->has_total && now_ns > cgroup->total_ns)
			cgroup->delta_ns = now_ns - cgroup->total_ns;
		cgroup->has_total = has_total;
		if (has_total)
			cgroup->total_ns = now_ns;
		cgroup->has_quota = has_total && (has_quota || now_ns);
	}
}

bool host_cgroup_has_quota(const struct host_cgroup *cgroup)
{
	while (cgroup && !cgroup->has_quota)
		cgroup = cgroup->parent;
	return cgroup;
}

/* How many CPUs the cgroup may have at most; 0: it has no limit, or that cannot be read. */
static double read_limit(const struct host_cgroup *cgroup, const char **ret_file)
{
	char path[PATH_MAX + 32], text[64];
	double quota = 0, period = 0;

	*ret_file = "cpu.max"; /* "max 100000", "20000 100000" */
	snprintf(path, sizeof(path), "%s/%s", cgroup->path, *ret_file);
	if (read_small(path, text, sizeof(text)) > 0)
		return sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ?
			       quota / period : 0;
	*ret_file = "cpu.cfs_quota_us"; /* of version 1; -1: there is none */
	snprintf(path, sizeof(path), "%s/%s", cgroup->path, *ret_file);
	if (read_small(path, text, sizeof(text)) > 0)
		quota = strtod(text, NULL);
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", cgroup->path);
	if (read_small(path, text, sizeof(text)) > 0)
		period = strtod(text, NULL);
	return quota > 0 && period > 0 ? quota / period : 0;
}

/* The beginning of a long path is left out: the ends differ. */
static const char *end_of(const char *path, size_t most)
{
	size_t len = strlen(path);

	return len > most ? path + len - most : path;
}

bool host_cgroup_quota(const struct host_cgroups *cgroups, const struct host_cgroup *cgroup,
		       char *ret_text, size_t size)
{
	const struct host_cgroup *found = NULL;
	const char *path, *end, *file;
	double limit;

	for (; cgroup; cgroup = cgroup->parent) {
		if (cgroup->delta_ns && (!found || cgroup->delta_ns > found->delta_ns))
			found = cgroup;
	}
	if (!found)
		return false;
	limit = read_limit(found, &file);
	if (!(limit > 0))
		return false;
	path = found->path + strlen(cgroups->env->root);
	end = end_of(path, QUOTA_PATH_MAX);
	snprintf(ret_text, size, "%s%s/%s: %.3g CPU%s", end == path ? "" : "...", end, file, limit,
		 limit > 1 || limit < 1 ? "s" : "");
	return true;
}

void host_cgroup_weigh(struct host_cgroup *cgroup, uint64_t wait_ns)
{
	for (; cgroup; cgroup = cgroup->parent)
		cgroup->weight_ns += wait_ns;
}

uint64_t host_cgroup_share(const struct host_cgroup *cgroup, uint64_t wait_ns)
{
	double sum = 0;

	for (; cgroup; cgroup = cgroup->parent) {
		if (cgroup->weight_ns)
			sum += (double)cgroup->delta_ns * (double)wait_ns /
			       (double)cgroup->weight_ns;
	}
	return sum < (double)wait_ns ? (uint64_t)sum : wait_ns;
}

/* ---- which are in use ---- */

void host_cgroup_keep(struct host_cgroup *cgroup)
{
	for (; cgroup; cgroup = cgroup->parent)
		cgroup->is_kept = true;
}

void host_cgroups_sweep(struct host_cgroups *cgroups)
{
	struct host_cgroup *cgroup, *next;

	HASH_ITER(hh, cgroups->by_path, cgroup, next) {
		if (!cgroup->is_kept)
			drop(cgroups, cgroup);
		else
			cgroup->is_kept = false;
	}
}
