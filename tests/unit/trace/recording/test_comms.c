// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_comms - names of threads, as a recording lists them and as they change.
 */
#include <string.h>

#include "tests/unit/unit.h"
#include "trace/recording/event_types.h"

TEST(names_are_read_from_lines)
{
	struct comms comms = { .hash = NULL };

	comms_read(&comms, "77 CPU 0/KVM\n78 <...>\nhello\n-1 minus\n"
			   "99999999999 far\n\n79 last");
	assert_string_equal(comms_get(&comms, 77), "CPU 0/KVM");
	assert_string_equal(comms_get(&comms, 78), "");
	assert_string_equal(comms_get(&comms, 79), "last");
	assert_string_equal(comms_get(&comms, -1), "");
	assert_string_equal(comms_get(&comms, 0), "<idle>");
	comms_release(&comms);
	assert_string_equal(comms_get(&comms, 77), "");
}

TEST(the_latest_name_counts)
{
	const char unended[3] = { 'a', 'b', 'c' };
	struct comms comms = { .hash = NULL };

	comms_set(&comms, 7, "early", 6);
	comms_set(&comms, 7, unended, sizeof(unended));
	assert_string_equal(comms_get(&comms, 7), "abc");
	comms_set(&comms, 7, "a\x1b[2J", 6);
	assert_string_equal(comms_get(&comms, 7), "a?[2J");
	comms_set(&comms, 0, "swapper", 8);
	assert_string_equal(comms_get(&comms, 0), "swapper");
	comms_set(&comms, 8, "a-name-of-more-than-thirty-one-bytes", 99);
	assert_int_equal(strlen(comms_get(&comms, 8)), 31);
	comms_release(&comms);
}

/* There is room for many names; threads that ended give theirs away, the first one first. */
TEST(threads_that_ended_make_room)
{
	enum { MOST = 65536 };
	struct comms comms = { .hash = NULL };

	for (int32_t tid = 1; tid <= MOST; tid++)
		comms_set(&comms, tid, "old", 4);
	comms_set(&comms, MOST + 1, "new", 4);
	assert_string_equal(comms_get(&comms, MOST + 1), "");
	comms_end(&comms, 10);
	comms_end(&comms, 5);
	comms_end(&comms, MOST + 1); /* has no name */
	assert_string_equal(comms_get(&comms, 10), "old");
	comms_set(&comms, MOST + 1, "new", 4);
	assert_string_equal(comms_get(&comms, MOST + 1), "new");
	assert_string_equal(comms_get(&comms, 10), "");
	assert_string_equal(comms_get(&comms, 5), "old");
	comms_set(&comms, 5, "again", 6); /* the number of a new thread */
	comms_set(&comms, MOST + 2, "none", 5);
	assert_string_equal(comms_get(&comms, 5), "again");
	assert_string_equal(comms_get(&comms, MOST + 2), "");
	comms_release(&comms);
}
