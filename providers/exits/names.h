/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names - the fields of the provider "exits": names for its cells and arguments.
 */
#ifndef KVMTOP_PROVIDERS_EXITS_NAMES_H
#define KVMTOP_PROVIDERS_EXITS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "core/facts/field.h"
#include "providers/exits/shared.h"
#include "core/provider.h"

struct exits_names;

/*
 * Adds the fields that are known before any exit. exit: the split of the VM exit, NULL: none;
 * parts: the parts of time that are measured, as bits.
 */
struct exits_names *exits_names_new(const struct provider_args *args, const struct split *exit,
				    unsigned int parts);
void exits_names_free(struct exits_names *names);

/* The fields of all exits of a kind, of the CPU, and of a part of the time (or FIELD_NONE). */
uint32_t exits_names_parent(const struct exits_names *names, enum exit_kind kind);
uint32_t exits_names_cpu(const struct exits_names *names);
uint32_t exits_names_time(const struct exits_names *names, enum time_part part);

/* Adds the field of a part that was not measured until now. */
void exits_names_add_part(struct exits_names *names, enum time_part part);

/* arch.h's REASON_* of a cell of VM exits; 0 for other cells. */
unsigned int exits_names_flags(const struct exits_names *names, const struct exits_code *code);

/* The field of a cell. */
uint32_t exits_names_cell(struct exits_names *names, const struct exits_code *code);

/*
 * The same for an argument. Arguments without a field of their own share one, the rest: without
 * may_add, all new arguments; else the arguments beyond the limit of names. code: the exit's;
 * NULL: not known.
 */
uint32_t exits_names_argument(struct exits_names *names, const struct exits_argument_key *key,
			      const struct exits_code *code, bool may_add);
uint32_t exits_names_rest(struct exits_names *names, const struct exits_argument_key *key,
			  const struct exits_code *code);

#endif
