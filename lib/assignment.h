/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * assignment - lines "name = value" of files that people edit; # begins a comment.
 */
#ifndef KVMTOP_LIB_ASSIGNMENT_H
#define KVMTOP_LIB_ASSIGNMENT_H

#include "lib/why.h"

/*
 * Cuts the line into a name and a value, without blanks around them. 1; 0: the line is empty, or a
 * comment; -EINVAL with why: it has no "=".
 */
int assignment_parse(char *line, char **ret_name, char **ret_value, struct why *why);

#endif
