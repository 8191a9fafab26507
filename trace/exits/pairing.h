/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing - pairs exits with entries, thread by thread, and counts them: how many, how long.
 *
 * An exit lasts from the event that says its reason (kvm_exit) to the one with which the vCPU
 * enters the guest again (kvm_entry), on the same thread. So do other things that are counted:
 *
 *	userspace	from kvm_userspace_exit, which says why KVM_RUN returned, to the entry, or
 *			to the next exit to user space
 *	ioport		from kvm_pio to the entry, as perf kvm stat has it
 *	mmio		a write from kvm_mmio to the entry, a read from the exit to kvm_mmio, as
 *			perf kvm stat has it
 *	msr, cpuid, hypercall, sysreg	the whole exit, by its first argument of this kind
 *	fault		the whole exit, counted at its end, unless it accesses a device
 *
 * An exit that kvm_nested_vmexit follows is one of L2, a guest that the guest runs. It has a key of
 * its own, and the guest's time before it was in L2.
 *
 * What KVM polled in halts is what kvm_vcpu_wakeup and kvm_halt_poll_ns say.
 *
 * What the recording cuts off, at its ends or where events are missing, has no duration: what began
 * before the latest loss of the CPU on which it ends. See lose_thread(), which forgets it.
 *
 * Where the scheduler's events are recorded, too (sched_switch; sched_waking or sched_wakeup), a
 * vCPU's thread waits from when it is woken, or loses its CPU although it could run, until it gets
 * a CPU. No duration has this time. Before, it sleeps: in a halt it is idle, elsewhere blocked.
 */
#ifndef KVMTOP_TRACE_EXITS_PAIRING_H
#define KVMTOP_TRACE_EXITS_PAIRING_H

#include "core/facts/sample.h"
#include "trace/exits/guests.h"
#include "trace/exits/table.h"

/*
 * ---- intervals.c: what the threads of a recording were at the end of each interval, kept while
 * the recording is read: for the moments of a screen.
 *
 * How long a recording is, is known at its end. So intervals begin short, and when there are too
 * many of them, or they take too much memory, neighbours are joined: of two or five of them the
 * last one stays. A thread is kept before it changes for the first time in an interval, so a
 * recording of many threads costs no more than what changes.
 */

/* A count at the end of an interval, in which it has changed. */
struct kept_count {
	uint32_t interval;
	uint64_t begun, ended;
	struct timing timing; /* of what ended; without a spread */
	struct exits_parts parts; /* of the same */
};

/* A thread that was counted in an interval, or changed, at its end. */
struct kept_thread {
	uint32_t interval;
	int32_t cpu;
	struct thread_state state;
	uint32_t nr_events;
	uint64_t events[]; /* as thread_counts.events */
};

struct intervals {
	struct table *table;
	bool are_kept;	 /* else the other members are not used */
	double length;	 /* in the clock's unit */
	uint64_t begin;	 /* of the first one */
	uint64_t end;	 /* of the latest one: an event at this time begins the next */
	uint32_t latest; /* its number, from 0 */
	double long_from; /* from this length on there may be INTERVALS_MAX */
	uint32_t nr_joins;
	size_t bytes; /* of what is kept */
};

#define INTERVALS_MAX 10000

/* length: in the clock's unit; 0: none are kept. long_from: see struct intervals; 0: any length. */
void intervals_init(struct intervals *intervals, struct table *table, double length,
		    double long_from);

/* The time of the first event. */
void intervals_begin(struct intervals *intervals, uint64_t time);

/* To be called before the thread changes, with the time of the event that changes it. */
void intervals_keep(struct intervals *intervals, struct recorded_thread *thread, uint64_t time);

static inline void intervals_touch(struct intervals *intervals, struct recorded_thread *thread,
				   uint64_t time)
{
	if (intervals->are_kept)
		intervals_keep(intervals, thread, time);
}

/* At the stream's end: keeps all threads. */
void intervals_end(struct intervals *intervals);

/* Makes one interval of each `factor` of them. */
void intervals_join(struct intervals *intervals, uint32_t factor);

/* When an interval ends, in the clock's unit; at most UINT64_MAX. */
uint64_t intervals_end_of(const struct intervals *intervals, uint32_t interval);

/*
 * Sets all threads to the recording's begin, and to the end of further intervals; UINT32_MAX: of
 * the last one. Counts stay: see count_kept().
 */
void intervals_rewind(struct intervals *intervals);
void intervals_replay(struct intervals *intervals, uint32_t interval);

/* What a count was then; NULL: it was not there. */
static inline const struct kept_count *count_kept(const struct exit_count *count)
{
	return count->at ? &count->kept[count->at - 1] : NULL;
}

/* ---- pairing */

/*
 * What a vCPU's thread is in. User space lies within an exit; waiting for a CPU, of which only the
 * end is known, lies in any of them.
 */
enum span { SPAN_GUEST, SPAN_EXIT, SPAN_USERSPACE, SPAN_WAIT };

/* Follows each thread's spans, as a picture does. A span ends before the next one begins. */
struct pairing_listener {
	void *state;
	/* The thread's state says whether user space is within an exit. */
	void (*begins)(void *state, struct recorded_thread *thread, enum span span,
		       const struct trace_event *event);
	/*
	 * is_cut: the recording does not say when it began or ended. count: of an exit, to user
	 * space or not; NULL: its reason is not known.
	 */
	void (*ends)(void *state, struct recorded_thread *thread, enum span span, uint64_t begin,
		     uint64_t end, const struct exit_count *count, bool is_cut);
	/* Events of the thread are missing. The spans that it was in end after this call. */
	void (*lost)(void *state, struct recorded_thread *thread,
		     const struct trace_event *event);
};

struct recorded_loss {
	uint64_t time;
	int64_t lost; /* how many events; -1: some */
	int32_t cpu;
};

#define PAIRING_LOSSES 64 /* kept */

/* The latest loss of a CPU, in all buffers of a file. */
struct cpu_loss {
	struct cpu_of_file {
		uint32_t main; /* see struct trace_info */
		int32_t cpu;
	} of;
	uint64_t time;
	int64_t lost; /* as struct recorded_loss.lost */
	UT_hash_handle hh;
};

/* An exit that took longer than the threshold. Times are in the clock's unit. */
struct recorded_long {
	struct recorded_thread *thread;
	struct exit_count *exit, *argument; /* argument: NULL: none is known */
	uint64_t begin, end; /* without what it waited: the begin is as much later */
	uint64_t pc;	     /* 0: not known */
	uint64_t user, polled_ns; /* within it */
	uint64_t waited;
	int32_t cpu;	     /* where it began; -1: not known */
};

struct pairing {
	const struct trace *trace;
	const struct pairing_listener *listener; /* NULL: none */
	unsigned int arguments; /* a bit for each enum exit_kind: these arguments are counted */
	struct meanings meanings;
	struct table table;
	struct recorded_guests guests;
	struct intervals intervals;
	bool has_other_unit; /* the clock's is neither ns nor cycles of unknown length: */
	double ns_per_unit;
	uint64_t nr_events;
	bool has_time; /* of an event, or of a sample: */
	uint64_t first_time, last_time;
	uint64_t first_exit, last_entry; /* times */
	bool has_exits[EXITS_REASONS]; /* by enum exit_kind */
	bool has_entries; /* without entries nothing has a duration */
	bool has_switches; /* else waiting for a CPU is not known */
	bool has_wakeups; /* what halts polled is known */
	bool has_nested; /* exits of L2 are counted apart: there were some */
	/* The latest LONG_EXITS_MAX exits that took longer, a ring; of nr_longs in all. */
	uint64_t longer; /* 0: none is kept */
	bool has_halts;	 /* halts, too */
	struct recorded_long *longs;
	size_t room_longs;
	uint64_t nr_longs;
	/* The first losses, and the number of all losses. */
	struct recorded_loss losses[PAIRING_LOSSES];
	size_t nr_losses;
	uint64_t nr_lost_events;
	bool has_unknown_loss;
	struct cpu_loss *cpu_losses; /* a hash */
};

#define PAIRING_ALL_ARGUMENTS (-1U << EXITS_FIRST_ARGUMENT)

void pairing_init(struct pairing *pairing, const struct trace *trace, unsigned int arguments,
		  const struct pairing_listener *listener);
void pairing_release(struct pairing *pairing);

/* The recording has something at this time. */
static inline void pairing_see(struct pairing *pairing, uint64_t time)
{
	if (!pairing->has_time)
		pairing->first_time = time;
	pairing->has_time = true;
	pairing->last_time = time;
}

/* Takes an event of the stream. */
void pairing_add(struct pairing *pairing, const struct trace_event *event);

/* What a thread was in at the end of its time, as if that ended then. */
struct last_state {
	struct thread_state state; /* its sums and parts have it */
	uint64_t took[EXITS_KINDS]; /* in the clock's unit; 0: nothing of the kind is open */
};

void pairing_look(const struct pairing *pairing, const struct recorded_thread *thread,
		  uint64_t end, struct last_state *ret_last);

/* Why the thread sleeps, if it sleeps now. */
enum exits_away pairing_why_asleep(const struct pairing *pairing, const struct thread_state *state);

/* An absence is over, if there is one, or the part of it up to now. off: in the clock's unit. */
void pairing_end_away(const struct pairing *pairing, struct thread_state *state, uint64_t time);
void pairing_was_away(const struct pairing *pairing, struct thread_state *state,
		      enum exits_away why, struct exits_off off);

/*
 * Whether the thread may be gone. Inside of KVM it is there: an exit to user space, with an error,
 * comes before a thread can end. Without such events any exit may be the last, except a halt,
 * which often lasts.
 */
bool pairing_may_be_gone(const struct pairing *pairing, const struct recorded_thread *thread);

/*
 * At the stream's end: passes each exit that is still open to the listener, and keeps the last
 * interval. Exits stay open.
 */
void pairing_end(struct pairing *pairing);

/* In units of struct exit_count's durations. */
static inline uint64_t pairing_duration(const struct pairing *pairing, uint64_t units)
{
	return pairing->has_other_unit ? units_in_ns(units, pairing->ns_per_unit) : units;
}

/* The thread begins to sleep, or loses its CPU although it could run. */
void pairing_lose_cpu(struct pairing *pairing, struct recorded_thread *thread, bool sleeps,
		      uint64_t time);

/* ---- parts of pairing_add(), in spans.c; spans_*() only with a listener */

void spans_begin(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
		 const struct trace_event *event);

/* The span ends, if the thread is in it. */
void spans_end(const struct pairing *pairing, struct recorded_thread *thread, enum span span,
	       uint64_t time, bool is_cut);

/* Before the thread's state changes: the spans that an exit or an entry ends. */
void spans_on_exit(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time);
void spans_on_entry(const struct pairing *pairing, struct recorded_thread *thread, uint64_t time);

/*
 * An event that says that others were lost; a thread of which an event is about to be taken that
 * shows it on another CPU than before; and an event of the scheduler.
 */
void pairing_lose(struct pairing *pairing, const struct trace_event *event);
void pairing_migrate(struct pairing *pairing, struct recorded_thread *thread,
		     const struct trace_event *event);
void pairing_schedule(struct pairing *pairing, const struct meaning *meaning,
		      const struct trace_event *event);

#endif
