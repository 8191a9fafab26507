// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the header, piece by piece, then the pages of each CPU. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tracefs.h>

#include "lib/xalloc.h"
#include "trace/recording/dat/dat.h"
#include "trace/tracer/tracer.h"

/* ---- pieces; all numbers are in this machine's order ---- */

static void put_u16(FILE *out, uint16_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void put_u32(FILE *out, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void put_u64(FILE *out, uint64_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void put_name(FILE *out, const char *name)
{
	fwrite(name, strlen(name) + 1, 1, out);
}

/* Writes the size of a tracefs file, then its content. */
static int put_file(FILE *out, const char *file)
{
	int size = 0;
	char *text = tracefs_instance_file_read(NULL, file, &size);

	put_u64(out, text ? (uint64_t)size : 0);
	if (text)
		fwrite(text, (size_t)size, 1, out);
	free(text);
	return text ? 0 : -EIO;
}

static void put_option(FILE *out, uint16_t id, const void *data, size_t size)
{
	put_u16(out, id);
	put_u32(out, (uint32_t)size);
	fwrite(data, size, 1, out);
}

/* ---- the header ---- */

static int put_formats(FILE *out, const struct ring_event *event, size_t nr)
{
	char file[512];
	int err = 0;

	put_name(out, event->system);
	put_u32(out, (uint32_t)nr);
	for (size_t i = 0; !err && i < nr; i++) {
		snprintf(file, sizeof(file), "events/%s/%s/format", event[i].system,
			 event[i].name);
		err = put_file(out, file);
	}
	return err;
}

/* The number of events at the beginning of the list with the first event's system. */
static size_t system_length(const struct ring_event *events, size_t nr)
{
	size_t length = 1;

	while (length < nr && strcmp(events[length].system, events[0].system) == 0)
		length++;
	return length;
}

static int compare_events(const void *a, const void *b)
{
	const struct ring_event *one = a, *other = b;
	int order = strcmp(one->system, other->system);

	return order ? order : strcmp(one->name, other->name);
}

/* Writes each system with its events. */
static int put_systems(FILE *out, const struct ring *ring)
{
	size_t nr = ring->nr_events, nr_systems = 0;
	struct ring_event *sorted = xcalloc(nr, sizeof(*sorted));
	int err = 0;

	memcpy(sorted, ring->events, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_events);
	for (size_t i = 0; i < nr; i += system_length(sorted + i, nr - i))
		nr_systems++;
	put_u32(out, (uint32_t)nr_systems);
	for (size_t i = 0; !err && i < nr; i += system_length(sorted + i, nr - i))
		err = put_formats(out, sorted + i, system_length(sorted + i, nr - i));
	free(sorted);
	return err;
}

/* The text of `trace-cmd report --stat`. */
static void put_stats(FILE *out, struct ring *ring)
{
	for (size_t i = 0; i < ring->nr_cpus; i++) {
		char file[64], *stats, *text = NULL;
		int size = -1;

		snprintf(file, sizeof(file), "per_cpu/cpu%zu/stats", i);
		stats = ring->pages[i].file >= 0 ? ring_read(ring, file) : NULL;
		if (stats)
			size = asprintf(&text, "CPU: %zu\n%s", i, stats);
		if (size >= 0) {
			put_option(out, DAT_OPTION_CPUSTAT, text, (size_t)size + 1);
			free(text);
		}
		free(stats);
	}
}

/*
 * Writes guests and their vCPUs' threads in the option that trace-cmd has for its guests. After
 * what trace-cmd reads are the other threads of the guest's process, 4 bytes each.
 */
static void put_guests(FILE *out, const struct guest_log *log)
{
	for (size_t i = 0; i < DAT_GUESTS_MAX && i < log->nr; i++) {
		const struct logged_guest *guest = &log->list[i];
		size_t size = strlen(guest->name) + 1;

		put_u16(out, DAT_OPTION_GUEST);
		put_u32(out, (uint32_t)(size + 8 + 4 + 8 * guest->nr_vcpus +
				      4 * guest->nr_others));
		put_name(out, guest->name);
		put_u64(out, (uint64_t)guest->pid); /* trace_id; the guest has no file of its own */
		put_u32(out, (uint32_t)guest->nr_vcpus);
		for (size_t vcpu = 0; vcpu < guest->nr_vcpus; vcpu++) {
			put_u32(out, (uint32_t)vcpu);
			put_u32(out, (uint32_t)guest->tids[vcpu]);
		}
		for (size_t other = 0; other < guest->nr_others; other++)
			put_u32(out, (uint32_t)guest->others[other]);
	}
}

static void put_options(FILE *out, struct ring *ring, const struct guest_log *log,
			uint32_t nr_cpus)
{
	char *clocks = ring_read(ring, "trace_clock");
	struct utsname name;
	char text[512];

	put_name(out, "options  ");
	if (clocks)
		put_option(out, DAT_OPTION_CLOCK, clocks, strlen(clocks) + 1);
	free(clocks);
	if (uname(&name) == 0) {
		snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.nodename,
			 name.release, name.machine);
		put_option(out, DAT_OPTION_UNAME, text, strlen(text) + 1);
	}
	put_option(out, DAT_OPTION_CPUS, &nr_cpus, sizeof(nr_cpus));
	put_guests(out, log);
	put_stats(out, ring);
	put_u16(out, DAT_OPTION_DONE);
}

static int put_header(FILE *out, struct ring *ring, const struct guest_log *log,
		      uint32_t nr_cpus)
{
	int err;

	fputs(TRACING_MAGIC, out);
	put_name(out, "6");
	putc(IS_BIG_HERE, out);
	putc((int)sizeof(long), out);
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_name(out, "header_page");
	err = put_file(out, "events/header_page");
	put_name(out, "header_event");
	if (!err)
		err = put_file(out, "events/header_event");
	put_u32(out, 0); /* events of system ftrace */
	if (!err)
		err = put_systems(out, ring);
	put_u32(out, 0); /* kallsyms */
	put_u32(out, 0); /* formats of trace_printk() */
	if (!err)
		/* Empty where nothing was ever traced, which libtracefs takes for an error. */
		(void)put_file(out, "saved_cmdlines");
	put_u32(out, nr_cpus);
	put_options(out, ring, log, nr_cpus);
	put_name(out, "flyrecord");
	return err;
}

/* ---- the file ---- */

/* The pages of a CPU in the file; the header ends with a table of these. */
struct written_pages {
	uint64_t at, bytes;
};

struct dat_writer {
	int fd;
	struct pages *cpus;
	size_t nr;
	char *head;
	size_t head_bytes;
	int given_up; /* -errno: why pages had to be given up; 0: none were */
};

static int head_new(struct dat_writer *dat, struct ring *ring, const struct guest_log *log)
{
	static const struct written_pages nowhere = { 0, 0 };
	FILE *out = open_memstream(&dat->head, &dat->head_bytes);
	int err;

	if (!out)
		out_of_memory();
	err = put_header(out, ring, log, (uint32_t)dat->nr);
	for (size_t i = 0; i < dat->nr; i++)
		fwrite(&nowhere, sizeof(nowhere), 1, out);
	if (ferror(out) || fclose(out) != 0)
		out_of_memory();
	return err;
}

static uint64_t first_page(const struct dat_writer *dat)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (dat->head_bytes + page - 1) / page * page;
}

/* Gives up pages in advance that exceed the file size limit (ulimit -f), evenly on all CPUs. */
static void keep_limit(struct dat_writer *dat)
{
	uint64_t first = first_page(dat), most = pages_most();

	if (pages_fit(dat->cpus, dat->nr, most > first ? most - first : 0))
		dat->given_up = -EFBIG;
}

/* Writes the header from byte `from` on. */
static int head_write(struct dat_writer *dat, size_t from)
{
	for (size_t done = from; done < dat->head_bytes;) {
		ssize_t n = pwrite(dat->fd, dat->head + done, dat->head_bytes - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		dat->given_up = n < 0 ? -errno : -EIO;
		if (!pages_give_up(dat->cpus, dat->nr))
			return dat->given_up;
	}
	return 0;
}

/* Returns the end of the pages in the file. */
static uint64_t move_pages(struct dat_writer *dat, struct written_pages *table)
{
	uint64_t at = first_page(dat);

	for (size_t i = 0; i < dat->nr; i++) {
		int err = pages_move(dat->cpus, dat->nr, i, dat->fd, at);

		dat->given_up = err ? err : dat->given_up;
		table[i] = (struct written_pages){ at, dat->cpus[i].bytes };
		at += table[i].bytes; /* whole pages */
	}
	return at;
}

/* The header is written before the pages; its table of pages is zero until they are moved. */
static int dat_put(struct dat_writer *dat)
{
	size_t table_bytes = dat->nr * sizeof(struct written_pages);
	struct written_pages *table = xmalloc(table_bytes);
	uint64_t end;
	int err;

	keep_limit(dat);
	err = ftruncate(dat->fd, 0) < 0 ? -errno : head_write(dat, 0);
	if (!err) {
		end = move_pages(dat, table);
		memcpy(dat->head + dat->head_bytes - table_bytes, table, table_bytes);
		err = head_write(dat, dat->head_bytes - table_bytes);
		/* The offset of a CPU without pages must not be after the end of the file. */
		if (!err && ftruncate(dat->fd, (off_t)end) < 0)
			err = -errno;
	}
	free(table);
	return err;
}

bool dat_may_write(int fd)
{
	char magic[TRACING_MAGIC_SIZE];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return !st.st_size || (pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
			       memcmp(magic, TRACING_MAGIC, sizeof(magic)) == 0);
}

int dat_write(struct ring *ring, const struct guest_log *log, int fd, int *ret_given_up,
	      struct error *error)
{
	struct dat_writer dat = { .fd = fd, .cpus = ring->pages, .nr = ring->nr_cpus };
	int err = head_new(&dat, ring, log);

	if (!err)
		err = dat_put(&dat);
	free(dat.head);
	if (err)
		return error_set(error, err, "the file cannot be written: %s", strerror(-err));
	*ret_given_up = dat.given_up;
	return 0;
}
