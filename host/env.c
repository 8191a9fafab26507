/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env - paths below the root that is looked at, and small files read whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "host/env.h"

bool env_is_captured(const struct env *env)
{
	return env->root[0] != '\0';
}

char *env_path(const struct env *env, char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int root, rest;

	if (!size)
		return buf;
	root = snprintf(buf, size, "%s", env->root);
	if (root < 0 || (size_t)root >= size)
		goto too_long;
	va_start(args, fmt);
	rest = vsnprintf(buf + root, size - (size_t)root, fmt, args);
	va_end(args);
	if (rest >= 0 && (size_t)rest < size - (size_t)root)
		return buf;
too_long:
	buf[0] = '\0';
	return buf;
}

/* The kernel hands out generated text in pieces, so one read() is not the file. */
static long read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size - 1) {
		ssize_t n = read(fd, buf + len, size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	buf[len] = '\0';
	return (long)len;
}

long env_read(const char *path, char *buf, size_t size)
{
	long len;
	int fd;

	if (!size)
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read_all(fd, buf, size);
	close(fd);
	return len;
}
