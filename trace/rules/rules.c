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

static const struct {
	const char *name;
	enum rules_field field;
} field_names[] = {
	{ "tsc", FIELD_TSC },	  { "ts", FIELD_TSC },	 { "reltsc", FIELD_RELTSC },
	{ "relts", FIELD_RELTSC }, { "event", FIELD_EVENT }, { "pid", FIELD_PID },
	{ "vcpu", FIELD_VCPU },	  { "cpu", FIELD_CPU },	 { "vm", FIELD_VM },
};

/* ---- templates ---- */

/* A name, or the number of a word. */
static bool field_by_name(const char *name, size_t len, enum rules_field *ret_field)
{
	char *end = NULL;
	unsigned long number = *name > '0' && *name <= '9' ? strtoul(name, &end, 10) : 0;

	if (end == name + len && number <= RULES_WORDS) {
		*ret_field = FIELD_WORD + (enum rules_field)number - 1;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
		if (strlen(field_names[i].name) == len &&
		    memcmp(field_names[i].name, name, len) == 0) {
			*ret_field = field_names[i].field;
			return true;
		}
	}
	return false;
}

/* Reads "(name)", flags, a width and a letter: what is wrong with these; NULL: nothing. */
static const char *read_conversion(const char **at, struct rules_piece *piece)
{
	const char *close = strchr(*at, ')');

	if (**at != '(')
		return "a conversion without a field; write %(tsc)d, or \"%%\" for a percent sign";
	if (!close)
		return "a field's name without \")\"";
	if (!field_by_name(*at + 1, (size_t)(close - *at) - 1, &piece->field))
		return "unknown field; the fields are tsc, reltsc, event, pid, vcpu, cpu, vm and "
		       "1 to 16";
	for (*at = close + 1; **at && strchr("0-+ ", **at); ++*at) {
		piece->has_zeros |= **at == '0';
		piece->is_left |= **at == '-';
		piece->has_sign |= **at == '+';
		piece->has_blank |= **at == ' ';
	}
	for (; isdigit((unsigned char)**at); ++*at) {
		piece->width = 10 * piece->width + (**at - '0');
		if (piece->width > WIDTH_MAX)
			return "a width over 10000";
	}
	piece->conversion = **at;
	if (!**at || !strchr("diuxXosc", **at))
		return "unknown conversion; the conversions are d i u x X o s c, with 0 - + blank "
		       "and a width before them";
	++*at;
	return NULL;
}

/* What is wrong with the template; NULL: nothing. */
static const char *cut_template(struct print_rule *rule)
{
	const char *at = rule->template, *error = NULL;

	while (*at && !error) {
		struct rules_piece piece = { .text = at, .len = strcspn(at, "%") };

		at += piece.len;
		if (!piece.len) {
			piece.text = ++at;
			piece.len = *at == '%';
			at += piece.len;
		}
		if (!piece.len && !*at)
			return "a \"%\" at the end; write \"%%\" for a percent sign";
		if (!piece.len) {
			piece.text = NULL;
			error = read_conversion(&at, &piece);
		}
		*array_add(rule->pieces, rule->nr_pieces, rule->room) = piece;
	}
	return error;
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

/* Parses a line; it has no newline. What is wrong with it; NULL: nothing. */
static const char *parse_line(struct rules *rules, const char *line, const char *end)
{
	const char *word_end = skip(line, end, false), *error;
	const char *template = skip(word_end, end, true);
	struct print_rule *rule;
	uint64_t event;

	if (word_end == line)
		return "a rule begins with its event, without a blank before it";
	if (!read_event(line, (size_t)(word_end - line), &event))
		return "an event is a number: 65537 or 0x10001";
	if (template == end)
		return "an event without a template";
	rule = xcalloc(1, sizeof(*rule));
	rule->template = xstrndup(template, (size_t)(end - template));
	error = cut_template(rule);
	if (error)
		rule_free(rule);
	else
		add_rule(rules, event, rule);
	return error;
}

int rules_parse(const char *name, const char *text, size_t size, struct rules **ret_rules,
		struct error *error)
{
	const char *line = text, *end = text + size, *next;
	struct rules *rules = xcalloc(1, sizeof(*rules));
	int err = 0;

	for (size_t nr = 1; !err && line < end; nr++, line = next) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const char *wrong = NULL;

		next = newline ? newline + 1 : end;
		if (*line != '#' && *line != '\n')
			wrong = parse_line(rules, line, newline ? newline : end);
		if (wrong)
			err = error_set(error, -EINVAL, "%s:%zu: %s", name, nr, wrong);
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
