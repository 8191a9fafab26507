/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * list - the views by name, for core/views/, its tests and benches only.
 *
 * The tabs in their order, then the views without a key, which are no tabs.
 */
#ifndef KVMTOP_CORE_VIEWS_LIST_H
#define KVMTOP_CORE_VIEWS_LIST_H

struct view_type; /* core/views/view.h */

#define VIEW_LIST(VIEW) \
	VIEW(view_events) \
	VIEW(view_guests) \
	VIEW(view_vcpus) \
	VIEW(view_exits) \
	VIEW(view_hotspots) \
	VIEW(view_host) \
	VIEW(view_long_exits) \
	VIEW(view_why) \
	VIEW(view_hosts) \
	VIEW(view_exit_totals)

#define VIEW_DECLARE(view) extern const struct view_type view;

VIEW_LIST(VIEW_DECLARE)

#endif
