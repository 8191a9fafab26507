/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_trace_dat - any bytes as a trace.dat, read to its end and reported.
 */
#include "tests/fuzz/trace_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_recording(data, size, TRACE_DAT);
}
