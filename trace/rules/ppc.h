/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppc - an emulated PowerPC instruction: the one event that kvmtrace_format prints without a rule,
 * with its mnemonic.
 */
#ifndef KVMTOP_TRACE_RULES_PPC_H
#define KVMTOP_TRACE_RULES_PPC_H

#include "trace/rules/rules.h"

/* Whether the record is a PPC_INSTR event of kvmtrace. */
bool ppc_is_instruction(const struct rules_values *values);

/* Prints the event's line. The caller checks out for errors. */
void ppc_print(const struct rules_values *values, FILE *out);

#endif
