// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the records of kvmtrace, xentrace and ACRN. */
#include <byteswap.h>
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/rules/raw.h"
#include "trace/window.h"

#define KVMTRACE_MARK 0x12345678u
#define KVMTRACE_MARK_SWAPPED 0x78563412u

#define ACRN_SIZE 32
#define ACRN_WORDS_SIZE 16
#define ACRN_EVENT_MASK 0xffffffffffffull
#define ACRN_EVENT_MAX 0xfffff /* more than any that there is */
#define ACRN_LOOK 4096	       /* bytes that decide which layout it is */

struct raw_file {
	const char *path; /* for errors */
	int fd;
	uint64_t size; /* 0: not known */
	bool is_empty;
	struct raw_layout layout;
	struct window window;
};

int raw_kind_by_name(const char *name, enum raw_kind *ret_kind)
{
	static const char *const names[] = {
		[RAW_KVMTRACE] = "kvmtrace",
		[RAW_XENTRACE] = "xentrace",
		[RAW_ACRN] = "acrn",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0) {
			*ret_kind = (enum raw_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- numbers ---- */

static uint32_t get_u32(const struct raw_layout *layout, const uint8_t *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return layout->is_swapped ? bswap_32(value) : value;
}

static uint64_t get_u64(const struct raw_layout *layout, const uint8_t *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	return layout->is_swapped ? bswap_64(value) : value;
}

/* ---- which kind it is ---- */

static const struct raw_layout little_endian = {
	.kind = RAW_ACRN,
	.is_swapped = __BYTE_ORDER == __BIG_ENDIAN,
};

static bool acrn_is_number_of_words(unsigned int n)
{
	return n == 2 || n == 4 || n == 8 || n == 16;
}

/* A known event with a number of words that exists, in either layout. */
static bool acrn_is_likely(const uint8_t *data, size_t size)
{
	uint64_t head;

	if (size < ACRN_SIZE)
		return false;
	head = get_u64(&little_endian, data + 8);
	return (head & ACRN_EVENT_MASK) <= ACRN_EVENT_MAX &&
	       (acrn_is_number_of_words(head >> 48 & 0xff) ||
		acrn_is_number_of_words(head >> 56 & 0xf));
}

/*
 * Before the VM came in, one byte was the number of words, and the next one file's CPU; and before
 * that, there was neither.
 */
static bool acrn_has_vm(const uint8_t *data, size_t size)
{
	uint8_t cpu = data[15];

	for (size_t at = 0; at + ACRN_SIZE <= size && at < ACRN_LOOK; at += ACRN_SIZE) {
		bool says_nothing = !data[at + 14] && !data[at + 15];

		if (!says_nothing &&
		    (!acrn_is_number_of_words(data[at + 14]) || data[at + 15] != cpu))
			return true;
	}
	return false;
}

static enum raw_kind guess(const uint8_t *data, size_t size)
{
	const struct raw_layout ours = { .kind = RAW_KVMTRACE };
	uint32_t first = size >= 4 ? get_u32(&ours, data) : 0;

	if (first == KVMTRACE_MARK || first == KVMTRACE_MARK_SWAPPED)
		return RAW_KVMTRACE;
	if ((first & 0x0fffffff) == RAW_CPU_CHANGE)
		return RAW_XENTRACE;
	return acrn_is_likely(data, size) ? RAW_ACRN : RAW_KVMTRACE;
}

struct raw_layout raw_layout_of(const uint8_t *data, size_t size, const enum raw_kind *kind)
{
	struct raw_layout layout = { .kind = kind ? *kind : guess(data, size) };
	uint32_t first = size >= 4 ? get_u32(&layout, data) : 0;

	if (layout.kind == RAW_ACRN) {
		layout = little_endian;
		layout.has_vm = size >= ACRN_SIZE && acrn_has_vm(data, size);
	} else if (first == KVMTRACE_MARK || first == KVMTRACE_MARK_SWAPPED) {
		layout.skip = 4;
		layout.is_swapped = first == KVMTRACE_MARK_SWAPPED;
	}
	return layout;
}

/* The kinds that cannot be anything else; `kvmtop report` reads them. */
extern const struct reader trace_dat_reader, perf_data_reader;
static const struct reader *const others[] = { &trace_dat_reader, &perf_data_reader };

/*
 * No zero, and no control character but those of text. A record has zeros: the high bytes of
 * kvmtrace's vCPU, of xentrace's CPU or TSC, of an ACRN event.
 */
static bool is_text(const struct head *head)
{
	for (size_t i = 0; i < head->len; i++) {
		if (head->bytes[i] < ' ' && !isspace(head->bytes[i]))
			return false;
	}
	return head->len > 0;
}

/* A file that has no records: it would be taken for kvmtrace, whose old files have no mark. */
static int check_kind(const struct raw_file *file, const struct head *head, struct why *why)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (others[i]->is_kind(head))
			return why_set(why, -EINVAL, "%s: is %s, not records of kvmtrace, "
				       "xentrace or ACRN: kvmtop report reads it", file->path,
				       others[i]->name);
	}
	if (is_text(head))
		return why_set(why, -EINVAL, "%s: is text, not records of kvmtrace, xentrace or "
			       "ACRN", file->path);
	return 0;
}

/* ---- records ---- */

static size_t decode_words(const struct raw_layout *layout, const uint8_t *data, size_t size,
			   struct raw_record *ret_record)
{
	struct raw_record record = { 0 };
	size_t at = layout->kind == RAW_KVMTRACE ? 12 : 4;
	uint32_t head;
	size_t n, need;

	if (size < 4)
		return 0;
	head = get_u32(layout, data);
	n = head >> 28 & 7;
	record.event = head & 0x0fffffff;
	record.has_tsc = head >> 31;
	need = at + (record.has_tsc ? 8 : 0) + 4 * n;
	if (size < need)
		return 0;
	if (layout->kind == RAW_KVMTRACE) {
		record.pid = get_u32(layout, data + 4);
		record.vcpu = get_u32(layout, data + 8);
	}
	if (record.has_tsc) {
		record.tsc = get_u64(layout, data + at);
		at += 8;
	}
	for (size_t i = 0; i < n; i++)
		record.words[i] = get_u32(layout, data + at + 4 * i);
	*ret_record = record;
	return need;
}

/* The 16 bytes are two numbers, four, or 16 of one byte; text has signed ones. */
static void acrn_words(const uint8_t *data, unsigned int n, struct raw_record *record)
{
	record->is_signed = n == 16 || n == 0;
	for (size_t i = 0; n == 2 && i < 2; i++)
		record->words[i] = get_u64(&little_endian, data + 8 * i);
	for (size_t i = 0; n == 4 && i < 4; i++)
		record->words[i] = get_u32(&little_endian, data + 4 * i);
	for (size_t i = 0; n != 2 && n != 4 && i < ACRN_WORDS_SIZE; i++)
		record->words[i] = record->is_signed ? (uint64_t)(int64_t)(int8_t)data[i] : data[i];
}

static size_t decode_acrn(const struct raw_layout *layout, const uint8_t *data, size_t size,
			  struct raw_record *ret_record)
{
	struct raw_record record = { .has_tsc = true };
	unsigned int n;
	uint64_t head;

	if (size < ACRN_SIZE)
		return 0;
	record.tsc = get_u64(layout, data);
	head = get_u64(layout, data + 8);
	record.event = head & ACRN_EVENT_MASK;
	if (layout->has_vm) {
		record.vm = head >> 48 & 0xf;
		record.vcpu = head >> 52 & 0xf;
		n = head >> 56 & 0xf;
		record.cpu = (uint32_t)(head >> 60);
	} else {
		n = head >> 48 & 0xff;
		record.cpu = (uint32_t)(head >> 56);
	}
	acrn_words(data + 16, n, &record);
	*ret_record = record;
	return ACRN_SIZE;
}

size_t raw_decode(const struct raw_layout *layout, const uint8_t *data, size_t size,
		  struct raw_record *ret_record)
{
	if (layout->kind == RAW_ACRN)
		return decode_acrn(layout, data, size, ret_record);
	return decode_words(layout, data, size, ret_record);
}

/* ---- files ---- */

/* Tells the layout by the first bytes; of a pipe, by what a record needs. */
static int file_begin(struct raw_file *file, const enum raw_kind *kind, struct why *why)
{
	struct window *window = &file->window;
	struct head head;
	struct stat st;
	int err;

	if (fstat(file->fd, &st) < 0)
		return why_set(why, -errno, "%s: %s", file->path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return why_set(why, -EISDIR, "%s: is a folder; its files can be given together",
			       file->path);
	err = window_init(window, file->fd, &(struct head){ (const uint8_t *)"", 0 });
	if (err)
		return err;
	file->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	window_want(window, S_ISREG(st.st_mode) ? ACRN_LOOK : ACRN_SIZE);
	head = (struct head){ window->at, window_left(window) };
	file->is_empty = head.len == 0;
	err = kind ? 0 : check_kind(file, &head, why);
	if (err)
		return err;
	file->layout = raw_layout_of(head.bytes, head.len, kind);
	window->at += file->layout.skip;
	return 0;
}

int raw_file_open(const char *path, const enum raw_kind *kind, struct raw_file **ret_file,
		  struct why *why)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct raw_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->path = is_stdin ? "standard input" : path;
	file->fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		err = why_set(why, -errno, "%s: %s", file->path, strerror(errno));
	else
		err = file_begin(file, kind, why);
	if (err)
		raw_file_free(file);
	else
		*ret_file = file;
	return err;
}

void raw_file_free(struct raw_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	window_release(&file->window);
	free(file);
}

const struct raw_layout *raw_file_layout(const struct raw_file *file)
{
	return &file->layout;
}

const char *raw_file_path(const struct raw_file *file)
{
	return file->path;
}

bool raw_file_is_empty(const struct raw_file *file)
{
	return file->is_empty;
}

void raw_file_progress(const struct raw_file *file, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = window_offset(&file->window);
	*ret_total = file->size;
}

bool raw_file_may_wait(const struct raw_file *file)
{
	struct raw_record record;

	return !raw_decode(&file->layout, file->window.at, window_left(&file->window), &record);
}

static int file_end(const struct raw_file *file, struct why *why)
{
	const struct window *window = &file->window;
	const char *error = window_error(window);

	if (error)
		return why_set(why, window->err ? window->err : -EBADMSG, "%s: %s", file->path,
			       error);
	if (!window_left(window))
		return 0;
	return why_set(why, -EBADMSG, "%s: ends within a record: %zu bytes at offset %llu",
		       file->path, window_left(window),
		       (unsigned long long)window_offset(window));
}

int raw_file_next(struct raw_file *file, struct raw_record *ret_record, struct why *why)
{
	struct window *window = &file->window;
	size_t n;

	while (!(n = raw_decode(&file->layout, window->at, window_left(window), ret_record))) {
		size_t left = window_left(window);

		window_want(window, left + 1);
		if (window_left(window) == left)
			return file_end(file, why);
	}
	window->at += n;
	return 1;
}
