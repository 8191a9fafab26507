// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of what had the CPU while a vCPU waited. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "providers/who/program.h"

static void name_owner(struct who_names *names, const struct guest *guest)
{
	snprintf(names->owner, sizeof(names->owner), "%s", guest->name);
	names->pid = guest->pid;
}

/* One that ended before this has no name. */
static void name_vcpu(const struct guests *guests, const struct key *ran, uint32_t waits,
		      struct who_names *names)
{
	const struct guest *guest = ran ? guests_find(guests, ran->guest) : NULL;

	names->part = WAIT_GUEST;
	if (!guest)
		return;
	if (ran->guest == waits)
		names->part = WAIT_OWN;
	snprintf(names->thread, sizeof(names->thread), "vCPU %d", (int)ran->vcpu);
	name_owner(names, guest);
}

/* Nothing in a name moves a cursor, and a number at its end may be a pid: "vhost-4110". */
static void take_comm(char *to, size_t size, const char *comm)
{
	size_t len = strnlen(comm, WHO_NAME), digits = 0;

	len = len < size ? len : size - 1;
	for (size_t i = 0; i < len; i++)
		to[i] = isprint((unsigned char)comm[i]) ? comm[i] : '?';
	while (digits < len && isdigit((unsigned char)to[len - digits - 1]))
		digits++;
	if (digits >= 3)
		len -= digits + (len > digits && to[len - digits - 1] == '-');
	to[len] = '\0';
}

/* Threads of the kernel that differ by their CPU only have one name: "kworker" of kworker/3:1. */
static void name_kernel(const struct guests *guests, const struct who_pair *pair,
			struct who_names *names)
{
	const struct guest *guest = NULL;

	names->part = WAIT_KERNEL;
	take_comm(names->thread, sizeof(names->thread), pair->thread.text);
	names->thread[strcspn(names->thread, "/")] = '\0';
	if (strncmp(pair->thread.text, "vhost-", 6) != 0)
		return;
	names->part = WAIT_VHOST;
	guest = guests_by_pid(guests, (pid_t)atoi(pair->thread.text + 6));
	if (guest)
		name_owner(names, guest);
}

static void name_vmm(const struct guests *guests, const struct who_pair *pair,
		     struct who_names *names)
{
	const struct guest *guest = guests_by_pid(guests, (pid_t)pair->id);

	names->part = strncmp(pair->thread.text, "vhost-", 6) == 0 ? WAIT_VHOST : WAIT_VMM;
	if (!guest)
		return;
	take_comm(names->thread, sizeof(names->thread), pair->thread.text);
	name_owner(names, guest);
}

void who_names_of(const struct guests *guests, const struct who_pair *pair, const struct key *ran,
		  uint32_t waits, struct who_names *names)
{
	static const enum wait_part parts[] = {
		[WHO_IRQ] = WAIT_IRQ, [WHO_SOFTIRQ] = WAIT_SOFTIRQ, [WHO_IDLE] = WAIT_IDLE,
		[WHO_QUOTA] = WAIT_QUOTA, [WHO_UNKNOWN] = WAIT_UNKNOWN,
	};

	switch (pair->kind) {
	case WHO_VCPU:
		name_vcpu(guests, ran, waits, names);
		break;
	case WHO_VMM:
		name_vmm(guests, pair, names);
		break;
	case WHO_KERNEL:
		name_kernel(guests, pair, names);
		break;
	case WHO_PROCESS:
		names->part = WAIT_PROCESS;
		take_comm(names->thread, sizeof(names->thread), pair->thread.text);
		take_comm(names->owner, sizeof(names->owner), pair->process.text);
		break;
	default:
		names->part = pair->kind < ARRAY_SIZE(parts) ? parts[pair->kind] : WAIT_UNKNOWN;
	}
}
