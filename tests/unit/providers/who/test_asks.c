// SPDX-License-Identifier: GPL-2.0-or-later
/* How often who asks the kernel about a process that had the CPU of several vCPUs. */
#include <string.h>

#include "host/env.h"
#include "tests/unit/unit.h"

static long answer(const struct env *env, char *buf, size_t size, const char *format, int pid);

/* In place of the library's, which has them under their own names. */
#define env_read_line answer
#define who_provider asked_provider
extern const struct provider asked_provider;
#include "providers/who/who.c" /* NOLINT(bugprone-suspicious-include) */

#define VCPUS 3

static int nr_asked;
static const char *process; /* that is there */

static long answer(const struct env *env, char *buf, size_t size, const char *format, int pid)
{
	assert_string_equal(env->root, "");
	assert_string_equal(format, "/proc/%d/comm");
	assert_int_equal(pid, 4711);
	nr_asked++;
	return snprintf(buf, size, "%s", process);
}

/* Takes a pair of each vCPU with the process "hog". The process that the field has; 0: none. */
static int32_t sample(struct who *who, uint32_t fields[VCPUS])
{
	struct who_time time = { .kind = WHO_PROCESS, .ran_pid = 4711 };

	strcpy(time.thread, "worker");
	strcpy(time.process, "hog");
	nr_asked = 0;
	begin_asking(who);
	for (uint32_t i = 0; i < VCPUS; i++) {
		time.tid = i + 1;
		take_time(who, &time, 1, 1000, &fields[i]);
	}
	return fields_get(who->args.fields, fields[0])->pid;
}

TEST(once_for_all_vcpus)
{
	struct env env = { .root = "" };
	struct guests *guests = guests_new(&env);
	struct fields *fields = fields_new();
	struct who_member list[VCPUS];
	struct who who = {
		.args = { .env = &env, .fields = fields, .guests = guests,
			  .source = PROVIDER_WHO },
		.members = { .list = list, .nr = VCPUS },
	};
	uint32_t ids[VCPUS] = { FIELD_NONE, FIELD_NONE, FIELD_NONE };

	who.waits = add_field(&who, WAIT_ALL);
	for (uint32_t i = 0; i < VCPUS; i++)
		list[i] = (struct who_member){ .tid = (pid_t)i + 1, .guest = 1,
					       .vcpu = (int32_t)i, .number = i };
	process = "hog";
	assert_int_equal(sample(&who, ids), 4711);
	assert_int_equal(nr_asked, 1);
	process = "other";
	assert_int_equal(sample(&who, ids), 0);
	assert_int_equal(nr_asked, 1);
	process = "hog";
	assert_int_equal(sample(&who, ids), 4711);
	assert_int_equal(nr_asked, 1);
	free(who.culprits);
	key_index_release(&who.index);
	free(who.asked);
	key_index_release(&who.asked_index);
	fields_free(fields);
	guests_free(guests);
}
