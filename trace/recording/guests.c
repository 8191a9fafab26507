// SPDX-License-Identifier: GPL-2.0-or-later
/* The guests that a trace.dat names, and which of its threads belong to them. */
#include <stdlib.h>

#include "lib/array.h"
#include "lib/number.h"
#include "lib/xalloc.h"
#include "trace/recording/reader.h"
#include "trace/recording/trace.h"

bool trace_guest(const struct trace *trace, size_t file, size_t i, struct trace_guest *ret_guest)
{
	const struct trace_file *of = trace->files.items[file];

	if (i >= of->nr_guests)
		return false;
	*ret_guest = of->guests[i];
	return true;
}

static const struct kallsyms *symbols_of(struct trace_file *file)
{
	struct error error;
	size_t size;
	char *text;

	if (file->has_looked || !file->reader->read_symbols)
		return file->symbols;
	file->has_looked = true;
	text = file->reader->read_symbols(file, &size);
	/* A list without addresses, or with damage, gives no names; the events are fine. */
	if (text)
		kallsyms_parse(text, size, file->info.path, &file->symbols, &error);
	return file->symbols;
}

const struct kallsyms *trace_symbols(const struct trace *trace, size_t file)
{
	return symbols_of(trace->files.items[file]);
}

const struct kallsyms *trace_guest_symbols(const struct trace *trace, size_t file, size_t i)
{
	const struct trace_file *of = trace->files.items[file];
	const struct trace_file *host = trace->files.items[of->info.main];

	for (size_t k = 0; i < host->nr_guests && k < trace->files.nr; k++) {
		struct trace_file *guest = trace->files.items[k];

		if (guest->info.host_id && guest->info.host_id == host->info.trace_id &&
		    guest->info.trace_id == host->guests[i].trace_id && !trace_is_part(guest))
			return symbols_of(guest);
	}
	return NULL;
}

/* A thread of a guest. */
struct guest_tid {
	int tid, vcpu; /* vcpu -1: it runs none */
	uint32_t guest;
};

/* The first guest that names a thread has it, and of its threads the vCPUs come first. */
static int compare_tids(const void *a, const void *b)
{
	const struct guest_tid *one = a, *other = b;

	return compared(one->tid, other->tid) ?: compared(one->guest, other->guest) ?:
	       compared((uint32_t)one->vcpu, (uint32_t)other->vcpu);
}

static void list_tids(struct trace_file *file)
{
	size_t nr = 0;

	for (size_t i = 0; i < file->nr_guests; i++)
		nr += file->guests[i].nr_vcpus + file->guests[i].nr_others;
	file->guest_tids = xcalloc(nr, sizeof(*file->guest_tids));
	for (uint32_t i = 0; i < file->nr_guests; i++) {
		const struct trace_guest *guest = &file->guests[i];
		struct guest_tid *at = file->guest_tids + file->nr_guest_tids;

		for (size_t vcpu = 0; vcpu < guest->nr_vcpus; vcpu++)
			*at++ = (struct guest_tid){ guest->tids[vcpu], (int)vcpu, i };
		for (size_t k = 0; k < guest->nr_others; k++)
			*at++ = (struct guest_tid){ guest->others[k], -1, i };
		file->nr_guest_tids = (size_t)(at - file->guest_tids);
	}
	qsort(file->guest_tids, nr, sizeof(*file->guest_tids), compare_tids);
}

int64_t trace_guest_of(const struct trace *trace, size_t file, int32_t tid,
		       struct trace_guest *ret_guest, int32_t *ret_vcpu)
{
	const struct trace_file *of = trace->files.items[file];
	struct trace_file *main = trace->files.items[of->info.main];
	const struct guest_tid *found;
	size_t at;

	if (tid < 0 || !main->nr_guests)
		return -1;
	if (!main->guest_tids)
		list_tids(main);
	at = array_lower_bound(main->nr_guest_tids, i, main->guest_tids[i].tid < tid);
	if (at == main->nr_guest_tids || main->guest_tids[at].tid != tid)
		return -1;
	found = &main->guest_tids[at];
	*ret_guest = main->guests[found->guest];
	*ret_vcpu = found->vcpu;
	return found->guest;
}
