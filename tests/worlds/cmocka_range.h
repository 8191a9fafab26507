/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmocka_range - an assertion of cmocka 2, which deprecates its old name, for cmocka 1.
 */
#ifndef KVMTOP_TESTS_WORLDS_CMOCKA_RANGE_H
#define KVMTOP_TESTS_WORLDS_CMOCKA_RANGE_H

#include "tests/unit/unit.h"

#ifndef assert_int_in_range
#define assert_int_in_range(value, least, most) assert_in_range(value, least, most)
#endif

#endif
