// SPDX-License-Identifier: GPL-2.0-or-later
/* The names of the functions. */
#include <errno.h>

#include "lib/array.h"
#include "lib/process.h"
#include "lib/http/library.h"

#define LIBRARY "libmicrohttpd.so.12"

int microhttpd_load(struct library *ret_library, struct error *error)
{
	static const char *const names[] = { LIBRARY, NULL };
	const struct library_function all[] = {
		{ "MHD_start_daemon", &ret_library->start_daemon },
		{ "MHD_stop_daemon", &ret_library->stop_daemon },
		{ "MHD_run", &ret_library->run },
		{ "MHD_get_timeout", &ret_library->get_timeout },
		{ "MHD_get_daemon_info", &ret_library->daemon_info },
		{ "MHD_get_connection_info", &ret_library->connection_info },
		{ "MHD_suspend_connection", &ret_library->suspend },
		{ "MHD_resume_connection", &ret_library->resume },
		{ "MHD_create_response_from_buffer_with_free_callback",
		  &ret_library->create_response },
		{ "MHD_add_response_header", &ret_library->add_header },
		{ "MHD_queue_response", &ret_library->queue_response },
		{ "MHD_destroy_response", &ret_library->destroy_response },
		{ "MHD_lookup_connection_value", &ret_library->lookup_value },
		{ "MHD_basic_auth_get_username_password", &ret_library->get_password },
		{ "MHD_free", &ret_library->free },
		{ "MHD_is_feature_supported", &ret_library->has_feature },
	};
	void *handle;
	int err = library_load(names, all, ARRAY_SIZE(all), &handle, error);

	if (err == -ENOENT)
		error_set(error, err, "--listen needs " LIBRARY ", which cannot be loaded here; "
			  "--prometheus FILE.prom does without");
	return err;
}
