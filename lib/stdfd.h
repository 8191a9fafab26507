/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stdfd - standard input, output and error are open, however we were started.
 */
#ifndef KVMTOP_LIB_STDFD_H
#define KVMTOP_LIB_STDFD_H

/*
 * Opens /dev/null in place of each one that is closed; to be called first in main(). Otherwise the
 * next file that is opened would get its number, and output would go into that file.
 */
void stdfd_fill(void);

#endif
