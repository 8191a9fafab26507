// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves pages from file to file, and makes room for them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "trace/tracer/tracer.h"

#define MOVE_BYTES (16u << 20)	  /* of a move: copied before the source is punched */
#define GIVE_UP_BYTES (64u << 10) /* least bytes given up at once; or this part of the rest: */
#define GIVE_UP_PART 64

uint64_t pages_most(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) < 0 ? UINT64_MAX : limit.rlim_cur;
}

/* ---- while it records */

int pages_error(int err, struct error *error)
{
	return error_set(error, -err, "what is recorded cannot be written: %s", strerror(err));
}

int pages_splice(struct pages *pages, int pipe, size_t bytes, struct error *error)
{
	while (bytes) {
		ssize_t n = splice(pipe, NULL, pages->file, NULL, bytes, SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return pages_error(n < 0 ? errno : EIO, error);
		bytes -= (size_t)n;
		pages->bytes += (uint64_t)n;
	}
	return 0;
}

int pages_append(struct pages *pages, const char *page, size_t bytes, struct error *error)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = write(pages->file, page + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return pages_error(n < 0 ? errno : EIO, error);
		done += (size_t)n;
	}
	pages->bytes += bytes;
	return 0;
}

/* ---- giving up */

/* The bytes that may be given up. A page that was moved in part may be. */
static uint64_t rest_of(const struct pages *pages)
{
	return pages->bytes - pages->moved + pages->moved % (uint64_t)sysconf(_SC_PAGESIZE);
}

bool pages_give_up(struct pages *cpus, size_t nr)
{
	struct pages *most = NULL;
	uint64_t rest = 0, part;

	for (size_t i = 0; i < nr; i++) {
		if (rest_of(&cpus[i]) > rest) {
			most = &cpus[i];
			rest = rest_of(most);
		}
	}
	if (!most)
		return false;
	part = rest / GIVE_UP_PART / GIVE_UP_BYTES * GIVE_UP_BYTES;
	part = part ? part : GIVE_UP_BYTES;
	most->bytes -= part < rest ? part : rest;
	if (most->moved > most->bytes)
		most->moved = most->bytes;
	(void)!ftruncate(most->file, (off_t)most->bytes);
	return true;
}

bool pages_fit(struct pages *cpus, size_t nr, uint64_t bytes)
{
	uint64_t all = 0;
	size_t nr_times = 0;

	do {
		all = 0;
		for (size_t i = 0; i < nr; i++)
			all += cpus[i].bytes;
	} while (all > bytes && pages_give_up(cpus, nr) && ++nr_times);
	return nr_times > 0;
}

/* ---- moving */

static bool is_full(int err)
{
	return err == ENOSPC || err == EDQUOT || err == EFBIG;
}

/* Copies up to `bytes` bytes. Returns the number of bytes, or -errno. */
static ssize_t copy_some(int in, uint64_t from, int out, uint64_t to, size_t bytes)
{
	loff_t in_at = (loff_t)from, out_at = (loff_t)to;
	ssize_t n = copy_file_range(in, &in_at, out, &out_at, bytes, 0);

	if (n > 0)
		return n;
	if (n < 0 && (is_full(errno) || errno == EINTR))
		return -errno;
	/* copy_file_range() does not work on these file systems. */
	if (lseek(out, (off_t)to, SEEK_SET) < 0)
		return -errno;
	n = sendfile(out, in, &in_at, bytes);
	return n > 0 ? n : n < 0 ? -errno : -EIO;
}

int pages_move(struct pages *cpus, size_t nr, size_t i, int out, uint64_t at)
{
	struct pages *pages = &cpus[i];
	int err = 0;

	while (pages->moved < pages->bytes) {
		uint64_t left = pages->bytes - pages->moved;
		ssize_t n = copy_some(pages->file, pages->moved, out, at + pages->moved,
				      left < MOVE_BYTES ? (size_t)left : MOVE_BYTES);

		if (n == -EINTR)
			continue;
		if (n > 0) {
			pages->moved += (uint64_t)n;
			/* On file systems without holes, the ftruncate() below frees the room. */
			(void)!fallocate(pages->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
					 (off_t)pages->moved);
		} else {
			err = (int)n;
			pages_give_up(cpus, nr);
		}
	}
	if (pages->file >= 0)
		(void)!ftruncate(pages->file, 0);
	return err;
}
