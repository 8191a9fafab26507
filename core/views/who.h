/* SPDX-License-Identifier: GPL-2.0-or-later */
/* who - what the views of what vCPUs wait for have in common: for a CPU, and with interrupts. */
#ifndef KVMTOP_CORE_VIEWS_WHO_H
#define KVMTOP_CORE_VIEWS_WHO_H

#include "core/views/query.h"
#include "core/views/view.h"

#define WHO_NAME_SIZE (GUEST_NAME_SIZE + 64)

/* "web2 vCPU 0"; guest NULL: it has ended. */
void who_name_vcpu(char name[WHO_NAME_SIZE], const struct guest *guest, int32_t vcpu);

/* The time of a group that has durations: of the interval, or since the start. */
uint64_t who_ns(const struct query *query, const struct group *group);

/* Whether anything is in the group, or rows with zeros are asked for. */
bool who_shows(const struct query *query, const struct group *group);

typedef void who_rows_fn(struct view *view, const struct query *query, const struct facts *facts,
			 struct group **groups, size_t nr);

/* Rolls up the fields that the view wants, by vCPU, and adds rows of the groups in order. */
void who_build(struct view *view, const struct query *query, const struct facts *facts,
	       int (*order)(const void *a, const void *b, void *facts), who_rows_fn *add);

/*
 * Why there are no rows: there was nothing, or it was not measured: every vCPU that is measured has
 * a key, also if nothing happened.
 */
const char *who_why_none(const struct query *query, const struct facts *facts, enum field_use use,
			 const char *none, const char *not_measured);

/* For struct view_type: Enter leads to the vCPUs of the guest that waits. */
bool who_enter(struct query *query, const struct view_row *row, const struct facts *facts,
	       const char **ret_sought);

#endif
