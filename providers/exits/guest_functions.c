// SPDX-License-Identifier: GPL-2.0-or-later
/* Names guests' functions: by copies of /proc/kallsyms, or by guests' memory, read in threads. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kallsyms.h"
#include "lib/clock.h"
#include "lib/hash.h"
#include "lib/process.h"
#include "lib/text.h"
#include "providers/account/account.h"
#include "providers/exits/stacks.h"

#define WAIT_MS 30 /* for readings; one that finds the same kernel takes less than 1 */
#define LONG_NS UINT64_C(20000000000) /* longer ones are of memory that may never come */
#define AGAIN_NS UINT64_C(2000000000) /* after a reading that found nothing */
#define PAUSE_NS UINT64_C(60000000000) /* at most, after ones that found too much */
#define READINGS_MAX 16 /* at a time: each has 24 MiB and a descriptor, and may never end */
#define CODES 4 /* addresses of instructions that are tried: some may be a module's */

enum reading_state { READING_GOES_ON, READING_HAS_ENDED, READING_IS_LEFT };

/* One look at a guest's memory. Freed by whoever finishes last: thread or owner. */
struct reading {
	pthread_mutex_t lock;
	pthread_cond_t has_ended;
	enum reading_state state; /* with the lock; the thread has all the rest until it ends */
	int fd; /* of /proc/PID/mem; -1: it cannot be opened, see error */
	struct account_guest guest;
	uint64_t codes[CODES];
	size_t nr_codes;
	struct guest_symbols *symbols; /* the earlier ones; then the ones that are valid, or NULL */
	int err;
	struct error error;
};

/* All that have not ended, also of guests that have. */
static atomic_size_t nr_readings;

/* Where the names of a guest come from. */
struct source {
	UT_hash_handle hh;
	uint32_t guest;
	const struct kallsyms *file; /* NULL: its memory */
	/* What is wanted for the next naming. */
	pid_t tid; /* of one of its vCPUs; 0: nothing is wanted */
	uint64_t codes[CODES];
	size_t nr_codes;
	/* By its memory. */
	struct reading *reading; /* that goes on, or has ended; NULL: none */
	uint64_t begun_ns;
	struct guest_symbols *symbols;
	bool is_valid; /* for this naming */
	uint64_t next_ns; /* no reading before */
	uint64_t pause_ns; /* after the latest, as it found too much; 0: it did not */
	struct error error; /* why it has no names, until that is said */
};

struct guest_functions {
	struct guest_functions_config config;
	struct account_reader *reader; /* NULL: no memory is read */
	struct source *sources;
	struct error error; /* why no memory is read, until that is said */
};

/* ---- a reading */

static void reading_free(struct reading *reading)
{
	guest_symbols_free(reading->symbols);
	free(reading->guest.slots);
	if (reading->fd >= 0)
		close(reading->fd);
	pthread_cond_destroy(&reading->has_ended);
	pthread_mutex_destroy(&reading->lock);
	free(reading);
}

static void read_symbols(struct reading *reading, struct guest_memory *memory)
{
	const struct account_guest *guest = &reading->guest;
	struct guest_registers registers = guest->registers;
	int err = -ENOENT;

	guest_memory_init(memory, reading->fd, guest->slots, guest->nr);
	if (reading->symbols && guest_symbols_are_valid(reading->symbols, memory, &registers))
		return;
	guest_symbols_free(reading->symbols);
	reading->symbols = NULL;
	for (size_t i = 0; i < reading->nr_codes && err == -ENOENT; i++) {
		registers.pc = reading->codes[i];
		err = guest_symbols_find(memory, &registers, &reading->symbols, &reading->error);
	}
	reading->err = err;
}

static void *run(void *arg)
{
	struct guest_memory *memory = xmalloc(sizeof(*memory));
	struct reading *reading = arg;
	bool is_left;

	read_symbols(reading, memory);
	free(memory);
	nr_readings--;
	pthread_mutex_lock(&reading->lock);
	is_left = reading->state == READING_IS_LEFT;
	reading->state = READING_HAS_ENDED;
	pthread_cond_signal(&reading->has_ended);
	pthread_mutex_unlock(&reading->lock);
	if (is_left)
		reading_free(reading);
	return NULL;
}

/* Its thread may have to wait for the VMM's memory, and then frees it much later. */
static void leave(struct reading *reading)
{
	bool has_ended;

	pthread_mutex_lock(&reading->lock);
	has_ended = reading->state == READING_HAS_ENDED;
	reading->state = READING_IS_LEFT;
	pthread_mutex_unlock(&reading->lock);
	if (has_ended)
		reading_free(reading);
}

/* Whether it has ended by then. */
static bool wait_for(struct reading *reading, const struct timespec *until)
{
	bool has_ended;
	int err = 0;

	pthread_mutex_lock(&reading->lock);
	while (reading->state == READING_GOES_ON && !err)
		err = pthread_cond_timedwait(&reading->has_ended, &reading->lock, until);
	has_ended = reading->state == READING_HAS_ENDED;
	pthread_mutex_unlock(&reading->lock);
	return has_ended;
}

/* ---- sources */

static void source_free(struct guest_functions *functions, struct source *source)
{
	HASH_DEL(functions->sources, source);
	if (source->reading)
		leave(source->reading);
	guest_symbols_free(source->symbols);
	free(source);
}

void guest_functions_want(struct guest_functions *functions, uint32_t guest, pid_t tid,
			  uint64_t address)
{
	const struct guest *of = guests_find(functions->config.guests, guest);
	struct source *source;

	if (!of || (int64_t)address >= 0)
		return;
	HASH_FIND(hh, functions->sources, &guest, sizeof(guest), source);
	if (!source) {
		source = xcalloc(1, sizeof(*source));
		source->guest = guest;
		source->file = guest_kallsyms_of(of, functions->config.files,
						 functions->config.nr_files);
		hash_add(functions->sources, guest, source);
	}
	source->tid = tid;
	if (source->nr_codes < CODES)
		source->codes[source->nr_codes++] = address;
}

static int open_memory(const struct guest_functions *functions, pid_t pid, struct error *error)
{
	char path[PATH_MAX];
	int fd, err;

	env_path(functions->config.env, path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? errno : 0;
	if (err)
		error_set(error, -err, "%s: %s", path, strerror(err));
	if (err == EACCES || err == EPERM)
		error_add(error, "%sCAP_SYS_PTRACE is needed", unless_root("root or "));
	return fd;
}

/* What the thread needs; false: it cannot be had, see error. */
static bool prepare(const struct guest_functions *functions, const struct source *source,
		    pid_t pid, struct reading *reading)
{
	int err = account_read_guest(functions->reader, pid, source->tid, &reading->guest);

	reading->fd = -1;
	if (err == -ENODATA)
		error_set(&reading->error, err, "where its memory is cannot be read (Linux 5.17 "
						"or later, x86-64 or AArch64, is needed)");
	else if (err)
		error_set(&reading->error, err, "%s", strerror(-err));
	else
		reading->fd = open_memory(functions, pid, &reading->error);
	return reading->fd >= 0;
}

/* False: there is no thread that checks the symbols. Without a descriptor none is valid then. */
static bool start_thread(struct reading *reading, pthread_t *ret_thread)
{
	int err = thread_start(ret_thread, run, reading);

	if (!err)
		return true;
	error_set(&reading->error, err, "no thread for its memory: %s", strerror(-err));
	close(reading->fd);
	reading->fd = -1;
	return false;
}

static void begin_reading(struct guest_functions *functions, struct source *source, pid_t pid)
{
	struct reading *reading = xcalloc(1, sizeof(*reading));
	pthread_t thread;

	pthread_mutex_init(&reading->lock, NULL);
	thread_cond_init(&reading->has_ended);
	memcpy(reading->codes, source->codes, sizeof(reading->codes));
	reading->nr_codes = source->nr_codes;
	reading->symbols = source->symbols;
	source->symbols = NULL;
	source->reading = reading;
	source->begun_ns = clock_now_ns();
	nr_readings++;
	if (prepare(functions, source, pid, reading) && start_thread(reading, &thread)) {
		pthread_detach(thread);
		return;
	}
	nr_readings--;
	reading->state = READING_HAS_ENDED;
}

/* What has found too much before may take a second of a CPU: one such reading at a time. */
static bool has_room(const struct guest_functions *functions, const struct source *source)
{
	const struct source *other;

	for (other = functions->sources; other; other = other->hh.next) {
		if (source->pause_ns && other->pause_ns && other->reading)
			return false;
	}
	return nr_readings < READINGS_MAX;
}

static void take_reading(struct source *source)
{
	struct reading *reading = source->reading;

	source->symbols = reading->symbols;
	source->is_valid = source->symbols && reading->fd >= 0;
	if (reading->err != -E2BIG)
		source->pause_ns = 0;
	else
		source->pause_ns = source->pause_ns ? 2 * source->pause_ns : AGAIN_NS;
	if (source->pause_ns > PAUSE_NS)
		source->pause_ns = PAUSE_NS;
	if (!source->is_valid) {
		source->next_ns = clock_now_ns() +
				  (source->pause_ns ? source->pause_ns : AGAIN_NS);
		source->error = reading->error;
	}
	reading->symbols = NULL;
	source->reading = NULL;
	reading_free(reading);
}

static void begin(struct guest_functions *functions, struct source *source)
{
	const struct guest *guest = guests_find(functions->config.guests, source->guest);
	bool is_due = source->tid && !source->reading && clock_now_ns() >= source->next_ns;

	source->is_valid = false;
	if (!guest || guest->has_ended)
		source_free(functions, source);
	else if (is_due && !source->file && functions->reader && has_room(functions, source))
		begin_reading(functions, source, guest->pid);
}

void guest_functions_prepare(struct guest_functions *functions)
{
	struct timespec until = thread_time_in(WAIT_MS);
	struct source *source, *next;

	HASH_ITER(hh, functions->sources, source, next)
		begin(functions, source);
	HASH_ITER(hh, functions->sources, source, next) {
		if (source->reading && wait_for(source->reading, &until))
			take_reading(source);
		source->tid = 0;
		source->nr_codes = 0;
	}
}

static bool goes_on(const struct source *source)
{
	const struct timespec now = { 0 };

	return source->reading && !wait_for(source->reading, &now) &&
	       clock_now_ns() - source->begun_ns < LONG_NS;
}

bool guest_functions_are_being_read(const struct guest_functions *functions, uint32_t guest)
{
	const struct source *source;

	HASH_FIND(hh, functions->sources, &guest, sizeof(guest), source);
	return source && source->reading && clock_now_ns() - source->begun_ns < LONG_NS;
}

bool guest_functions_are_ready(const struct guest_functions *functions)
{
	const struct source *source;

	for (source = functions->sources; source; source = source->hh.next) {
		if (goes_on(source))
			return false;
	}
	return true;
}

bool guest_functions_name(const struct guest_functions *functions, uint32_t guest,
			  uint64_t address, bool has_offset, char *buf, size_t size)
{
	const struct source *source;
	const char *name;
	uint64_t offset;
	size_t len;

	HASH_FIND(hh, functions->sources, &guest, sizeof(guest), source);
	if (source && source->file && has_offset)
		return kallsyms_name(source->file, address, buf, size);
	name = source && source->file ? kallsyms_function(source->file, address) : NULL;
	if (name)
		name_put(buf, size, "%s", name);
	if (!source || source->file || !source->is_valid)
		return name;
	if (!guest_symbols_function(source->symbols, address, buf, size, &offset))
		return false;
	len = strlen(buf);
	if (has_offset)
		snprintf(buf + len, size - len, "+0x%" PRIx64, offset);
	return true;
}

void guest_functions_report(struct guest_functions *functions, struct error *error)
{
	struct source *source, *next;

	if (functions->error.text[0])
		error_set(error, 0, "guests' functions have no names: %s", functions->error.text);
	functions->error.text[0] = '\0';
	HASH_ITER(hh, functions->sources, source, next) {
		const struct guest *guest = guests_find(functions->config.guests, source->guest);

		if (!guest || !source->error.text[0])
			continue;
		error_set(error, 0, "the functions of %s have no names: %s", guest->name,
			  source->error.text);
		source->error.text[0] = '\0';
	}
}

/* ---- */

struct guest_functions *guest_functions_new(const struct guest_functions_config *config)
{
	struct guest_functions *functions = xcalloc(1, sizeof(*functions));

	functions->config = *config;
	if (config->reads_memory && account_check(config->env, &functions->error) == 0)
		account_guest_reader_new(config->env->arch, &functions->reader, &functions->error);
	return functions;
}

void guest_functions_free(struct guest_functions *functions)
{
	struct source *source, *next;

	if (!functions)
		return;
	HASH_ITER(hh, functions->sources, source, next)
		source_free(functions, source);
	account_reader_free(functions->reader);
	free(functions);
}
