/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series_read - makes the points of a series.
 */
#ifndef KVMTOP_HISTORY_SERIES_READ_H
#define KVMTOP_HISTORY_SERIES_READ_H

#include "history/reader.h"
#include "history/series.h"

/*
 * Reads the points up to `at` and after it, on through segments of the same boot. Points that the
 * series has already are not read again. The reader may be in another segment afterwards.
 */
int series_read(struct series *series, struct reader *reader, const struct key *subject,
		const struct stored *at, const struct series_span *span, struct why *why);

#endif
