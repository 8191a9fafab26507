/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source - the kinds of sources, and what each kind lacks.
 */
#ifndef KVMTOP_CORE_FACTS_SOURCE_H
#define KVMTOP_CORE_FACTS_SOURCE_H

#include <stdbool.h>

enum source_kind {
	SOURCE_LIVE,	   /* this machine, now */
	SOURCE_MACHINE,	   /* a captured machine, played as if it were this one */
	SOURCE_RECORDING,  /* the events of a trace.dat, perf.data ... */
	SOURCE_HISTORY,	   /* a history file: the samples of a machine */
	SOURCE_PROMETHEUS, /* what a Prometheus has of many hosts */
	SOURCE_KINDS
};

/* What a view or a key may need that not every source has. */
enum source_need {
	NEED_NOTHING,
	NEED_NOW,	 /* samples that are taken while they are looked at */
	NEED_EVENTS,	 /* counts of trace events */
	NEED_HOST,	 /* the host's CPUs */
	NEED_ARGUMENTS,	 /* what exits are about */
	NEED_SINGLE,	 /* exits one by one */
	NEED_VCPU_EXITS, /* the exits of each vCPU */
	SOURCE_NEEDS
};

/* Why a source of this kind does not have it, for the user; NULL: it may have it. */
const char *source_lacks(enum source_kind kind, enum source_need need);

/* Whether samples are taken while they are looked at. */
bool source_has_now(enum source_kind kind);

#endif
