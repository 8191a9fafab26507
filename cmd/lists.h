/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lists - what can be counted: the guests, the providers, the names of fields; the same for the
 * shell's completion.
 */
#ifndef KVMTOP_CMD_LISTS_H
#define KVMTOP_CMD_LISTS_H

#include "core/facts/field.h"
#include "core/guests/guests.h"
#include "core/provider.h"
#include "host/env.h"

/* How a line is printed: for people, or for the shell. */
typedef void list_guest(const struct guest *guest);
typedef void list_name(const char *name);

void list_guest_line(const struct guest *guest);
void list_guest_name(const struct guest *guest); /* this one and the next: for the shell */
void list_guest_pid(const struct guest *guest);
void list_field(const char *name);
void list_field_pattern(const char *name);
void list_event(const char *name); /* prints nothing if it is no event */

/*
 * --list-guests: needs no provider. With list_guest_line it also names the processes that cannot be
 * examined. Returns the exit status; prints its errors.
 */
int list_guests(const struct env *env, list_guest *print);

/* --list-providers: tries each. Returns the exit status. */
int list_providers(const struct env *env, const struct provider_options *options);

/* -f help: the names of the fields, sorted. */
void list_fields(const struct fields *fields, list_name *print);

#endif
