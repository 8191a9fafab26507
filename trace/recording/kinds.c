// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the readers, and finds the reader of a file. */
#include <ctype.h>
#include <errno.h>

#include "trace/recording/kinds.h"
#include "trace/recording/reader.h"

/* Kinds with a magic number come first: acrn has none, and not all kvmtrace files have one. */
static const struct trace_reader *const event_readers[] = { &trace_dat_reader, &perf_data_reader,
							  &acrn_reader, &kvmtrace_reader, NULL };

/* The first reader takes unknown files: old files of kvmtrace have no mark. */
static const struct trace_reader *const record_readers[] = { &kvmtrace_reader, &xentrace_reader,
							   &acrn_reader, NULL };

static const struct trace_reader *by_kind(const struct trace_reader *const *readers,
					  enum trace_kind kind)
{
	for (; *readers; readers++) {
		if ((*readers)->kind == kind)
			return *readers;
	}
	return NULL;
}

static const struct trace_reader *by_name(const struct trace_reader *const *readers,
					  const char *name)
{
	for (; *readers; readers++) {
		if (strcmp((*readers)->name, name) == 0)
			return *readers;
	}
	return NULL;
}

const char *trace_kind_name(enum trace_kind kind)
{
	const struct trace_reader *reader = by_kind(event_readers, kind);

	if (!reader)
		reader = by_kind(record_readers, kind);
	return reader ? reader->name : "any";
}

int trace_kind_by_name(const char *name, enum trace_kind *ret_kind, struct error *why)
{
	const struct trace_reader *reader = by_name(event_readers, name);

	if (!reader)
		return error_set(why, -EINVAL, "\"%s\": the format must be one of trace.dat, "
				 "perf.data, acrn, kvmtrace", name);
	*ret_kind = reader->kind;
	return 0;
}

int trace_record_kind_by_name(const char *name, enum trace_kind *ret_kind, struct error *why)
{
	const struct trace_reader *reader = by_name(record_readers, name);

	if (!reader)
		return error_set(why, -EINVAL, "\"%s\": the format must be one of kvmtrace, "
				 "xentrace, acrn", name);
	*ret_kind = reader->kind;
	return 0;
}

const struct trace_reader *trace_event_reader(enum trace_kind kind, const struct head *head)
{
	if (kind != TRACE_ANY)
		return by_kind(event_readers, kind);
	for (size_t i = 0; event_readers[i]; i++) {
		if (event_readers[i]->is_kind(head))
			return event_readers[i];
	}
	return NULL;
}

/*
 * Each record has zero bytes: the high bytes of kvmtrace's vCPU, of xentrace's CPU or TSC, of
 * ACRN's event number.
 */
bool trace_head_is_text(const struct head *head)
{
	for (size_t i = 0; i < head->len; i++) {
		if (head->bytes[i] < ' ' && !isspace(head->bytes[i]))
			return false;
	}
	return head->len > 0;
}

const struct trace_reader *trace_record_reader(enum trace_kind kind, const struct head *head,
					       const char *path, struct error *why)
{
	const struct trace_reader *other;

	if (kind != TRACE_ANY)
		return by_kind(record_readers, kind);
	other = trace_event_reader(TRACE_ANY, head);
	if (other && !by_kind(record_readers, other->kind)) {
		error_set(why, -EINVAL, "%s: is %s, not records of kvmtrace, xentrace or ACRN: "
			  "kvmtop report reads it", path, other->name);
		return NULL;
	}
	if (head->len == 0 || trace_head_is_text(head)) {
		error_set(why, -EINVAL, head->len ? "%s: is text, not records of kvmtrace, "
			  "xentrace or ACRN" : "%s: the file is empty", path);
		return NULL;
	}
	for (size_t i = 0; record_readers[i]; i++) {
		if (record_readers[i]->looks_like(head))
			return record_readers[i];
	}
	return record_readers[0];
}
