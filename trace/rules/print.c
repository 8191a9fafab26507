// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills templates with records. The output is the same as that of Python's % operator.
 *
 * Python's numbers differ from C's: the 0 flag works with a precision, too, but not with the -
 * flag; a sign and "0x" come before the zeros; hexadecimal numbers are signed.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/rules/rules.h"

#define TEXT_MAX 256 /* a number with its precision */

/* A field's value: an int, long or float of Python. */
struct value {
	bool is_float, is_negative;
	uint64_t magnitude;
	double real;
};

/* A converted value before it is padded to the width. */
struct laid {
	char sign; /* 0: none */
	char prefix[3];
	const char *text;
	size_t len;
};

/* ---- records: their payload as words, as kvmtrace_format and the other scripts split it ---- */

/* ACRN's 16 bytes are 2 or 4 numbers, or 16 bytes, which are signed if they are a text. */
static void set_acrn_words(struct rules_record *record, const struct trace *trace,
			   const struct trace_event *event)
{
	const uint8_t *data = event->data;

	switch (event->words) {
	case 2:
		for (unsigned int i = 0; i < 2; i++)
			record->words[i] = trace_word(trace, event, 2 * i) |
					   (uint64_t)trace_word(trace, event, 2 * i + 1) << 32;
		break;
	case 4:
		for (unsigned int i = 0; i < 4; i++)
			record->words[i] = trace_word(trace, event, i);
		break;
	default:
		record->is_signed = event->words == 16 || event->words == 0;
		for (size_t i = 0; i < event->size; i++)
			record->words[i] = record->is_signed ? (uint64_t)(int8_t)data[i] : data[i];
		break;
	}
}

/* A branch of ACRN has VM, vCPU, kind and CPU in a record; other versions the CPU, or nothing. */
static void set_acrn(struct rules_record *record, const struct trace *trace,
		     const struct trace_event *event)
{
	bool has_vm = event->vcpu >= 0;

	record->vm = has_vm ? (uint32_t)event->pid : 0;
	record->vcpu = has_vm ? (uint32_t)event->vcpu : 0;
	record->cpu = has_vm || event->words ? (uint32_t)event->cpu : 0;
	set_acrn_words(record, trace, event);
}

void rules_record_set(struct rules_record *record, const struct trace *trace,
		      const struct trace_event *event)
{
	*record = (struct rules_record){
		.kind = trace_file(trace, event->file)->kind,
		.event = event->id,
		.tsc = event->has_time ? event->time : 0,
		.has_tsc = event->has_time,
	};
	if (record->kind == TRACE_ACRN) {
		set_acrn(record, trace, event);
		return;
	}
	for (unsigned int i = 0; i < event->words; i++)
		record->words[i] = trace_word(trace, event, i);
	if (record->kind == TRACE_XENTRACE) {
		record->cpu = (uint32_t)event->cpu;
	} else {
		record->pid = (uint32_t)event->pid;
		record->vcpu = (uint32_t)event->vcpu;
	}
}

/* ---- values ---- */

static bool is_python3(const struct rules_values *values)
{
	return values->record->kind == TRACE_ACRN;
}

static struct value unsigned_value(uint64_t number)
{
	return (struct value){ .magnitude = number };
}

static struct value word_value(const struct rules_record *record, size_t i)
{
	uint64_t word = record->words[i];
	bool is_negative = record->is_signed && (int64_t)word < 0;

	return (struct value){ .is_negative = is_negative,
			       .magnitude = is_negative ? -word : word };
}

static struct value tsc_value(const struct rules_values *values)
{
	uint64_t tsc = values->record->tsc;

	if (!values->mhz)
		return unsigned_value(tsc);
	return (struct value){ .is_float = true,
			       .real = (double)tsc / ((double)values->mhz * 1000000.0) };
}

static struct value field_value(const struct rules_values *values, enum rules_field field)
{
	const struct rules_record *record = values->record;

	switch (field) {
	case FIELD_TSC:
		return tsc_value(values);
	case FIELD_RELTSC:
		return (struct value){ .is_negative = values->reltsc_is_negative,
				       .magnitude = values->reltsc };
	case FIELD_EVENT:
		return unsigned_value(record->event);
	case FIELD_PID:
		return unsigned_value(record->pid);
	case FIELD_VCPU:
		return unsigned_value(record->vcpu);
	case FIELD_CPU:
		return unsigned_value(record->cpu);
	case FIELD_VM:
		return unsigned_value(record->vm);
	default:
		return word_value(record, field - FIELD_WORD);
	}
}

static double real_of(const struct value *value)
{
	if (value->is_float)
		return value->real;
	return value->is_negative ? -(double)value->magnitude : (double)value->magnitude;
}

/* ---- conversions ---- */

/* str() and repr() of a float have these digits, and always a point or an exponent. */
static int float_text(double real, bool is_repr, char *buf, size_t size)
{
	int digits = is_repr ? 1 : 12, n = 0, exponent;

	if (!is_repr) {
		n = snprintf(buf, size, "%.12g", real);
	} else {
		do
			n = snprintf(buf, size, "%.*e", digits - 1, real);
		while (strtod(buf, NULL) != real && digits++ < 17);
		exponent = atoi(strchr(buf, 'e') + 1);
		if (exponent >= -4 && exponent < 16)
			n = snprintf(buf, size, "%.*f",
				     digits - 1 > exponent ? digits - 1 - exponent : 0, real);
	}
	if (!strpbrk(buf, ".en"))
		n += snprintf(buf + n, size - (size_t)n, ".0");
	return n;
}

/* str() or repr() of a value; repr() of Python 2 marks a long with L. */
static int value_text(const struct rules_values *values, const struct value *value, bool is_repr,
		      char *buf, size_t size)
{
	bool is_long = value->magnitude > (uint64_t)INT64_MAX + value->is_negative;

	if (value->is_float)
		return float_text(value->real, is_repr, buf, size);
	return snprintf(buf, size, "%s%" PRIu64 "%s", value->is_negative ? "-" : "",
			value->magnitude,
			is_repr && is_long && !is_python3(values) ? "L" : "");
}

/* The digits of a number, with leading zeros up to the precision. */
static size_t digits_text(uint64_t number, unsigned int base, bool is_upper, int min, char *buf)
{
	const char *digits = is_upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char reversed[64];
	size_t n = 0, len = 0;

	for (; number; number /= base)
		reversed[n++] = digits[number % base];
	while (len + n < (size_t)min)
		buf[len++] = '0';
	while (n)
		buf[len++] = reversed[--n];
	buf[len] = '\0';
	return len;
}

static void lay_integer(const struct rules_values *values, const struct rules_piece *piece,
			const struct value *value, char *buf, struct laid *laid)
{
	bool is_hex = tolower(piece->conversion) == 'x', is_octal = piece->conversion == 'o';
	uint64_t number = value->is_float ? (uint64_t)value->real : value->magnitude;
	/* Python 2 prints no digit of a 0 with the precision 0. */
	int min = piece->precision < 0 || (piece->precision == 0 && is_python3(values)) ?
		1 : piece->precision;

	laid->len = digits_text(number, is_hex ? 16 : is_octal ? 8 : 10, piece->conversion == 'X',
				min, buf);
	laid->text = buf;
	if (value->is_negative)
		laid->sign = '-';
	if (!piece->is_alternate)
		return;
	if (is_hex || (is_octal && is_python3(values)))
		snprintf(laid->prefix, sizeof(laid->prefix), "0%c", piece->conversion);
	else if (is_octal && buf[0] != '0')
		laid->len = digits_text(number, 8, false, (int)laid->len + 1, buf);
}

static void lay_float(const struct rules_piece *piece, const struct value *value, char *buf,
		      struct laid *laid)
{
	int precision = piece->precision < 0 ? 6 : piece->precision, n;
	bool is_alternate = piece->is_alternate;
	double real = real_of(value);

	if (value->is_negative)
		laid->sign = '-';
	real = fabs(real);
	switch (tolower(piece->conversion)) {
	case 'e':
		n = snprintf(buf, TEXT_MAX, is_alternate ? "%#.*e" : "%.*e", precision, real);
		break;
	case 'f':
		n = snprintf(buf, TEXT_MAX, is_alternate ? "%#.*f" : "%.*f", precision, real);
		break;
	default:
		n = snprintf(buf, TEXT_MAX, is_alternate ? "%#.*g" : "%.*g", precision, real);
		break;
	}
	for (char *at = buf; isupper((unsigned char)piece->conversion) && *at; at++)
		*at = (char)toupper((unsigned char)*at);
	laid->text = buf;
	laid->len = (size_t)n;
}

/* A character; in Python 2, a byte. An invalid number becomes "?"; Python would raise an error. */
static void lay_character(const struct rules_values *values, const struct value *value, char *buf,
			  struct laid *laid)
{
	uint64_t code = value->magnitude;
	bool is_wide = is_python3(values);
	size_t n = 0;

	if (value->is_float || value->is_negative || code > (is_wide ? 0x10ffffu : 255u) ||
	    (is_wide && code >= 0xd800 && code <= 0xdfff))
		code = '?';
	if (!is_wide || code < 0x80) {
		buf[n++] = (char)code;
	} else if (code < 0x800) {
		buf[n++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		buf[n++] = (char)(0xe0 | code >> 12);
		buf[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		buf[n++] = (char)(0xf0 | code >> 18);
		buf[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		buf[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (is_wide && code >= 0x80)
		buf[n++] = (char)(0x80 | (code & 0x3f));
	laid->text = buf;
	laid->len = n;
}

/* ---- lines ---- */

static void put(FILE *out, char c, size_t n)
{
	while (n--)
		putc_unlocked(c, out);
}

static void print_laid(const struct rules_piece *piece, const struct laid *laid, FILE *out)
{
	size_t len = (laid->sign != 0) + strlen(laid->prefix) + laid->len;
	size_t pad = (size_t)piece->width > len ? (size_t)piece->width - len : 0;
	bool is_number = !strchr("csr%", piece->conversion);
	bool has_zeros = piece->has_zeros && is_number && !piece->is_left;

	if (!has_zeros && !piece->is_left)
		put(out, ' ', pad);
	put(out, laid->sign, laid->sign != 0);
	fputs_unlocked(laid->prefix, out);
	if (has_zeros)
		put(out, '0', pad);
	fwrite_unlocked(laid->text, 1, laid->len, out);
	if (piece->is_left)
		put(out, ' ', pad);
}

static void print_text(const struct rules_values *values, const struct rules_piece *piece,
		       FILE *out)
{
	struct value value = field_value(values, piece->field);
	char buf[TEXT_MAX];
	struct laid laid = { .text = buf };

	laid.len = (size_t)value_text(values, &value, piece->conversion == 'r', buf, sizeof(buf));
	if (piece->precision >= 0 && laid.len > (size_t)piece->precision)
		laid.len = (size_t)piece->precision;
	print_laid(piece, &laid, out);
}

static void print_number(const struct rules_values *values, const struct rules_piece *piece,
			 FILE *out)
{
	struct value value = field_value(values, piece->field);
	char buf[TEXT_MAX];
	struct laid laid = { 0 };

	if (strchr("eEfFgG", piece->conversion))
		lay_float(piece, &value, buf, &laid);
	else
		lay_integer(values, piece, &value, buf, &laid);
	if (!laid.sign && piece->has_sign)
		laid.sign = '+';
	else if (!laid.sign && piece->has_blank)
		laid.sign = ' ';
	print_laid(piece, &laid, out);
}

static void print_piece(const struct rules_values *values, const struct rules_piece *piece,
			FILE *out)
{
	struct laid laid = { .text = "%", .len = 1 };
	struct value value;
	char buf[8];

	if (piece->text) {
		fwrite_unlocked(piece->text, 1, piece->len, out);
		return;
	}
	switch (piece->conversion) {
	case '%':
		print_laid(piece, &laid, out);
		break;
	case 'c':
		value = field_value(values, piece->field);
		lay_character(values, &value, buf, &laid);
		print_laid(piece, &laid, out);
		break;
	case 's':
	case 'r':
		print_text(values, piece, out);
		break;
	default:
		print_number(values, piece, out);
		break;
	}
}

static const struct print_rule *find_rule(const struct rules *rules, uint64_t event,
					  enum trace_kind kind)
{
	const struct print_rule *rule;

	HASH_FIND(hh, rules->by_event, &event, sizeof(event), rule);
	if (rule || kind == TRACE_ACRN)
		return rule;
	event = 0;
	HASH_FIND(hh, rules->by_event, &event, sizeof(event), rule);
	return rule;
}

void rules_print(const struct rules *rules, const struct rules_values *values, FILE *out)
{
	const struct print_rule *rule = find_rule(rules, values->record->event,
						  values->record->kind);

	if (!rule)
		return;
	for (size_t i = 0; i < rule->nr_pieces; i++)
		print_piece(values, &rule->pieces[i], out);
	putc_unlocked('\n', out);
}
