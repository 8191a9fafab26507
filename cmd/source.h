/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source - opens a source by its name: a machine, a recording, a history, a Prometheus; and lists
 * the providers of a machine.
 */
#ifndef KVMTOP_CMD_SOURCE_H
#define KVMTOP_CMD_SOURCE_H

#include "core/monitor.h"
#include "history/source.h"
#include "trace/exits/recording.h"
#include "core/provider.h"

#define HISTORY_FILE "/var/lib/kvmtop/history.db" /* kvmtop-history.service writes it */

/* How a source is opened; members about other kinds are not used. */
struct source_config {
	/*
	 * How a machine is counted. Its cost leaves out the providers that cost more, see
	 * cmd/source.c; counts_all is also of a history and a Prometheus.
	 */
	struct monitor_config monitor;
	bool may_lack_events; /* where there are no trace events of KVM, it costs nothing */
	uint64_t past_bytes;   /* of samples that are remembered; 0: none are */
	double interval_s;     /* of a machine; of a Prometheus, 0: as the hosts are scraped */
	const char *http_config; /* of a Prometheus; NULL: none */
	const char *host;	 /* one of the hosts of a Prometheus; NULL: all */
	struct recording_choice recording; /* what is read of a recording */
};

/*
 * The kind by the name and by what is there: NULL is this machine, a URL a Prometheus, a folder a
 * captured machine, *.db and a database a history, any other file a recording. A file that is not
 * there is a history that is not written yet.
 */
enum source_kind source_kind_of(const char *name);

/*
 * Opens the source: a name, or of a recording several; the names outlive it. A history is at its
 * latest moment. A recording has moments if they were asked for and its clock's unit is known;
 * intervals that would be too many are longer, with a notice. 0, or -errno with error; -ENOENT:
 * nothing is in it yet.
 */
int source_open(enum source_kind kind, const char *const *names, size_t nr,
		const struct source_config *config, struct source **ret_source,
		struct error *error);
void source_close(struct source *source); /* NULL is fine */

/* What was read of a recording. */
struct source_reading {
	struct recording recording;
	struct long_exits long_exits;
};
/* NULL: the source is no recording. */
const struct source_reading *source_reading(const struct source *source);

/*
 * A monitor that plays the moments of a recording, which was opened with moments; to be closed
 * before the source. 0, or -errno with error: there are none.
 */
int source_play_moments(struct source *source, struct monitor **ret_monitor, struct error *error);

/* What a list of long exits has of an interval: the ones of a recording know when they ended. */
void source_choose_long(const struct source *source, struct query *query, uint64_t time_ns,
			uint64_t elapsed_ns);

/* A time in the source, for a message: as when_format(); of a recording seconds from its start. */
void source_name_time(const struct source *source, char *buf, size_t size, uint64_t time_ns,
		      uint64_t now_ns);

/* From now on a key or a line waits at most so many ms for an answer of a Prometheus. */
void source_be_patient(struct source *source, unsigned int ms);

/* What could not be read of a file; NULL: nothing. */
const char *source_failure(const struct source *source);

/* ---- what counts on a machine, for the monitor */

/* What counts on this machine, by the providers' numbers; NULL ends the list. */
extern const struct provider *const live_providers[];

/* What counts on a machine: where it is a captured one, some play what was counted there. */
const struct provider *const *providers_of(const struct env *env);

#endif
