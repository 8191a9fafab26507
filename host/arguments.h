/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arguments - walks over the arguments of a process: the text of proc(5) cmdline, in which a NUL
 * ends each.
 */
#ifndef KVMTOP_HOST_ARGUMENTS_H
#define KVMTOP_HOST_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

/* What is left of the text. */
struct args {
	const char *at, *end;
};

/* Takes the next argument. False: there is none. */
bool args_next(struct args *args, const char **ret_arg, size_t *ret_len);

/*
 * Where the value of the option begins: 0: it is the next argument; > 0: the offset in this one,
 * after "OPTION="; -1: this is another option.
 */
int args_value_at(const char *option, const char *arg, size_t len);

/* Walks to the option, and takes its value. False: the option does not follow. */
bool args_value(struct args *args, const char *option, const char **ret_value, size_t *ret_len);

/*
 * Takes the next part off the value *pos of the form key=value,key=value, with doubled commas made
 * single. Returns its length, at most size.
 */
size_t args_part(const char **pos, const char *end, char *part, size_t size);

#endif
