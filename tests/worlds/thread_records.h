/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thread_records - writes the records of vCPU threads as the programs in the kernel do. */
#ifndef KVMTOP_TESTS_WORLDS_THREAD_RECORDS_H
#define KVMTOP_TESTS_WORLDS_THREAD_RECORDS_H

#include "providers/exits/shared.h"

/* Where the thread counts for a cell; it may have EXITS_OWN of them. */
static inline struct exits_reason *record_reason(struct exits_thread *record, unsigned int cell)
{
	if (!record->slots[cell])
		record->slots[cell] = (__u8)++record->next_slot;
	return &record->own[record->slots[cell] - 1];
}

#endif
