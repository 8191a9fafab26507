// SPDX-License-Identifier: GPL-2.0-or-later
/* The parser of counter files. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "providers/debugfs/counter.h"

bool counter_parse(const char *text, uint64_t *ret_value)
{
	const char *at = text + strspn(text, " \t\n");
	uint64_t sum = 0;

	if (!*at)
		return false;
	while (*at) {
		bool is_negative = *at == '-';
		unsigned long long value;
		char *end;

		if (!isdigit((unsigned char)at[is_negative]))
			return false;
		errno = 0;
		value = strtoull(at + is_negative, &end, 10);
		if (errno || (*end && !strchr(" \t\n", *end)))
			return false;
		if (!is_negative && __builtin_add_overflow(sum, value, &sum))
			sum = UINT64_MAX;
		at = end + strspn(end, " \t\n");
	}
	*ret_value = sum;
	return true;
}

/* Reads up to the newline: nearly always one read() gives the whole value. */
static int read_text(int fd, char *buf, size_t size)
{
	size_t len = 0;

	do {
		ssize_t n = read(fd, buf + len, size - 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
		if (len == size - 1)
			return -EFBIG;
	} while (len == 0 || buf[len - 1] != '\n');
	buf[len] = '\0';
	return 0;
}

int counter_read(int folder, const char *name, uint64_t *ret_value)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	char text[4096];
	int err;

	if (fd < 0)
		return -errno;
	err = read_text(fd, text, sizeof(text));
	close(fd);
	if (err < 0)
		return err;
	return counter_parse(text, ret_value) ? 0 : -EINVAL;
}
