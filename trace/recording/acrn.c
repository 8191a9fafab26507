// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACRN's acrntrace: a file for each physical CPU, records of 32 bytes, no header.
 *
 * Source: acrn-hypervisor misc/debug_tools/acrn_trace, hypervisor include/debug/trace.h. Always
 * little endian: a TSC, then the event's number (48 bits), the kind of payload (8) and the CPU (8),
 * then 16 bytes. Hypervisors of 2018 write 0 as kind and CPU. A branch of 2020 writes four bits
 * each of VM, vCPU, kind and CPU into these 16 bits (has_vm). Without has_vm, an exit has no VM and
 * no vCPU; the event SCHED_NEXT names the VM that runs on the CPU next.
 */
#include <stdlib.h>

#include "lib/array.h"
#include "trace/recording/reader.h"

#define RECORD_SIZE 32
#define PAYLOAD_SIZE 16
#define ID_MASK UINT64_C(0xffffffffffff)
#define ID_LIKELY_MAX 0xfffff
#define NR_LOW 0x100
#define DETAIL_BASE 0x10000
#define NR_DETAILS 0x40
#define NR_TYPES (NR_LOW + NR_DETAILS + 1) /* the last: 2 * DETAIL_BASE */

#define NUMBER(name, offset, size) { name, offset, size, TRACE_FIELD_LITTLE }
#define TRACE_FIELD_LITTLE (IS_BIG_HERE ? TRACE_FIELD_SWAP : 0)

static const struct trace_field two_longs[] = {
	NUMBER("1", 0, 8),
	NUMBER("2", 8, 8),
};

static const struct trace_field exit_fields[] = {
	NUMBER("exit_reason", 0, 8),
	NUMBER("guest_rip", 8, 8),
};

static const struct trace_field four_words[] = {
	NUMBER("1", 0, 4),
	NUMBER("2", 4, 4),
	NUMBER("3", 8, 4),
	NUMBER("4", 12, 4),
};

static const struct trace_field text[] = {
	{ "text", 0, PAYLOAD_SIZE, TRACE_FIELD_ARRAY | TRACE_FIELD_STRING },
};

#define FIELDS(list) list, ARRAY_SIZE(list)

/* The numbers of detail events are the numbers of VMX exit reasons, except four of them. */
static const struct known {
	uint64_t id;
	const char *name;
	const struct trace_field *fields;
	size_t nr_fields;
} known[] = {
	{ 0x01, "TIMER_ACTION_ADDED", FIELDS(two_longs) },
	{ 0x02, "TIMER_ACTION_PCKUP", FIELDS(two_longs) },
	{ 0x03, "TIMER_ACTION_UPDAT", FIELDS(two_longs) },
	{ 0x04, "TIMER_IRQ", FIELDS(two_longs) },
	{ 0x05, "SCHED_NEXT", FIELDS(text) },
	{ 0x10, "VM_EXIT", FIELDS(exit_fields) },
	{ 0x11, "VM_ENTER", FIELDS(two_longs) },
	{ 0x20, "SCHED_NEXT", FIELDS(text) }, /* since 2024: "vm0:vm1:", "idlevm0:" */
	{ 0xfc, "CUSTOM", FIELDS(two_longs) },
	{ 0xfd, "FUNC_ENTER", FIELDS(two_longs) },
	{ 0xfe, "FUNC_EXIT", FIELDS(two_longs) },
	{ 0xff, "STR", FIELDS(text) },
	{ DETAIL_BASE + 0x00, "VMEXIT_EXCEPTION_OR_NMI", FIELDS(four_words) },
	{ DETAIL_BASE + 0x01, "VMEXIT_EXTERNAL_INTERRUPT", FIELDS(four_words) },
	{ DETAIL_BASE + 0x02, "VMEXIT_INTERRUPT_WINDOW", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x04, "VMEXIT_CPUID", FIELDS(four_words) },
	{ DETAIL_BASE + 0x10, "VMEXIT_RDTSC", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x12, "VMEXIT_VMCALL", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x1c, "VMEXIT_CR_ACCESS", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x1e, "VMEXIT_IO_INSTRUCTION", FIELDS(four_words) },
	{ DETAIL_BASE + 0x1f, "VMEXIT_RDMSR", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x20, "VMEXIT_WRMSR", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x30, "VMEXIT_EPT_VIOLATION", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x31, "VMEXIT_EPT_MISCONFIGURATION", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x33, "VMEXIT_RDTSCP", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x38, "VMEXIT_APICV_WRITE", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x39, "VMEXIT_APICV_ACCESS", FIELDS(two_longs) },
	{ DETAIL_BASE + 0x3a, "VMEXIT_APICV_VIRT_EOI", FIELDS(two_longs) },
	{ 0x20000, "VMEXIT_UNHANDLED", FIELDS(two_longs) },
};

#define NR_KNOWN ARRAY_SIZE(known)

struct acrn {
	struct trace_source source;
	bool has_vm;
	struct window window;
	const struct trace_type *types[NR_TYPES + 1]; /* by index_of(); the last: of unknown ones */
};

static uint64_t read_u64(const uint8_t *at)
{
	return bytes_u64(at, IS_BIG_HERE);
}

/* In acrn.types. */
static size_t index_of(uint64_t id)
{
	if (id < NR_LOW)
		return id;
	if (id - DETAIL_BASE < NR_DETAILS)
		return NR_LOW + id - DETAIL_BASE;
	return id == 2 * DETAIL_BASE ? NR_TYPES - 1 : NR_TYPES;
}

static bool is_known(uint64_t id)
{
	for (size_t i = 0; i < NR_KNOWN; i++) {
		if (known[i].id == id)
			return true;
	}
	return false;
}

static unsigned int number_of_words(uint64_t word, bool with_vm)
{
	return with_vm ? word >> 56 & 0xf : word >> 48 & 0xff;
}

static bool is_number_of_words(unsigned int n)
{
	return n == 2 || n == 4 || n == 8 || n == 16;
}

/*
 * Whether records have VM and vCPU. If not, byte 14 is a number of words and byte 15 is the same
 * CPU in the whole file, or both bytes are 0.
 */
static bool has_vm(const struct head *head)
{
	for (size_t at = 0; at + RECORD_SIZE <= head->len; at += RECORD_SIZE) {
		uint8_t words = head->bytes[at + 14], cpu = head->bytes[at + 15];

		if ((words || cpu) && (!is_number_of_words(words) || cpu != head->bytes[15]))
			return true;
	}
	return false;
}

/* Whether the first record has a likely event number and a possible number of words. */
bool acrn_looks_like(const struct head *head)
{
	uint64_t word;

	if (head->len < RECORD_SIZE)
		return false;
	word = read_u64(head->bytes + 8);
	return (word & ID_MASK) <= ID_LIKELY_MAX &&
	       (is_number_of_words(number_of_words(word, false)) ||
		is_number_of_words(number_of_words(word, true)));
}

/* There is no magic number: half of the first records must be known events, sorted by time. */
static bool is_kind(const struct head *head)
{
	size_t nr = head->len / RECORD_SIZE, nr_known = 0;
	bool with_vm = has_vm(head);
	uint64_t last = 0;

	nr = nr < 16 ? nr : 16;
	for (size_t i = 0; i < nr; i++) {
		const uint8_t *at = head->bytes + i * RECORD_SIZE;
		uint64_t tsc = read_u64(at), word = read_u64(at + 8);

		if (tsc < last || number_of_words(word, with_vm) > PAYLOAD_SIZE ||
		    (word & ID_MASK) > UINT32_MAX)
			return false;
		nr_known += is_known(word & ID_MASK);
		last = tsc;
	}
	return nr > 0 && 2 * nr_known >= nr;
}

static bool next_of_acrn(struct trace_source *source)
{
	struct acrn *acrn = (struct acrn *)source;
	struct trace_event *event = &source->event;
	const uint8_t *at;
	uint64_t word;

	if (!window_want(&acrn->window, RECORD_SIZE))
		return window_end(&acrn->window, RECORD_SIZE);
	at = acrn->window.at;
	acrn->window.at += RECORD_SIZE;
	word = read_u64(at + 8);
	event->time = read_u64(at);
	event->id = word & ID_MASK;
	event->type = acrn->types[index_of(event->id)];
	event->words = (uint16_t)number_of_words(word, acrn->has_vm);
	if (acrn->has_vm) {
		event->pid = word >> 48 & 0xf;
		event->vcpu = word >> 52 & 0xf;
		event->cpu = (int32_t)(word >> 60);
		/* A vCPU may move to another CPU: its exits and entries are paired by vCPU. */
		event->thread_key = UINT64_C(1) << 32 | (word >> 48 & 0xff);
	} else if (event->words) {
		event->cpu = (int32_t)(word >> 56);
	}
	event->data = at + 16;
	return true;
}

static void free_acrn(struct trace_source *source)
{
	struct acrn *acrn = (struct acrn *)source;

	window_release(&acrn->window);
	free(acrn);
}

static const struct trace_type *add_type(const struct acrn *acrn, const struct known *of)
{
	const struct trace_type type = {
		.file = acrn->source.file->index,
		.id = of->id,
		.system = "acrn",
		.name = of->name,
		.fields = of->fields,
		.nr_fields = of->nr_fields,
	};

	return trace_add_type(acrn->source.file->trace, &type);
}

static void add_types(struct acrn *acrn)
{
	static const struct known unknown_event = { 0, "unknown", FIELDS(two_longs) };
	const struct trace_type *unknown = add_type(acrn, &unknown_event);

	for (size_t i = 0; i <= NR_TYPES; i++)
		acrn->types[i] = unknown;
	for (size_t i = 0; i < NR_KNOWN; i++)
		acrn->types[index_of(known[i].id)] = add_type(acrn, &known[i]);
}

/* Records of old hypervisors have no CPU, but the name of acrntrace's file is the CPU's number. */
static int32_t cpu_of_path(const char *path)
{
	const char *name = strrchr(path, '/');
	char *end;
	long cpu;

	name = name ? name + 1 : path;
	cpu = strtol(name, &end, 10);
	return end > name && !*end && cpu >= 0 && cpu < 1024 ? (int32_t)cpu : -1;
}

static int open_acrn(struct trace_file *file, const struct head *head, struct error *error)
{
	struct acrn *acrn = trace_add_source(file, sizeof(*acrn), next_of_acrn, free_acrn);

	(void)error;
	file->info.clock = TRACE_CLOCK_CYCLES;
	file->info.clock_name = "tsc";
	file->info.arch = "x86_64";
	file->info.cpu_vendor = "GenuineIntel";
	window_init(&acrn->window, file, head, WINDOW_PIECE);
	acrn->source.window = &acrn->window;
	acrn->has_vm = has_vm(head);
	acrn->source.event.size = PAYLOAD_SIZE;
	acrn->source.event.thread_key = file->index;
	acrn->source.event.cpu = cpu_of_path(file->info.path);
	add_types(acrn);
	return 0;
}

const struct trace_reader acrn_reader = {
	.kind = TRACE_ACRN,
	.name = "acrn",
	.reads_pipes = true,
	.has_events = true,
	.has_records = true,
	.is_kind = is_kind,
	.open = open_acrn,
};
