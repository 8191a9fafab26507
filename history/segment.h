/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment - a writer from its start to its end, and its machine: what moments are of.
 */
#ifndef KVMTOP_HISTORY_SEGMENT_H
#define KVMTOP_HISTORY_SEGMENT_H

#include "host/env.h"
#include "host/guest.h"

struct segment {
	char host[GUEST_NAME_SIZE]; /* of a fleet, the server */
	char kernel[65], boot_id[40];
	char arch[24];	 /* struct arch's name: "SVM" */
	char engine[16]; /* "bpf"; "": not known */
	int nr_cpus;	 /* 0: not known */
	double interval_s;
};

/* Sources: host/machine.h, and kernel/osrelease and kernel/random/boot_id below /proc/sys. */
void segment_of_machine(const struct env *env, const char *engine, double interval_s,
			struct segment *ret_segment);

#endif
