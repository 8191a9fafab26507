/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ppc - the one event that kvmtrace_format prints by itself, whatever the rules say: an
 * instruction of PowerPC that KVM emulated, with its mnemonic.
 */
#ifndef KVMTOP_TRACE_RULES_PPC_H
#define KVMTOP_TRACE_RULES_PPC_H

#include "trace/rules/rules.h"

/* Whether it is that event, of kvmtrace. */
bool ppc_is_instruction(const struct rules_values *values);

/* Its line. Errors of out are the caller's. */
void ppc_print(const struct rules_values *values, FILE *out);

#endif
