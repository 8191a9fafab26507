/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_acrn - ACRN's own table of VM exits, for kvmtop report.
 */
#ifndef KVMTOP_CMD_REPORT_ACRN_H
#define KVMTOP_CMD_REPORT_ACRN_H

#include <stdio.h>

#include "lib/error.h"
#include "trace/exits/recording.h"

/* ACRN's vm_exit report, to the letter; or appended to csv ("-": printed) its CSV. */
int report_acrn(const struct recording *recording, double mhz, const char *csv, FILE *out,
		struct error *why);

#endif
