// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out what the machine offers: architecture, tracefs, debugfs; and makes paths. */
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "lib/file.h"
#include "lib/xalloc.h"
#include "arch/arch.h"
#include "host/env.h"

bool env_is_captured(const struct env *env)
{
	return env->root[0] != '\0';
}

__attribute__((format(printf, 4, 0)))
static char *put_path(const struct env *env, char *buf, size_t size, const char *fmt, va_list args)
{
	size_t root = strlen(env->root);

	if (root >= size || (size_t)vsnprintf(buf + root, size - root, fmt, args) >= size - root)
		buf[0] = '\0';
	else
		memcpy(buf, env->root, root);
	return buf;
}

char *env_path(const struct env *env, char *buf, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put_path(env, buf, size, fmt, args);
	va_end(args);
	return buf;
}

__attribute__((format(printf, 4, 0)))
static long read_text(const struct env *env, char *buf, size_t size, const char *fmt, va_list args)
{
	char path[PATH_MAX];
	long len = read_small(put_path(env, path, sizeof(path), fmt, args), buf, size);

	if (len < 0)
		buf[0] = '\0';
	return len;
}

long env_read(const struct env *env, char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	long len;

	va_start(args, fmt);
	len = read_text(env, buf, size, fmt, args);
	va_end(args);
	return len;
}

long env_read_line(const struct env *env, char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	long len;

	va_start(args, fmt);
	len = read_text(env, buf, size, fmt, args);
	va_end(args);
	buf[strcspn(buf, "\n")] = '\0';
	return len < 0 ? len : (long)strlen(buf);
}

bool env_has(const struct env *env, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, fmt);
	put_path(env, path, sizeof(path), fmt, args);
	va_end(args);
	return path_exists(path);
}

static bool is_mounted(const char *path, long magic)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (long)fs.f_type == magic;
}

/*
 * Finds a mount by its type and magic number, never by its name: any file system can be mounted
 * under the name debugfs.
 */
static char *find_mount(const char *default_path, const char *type, long magic)
{
	char *found = NULL;
	struct mntent *mount;
	FILE *mounts;

	if (is_mounted(default_path, magic))
		return xstrdup(default_path);
	mounts = setmntent("/proc/self/mounts", "r");
	while (mounts && !found && (mount = getmntent(mounts))) {
		if (strcmp(mount->mnt_type, type) == 0 && is_mounted(mount->mnt_dir, magic))
			found = xstrdup(mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder of a file system; in a captured machine at its default path. NULL: there is none. */
static char *find_folder(const struct env *env, const char *default_path, const char *type,
			 long magic, const char *folder)
{
	char *mount = env_is_captured(env) ? xasprintf("%s%s", env->root, default_path) :
					     find_mount(default_path, type, magic);
	char *path = mount ? xasprintf("%s%s", mount, folder) : NULL;

	free(mount);
	if (path && is_folder(path))
		return path;
	free(path);
	return NULL;
}

void env_refresh(struct env *env)
{
	if (!env->tracefs)
		env->tracefs = find_folder(env, "/sys/kernel/tracing", "tracefs", TRACEFS_MAGIC,
					   "");
	if (!env->debugfs_kvm)
		env->debugfs_kvm = find_folder(env, "/sys/kernel/debug", "debugfs", DEBUGFS_MAGIC,
					       "/kvm");
}

int env_init(struct env *env, const char *root, struct error *error)
{
	if (root[0] && !is_folder(root))
		return error_set(error, -ENOENT, "\"%s\" is not a folder with a captured machine",
				 root);
	*env = (struct env){ .root = root };
	env->arch = arch_of_host(root);
	env_refresh(env);
	return 0;
}

void env_release(struct env *env)
{
	free(env->tracefs);
	free(env->debugfs_kvm);
	*env = (struct env){ .root = "" };
}
