// SPDX-License-Identifier: GPL-2.0-or-later
/* The guest that a user names, and the messages where it is none, or more than one. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/read.h"
#include "host/guest.h"
#include "host/guest_list.h"

/* Adds an item to the list that begins at start in why; a list without room ends in "...". */
static void list_add(struct why *why, size_t start, const char *item)
{
	static const char more[] = ", ...";
	size_t at = strlen(why->text), room = sizeof(why->text) - at;
	const char *comma = at == start ? "" : ", ";

	if (at >= strlen(more) && !strcmp(why->text + at - strlen(more), more))
		return;
	if (strlen(comma) + strlen(item) + sizeof(more) + sizeof("): use -p PID") > room)
		item = more + strlen(", ");
	snprintf(why->text + at, room, "%s%s", comma, item);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int not_found(const struct guests *guests, const char *name, struct why *why)
{
	const char **names = calloc(guests_count(guests) + 1, sizeof(*names));
	size_t start;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < guests_count(guests); i++)
		names[i] = guests_at(guests, i)->name;
	qsort(names, guests_count(guests), sizeof(*names), compare_names);
	why_set(why, 0, "no guest named \"%.64s\"; there %s", name,
		guests_count(guests) ? "are: " : "are no guests");
	start = strlen(why->text);
	for (size_t i = 0; i < guests_count(guests); i++)
		if (!i || strcmp(names[i], names[i - 1]))
			list_add(why, start, names[i]);
	free(names);
	return -ENOENT;
}

static int not_unique(const struct guests *guests, const char *name, size_t nr, struct why *why)
{
	size_t start, end;

	why_set(why, 0, "%zu guests are named \"%.64s\" (pids ", nr, name);
	start = strlen(why->text);
	for (size_t i = 0; i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);
		char pid[12];

		if (strcmp(guest->name, name))
			continue;
		snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
		list_add(why, start, pid);
	}
	end = strlen(why->text);
	snprintf(why->text + end, sizeof(why->text) - end, "): use -p PID");
	return -ENOTUNIQ;
}

int guests_by_name(const struct guests *guests, const char *name, const struct guest **ret_guest,
		   struct why *why)
{
	const struct guest *found = NULL;
	struct why unread;
	size_t nr = 0;

	for (size_t i = 0; i < guests_count(guests); i++) {
		if (strcmp(guests_at(guests, i)->name, name))
			continue;
		found = guests_at(guests, i);
		nr++;
	}
	if (!why)
		why = &unread;
	if (!nr)
		return not_found(guests, name, why);
	if (nr > 1)
		return not_unique(guests, name, nr, why);
	*ret_guest = found;
	return 0;
}

int guests_choose(const struct guests *guests, const char *name, pid_t pid,
		  const struct guest **ret_guest, struct why *why)
{
	const struct guest *guest;
	char path[PATH_MAX];

	if (name)
		return guests_by_name(guests, name, ret_guest, why);
	guest = guests_by_pid(guests, pid);
	env_path(guests->env, path, sizeof(path), "/proc/%d", (int)pid);
	if (!guest && !path_exists(path))
		return why_set(why, -ESRCH, "there is no process %d", (int)pid);
	if (!guest)
		return why_set(why, -ESRCH, "process %d is not a KVM guest: it holds no VM",
			       (int)pid);
	*ret_guest = guest;
	return 0;
}
