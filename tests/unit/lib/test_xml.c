// SPDX-License-Identifier: GPL-2.0-or-later
/* XML as programs write it, and where reading stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/array.h"
#include "lib/xml.h"
#include "tests/unit/unit.h"

/* All of a document in one line: an element as PATH[value of "n"], a text as PATH=TEXT. */
static void read_all(const char *document, char *line, size_t size)
{
	struct xml xml = { .at = document, .end = document + strlen(document) };
	char text[64];
	size_t at = 0;

	line[0] = '\0';
	while (xml_next(&xml) && at < size) {
		if (xml.is_element) {
			bool has_n = xml_attribute(&xml, "n", text, sizeof(text));

			at += (size_t)snprintf(line + at, size - at, "%s[%s] ", xml.path,
					       has_n ? text : "");
		} else if (xml_text(&xml, text, sizeof(text))) {
			at += (size_t)snprintf(line + at, size - at, "%s=%s ", xml.path, text);
		}
	}
	assert_false(xml_next(&xml)); /* an end stays one */
}

static void documents(void **state)
{
	static const struct {
		const char *document, *line;
	} cases[] = {
		{ "<a/>", "a[] " },
		{ "<a></a>", "a[] " },
		{ "<a n='1'>x<b n=\"2\" m='3'/>y</a>", "a[1] a=x a/b[2] a=y " },
		{ "<a m='n=\"4\"' n = '5' ><b>z</b ></a\n>", "a[5] a/b[] a/b=z " },
		{ "<?xml version='1.0'?>\n<!-- <x> -- --><a><!----><b/></a>", "a[] a/b[] " },
		{ "<nova:a xmlns:nova='u'><nova:b/></nova:a>", "nova:a[] nova:a/nova:b[] " },
		{ "<a n='a&amp;b&lt;&gt;&quot;&apos;'/>", "a[a&b<>\"'] " },
		{ "<a>&#65;&#x42;&#xe9;&#x20ac;&#x1f600;</a>", "a[] a=AB\u00e9\u20ac\U0001f600 " },
		/* What stands for no character stays as it is. */
		{ "<a>&x; &; &#; &#x; &#0; &#1f; &#xg; &#x110000; & &lt</a>",
		  "a[] a=&x; &; &#; &#x; &#0; &#1f; &#xg; &#x110000; & &lt " },
		{ "<a>&#xd800;&#27;</a>", "a[] a=???? " },
		{ "<a>&#x00000000000041;</a>", "a[] a=&#x00000000000041; " },
		{ "<a n='\n1\t2'>\n  x\ny\t</a>\n", "a[1 2] a=x y " },
		{ "<a><![CDATA[\n<b>&lt;]]]]></a>", "a[] a=<b>&lt;]] " },
		{ "<a n='<'/>", "a[<] " }, /* an error, of no harm */
		/* Reading stops. */
		{ "<a><b></a></b><c/>", "a[] a/b[] " },
		{ "<a></b><c/>", "a[] " },
		{ "<ab></a><c/>", "ab[] " },
		{ "<!x><c/>", "" },
		{ "</a><c/>", "" },
		{ "<a n=1><c/>", "" },
		{ "<a n='1><c/>", "" },
		{ "<a n><c/>", "" },
		{ "<a", "" },
		{ "<a/", "" },
		{ "<", "" },
		{ "<>", "" },
		{ "< a/>", "" },
		{ "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "" },
		{ "<a><!-- <c/>", "a[] " },
		{ "<a><![CDATA[ <c/>", "a[] " },
		{ "<a><? <c/>", "a[] " },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[256];

		read_all(cases[i].document, line, sizeof(line));
		if (strcmp(line, cases[i].line))
			fail_msg("%s: %s", cases[i].document, line);
	}
}

static const char element[] = { '<', 'a', '>' };

static void deep_documents_end(void **state)
{
	char document[sizeof(element) * XML_PATH + 1] = "", line[64];
	struct xml xml = { .at = document };
	size_t nr = 0;

	(void)state;
	for (size_t i = 0; i < XML_PATH; i++)
		memcpy(document + sizeof(element) * i, element, sizeof(element));
	xml.end = document + sizeof(document) - 1;
	while (xml_next(&xml))
		nr++;
	assert_int_equal(nr, XML_PATH / 2); /* "a/a/.../a" */

	memset(document, '<', sizeof(document) - 1);
	read_all(document, line, sizeof(line));
	assert_string_equal(line, "");
}

static void long_texts_are_cut(void **state)
{
	char document[8192], text[64];
	struct xml xml = { .at = document, .end = document + sizeof(document) };

	(void)state;
	memset(document, 'x', sizeof(document));
	memcpy(document, element, sizeof(element));
	assert_true(xml_next(&xml));
	assert_true(xml_next(&xml));
	assert_true(xml_text(&xml, text, sizeof(text)));
	assert_int_equal(strlen(text), sizeof(text) - 1);
}

UNIT(test_xml)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents),
		cmocka_unit_test(deep_documents_end),
		cmocka_unit_test(long_texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
