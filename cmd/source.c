// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the kind of a source, and opens each kind. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/file.h"
#include "lib/process.h"
#include "lib/when.h"
#include "lib/xalloc.h"
#include "cmd/source.h"
#include "core/views/query.h"
#include "history/file.h"
#include "history/fleet/http.h"
#include "history/fleet/fleet.h"
#include "history/past.h"
#include "history/recent.h"
#include "history/recorder.h"
#include "host/env.h"
#include "providers/providers.h"
#include "trace/exits/recording.h"

#define LIVE(number, live, captured) [PROVIDER_##number] = &live##_provider,
#define CAPTURED(number, live, captured) [PROVIDER_##number] = &captured##_provider,

const struct provider *const live_providers[] = { PROVIDER_LIST(LIVE) NULL };
static const struct provider *const captured_providers[] = { PROVIDER_LIST(CAPTURED) NULL };

const struct provider *const *providers_of(const struct env *env)
{
	return env_is_captured(env) ? captured_providers : live_providers;
}

#define TIMEOUT_S 30 /* how long a Prometheus may take for an answer */
#define MOMENTS_BYTES ((size_t)256 << 20) /* of a recording's moments */
#define DATABASE "SQLite format 3"

/* A source with all that it is made of. */
struct opened {
	struct source source; /* the first member */
	struct env env;
	struct recent *recent; /* of a machine or a recording: its moments */
	struct history_file *file;
	struct http_access access; /* user, password and TLS for a Prometheus */
	struct fleet *fleet;
	struct source_reading reading;
};

static bool is_history(const char *path, const struct stat *st)
{
	char head[sizeof(DATABASE)] = "";
	FILE *file;

	if (!st->st_size) /* a database that was just begun */
		return true;
	file = fopen(path, "re");
	if (!file)
		return true;
	(void)!fread(head, 1, sizeof(head) - 1, file);
	fclose(file);
	return strcmp(head, DATABASE) == 0;
}

/* HOST:PORT, and whatever follows a slash. */
static bool is_address(const char *name)
{
	const char *slash = strchrnul(name, '/');
	const char *colon = memrchr(name, ':', (size_t)(slash - name));
	size_t nr_digits = colon ? strspn(colon + 1, "0123456789") : 0;

	return colon > name && nr_digits && colon + 1 + nr_digits == slash;
}

enum source_kind source_kind_of(const char *name)
{
	size_t len = name ? strlen(name) : 0;
	struct stat st;

	if (!name)
		return SOURCE_LIVE;
	if (strncmp(name, "http://", 7) == 0 || strncmp(name, "https://", 8) == 0)
		return SOURCE_PROMETHEUS;
	if (strcmp(name, "-") == 0)
		return SOURCE_RECORDING;
	if (stat(name, &st) < 0)
		return is_address(name) ? SOURCE_PROMETHEUS : SOURCE_HISTORY;
	if (S_ISDIR(st.st_mode))
		return trace_is_recording(name) ? SOURCE_RECORDING : SOURCE_MACHINE;
	if (len > 3 && strcmp(name + len - 3, ".db") == 0)
		return SOURCE_HISTORY;
	/* A pipe is read once. */
	return S_ISREG(st.st_mode) && is_history(name, &st) ? SOURCE_HISTORY : SOURCE_RECORDING;
}

/* ---- a machine */

static int remember_samples(struct opened *opened, const struct source_config *config)
{
	struct source *source = &opened->source;
	struct segment segment;
	struct sink sink;
	int err;

	segment_of_machine(&opened->env, monitor_engine(source->monitor), config->interval_s,
			   &segment);
	opened->recent = recent_new((size_t)config->past_bytes, &segment,
				    monitor_fields(source->monitor));
	source->store = recent_store(opened->recent);
	sink = recent_sink(opened->recent);
	err = recorder_start(&sink, &source->recorder);
	if (!err)
		source->past = past_new(source->store, monitor_fields(source->monitor));
	return err;
}

static bool is_captured(const char *folder)
{
	char proc[PATH_MAX], sys[PATH_MAX];

	snprintf(proc, sizeof(proc), "%s/proc", folder);
	snprintf(sys, sizeof(sys), "%s/sys", folder);
	return path_exists(proc) || path_exists(sys);
}

/*
 * What a cost leaves of the providers, and what it has in place of them: KVM's own account costs
 * guests nothing, and has all of their vCPUs.
 */
static void apply_cost(struct monitor_config *monitor)
{
	unsigned int account = 1U << PROVIDER_ACCOUNT;

	monitor->options.has_times = monitor->cost == COST_TIMES;
	if (monitor->cost == COST_TIMES)
		return;
	monitor->providers &= ~(1U << PROVIDER_EXITS);
	if (monitor->cost == COST_NONE)
		monitor->providers &= ~(1U << PROVIDER_TRACEPOINT | 1U << PROVIDER_COST);
	if (monitor->providers & PROVIDERS_STATISTICS)
		return;
	monitor->providers |= account;
	if (monitor->providers & 1U << PROVIDER_TRACEPOINT)
		monitor->asides |= account;
}

/* Without BPF debugfs has the counters that a cost asks for, by guest. */
static int open_monitor(const struct source_config *config, struct monitor_config *monitor,
			struct source *source, struct error *error)
{
	int err = monitor_open(monitor, &source->monitor, error);

	if (!err || monitor->cost == COST_TIMES ||
	    config->monitor.providers & PROVIDERS_STATISTICS)
		return err;
	monitor->providers ^= PROVIDERS_STATISTICS;
	return monitor_open(monitor, &source->monitor, &(struct error){ "" }) ? err : 0;
}

/* Where KVM is there, and its events are not: what is known without them. */
static bool open_without_events(const struct source_config *config,
				const struct monitor_config *chosen, struct source *source)
{
	struct monitor_config monitor = *chosen;
	struct error why = { "" }, news = { "" };

	if (!config->may_lack_events || monitor.cost == COST_NONE ||
	    env_is_captured(monitor.env) || !trace_lacks_kvm(monitor.env, &why))
		return false;
	monitor.cost = COST_NONE;
	apply_cost(&monitor);
	if (open_monitor(config, &monitor, source, &news) < 0)
		return false;
	error_set(&news, 0, "%s, which is done here", why.text);
	say(news.text);
	return true;
}

static int open_machine(struct opened *opened, const struct source_config *config,
			struct error *error)
{
	struct source *source = &opened->source;
	struct monitor_config monitor = config->monitor;
	int err = env_init(&opened->env, source->name ? source->name : "", error);

	if (err)
		return err;
	source->env = &opened->env;
	if (source->name && !is_captured(source->name))
		return error_set(error, -ENOENT, "%s: neither a captured machine (copies of its "
						 "/proc and /sys) nor a folder of perf record "
						 "--threads",
				 source->name);
	monitor.env = &opened->env;
	monitor.list = providers_of(&opened->env);
	if (open_without_events(config, &monitor, source))
		return config->past_bytes ? remember_samples(opened, config) : 0;
	apply_cost(&monitor);
	err = open_monitor(config, &monitor, source, error);
	return !err && config->past_bytes ? remember_samples(opened, config) : err;
}

/* ---- a recording */

static void describe_recording(struct source *source, const struct source_reading *reading)
{
	const struct pairing *pairing = &reading->recording.pairing;
	const struct trace *trace = reading->recording.trace;
	struct source_recording *about = &source->recording;
	size_t nr = 0;
	int len;

	*about = (struct source_recording){
		.span_ns = reading->recording.span_ns,
		.longer_ns = reading->recording.choice.longer_ns,
		.nr_events = pairing->nr_events,
		.nr_lost = pairing->nr_lost_events,
		.is_more_lost = pairing->has_unknown_loss,
	};
	while (trace_file(trace, nr))
		nr++;
	len = snprintf(about->files, sizeof(about->files), "%s",
		       path_base(trace_file(trace, 0)->path));
	if (nr > 1 && (size_t)len < sizeof(about->files))
		snprintf(about->files + len, sizeof(about->files) - (size_t)len, " and %zu more",
			 nr - 1);
}

/* A recording does not say what time of day it was: it begins at 00:00:00 of some day. */
static uint64_t local_midnight_ns(void)
{
	struct tm tm = { .tm_year = 70, .tm_mday = 2, .tm_isdst = -1 };
	time_t seconds = mktime(&tm);

	return (uint64_t)(seconds > 0 ? seconds : 86400) * UINT64_C(1000000000);
}

/* Makes the moments of a recording that has them: of what was read, nothing is read again. */
static int remember_moments(struct opened *opened, struct error *error)
{
	struct source *source = &opened->source;
	struct recording *recording = &opened->reading.recording;
	double wanted_s = recording->choice.interval_s, interval_s = moments_interval_s(recording);
	const struct segment segment = { .interval_s = interval_s };
	struct fields *fields = monitor_fields(source->monitor);
	struct recent_writer writer = { .start_ns = local_midnight_ns() };
	int err;

	if (interval_s <= 0)
		return 0;
	if (wanted_s > 0 && interval_s > wanted_s * 1.001)
		fprintf(stderr, "kvmtop: -s %g would make too many samples: they are %g s apart "
				"instead\n",
			wanted_s, interval_s);
	writer.recent = opened->recent = recent_new(MOMENTS_BYTES, &segment, fields);
	err = moments_make(recording, fields, recent_write, &writer);
	recent_writer_release(&writer);
	if (err)
		return error_set(error, err, "%s: its samples are too large for the screen",
				 source->name);
	source->recording.start_ns = writer.start_ns;
	source->recording.interval_s = interval_s;
	source->store = recent_store(opened->recent);
	source->past = past_new(source->store, fields);
	return 0;
}

static int open_recording(struct opened *opened, const char *const *names, size_t nr,
			  const struct source_config *config, struct error *error)
{
	struct source *source = &opened->source;
	struct source_reading *reading = &opened->reading;
	struct monitor_config monitor = { .list = recorded_players };
	struct error reason = { "" };
	int err = recording_read(names, nr, &config->recording, &reading->recording, error);

	if (err)
		return err;
	monitor.unit = reading->recording.unit;
	describe_recording(source, reading);
	monitor.source = SOURCE_RECORDING;
	monitor.is_span = true;
	monitor.recording = (struct monitor_recording){
		.recording = &reading->recording,
		.guests = reading->recording.guests,
		.long_exits = &reading->long_exits,
	};
	err = monitor_open(&monitor, &source->monitor, &reason);
	if (err == -ENODATA) /* the recording has no events of KVM */
		return 0;
	if (err)
		*error = reason;
	if (err)
		return err;
	recorded_long_exits(&reading->recording, monitor_fields(source->monitor), RECORDED_EXITS,
			    &reading->long_exits);
	return remember_moments(opened, error);
}

const struct source_reading *source_reading(const struct source *source)
{
	const struct opened *opened = (const struct opened *)source;

	return source->kind == SOURCE_RECORDING ? &opened->reading : NULL;
}

int source_play_moments(struct source *source, struct monitor **ret_monitor, struct error *error)
{
	const struct source_reading *reading = source_reading(source);
	struct monitor_config config = { .list = history_players, .source = SOURCE_RECORDING };
	int err;

	if (!source->monitor)
		return error_set(error, -ENODATA, "%s: has no events of KVM; kvmtop record has "
				 "them", source->name);
	if (reading->recording.unit == UNIT_CYCLES)
		return error_set(error, -EINVAL, "%s: times are in TSC cycles: give the TSC's "
				 "frequency with --frequency 2.4GHz", source->name);
	err = past_go(source->past, UINT64_MAX, error);
	if (err)
		return err;
	config.recording = (struct monitor_recording){
		.recording = &source->past,
		.guests = past_guests(source->past),
		.fields = monitor_fields(source->monitor),
		.long_exits = &reading->long_exits,
	};
	return monitor_open(&config, ret_monitor, error);
}

void source_choose_long(const struct source *source, struct query *query, uint64_t time_ns,
			uint64_t elapsed_ns)
{
	if (source->kind != SOURCE_RECORDING)
		return;
	query->is_latest = false;
	query->until_ns = time_ns - source->recording.start_ns;
	query->after_ns = query->until_ns > elapsed_ns ? query->until_ns - elapsed_ns : 0;
}

/* ---- a history */

static int open_file(struct opened *opened, const char *path, struct error *error)
{
	int err = history_file_open(path, &opened->file, error);

	if (err == -ENOENT && strcmp(path, HISTORY_FILE) == 0)
		return error_set(error, err,
				 "%s: there is no history yet: write one with systemctl "
				 "enable --now kvmtop-history, or with kvmtop -w FILE",
				 path);
	if (!err)
		opened->source.store = history_file_store(opened->file);
	return err;
}

static int open_fleet(struct opened *opened, const struct source_config *config,
		      struct error *error)
{
	const struct fleet_config fleet = {
		.url = opened->source.name,
		.access = &opened->access,
		.interval_s = config->interval_s,
		.timeout_s = TIMEOUT_S,
	};
	int err = config->http_config ?
			  access_read(config->http_config, &opened->access, error) : 0;

	if (!err)
		err = fleet_open(&fleet, &opened->fleet, error);
	if (!err)
		opened->source.store = fleet_store(opened->fleet);
	return err;
}

/* Goes to the latest sample. */
static int open_past(struct opened *opened, const struct source_config *config, struct error *error)
{
	struct source *source = &opened->source;
	struct monitor_config monitor = {
		.list = history_players,
		.source = source->kind,
		.counts_all = config->monitor.counts_all,
	};
	int err = 0;

	source->past = past_new(source->store, NULL);
	if (config->host)
		err = past_enter(source->past, config->host, error);
	if (!err)
		err = past_go(source->past, UINT64_MAX, error);
	if (err == -ENOENT && !error->text[0])
		error_set(error, err, "%s: there is no sample in it yet: kvmtop -w FILE adds them",
			  source->name);
	if (err)
		return err;
	monitor.recording = (struct monitor_recording){
		.recording = &source->past,
		.guests = past_guests(source->past),
	};
	return monitor_open(&monitor, &source->monitor, error);
}

void source_name_time(const struct source *source, char *buf, size_t size, uint64_t time_ns,
		      uint64_t now_ns)
{
	uint64_t start_ns = source->recording.start_ns;
	char seconds[WHEN_SIZE];

	if (!start_ns) {
		when_format(buf, size, time_ns, now_ns);
		return;
	}
	when_format_seconds(seconds, sizeof(seconds), time_ns - start_ns);
	snprintf(buf, size, "%.30s s", seconds);
}

void source_be_patient(struct source *source, unsigned int ms)
{
	struct opened *opened = (struct opened *)source;

	if (opened->fleet)
		fleet_set_patience(opened->fleet, ms);
}

const char *source_failure(const struct source *source)
{
	return source->kind == SOURCE_HISTORY ? past_failure(source->past) : NULL;
}

/* ---- all kinds */

static int open_kind(struct opened *opened, const char *const *names, size_t nr,
		     const struct source_config *config, struct error *error)
{
	int err;

	switch (opened->source.kind) {
	case SOURCE_RECORDING:
		return open_recording(opened, names, nr, config, error);
	case SOURCE_HISTORY:
		err = open_file(opened, names[0], error);
		return err ? err : open_past(opened, config, error);
	case SOURCE_PROMETHEUS:
		err = open_fleet(opened, config, error);
		return err ? err : open_past(opened, config, error);
	default:
		return open_machine(opened, config, error);
	}
}

int source_open(enum source_kind kind, const char *const *names, size_t nr,
		const struct source_config *config, struct source **ret_source, struct error *error)
{
	struct opened *opened = xcalloc(1, sizeof(*opened));
	int err;

	opened->source.name = nr ? names[0] : NULL;
	opened->source.kind = kind;
	err = open_kind(opened, names, nr, config, error);
	if (err)
		source_close(&opened->source);
	else
		*ret_source = &opened->source;
	return err;
}

void source_close(struct source *source)
{
	struct opened *opened = (struct opened *)source;

	if (!source)
		return;
	/* A history's monitor uses the past, so it closes first; other pasts use the monitor. */
	if (source_plays_past(source))
		monitor_close(source->monitor);
	past_free(source->past);
	recorder_stop(source->recorder);
	recent_free(opened->recent);
	if (!source_plays_past(source))
		monitor_close(source->monitor);
	history_file_close(opened->file, &(struct error){ "" });
	fleet_close(opened->fleet);
	access_release(&opened->access);
	long_exits_release(&opened->reading.long_exits);
	recording_release(&opened->reading.recording);
	if (source->env)
		env_release(&opened->env);
	free(opened);
}
