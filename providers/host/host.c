// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * host - numbers of the host's scheduler, cgroups and topology about guests, vCPUs and CPUs.
 *
 * core/facts/field.h lists the rows. Nothing is switched on in the kernel: its files exist anyway.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/file.h"
#include "lib/xalloc.h"
#include "providers/host/host.h"
#include "providers/providers.h"

/* ---- the provider */

struct host_state {
	struct provider_args args;
	struct host_fields fields;
	struct host_threads *threads;
	struct host_vmms *vmms;
	struct host_cpus *cpus;
	struct host_memory *memory;
	int gives_huge_pages; /* when it was opened */
	bool has_threads, has_vmms, has_cpus, has_huge_pages; /* are wanted */
};

static void host_close(void *state)
{
	struct host_state *host = state;

	if (!host)
		return;
	host_threads_free(host->threads);
	host_vmms_free(host->vmms);
	host_memory_free(host->memory);
	host_cpus_free(host->cpus);
	free(host);
}

/* proc(5), swaps: a heading, and a line for each. */
static bool has_swap(const struct env *env)
{
	char text[1024];
	const char *line;

	env_read(env, text, sizeof(text), "/proc/swaps");
	line = strchr(text, '\n');
	return line && line[1];
}

/* Transparent ones, "[always] madvise never", or some of hugetlbfs that are free. -1: not known. */
static int gives_huge_pages(const struct env *env)
{
	static const char transparent[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char path[PATH_MAX], text[64];
	int gives = -1;
	glob_t pools;

	if (env_read(env, text, sizeof(text), "%s", transparent) > 0)
		gives = !strstr(text, "[never]");
	env_path(env, path, sizeof(path), "/sys/kernel/mm/hugepages/*/free_hugepages");
	if (gives == 1 || glob(path, 0, NULL, &pools) != 0)
		return gives;
	gives = 0;
	for (size_t i = 0; i < pools.gl_pathc; i++)
		gives |= read_small(pools.gl_pathv[i], text, sizeof(text)) > 0 && text[0] != '0';
	globfree(&pools);
	return gives;
}

static int host_open(const struct provider_args *args, void **ret_state, struct error *error)
{
	struct host_state *host = xcalloc(1, sizeof(*host));

	(void)error;
	host->args = *args;
	host->cpus = host_cpus_new(args->env, &host->fields);
	host->memory = host_memory_new(args->env, args->guests, host->cpus);
	host->threads = host_threads_new(args->env, args->guests, &host->fields, host->memory);
	host->vmms = host_vmms_new(args->env, args->guests, &host->fields);
	host_fields_add(args->fields, args->source, &host->fields);
	if (host_memory_has_nodes(args->env))
		host_fields_add_rare(&host->fields, HOST_REMOTE);
	if (has_swap(args->env))
		host_fields_add_rare(&host->fields, HOST_SWAPPED);
	host->gives_huge_pages = gives_huge_pages(args->env);
	if (host->gives_huge_pages >= 0)
		host_fields_add_rare(&host->fields, HOST_HUGE);
	*ret_state = host;
	return 0;
}

/* The flag of the kind of reading that the field needs: threads, CPUs, VMMs, or huge pages. */
static bool *what_has(struct host_state *host, const struct field *field)
{
	if (field->use == USE_HOST && host_is_of_cpu(field->part))
		return &host->has_cpus;
	if (field->use == USE_HOST && field->part == HOST_THREAD)
		return &host->has_vmms;
	if (field->use == USE_HOST && field->part == HOST_HUGE)
		return &host->has_huge_pages;
	return &host->has_threads;
}

static int host_want(void *state, const struct want *want, struct error *error)
{
	struct host_state *host = state;

	(void)error;
	host->has_threads = host->has_vmms = host->has_cpus = host->has_huge_pages = false;
	for (uint32_t i = 0; i < fields_count(host->args.fields); i++) {
		const struct field *field = fields_get(host->args.fields, i);

		if (field->source == host->args.source && field_set_has(&want->fields, i))
			*what_has(host, field) = true;
	}
	return 0;
}

/* Where a quota cannot be read there may be one. */
static void say_hidden(const struct host_state *host, struct error *error)
{
	size_t nr = host_threads_hidden(host->threads);

	if (nr)
		error_set(error, 0, "the quota of %zu vCPU%s is not known: %s outside of kvmtop's "
				"cgroup namespace; run kvmtop in the host's (docker run "
				"--cgroupns=host)",
			  nr, nr == 1 ? "" : "s",
			  nr == 1 ? "its cgroup is" : "their cgroups are");
}

static int host_collect(void *state, struct sample *sample, struct error *error)
{
	struct host_state *host = state;
	int err;

	if (!host->has_threads && !host->has_vmms && !host->has_cpus && !host->has_huge_pages)
		return -EAGAIN;
	sample->time_ns[host->args.source] = clock_now_ns();
	if (host->has_threads) {
		host_threads_collect(host->threads, sample,
				     &sample->time_ns[host->args.source]);
		say_hidden(host, error);
	}
	if (host->has_vmms)
		host_vmms_collect(host->vmms, sample);
	if (host->has_huge_pages)
		sample_add(sample, (struct key){ GUEST_NONE, -1, host->fields.parts[HOST_HUGE] },
			   (uint64_t)host->gives_huge_pages, 0);
	if (host->has_cpus) {
		err = host_cpus_collect(host->cpus, sample);
		if (err) /* it may be read next time */
			error_set(error, 0, "cannot read /proc/stat: %s", strerror(-err));
	}
	return 0;
}

const struct provider host_provider = {
	.name = "host",
	.help = "host CPUs, and how vCPUs' threads share them, by /proc, /sys and cgroups",
	.is_always_by_guest = true,
	.open = host_open,
	.want = host_want,
	.collect = host_collect,
	.close = host_close,
};
