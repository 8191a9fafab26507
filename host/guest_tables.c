// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the packed names of kallsyms in a kernel's image, checks and unpacks them. */
#include <ctype.h>
#include <errno.h>

#include "host/guest_symbols.h"
#include "lib/xalloc.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

#define TOKEN_MAX 511 /* characters */
#define TOKENS_MAX (64 * KIB)
#define TOKENS_PAD 64 /* between tokens and their index */
#define BLOCK 256     /* names for each marker */
#define MARKERS_MIN (GUEST_SYMBOLS_MIN / BLOCK + 1)
#define MARKERS_MAX (GUEST_SYMBOLS_MAX / BLOCK)
#define MARKERS_MORE 8 /* what follows them may look like them */
#define NAMES_MAX (24 * MIB)

/* Tries in one image, of what may look like the tables. */
#define TRIES_TOKENS 64
#define TRIES_MARKERS 4096
#define TRIES_NAMES 65536

struct search {
	struct guest_memory *memory;
	const struct guest_image *image;
	guest_tables_take_fn *take;
	void *arg;
	unsigned int tries_tokens, tries_markers, tries_names;
	uint64_t tokens_address;
	struct guest_tables *found;
};

/* ---- a name */

/* The tokens of the name at `at`, and how many; NULL: they do not end before `end`. */
static const uint8_t *name_tokens(const uint8_t *at, const uint8_t *end, size_t *ret_nr)
{
	size_t nr;

	if (at >= end)
		return NULL;
	nr = *at++;
	if (nr & 0x80) {
		if (at >= end)
			return NULL;
		nr = (nr & 0x7f) | (size_t)*at++ << 7;
	}
	*ret_nr = nr;
	return nr && nr <= (size_t)(end - at) ? at : NULL;
}

bool guest_tables_is(const struct guest_tables *tables, const uint8_t **at, const char *name)
{
	size_t nr, skip = 1;
	const uint8_t *tokens = name_tokens(*at, tables->names + tables->bytes, &nr);

	if (!tokens)
		return false;
	*at = tokens + nr;
	for (size_t i = 0; i < nr; i++) {
		for (const char *c = tables->tokens + tables->index[tokens[i]]; *c; c++) {
			if (skip)
				skip--;
			else if (*c != *name++)
				return false;
			else if (!*name)
				return i == nr - 1 && !c[1];
		}
	}
	return false;
}

void guest_tables_unpack(const struct guest_tables *tables, size_t i, char *buf, size_t size)
{
	const uint8_t *end = tables->names + tables->bytes;
	const uint8_t *at = tables->names + tables->markers[i / BLOCK], *tokens;
	size_t nr = 0, len = 0;

	for (size_t skip = i % BLOCK; skip > 0 && (tokens = name_tokens(at, end, &nr)); skip--)
		at = tokens + nr;
	tokens = name_tokens(at, end, &nr);
	for (size_t k = 0; tokens && k < nr; k++) {
		const char *c = tables->tokens + tables->index[tokens[k]];

		for (; *c && len + 1 < size; c++) {
			buf[len++] = isalnum((unsigned char)*c) || strchr("_.$@", *c) ? *c : '?';
		}
	}
	buf[len] = '\0';
}

/* ---- names: num_syms, names, markers, [their order by name,] tokens; searched backward */

/* A marker of 4 bytes, or of 8 before Linux 4.20. */
static uint64_t marker(const uint8_t *markers, size_t i, size_t wide)
{
	return wide == 8 ? guest_u64(markers + 8 * i) : guest_u32(markers + 4 * i);
}

/* How many there can be here: 0, and then each at least 2 bytes a name above the one before. */
static size_t count_markers(const uint8_t *at, const uint8_t *end, size_t wide)
{
	size_t nr = 1, room = (size_t)(end - at) / wide;

	if (room < 2 || marker(at, 0, wide))
		return 0;
	for (; nr < room && nr < MARKERS_MAX + MARKERS_MORE; nr++) {
		uint64_t more = marker(at, nr, wide) - marker(at, nr - 1, wide);

		if (more < 2 * BLOCK || more > 64 * KIB)
			break;
	}
	return nr;
}

struct markers {
	const uint8_t *at;
	size_t nr, wide;
};

/* Whether nr names that begin here agree with each marker, and end right before the markers. */
static bool names_fit(const uint8_t *names, size_t nr, const struct markers *markers)
{
	const uint8_t *at = names, *tokens;
	size_t len;

	for (size_t i = 0; i < nr; i++, at = tokens + len) {
		if (i % BLOCK == 0 && marker(markers->at, i / BLOCK, markers->wide) !=
					      (uint64_t)(at - names))
			return false;
		tokens = name_tokens(at, markers->at, &len);
		if (!tokens)
			return false;
	}
	return markers->at - at < 8; /* padding */
}

static void keep_names(struct guest_tables *tables, const uint8_t *names, size_t nr,
		       const struct markers *markers)
{
	size_t blocks = (nr + BLOCK - 1) / BLOCK;

	tables->nr = nr;
	tables->bytes = (size_t)(markers->at - names);
	tables->names = xmalloc(tables->bytes);
	memcpy(tables->names, names, tables->bytes);
	tables->markers = xmalloc(blocks * sizeof(*tables->markers));
	for (size_t i = 0; i < blocks; i++)
		tables->markers[i] = (uint32_t)marker(markers->at, i, markers->wide);
}

static void drop_names(struct guest_tables *tables)
{
	free(tables->names);
	free(tables->markers);
	tables->names = NULL;
	tables->markers = NULL;
}

/* The number of symbols before names: 4 bytes, or 4 and padding. 0: not as many as the markers. */
static size_t number_before(const uint8_t *names, size_t blocks, size_t *ret_distance)
{
	for (size_t distance = 4; distance <= 8; distance += 4) {
		size_t nr = guest_u32(names - distance);

		*ret_distance = distance;
		if (nr >= GUEST_SYMBOLS_MIN && nr <= GUEST_SYMBOLS_MAX &&
		    (nr + BLOCK - 1) / BLOCK == blocks && (distance == 4 || !guest_u32(names - 4)))
			return nr;
	}
	return 0;
}

/* The window's bytes, which end where the tokens begin. */
struct window {
	const uint8_t *begin, *end;
};

/* Whether names begin here, and all else agrees with them. */
static int try_begin(struct search *search, const struct window *window,
		     const struct markers *markers, const uint8_t *names)
{
	size_t distance, nr = number_before(names, markers->nr, &distance);
	int err;

	if (!nr)
		return -ENOENT;
	if (search->tries_names++ >= TRIES_NAMES || guest_memory_work(search->memory, nr))
		return -E2BIG;
	if (!names_fit(names, nr, markers))
		return -ENOENT;
	keep_names(search->found, names, nr, markers);
	search->found->nr_address =
		search->tokens_address - (uint64_t)(window->end - names) - distance;
	err = search->take(search->arg, search->found);
	if (err)
		drop_names(search->found);
	return err;
}

/* Tries all begins of names with so many markers; names are 4-aligned as markers are. */
static int try_names(struct search *search, const struct window *window,
		     const struct markers *markers)
{
	size_t last = marker(markers->at, markers->nr - 1, markers->wide);
	size_t most = last + BLOCK * (GUEST_NAME_MAX + 2);
	size_t room = (size_t)(markers->at - window->begin);
	int err = -ENOENT;

	if (room < last + 8)
		return -ENOENT;
	if (most > room - 8)
		most = room - 8;
	if (guest_memory_work(search->memory, (most - last) / 4))
		return -E2BIG;
	for (size_t back = guest_align(last, 4); back <= most && err == -ENOENT; back += 4)
		err = try_begin(search, window, markers, markers->at - back);
	return err;
}

static int try_markers(struct search *search, const struct window *window, const uint8_t *at,
		       size_t wide)
{
	struct markers markers = { at, count_markers(at, window->end, wide), wide };
	int err = -ENOENT;

	if (markers.nr < MARKERS_MIN)
		return -ENOENT;
	if (search->tries_markers++ >= TRIES_MARKERS ||
	    guest_memory_work(search->memory, markers.nr))
		return -E2BIG;
	for (int more = 0; more <= MARKERS_MORE && markers.nr >= MARKERS_MIN; more++) {
		err = try_names(search, window, &markers);
		if (err != -ENOENT)
			break;
		markers.nr--;
	}
	return err;
}

static int search_window(struct search *search, const struct window *window)
{
	int err = guest_memory_work(search->memory, (size_t)(window->end - window->begin) / 4);

	if (err)
		return err;
	err = -ENOENT;
	for (const uint8_t *at = window->end - 16; at >= window->begin && err == -ENOENT; at -= 4) {
		if (guest_u32(at))
			continue;
		err = try_markers(search, window, at, 4);
		if (err == -ENOENT)
			err = try_markers(search, window, at, 8);
	}
	return err;
}

/* The names of most kernels need the first window only. */
static int find_names(struct search *search, const struct guest_extent *extent)
{
	static const size_t sizes[] = { 4 * MIB, 8 * MIB, 16 * MIB, NAMES_MAX };
	uint64_t room = search->tokens_address - extent->begin;
	int err = -ENOENT;

	for (size_t i = 0; i < 4 && err == -ENOENT && (i == 0 || room > sizes[i - 1]); i++) {
		size_t size = room < sizes[i] ? room : sizes[i];
		uint8_t *bytes = xmalloc(size);
		struct window window = { bytes, bytes + size };

		err = guest_image_read(search->memory, search->image,
				       search->tokens_address - size, bytes, size);
		if (!err && size >= 16)
			err = search_window(search, &window);
		else if (!err)
			err = -ENOENT;
		free(bytes);
	}
	return err;
}

/* ---- tokens: the begin of the search */

/* Whether 256 strings begin here, digits and small letters as themselves, and then their index. */
static bool tokens_fit(struct guest_tables *tables, const uint8_t *begin, const uint8_t *end,
		       size_t *ret_index)
{
	const uint8_t *at = begin;

	for (int token = 0; token < GUEST_TOKENS; token++) {
		const uint8_t *first = at;

		if ((size_t)(at - begin) >= TOKENS_MAX)
			return false;
		tables->index[token] = (uint16_t)(at - begin);
		while (at < end && *at > ' ' && *at < 0x7f && at - first <= TOKEN_MAX)
			at++;
		if (at == first || at == end || *at++)
			return false;
		if ((isdigit(token) || (token < 0x80 && islower(token))) &&
		    (*first != token || first[1]))
			return false;
	}
	for (size_t pad = guest_align((size_t)(at - begin), 4); (size_t)(end - begin) >=
	     pad + sizeof(tables->index) && pad <= (size_t)(at - begin) + TOKENS_PAD; pad += 4) {
		if (memcmp(begin + pad, tables->index, sizeof(tables->index)) == 0) {
			*ret_index = pad;
			return true;
		}
	}
	return false;
}

#define DIGITS "\0000\0001\0002\0003\0004\0005\0006\0007\0008\0009" /* tokens, and a NUL before */

/* The tokens of the digits were found at `hit`: all tokens before them end there. */
static int try_tokens(struct search *search, const struct guest_extent *extent, uint64_t address,
		      const struct window *window, const uint8_t *hit)
{
	struct guest_tables *tables = search->found;
	const uint8_t *begin = hit;
	size_t strings = 0, index;
	int err = guest_memory_work(search->memory, TOKENS_MAX);

	if (err || search->tries_tokens++ >= TRIES_TOKENS)
		return -E2BIG;
	while (begin > window->begin && hit - begin < '0' * (TOKEN_MAX + 1)) {
		strings += !begin[-1];
		if (strings > '0')
			break;
		begin--;
	}
	begin = window->begin + guest_align((size_t)(begin - window->begin), 4);
	for (err = -ENOENT; begin < hit && err == -ENOENT; begin += 4) {
		if (tokens_fit(tables, begin, window->end, &index)) {
			free(tables->tokens);
			tables->tokens = xmalloc(index);
			memcpy(tables->tokens, begin, index);
			search->tokens_address = address + (size_t)(begin - window->begin);
			tables->index_address = search->tokens_address + index;
			err = find_names(search, extent);
		}
		if (memchr(begin, 0, 4))
			break;
	}
	return err;
}

#define CHUNK MIB
#define OVERLAP (2 * TOKENS_MAX) /* the tokens of the last chunk's end are whole in the next one */

static int search_extent(struct search *search, const struct guest_extent *extent)
{
	uint64_t whole = extent->end - extent->begin;
	uint8_t *bytes = xmalloc(whole < CHUNK + OVERLAP ? whole : CHUNK + OVERLAP);
	int err = -ENOENT;

	for (uint64_t at = extent->begin; at < extent->end && err == -ENOENT; at += CHUNK) {
		uint64_t rest = extent->end - at;
		size_t size = rest < CHUNK + OVERLAP ? rest : CHUNK + OVERLAP;
		struct window window = { bytes, bytes + size };
		const uint8_t *hit = bytes;

		err = guest_memory_work(search->memory, size / 8);
		if (!err)
			err = guest_image_read(search->memory, search->image, at, bytes, size);
		for (err = err ? err : -ENOENT; err == -ENOENT;) {
			hit = memmem(hit, (size_t)(window.end - hit), DIGITS, sizeof(DIGITS));
			if (!hit)
				break;
			err = try_tokens(search, extent, at, &window, ++hit);
		}
	}
	free(bytes);
	return err;
}

static int search_image(struct search *search)
{
	int err = -ENOENT;

	/* Read-only data first: in all kernels the tables are there. */
	for (int kind = 0; kind < 3 && err == -ENOENT; kind++) {
		for (size_t i = 0; i < search->image->nr && err == -ENOENT; i++) {
			const struct guest_extent *extent = &search->image->extents[i];

			if ((extent->is_executable ? 2 : extent->is_writable) == kind)
				err = search_extent(search, extent);
		}
	}
	return err;
}

int guest_tables_find(struct guest_memory *memory, const struct guest_image *image,
		      guest_tables_take_fn *take, void *arg, struct guest_tables *ret_tables)
{
	struct search search = { memory, image, take, arg, .found = ret_tables };
	int err;

	memset(ret_tables, 0, sizeof(*ret_tables));
	err = search_image(&search);
	if (err)
		guest_tables_release(ret_tables);
	return err;
}

void guest_tables_release(struct guest_tables *tables)
{
	drop_names(tables);
	free(tables->tokens);
	tables->tokens = NULL;
}
