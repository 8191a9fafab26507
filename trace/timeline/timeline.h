/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timeline - what a timeline is made of: a recording of KVM's events, function calls that uftrace
 * recorded, and the counters of perf stat.
 *
 * KVM's events are slices on a track for each vCPU (kvm.c). Between an entry and the next exit a
 * vCPU is in the guest; from an exit to the next entry it is in KVM, a slice with the name of the
 * exit's reason. Inside that slice are the time in user space, from kvm_userspace_exit on, and
 * "halted" if the reason means that the vCPU idles; and where the scheduler's events are recorded,
 * "waiting for a CPU". All other events of KVM are points. A thread that runs no vCPU has a track,
 * too.
 *
 * A slice that the recording cuts off, at its ends or where events are missing, has the category
 * "cut": it is in no sum of `kvmtop report`.
 */
#ifndef KVMTOP_TRACE_TIMELINE_TIMELINE_H
#define KVMTOP_TRACE_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/error.h"
#include "trace/recording/trace.h"
#include "trace/timeline/out.h"

struct recorded_thread;
struct timeline_kvm;

/*
 * What is handed in must outlive it. keeps_offsets: for timeline_kvm_host_time(); an offset takes
 * 16 bytes.
 */
struct timeline_kvm *timeline_kvm_new(const struct trace *trace, bool keeps_offsets,
				      struct timeline_out *out);
void timeline_kvm_free(struct timeline_kvm *kvm);

/* An event of the stream. */
void timeline_kvm_add(struct timeline_kvm *kvm, const struct trace_event *event);

/* At the stream's end: draws what is open, and names the tracks. */
void timeline_kvm_end(struct timeline_kvm *kvm);

/* For cpus.c: "web1 (4711) vCPU 1". */
void timeline_kvm_name_vcpu(struct timeline_kvm *kvm, struct recorded_thread *thread, char *name,
			    size_t size);
/* For cpus.c: the arrow to the thread's next entry. */
struct timeline_arrow **timeline_kvm_arrow(struct timeline_kvm *kvm,
					   struct recorded_thread *thread);

/* ---- code.c */

struct code_track;
struct recorded_code;

/* The caller sets the first two, which must outlive this, and zeroes the rest. */
struct timeline_code {
	struct recorded_code *names;
	struct timeline_out *out;
	struct code_track *tracks; /* a hash */
};

/* Takes a sample of a thread: its stack is a node of the names' dictionary. */
void timeline_code_add(struct timeline_code *code, const struct recorded_thread *thread,
		       int32_t process, const struct trace_event *event, uint32_t node);

/* At the stream's end: draws what waits, and names the tracks. */
void timeline_code_end(struct timeline_code *code);
void timeline_code_release(struct timeline_code *code);

/* ---- guests, after the stream's end; in the order of their first events */

struct timeline_guest {
	size_t number;
	const char *name; /* "web1 (4711)" */
	size_t nr_clocks; /* how many guests have offsets */
};

/*
 * The guest of this name, with or without the pid after it, or of this pid. -ENOENT or -ENOTUNIQ:
 * error lists the guests.
 */
int timeline_kvm_guest(const struct timeline_kvm *kvm, const char *name, size_t len,
		       struct timeline_guest *ret_guest, struct error *error);

/* The nr-th guest, from 0, of the guests that have offsets. False: they are fewer. */
bool timeline_kvm_guest_at(const struct timeline_kvm *kvm, size_t nr,
			   struct timeline_guest *ret_guest);

/*
 * From a guest's own TSC to the host's, by the offset between them (kvm_write_tsc_offset). A vCPU
 * without an offset gets the offset of the guest's first vCPU. If the guest's TSC runs at another
 * frequency than the host's (kvm_pvclock_update), their ratio is applied, too. False: the guest has
 * no offsets.
 */
bool timeline_kvm_host_time(const struct timeline_kvm *kvm, size_t number, int32_t vcpu,
			    uint64_t guest_time, uint64_t *ret_time);

/* ---- cpus.c: events recorded by a guest's own kernel, beside the host's events */

/*
 * trace-cmd record -A makes a file for the guest, with the host's times. Its events are drawn as
 * points on a track for each of the guest's CPUs, in a process of their own. KVM events in the file
 * belong to guests within the guest, and are drawn like a host's.
 */
struct inside_file;

/* The caller sets trace and out, which must outlive this, and zeroes the rest. */
struct timeline_inside {
	const struct trace *trace;
	struct timeline_out *out;
	struct inside_file *files; /* by their index in the stream */
	size_t nr_files;
};

void timeline_inside_release(struct timeline_inside *inside);

/* Takes any event of the stream. */
void timeline_inside_add(struct timeline_inside *inside, const struct trace_event *event);

/*
 * ---- cpus.c: the host's CPUs, where the scheduler's events are recorded
 *
 * A track for each CPU has who ran there, and a point for each time that a vCPU's thread is woken.
 * A recording of the guests' threads alone has no event of a switch between two others: the first
 * and the last of them are known.
 */
struct cpu_track;

/* Bits of common_flags. */
#define EVENT_IN_IRQ	   0x08
#define EVENT_IN_SOFTIRQ   0x10
#define EVENT_IN_INTERRUPT (EVENT_IN_IRQ | EVENT_IN_SOFTIRQ)

struct meaning;
struct table;

/* The caller sets what comes before `process`, which must outlive this, and zeroes the rest. */
struct timeline_cpus {
	const struct trace *trace;
	const struct table *table; /* of the threads so far */
	struct timeline_out *out;
	struct timeline_kvm *kvm; /* that has it */
	int32_t process; /* in the timeline; 0: nothing was drawn yet */
	struct cpu_track *list; /* by their numbers */
	size_t room;
};

void timeline_cpus_release(struct timeline_cpus *cpus);

/* Takes any event of the stream; meaning: NULL of a loss. */
void timeline_cpus_add(struct timeline_cpus *cpus, const struct meaning *meaning,
		       const struct trace_event *event);

/* Adds which CPU it is, and who ran there in this time, as far as it is known. */
void timeline_cpus_ran(const struct timeline_cpus *cpus, int32_t nr, int64_t begin_ns,
		       int64_t end_ns, struct timeline_args *args);

/*
 * ---- arrows.c
 *
 * A copy of the point that an arrow begins at waits until the arrow's end is drawn. If there is no
 * end, the point is drawn without an arrow.
 */
struct timeline_arrow;

/* A point, at which the arrow begins if there is none yet. */
void arrow_begin(struct timeline_arrow **arrow, struct timeline_out *out,
		 const struct timeline_event *event, const struct timeline_args *args);
/* number: of the arrow; 0: it has no end. */
void arrow_end(struct timeline_arrow **arrow, struct timeline_out *out, uint64_t number);
void arrow_free(struct timeline_arrow *arrow);

/*
 * Arrows from interrupts to the entries of vCPUs that they cause.
 *
 * The event has the number of the vCPU, and no guest. A thread sends to its own guest; an interrupt
 * of the host, or a thread of the kernel, to the guest if there is one only. The first interrupt
 * since the last entry has the arrow.
 */
struct arrow_guest;

/* Zero-initialised is empty. */
struct timeline_arrows {
	struct arrow_guest *guests; /* by the caller's numbers */
	size_t nr;
};

void arrows_release(struct timeline_arrows *arrows);
/* A vCPU enters the guest. woken, which outlives this, is the arrow to its next entry. */
void arrows_enter(struct timeline_arrows *arrows, size_t guest, int32_t vcpu,
		  struct timeline_arrow **woken);
/* The arrow that begins at an event of KVM's, of a thread of this guest; NULL: none does. */
struct timeline_arrow **arrows_of(const struct timeline_arrows *arrows, size_t sender,
				  const struct meaning *meaning, const struct trace_event *event);

/*
 * ---- functions.c: function calls recorded by uftrace, as slices.
 *
 * Reads the output of `uftrace dump --chrome` event by event, so a file may have any size. A begin
 * ("B") and its end ("E") become a slice. An end without a begin is a call that already ran when
 * the trace began; a begin without an end is a call that still ran when the trace ended. These
 * calls are drawn from the trace's begin or to its end, in the category "cut".
 */

/*
 * How to convert the trace's times to the host's clock, and where to cut it. The first event sets
 * the base of a timeline's clock that has none.
 */
struct functions_config {
	/* Host time = time of the nr-th thread (from 0) minus this offset; NULL: no offsets. */
	int64_t (*offset)(const void *state, size_t nr, uint64_t time);
	const void *state;
	bool has_cut;
	int64_t from_ns, to_ns; /* then nothing before and after this is drawn */
	const char *name; /* for processes without a name */
	struct progress *progress; /* NULL: none is shown */
	uint64_t total; /* bytes of the trace; 0: not known */
};

/* From the first event to the last, whether they are drawn or not. */
struct functions_span {
	bool has_events;
	int64_t first_ns, last_ns;
};

/* 0, or -errno with error, which names the offset of the error; ret_span is set in any case. */
int timeline_functions(FILE *in, const char *path, const struct functions_config *config,
		       struct timeline_out *out, struct functions_span *ret_span,
		       struct error *error);

/*
 * A number with decimals as a whole number with so many: "0.2" of seconds in ns. More of them are
 * left out. Returns the end of the number; NULL: there is none, or it is too large.
 */
const char *decimal_read(const char *text, unsigned int decimals, uint64_t *ret_number);

/* Nanoseconds from uftrace's time of an event: microseconds with decimals. */
bool functions_time(const char *text, uint64_t *ret_time);

/*
 * ---- uftrace.c: a folder that uftrace recorded, as the JSON of `uftrace dump --chrome`, or a file
 * with this JSON
 */

struct uftrace {
	FILE *json;
	pid_t child; /* 0: none */
};

/*
 * Writes the symbols of a program, in the format of `nm -n`, into the folder for uftrace, where a
 * file of that name is replaced when nm has ended well.
 */
int uftrace_symbols(const char *folder, const char *binary, const char *name, struct error *error);

/* Returns 0, or -errno with error. */
int uftrace_open(const char *path, struct uftrace *ret_uftrace, struct error *error);

/*
 * Returns 0, or -EIO with error when uftrace failed. err: of reading its output, which ends uftrace
 * early; 0: it was read to its end.
 */
int uftrace_close(struct uftrace *uftrace, const char *path, int err, struct error *error);

/*
 * ---- perf_stat.c: the output of `perf stat -I MS -j`, or -x and a separator, as counters.
 *
 * A line's time is the end of an interval, so the value is drawn from the beginning of the
 * interval. perf has already scaled the values of multiplexed counters. Where an event was not
 * counted a bar says so, and the counter is 0: Chrome's have a value at every moment.
 */

struct perf_line {
	uint64_t ns; /* since perf began; the end of the interval */
	char name[192]; /* the event and the counted CPU or thread: "kvm:kvm_exit CPU0" */
	char value[32]; /* digits, may have a point; "": not counted in this interval */
};

#define PERF_SEPARATORS "#,;|"

/*
 * Parses a line, and changes it. separator: one of PERF_SEPARATORS, the same in all lines of a
 * file; 0: not known yet, the first line with a time sets it. Returns 1; 0 if the line is not
 * of an event's interval (a comment, an event that is not supported, the summary); or -EINVAL if it
 * is not a line of perf stat.
 */
int perf_line_parse(char *text, char *separator, struct perf_line *ret_line);

/*
 * Draws a file. anchor_ns: the time in the timeline when perf began, if the file has no "rdtsc N".
 * 0, or -errno with error, which names the first wrong line.
 */
int timeline_perf(FILE *in, const char *path, int64_t anchor_ns, struct timeline_out *out,
		  struct error *error);

#endif
