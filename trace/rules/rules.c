// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file of rules: lines of an event and a template, cut into pieces once. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/file.h"
#include "trace/rules/rules.h"

#define WIDTH_MAX 10000
#define FILE_SIZE_MAX (16u << 20)

/* A position in a template, and the error found there. */
struct text_cursor {
	const char *at, *end;
	const char *error;
};

static const struct {
	const char *name;
	enum rules_field field;
} field_names[] = {
	{ "tsc", FIELD_TSC },	  { "ts", FIELD_TSC },	 { "reltsc", FIELD_RELTSC },
	{ "relts", FIELD_RELTSC }, { "event", FIELD_EVENT }, { "pid", FIELD_PID },
	{ "vcpu", FIELD_VCPU },	  { "cpu", FIELD_CPU },	 { "vm", FIELD_VM },
};

/* ---- templates ---- */

static bool fail(struct text_cursor *cursor, const char *error)
{
	cursor->error = error;
	return false;
}

/* "1" to "16". */
static bool word_by_name(const char *name, size_t len, enum rules_field *ret_field)
{
	unsigned int number = 0;

	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)name[i]) || i >= 2)
			return false;
		number = 10 * number + (unsigned int)(name[i] - '0');
	}
	if (name[0] == '0' || number < 1 || number > RULES_WORDS)
		return false;
	*ret_field = FIELD_WORD + number - 1;
	return true;
}

static bool field_by_name(const char *name, size_t len, enum rules_field *ret_field)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
		if (strlen(field_names[i].name) == len &&
		    memcmp(field_names[i].name, name, len) == 0) {
			*ret_field = field_names[i].field;
			return true;
		}
	}
	return len && word_by_name(name, len, ret_field);
}

/* "(name)" */
static bool read_field(struct text_cursor *cursor, struct rules_piece *piece)
{
	const char *close;

	if (cursor->at == cursor->end || *cursor->at != '(')
		return fail(cursor, "a conversion without a field; write %(tsc)d, or \"%%\" for a "
			    "percent sign");
	cursor->at++;
	close = memchr(cursor->at, ')', (size_t)(cursor->end - cursor->at));
	if (!close)
		return fail(cursor, "a field's name without \")\"");
	if (!field_by_name(cursor->at, (size_t)(close - cursor->at), &piece->field))
		return fail(cursor, "unknown field; the fields are tsc, reltsc, event, pid, "
			    "vcpu, cpu, vm and 1 to 16");
	cursor->at = close + 1;
	return true;
}

static void read_flags(struct text_cursor *cursor, struct rules_piece *piece)
{
	for (; cursor->at < cursor->end; cursor->at++) {
		switch (*cursor->at) {
		case '0':
			piece->has_zeros = true;
			break;
		case '-':
			piece->is_left = true;
			break;
		case '+':
			piece->has_sign = true;
			break;
		case ' ':
			piece->has_blank = true;
			break;
		default:
			return;
		}
	}
}

static bool read_width(struct text_cursor *cursor, struct rules_piece *piece)
{
	for (; cursor->at < cursor->end && isdigit((unsigned char)*cursor->at); cursor->at++) {
		piece->width = 10 * piece->width + (*cursor->at - '0');
		if (piece->width > WIDTH_MAX)
			return fail(cursor, "a width over 10000");
	}
	return true;
}

static bool read_conversion(struct text_cursor *cursor, struct rules_piece *piece)
{
	piece->conversion = cursor->at < cursor->end ? *cursor->at++ : '\0';
	return (piece->conversion && strchr("diuxXosc", piece->conversion)) ||
	       fail(cursor, "unknown conversion; the conversions are d i u x X o s c, with 0 - + "
			    "blank and a width before them");
}

/* Parses a conversion, from what follows its "%". */
static bool read_piece(struct text_cursor *cursor, struct rules_piece *piece)
{
	*piece = (struct rules_piece){ .text = NULL };
	if (cursor->at == cursor->end)
		return fail(cursor, "a \"%\" at the end; write \"%%\" for a percent sign");
	if (*cursor->at == '%') {
		piece->text = cursor->at++;
		piece->len = 1;
		return true;
	}
	if (!read_field(cursor, piece))
		return false;
	read_flags(cursor, piece);
	return read_width(cursor, piece) && read_conversion(cursor, piece);
}

static void add_piece(struct print_rule *rule, const struct rules_piece *piece)
{
	array_grow(&rule->pieces, &rule->room, rule->nr_pieces + 1);
	rule->pieces[rule->nr_pieces++] = *piece;
}

/* Text up to the next "%" or the end. */
static void add_text(struct print_rule *rule, struct text_cursor *cursor)
{
	const char *percent = memchr(cursor->at, '%', (size_t)(cursor->end - cursor->at));
	const char *end = percent ? percent : cursor->end;
	const struct rules_piece piece = {
		.text = cursor->at,
		.len = (size_t)(end - cursor->at),
	};

	cursor->at = end;
	if (piece.len)
		add_piece(rule, &piece);
}

/* Returns 0, or -EINVAL with cursor->error. */
static int cut_template(struct print_rule *rule, struct text_cursor *cursor)
{
	struct rules_piece piece;

	for (;;) {
		add_text(rule, cursor);
		if (cursor->at == cursor->end)
			return 0;
		cursor->at++;
		if (!read_piece(cursor, &piece))
			return -EINVAL;
		add_piece(rule, &piece);
	}
}

/* ---- lines ---- */

static void rule_free(struct print_rule *rule)
{
	if (!rule)
		return;
	free(rule->template);
	free(rule->pieces);
	free(rule);
}

/* Skip the blanks (Python's \s), or the word, at the beginning of the text. */
static const char *skip(const char *at, const char *end, bool blanks)
{
	while (at < end && (*at && strchr(" \t\r\f\v", *at) != NULL) == blanks)
		at++;
	return at;
}

/* The whole word must be a number. */
static bool read_event(const char *word, size_t len, uint64_t *ret_event)
{
	char text[32], *end;

	if (len >= sizeof(text) || !isdigit((unsigned char)*word))
		return false;
	memcpy(text, word, len);
	text[len] = '\0';
	errno = 0;
	*ret_event = strtoull(text, &end, 0);
	return !errno && end == text + len;
}

static int rule_new(const char *template, size_t len, struct print_rule **ret_rule,
		    const char **error)
{
	struct print_rule *rule = xcalloc(1, sizeof(*rule));
	struct text_cursor cursor = { .error = "" };
	int err;

	rule->template = xmalloc(len + 1);
	memcpy(rule->template, template, len);
	rule->template[len] = '\0';
	cursor.at = rule->template;
	cursor.end = rule->template + len;
	err = cut_template(rule, &cursor);
	if (err) {
		*error = cursor.error;
		rule_free(rule);
		return err;
	}
	*ret_rule = rule;
	return 0;
}

/* Adds a rule, or replaces an earlier rule for its event. Takes ownership of the rule. */
static void add_rule(struct rules *rules, uint64_t event, struct print_rule *rule)
{
	struct print_rule *old;

	rule->event = event;
	HASH_FIND(hh, rules->by_event, &event, sizeof(event), old);
	if (old) {
		HASH_DEL(rules->by_event, old);
		rule_free(old);
	}
	HASH_ADD(hh, rules->by_event, event, sizeof(event), rule);
}

/* Parses a line; it has no newline. */
static int parse_line(struct rules *rules, const char *line, const char *end, const char **error)
{
	const char *word_end = skip(line, end, false);
	const char *template = skip(word_end, end, true);
	struct print_rule *rule = NULL;
	uint64_t event = 0;
	int err;

	if (word_end == line)
		*error = "a rule begins with its event, without a blank before it";
	else if (!read_event(line, (size_t)(word_end - line), &event))
		*error = "an event is a number: 65537 or 0x10001";
	else if (template == end)
		*error = "an event without a template";
	if (**error)
		return -EINVAL;
	err = rule_new(template, (size_t)(end - template), &rule, error);
	if (!err)
		add_rule(rules, event, rule);
	return err;
}

int rules_parse(const char *name, const char *text, size_t size, struct rules **ret_rules,
		struct error *error)
{
	const char *line = text, *end = text + size, *next;
	struct rules *rules = xcalloc(1, sizeof(*rules));
	int err = 0;

	for (size_t nr = 1; !err && line < end; nr++, line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *wrong = "";

		next = newline ? newline + 1 : end;
		if (*line != '#' && *line != '\n')
			err = parse_line(rules, line, newline ? newline : end, &wrong);
		if (err == -EINVAL)
			error_set(error, err, "%s:%zu: %s", name, nr, wrong);
	}
	if (err)
		rules_free(rules);
	else
		*ret_rules = rules;
	return err;
}

int rules_read(const char *path, struct rules **ret_rules, struct error *error)
{
	char *text;
	size_t size;
	int err = read_whole(path, FILE_SIZE_MAX, &text, &size);

	if (err)
		return error_set(error, err, "%s: %s", path, strerror(-err));
	err = rules_parse(path, text, size, ret_rules, error);
	free(text);
	return err;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	hash_free(rules->by_event, rule_free);
	free(rules);
}
