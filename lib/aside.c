// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs calls in threads, and leaves them behind. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "lib/aside.h"
#include "lib/file.h"
#include "lib/process.h"
#include "lib/xalloc.h"

/* A call. Freed by whoever finishes last: its thread or the caller. */
struct call {
	struct call *prev, *next;
	char *path;
	size_t max; /* 0: a program is opened */
	char *text;
	size_t size;
	int result; /* a descriptor or 0; -errno */
	bool has_ended, is_left;
	pthread_cond_t ended;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct call *left; /* these are behind */
static size_t nr_left;

static void call_free(struct call *call)
{
	pthread_cond_destroy(&call->ended);
	free(call->text);
	free(call->path);
	free(call);
}

static void *run(void *arg)
{
	struct call *call = arg;
	bool is_left;

	call->result = call->max ? read_whole(call->path, call->max, &call->text, &call->size) :
				   open_program(call->path);
	pthread_mutex_lock(&lock);
	is_left = call->is_left;
	call->has_ended = true;
	if (is_left) {
		DL_DELETE(left, call);
		nr_left--;
	}
	pthread_cond_signal(&call->ended);
	pthread_mutex_unlock(&lock);
	if (!is_left)
		return NULL;
	if (!call->max && call->result >= 0)
		close(call->result);
	call_free(call);
	return NULL;
}

/* 0, or why the path is not asked for now. */
static int check(const char *path)
{
	const struct call *other;
	int err = 0;

	pthread_mutex_lock(&lock);
	if (nr_left == ASIDE_MAX)
		err = -EAGAIN;
	DL_FOREACH(left, other) {
		if (strcmp(other->path, path) == 0)
			err = -ETIMEDOUT;
	}
	pthread_mutex_unlock(&lock);
	return err;
}

/* Whether the call has ended; if not, it belongs to its thread now. */
static bool wait_for(struct call *call)
{
	struct timespec end = thread_time_in(ASIDE_WAIT_MS);
	bool has_ended;

	pthread_mutex_lock(&lock);
	while (!call->has_ended &&
	       pthread_cond_timedwait(&call->ended, &lock, &end) != ETIMEDOUT)
		;
	has_ended = call->has_ended;
	if (!has_ended) {
		call->is_left = true;
		DL_APPEND(left, call);
		nr_left++;
	}
	pthread_mutex_unlock(&lock);
	return has_ended;
}

/* ret_call: the caller frees it. */
static int make_call(const char *path, size_t max, struct call **ret_call)
{
	int err = check(path);
	struct call *call;
	pthread_t thread;

	if (err)
		return err;
	call = xcalloc(1, sizeof(*call));
	call->path = xstrdup(path);
	call->max = max;
	thread_cond_init(&call->ended);
	err = thread_start(&thread, run, call);
	if (err) {
		call_free(call);
		return err;
	}
	pthread_detach(thread);
	if (!wait_for(call))
		return -ETIMEDOUT;
	*ret_call = call;
	return 0;
}

int aside_read_whole(const char *path, size_t max, char **ret_text, size_t *ret_size)
{
	struct call *call;
	int err = make_call(path, max, &call);

	if (err)
		return err;
	err = call->result;
	if (!err) {
		*ret_text = call->text;
		*ret_size = call->size;
		call->text = NULL;
	}
	call_free(call);
	return err;
}

int aside_open_program(const char *path)
{
	struct call *call;
	int fd = make_call(path, 0, &call);

	if (fd)
		return fd;
	fd = call->result;
	call_free(call);
	return fd;
}
