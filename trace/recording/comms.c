// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table; a damaged recording fills it only up to a limit. */
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "trace/recording/comms.h"

#define NAME_SIZE 32
#define COMMS_MAX 65536

struct comm {
	int32_t tid;
	char name[NAME_SIZE];
	UT_hash_handle hh;
};

void comms_release(struct comms *comms)
{
	struct comm *comm, *next;

	HASH_ITER(hh, comms->hash, comm, next) {
		HASH_DEL(comms->hash, comm);
		free(comm);
	}
	comms->nr = 0;
}

static struct comm *find(const struct comms *comms, int32_t tid)
{
	struct comm *comm;

	HASH_FIND_INT(comms->hash, &tid, comm);
	return comm;
}

void comms_set(struct comms *comms, int32_t tid, const char *name, size_t size)
{
	struct comm *comm = find(comms, tid);

	if (!comm && comms->nr == COMMS_MAX)
		return;
	if (!comm) {
		comm = xcalloc(1, sizeof(*comm));
		comm->tid = tid;
		hash_add(comms->hash, tid, comm);
		comms->nr++;
	}
	size = strnlen(name, size < NAME_SIZE - 1 ? size : NAME_SIZE - 1);
	memcpy(comm->name, name, size);
	comm->name[size] = '\0';
}

void comms_read(struct comms *comms, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		char *name;
		long tid = strtol(text, &name, 10);

		/* The kernel writes "<...>" for a name that it has forgotten. */
		if (name > text && name < text + len && *name == ' ' && tid >= 0 &&
		    tid <= INT32_MAX && strncmp(name, " <...>", 6) != 0)
			comms_set(comms, (int32_t)tid, name + 1,
				  (size_t)(text + len - name - 1));
		text += len + (text[len] == '\n');
	}
}

const char *comms_get(const struct comms *comms, int32_t tid)
{
	const struct comm *comm = find(comms, tid);

	if (comm)
		return comm->name;
	return tid == 0 ? "<idle>" : "";
}
