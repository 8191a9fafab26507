// SPDX-License-Identifier: GPL-2.0-or-later
/* The arguments of a process, the values of options, and the parts of QEMU's values. */
#include <string.h>

#include "host/arguments.h"

bool args_next(struct args *args, const char **ret_arg, size_t *ret_len)
{
	const char *nul;

	if (args->at >= args->end)
		return false;
	nul = memchr(args->at, '\0', (size_t)(args->end - args->at));
	*ret_arg = args->at;
	*ret_len = (size_t)((nul ? nul : args->end) - args->at);
	args->at += *ret_len + 1;
	return true;
}

int args_value_at(const char *option, const char *arg, size_t len)
{
	size_t n = strlen(option);

	if (len < n || memcmp(arg, option, n) || (len > n && arg[n] != '='))
		return -1;
	return len == n ? 0 : (int)n + 1;
}

bool args_value(struct args *args, const char *option, const char **ret_value, size_t *ret_len)
{
	while (args_next(args, ret_value, ret_len)) {
		int offset = args_value_at(option, *ret_value, *ret_len);

		if (offset == 0)
			return args_next(args, ret_value, ret_len);
		if (offset < 0)
			continue;
		*ret_value += offset;
		*ret_len -= (size_t)offset;
		return true;
	}
	return false;
}

size_t args_part(const char **pos, const char *end, char *part, size_t size)
{
	const char *p = *pos;
	size_t len = 0;

	for (; p < end; p++) {
		if (*p == ',' && (++p == end || *p != ','))
			break;
		if (len < size)
			part[len++] = *p;
	}
	*pos = p;
	return len;
}
