/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields - the fields of a recorded event as arguments of the slice or point drawn for it.
 */
#ifndef KVMTOP_TRACE_TIMELINE_FIELDS_H
#define KVMTOP_TRACE_TIMELINE_FIELDS_H

#include "trace/timeline/out.h"
#include "trace/recording/trace.h"

/*
 * Adds all numbers and texts of the event, by the names of their fields. Of events that were only
 * counted: how many.
 */
void timeline_fields_add(struct timeline_args *args, const struct trace_event *event);

#endif
