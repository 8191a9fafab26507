// SPDX-License-Identifier: GPL-2.0-or-later
/* The header, piece by piece, then the pages of each CPU. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <tracefs.h>

#include "trace/record_dat.h"

#define OPTION_CPUSTAT 2
#define OPTION_TRACECLOCK 4
#define OPTION_UNAME 5
#define OPTION_CPUCOUNT 8
#define OPTION_GUEST 13

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

/* A file of the kernel, after its size. */
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

/* How many events from the first on are of its system. */
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

/* Each system once, with its events. */
static int put_systems(FILE *out, const struct ring *ring)
{
	size_t nr, nr_systems = 0;
	const struct ring_event *events = ring_events(ring, &nr);
	struct ring_event *sorted = calloc(nr + 1, sizeof(*sorted));
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, events, nr * sizeof(*sorted));
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
static void put_stats(FILE *out, const struct ring *ring)
{
	size_t nr;
	const struct ring_cpu *cpus = ring_cpus(ring, &nr);

	for (size_t i = 0; i < nr; i++) {
		char file[64], *stats, *text = NULL;
		int size = -1;

		snprintf(file, sizeof(file), "per_cpu/cpu%zu/stats", i);
		stats = cpus[i].raw >= 0 ? ring_read(ring, file) : NULL;
		if (stats)
			size = asprintf(&text, "CPU: %zu\n%s", i, stats);
		if (size >= 0) {
			put_option(out, OPTION_CPUSTAT, text, (size_t)size + 1);
			free(text);
		}
		free(stats);
	}
}

/* The names of guests and the threads of their vCPUs, as trace-cmd notes those it has agents in. */
static void put_guests(FILE *out, const struct recorded_guests *guests)
{
	const struct recorded_guest *guest;

	for (size_t i = 0; (guest = recorded_guests_at(guests, i)); i++) {
		size_t size = strlen(guest->name) + 1;

		put_u16(out, OPTION_GUEST);
		put_u32(out, (uint32_t)(size + 8 + 4 + 8 * guest->nr_vcpus));
		put_name(out, guest->name);
		put_u64(out, (uint64_t)guest->pid); /* there is no recording made in it */
		put_u32(out, (uint32_t)guest->nr_vcpus);
		for (size_t vcpu = 0; vcpu < guest->nr_vcpus; vcpu++) {
			put_u32(out, (uint32_t)vcpu);
			put_u32(out, (uint32_t)guest->tids[vcpu]);
		}
	}
}

static void put_options(FILE *out, const struct ring *ring, const struct recorded_guests *guests,
			uint32_t nr_cpus)
{
	char *clocks = ring_read(ring, "trace_clock");
	struct utsname name;
	char text[512];

	put_name(out, "options  ");
	if (clocks)
		put_option(out, OPTION_TRACECLOCK, clocks, strlen(clocks) + 1);
	free(clocks);
	if (uname(&name) == 0) {
		snprintf(text, sizeof(text), "%s %s %s %s", name.sysname, name.nodename,
			 name.release, name.machine);
		put_option(out, OPTION_UNAME, text, strlen(text) + 1);
	}
	put_option(out, OPTION_CPUCOUNT, &nr_cpus, sizeof(nr_cpus));
	put_guests(out, guests);
	put_stats(out, ring);
	put_u16(out, 0);
}

static int put_header(FILE *out, const struct ring *ring, const struct recorded_guests *guests,
		      uint32_t nr_cpus)
{
	static const char magic[] = { 0x17, 0x08, 0x44 };
	int err;

	fwrite(magic, sizeof(magic), 1, out);
	fputs("tracing", out);
	put_name(out, "6");
	putc(__BYTE_ORDER == __BIG_ENDIAN ? 1 : 0, out);
	putc((int)sizeof(long), out);
	put_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
	put_name(out, "header_page");
	err = put_file(out, "events/header_page");
	put_name(out, "header_event");
	if (!err)
		err = put_file(out, "events/header_event");
	put_u32(out, 0); /* events of ftrace itself */
	if (!err)
		err = put_systems(out, ring);
	put_u32(out, 0); /* kallsyms */
	put_u32(out, 0); /* formats of trace_printk() */
	if (!err)
		err = put_file(out, "saved_cmdlines");
	put_u32(out, nr_cpus);
	put_options(out, ring, guests, nr_cpus);
	put_name(out, "flyrecord");
	return err;
}

/* ---- the pages ---- */

/* From the beginning of in to where out is. */
static int copy_pages(int in, int out, uint64_t bytes)
{
	loff_t at = 0;
	bool sends = false;

	while (bytes) {
		size_t some = bytes < 1 << 30 ? (size_t)bytes : 1 << 30;
		ssize_t n = sends ? sendfile(out, in, &at, some) :
				    copy_file_range(in, &at, out, NULL, some, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && !sends) {
			sends = true; /* between file systems, or where it is not known */
			continue;
		}
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes -= (uint64_t)n;
	}
	return 0;
}

/* Where each CPU's pages will be, and how many bytes. Returns where the first begin. */
static uint64_t put_places(FILE *out, const struct ring_cpu *cpus, size_t nr)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t first = (uint64_t)ftello(out) + 16 * nr, at;

	first = (first + page - 1) / page * page;
	at = first;
	for (size_t i = 0; i < nr; i++) {
		put_u64(out, at);
		put_u64(out, cpus[i].bytes);
		at += cpus[i].bytes; /* whole pages */
	}
	return first;
}

int dat_write(const struct ring *ring, const struct recorded_guests *guests, int fd,
	      struct why *why)
{
	size_t nr;
	const struct ring_cpu *cpus = ring_cpus(ring, &nr);
	int own = dup(fd), err;
	FILE *out = own >= 0 ? fdopen(own, "w") : NULL;
	uint64_t first;

	if (!out) {
		err = -errno;
		if (own >= 0)
			close(own);
		return err;
	}
	err = put_header(out, ring, guests, (uint32_t)nr);
	first = put_places(out, cpus, nr);
	if (!err && (fflush(out) < 0 || ferror(out)))
		err = -errno;
	if (!err && lseek(fd, (off_t)first, SEEK_SET) < 0)
		err = -errno;
	for (size_t i = 0; !err && i < nr; i++)
		err = copy_pages(cpus[i].file, fd, cpus[i].bytes);
	/* The file may be longer than what has been written: a hole before no page at all. */
	if (!err && ftruncate(fd, lseek(fd, 0, SEEK_CUR)) < 0)
		err = -errno;
	fclose(out);
	return err ? why_set(why, err, "the file cannot be written: %s", strerror(-err)) : 0;
}
