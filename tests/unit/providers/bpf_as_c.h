/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_as_c - in place of libbpf's headers: for tests that run a BPF program as plain C. Types of
 * the kernel are as our programs declare them. The test defines the helpers that the program calls,
 * and says by has_field() and has_value() which members of structs, and values of enums, the kernel
 * has.
 */
#ifndef KVMTOP_TESTS_UNIT_PROVIDERS_BPF_AS_C_H
#define KVMTOP_TESTS_UNIT_PROVIDERS_BPF_AS_C_H

#include <stddef.h>

#define __BPF_HELPERS__
#define __BPF_CORE_READ_H__
#define OF_KERNEL
#define SEC(name)
#define __uint(name, value) int (*name)[value] /* NOLINT(bugprone-macro-parentheses): a name */
#define __array(name, ...) __VA_ARGS__ *name
#define __type(name, value) value *name /* NOLINT(bugprone-macro-parentheses): a type */
#define __noinline __attribute__((noinline))
#define __ksym
#define __weak
#define barrier_var(variable) ((void)(variable))
#define barrier() __asm__ volatile("" ::: "memory")
#define BPF_CORE_READ_BITFIELD_PROBED(at, member) ((at)->member)
#define bpf_core_field_exists(...) has_field(#__VA_ARGS__)
#define bpf_core_field_offset(type, member) offsetof(type, member)
#define bpf_core_field_size(type, member) sizeof(((type *)NULL)->member)
#define bpf_core_type_id_kernel(type) 1
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_enum_value(type, value) value
#define bpf_core_enum_value_exists(type, value) (sizeof(type) && has_value(#value))

#endif
