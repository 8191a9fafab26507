/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_web_config - any text as the file of --web-config: no crash, and what is read makes sense.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/http/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config config = { .cert_file = NULL };
	struct error error = { "" };
	int err = web_config_parse((const char *)data, size, &config, &error);

	if (err && !error.text[0])
		abort();
	if (!err && !config.cert_file != !config.key_file)
		abort();
	for (size_t i = 0; !err && i < config.nr_users; i++) {
		if (strlen(config.users[i].hash) != 60 || !config.users[i].name)
			abort();
	}
	web_config_release(&config);
	return 0;
}
