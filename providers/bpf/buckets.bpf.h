/* SPDX-License-Identifier: GPL-2.0-or-later */
/* buckets - of the histograms of struct timing (core/facts/durations.h). */
#ifndef KVMTOP_PROVIDERS_BPF_BUCKETS_BPF_H
#define KVMTOP_PROVIDERS_BPF_BUCKETS_BPF_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define FOUR(log) log, log, log, log
#define SIXTEEN(log) FOUR(log), FOUR(log), FOUR(log), FOUR(log)

/* log2 of a byte; 0 counts as 1. */
static const volatile __u8 log2_of[256] = {
	0, 0, 1, 1, FOUR(2), FOUR(3), FOUR(3), SIXTEEN(4),
	SIXTEEN(5), SIXTEEN(5), SIXTEEN(6), SIXTEEN(6), SIXTEEN(6), SIXTEEN(6),
	SIXTEEN(7), SIXTEEN(7), SIXTEEN(7), SIXTEEN(7),
	SIXTEEN(7), SIXTEEN(7), SIXTEEN(7), SIXTEEN(7),
};

/* log2(ns / 64), at most HIST_BUCKETS - 1. & 7 changes nothing: it tells the verifier. */
static __always_inline __u64 bucket_of(__u64 ns)
{
	__u64 value = ns >> 6;

	if (value < 1 << 8)
		return log2_of[value] & 7;
	if (value < 1 << 16)
		return 8 + (log2_of[value >> 8] & 7);
	if (value < 1 << 24)
		return 16 + (log2_of[value >> 16] & 7);
	return value < 1 << 25 ? 24 : 25;
}

#endif
