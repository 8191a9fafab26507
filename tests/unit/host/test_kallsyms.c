// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest's /proc/kallsyms: the names of addresses, and what is no such file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "host/kallsyms.h"
#include "tests/unit/unit.h"

static struct kallsyms *parse(const char *text)
{
	struct kallsyms *symbols = NULL;
	struct error error = { "" };

	assert_int_equal(kallsyms_parse(strdup(text), strlen(text), "web1", &symbols, &error), 0);
	assert_string_equal(error.text, "");
	return symbols;
}

static void is_at(const struct kallsyms *symbols, uint64_t address, const char *wanted)
{
	char name[64] = "-";

	assert_int_equal(kallsyms_name(symbols, address, name, sizeof(name)), wanted != NULL);
	assert_string_equal(name, wanted ? wanted : "-");
}

TEST(addresses_have_names)
{
	struct kallsyms *symbols = parse("0000000000001000 A cpu_entry\n"
					 "ffffffff81000100 t verify_cpu\n"
					 "ffffffff81000000 T _text\n"
					 "ffffffff81000000 T startup_64\n"
					 "ffffffff81000200 D some_data\n"
					 "0000000000000000 T hidden\n"
					 "ffffffffc0000000 t e1000_intr\t[e1000]\n");

	is_at(symbols, 0, NULL);
	is_at(symbols, 0x400000, NULL); /* the guest's user space */
	is_at(symbols, 0xffffffff80ffffff, NULL);
	is_at(symbols, 0xffffffff81000000, "_text+0x0");
	is_at(symbols, 0xffffffff810000ff, "_text+0xff");
	is_at(symbols, 0xffffffff81000102, "verify_cpu+0x2");
	is_at(symbols, 0xffffffff81000200, NULL);
	is_at(symbols, 0xffffffffc0000010, "e1000_intr+0x10 [e1000]");
	is_at(symbols, 0xffffffffc000ffff, "e1000_intr+0xffff [e1000]");
	is_at(symbols, 0xffffffffc0010000, NULL); /* far behind the last one */
	is_at(symbols, UINT64_MAX, NULL);
	kallsyms_free(symbols);
}

TEST(the_last_line_may_have_no_end)
{
	struct kallsyms *symbols = parse("ffffffff81000000 W weak");

	is_at(symbols, 0xffffffff81000004, "weak+0x4");
	kallsyms_free(symbols);
}

TEST(other_lines_are_errors)
{
	static const char *const wrong[] = {
		"\n", "x", "ffffffff81000000", "ffffffff81000000 T", "ffffffff81000000 T ",
		"ffffffff81000000  T a", "FFFFFFFF81000000 T a", "ffffffff810000000 T a",
		"ffffffff81000000 TT a", "ffffffff81000000 T a b", "ffffffff81000000 T a\t",
		"ffffffff81000000 T a\te1000", "ffffffff81000000 T a\t[]",
		"ffffffff81000000 T a\t[x] ", "ffffffff81000000 T a\033[1m",
		"ffffffff81000000 T a\r",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct kallsyms *symbols = NULL;
		struct error error = { "" };
		char text[128] = "ffffffff81000000 T good\n";

		strcat(text, wrong[i]);
		assert_int_equal(
			kallsyms_parse(strdup(text), strlen(text), "web1", &symbols, &error),
			-EINVAL);
		assert_string_equal(error.text, "web1: line 2 is not one of /proc/kallsyms: copy "
						"the guest's again");
		assert_null(symbols);
	}
}

TEST(a_nul_is_an_error)
{
	static const char text[] = "ffffffff81000000 T good\0bad\n";
	struct kallsyms *symbols = NULL;
	struct error error = { "" };
	char *copy = malloc(sizeof(text));

	assert_non_null(copy);
	memcpy(copy, text, sizeof(text));
	assert_int_equal(kallsyms_parse(copy, sizeof(text) - 1, "web1", &symbols, &error), -EINVAL);
	assert_null(symbols);
}

TEST(hidden_addresses_are_explained)
{
	struct kallsyms *symbols = NULL;
	struct error error = { "" };

	assert_int_equal(kallsyms_parse(strdup("0000000000000000 T _text\n"), 25, "web1", &symbols,
					&error), -ENODATA);
	assert_string_equal(error.text,
			    "web1: it has no addresses: copy the guest's /proc/kallsyms "
			    "as root");
	assert_int_equal(kallsyms_read("/nowhere", &symbols, &error), -ENOENT);
	assert_string_equal(error.text, "cannot read /nowhere: No such file or directory");
}
