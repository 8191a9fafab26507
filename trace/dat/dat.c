// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace-cmd's trace.dat: which version it is, and what its words mean.
 *
 * Version 6, and version 7 where it is not compressed or with zstd, are read here with
 * libtraceevent; version 7 with another compression by libtracecmd. Not all by libtracecmd, because
 * its version 1.3 ends the program (SIGSEGV in tracecmd_close) at a file of version 6 that is cut,
 * which is what a full disk or a killed recorder leaves behind; and because of version 7 it keeps
 * all it has uncompressed in memory, and looks through all of that for every page.
 */
#include <errno.h>
#include <string.h>

#include "trace/dat/dat.h"

#define VERSION_AT DAT_MAGIC_SIZE
#define MACHINE_SIZE 6 /* byte order, size of a long, of a page */
#define COMPRESSION_AT (VERSION_AT + 2 + MACHINE_SIZE)

void dat_set_clock(struct trace_info *info, struct dat_strings *strings, const char *text)
{
	const char *begin = strchr(text, '[');
	size_t len;

	begin = begin ? begin + 1 : text;
	len = strcspn(begin, "] \n");
	if (len >= sizeof(strings->clock))
		len = sizeof(strings->clock) - 1;
	memcpy(strings->clock, begin, len);
	strings->clock[len] = '\0';
	info->clock_name = strings->clock;
	info->clock = tep_clock(strings->clock);
}

void dat_set_uname(struct trace_info *info, struct dat_strings *strings, const char *text)
{
	text += strcspn(text, " ");
	for (size_t i = 0; i < 3; i++) {
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " \n");
		if (len >= sizeof(strings->uname[i]))
			len = sizeof(strings->uname[i]) - 1;
		memcpy(strings->uname[i], text, len);
		strings->uname[i][len] = '\0';
		text += len;
	}
	info->host = strings->uname[0];
	info->release = strings->uname[1];
	info->arch = strings->uname[2];
}

bool dat_is_kind(const struct head *head)
{
	return head->len >= DAT_MAGIC_SIZE &&
	       memcmp(head->bytes, DAT_MAGIC, DAT_MAGIC_SIZE) == 0;
}

/* Whether a text with its NUL is at a place in the head. */
static bool has_text(const struct head *head, size_t at, const char *text)
{
	size_t size = strlen(text) + 1;

	return at + size <= head->len && memcmp(head->bytes + at, text, size) == 0;
}

const char *dat_compression(const struct head *head)
{
	const char *at = (const char *)head->bytes + COMPRESSION_AT;

	if (!has_text(head, VERSION_AT, "7") || head->len < COMPRESSION_AT ||
	    !memchr(at, '\0', head->len - COMPRESSION_AT))
		return "";
	return at;
}

bool dat_is_readable(const struct head *head)
{
	const char *compression = dat_compression(head);

	/* What is cut before it says so is said to be cut here. */
	return !compression[0] || strcmp(compression, "none") == 0 ||
	       strcmp(compression, "zstd") == 0;
}

static bool is_kind(const struct head *head)
{
	return dat_is_kind(head) && dat_is_readable(head);
}

static int open_dat(struct trace_file *file, const struct head *head, struct why *why)
{
	struct cursor cursor = { .file = file, .at = DAT_MAGIC_SIZE };

	tep_set_loglevel(TEP_LOG_NONE);
	file->info.clock_name = "local";
	if (head->len < VERSION_AT + 2 || !dat_is_kind(head)) {
		trace_add_problem(file, head->len, "the file ends in its first line");
		return 0;
	}
	if (has_text(head, VERSION_AT, "6")) {
		file->info.version = 6;
		return dat6_open(file, &cursor);
	}
	if (has_text(head, VERSION_AT, "7")) {
		file->info.version = 7;
		return dat7_open(file, &cursor);
	}
	return why_set(why, -EINVAL, "%s: a trace.dat of a version that is not known here",
		       file->info.path);
}

const struct reader trace_dat_reader = {
	.kind = TRACE_DAT,
	.name = "trace.dat",
	.is_kind = is_kind,
	.open = open_dat,
	.close = dat_close,
	.comm = dat_comm,
	.guest = dat_guest,
};
