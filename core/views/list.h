/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - the views by name, for core/views/, its tests and benches only.
 */
#ifndef KVMTOP_CORE_VIEWS_LIST_H
#define KVMTOP_CORE_VIEWS_LIST_H

#include "core/views/view_id.h"

struct view_type; /* core/views/view.h */

#define VIEW_DECLARE(id, view) extern const struct view_type view;

VIEW_LIST(VIEW_DECLARE)

#endif
