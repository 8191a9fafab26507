// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmtrace, the tracer of Linux 2.6.25 to 2.6.30: a file for each CPU, in its host's byte order.
 *
 * Source: include/linux/kvm.h and virt/kvm/kvm_trace.c of these kernels. A record is 12 bytes (the
 * event's number in 28 bits, the number of extra words in 3 bits, 1 bit if there is a TSC; pid;
 * vCPU), then the TSC (8 bytes), if any, then up to seven words of 4 bytes. Since 2.6.27 the file
 * begins with 0x12345678, which shows its byte order. Kernels differ in the words of an event
 * (64-bit values became two words), so only the record's own number of words is used.
 */
#include <stdlib.h>

#include "lib/array.h"
#include "trace/recording/reader.h"

#define MAGIC UINT32_C(0x12345678)
#define HEADER_SIZE 12
#define TSC_SIZE 8
#define ID_MASK 0xfffffff
#define HAS_TSC (UINT32_C(1) << 31)
#define ENTRYEXIT 0x10000
#define HANDLER 0x20000

#define SVM_FIRST 0x60	/* an interrupt */
#define SVM_LAST 0xfffe

#define ODD_MAX 16
#define WORDS_MAX 8

/*
 * Names of the words, in order. Words that differ between kernels are left out. Each number but the
 * first two is one above the number before.
 */
static const struct known {
	uint32_t id;
	const char *name;
	const char *words[WORDS_MAX];
} known[] = {
	{ ENTRYEXIT + 1, "VMENTRY", { NULL } },
	{ ENTRYEXIT + 2, "VMEXIT", { "exit_reason" } },
	{ HANDLER + 0x01, "PAGE_FAULT", { "error_code" } },
	{ HANDLER + 0x02, "INJ_VIRQ", { "vector" } },
	{ HANDLER + 0x03, "REDELIVER_EVT", { "vector" } },
	{ HANDLER + 0x04, "PEND_INTR", { NULL } },
	{ HANDLER + 0x05, "IO_READ", { "port", "size" } },
	{ HANDLER + 0x06, "IO_WRITE", { "port", "size" } },
	{ HANDLER + 0x07, "CR_READ", { "cr" } },
	{ HANDLER + 0x08, "CR_WRITE", { "cr" } },
	{ HANDLER + 0x09, "DR_READ", { "dr" } },
	{ HANDLER + 0x0a, "DR_WRITE", { "dr" } },
	{ HANDLER + 0x0b, "MSR_READ", { "ecx", "low", "high" } },
	{ HANDLER + 0x0c, "MSR_WRITE", { "ecx", "low", "high" } },
	{ HANDLER + 0x0d, "CPUID", { "function", "rax", "rbx", "rcx", "rdx" } },
	{ HANDLER + 0x0e, "INTR", { "vector" } },
	{ HANDLER + 0x0f, "NMI", { NULL } },
	{ HANDLER + 0x10, "VMMCALL", { "nr" } },
	{ HANDLER + 0x11, "HLT", { NULL } },
	{ HANDLER + 0x12, "CLTS", { NULL } },
	{ HANDLER + 0x13, "LMSW", { NULL } },
	{ HANDLER + 0x14, "APIC_ACCESS", { "offset" } },
	{ HANDLER + 0x15, "TDP_FAULT", { "error_code" } },
	{ HANDLER + 0x16, "GTLB_WRITE", { NULL } },
	{ HANDLER + 0x17, "STLB_WRITE", { NULL } },
	{ HANDLER + 0x18, "STLB_INVAL", { NULL } },
	{ HANDLER + 0x19, "PPC_INSTR", { NULL } },
};

#define NR_KNOWN ARRAY_SIZE(known)

struct kvmtrace {
	struct trace_source source;
	struct window window;
	const struct trace_type *types[NR_KNOWN + 1]; /* the last: of unknown events */
	struct trace_field fields[NR_KNOWN][WORDS_MAX];
	bool swap;
	/* The latest unknown events in a row: their begin and end in the file, and their number. */
	uint64_t odd_begin, odd_end;
	unsigned int nr_odd;
};

static size_t record_size(uint32_t word)
{
	return HEADER_SIZE + (word & HAS_TSC ? TSC_SIZE : 0) + 4 * (word >> 28 & 7);
}

/* In known; NR_KNOWN: it is an unknown event. */
static size_t index_of(uint32_t id)
{
	size_t i = id > HANDLER ? id - HANDLER + 1 : id - ENTRYEXIT - 1;

	return i < NR_KNOWN && known[i].id == id ? i : NR_KNOWN;
}

/* Whether at least half of the first records are known events, if read in this byte order. */
static bool are_records(const struct head *head, bool swap)
{
	size_t at = 0, nr = 0, nr_known = 0;

	while (nr < 16 && at + HEADER_SIZE <= head->len) {
		uint32_t word = bytes_u32(head->bytes + at, swap);

		nr_known += index_of(word & ID_MASK) < NR_KNOWN;
		at += record_size(word);
		nr++;
	}
	return nr > 0 && 2 * nr_known >= nr;
}

static bool has_mark(const struct head *head)
{
	uint32_t first = head->len >= 4 ? bytes_u32(head->bytes, false) : 0;

	return first == MAGIC || first == __builtin_bswap32(MAGIC);
}

static bool is_kind(const struct head *head)
{
	return has_mark(head) || are_records(head, false) || are_records(head, true);
}

/* Finds the byte order, and skips the mark at the beginning, if any. */
static bool find_swap(struct window *window, const struct head *head)
{
	if (has_mark(head)) {
		window->at += 4;
		return bytes_u32(head->bytes, false) != MAGIC;
	}
	return !are_records(head, false) && are_records(head, true);
}

/*
 * An unknown event's time is not used: after missing bytes, any bytes may be read as a record.
 * After ODD_MAX unknown events in a row the rest of the file is not read: false.
 */
static bool take_odd(struct kvmtrace *kvmtrace, size_t size, uint64_t time)
{
	struct trace_event *event = &kvmtrace->source.event;
	uint64_t end = window_offset(&kvmtrace->window);

	if (kvmtrace->source.file->trace->has_records)
		return true;
	if (end - size != kvmtrace->odd_end || !kvmtrace->nr_odd) {
		kvmtrace->odd_begin = end - size;
		kvmtrace->nr_odd = 0;
	}
	kvmtrace->odd_end = end;
	event->time = time;
	event->has_time = false;
	if (++kvmtrace->nr_odd < ODD_MAX)
		return true;
	trace_add_problem(kvmtrace->source.file, kvmtrace->odd_begin,
			  "%d unknown events in a row: bytes are missing or damaged",
			  ODD_MAX);
	return false;
}

static bool next_of_kvmtrace(struct trace_source *source)
{
	struct kvmtrace *kvmtrace = (struct kvmtrace *)source;
	struct window *window = &kvmtrace->window;
	struct trace_event *event = &source->event;
	bool swap = kvmtrace->swap;
	size_t size = HEADER_SIZE, type;
	uint64_t before = event->time;
	const uint8_t *at;
	uint32_t word;

	if (!window_want(window, size))
		return window_end(window, size);
	word = bytes_u32(window->at, swap);
	size = record_size(word);
	if (!window_want(window, size))
		return window_end(window, size);
	at = window->at;
	window->at += size;
	event->id = word & ID_MASK;
	event->words = word >> 28 & 7;
	event->size = 4 * event->words;
	event->has_time = word & HAS_TSC;
	type = index_of((uint32_t)event->id);
	event->type = kvmtrace->types[type];
	event->pid = (int32_t)bytes_u32(at + 4, swap);
	event->vcpu = (int32_t)bytes_u32(at + 8, swap);
	event->thread_key = (uint64_t)event->pid << 32 | (uint32_t)event->vcpu;
	at += HEADER_SIZE;
	if (word & HAS_TSC) {
		event->time = bytes_u64(at, swap);
		at += TSC_SIZE;
	}
	event->data = at;
	return type < NR_KNOWN || take_odd(kvmtrace, size, before);
}

static void free_kvmtrace(struct trace_source *source)
{
	struct kvmtrace *kvmtrace = (struct kvmtrace *)source;

	window_release(&kvmtrace->window);
	free(kvmtrace);
}

static void add_types(struct kvmtrace *kvmtrace)
{
	struct trace *trace = kvmtrace->source.file->trace;

	for (size_t i = 0; i < NR_KNOWN; i++) {
		struct trace_field *fields = kvmtrace->fields[i];
		struct trace_type type = { .id = known[i].id, .system = "kvmtrace",
					   .name = known[i].name, .fields = fields,
					   .file = kvmtrace->source.file->index };

		while (type.nr_fields < WORDS_MAX && known[i].words[type.nr_fields]) {
			size_t k = type.nr_fields++;

			fields[k] = (struct trace_field){
				.name = known[i].words[k],
				.offset = (uint32_t)(4 * k),
				.size = 4,
				.flags = kvmtrace->swap ? TRACE_FIELD_SWAP : 0,
			};
		}
		kvmtrace->types[i] = trace_add_type(trace, &type);
	}
	kvmtrace->types[NR_KNOWN] = trace_add_type(trace, &(struct trace_type){
		.system = "kvmtrace", .name = "unknown",
		.file = kvmtrace->source.file->index });
}

/*
 * The file does not say whether exit reasons are numbers of VMX or of SVM. VMX has no reasons from
 * SVM_FIRST on; every SVM guest soon has some: interrupts, I/O, page faults. Reasons above SVM_LAST
 * do not help: VMX reasons with flags, or -1 (SVM_EXIT_ERR).
 */
static bool is_svm(struct kvmtrace *kvmtrace)
{
	struct window *window = &kvmtrace->window;
	const uint8_t *at;
	size_t left;

	window_want(window, WINDOW_WANT_MAX);
	at = window->at;
	left = window_left(window) < WINDOW_WANT_MAX ? window_left(window) : WINDOW_WANT_MAX;
	for (size_t size; left >= HEADER_SIZE; at += size, left -= size) {
		uint32_t word = bytes_u32(at, kvmtrace->swap), reason;
		const uint8_t *words = at + HEADER_SIZE + (word & HAS_TSC ? TSC_SIZE : 0);

		size = record_size(word);
		if (size > left)
			break;
		if ((word & ID_MASK) != ENTRYEXIT + 2 || words == at + size)
			continue;
		reason = bytes_u32(words, kvmtrace->swap);
		if (reason >= SVM_FIRST && reason <= SVM_LAST)
			return true;
	}
	return false;
}

/* All files are of one host: what one of them shows is so for all. */
static void find_vendor(struct kvmtrace *kvmtrace)
{
	const struct trace_list *files = &kvmtrace->source.file->trace->files;
	bool has_svm = is_svm(kvmtrace);

	for (size_t i = 0; i < files->nr; i++) {
		const struct trace_file *file = files->items[i];

		has_svm |= file->info.cpu_vendor[0];
	}
	for (size_t i = 0; i < files->nr && has_svm; i++) {
		struct trace_file *file = files->items[i];

		file->info.cpu_vendor = "AuthenticAMD";
	}
}

static int open_kvmtrace(struct trace_file *file, const struct head *head, struct error *error)
{
	struct kvmtrace *kvmtrace = trace_add_source(file, sizeof(*kvmtrace), next_of_kvmtrace,
						     free_kvmtrace);

	(void)error;
	window_init(&kvmtrace->window, file, head, WINDOW_PIECE);
	kvmtrace->source.window = &kvmtrace->window;
	kvmtrace->swap = find_swap(&kvmtrace->window, head);
	file->info.clock = TRACE_CLOCK_CYCLES;
	file->info.clock_name = "tsc";
	/* is_svm() reads ahead; records from a pipe must not wait for that. */
	if (!file->trace->has_records)
		find_vendor(kvmtrace);
	file->info.is_big_endian = kvmtrace->swap != IS_BIG_HERE;
	add_types(kvmtrace);
	return 0;
}

const struct trace_reader kvmtrace_reader = {
	.kind = TRACE_KVMTRACE,
	.name = "kvmtrace",
	.reads_pipes = true,
	.has_events = true,
	.has_records = true,
	.is_kind = is_kind,
	.open = open_kvmtrace,
};
