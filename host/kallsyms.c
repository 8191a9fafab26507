// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads lines of address, type, name and, of a module, [module]; sorts them by address. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "host/kallsyms.h"
#include "lib/file.h"
#include "lib/number.h"
#include "lib/text.h"
#include "lib/xalloc.h"

#define FILE_MAX ((size_t)64 << 20)
#define DIGITS_MAX 16
#define LAST_BYTES 0x10000 /* how long the last function may be: nothing says where it ends */

struct symbol {
	uint64_t address;
	const char *name, *module; /* module: NULL: the kernel itself */
	uint32_t line;
	bool is_function;
};

struct kallsyms {
	char *text; /* has the names */
	struct symbol *list;
	size_t nr, room;
};

void kallsyms_free(struct kallsyms *symbols)
{
	if (!symbols)
		return;
	free(symbols->text);
	free(symbols->list);
	free(symbols);
}

/* Ends a word of printable characters with NUL. Returns what follows it; NULL: no word. */
static char *take_word(char *at, char **ret_word)
{
	*ret_word = at;
	while (*at > ' ' && *at < 0x7f)
		at++;
	if (at == *ret_word)
		return NULL;
	return at;
}

/* "[e1000]" */
static bool take_module(char *text, const char **ret_module)
{
	char *word, *end = take_word(text, &word);

	*ret_module = word;
	return end && !*end && word[0] == '[' && end[-1] == ']' && end - word > 2;
}

/* "ffffffff81000000 T startup_64", "ffffffffc0000000 t e1000_intr\t[e1000]" */
static bool parse_line(char *line, struct symbol *ret_symbol)
{
	size_t digits = strspn(line, "0123456789abcdef");
	char *name = line + digits + 3, *end;

	if (!digits || digits > DIGITS_MAX || line[digits] != ' ' || line[digits + 1] <= ' ' ||
	    line[digits + 1] > '~' || line[digits + 2] != ' ')
		return false;
	end = take_word(name, &name);
	if (!end || (*end && *end != '\t') || (*end && !take_module(end + 1, &ret_symbol->module)))
		return false;
	*end = '\0';
	ret_symbol->address = strtoull(line, NULL, 16);
	ret_symbol->name = name;
	ret_symbol->is_function = strchr("tTwW", line[digits + 1]);
	return true;
}

static bool add_line(struct kallsyms *symbols, char *line, uint32_t number)
{
	struct symbol symbol = { .line = number };

	if (!parse_line(line, &symbol))
		return false;
	if (!symbol.address) /* hidden, or a thing of each CPU */
		return true;
	*array_add(symbols->list, symbols->nr, symbols->room) = symbol;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return compared(x->address, y->address) ?: compared(y->is_function, x->is_function) ?:
	       compared(x->line, y->line);
}

static int add_lines(struct kallsyms *symbols, size_t size, const char *path, struct error *error)
{
	char *at = symbols->text, *end = at + size, *next;

	for (uint32_t number = 1; at < end; number++, at = next) {
		char *newline = memchr(at, '\n', (size_t)(end - at));

		next = newline ? newline + 1 : end;
		if (newline)
			*newline = '\0';
		/* A NUL within the line would hide its end. */
		if (strlen(at) != (size_t)((newline ? newline : end) - at) ||
		    !add_line(symbols, at, number))
			return error_set(error, -EINVAL, "%s: line %" PRIu32 " is not one of "
						     "/proc/kallsyms: copy the guest's again",
						     path, number);
	}
	if (!symbols->nr)
		return error_set(error, -ENODATA, "%s: it has no addresses: copy the guest's "
					      "/proc/kallsyms as root", path);
	qsort(symbols->list, symbols->nr, sizeof(*symbols->list), compare);
	return 0;
}

int kallsyms_parse(char *text, size_t size, const char *path, struct kallsyms **ret_symbols,
		   struct error *error)
{
	struct kallsyms *symbols = xcalloc(1, sizeof(*symbols));
	int err;

	symbols->text = text;
	err = add_lines(symbols, size, path, error);
	if (err)
		kallsyms_free(symbols);
	else
		*ret_symbols = symbols;
	return err;
}

int kallsyms_read(const char *path, struct kallsyms **ret_symbols, struct error *error)
{
	char *text;
	size_t size;
	int err = read_whole(path, FILE_MAX, &text, &size);

	if (err)
		return error_set(error, err, "cannot read %s: %s", path, strerror(-err));
	return kallsyms_parse(text, size, path, ret_symbols, error);
}

/* The function at an address; NULL: no function is there. */
static const struct symbol *find_symbol(const struct kallsyms *symbols, uint64_t address)
{
	size_t nr = array_lower_bound(symbols->nr, i, symbols->list[i].address <= address), first;
	const struct symbol *symbol;

	if (!nr)
		return NULL;
	/* An address with several names has the first one, as in the kernel. */
	first = array_lower_bound(nr, i,
				  symbols->list[i].address < symbols->list[nr - 1].address);
	symbol = &symbols->list[first];
	if (!symbol->is_function ||
	    (nr == symbols->nr && address - symbol->address >= LAST_BYTES))
		return NULL;
	return symbol;
}

bool kallsyms_has(const struct kallsyms *symbols, const char *name, uint64_t address)
{
	size_t nr = array_lower_bound(symbols->nr, i, symbols->list[i].address <= address);

	for (; nr && symbols->list[nr - 1].address == address; nr--) {
		if (strcmp(symbols->list[nr - 1].name, name) == 0)
			return true;
	}
	return false;
}

bool kallsyms_name(const struct kallsyms *symbols, uint64_t address, char *buf, size_t size)
{
	const struct symbol *symbol = find_symbol(symbols, address);

	if (!symbol)
		return false;
	name_put(buf, size, "%s+0x%" PRIx64 "%s%s", symbol->name, address - symbol->address,
		 symbol->module ? " " : "", symbol->module ? symbol->module : "");
	return true;
}

const char *kallsyms_function(const struct kallsyms *symbols, uint64_t address)
{
	const struct symbol *symbol = find_symbol(symbols, address);

	return symbol ? symbol->name : NULL;
}
