/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_trace_dat - any bytes as a trace.dat, read to its end and reported. Not what libtracecmd
 * reads: that is tried in a child first.
 */
#include "tests/fuzz/trace_fuzz.h"
#include "trace/dat/dat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct head head = { data, size < HEAD_SIZE ? size : HEAD_SIZE };

	if (!dat_is_readable(&head))
		return 0;
	return fuzz_recording(data, size, TRACE_DAT);
}
