/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * placeholders - offsets and numbers in our BPF programs that are known at run time only.
 *
 * bpf.c replaces them by the running kernel's. A pattern is also loaded as it is, so the kernel
 * must accept the placeholders of offsets: by tp_prog_is_valid_access() in kernel/trace/bpf_trace.c
 * they must be aligned and below PERF_MAX_TRACE_SIZE, which was 2048 before Linux 5.16. No field
 * that we read is at such an offset.
 */
#ifndef KVMTOP_PROVIDERS_BPF_PLACEHOLDERS_H
#define KVMTOP_PROVIDERS_BPF_PLACEHOLDERS_H

#define FIELD_FIRST 0x7c0
#define FIELD_REASON 0x7c0
#define FIELD_TYPE 0x7c8
#define FIELD_VCPU 0x7d0
#define FIELD_A 0x7d8
#define FIELD_B 0x7e0
#define FIELD_C 0x7e8
#define FIELD_PC 0x7f0
#define FIELD_ISA 0x7f8
#define FIELD_LAST 0x7f8

_Static_assert(FIELD_LAST + 8 <= 2048, "Linux 5.8 to 5.15 would not load the programs");

/* A field of the event, or an argument of the raw event. */
#define LOAD(ctx, offset)                                                                          \
	({                                                                                         \
		__u64 value_;                                                                      \
		asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(value_) : "r"(ctx), "i"(offset));     \
		value_;                                                                            \
	})

/* A number that is set when the program is copied. */
#define NUMBER(placeholder)                                                                        \
	({                                                                                         \
		__u64 value_;                                                                      \
		asm volatile("%0 = %1" : "=r"(value_) : "i"(placeholder));                         \
		value_;                                                                            \
	})

/*
 * What is at an address in the kernel, as the first member of a type: the kernel's function
 * bpf_rdonly_cast(), which costs nothing. Its number replaces this one.
 */
#define CALL_CAST 0x7c0
#define CAST(address, type) (((const void *(*)(__u64, __u64))CALL_CAST)(address, type))

#endif
