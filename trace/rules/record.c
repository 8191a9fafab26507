// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits the payload of a record into words, as kvmtrace_format and the other scripts do. */
#include <endian.h>

#include "trace/rules/record.h"

/* ACRN's 16 bytes are 2 or 4 numbers, or 16 bytes, which are signed if they are a text. */
static void set_acrn_words(struct rules_record *record, const struct trace_event *event)
{
	const uint8_t *data = event->data;
	uint64_t u64;
	uint32_t u32;

	switch (event->words) {
	case 2:
		for (size_t i = 0; i < 2; i++) {
			memcpy(&u64, data + 8 * i, sizeof(u64));
			record->words[i] = le64toh(u64);
		}
		break;
	case 4:
		for (size_t i = 0; i < 4; i++) {
			memcpy(&u32, data + 4 * i, sizeof(u32));
			record->words[i] = le32toh(u32);
		}
		break;
	default:
		record->is_signed = event->words == 16 || event->words == 0;
		for (size_t i = 0; i < event->size; i++)
			record->words[i] = record->is_signed ? (uint64_t)(int8_t)data[i] : data[i];
		break;
	}
}

/* A branch of ACRN has VM, vCPU, kind and CPU in a record; other versions the CPU, or nothing. */
static void set_acrn(struct rules_record *record, const struct trace_event *event)
{
	bool has_vm = event->vcpu >= 0;

	record->vm = has_vm ? (uint32_t)event->pid : 0;
	record->vcpu = has_vm ? (uint32_t)event->vcpu : 0;
	record->cpu = has_vm || event->words ? (uint32_t)event->cpu : 0;
	set_acrn_words(record, event);
}

void rules_record_set(struct rules_record *record, const struct trace *trace,
		      const struct trace_event *event)
{
	*record = (struct rules_record){
		.kind = trace_file(trace, event->file)->kind,
		.event = event->id,
		.tsc = event->has_time ? event->time : 0,
		.has_tsc = event->has_time,
	};
	if (record->kind == TRACE_ACRN) {
		set_acrn(record, event);
		return;
	}
	for (unsigned int i = 0; i < event->words; i++)
		record->words[i] = trace_word(trace, event, i);
	if (record->kind == TRACE_XENTRACE) {
		record->cpu = (uint32_t)event->cpu;
	} else {
		record->pid = (uint32_t)event->pid;
		record->vcpu = (uint32_t)event->vcpu;
	}
}
