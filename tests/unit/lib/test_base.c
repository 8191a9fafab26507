// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays that grow, files that are read or written whole, text of others, and hashes. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/file.h"
#include "lib/hash.h"
#include "lib/text.h"
#include "tests/unit/unit.h"

TEST(arrays_grow_by_zeroes)
{
	uint32_t *array = NULL;
	size_t room = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		size_t had = room;

		array_grow(&array, &room, i + 1);
		assert_true(room > i && (room == had || room >= 2 * had));
		for (size_t j = i; j < room; j++)
			assert_int_equal(array[j], 0);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	array_grow(&array, &room, 5000);
	assert_int_equal(array[4999], 0);
	free(array);
}

TEST(sentences_are_added)
{
	struct error error = { "" };
	char full[sizeof(error.text) + 1];

	error_add(NULL, "x");
	error_add(&error, "%d waits", 3);
	assert_string_equal(error.text, "3 waits");
	error_add(&error, "no interrupts");
	assert_string_equal(error.text, "3 waits; no interrupts");
	memset(full, 'x', sizeof(full) - 1);
	full[sizeof(full) - 1] = '\0';
	for (size_t len = sizeof(error.text) - 4; len < sizeof(full); len++) {
		error_set(&error, 0, "%.*s", (int)len, full);
		error_add(&error, "abc");
		assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	}
}

/* A file of size bytes 'a' ... 'z'; the caller unlinks it. */
static void write_file(char *path, size_t size)
{
	int fd = mkstemp(strcpy(path, "/tmp/kvmtop-base-XXXXXX"));
	FILE *file = fdopen(fd, "w");

	assert_non_null(file);
	for (size_t i = 0; i < size; i++)
		putc('a' + (int)(i % 26), file);
	assert_int_equal(fclose(file), 0);
}

TEST(small_files_end_with_nul)
{
	char path[64], buf[8], untouched = 'x';

	write_file(path, 3);
	assert_int_equal(read_small(path, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(read_small(path, buf, 3), 2);
	assert_string_equal(buf, "ab");
	assert_int_equal(read_small(path, &untouched, 0), -EINVAL);
	assert_true(path_exists(path));
	unlink(path);
	assert_int_equal(read_small(path, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(read_small("/", buf, sizeof(buf)), -EISDIR);
	assert_false(path_exists(path));
	assert_true(path_exists("/"));
}

TEST(files_are_read_to_their_end)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 300000 };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *text = NULL;
		size_t size = 0;

		write_file(path, sizes[i]);
		assert_int_equal(read_whole(path, sizes[i], &text, &size), 0);
		assert_int_equal(size, sizes[i]);
		assert_int_equal(strlen(text), sizes[i]);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(text[j], 'a' + (int)(j % 26));
		free(text);
		if (sizes[i])
			assert_int_equal(read_whole(path, sizes[i] - 1, &text, &size), -EFBIG);
		unlink(path);
	}
}

TEST(what_cannot_be_read_has_its_error)
{
	char *untouched = NULL;
	size_t size = 7;

	assert_int_equal(read_whole("/nowhere", 100, &untouched, &size), -ENOENT);
	assert_int_equal(read_whole("/", 100, &untouched, &size), -EISDIR);
	assert_null(untouched);
	assert_int_equal(size, 7);
}

static void *write_late(void *arg)
{
	int fd = open(arg, O_WRONLY | O_CLOEXEC);

	usleep(50000);
	(void)!write(fd, "ab", 2);
	usleep(50000);
	(void)!write(fd, "c", 1);
	close(fd);
	return NULL;
}

/* A pipe is read to its end, and one into which nobody writes is not waited for. */
TEST(pipes_have_a_limit_of_time)
{
	char folder[] = "/tmp/pipes.XXXXXX", path[32], *text = NULL;
	pthread_t writer;
	size_t size = 0;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_late, path), 0);
	assert_int_equal(read_whole(path, 100, &text, &size), 0);
	assert_string_equal(text, "abc");
	free(text);
	pthread_join(writer, NULL);
	alarm(60);
	assert_int_equal(read_whole(path, 100, &text, &size), -ETIMEDOUT);
	alarm(0);
	unlink(path);
	rmdir(folder);
}

/* Programs are regular files, and on file systems that hold programs. */
TEST(foreign_names_open_programs_only)
{
	char path[64];
	int fd;

	write_file(path, 3);
	fd = open_program(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	assert_int_equal(open_program(path), -ENOENT);
	assert_int_equal(open_program("/proc/version"), -EINVAL);
	assert_int_equal(open_program("/sys/kernel/notes"), -EINVAL);
	assert_int_equal(open_program("/dev/null"), -EINVAL);
	assert_int_equal(open_program("/"), -EINVAL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(open_program(path), -EINVAL);
	unlink(path);
}

TEST(files_are_replaced_when_complete)
{
	char path[64], link[80], buf[8];
	struct whole_file whole = { .file = NULL };
	struct error error = { "" };
	struct stat st;

	write_file(path, 3);
	snprintf(link, sizeof(link), "%s.link", path);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(whole_file_open(&whole, link, &error), 0);
	fputs("new", whole.file);
	assert_int_equal(read_small(path, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "abc");
	assert_int_equal(whole_file_keep(&whole), 0);
	assert_int_equal(read_small(path, buf, sizeof(buf)), 3);
	assert_string_equal(buf, "new");

	/* A link to nothing stays a link, and its target is created. */
	unlink(path);
	assert_int_equal(whole_file_open(&whole, link, &error), 0);
	fputs("more", whole.file);
	assert_int_equal(whole_file_keep(&whole), 0);
	assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	assert_int_equal(read_small(path, buf, sizeof(buf)), 4);
	unlink(path);
	unlink(link);
}

TEST(characters_are_decoded)
{
	static const struct {
		const char *text;
		size_t left, bytes;
		uint32_t code;
	} cases[] = {
		{ "a", 1, 1, 'a' },
		{ "\xc3\xbc", 2, 2, 0xfc },
		{ "\xc3\xbc", 1, 0, 7 },
		{ "\xe2\x82\xac.", 4, 3, 0x20ac },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
		{ "\xf4\x90\x80\x80", 4, 0, 7 }, /* beyond U+10FFFF */
		{ "\xc0\xaf", 2, 0, 7 },	 /* overlong */
		{ "\xed\xa0\x80", 3, 0, 7 },	 /* a surrogate */
		{ "\x80", 1, 0, 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint32_t code = 7;

		assert_int_equal(utf8_decode(cases[i].text, cases[i].left, &code), cases[i].bytes);
		assert_int_equal(code, cases[i].code);
	}
}

static void check_clean(const char *raw, const char *clean)
{
	char text[64] = "untouched";

	assert_int_equal(utf8_clean(raw, strlen(raw), text, sizeof(text)), clean != NULL);
	assert_string_equal(text, clean ? clean : "untouched");
}

TEST(text_is_cleaned)
{
	char buf[8], same[] = "  \xc3\xbc\x01";

	check_clean("plain", "plain");
	check_clean("a\tb\nc\x1b[31md\x7f", "a?b?c?[31md?");
	check_clean(" both ends ", "both ends");
	check_clean("   ", NULL);
	check_clean("", NULL);
	check_clean("Zürich-東京-😀", "Zürich-東京-😀");
	check_clean("a\xc2\x9b" "31mb", "a?31mb");	   /* U+009B, CSI */
	check_clean("a\xe2\x80\xae" "b", "a?b");	   /* U+202E turns the line round */
	check_clean("a\xff\xc3", "a??");		   /* no UTF-8, cut UTF-8 */
	check_clean("\xc0\xaf\xed\xa0\x80", "?????");	   /* overlong, surrogate */
	check_clean("\xf4\x90\x80\x80", "????");	   /* beyond U+10FFFF */

	/* 63 bytes, at a character, and names stay two. */
	check_clean("123456789012345678901234567890123456789012345678901234567890123",
		    "123456789012345678901234567890123456789012345678901234567890123");
	check_clean("1234567890123456789012345678901234567890123456789012345678901234567",
		    "1234567890123456789012345678901234567890123456789012…1a7aafb6");
	check_clean("123456789012345678901234567890123456789012345678901üüüüüüüüü",
		    "123456789012345678901234567890123456789012345678901…610c8005");
	check_clean("123456789012345678901234567890123456789012345678901üüüüüüüüÜ",
		    "123456789012345678901234567890123456789012345678901…610c9be5");
	assert_true(utf8_clean("12345678", 8, buf, sizeof(buf)));
	assert_string_equal(buf, "1234…");
	assert_true(utf8_clean("123ü6789", 9, buf, sizeof(buf)));
	assert_string_equal(buf, "123…");
	assert_false(utf8_clean("x", 1, buf, 1));
	assert_true(utf8_clean(same, strlen(same), same, sizeof(same)));
	assert_string_equal(same, "\xc3\xbc?");
}

/* At each length of the memory: whole characters, and a mark if there is room for it. */
TEST(long_texts_end_at_a_character)
{
	static const char whole[] = "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüü";

	for (size_t size = 1; size < sizeof(whole) + 8; size++) {
		char text[80], name[80], other[80], added[80] = "";
		uint32_t code;

		text_put(text, size, "%s", whole);
		name_put(name, size, "%s", whole);
		name_put(other, size, "%sa", whole);
		for (size_t i = 0; i + 2 < sizeof(whole); i += 2)
			text_add(added, size, "%.2s", whole + i);
		assert_true(strlen(text) < size && strlen(name) < size && strlen(other) < size);
		for (size_t n, i = 0; text[i]; i += n) {
			n = utf8_decode(text + i, strlen(text + i), &code);
			assert_true(n && (code == 0xfc || (code == 0x2026 && !text[i + n])));
		}
		if (size >= sizeof(whole)) {
			assert_string_equal(text, whole);
			assert_string_equal(name, whole);
			assert_string_equal(added, whole);
			continue;
		}
		if (size < 4)
			continue;
		assert_string_equal(text + strlen(text) - 3, "…");
		assert_string_equal(added + strlen(added) - 3, "…");
		if (size >= 12)
			assert_string_not_equal(name, other);
		/* Nothing comes after the mark, nor is it cut. */
		text_add(text, size, "b");
		assert_string_equal(text + strlen(text) - 3, "…");
	}
}

TEST(digits_of_a_name_are_of_all_its_parts)
{
	char one[24] = "kvm", two[24] = "kvm";

	for (int i = 0; i < 4; i++) {
		name_add(one, sizeof(one), " part %d", i);
		name_add(two, sizeof(two), " part %d", i ? i : 4);
		assert_true(strlen(one) < sizeof(one));
	}
	assert_memory_equal(one, "kvm part 0 ", 11);
	assert_non_null(strstr(one, "…"));
	assert_string_not_equal(one + 12, two + 12);
}

/* Characters that are not seen: with them two names look alike. */
TEST(invisible_characters_are_replaced)
{
	static const char *const hidden[] = {
		"\u00ad", "\u034f", "\u061c", "\u115f", "\u17b4", "\u180e", "\u200b", "\u200c",
		"\u200d", "\u200e", "\u200f", "\u202a", "\u202e", "\u2060", "\u2064", "\u2066",
		"\u2067", "\u2069", "\u206f", "\u3164", "\ufe0f", "\ufeff", "\uffa0", "\ufff9",
		"\U0001d173", "\U000e0001", "\U000e0020", "\U000e0fff",
		/* And those that are no characters: XML has none. */
		"\uffff", "\U0001fffe",
	};
	char name[16];

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		snprintf(name, sizeof(name), "web%s1", hidden[i]);
		check_clean(name, "web?1");
	}
	check_clean("ß\u0301\u0430\u2010\u2030\ufefe\U0001f468\U000e1000",
		    "ß\u0301\u0430\u2010\u2030\ufefe\U0001f468\U000e1000");
}

/* Histories have names by this hash: its numbers stay. Published test values of FNV-1a. */
TEST(hashes)
{
	assert_int_equal(hash_text(HASH_START, ""), UINT64_C(0xcbf29ce484222325));
	assert_int_equal(hash_text(HASH_START, "foobar"), UINT64_C(0x85944171f73967e8));
	assert_int_equal(hash_text(hash_text(HASH_START, "foo"), "bar"),
			 hash_text(HASH_START, "foobar"));
	assert_int_equal(hash_byte(HASH_START, 'a'), UINT64_C(0xaf63dc4c8601ec8c));
}
