/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_placeholders - what stands in our BPF programs for what is known at run time only.
 *
 * bpf_fields.c puts the running kernel's own in their place. Offsets of fields are such that the
 * kernel accepts a program that is loaded as it is, to be copied from.
 */
#ifndef KVMTOP_PROVIDERS_BPF_PLACEHOLDERS_H
#define KVMTOP_PROVIDERS_BPF_PLACEHOLDERS_H

#define FIELD_FIRST 0x1f00
#define FIELD_REASON 0x1f00
#define FIELD_TYPE 0x1f08
#define FIELD_VCPU 0x1f10
#define FIELD_A 0x1f18
#define FIELD_B 0x1f20
#define FIELD_C 0x1f28
#define FIELD_LAST 0x1f28

/* A field of the event at hand. */
#define LOAD(ctx, offset)                                                                          \
	({                                                                                         \
		__u64 value_;                                                                      \
		asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(value_) : "r"(ctx), "i"(offset));     \
		value_;                                                                            \
	})

/* A number that is put in when the program is copied. */
#define NUMBER(placeholder)                                                                        \
	({                                                                                         \
		__u64 value_;                                                                      \
		asm volatile("%0 = %1" : "=r"(value_) : "i"(placeholder));                         \
		value_;                                                                            \
	})

#endif
