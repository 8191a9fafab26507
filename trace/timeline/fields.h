/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields - what a recorded event says, as arguments of what is drawn for it.
 */
#ifndef KVMTOP_TRACE_TIMELINE_FIELDS_H
#define KVMTOP_TRACE_TIMELINE_FIELDS_H

#include "trace/timeline/out.h"
#include "trace/trace.h"

/* All numbers and texts of the event, by their fields' names. */
void timeline_fields_add(struct timeline_args *args, const struct trace_event *event);

#endif
