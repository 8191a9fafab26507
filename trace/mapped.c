// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps pieces of files, and puts zeros where a file ends before its piece does. */
#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/mapped.h"

/* What is mapped now, for the handler: it is called while one of them is read, never in between. */
static struct mapped *pieces;
static struct sigaction before;
static size_t page_size;

static struct mapped *piece_at(const uint8_t *at)
{
	for (struct mapped *piece = pieces; piece; piece = piece->next) {
		if (at >= piece->begin && at < piece->begin + piece->size)
			return piece;
	}
	return NULL;
}

/* A read of a page that is no more: from it on, the piece is zeros. */
static bool fill_up(struct mapped *piece, const uint8_t *at)
{
	uintptr_t page = (uintptr_t)at & ~(uintptr_t)(page_size - 1);
	size_t size = piece->size - (size_t)(page - (uintptr_t)piece->begin);

	piece->is_cut = 1;
	return mmap((void *)page, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	struct mapped *piece = piece_at(info->si_addr);

	(void)context;
	if (piece && fill_up(piece, info->si_addr))
		return;
	/* Not ours: the instruction runs again, or the signal is sent again, and meets what was. */
	sigaction(signal, &before, NULL);
	if (info->si_code <= 0)
		raise(signal);
}

/* The handler is there as long as something is mapped. */
static void add(struct mapped *piece)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };

	piece->next = pieces;
	if (!pieces) {
		page_size = (size_t)sysconf(_SC_PAGESIZE);
		sigaction(SIGBUS, &action, &before);
	}
	pieces = piece;
}

static void drop(const struct mapped *piece)
{
	struct mapped **at = &pieces;

	while (*at != piece)
		at = &(*at)->next;
	*at = piece->next;
	if (!pieces)
		sigaction(SIGBUS, &before, NULL);
}

int mapped_set(struct mapped *mapped, int fd, uint64_t offset, size_t size)
{
	struct mapped new = {
		.begin = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, (off_t)offset),
		.size = size,
	};

	if (new.begin == MAP_FAILED) {
		int err = -errno;

		mapped_release(mapped);
		return err;
	}
	if (mapped->begin)
		munmap((void *)(uintptr_t)mapped->begin, mapped->size);
	else
		add(mapped);
	new.next = mapped->next;
	*mapped = new;
	return 0;
}

void mapped_release(struct mapped *mapped)
{
	if (!mapped->begin)
		return;
	drop(mapped);
	munmap((void *)(uintptr_t)mapped->begin, mapped->size);
	mapped->begin = NULL;
}
