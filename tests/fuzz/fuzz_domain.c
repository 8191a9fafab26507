/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_domain - words of platforms: libvirt's file, arguments, a cgroup.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guest_words words = { { "" } };
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	words_of_domain(text, size, 4242, &words);
	words_of_cmdline(text, size, &words);
	words_of_cgroup(text, &words);
	for (unsigned int i = 0; i < GUEST_WORDS; i++)
		if (words.text[i][0])
			check(words.text[i], sizeof(words.text[i]));
	free(text);
	return 0;
}
