/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_when - any text as a moment, a span of time, a duration and a size.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/units.h"
#include "lib/when.h"

#define NS_PER_S UINT64_C(1000000000)
#define NOW_NS (UINT64_C(1792888200) * NS_PER_S) /* 2026-10-25, the first 02:30 in Berlin */
#define SHOWN_NS (NOW_NS - 1000 * NS_PER_S)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	return 0;
}

/* What was read is written and read again: the same second, or the first of two that read alike. */
static void check_moment(const struct when_origin *origin, uint64_t time_ns)
{
	char text[WHEN_SIZE], ago[WHEN_SIZE];
	uint64_t again_ns, second_ns = time_ns / NS_PER_S * NS_PER_S;
	struct error error = { "" };

	when_format_ago(ago, sizeof(ago), time_ns, NOW_NS);
	/* With an origin of another day, the text has its date. */
	when_format(text, sizeof(text), time_ns, time_ns + 400 * 86400 * NS_PER_S);
	if (!text[0] || !ago[0])
		abort();
	if (time_ns / NS_PER_S >= 7258118400) /* a step beyond 2200 */
		return;
	if (when_parse(text, origin, &again_ns, &error) < 0)
		abort();
	if (again_ns != second_ns && again_ns + 3600 * NS_PER_S != second_ns)
		abort();
}

static void check_why(int err, const struct error *error)
{
	if ((err != 0) != (error->text[0] != '\0'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct when_origin origin = { NOW_NS, SHOWN_NS };
	struct error whys[4] = { { "" }, { "" }, { "" }, { "" } };
	char *text = malloc(size + 1);
	uint64_t time_ns = 0, from_ns, to_ns, ns, bytes;
	int err;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	err = when_parse(text, &origin, &time_ns, &whys[0]);
	check_why(err, &whys[0]);
	if (!err)
		check_moment(&origin, time_ns);
	err = when_parse_range(text, &origin, &from_ns, &to_ns, &whys[1]);
	check_why(err, &whys[1]);
	if (!err && from_ns >= to_ns)
		abort();
	err = duration_parse(text, &ns, &whys[2]);
	check_why(err, &whys[2]);
	if (!err && ns > DURATION_MAX_NS)
		abort();
	check_why(size_parse(text, &bytes, &whys[3]), &whys[3]);
	free(text);
	return 0;
}
