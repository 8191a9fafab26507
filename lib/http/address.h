/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address - where a server listens: ADDRESS:PORT, [ADDRESS]:PORT, unix:PATH or systemd.
 *
 * :PORT is every address of this machine; PORT alone is the loopback interface. "systemd" is a
 * socket that systemd passes, see sd_listen_fds(3).
 */
#ifndef KVMTOP_LIB_HTTP_ADDRESS_H
#define KVMTOP_LIB_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/error.h"

/* A listening socket. */
struct listener {
	int fd;	      /* the caller closes it */
	bool is_open; /* other machines can reach it */
	const char *path; /* of a unix socket that was made, and its file; NULL: of another kind */
	dev_t dev;
	ino_t ino;
};

/* Whether the text is an address at all; opens nothing. 0, or -EINVAL with error. */
int address_check(const char *text, struct error *error);

/* Opens a listening socket. The text outlives it. 0, or -errno with error. */
int address_listen(const char *text, struct listener *ret_listener, struct error *error);

/* Removes the file of a unix socket, unless another program has made one there meanwhile. */
void address_remove(const struct listener *listener);

#endif
