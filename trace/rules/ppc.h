/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppc - an emulated PowerPC instruction: the one event that kvmtrace_format prints without a rule,
 * with its mnemonic, and the only one in its statistics (-s).
 */
#ifndef KVMTOP_TRACE_RULES_PPC_H
#define KVMTOP_TRACE_RULES_PPC_H

#include "trace/rules/rules.h"

/* Whether the record is a PPC_INSTR event of kvmtrace. */
bool ppc_is_instruction(const struct rules_values *values);

/* Prints the event's line. The caller checks out for errors. */
void ppc_print(const struct rules_values *values, FILE *out);

enum ppc_table {
	PPC_MNEMONIC,
	PPC_SPR, /* mnemonic and special-purpose register */
	PPC_DCR, /* mnemonic and device control register */
	PPC_TLB, /* mnemonic and word of the TLB's entry */
	NR_PPC_TABLES,
};

/* How often which instruction was emulated. Zero-initialised is empty. */
struct ppc_counts {
	struct ppc_count *tables[NR_PPC_TABLES];
};

void ppc_counts_add(struct ppc_counts *counts, const struct rules_values *values);

/* As kvmtrace_format -s: the tables that are not empty, the most frequent first, then by name. */
void ppc_counts_print(struct ppc_counts *counts, FILE *out);
void ppc_counts_release(struct ppc_counts *counts);

#endif
