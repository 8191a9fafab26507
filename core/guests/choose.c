// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the guest that a user names, and words the errors where none or several have the name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/process.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "core/guests/guests.h"
#include "core/guests/list.h"
#include "host/guest_proc.h"

#define REMEDY_SIZE sizeof(": root or CAP_SYS_PTRACE is needed") /* the room that a list leaves */

static void add_text(struct error *error, const char *text)
{
	size_t end = strlen(error->text);

	snprintf(error->text + end, sizeof(error->text) - end, "%s", text);
}

static void add_remedy(struct error *error)
{
	add_text(error, ": ");
	add_text(error, unless_root("root or "));
	add_text(error, "CAP_SYS_PTRACE is needed");
}

/* Adds an item to the list that begins at start in error; a list without room ends in "...". */
static void list_add(struct error *error, size_t start, const char *item)
{
	static const char more[] = ", ...";
	size_t at = strlen(error->text), room = sizeof(error->text) - at;
	const char *comma = at == start ? "" : ", ";

	if (at >= strlen(more) && !strcmp(error->text + at - strlen(more), more))
		return;
	if (strlen(comma) + strlen(item) + sizeof(more) + REMEDY_SIZE > room)
		item = more + strlen(", ");
	snprintf(error->text + at, room, "%s%s", comma, item);
}

/*
 * Where there are guests that the search cannot see: their processes, by command or threads, or
 * the number of processes that it cannot tell from guests. Returns whether there are any.
 */
static bool add_denied(const struct guests *guests, struct error *error)
{
	size_t nr = 0, nr_likely = 0, start = 0;
	char item[GUEST_NAME_SIZE + 16];
	pid_t pid;

	for (; (pid = guests_denied_at(guests, nr)); nr++) {
		if (!guest_is_likely(guests->env, pid))
			continue;
		if (!nr_likely++) {
			error_add(error, "no right to look into these guests: ");
			start = strlen(error->text);
		}
		snprintf(item, sizeof(item), "%d (%s)", (int)pid,
			 guest_name_find(guests->env, pid).name);
		list_add(error, start, item);
	}
	if (!geteuid()) /* some process always hides from root */
		nr = nr_likely;
	if (nr && !nr_likely)
		error_add(error, "no right to look into %zu process%s", nr, nr == 1 ? "" : "es");
	if (nr)
		add_remedy(error);
	return nr;
}

static int not_found(const struct guests *guests, const char *name, struct error *error)
{
	const char **names = xcalloc(guests_count(guests) + 1, sizeof(*names));
	size_t start;

	for (size_t i = 0; i < guests_count(guests); i++)
		names[i] = guests_at(guests, i)->name;
	qsort(names, guests_count(guests), sizeof(*names), text_compare);
	error_set(error, 0, "no guest named \"%.64s\"", name);
	if (!add_denied(guests, error) && !guests_count(guests))
		error_add(error, "there are no guests");
	if (guests_count(guests))
		error_add(error, "there are: ");
	start = strlen(error->text);
	for (size_t i = 0; i < guests_count(guests); i++)
		if (!i || strcmp(names[i], names[i - 1]))
			list_add(error, start, names[i]);
	free(names);
	return -ENOENT;
}

void guest_put_pid_first(char *ret_name, size_t size, pid_t pid, const char *name)
{
	name_put(ret_name, size, "%d %s", (int)pid, name);
}

const char *guest_shared_name(const struct guest *guest)
{
	char pid[16];
	size_t len = (size_t)snprintf(pid, sizeof(pid), "%d ", (int)guest->pid);

	return strncmp(guest->name, pid, len) || !guest->name[len] ? guest->name :
								      guest->name + len;
}

static bool has_pid_first(const struct guest *guest, const char *word)
{
	char name[GUEST_NAME_SIZE];

	guest_put_pid_first(name, sizeof(name), guest->pid, word);
	return word[0] && !strcmp(guest->name, name);
}

/* "PROJECT/TITLE", or the name in place of the title. */
static bool has_full_name(const struct guest *guest, const char *word)
{
	const char *project = guest->words.text[WORD_PROJECT];
	size_t len = strlen(project);

	if (!len || strncmp(word, project, len) || word[len] != '/' || !word[len + 1])
		return false;
	return !strcmp(word + len + 1, guest->words.text[WORD_TITLE]) ||
	       !strcmp(word + len + 1, guest->name);
}

static bool has_word(const struct guest *guest, const char *word)
{
	for (unsigned int i = 0; word[0] && i < GUEST_WORDS; i++) {
		bool is_uuid = i == WORD_UUID || i == WORD_POD;

		if (!(is_uuid ? strcasecmp : strcmp)(guest->words.text[i], word))
			return true;
	}
	return has_full_name(guest, word);
}

bool guest_is_called(const struct guest *guest, const char *word)
{
	return !strcmp(guest->name, word) || has_pid_first(guest, word) || has_word(guest, word);
}

const struct kallsyms *guest_kallsyms_of(const struct guest *guest,
					 const struct guest_kallsyms *list, size_t nr)
{
	for (size_t i = 0; guest && i < nr; i++) {
		if (guest_is_called(guest, list[i].guest))
			return list[i].symbols;
	}
	return NULL;
}

/* A name comes before an equal word of a platform. */
static bool is_meant(const struct guest *guest, const char *word, bool is_name)
{
	return is_name ? !strcmp(guest->name, word) : guest_is_called(guest, word);
}

static int not_unique(const struct guests *guests, const char *name, bool is_name, size_t nr,
		      struct error *error)
{
	size_t start;

	error_set(error, 0, is_name ? "%zu guests are named \"%.64s\" (pids " :
				      "the platform calls %zu guests \"%.64s\" (pids ", nr, name);
	start = strlen(error->text);
	for (size_t i = 0; i < guests_count(guests); i++) {
		const struct guest *guest = guests_at(guests, i);
		char pid[12];

		if (!is_meant(guest, name, is_name))
			continue;
		snprintf(pid, sizeof(pid), "%d", (int)guest->pid);
		list_add(error, start, pid);
	}
	add_text(error, ")");
	return -ENOTUNIQ;
}

int guests_advise(int err, struct error *error, const char *remedy)
{
	if (err == -ENOTUNIQ) {
		add_text(error, ": ");
		add_text(error, remedy);
	}
	return err;
}

static size_t count_meant(const struct guests *guests, const char *word, bool is_name,
			  const struct guest **ret_last)
{
	size_t nr = 0;

	for (size_t i = 0; i < guests_count(guests); i++) {
		if (!is_meant(guests_at(guests, i), word, is_name))
			continue;
		*ret_last = guests_at(guests, i);
		nr++;
	}
	return nr;
}

int guests_by_name(const struct guests *guests, const char *name, const struct guest **ret_guest,
		   struct error *error)
{
	const struct guest *found = NULL;
	bool is_name = true;
	size_t nr = count_meant(guests, name, is_name, &found);

	if (!nr) {
		is_name = false;
		nr = count_meant(guests, name, is_name, &found);
	}
	if (!nr)
		return error ? not_found(guests, name, error) : -ENOENT;
	if (nr > 1)
		return error ? not_unique(guests, name, is_name, nr, error) : -ENOTUNIQ;
	*ret_guest = found;
	return 0;
}

static int no_guest(const struct guests *guests, pid_t pid, struct error *error)
{
	if (!env_has(guests->env, "/proc/%d", (int)pid))
		return error_set(error, -ESRCH, "there is no process %d; kvmtop "
				 "--list-guests lists the guests", (int)pid);
	if (guests->finder && pid_list_has(guest_finder_denied(guests->finder), pid)) {
		error_set(error, -EACCES, "no right to look into process %d", (int)pid);
		add_remedy(error);
		return -EACCES;
	}
	return error_set(error, -ESRCH, "process %d is not a KVM guest: it holds no VM; "
			 "kvmtop --list-guests lists the guests", (int)pid);
}

/* ---- a choice that outlives the guest ---- */

void guest_choice_init(struct guest_choice *choice, const char *name, pid_t pid)
{
	*choice = (struct guest_choice){ .pid = name ? 0 : pid };
	snprintf(choice->word, sizeof(choice->word), "%s", name ? name : "");
}

int guest_choice_now(struct guest_choice *choice, const struct guests *guests, struct error *error)
{
	const struct guest *guest = choice->pid ? guests_by_pid(guests, choice->pid) : NULL;
	int err = 0;

	if (!choice->pid)
		err = guests_by_name(guests, choice->word, &guest, error);
	else if (!guest)
		err = no_guest(guests, choice->pid, error);
	if (guest)
		choice->id = guest->id;
	return err;
}

void guest_choice_point(struct guest_choice *choice, const struct guests *guests,
			const struct guest *guest)
{
	bool is_new = choice->id != guest->id;

	if (is_new) {
		guest_choice_init(choice, guest->is_named ? guest->name : NULL, guest->pid);
		choice->id = guest->id;
		choice->newest = UINT32_MAX;
	}
	/* By name the user meant all of them. */
	if (!guest->has_ended && (is_new || choice->newest))
		choice->newest = guests_at(guests, guests_count(guests) - 1)->id;
}

const struct guest *guest_choice_follow(struct guest_choice *choice, const struct guests *guests)
{
	const struct guest *guest = NULL;

	if (!choice->word[0] || guests_by_id(guests, choice->id) ||
	    guests_by_name(guests, choice->word, &guest, NULL) < 0 || !guest ||
	    guest->id <= choice->newest)
		return NULL;
	choice->id = guest->id;
	return guest;
}

int guest_choice_begin(struct guest_choice *choice, const char *name, pid_t pid,
		       const struct guests *guests, struct error *error)
{
	size_t nr = guests_count(guests);

	guest_choice_init(choice, name, pid);
	if (nr)
		choice->newest = guests_at(guests, nr - 1)->id;
	return guest_choice_now(choice, guests, error);
}

/* Whether it is the oldest so far of the guests that came after the choice and bear its name. */
static bool is_next(const struct guest_choice *choice, const struct guest *guest,
		    const struct guest *next)
{
	return guest->id > choice->newest && (!next || guest->id < next->id) &&
	       guest_is_called(guest, choice->word);
}

const struct guest *guest_choice_next(struct guest_choice *choice, const struct guests *guests)
{
	const struct guest *next = NULL, *guest;

	for (size_t i = 0; choice->word[0] && (guest = guests_at(guests, i)); i++)
		next = is_next(choice, guest, next) ? guest : next;
	for (size_t i = 0; choice->word[0] && (guest = guests_ended_at(guests, i)); i++)
		next = is_next(choice, guest, next) ? guest : next;
	if (next)
		choice->id = choice->newest = next->id;
	return next;
}

/* The latest that ended. */
static const struct guest *find_ended(const struct guest_choice *choice,
				      const struct guests *guests)
{
	const struct guest *found = NULL, *guest;

	for (size_t i = 0; (guest = guests_ended_at(guests, i)); i++) {
		if (choice->pid ? guest->pid == choice->pid : guest_is_called(guest, choice->word))
			found = guest;
	}
	return found;
}

int guest_choice_then(struct guest_choice *choice, const struct guests *guests, struct error *error)
{
	const struct guest *guest = guests_by_id(guests, choice->id);
	int err = -ENOENT;

	if (!guest && choice->pid)
		guest = guests_by_pid(guests, choice->pid);
	else if (!guest)
		err = guests_by_name(guests, choice->word, &guest, error);
	if (!guest && err == -ENOENT)
		guest = guests_find(guests, choice->id);
	if (!guest && err == -ENOENT)
		guest = find_ended(choice, guests);
	if (guest)
		choice->id = guest->id;
	else if (choice->pid)
		error_set(error, err, "no guest had a process or thread %d then", (int)choice->pid);
	return guest ? 0 : err;
}
