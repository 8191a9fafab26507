// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_event_format - the formats of events: the fields of real ones, and what is refused.
 */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/event_format.h"
#include "tests/unit/unit.h"

#define TEXT_MAX 65536

#define HEAD "name: some\nID: 7\nformat:\n"
#define TYPE "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"

static const struct trace_field *field_of(const struct format *format, const char *name)
{
	const struct trace_field *field = format_field(format, name);

	if (!field)
		fail_msg("no field %s", name);
	return field;
}

static void is_field(const struct format *format, const char *name, uint32_t offset, uint32_t size,
		     unsigned int flags)
{
	const struct trace_field *field = field_of(format, name);

	assert_int_equal(field->offset, offset);
	assert_int_equal(field->size, size);
	assert_int_equal(field->flags, flags);
}

TEST(fields_are_read)
{
	static const char text[] =
		"name: kvm_emulate_insn\nID: 1543\nformat:\n" TYPE
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		"\tfield:__u8 insn[15];\toffset:21;\tsize:15;\tsigned:0;\n"
		"\tfield:unsigned long chars[3][2];\toffset:40;\tsize:48;\tsigned:0;\n"
		"\tfield:__data_loc char[] name;\toffset:88;\tsize:4;\tsigned:1;\n"
		"\tfield:const char * who;\toffset:96;\tsize:8;\n"
		"\tfield:char *whose;\toffset:104;\tsize:8;\tsigned:0;\tnew:1;\n"
		"\tfield:char buf;\toffset:112;\tsize:0;\tsigned:0;\n\n"
		"print fmt: \"%s;[\377\", REC->insn\n";
	struct format format;

	assert_int_equal(format_read(text, strlen(text), &format), 0);
	assert_string_equal(format.name, "kvm_emulate_insn");
	assert_int_equal(format.id, 1543);
	assert_int_equal(format.nr_fields, 8);
	is_field(&format, "common_type", 0, 2, TRACE_FIELD_COMMON);
	is_field(&format, "common_pid", 4, 4, TRACE_FIELD_SIGNED | TRACE_FIELD_COMMON);
	is_field(&format, "insn", 21, 15, TRACE_FIELD_ARRAY | TRACE_FIELD_STRING);
	is_field(&format, "chars", 40, 48, TRACE_FIELD_ARRAY);
	is_field(&format, "name", 88, 4, TRACE_FIELD_ARRAY | TRACE_FIELD_STRING |
		 TRACE_FIELD_DYNAMIC | TRACE_FIELD_SIGNED);
	is_field(&format, "who", 96, 8, 0);
	is_field(&format, "whose", 104, 8, 0);
	is_field(&format, "buf", 112, 0, 0);
	assert_string_equal(format.print, "print fmt: \"%s;[\377\", REC->insn\n");
	format_release(&format);
}

/* All formats of this pattern are understood. Returns their number. */
static size_t read_all(const char *pattern)
{
	static char text[TEXT_MAX];
	glob_t found;
	size_t nr = 0;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		FILE *file = fopen(found.gl_pathv[i], "re");
		struct format format;
		size_t size;

		if (!file)
			continue;
		size = fread(text, 1, sizeof(text), file);
		fclose(file);
		if (size == 0)
			continue; /* the event has gone */
		if (format_read(text, size, &format) != 0)
			fail_msg("%s", found.gl_pathv[i]);
		assert_true(format.nr_fields >= 4);
		format_release(&format);
		nr++;
	}
	globfree(&found);
	return nr;
}

TEST(formats_of_kernels_are_understood)
{
	assert_true(read_all("tests/formats/*.format") >= 8);
	read_all("/sys/kernel/tracing/events/*/*/format");
}

TEST(what_is_damaged_is_refused)
{
	static const char *const texts[] = {
		"",
		"name: some\n",
		"ID: 7\n",
		"name: \nID: 7\n",
		"name: so me\nID: 7\n",
		"name: some\nID: 65536\n",
		"name: some\nID: -1\n",
		"name: some\nID: 7x\n",
		"name: some\nID: 99999999999999999999\n",
		HEAD "\tfield special:int a;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfeld:int a;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int a\toffset:0\tsize:4\tsigned:1\n",
		HEAD "\tfield:int a;\tsize:4;\toffset:0;\tsigned:1;\n",
		HEAD "\tfield:int a;\toffset:0;\n",
		HEAD "\tfield:int a;\toffset:-4;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int a;\toffset:0;\tsize:99999999;\tsigned:1;\n",
		HEAD "\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;rest\n",
		HEAD "\tfield:int 4;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:[4];\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int a[;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int a]4[;\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int a[[4]];\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:__u8 insn[\0225];\toffset:0;\tsize:4;\tsigned:1;\n",
		HEAD "\tfield:int \304;\toffset:0;\tsize:4;\tsigned:1;\n",
		("print fmt: \"\"\n" HEAD),
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct format format;

		if (format_read(texts[i], strlen(texts[i]), &format) != -EINVAL)
			fail_msg("%s", texts[i]);
	}
}
