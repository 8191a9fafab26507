// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the programs of reasons when the first reason is wanted, and attaches them one by one. */
#include <bpf/bpf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/file.h"
#include "providers/tracepoint/bpf_reasons.h"
/* Needs the types above. */
#include "providers/tracepoint/reasons.skel.h"

static bool has_split(const struct bpf_reasons *reasons, const struct split *split)
{
	size_t i = 0;

	while (i < reasons->nr && reasons->splits[i] != split)
		i++;
	return i < reasons->nr;
}

int bpf_reasons_find(struct bpf_reasons *reasons, const struct env *env,
		     const struct counter *counters, uint32_t nr_counters)
{
	*reasons = (struct bpf_reasons){ .env = env, .counters = counters,
					 .nr_counters = nr_counters };
	for (uint32_t i = 0; i < nr_counters; i++) {
		const struct split *split = counters[i].split;

		if (!split || has_split(reasons, split))
			continue;
		if (split->place == EXIT_NOWHERE)
			return -ENOTSUP;
		if (reasons->nr == COUNTERS_SPLITS)
			return -E2BIG;
		reasons->splits[reasons->nr++] = split;
	}
	return 0;
}

static int add_code(const struct bpf_reasons *reasons, size_t split, uint64_t code,
		    uint32_t counter)
{
	struct counter_code key = { code, split };
	__u32 value = counter + 1;

	if (code < COUNTERS_DENSE) {
		reasons->program->bss->dense[split][code] = (__u16)value;
		return 0;
	}
	return bpf_map_update_elem(bpf_map__fd(reasons->program->maps.codes), &key, &value,
				   BPF_ANY) ? -errno : 0;
}

static int add_codes(const struct bpf_reasons *reasons)
{
	int err = 0;

	for (size_t i = 0; i < reasons->nr; i++) {
		for (uint32_t j = 0; j < reasons->nr_counters && !err; j++) {
			const struct counter *counter = &reasons->counters[j];

			if (counter->split != reasons->splits[i])
				continue;
			for (size_t k = 0; k < counter->nr_codes && !err; k++)
				err = add_code(reasons, i, counter->codes[k], j);
		}
	}
	return err;
}

static struct bpf_program *program_of(const struct bpf_reasons *reasons, size_t split)
{
	struct bpf_program *const programs[COUNTERS_SPLITS] = {
		reasons->program->progs.reason_0, reasons->program->progs.reason_1,
		reasons->program->progs.reason_2, reasons->program->progs.reason_3,
		reasons->program->progs.reason_4,
	};

	return programs[split];
}

/* Whether the module is loaded that has the types for the reasons. */
static bool has_types(const struct bpf_reasons *reasons, const struct split *split)
{
	char path[PATH_MAX];

	return !split->module || path_exists(env_path(reasons->env, path, sizeof(path),
						      "/sys/module/%s", split->module));
}

static int set_program(const struct bpf_reasons *reasons, size_t i)
{
	const struct split *split = i < reasons->nr ? reasons->splits[i] : NULL;
	struct bpf_program *program = program_of(reasons, i);
	bool is_loaded = split && has_types(reasons, split);

	bpf_program__set_autoload(program, is_loaded);
	if (!is_loaded)
		return 0;
	reasons->program->rodata->places[i] = split->place;
	return bpf_program__set_attach_target(program, 0, split->event);
}

int bpf_reasons_load(struct bpf_reasons *reasons, const struct bpf_reasons_place *place)
{
	int err;

	reasons->program = reasons_program__open();
	if (!reasons->program)
		return -errno;
	reasons->program->rodata->is_by_thread = place->is_by_thread;
	reasons->program->rodata->nr_cpus = place->nr_cpus;
	err = bpf_map__reuse_fd(reasons->program->maps.values, place->values);
	if (!err)
		err = bpf_map__reuse_fd(reasons->program->maps.slots, place->slots);
	for (size_t i = 0; i < COUNTERS_SPLITS && !err; i++)
		err = set_program(reasons, i);
	if (!err)
		err = reasons_program__load(reasons->program);
	if (!err)
		err = add_codes(reasons);
	if (err)
		bpf_reasons_unload(reasons);
	return err;
}

int bpf_reasons_attach(struct bpf_reasons *reasons, size_t split)
{
	struct bpf_program *program = program_of(reasons, split);

	if (!bpf_program__autoload(program))
		return -ENOENT;
	reasons->links[split] = bpf_program__attach(program);
	return reasons->links[split] ? 0 : -errno;
}

void bpf_reasons_detach(struct bpf_reasons *reasons, size_t split)
{
	bpf_link__destroy(reasons->links[split]);
	reasons->links[split] = NULL;
}

void bpf_reasons_unload(struct bpf_reasons *reasons)
{
	for (size_t i = 0; i < reasons->nr; i++)
		bpf_reasons_detach(reasons, i);
	reasons_program__destroy(reasons->program);
	reasons->program = NULL;
}
