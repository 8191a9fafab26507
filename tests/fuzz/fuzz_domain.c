/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_domain - a file of libvirt, and XML in general.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "lib/xml.h"
#include "host/guest_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A text that is there is never empty, ends, and cleaning it again changes nothing. */
static void check(const char *text, size_t size)
{
	char again[WORD_SIZE];

	if (!memchr(text, '\0', size) || !utf8_clean(text, strlen(text), again, sizeof(again)) ||
	    strcmp(again, text))
		abort();
}

static void read_all(const char *text, size_t size)
{
	struct xml xml = { .at = text, .end = text + size };
	char value[WORD_SIZE];
	size_t nr = 0;

	while (xml_next(&xml)) {
		if (strlen(xml.path) != xml.path_len || xml.path_len >= sizeof(xml.path) ||
		    xml.raw < text || xml.raw + xml.raw_len > text + size || nr++ > size)
			abort();
		if (xml.is_element ? xml_attribute(&xml, "pid", value, sizeof(value)) :
				     xml_text(&xml, value, sizeof(value)))
			check(value, sizeof(value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest_words words = { { "" } };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_all(text, size);
	words_of_domain(text, size, 4242, &words);
	words_of_cmdline(text, size, &words);
	words_of_cgroup(text, &words);
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		if (words.text[i][0])
			check(words.text[i], sizeof(words.text[i]));
	free(text);
	return 0;
}
