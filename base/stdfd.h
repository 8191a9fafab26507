/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stdfd - standard input, output and error are open, however we were started.
 */
#ifndef KVMTOP_BASE_STDFD_H
#define KVMTOP_BASE_STDFD_H

/*
 * Opens those that are closed, first thing in main(). A closed one would be given to the next file
 * that is opened, and what is printed would go there. Using one of these fails instead.
 */
void stdfd_fill(void);

#endif
