/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library - the functions of libmicrohttpd that the server uses, loaded by name. */
#ifndef KVMTOP_LIB_HTTP_LIBRARY_H
#define KVMTOP_LIB_HTTP_LIBRARY_H

#include <microhttpd.h>

#include "lib/error.h"

struct library {
	__typeof__(&MHD_start_daemon) start_daemon;
	__typeof__(&MHD_stop_daemon) stop_daemon;
	__typeof__(&MHD_run) run;
	__typeof__(&MHD_get_timeout) get_timeout;
	__typeof__(&MHD_get_daemon_info) daemon_info;
	__typeof__(&MHD_get_connection_info) connection_info;
	__typeof__(&MHD_suspend_connection) suspend;
	__typeof__(&MHD_resume_connection) resume;
	__typeof__(&MHD_create_response_from_buffer_with_free_callback) create_response;
	__typeof__(&MHD_add_response_header) add_header;
	__typeof__(&MHD_queue_response) queue_response;
	__typeof__(&MHD_destroy_response) destroy_response;
	__typeof__(&MHD_lookup_connection_value) lookup_value;
	__typeof__(&MHD_basic_auth_get_username_password) get_password;
	__typeof__(&MHD_free) free;
	__typeof__(&MHD_is_feature_supported) has_feature;
};

/* Call it once; the library stays. 0, or -errno with error. */
int microhttpd_load(struct library *ret_library, struct error *error);

#endif
