// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks of threads, and what each of them is in. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "trace/exits/guests.h"
#include "trace/exits/recording.h"
#include "trace/timeline/out.h"
#include "trace/timeline/timeline.h"

#define ORDER_OTHERS 1000000 /* after all vCPUs */
#define NAME_SIZE 96

/* The offsets from the host's TSC to a vCPU's, in the order in which they were written. */
struct vcpu_offsets {
	int32_t vcpu;
	struct offset {
		uint64_t time; /* of the host's TSC */
		int64_t offset;
	} *list;
	size_t nr, room;
};

/* A guest, or threads of which no guest is known. */
struct guest_process {
	int32_t number; /* in the timeline */
	bool has_offsets;
	struct vcpu_offsets *offsets; /* if they are kept */
	size_t nr_offsets, room_offsets;
	uint64_t tsc_hz; /* the guest's; 0: not known */
	char name[NAME_SIZE];
};

/* What is kept of a thread. */
struct vcpu_track {
	size_t process;
	int64_t id;
	struct timeline_args args; /* of the exit that it is in */
	struct timeline_arrow *woken; /* to the next entry, from a waking or an interrupt */
	struct timeline_arrow *entered; /* to the last entry */
};

#define NAMES 64 /* a power of two */

/* What an exit or an argument is called: naming takes longer than drawing. */
struct exit_name {
	struct exit_key key;
	bool is_set, is_idle;
	char text[NAME_SIZE]; /* of its exit */
	char userspace[NAME_SIZE + 16]; /* "userspace (...)" */
};

struct timeline_kvm {
	const struct trace *trace;
	struct timeline_out *out;
	struct pairing pairing;
	struct pairing_listener listener;
	struct guest_process *processes; /* by the guest's number */
	size_t nr_processes, room_processes;
	bool keeps_offsets;
	struct exit_name names[NAMES]; /* by the key */
	struct timeline_cpus cpus;
	struct timeline_arrows arrows;
	uint64_t nr_arrows; /* that have an end */
	struct timeline_code code;
	const struct trace_event *event; /* the one that is taken */
};

/* The number of the thread's process, which is drawn from its first event on. */
static size_t process_of(struct timeline_kvm *kvm, struct recorded_thread *thread)
{
	const struct recorded_guest *guest =
		recorded_guest_of(&kvm->pairing.guests, kvm->trace, thread);
	struct guest_process *process;

	if (guest->number == kvm->nr_processes) {
		array_grow(&kvm->processes, &kvm->room_processes, kvm->nr_processes + 1);
		process = &kvm->processes[kvm->nr_processes++];
		recorded_guest_name(kvm->trace, guest, process->name, NAME_SIZE);
		process->number = out_process(kvm->out, process->name);
	}
	return guest->number;
}

static struct vcpu_track *track_of(struct timeline_kvm *kvm, struct recorded_thread *thread)
{
	struct vcpu_track *track = thread->drawn;

	if (track)
		return track;
	track = xcalloc(1, sizeof(*track));
	guests_identify(kvm->trace, thread);
	if (thread->tid >= 0)
		track->id = thread->tid;
	else
		track->id = thread->vcpu >= 0 ? thread->vcpu : thread->cpu;
	track->process = process_of(kvm, thread);
	thread->drawn = track;
	return track;
}

/* ---- drawing ---- */

static struct timeline_event event_on(const struct timeline_kvm *kvm,
				      const struct vcpu_track *track, const char *name,
				      const char *category, uint64_t time)
{
	return (struct timeline_event){
		.name = name,
		.category = category,
		.process = kvm->processes[track->process].number,
		.track = track->id,
		.ns = timeline_clock_ns(&kvm->out->clock, time),
	};
}

/* arrow: may begin here; NULL: none */
static void draw_instant(struct timeline_kvm *kvm, const struct vcpu_track *track,
			 const struct trace_event *event, struct timeline_arrow **arrow)
{
	struct timeline_event instant = event_on(kvm, track, event->type->name, "kvm", event->time);
	struct timeline_args args;

	args_clear(&args);
	args_add_fields(&args, event);
	if (arrow)
		arrow_begin(arrow, kvm->out, &instant, &args);
	else
		out_instant(kvm->out, &instant, &args);
}

struct slice {
	struct vcpu_track *track;
	uint64_t begin, end;
	bool is_cut;
};

enum kind { KIND_GUEST, KIND_KVM, KIND_HALTED, KIND_USERSPACE, KIND_WAITING };

static void draw_slice(struct timeline_kvm *kvm, const struct slice *slice, const char *name,
		       enum kind kind, const struct timeline_args *args)
{
	static const char *const categories[][2] = {
		[KIND_GUEST] = { "guest", "guest,cut" },
		[KIND_KVM] = { "kvm", "kvm,cut" },
		[KIND_HALTED] = { "halted", "halted,cut" },
		[KIND_USERSPACE] = { "userspace", "userspace,cut" },
		[KIND_WAITING] = { "waiting", "waiting,cut" },
	};
	struct timeline_event event = event_on(kvm, slice->track, name,
					       categories[kind][slice->is_cut], slice->begin);

	if (kind == KIND_GUEST) {
		if (slice->track->entered && !slice->is_cut)
			event.flow = ++kvm->nr_arrows;
		event.ends_flow = true;
		arrow_end(&slice->track->entered, kvm->out, event.flow);
	}
	out_slice(kvm->out, &event, timeline_clock_ns(&kvm->out->clock, slice->end), args);
}

/* The event is the switch that ends it. */
static void draw_wait(struct timeline_kvm *kvm, const struct slice *slice)
{
	struct timeline_args args;

	args_clear(&args);
	if (!slice->is_cut)
		timeline_cpus_ran(&kvm->cpus, kvm->event->cpu,
				  timeline_clock_ns(&kvm->out->clock, slice->begin),
				  timeline_clock_ns(&kvm->out->clock, slice->end), &args);
	draw_slice(kvm, slice, "waiting for a CPU", KIND_WAITING, &args);
}

static const struct exit_name *name_of(struct timeline_kvm *kvm, const struct exit_count *count)
{
	const struct exit_key *key = &count->key;
	struct exit_name *name = &kvm->names[(key->a ^ key->b ^ key->kind * 7U) % NAMES];
	char text[NAME_SIZE];

	if (name->is_set && memcmp(&name->key, key, sizeof(*key)) == 0)
		return name;
	meaning_name(&kvm->pairing.meanings, key, text, sizeof(text));
	snprintf(name->text, sizeof(name->text), "%s", text);
	snprintf(name->userspace, sizeof(name->userspace), "userspace (%s)", text);
	name->key = *key;
	name->is_idle = meaning_is_idle(&kvm->pairing.meanings, key);
	name->is_set = true;
	return name;
}

static void draw_exit(struct timeline_kvm *kvm, const struct slice *slice,
		      const struct exit_count *count)
{
	const struct exit_name *name;

	if (!count) {
		draw_slice(kvm, slice, "KVM", KIND_KVM, NULL);
		return;
	}
	name = name_of(kvm, count);
	draw_slice(kvm, slice, name->text, KIND_KVM, &slice->track->args);
	if (name->is_idle)
		draw_slice(kvm, slice, "halted", KIND_HALTED, NULL);
}

/* ---- spans and events of the pairing ---- */

/* The outer slice comes first: where both begin at once, readers take the first as the outer. */
static void on_end(void *state, struct recorded_thread *thread, enum span span, uint64_t begin,
		   uint64_t end, const struct exit_count *count, bool is_cut)
{
	struct timeline_kvm *kvm = state;
	const struct slice slice = { track_of(kvm, thread), begin, end, is_cut };

	if (span == SPAN_GUEST)
		draw_slice(kvm, &slice, "guest", KIND_GUEST, NULL);
	else if (span == SPAN_EXIT)
		draw_exit(kvm, &slice, count);
	else if (span == SPAN_WAIT)
		draw_wait(kvm, &slice);
	else
		draw_slice(kvm, &slice, name_of(kvm, count)->userspace, KIND_USERSPACE, NULL);
}

/* The guest's function, by the guest's own recording. */
static void add_function(struct timeline_kvm *kvm, const struct recorded_thread *thread,
			 const struct trace_event *event, struct timeline_args *args)
{
	const struct trace_field *pc = meaning_of(&kvm->pairing.meanings, event->type)->pc;
	const struct kallsyms *symbols = pc ? guests_symbols(kvm->trace, thread) : NULL;
	char name[NAME_SIZE];

	if (symbols && kallsyms_name(symbols, trace_field_number(pc, event), name, sizeof(name)))
		args_add_text(args, "function", name, strlen(name));
}

static void on_begin(void *state, struct recorded_thread *thread, enum span span,
		     const struct trace_event *event)
{
	struct timeline_kvm *kvm = state;
	struct vcpu_track *track = track_of(kvm, thread);

	if (span == SPAN_EXIT) {
		args_clear(&track->args);
		args_add_fields(&track->args, event);
		add_function(kvm, thread, event, &track->args);
	} else if (span == SPAN_GUEST) {
		track->entered = track->woken;
		track->woken = NULL;
		arrows_enter(&kvm->arrows, track->process, thread->vcpu, &track->woken);
	} else if (span == SPAN_USERSPACE && thread->state->mode != VCPU_OUTSIDE) {
		draw_instant(kvm, track, event, NULL);
	}
}

static void on_loss(void *state, struct recorded_thread *thread, const struct trace_event *event)
{
	struct timeline_kvm *kvm = state;
	struct vcpu_track *track = track_of(kvm, thread);
	const struct timeline_event instant = event_on(kvm, track, "events lost", "lost",
						       event->time);
	struct timeline_args args;

	arrow_end(&track->woken, kvm->out, 0);
	args_clear(&args);
	if (event->lost >= 0)
		args_add_number(&args, "lost", event->lost);
	out_instant(kvm->out, &instant, &args);
}

static void name_track(struct timeline_kvm *kvm, const struct recorded_thread *thread)
{
	const struct vcpu_track *track = thread->drawn;
	const struct guest_process *process = &kvm->processes[track->process];
	bool is_cpu = trace_file(kvm->trace, thread->file)->kind == TRACE_ACRN;
	char name[NAME_SIZE];

	if (thread->is_others)
		snprintf(name, sizeof(name), "(others)");
	else if (is_cpu && thread->vcpu < 0)
		snprintf(name, sizeof(name), "CPU %d", (int)thread->cpu);
	else if (thread->vcpu >= 0)
		snprintf(name, sizeof(name), "vCPU %d", (int)thread->vcpu);
	else if (thread->comm[0])
		snprintf(name, sizeof(name), "%s", thread->comm);
	else
		snprintf(name, sizeof(name), "thread %d", (int)thread->tid);
	out_track(kvm->out, process->number, track->id, name,
		  thread->vcpu >= 0 ? thread->vcpu : ORDER_OTHERS + track->id);
}

/* ---- the guests' clocks ---- */

/* The offset of the vCPU that the event names, or else of the thread's. */
static void take_offset(const struct timeline_kvm *kvm, struct guest_process *process,
			const struct recorded_thread *thread, const struct trace_event *event)
{
	const struct trace_field *field = trace_field(event->type, "next_tsc_offset");
	const struct trace_field *of = trace_field(event->type, "vcpu_id");
	int32_t vcpu = of ? (int32_t)trace_field_number(of, event) : thread->vcpu;
	struct vcpu_offsets *offsets;
	int64_t offset;
	size_t i = 0;

	if (!field)
		return;
	process->has_offsets = true;
	if (!kvm->keeps_offsets)
		return;
	while (i < process->nr_offsets && process->offsets[i].vcpu != vcpu)
		i++;
	array_grow(&process->offsets, &process->room_offsets, i + 1);
	offsets = &process->offsets[i];
	if (i == process->nr_offsets) {
		offsets->vcpu = vcpu;
		process->nr_offsets++;
	}
	offset = (int64_t)trace_field_number(field, event);
	if (offsets->nr && offsets->list[offsets->nr - 1].offset == offset)
		return; /* the same offset again */
	*array_add(offsets->list, offsets->nr, offsets->room) =
		(struct offset){ event->time, offset };
}

/* The guest's frequency of the TSC. The kernel's rule: ns = (TSC << shift) * mul / 2^32. */
static void take_hz(struct guest_process *process, const struct trace_event *event)
{
	const struct trace_field *mul_field = trace_field(event->type, "tsc_to_system_mul");
	const struct trace_field *shift_field = trace_field(event->type, "tsc_shift");
	uint64_t mul = mul_field ? trace_field_number(mul_field, event) : 0;
	int64_t shift = shift_field ? (int64_t)trace_field_number(shift_field, event) : 0;
	unsigned __int128 hz_mul = (unsigned __int128)1000000000 << 32;

	if (mul == 0 || !shift_field || shift < -31 || shift > 31)
		return;
	hz_mul = shift < 0 ? hz_mul << -shift : hz_mul >> shift;
	process->tsc_hz = (uint64_t)((hz_mul + mul / 2) / mul);
}

/* Whether the offset was written by then. The guest's clock may wrap: compares the difference. */
static bool is_before(const struct offset *offset, uint64_t guest_hz, uint64_t host_hz,
		      uint64_t guest_time)
{
	uint64_t time = (uint64_t)((unsigned __int128)offset->time * guest_hz / host_hz);

	return (int64_t)(time + (uint64_t)offset->offset - guest_time) <= 0;
}

/* With the vCPU's last offset from before that time, or else its first one. */
bool timeline_kvm_host_time(const struct timeline_kvm *kvm, size_t number, int32_t vcpu,
			    uint64_t guest_time, uint64_t *ret_time)
{
	const struct guest_process *process = &kvm->processes[number];
	const struct vcpu_offsets *of = process->offsets;
	uint64_t host = kvm->out->clock.hz, guest = process->tsc_hz;
	size_t nr;

	if (!process->nr_offsets)
		return false;
	for (size_t i = 0; i < process->nr_offsets; i++)
		of = process->offsets[i].vcpu == vcpu ? &process->offsets[i] : of;
	/* Less than a thousandth is the inexact frequency that the user or the file gave. */
	if (!guest || !host || (guest > host ? guest - host : host - guest) < host / 1000)
		guest = host = 1;
	nr = array_lower_bound(of->nr, i, is_before(&of->list[i], guest, host, guest_time));
	guest_time -= (uint64_t)of->list[nr ? nr - 1 : 0].offset;
	*ret_time = (uint64_t)((__int128)(int64_t)guest_time * (int64_t)host / (int64_t)guest);
	return true;
}

static struct timeline_guest guest_of(const struct timeline_kvm *kvm, size_t number)
{
	struct timeline_guest guest = { number, kvm->processes[number].name, 0 };

	for (size_t i = 0; i < kvm->nr_processes; i++)
		guest.nr_clocks += kvm->processes[i].has_offsets;
	return guest;
}

bool timeline_kvm_guest_at(const struct timeline_kvm *kvm, size_t nr,
			   struct timeline_guest *ret_guest)
{
	for (size_t i = 0; i < kvm->nr_processes; i++) {
		if (kvm->processes[i].has_offsets && nr-- == 0) {
			*ret_guest = guest_of(kvm, i);
			return true;
		}
	}
	return false;
}

/* full: "web1 (4711)"; then "web1", "4711" and the whole are names of it. */
static bool is_called(const char *full, const char *name, size_t len)
{
	const char *pid = strrchr(full, '(');

	if (strncmp(full, name, len) != 0)
		return pid && strncmp(pid + 1, name, len) == 0 && pid[1 + len] == ')';
	return !full[len] || (pid == full + len + 1 && full[len] == ' ');
}

static int no_guest(const struct timeline_kvm *kvm, const char *name, size_t len, size_t nr,
		    struct error *error)
{
	char list[sizeof(error->text) / 2] = "";
	size_t used = 0;

	for (size_t i = 0; i < kvm->nr_processes && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i ? ", " : "", kvm->processes[i].name);
	return error_set(error, nr ? -ENOTUNIQ : -ENOENT,
			 "%s guest of the recording is called %.*s: %s%s",
			 nr ? "more than one" : "no", (int)len, name,
			 list[0] ? "its guests are " : "it has none", list);
}

int timeline_kvm_guest(const struct timeline_kvm *kvm, const char *name, size_t len,
		       struct timeline_guest *ret_guest, struct error *error)
{
	size_t nr = 0, number = 0;

	for (size_t i = 0; i < kvm->nr_processes; i++) {
		if (!is_called(kvm->processes[i].name, name, len))
			continue;
		number = i;
		nr++;
	}
	if (nr != 1)
		return no_guest(kvm, name, len, nr, error);
	*ret_guest = guest_of(kvm, number);
	return 0;
}

/* ---- the stream ---- */

void timeline_kvm_name_vcpu(struct timeline_kvm *kvm, struct recorded_thread *thread, char *name,
			    size_t size)
{
	const struct vcpu_track *track = track_of(kvm, thread);

	snprintf(name, size, "%.80s vCPU %d", kvm->processes[track->process].name,
		 (int)thread->vcpu);
}

struct timeline_arrow **timeline_kvm_arrow(struct timeline_kvm *kvm,
					   struct recorded_thread *thread)
{
	return &track_of(kvm, thread)->woken;
}

struct timeline_kvm *timeline_kvm_new(const struct trace *trace, bool keeps_offsets,
				      struct timeline_out *out)
{
	struct timeline_kvm *kvm = xcalloc(1, sizeof(*kvm));

	kvm->trace = trace;
	kvm->keeps_offsets = keeps_offsets;
	kvm->out = out;
	kvm->listener = (struct pairing_listener){ kvm, on_begin, on_end, on_loss };
	kvm->cpus = (struct timeline_cpus){ .trace = trace, .table = &kvm->pairing.table,
					    .out = out, .kvm = kvm };
	kvm->code = (struct timeline_code){ recorded_code_new(trace), out, NULL };
	pairing_init(&kvm->pairing, trace, 0, &kvm->listener);
	return kvm;
}

static void track_free(struct vcpu_track *track)
{
	if (!track)
		return;
	arrow_free(track->woken);
	arrow_free(track->entered);
	free(track);
}

void timeline_kvm_free(struct timeline_kvm *kvm)
{
	if (!kvm)
		return;
	for (size_t i = 0; i < kvm->pairing.table.nr_threads; i++)
		track_free(kvm->pairing.table.threads[i]->drawn);
	pairing_release(&kvm->pairing);
	for (size_t i = 0; i < kvm->nr_processes; i++) {
		for (size_t k = 0; k < kvm->processes[i].nr_offsets; k++)
			free(kvm->processes[i].offsets[k].list);
		free(kvm->processes[i].offsets);
	}
	free(kvm->processes);
	arrows_release(&kvm->arrows);
	timeline_cpus_release(&kvm->cpus);
	timeline_code_release(&kvm->code);
	recorded_code_free(kvm->code.names);
	free(kvm);
}

/* Events of KVM's that begin and end no slice. Of other threads all events are such. */
static void take_instant(struct timeline_kvm *kvm, const struct meaning *meaning,
			 const struct trace_event *event)
{
	struct recorded_thread *thread = table_thread(&kvm->pairing.table, event);
	bool is_paired = meaning->kind == MEANING_EXIT || meaning->kind == MEANING_ENTRY ||
			 meaning->kind == MEANING_USERSPACE;
	const struct vcpu_track *track;

	if (is_paired && !thread->is_others)
		return;
	track = track_of(kvm, thread);
	draw_instant(kvm, track, event, arrows_of(&kvm->arrows, track->process, meaning, event));
	if (strcmp(event->type->name, "kvm_pvclock_update") == 0)
		take_hz(&kvm->processes[track->process], event);
	if (strcmp(event->type->name, "kvm_write_tsc_offset") == 0)
		take_offset(kvm, &kvm->processes[track->process], thread, event);
}

static void take_stack(struct timeline_kvm *kvm, const struct trace_event *event)
{
	uint32_t node;
	struct recorded_thread *thread = recorded_code_find(kvm->code.names, &kvm->pairing.table,
							    event, &node, NULL);

	if (thread)
		timeline_code_add(&kvm->code, thread,
				  kvm->processes[track_of(kvm, thread)->process].number, event,
				  node);
}

void timeline_kvm_add(struct timeline_kvm *kvm, const struct trace_event *event)
{
	const struct meaning *meaning = event->type ?
		meaning_of(&kvm->pairing.meanings, event->type) : NULL;

	kvm->event = event;
	if (meaning && event->stack) {
		take_stack(kvm, event);
		return;
	}
	/* Before the pairing: a wait that ends has what ran up to now. */
	if (!meaning || meaning->kind > MEANING_NONE)
		timeline_cpus_add(&kvm->cpus, meaning, event);
	pairing_add(&kvm->pairing, event);
	if (!meaning || !meaning_is_of_kvm(meaning))
		return;
	take_instant(kvm, meaning, event);
}

void timeline_kvm_end(struct timeline_kvm *kvm)
{
	pairing_end(&kvm->pairing);
	timeline_code_end(&kvm->code);
	for (size_t i = 0; i < kvm->pairing.table.nr_threads; i++) {
		struct vcpu_track *track = kvm->pairing.table.threads[i]->drawn;

		if (!track)
			continue;
		arrow_end(&track->woken, kvm->out, 0);
		name_track(kvm, kvm->pairing.table.threads[i]);
	}
}
