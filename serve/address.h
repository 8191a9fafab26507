/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address - where a server listens: ADDRESS:PORT, [ADDRESS]:PORT, unix:PATH or systemd.
 *
 * Without an address, PORT or :PORT, it is the loopback interface. "systemd" is a socket that
 * systemd passes, see sd_listen_fds(3).
 */
#ifndef KVMTOP_SERVE_ADDRESS_H
#define KVMTOP_SERVE_ADDRESS_H

#include <stdbool.h>

#include "base/why.h"

/* Whether the text is an address at all; opens nothing. 0, or -EINVAL with why. */
int address_check(const char *text, struct why *why);

/*
 * Opens a listening socket. ret_is_open: other machines can reach it. 0, or -errno with why; the
 * caller closes *ret_fd, and removes what address_path() says.
 */
int address_listen(const char *text, int *ret_fd, bool *ret_is_open, struct why *why);

/* The path of a unix socket that address_listen() made; NULL: of another kind. */
const char *address_path(const char *text);

#endif
