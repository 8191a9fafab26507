// SPDX-License-Identifier: GPL-2.0-or-later
/* What had the CPU: the kinds that the programs do not tell apart, and the names of each. */
#include <stdio.h>
#include <string.h>

#include "host/env.h"
#include "lib/array.h"
#include "providers/who/program.h"
#include "tests/unit/unit.h"
#include "tests/worlds/fake_guest.h"

#define DB1 1 /* ids of the guests */
#define WEB1 2

TEST(each_has_its_kind)
{
	static const struct {
		enum who_kind kind;
		const char *thread, *process;
		uint32_t number;
		struct key ran; /* of the vCPU; guest 0: none */
		const char *expected; /* "kind owner thread", for a vCPU of db1 that waits */
	} list[] = {
		{ WHO_VCPU, "CPU 1/KVM", "", 4002, { DB1, 1, 0 }, "own db1 vCPU 1" },
		{ WHO_VCPU, "CPU 0/KVM", "", 5001, { WEB1, 0, 0 }, "guest web1 vCPU 0" },
		{ WHO_VCPU, "CPU 0/KVM", "", 6001, { 0 }, "guest - -" },
		{ WHO_VMM, "IO iothread1", "", 5000, { 0 }, "vmm web1 IO iothread1" },
		{ WHO_VMM, "vhost-5000", "", 5000, { 0 }, "vhost web1 vhost" },
		{ WHO_KERNEL, "vhost-5000", "", 0, { 0 }, "vhost web1 vhost" },
		{ WHO_KERNEL, "vhost-7777", "", 0, { 0 }, "vhost - vhost" },
		{ WHO_KERNEL, "ksoftirqd/1", "", 0, { 0 }, "kernel - ksoftirqd" },
		{ WHO_KERNEL, "kworker/u8:3", "", 0, { 0 }, "kernel - kworker" },
		{ WHO_PROCESS, "cc1", "make", 0, { 0 }, "process make cc1" },
		{ WHO_PROCESS, "a\033[1m", "b\n", 0, { 0 }, "process b? a?[1m" },
		{ WHO_IRQ, "", "", 0, { 0 }, "irq - -" },
		{ WHO_SOFTIRQ, "", "", 0, { 0 }, "softirq - -" },
		{ WHO_IDLE, "swapper/1", "", 0, { 0 }, "idle - -" },
		{ WHO_QUOTA, "", "", 0, { 0 }, "quota - -" },
		{ WHO_UNKNOWN, "", "", 0, { 0 }, "unknown - -" },
	};
	struct env env = { .root = "/nonexistent" };
	struct guests *guests = guests_new(&env);

	assert_int_equal(guests_add_fake(guests, 4000, "db1", 2), DB1);
	assert_int_equal(guests_add_fake(guests, 5000, "web1", 1), WEB1);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		struct who_time time = { .kind = list[i].kind, .ran_pid = list[i].number };
		struct who_names names = { .part = WAIT_UNKNOWN };
		char text[512];

		memcpy(time.thread, list[i].thread, strlen(list[i].thread));
		memcpy(time.process, list[i].process, strlen(list[i].process));
		who_names_of(guests, &time, list[i].ran.guest ? &list[i].ran : NULL,
			     DB1, &names);
		snprintf(text, sizeof(text), "%s %s %s", wait_part_name(names.part),
			 *names.owner ? names.owner : "-", *names.thread ? names.thread : "-");
		assert_string_equal(text, list[i].expected);
	}
	guests_free(guests);
}
