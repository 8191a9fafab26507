// SPDX-License-Identifier: GPL-2.0-or-later
/* Stands in for bpf_engine.c in a build without BPF: an engine that can never be used. */
#include "providers/bpf/attach.h"
#include "providers/tracepoint/engine.h"

const struct engine bpf_engine = {
	.name = "bpf",
	.probe = bpf_probe,
};
