// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the guests, the providers and the names of fields. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/process.h"
#include "lib/text.h"
#include "lib/xalloc.h"
#include "cmd/top.h"
#include "cmd/source.h"
#include "core/monitor.h"
#include "host/guest_proc.h"

void list_guest_line(const struct guest *guest)
{
	printf("%7d %4zu  %s\n", (int)guest->pid, guest->nr_vcpus, guest->name);
}

void list_guest_name(const struct guest *guest)
{
	printf("%s\tprocess %d\n", guest->name, (int)guest->pid);
}

void list_guest_pid(const struct guest *guest)
{
	printf("%d\t%s\n", (int)guest->pid, guest->name);
}

void list_field(const char *name)
{
	printf("  %s\n", name);
}

/* Replaces characters that are special in the shell by a dot, which matches any character. */
void list_field_pattern(const char *name)
{
	for (; *name; name++)
		putchar(*name == '(' || *name == ')' ? '.' : *name);
	putchar('\n');
}

void list_event(const char *name)
{
	if (!strchr(name, '('))
		puts(name);
}

int list_providers(const struct env *env, const struct provider_options *options)
{
	const struct provider *const *list = providers_of(env);

	for (size_t i = 0; list[i]; i++) {
		struct error error = { "" };
		int err = provider_try(list[i], env, options, &error);

		if (err && !error.text[0])
			error_set(&error, 0, "%s", strerror(-err));
		printf("%-12s %s\n%-12s %s%s%s\n", live_providers[i]->name,
		       live_providers[i]->help, "", err ? "not here" : "works here",
		       error.text[0] ? ": " : "", error.text);
	}
	return STATUS_OK;
}

/*
 * Names the processes that must be guests but cannot be examined, and counts the others: not for
 * root, from which some process always hides.
 */
static int say_denied(const struct env *env, const struct guests *guests)
{
	size_t nr_likely = 0, nr = 0;
	pid_t pid;

	for (; (pid = guests_denied_at(guests, nr)); nr++) {
		if (!guest_is_likely(env, pid))
			continue;
		fputs(nr_likely++ ? "," : "kvmtop: no right to look into these guests:", stderr);
		fprintf(stderr, " %d (%s)", (int)pid, guest_name_find(env, pid).name);
	}
	if (nr_likely)
		fprintf(stderr, ": %sCAP_SYS_PTRACE is needed\n", unless_root("root or "));
	if (nr > nr_likely && geteuid())
		fprintf(stderr, "kvmtop: no right to look into %zu %sprocess%s; none is "
				"named as a VMM, or has run a guest\n",
			nr - nr_likely, nr_likely ? "other " : "",
			nr - nr_likely == 1 ? "" : "es");
	return nr_likely ? STATUS_FAILURE : STATUS_OK;
}

/* For people who look for a guest, and for the shell's completion: needs no provider. */
int list_guests(const struct env *env, list_guest *print)
{
	struct guests *guests = guests_new(env);
	const struct guest *guest;
	struct error error = { "" };
	int err = guests_refresh(guests, clock_now_ns(), &error);
	int status = STATUS_OK;

	for (size_t i = 0; !err && (guest = guests_at(guests, i)); i++)
		print(guest);
	if (!err && print == list_guest_line)
		status = say_denied(env, guests);
	guests_free(guests);
	return err ? say_failure(err, &error) : status;
}

void list_fields(const struct fields *fields, list_name *print)
{
	uint32_t n = fields_count(fields);
	const char **names = xcalloc(n + 1, sizeof(*names));
	size_t nr = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct field *field = fields_get(fields, i);

		/* No view shows these. */
		if (field->use != USE_TIME && field->use != USE_CPU && field->use != USE_HOST &&
		    field->use != USE_EXIT_PART && !field->is_abandoned)
			names[nr++] = field->listed;
	}
	qsort(names, nr, sizeof(*names), text_compare);
	for (size_t i = 0; i < nr; i++) {
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			print(names[i]);
	}
	free(names);
}
