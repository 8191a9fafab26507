// SPDX-License-Identifier: GPL-2.0-or-later
/* Regular expressions by PCRE2. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pattern.h"
#include "lib/xalloc.h"

/*
 * A user's pattern must not hang the screen or use up the memory: patterns like (a+)+$ end at these
 * limits. A query tries hundreds of names; a limit is reached in a fraction of a millisecond.
 */
#define MATCH_LIMIT 10000
#define HEAP_LIMIT_KIB 16384

#define TEXT_SHOWN 70 /* of a long pattern, so that the message has room for the error */

struct pattern {
	char *text;
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_match_context_free(pattern->context);
	pcre2_match_data_free(pattern->data);
	pcre2_code_free(pattern->code);
	free(pattern->text);
	free(pattern);
}

int pattern_new(const char *text, struct pattern **ret_pattern, struct why *why)
{
	struct pattern *pattern;
	int error = 0;
	PCRE2_SIZE offset = 0;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
					 PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &error, &offset,
					 NULL);

	if (!code) {
		char message[120];

		pcre2_get_error_message(error, (PCRE2_UCHAR *)message, sizeof(message));
		return why_set(why, -EINVAL,
			       "\"%.*s%s\" is not a valid regular expression: %s at position %zu",
			       TEXT_SHOWN, text, strlen(text) > TEXT_SHOWN ? "..." : "", message,
			       offset + 1);
	}
	pattern = xcalloc(1, sizeof(*pattern));
	pattern->code = code;
	pattern->text = xstrdup(text);
	pattern->data = pcre2_match_data_create_from_pattern(code, NULL);
	pattern->context = pcre2_match_context_create(NULL);
	if (!pattern->data || !pattern->context)
		out_of_memory();
	pcre2_set_match_limit(pattern->context, MATCH_LIMIT);
	pcre2_set_heap_limit(pattern->context, HEAP_LIMIT_KIB);
	*ret_pattern = pattern;
	return 0;
}

const char *pattern_text(const struct pattern *pattern)
{
	return pattern->text;
}

long pattern_match(const struct pattern *pattern, const char *subject)
{
	size_t len = strlen(subject);
	int n;

	if (strcmp(pattern->text, subject) == 0)
		return (long)len;
	n = pcre2_match(pattern->code, (PCRE2_SPTR)subject, len, 0, 0, pattern->data,
			pattern->context);

	return n > 0 ? (long)pcre2_get_ovector_pointer(pattern->data)[1] : -1;
}
