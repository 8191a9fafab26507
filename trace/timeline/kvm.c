// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks of threads, and what each of them is in. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "host/guest_name.h"
#include "trace/recorded/pairing_private.h"
#include "trace/timeline/fields.h"
#include "trace/timeline/kvm.h"
#include "trace/timeline/offsets.h"

#define ORDER_OTHERS 1000000 /* behind all vCPUs */
#define SVM_LEAST 0x60	     /* an exit of SVM's that every guest has: an interrupt */
#define SVM_INVALID 0xffff   /* also VMX's flags make such numbers */
#define NAME_SIZE 96

/* What an event of a type does. */
struct kind {
	bool is_seen;
	bool is_of_kvm;
	bool is_userspace, is_offset, is_clock;
	struct role role;
	const struct trace_field *reason; /* of kvm_userspace_exit */
	const struct trace_field *vcpu, *offset; /* of kvm_write_tsc_offset */
	const struct trace_field *mul, *shift; /* of kvm_pvclock_update: from its TSC to ns */
};

/*
 * What tells guests apart. Two threads that are the same vCPU are of two guests, even if nothing
 * says which.
 */
struct process_key {
	int64_t pid;   /* -1: not known */
	int64_t guest; /* the file's number for it; -1: it does not say */
	uint32_t file;
	uint32_t of_vcpu; /* where neither is known: how many had this vCPU before */
};

/* Where a process is in the list; of -1 guests, how many threads of a file had this vCPU. */
struct place {
	struct process_key key;
	size_t at;
	UT_hash_handle hh;
};

/* A guest, or what stands for it. */
struct process {
	int32_t number; /* in the timeline */
	bool has_offsets;
	uint64_t tsc_khz; /* the guest's; 0: not told */
};

enum state { STATE_UNKNOWN, STATE_GUEST, STATE_KVM };

struct track_key {
	uint64_t strand, file;
};

struct track {
	struct track_key key;
	UT_hash_handle hh;
	size_t process;
	int64_t id;
	int32_t vcpu, tid, cpu; /* -1: not known */
	char comm[32];
	bool is_empty; /* nothing was drawn on it */
	enum state state;
	uint64_t begin;
	char reason[NAME_SIZE];
	bool is_idle;
	struct timeline_args args;
	bool is_in_userspace;
	uint64_t userspace_begin;
	char userspace[NAME_SIZE];
};

struct timeline_kvm {
	const struct trace *trace;
	const struct timeline_clock *clock;
	struct timeline_out *out;
	struct tally names; /* no sums: its knowledge of reasons */
	struct reasons userspace;
	struct kind *kinds;
	size_t nr_kinds;
	struct track *tracks, *last;
	struct process *processes;
	size_t nr_processes;
	struct place *places, *vcpus;
	bool keeps_offsets, is_svm;
	struct timeline_offsets offsets;
	uint64_t first, last_time;
	bool has_first;
};

/* ---- what events mean ---- */

static int find_kind(struct timeline_kvm *kvm, const struct trace_type *type, struct kind *kind)
{
	*kind = (struct kind){ .is_seen = true };
	kind->is_of_kvm = strncmp(type->system, "kvm", 3) == 0 ||
			  strcmp(type->system, "acrn") == 0;
	if (!kind->is_of_kvm)
		return 0;
	if (strcmp(type->name, arch_userspace_split.event) == 0) {
		kind->is_userspace = true;
		kind->reason = trace_field(type, arch_userspace_split.field);
	}
	kind->vcpu = trace_field(type, "vcpu_id");
	kind->offset = trace_field(type, "next_tsc_offset");
	kind->mul = trace_field(type, "tsc_to_system_mul");
	kind->shift = trace_field(type, "tsc_shift");
	kind->is_clock = strcmp(type->name, "kvm_pvclock_update") == 0 && kind->mul && kind->shift;
	kind->is_offset = strcmp(type->name, "kvm_write_tsc_offset") == 0 && kind->offset;
	return role_find(&kvm->names, type, &kind->role);
}

static int get_kind(struct timeline_kvm *kvm, const struct trace_type *type,
		    struct kind **ret_kind)
{
	size_t nr = (type->index | 63) + 1;
	int err = 0;

	if (type->index >= kvm->nr_kinds) {
		struct kind *kinds = reallocarray(kvm->kinds, nr, sizeof(*kinds));

		if (!kinds)
			return -ENOMEM;
		memset(kinds + kvm->nr_kinds, 0, (nr - kvm->nr_kinds) * sizeof(*kinds));
		kvm->kinds = kinds;
		kvm->nr_kinds = nr;
	}
	if (!kvm->kinds[type->index].is_seen)
		err = find_kind(kvm, type, &kvm->kinds[type->index]);
	*ret_kind = &kvm->kinds[type->index];
	return err;
}

/* ---- processes and tracks ---- */

/* Which guest of the file's list the thread belongs to; -1: none. Fills in its vCPU. */
static int64_t find_guest(const struct timeline_kvm *kvm, struct track *track, char *name)
{
	struct trace_guest guest;
	int64_t i = trace_guest_of(kvm->trace, (size_t)track->key.file, track->tid, &guest,
				   &track->vcpu);

	if (i >= 0 && guest.pid >= 0)
		snprintf(name, NAME_SIZE, "%s (%d)", guest.name, (int)guest.pid);
	else if (i >= 0)
		snprintf(name, NAME_SIZE, "%s", guest.name);
	return i;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A new one is at SIZE_MAX. NULL: no memory. */
static struct place *get_place(struct place **places, const struct process_key *key)
{
	struct place *place;

	HASH_FIND(hh, *places, key, sizeof(*key), place);
	if (place)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->key = *key;
	place->at = SIZE_MAX;
	HASH_ADD(hh, *places, key, sizeof(place->key), place);
	return place;
}

static void free_places(struct place **places)
{
	struct place *place, *next;

	HASH_ITER(hh, *places, place, next) {
		HASH_DEL(*places, place);
		free(place);
	}
}

/* How many threads of this file were the same vCPU before: 0 or -ENOMEM. */
static int count_vcpu(struct timeline_kvm *kvm, const struct track *track, struct process_key *key)
{
	const struct process_key of = { .pid = track->vcpu, .file = key->file };
	struct place *place;

	if (key->pid >= 0 || key->guest >= 0 || track->vcpu < 0)
		return 0;
	place = get_place(&kvm->vcpus, &of);
	if (!place)
		return -ENOMEM;
	key->of_vcpu = (uint32_t)++place->at; /* from SIZE_MAX to 0 */
	return 0;
}

/* What is called after the file; all of its guests but the first have numbers. */
static void name_by_file(const struct timeline_kvm *kvm, const struct process_key *key, char *name,
			 size_t size)
{
	const char *base = base_name(trace_file(kvm->trace, key->file)->path);

	if (key->of_vcpu)
		snprintf(name, size, "%s (%u)", base, key->of_vcpu + 1);
	else
		snprintf(name, size, "%s", base);
}

static int add_process(struct timeline_kvm *kvm, const char *name)
{
	struct process *processes = reallocarray(kvm->processes, kvm->nr_processes + 1,
						 sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	kvm->processes = processes;
	processes[kvm->nr_processes++] = (struct process){ .number = out_process(kvm->out, name) };
	return 0;
}

/* The guest's name where the file has it, else its process, else the file it is in. */
static int set_process(struct timeline_kvm *kvm, struct track *track,
		       const struct trace_event *event)
{
	const struct trace_info *info = trace_file(kvm->trace, event->file);
	struct process_key key = { .file = event->file, .pid = event->pid };
	char name[NAME_SIZE] = "";
	struct place *place;

	if (info->kind == TRACE_ACRN)
		key.file = 0; /* one for each CPU of the same machine */
	key.guest = find_guest(kvm, track, name);
	if (key.guest >= 0)
		key.pid = -1;
	if (count_vcpu(kvm, track, &key) < 0)
		return -ENOMEM;
	place = get_place(&kvm->places, &key);
	if (!place)
		return -ENOMEM;
	track->process = place->at;
	if (place->at != SIZE_MAX)
		return 0;
	track->process = place->at = kvm->nr_processes;
	if (!name[0] && event->pid >= 0)
		snprintf(name, sizeof(name), "%s %d",
			 info->kind == TRACE_ACRN ? "VM" : "process", (int)event->pid);
	if (!name[0])
		name_by_file(kvm, &key, name, sizeof(name));
	return add_process(kvm, name);
}

static void set_names(struct timeline_kvm *kvm, struct track *track,
		      const struct trace_event *event)
{
	snprintf(track->comm, sizeof(track->comm), "%s", trace_comm(kvm->trace, event));
	track->tid = event->tid;
	track->cpu = event->cpu;
	track->vcpu = event->vcpu >= 0 ? event->vcpu : guest_name_vcpu(track->comm);
	if (track->tid >= 0)
		track->id = track->tid;
	else
		track->id = track->vcpu >= 0 ? track->vcpu : track->cpu;
}

static struct track *get_track(struct timeline_kvm *kvm, const struct trace_event *event)
{
	struct track_key key = { event->strand, event->file };
	struct track *track = kvm->last;

	if (track && track->key.strand == key.strand && track->key.file == key.file)
		return track;
	HASH_FIND(hh, kvm->tracks, &key, sizeof(key), track);
	if (!track) {
		track = calloc(1, sizeof(*track));
		if (!track)
			return NULL;
		track->key = key;
		track->is_empty = true;
		set_names(kvm, track, event);
		if (set_process(kvm, track, event) < 0) {
			free(track);
			return NULL;
		}
		HASH_ADD(hh, kvm->tracks, key, sizeof(key), track);
	}
	kvm->last = track;
	return track;
}

/* ---- drawing ---- */

static void draw(struct timeline_kvm *kvm, struct track *track, const char *name,
		 const char *category, uint64_t begin, uint64_t end,
		 const struct timeline_args *args)
{
	const struct timeline_event event = {
		.name = name,
		.category = category,
		.process = kvm->processes[track->process].number,
		.track = track->id,
		.ns = timeline_clock_ns(kvm->clock, begin),
	};

	track->is_empty = false;
	out_slice(kvm->out, &event, timeline_clock_ns(kvm->clock, end), args);
}

static void draw_instant(struct timeline_kvm *kvm, struct track *track,
			 const struct trace_event *event)
{
	const struct timeline_event instant = {
		.name = event->type->name,
		.category = "kvm",
		.process = kvm->processes[track->process].number,
		.track = track->id,
		.ns = timeline_clock_ns(kvm->clock, event->time),
	};
	struct timeline_args args;

	args_clear(&args);
	timeline_fields_add(&args, event);
	track->is_empty = false;
	out_instant(kvm->out, &instant, &args);
}

static void end_userspace(struct timeline_kvm *kvm, struct track *track, uint64_t time,
			  const char *category)
{
	if (track->is_in_userspace)
		draw(kvm, track, track->userspace, category, track->userspace_begin, time, NULL);
	track->is_in_userspace = false;
}

/* Ends what the track is in. The outer slice goes first: where both begin at once, it counts. */
static void end_state(struct timeline_kvm *kvm, struct track *track, uint64_t time, bool is_cut)
{
	switch (track->state) {
	case STATE_GUEST:
		draw(kvm, track, "guest", is_cut ? "guest,cut" : "guest", track->begin, time,
		     NULL);
		break;
	case STATE_KVM:
		draw(kvm, track, track->reason, is_cut ? "kvm,cut" : "kvm", track->begin, time,
		     &track->args);
		if (track->is_idle)
			draw(kvm, track, "halted", is_cut ? "halted,cut" : "halted", track->begin,
			     time, NULL);
		end_userspace(kvm, track, time, is_cut ? "userspace,cut" : "userspace");
		break;
	case STATE_UNKNOWN:
		break;
	}
	track->is_in_userspace = false;
	track->state = STATE_UNKNOWN;
}

/* What the track is in since the recording began, if its first event ends it. */
static void begin_cut(struct timeline_kvm *kvm, struct track *track, enum state state,
		      uint64_t time)
{
	if (track->state != STATE_UNKNOWN || !track->is_empty || time <= kvm->first)
		return;
	track->state = state;
	track->begin = kvm->first;
	snprintf(track->reason, sizeof(track->reason), "KVM");
	end_state(kvm, track, time, true);
}

/* kvmtrace does not say whose numbers they are. No VMX exit has one from SVM_LEAST on. */
static void guess_svm(struct timeline_kvm *kvm, const struct track *track, uint64_t code)
{
	const struct trace_info *info = trace_file(kvm->trace, (size_t)track->key.file);

	if (kvm->is_svm || info->kind != TRACE_KVMTRACE || code < SVM_LEAST || code >= SVM_INVALID)
		return;
	kvm->is_svm = true;
	tally_rename(&kvm->names, arch_by_name("SVM")->splits);
}

static void take_exit(struct timeline_kvm *kvm, struct track *track, const struct kind *kind,
		      const struct trace_event *event)
{
	const struct tally_cell cell = { .key = role_reason(&kind->role, event) };

	guess_svm(kvm, track, cell.key.a);
	begin_cut(kvm, track, STATE_GUEST, event->time);
	end_state(kvm, track, event->time, track->state == STATE_KVM);
	track->state = STATE_KVM;
	track->begin = event->time;
	tally_name(&kvm->names, &cell, track->reason, sizeof(track->reason));
	track->is_idle = tally_is_idle(&kvm->names, &cell);
	args_clear(&track->args);
	timeline_fields_add(&track->args, event);
}

static void take_entry(struct timeline_kvm *kvm, struct track *track, uint64_t time)
{
	begin_cut(kvm, track, STATE_KVM, time);
	end_state(kvm, track, time, track->state == STATE_GUEST);
	track->state = STATE_GUEST;
	track->begin = time;
}

static const char *userspace_name(const struct timeline_kvm *kvm, uint64_t code)
{
	for (size_t i = 0; i < kvm->userspace.nr; i++) {
		if (kvm->userspace.list[i].code == code)
			return kvm->userspace.list[i].name;
	}
	return "unknown";
}

static void take_userspace(struct timeline_kvm *kvm, struct track *track, const struct kind *kind,
			   const struct trace_event *event)
{
	uint64_t code = kind->reason ? trace_field_number(kind->reason, event) : 0;

	end_userspace(kvm, track, event->time, "userspace");
	track->is_in_userspace = true;
	track->userspace_begin = event->time;
	snprintf(track->userspace, sizeof(track->userspace), "userspace (%s)",
		 userspace_name(kvm, code));
}

/* Of what was open on that CPU nobody knows how it ended. */
static void take_loss(struct timeline_kvm *kvm, const struct trace_event *event)
{
	for (struct track *track = kvm->tracks; track; track = track->hh.next) {
		if (track->key.file != event->file ||
		    (event->cpu >= 0 && track->cpu != event->cpu))
			continue;
		if (track->state != STATE_UNKNOWN) {
			const struct timeline_event instant = {
				.name = "events lost",
				.category = "lost",
				.process = kvm->processes[track->process].number,
				.track = track->id,
				.ns = timeline_clock_ns(kvm->clock, event->time),
			};
			struct timeline_args args;

			args_clear(&args);
			if (event->lost >= 0)
				args_add_number(&args, "lost", event->lost);
			out_instant(kvm->out, &instant, &args);
		}
		end_state(kvm, track, event->time, true);
	}
}

/* ---- the guests' clocks ---- */

static int take_offset(struct timeline_kvm *kvm, const struct track *track,
		       const struct kind *kind, const struct trace_event *event)
{
	int32_t vcpu = kind->vcpu ? (int32_t)trace_field_number(kind->vcpu, event) : track->vcpu;

	kvm->processes[track->process].has_offsets = true;
	if (!kvm->keeps_offsets)
		return 0;
	return offsets_add(&kvm->offsets, track->process, vcpu, event->time,
			   (int64_t)trace_field_number(kind->offset, event));
}

/* The kernel's: a TSC shifted to the left, then times mul and by 2^32, is nanoseconds. */
static void take_clock(struct timeline_kvm *kvm, const struct track *track,
		       const struct kind *kind, const struct trace_event *event)
{
	uint64_t mul = trace_field_number(kind->mul, event);
	int64_t shift = (int64_t)trace_field_number(kind->shift, event);
	unsigned __int128 khz_mul = (unsigned __int128)1000000 << 32;

	if (mul == 0 || shift < -31 || shift > 31)
		return;
	khz_mul = shift < 0 ? khz_mul << -shift : khz_mul >> shift;
	kvm->processes[track->process].tsc_khz = (uint64_t)((khz_mul + mul / 2) / mul);
}

/* A difference of less than a thousandth is the host's clock as the user or the file has it. */
static struct timeline_ratio ratio_of(const struct timeline_kvm *kvm, size_t process)
{
	uint64_t guest = kvm->processes[process].tsc_khz, host = kvm->clock->khz;
	uint64_t difference = guest > host ? guest - host : host - guest;

	if (!guest || !host || difference < host / 1000)
		return (struct timeline_ratio){ 0, 0 };
	return (struct timeline_ratio){ guest, host };
}

bool timeline_kvm_host_time(const struct timeline_kvm *kvm, size_t nr, int32_t vcpu,
			    uint64_t guest_time, uint64_t *ret_time)
{
	struct timeline_ratio ratio;
	size_t process = 0;

	for (; process < kvm->nr_processes; process++) {
		if (kvm->processes[process].has_offsets && nr-- == 0)
			break;
	}
	if (process == kvm->nr_processes)
		return false;
	ratio = ratio_of(kvm, process);
	return offsets_host_time(&kvm->offsets, &ratio, process, vcpu, guest_time, ret_time);
}

/* ---- the stream ---- */

struct timeline_kvm *timeline_kvm_new(const struct trace *trace, const struct timeline_clock *clock,
				      bool keeps_offsets, struct timeline_out *out)
{
	struct timeline_kvm *kvm = calloc(1, sizeof(*kvm));

	if (!kvm)
		return NULL;
	kvm->trace = trace;
	kvm->clock = clock;
	kvm->keeps_offsets = keeps_offsets;
	kvm->out = out;
	tally_init(&kvm->names, EXITS_VMEXIT, trace);
	if (reasons_of(&arch_userspace_split, NULL, &kvm->userspace) < 0) {
		timeline_kvm_free(kvm);
		return NULL;
	}
	return kvm;
}

void timeline_kvm_free(struct timeline_kvm *kvm)
{
	struct track *track, *next;

	if (!kvm)
		return;
	HASH_ITER(hh, kvm->tracks, track, next) {
		HASH_DEL(kvm->tracks, track);
		free(track);
	}
	tally_release(&kvm->names);
	reasons_release(&kvm->userspace);
	free(kvm->kinds);
	free_places(&kvm->places);
	free_places(&kvm->vcpus);
	free(kvm->processes);
	offsets_release(&kvm->offsets);
	free(kvm);
}

static int dispatch(struct timeline_kvm *kvm, struct track *track, const struct kind *kind,
		    const struct trace_event *event)
{
	if (kind->role.kind == ROLE_EXIT) {
		take_exit(kvm, track, kind, event);
	} else if (kind->role.kind == ROLE_ENTRY) {
		take_entry(kvm, track, event->time);
	} else if (kind->is_userspace && track->state == STATE_KVM) {
		take_userspace(kvm, track, kind, event);
	} else {
		draw_instant(kvm, track, event);
		if (kind->is_clock)
			take_clock(kvm, track, kind, event);
		if (kind->is_offset)
			return take_offset(kvm, track, kind, event);
	}
	return 0;
}

int timeline_kvm_add(struct timeline_kvm *kvm, const struct trace_event *event)
{
	struct track *track;
	struct kind *kind;
	int err;

	if (!kvm->has_first)
		kvm->first = event->time;
	kvm->has_first = true;
	kvm->last_time = event->time;
	if (!event->type) {
		take_loss(kvm, event);
		return 0;
	}
	err = get_kind(kvm, event->type, &kind);
	if (err || !kind->is_of_kvm)
		return err;
	track = get_track(kvm, event);
	if (!track)
		return -ENOMEM;
	track->cpu = event->cpu;
	if (event->vcpu >= 0)
		track->vcpu = event->vcpu;
	return dispatch(kvm, track, kind, event);
}

static void name_track(struct timeline_kvm *kvm, const struct track *track)
{
	const struct process *process = &kvm->processes[track->process];
	bool is_cpu = trace_file(kvm->trace, (size_t)track->key.file)->kind == TRACE_ACRN;
	char name[NAME_SIZE];

	if (is_cpu && track->vcpu < 0)
		snprintf(name, sizeof(name), "CPU %d", (int)track->cpu);
	else if (track->vcpu >= 0)
		snprintf(name, sizeof(name), "vCPU %d", (int)track->vcpu);
	else if (track->comm[0])
		snprintf(name, sizeof(name), "%s", track->comm);
	else
		snprintf(name, sizeof(name), "thread %d", (int)track->tid);
	out_track(kvm->out, process->number, track->id, name,
		  track->vcpu >= 0 ? track->vcpu : ORDER_OTHERS + track->id);
}

void timeline_kvm_end(struct timeline_kvm *kvm)
{
	for (struct track *track = kvm->tracks; track; track = track->hh.next) {
		end_state(kvm, track, kvm->last_time, true);
		name_track(kvm, track);
	}
}
