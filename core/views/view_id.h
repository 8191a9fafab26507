/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view_id - the views: the tabs in their order, then the views without a key, which are no tabs.
 *
 * A number says which view it is where code is for this one view.
 */
#ifndef KVMTOP_CORE_VIEWS_VIEW_ID_H
#define KVMTOP_CORE_VIEWS_VIEW_ID_H

#define VIEW_LIST(VIEW) \
	VIEW(EVENTS, view_events) \
	VIEW(GUESTS, view_guests) \
	VIEW(VCPUS, view_vcpus) \
	VIEW(EXITS, view_exits) \
	VIEW(HOTSPOTS, view_hotspots) \
	VIEW(HOST, view_host) \
	VIEW(LONG, view_long_exits) \
	VIEW(WHY, view_why) \
	VIEW(HOSTS, view_hosts) \
	VIEW(TOTALS, view_exit_totals)

#define VIEW_NUMBER(id, view) VIEW_##id,

enum view_id { VIEW_LIST(VIEW_NUMBER) VIEWS };

#endif
