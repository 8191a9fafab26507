// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes a sample each interval, and writes a file of it, or lets a server answer with it. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arch/arch.h"
#include "lib/clock.h"
#include "lib/http/server.h"
#include "lib/output.h"
#include "lib/process.h"
#include "lib/file.h"
#include "cmd/command.h"
#include "cmd/options.h"
#include "cmd/run.h"
#include "core/findings/findings.h"
#include "host/machine.h"
#include "core/provider.h"
#include "core/metrics.h"
#include "ui/metrics/metrics.h"
#include "core/views/query.h"

#define HANGS_S 5 /* a sample that takes longer counts as hanging */

/* The text of one sample, as it is and compressed. */
struct cached {
	uint64_t tick; /* the sample's; 0: there is no text yet */
	struct document *plain, *gzip;
};

struct export {
	struct run run; /* the first member */
	struct view_type type; /* what is counted, see type_of_groups() */
	struct metrics *metrics;
	struct metrics_self self;
	struct server *server;
	/* Protects facts and texts: the server's thread reads them, this thread changes them. */
	pthread_mutex_t lock;
	struct cached cached;
	atomic_uint_least64_t sampled_ns; /* when the latest sample was taken */
	bool has_written;
	bool has_said_dropped;
	struct error said; /* the latest error of the file */
};

/* ---- what is counted */

static bool needs_by_default(const struct field *field)
{
	if (field->use == USE_EVENT && PROVIDERS_STATISTICS & 1U << field->source)
		return true;
	return field->use != USE_ARGUMENT && (findings_need(field) || field->use == USE_HOST) &&
	       !(field->use == USE_HOST && field->part == HOST_THREAD);
}

static bool needs_arguments(const struct field *field)
{
	return needs_by_default(field) || field->use == USE_ARGUMENT;
}

static bool is_event(const struct field *field)
{
	return field->use == USE_EVENT && field->parent == FIELD_NONE && !field->is_extra;
}

static bool needs_events(const struct field *field)
{
	return needs_by_default(field) || is_event(field);
}

static bool needs_all(const struct field *field)
{
	return needs_arguments(field) || is_event(field);
}

static bool wants_waits(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_WAIT;
}

static bool wants_interrupts(const struct query *query, const struct field *field)
{
	(void)query;
	return field->use == USE_INTERRUPT;
}

static bool wants_both(const struct query *query, const struct field *field)
{
	return wants_waits(query, field) || wants_interrupts(query, field);
}

/* An export is no view, but it needs fields by guest, as a query asks for them. */
static struct view_type type_of_groups(unsigned int groups)
{
	static const struct view_type types[2][2] = {
		{ { .by_guest = true, .needs = needs_by_default },
		  { .by_guest = true, .needs = needs_arguments } },
		{ { .by_guest = true, .needs = needs_events },
		  { .by_guest = true, .needs = needs_all } },
	};
	struct view_type type =
		types[(groups & METRICS_EVENTS) != 0][(groups & METRICS_ARGUMENTS) != 0];

	if (groups & METRICS_OF_WHO)
		type.wants = !(groups & METRICS_INTERRUPTS) ? wants_waits :
			     groups & METRICS_WAITS ? wants_both : wants_interrupts;
	return type;
}

static int begin(struct export *export, struct error *error)
{
	struct run *run = &export->run;
	unsigned int groups = run->options->metrics;
	const struct run_plan plan = {
		.source.monitor = {
			.providers = 1U << PROVIDER_EXITS | 1U << PROVIDER_TRACEPOINT |
				     1U << PROVIDER_HOST | 1U << PROVIDER_COST |
				     (groups & METRICS_STATISTICS ? PROVIDERS_STATISTICS : 0) |
				     (groups & METRICS_OF_WHO ? 1U << PROVIDER_WHO : 0),
			.asides = 1U << PROVIDER_HOST | 1U << PROVIDER_COST | 1U << PROVIDER_WHO,
		},
		.source.may_lack_events = !(groups & METRICS_EVENTS),
	};
	int err = run_signals(run, true, false);

	export->type = type_of_groups(groups);
	run->query.type = &export->type;
	if (!err)
		err = run_open(run, &plan, error);
	if (err)
		return err;
	export->self = (struct metrics_self){
		.arch = run->source->env->arch->name,
		.start_ns = clock_real_ns(),
	};
	say(monitor_no_exits(run->monitor));
	return 0;
}

static void look_at_sources(struct export *export)
{
	struct metrics_self *self = &export->self;
	struct metrics_source *source = self->sources;

	while (source < self->sources + SAMPLE_SOURCES &&
	       monitor_source(export->run.monitor, (size_t)(source - self->sources), &source->name,
			      &source->is_up))
		source++;
	self->nr_sources = (size_t)(source - self->sources);
	self->engine = monitor_engine(export->run.monitor);
}

static int take_sample(struct export *export, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	int err;

	pthread_mutex_lock(&export->lock);
	err = run_sample(&export->run, error);
	export->self.sample_ns = clock_now_ns() - begin_ns;
	if (!err)
		metrics_take(export->metrics, monitor_facts(export->run.monitor), clock_now_ns());
	atomic_store(&export->sampled_ns, clock_now_ns());
	look_at_sources(export);
	pthread_mutex_unlock(&export->lock);
	return err;
}

/* ---- the text */

/* Warns once; the text has the number. */
static void say_dropped(struct export *export)
{
	if (export->has_said_dropped || !metrics_dropped(export->metrics))
		return;
	export->has_said_dropped = true;
	fprintf(stderr, "kvmtop: %zu series are left out, because there are more than --max-series "
			"%lu: raise it, or leave out metrics with --metrics no-NAME\n",
		metrics_dropped(export->metrics), export->run.options->max_series);
}

static const struct metrics_text *make_text(struct export *export)
{
	const struct metrics_text *text = metrics_write(
		export->metrics, monitor_facts(export->run.monitor), &export->self);

	say_dropped(export);
	return text;
}

/* ---- a file */

/* Refuses a folder where a file cannot be replaced at once: readers would see half a file. */
static int check_file(const struct whole_file *file, const char *path, struct error *error)
{
	struct stat st;

	if (file->has_no_name || file->file == stdout || fstat(fileno(file->file), &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return 0;
	return error_set(error, -EOPNOTSUPP, "%s: its file system cannot replace a file at once "
					 "(O_TMPFILE); choose another folder", path);
}

static const char *name_of(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard output" : path;
}

static int write_text(const struct metrics_text *text, const char *path, struct error *error)
{
	struct whole_file file = { .file = NULL };
	int err = whole_file_open(&file, path, error);

	if (!err)
		err = check_file(&file, path, error);
	if (err) {
		whole_file_drop(&file);
		return err;
	}
	if (file.has_no_name && fchmod(fileno(file.file), 0644) < 0)
		err = -errno;
	if (fwrite(text->bytes, 1, text->size, file.file) != text->size && !err)
		err = -errno;
	if (err)
		whole_file_drop(&file);
	else if (file.file != stdout)
		err = whole_file_keep(&file);
	else if (fflush(stdout))
		err = -errno;
	/* Errors are printed here; a reader that is gone is no failure. */
	if (err)
		clearerr(stdout);
	if (err && !error->text[0])
		error_set(error, err, "cannot write to %s: %s", name_of(path), strerror(-err));
	return err;
}

/* An error ends the program only before the first file: later the disk may have room again. */
static int keep_on(struct export *export, int err, struct error *error)
{
	if (!err && export->said.text[0])
		fprintf(stderr, "kvmtop: %s is written again\n",
			name_of(export->run.options->prometheus));
	if (!err || !export->has_written || err == -EPIPE) {
		export->said.text[0] = '\0';
		export->has_written |= !err;
		return err;
	}
	if (strcmp(export->said.text, error->text) != 0)
		say(error->text);
	export->said = *error;
	error->text[0] = '\0';
	return 0;
}

static int write_file(struct export *export, struct error *error)
{
	const struct metrics_text *text = make_text(export);
	int err;

	run_begin_write(&export->run);
	err = write_text(text, export->run.options->prometheus, error);
	run_end_write(&export->run);
	return keep_on(export, err, error);
}

/* ---- a server */

static const char page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>kvmtop</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>body{font-family:sans-serif;max-width:40em;margin:3em auto;padding:0 1em}"
	"code{background:#eee;padding:.1em .3em}</style></head><body>\n"
	"<h1>kvmtop " KVMTOP_VERSION "</h1>\n"
	"<p>This host's KVM guests, counted for Prometheus: where the time of their vCPUs goes,\n"
	"their VM exits and what these cost, and what makes guests slow.</p>\n"
	"<ul><li><a href=\"/metrics\"><code>/metrics</code></a>: the numbers, as Prometheus' "
	"text</li>\n"
	"<li><a href=\"/healthz\"><code>/healthz</code></a>: whether counting goes on</li></ul>\n"
	"<p><code>kvmtop export --metrics help</code> explains each number, "
	"<code>man kvmtop-export</code> the rest.</p>\n"
	"</body></html>\n";

/* The only format, whatever a request accepts: every scraper reads it. */
static const char metrics_type[] = "text/plain; version=0.0.4; charset=utf-8";

/* Formats the latest sample, unless another client has it already. */
static void refresh(struct export *export)
{
	struct cached *cached = &export->cached;
	const struct metrics_text *text;
	uint64_t tick = monitor_facts(export->run.monitor)->stats->tick;

	if (cached->tick == tick)
		return;
	document_drop(cached->plain);
	document_drop(cached->gzip);
	*cached = (struct cached){ 0 };
	text = make_text(export);
	cached->plain = document_new(metrics_type, text->bytes, text->size, false);
	cached->tick = tick;
}

/* Whether a sample came lately: false after three intervals without one. */
static bool is_counting(struct export *export)
{
	uint64_t limit_ns = (uint64_t)((3 * export->run.options->interval_s + HANGS_S) * 1e9);

	return clock_now_ns() - atomic_load(&export->sampled_ns) < limit_ns;
}

/* Waits for a sample that is being taken, unless it hangs: other clients wait meanwhile. */
static bool lock_facts(struct export *export)
{
	struct timespec until;

	if (!is_counting(export))
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HANGS_S;
	return pthread_mutex_timedlock(&export->lock, &until) == 0;
}

/* NULL: no sample was taken in time. */
static struct document *metrics_document(struct export *export, bool takes_gzip)
{
	struct cached *cached = &export->cached;
	struct document *document;

	if (!lock_facts(export))
		return NULL;
	refresh(export);
	if (takes_gzip && !cached->gzip)
		cached->gzip = document_new(metrics_type, cached->plain->bytes,
					    cached->plain->size, true);
	document = document_hold(takes_gzip ? cached->gzip : cached->plain);
	pthread_mutex_unlock(&export->lock);
	return document;
}

static struct document *text_document(const char *type, const char *text)
{
	return document_new(type, text, strlen(text), false);
}

static unsigned int answer(void *arg, const struct server_request *request,
			   struct document **ret_document)
{
	struct export *export = arg;

	if (strcmp(request->path, "/metrics") == 0)
		*ret_document = metrics_document(export, request->takes_gzip);
	else if (strcmp(request->path, "/healthz") == 0 && !is_counting(export))
		return 503;
	else if (strcmp(request->path, "/healthz") == 0)
		*ret_document = text_document("text/plain; charset=utf-8", "ok\n");
	else if (strcmp(request->path, "/") == 0)
		*ret_document = text_document("text/html; charset=utf-8", page);
	else
		return 404;
	return *ret_document ? 200 : 503;
}

static int begin_server(struct export *export, struct error *error)
{
	const struct options *options = export->run.options;
	const struct server_config config = {
		.address = options->listen,
		.web_config = options->web_config,
		.answer = answer,
		.arg = export,
	};
	bool is_open = false;
	int err;

	if (!options->listen)
		return 0;
	descriptors_raise(2 * SERVER_CONNECTIONS);
	err = server_start(&config, &export->server, &is_open, error);
	if (!err && is_open && !options->web_config)
		fprintf(stderr, "kvmtop: anyone who can reach %s can read the numbers; "
				"--web-config adds TLS and passwords\n",
			strcmp(options->listen, "systemd") == 0 ? "the socket of systemd" :
								  options->listen);
	return err;
}

/* ---- the loop */

static int on_wake(struct run *run, enum woken woken, struct error *error)
{
	struct export *export = (struct export *)run;
	int err;

	if (woken == WOKEN_HANGUP)
		return !signal_is_ignored(SIGHUP);
	if (woken != WOKEN_TICK)
		return 0;
	err = take_sample(export, error);
	return !err && run->options->prometheus ? write_file(export, error) : err;
}

static int count(struct export *export, struct error *error)
{
	const struct options *options = export->run.options;
	int err;

	run_wait_open(&export->run);
	err = on_wake(&export->run, WOKEN_TICK, error);
	if (!err)
		err = begin_server(export, error);
	if (!err && options->samples != 1)
		err = run_loop(&export->run, options->interval_s,
			       options->samples ? options->samples - 1 : 0, on_wake, error);
	return err == -EPIPE || err == -EINTR ? 0 : err;
}

static int check_prometheus(const char *path, struct error *error)
{
	size_t len = strlen(path);

	if (strcmp(path, "-") == 0 || (len > 5 && strcmp(path + len - 5, ".prom") == 0))
		return 0;
	return error_set(error, -EINVAL,
			 "\"%s\": node_exporter reads only names that end in .prom: "
			 "choose such a name",
			 path);
}

static int understand(struct options *options, struct error *error)
{
	if (options->nr_words)
		return error_set(error, -EINVAL, "unexpected argument \"%s\"", options->words[0]);
	if (options->prometheus)
		return check_prometheus(options->prometheus, error);
	return options->listen ? address_check(options->listen, error) :
				 error_set(error, -EINVAL,
					   "nothing to export to: give --listen ADDRESS "
					   "or --prometheus FILE.prom");
}

static int export_all(struct export *export, struct error *error)
{
	const struct options *options = export->run.options;
	struct metrics_config config = {
		.groups = options->metrics,
		.max_series = options->max_series,
		.statistics = PROVIDERS_STATISTICS,
		.thresholds = &export->run.parts.thresholds,
	};
	int err = begin(export, error);

	if (err)
		return err;
	/* With KVM's own counters alone, these are exported. */
	if (monitor_facts(export->run.monitor)->cost == COST_NONE)
		config.groups |= METRICS_STATISTICS;
	export->metrics = metrics_new(&config);
	return count(export, error);
}

static int run_export(struct options *options)
{
	struct export export = {
		.run = RUN_INIT(options),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct error error = { "" };
	int err;

	if (options->metrics_help) {
		metrics_print_help(stdout);
		return STATUS_OK;
	}
	err = export_all(&export, &error);
	server_stop(export.server);
	document_drop(export.cached.plain);
	document_drop(export.cached.gzip);
	metrics_free(export.metrics);
	run_close(&export.run);
	return err ? say_failure(err, &error) : STATUS_OK;
}

const struct command export_command = {
	.name = "export",
	.help = "export metrics of all guests for Prometheus",
	.usage = "Usage: kvmtop export [OPTION]...\n"
		 "Counts all guests until a signal, and answers Prometheus, or writes a file\n"
		 "for node_exporter.\n",
	.footer = "Exit status: 0 done, 1 failure, 2 wrong usage.\n"
		  "More: man kvmtop-export\n",
	.command = { .works = MODE_EXPORT },
	.understand = understand,
	.run = run_export,
};
