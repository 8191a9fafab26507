/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql - the tables of a history file, and every statement that is run on them.
 *
 * kvmtop-history(5) says what is in the tables.
 */
#ifndef KVMTOP_HISTORY_SQL_H
#define KVMTOP_HISTORY_SQL_H

#include <stdint.h>

#define SQL_APPLICATION_ID 0x6b766d68 /* "kvmh" */
#define SQL_UNRELEASED_ID 0x6b766d74  /* "kvmt": of other formats, before the first release */
#define SQL_VERSION 1		      /* PRAGMA user_version */

/* Ids of samples and segments are below; a writer goes on after the largest. */
#define SQL_SAMPLE_MAX (INT64_MAX / 2)
#define SQL_SEGMENT_MAX (UINT32_MAX / 2)

/* Makes the tables, in one transaction. */
extern const char sql_schema[];

enum sql {
	SQL_APPLICATION,
	SQL_USER_VERSION,
	SQL_NR_TABLES,
	SQL_JOURNAL,
	SQL_MAX_SAMPLE,
	SQL_MAX_SEGMENT,

	SQL_LAST,
	SQL_FIRST,
	SQL_AT,
	SQL_NEXT,
	SQL_BEFORE,
	SQL_FLAGGED,
	SQL_HOLD,
	SQL_READ_CHANGES, /* the parts, as enum moment_part */
	SQL_READ_TOTALS,
	SQL_READ_GUESTS,
	SQL_READ_FIELDS,
	SQL_READ_SEGMENT,

	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_ADD_META,
	SQL_ADD_SEGMENT,
	SQL_END_SEGMENT,
	SQL_ADD_FIELD,
	SQL_ADD_GUEST,
	SQL_ADD_SAMPLE,
	SQL_ADD_MINUTE,
	SQL_ADD_NOTE,
	SQL_ADD_CLOCK,
	SQL_LAST_CLOCK,

	SQL_PAGE_SIZE,
	SQL_PAGES,
	SQL_FREE_PAGES,
	SQL_VACUUM,
	SQL_NEXT_RUN,
	SQL_OLDEST,
	SQL_DROP_SAMPLES,
	SQL_DROP_CLOCKS,
	SQL_DROP_MINUTES,
	SQL_DROP_NOTES,
	SQL_DROP_GUESTS,
	SQL_DROP_FIELDS,
	SQL_DROP_SEGMENTS,
	SQL_STATEMENTS,
};

extern const char *const sql_text[SQL_STATEMENTS];

#endif
