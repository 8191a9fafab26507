// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills templates with records. As Python has it, hexadecimal numbers are signed, too. */
#include <inttypes.h>
#include <string.h>

#include "trace/rules/rules.h"

struct rule_value {
	bool is_negative;
	uint64_t magnitude;
	double seconds; /* of a TSC with a frequency, whose magnitude is cut; else 0 */
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
	record->pid = (uint32_t)event->pid;
	record->vcpu = (uint32_t)event->vcpu;
}

/* ---- values ---- */

static struct rule_value unsigned_value(uint64_t number)
{
	return (struct rule_value){ .magnitude = number };
}

static struct rule_value word_value(const struct rules_record *record, size_t i)
{
	uint64_t word = record->words[i];
	bool is_negative = record->is_signed && (int64_t)word < 0;

	return (struct rule_value){ .is_negative = is_negative,
			       .magnitude = is_negative ? -word : word };
}

static struct rule_value tsc_value(const struct rules_values *values)
{
	uint64_t tsc = values->record->tsc, hz = values->mhz * 1000000;

	if (!hz)
		return unsigned_value(tsc);
	return (struct rule_value){ .magnitude = tsc / hz, .seconds = (double)tsc / (double)hz };
}

static struct rule_value field_value(const struct rules_values *values, enum rules_field field)
{
	const struct rules_record *record = values->record;

	switch (field) {
	case FIELD_TSC:
		return tsc_value(values);
	case FIELD_RELTSC:
		return (struct rule_value){ .is_negative = values->reltsc_is_negative,
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

/* ---- lines ---- */

static size_t value_text(const struct rule_value *value, char conversion, char *buf, size_t size)
{
	uint64_t number = value->magnitude;
	bool is_ascii = !value->is_negative && number < 128;

	switch (conversion) {
	case 'x':
		return (size_t)snprintf(buf, size, "%" PRIx64, number);
	case 'X':
		return (size_t)snprintf(buf, size, "%" PRIX64, number);
	case 'o':
		return (size_t)snprintf(buf, size, "%" PRIo64, number);
	case 'c':
		return (size_t)snprintf(buf, size, "%c", is_ascii ? (int)number : '?');
	default:
		if (conversion == 's' && value->seconds > 0)
			return (size_t)snprintf(buf, size, "%.12g", value->seconds);
		return (size_t)snprintf(buf, size, "%" PRIu64, number);
	}
}

static void put_repeated(FILE *out, char c, size_t n)
{
	while (n--)
		putc_unlocked(c, out);
}

static void print_piece(const struct rules_values *values, const struct rules_piece *piece,
			FILE *out)
{
	bool is_number = piece->conversion != 's' && piece->conversion != 'c';
	struct rule_value value;
	char sign = '\0', text[32];
	size_t len, pad;

	if (piece->text) {
		fwrite_unlocked(piece->text, 1, piece->len, out);
		return;
	}
	value = field_value(values, piece->field);
	len = value_text(&value, piece->conversion, text, sizeof(text));
	if (value.is_negative && piece->conversion != 'c')
		sign = '-';
	else if (is_number)
		sign = piece->has_sign ? '+' : piece->has_blank ? ' ' : '\0';
	pad = (size_t)piece->width > len + !!sign ? (size_t)piece->width - len - !!sign : 0;
	if (!piece->is_left && !(piece->has_zeros && is_number))
		put_repeated(out, ' ', pad);
	put_repeated(out, sign, !!sign);
	if (!piece->is_left && piece->has_zeros && is_number)
		put_repeated(out, '0', pad);
	fwrite_unlocked(text, 1, len, out);
	if (piece->is_left)
		put_repeated(out, ' ', pad);
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
