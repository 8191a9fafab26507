// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands in for program.c and raw.c in a build without BPF: there is no program to open. */
#include <errno.h>

#include "providers/bpf/attach.h"
#include "providers/exits/program.h"
#include "providers/exits/raw.h"

void exits_raw_find(const struct split *split, struct exits_raw *ret_raw, struct why *why)
{
	(void)split;
	(void)why;
	*ret_raw = (struct exits_raw){ .way = EXITS_BY_RECORD };
}

bool exits_bpf_look_for_nested(struct exits_bpf *bpf)
{
	(void)bpf;
	return false;
}

void exits_bpf_look_for_interrupts(struct exits_bpf *bpf)
{
	(void)bpf;
}

enum exits_way exits_bpf_way(const struct exits_bpf *bpf)
{
	(void)bpf;
	return EXITS_BY_RECORD;
}

enum exits_way exits_bpf_polls(const struct exits_bpf *bpf)
{
	(void)bpf;
	return EXITS_BY_RECORD;
}

bool exits_bpf_knows_polls(void)
{
	return false;
}

int exits_bpf_open(const struct exits_bpf_config *config, struct exits_bpf **ret_bpf,
		   struct why *why)
{
	(void)ret_bpf;
	return bpf_probe(config->env, why);
}

int exits_bpf_add_threads(struct exits_bpf *bpf, struct why *why)
{
	(void)bpf;
	return bpf_probe(NULL, why);
}

uint32_t exits_bpf_max_threads(const struct exits_bpf *bpf)
{
	(void)bpf;
	return 0;
}

int exits_bpf_attach(struct exits_bpf *bpf, struct why *why)
{
	(void)bpf;
	return bpf_probe(NULL, why);
}

void exits_bpf_close(struct exits_bpf *bpf)
{
	(void)bpf;
}

bool exits_bpf_knows_waits(const struct exits_bpf *bpf)
{
	(void)bpf;
	return false;
}

bool exits_bpf_is_timed(const struct exits_bpf *bpf)
{
	(void)bpf;
	return false;
}

const struct exits_code *exits_bpf_codes(const struct exits_bpf *bpf)
{
	(void)bpf;
	return NULL;
}

const volatile struct exits_thread *exits_bpf_thread(const struct exits_bpf *bpf, uint32_t i)
{
	(void)bpf;
	(void)i;
	return NULL;
}

struct exits_bpf_lost exits_bpf_lost(const struct exits_bpf *bpf)
{
	(void)bpf;
	return (struct exits_bpf_lost){ 0, 0, 0, 0 };
}

void exits_bpf_set_long(struct exits_bpf *bpf, uint64_t longer_ns, const bool *is_left_out)
{
	(void)bpf;
	(void)longer_ns;
	(void)is_left_out;
}

int exits_bpf_long(struct exits_bpf *bpf, exits_long_fn take, void *arg)
{
	(void)bpf;
	(void)take;
	(void)arg;
	return -ENOTSUP;
}

long exits_bpf_arguments(struct exits_bpf *bpf, const struct exits_argument_key **ret_keys,
			 const struct exits_cell **ret_cells, struct why *why)
{
	(void)bpf;
	(void)ret_keys;
	(void)ret_cells;
	return bpf_probe(NULL, why);
}

bool exits_bpf_is_over(const struct exits_bpf *bpf, const struct exits_argument_key *key)
{
	(void)bpf;
	(void)key;
	return false;
}

void exits_bpf_end_sample(struct exits_bpf *bpf, const uint32_t *numbers, uint32_t nr)
{
	(void)bpf;
	(void)numbers;
	(void)nr;
}

uint32_t exits_bpf_nr_late(const struct exits_bpf *bpf)
{
	(void)bpf;
	return 0;
}

int exits_bpf_take_late(struct exits_bpf *bpf, exits_late_fn take, void *arg)
{
	(void)bpf;
	(void)take;
	(void)arg;
	return 0;
}
