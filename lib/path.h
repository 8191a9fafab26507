/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path - parts of paths.
 */
#ifndef KVMTOP_LIB_PATH_H
#define KVMTOP_LIB_PATH_H

#include <string.h>

/* What is behind the last slash; of a path that ends in one, all of it. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
