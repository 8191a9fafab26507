// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmtrace, the tracer of Linux 2.6.25 to 2.6.30: a file for each CPU, in its host's byte order.
 * And Xen's xentrace, of which kvmtrace is a copy: one file for all CPUs, only for `kvmtop format`.
 *
 * Source: include/linux/kvm.h and virt/kvm/kvm_trace.c of these kernels. A record is 12 bytes (the
 * event's number in 28 bits, the number of extra words in 3 bits, 1 bit if there is a TSC; pid;
 * vCPU), then the TSC (8 bytes), if any, then up to seven words of 4 bytes. Since 2.6.27 the file
 * begins with 0x12345678, which shows its byte order. Kernels differ in the words of an event
 * (64-bit values became two words), so only the record's own number of words is used. xentrace's
 * records have no pid and vCPU; a CPU_CHANGE record names the CPU of the records after it.
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "trace/recording/reader.h"
#include "trace/recording/window.h"

#define MAGIC UINT32_C(0x12345678)
#define HEADER_SIZE 12
#define XEN_HEADER_SIZE 4
#define TSC_SIZE 8
#define ID_MASK 0xfffffff
#define HAS_TSC (UINT32_C(1) << 31)
#define ENTRYEXIT 0x10000
#define HANDLER 0x20000
#define NR_HANDLERS 0x20
#define CPU_CHANGE 0x1f003

#define SVM_FIRST 0x60	/* an interrupt */
#define SVM_LAST 0xfffe

#define ODD_MAX 16
#define WORDS_MAX 8

/* Names of the words, in order. Words that differ between kernels are left out. */
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

/* The fields of all types, for one byte order. */
struct order {
	const struct trace_type *unknown, *entry, *exit, *handler[NR_HANDLERS];
	struct trace_field fields[NR_KNOWN + 1][WORDS_MAX]; /* the last: of unknown events */
};

/* Shared by all files of a stream: types in this machine's byte order, and in the opposite one. */
struct types {
	struct order order[2];
	bool has[2];
};

struct kvmtrace {
	struct trace_source source;
	struct window window;
	const struct order *types;
	bool swap, is_xen;
	/* The latest unknown events in a row: their begin and end in the file, and their number. */
	uint64_t odd_begin, odd_end;
	unsigned int nr_odd;
};

/* Reads 50 million records a second, so it is compiled for each kind and byte order. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

static ALWAYS_INLINE size_t header_size(bool is_xen)
{
	return is_xen ? XEN_HEADER_SIZE : HEADER_SIZE;
}

static ALWAYS_INLINE size_t record_size(uint32_t word, bool is_xen)
{
	return header_size(is_xen) + (word & HAS_TSC ? TSC_SIZE : 0) + 4 * (word >> 28 & 7);
}

static bool is_known(uint32_t id)
{
	for (size_t i = 0; i < NR_KNOWN; i++) {
		if (known[i].id == id)
			return true;
	}
	return false;
}

/* Whether at least half of the first records are known events, if read in this byte order. */
static bool are_records(const struct head *head, bool swap)
{
	size_t at = 0, nr = 0, nr_known = 0;

	while (nr < 16 && at + HEADER_SIZE <= head->len) {
		uint32_t word = bytes_u32(head->bytes + at, swap);

		nr_known += is_known(word & ID_MASK);
		at += record_size(word, false);
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

static bool is_xentrace(const struct head *head)
{
	return head->len >= 4 && (bytes_u32(head->bytes, false) & ID_MASK) == CPU_CHANGE;
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

static const struct trace_type *type_of(const struct order *types, uint32_t id)
{
	const struct trace_type *type = NULL;

	if (id == ENTRYEXIT + 1)
		type = types->entry;
	else if (id == ENTRYEXIT + 2)
		type = types->exit;
	else if (id - HANDLER < NR_HANDLERS)
		type = types->handler[id - HANDLER];
	return type ? type : types->unknown;
}

static int finish(struct kvmtrace *kvmtrace)
{
	struct trace_file *file = kvmtrace->source.file;
	struct window *window = &kvmtrace->window;
	size_t left = window_left(window);
	uint64_t offset = window_offset(window);
	const char *error = window_error(window);

	if (error)
		trace_add_problem(file, offset, "%s", error);
	else if (left >= header_size(kvmtrace->is_xen))
		trace_add_problem(file, offset, "the last record has %zu of %zu bytes", left,
				  record_size(bytes_u32(window->at, kvmtrace->swap),
					      kvmtrace->is_xen));
	else if (left > 0)
		trace_add_problem(file, offset, "%zu bytes are no record", left);
	else if (offset == 0 && !file->has_records)
		trace_add_problem(file, 0, "the file is empty");
	window->at = window->end;
	return 0;
}

static ALWAYS_INLINE void set_event(struct kvmtrace *kvmtrace, const uint8_t *at, uint32_t word,
				    bool swap, bool is_xen)
{
	struct trace_event *event = &kvmtrace->source.event;
	uint32_t id = word & ID_MASK, words = word >> 28 & 7;

	event->id = id;
	event->type = type_of(kvmtrace->types, id);
	if (!is_xen) {
		uint32_t pid = bytes_u32(at + 4, swap), vcpu = bytes_u32(at + 8, swap);

		event->pid = (int32_t)pid;
		event->vcpu = (int32_t)vcpu;
		event->thread_key = (uint64_t)pid << 32 | vcpu;
	}
	event->words = (uint16_t)words;
	event->size = 4 * words;
	event->has_time = word & HAS_TSC;
	at += header_size(is_xen);
	if (word & HAS_TSC) {
		event->time = bytes_u64(at, swap);
		at += TSC_SIZE;
	}
	event->data = at;
	if (is_xen && id == CPU_CHANGE)
		event->cpu = words ? (int32_t)bytes_u32(at, swap) : 0;
}

/*
 * An unknown event's time is not used: after missing bytes, any bytes may be read as a record.
 * After ODD_MAX unknown events in a row the rest of the file is not read.
 */
static __attribute__((noinline, cold)) int take_odd(struct kvmtrace *kvmtrace, size_t size,
						    uint64_t time)
{
	struct trace_event *event = &kvmtrace->source.event;
	uint64_t end = window_offset(&kvmtrace->window);

	if (kvmtrace->source.file->has_records)
		return 1;
	if (end - size != kvmtrace->odd_end || !kvmtrace->nr_odd) {
		kvmtrace->odd_begin = end - size;
		kvmtrace->nr_odd = 0;
	}
	kvmtrace->odd_end = end;
	event->time = time;
	event->has_time = false;
	if (++kvmtrace->nr_odd < ODD_MAX)
		return 1;
	trace_add_problem(kvmtrace->source.file, kvmtrace->odd_begin,
			  "%d unknown events in a row: bytes are missing or damaged",
			  ODD_MAX);
	return 0;
}

/* Takes the record of `size` bytes at window->at, which is complete. */
static ALWAYS_INLINE int take(struct kvmtrace *kvmtrace, size_t size, uint32_t word, bool swap,
			      bool is_xen)
{
	struct window *window = &kvmtrace->window;
	struct trace_event *event = &kvmtrace->source.event;
	const uint8_t *at = window->at;
	uint64_t before = event->time;

	window->at = at + size;
	set_event(kvmtrace, at, word, swap, is_xen);
	return event->type == kvmtrace->types->unknown ? take_odd(kvmtrace, size, before) : 1;
}

/* At the end of a piece of the file: reads the next piece. */
static __attribute__((noinline, cold)) int next_piece(struct kvmtrace *kvmtrace)
{
	struct window *window = &kvmtrace->window;
	uint32_t word;
	size_t size;

	if (!window_want(window, header_size(kvmtrace->is_xen)))
		return finish(kvmtrace);
	word = bytes_u32(window->at, kvmtrace->swap);
	size = record_size(word, kvmtrace->is_xen);
	if (!window_want(window, size))
		return finish(kvmtrace);
	return take(kvmtrace, size, word, kvmtrace->swap, kvmtrace->is_xen);
}

static ALWAYS_INLINE int next_of(struct trace_source *source, bool swap, bool is_xen)
{
	struct kvmtrace *kvmtrace = (struct kvmtrace *)source;
	struct window *window = &kvmtrace->window;
	uint32_t word;
	size_t size;

	if (window_left(window) < header_size(is_xen))
		return next_piece(kvmtrace);
	word = bytes_u32(window->at, swap);
	size = record_size(word, is_xen);
	if (window_left(window) < size)
		return next_piece(kvmtrace);
	return take(kvmtrace, size, word, swap, is_xen);
}

static int next(struct trace_source *source)
{
	return next_of(source, false, false);
}

static int next_swapped(struct trace_source *source)
{
	return next_of(source, true, false);
}

static int next_xen(struct trace_source *source)
{
	return next_of(source, false, true);
}

static const struct trace_type *add_type(struct trace_file *file, const struct known *of,
					 struct trace_field *fields, bool swap)
{
	struct trace_type type = { .id = of->id, .system = "kvmtrace", .name = of->name };

	type.fields = fields;
	while (type.nr_fields < WORDS_MAX && of->words[type.nr_fields]) {
		size_t i = type.nr_fields++;

		fields[i] = (struct trace_field){
			.name = of->words[i],
			.offset = (uint32_t)(4 * i),
			.size = 4,
			.flags = swap ? TRACE_FIELD_SWAP : 0,
		};
	}
	return trace_add_type(file->trace, &type);
}

static int fill_order(struct trace_file *file, struct order *order, bool swap)
{
	static const struct known unknown = { .name = "unknown" };

	order->unknown = add_type(file, &unknown, order->fields[NR_KNOWN], swap);
	if (!order->unknown)
		return -ENOMEM;
	for (size_t i = 0; i < NR_KNOWN; i++) {
		const struct trace_type *type = add_type(file, &known[i], order->fields[i], swap);

		if (!type)
			return -ENOMEM;
		if (known[i].id >= HANDLER)
			order->handler[known[i].id - HANDLER] = type;
		else if (known[i].id == ENTRYEXIT + 1)
			order->entry = type;
		else
			order->exit = type;
	}
	return 0;
}

static int get_types(struct trace_file *file, bool swap, const struct order **ret_types)
{
	void **shared = trace_shared(file);
	struct types *types;
	int err = 0;

	if (!*shared)
		*shared = calloc(1, sizeof(*types));
	types = *shared;
	if (!types)
		return -ENOMEM;
	if (!types->has[swap])
		err = fill_order(file, &types->order[swap], swap);
	types->has[swap] = true;
	*ret_types = &types->order[swap];
	return err;
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

		size = record_size(word, false);
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

static int open_kvmtrace(struct trace_file *file, const struct head *head, struct error *why)
{
	struct kvmtrace *kvmtrace = calloc(1, sizeof(*kvmtrace));
	int err = kvmtrace ? 0 : -ENOMEM;

	(void)why;
	if (!err)
		err = window_init(&kvmtrace->window, file->fd, head);
	if (err) {
		free(kvmtrace);
		return err;
	}
	source_init(&kvmtrace->source, file);
	kvmtrace->source.free = source_free_window;
	kvmtrace->source.window = &kvmtrace->window;
	kvmtrace->is_xen = file->info.kind == TRACE_XENTRACE;
	kvmtrace->swap = !kvmtrace->is_xen && find_swap(&kvmtrace->window, head);
	kvmtrace->source.next = kvmtrace->is_xen ? next_xen : kvmtrace->swap ? next_swapped : next;
	if (kvmtrace->is_xen)
		kvmtrace->source.event.cpu = 0;
	file->info.clock = TRACE_CLOCK_CYCLES;
	file->info.clock_name = "tsc";
	/* is_svm() reads ahead; records from a pipe must not wait for that. */
	if (!file->has_records && is_svm(kvmtrace))
		file->info.cpu_vendor = "AuthenticAMD";
	file->info.is_big_endian = kvmtrace->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	err = get_types(file, kvmtrace->swap, &kvmtrace->types);
	if (err) {
		source_free_window(&kvmtrace->source);
		return err;
	}
	return trace_add_source(file->trace, &kvmtrace->source);
}

const struct trace_reader kvmtrace_reader = {
	.kind = TRACE_KVMTRACE,
	.name = "kvmtrace",
	.reads_pipes = true,
	.is_kind = is_kind,
	.looks_like = has_mark,
	.open = open_kvmtrace,
};

const struct trace_reader xentrace_reader = {
	.kind = TRACE_XENTRACE,
	.name = "xentrace",
	.reads_pipes = true,
	.is_kind = is_xentrace,
	.looks_like = is_xentrace,
	.open = open_kvmtrace,
};
