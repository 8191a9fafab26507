// SPDX-License-Identifier: GPL-2.0-or-later
/* Without memory the program ends with one line and status 1, in each of its threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"
#include "tests/unit/unit.h"

#define TOO_MUCH (SIZE_MAX / 4)

/* Else AddressSanitizer ends the program before kvmtop does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void grow_too_much(void)
{
	volatile size_t too_many = TOO_MUCH; /* volatile: the compiler would warn */
	uint64_t *array = NULL;
	size_t room = 0;

	array_grow(&array, &room, too_many);
}

static void *grow_in_thread(void *arg)
{
	(void)arg;
	grow_too_much();
	return NULL;
}

/* Several at once, while standard output has a lock and bytes that were not written. */
static void grow_in_threads(void)
{
	pthread_t threads[8];

	flockfile(stdout);
	printf("half a line");
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_create(&threads[i], NULL, grow_in_thread, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
}

static void restore(void)
{
	(void)!write(STDERR_FILENO, "restored\n", 9);
}

static void restore_and_grow(void)
{
	out_of_memory_restores(restore);
	grow_too_much();
}

/* What the program writes to standard output and standard error, and its exit status. */
static void run(void (*function)(void), const char *text, int status)
{
	char got[256];
	size_t size = 0;
	ssize_t n;
	int pipe_fds[2], result;
	pid_t pid;

	assert_int_equal(pipe(pipe_fds), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(10);
		dup2(pipe_fds[1], STDOUT_FILENO);
		dup2(pipe_fds[1], STDERR_FILENO);
		close(pipe_fds[0]);
		function();
		_exit(0);
	}
	close(pipe_fds[1]);
	while (size < sizeof(got) - 1 &&
	       (n = read(pipe_fds[0], got + size, sizeof(got) - 1 - size)) > 0)
		size += (size_t)n;
	got[size] = '\0';
	close(pipe_fds[0]);
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_string_equal(got, text);
	assert_true(WIFEXITED(result));
	assert_int_equal(WEXITSTATUS(result), status);
}

TEST(no_memory_ends_the_program)
{
	run(grow_too_much, "kvmtop: out of memory\n", 1);
}

TEST(threads_end_the_program_once)
{
	run(grow_in_threads, "kvmtop: out of memory\n", 1);
}

TEST(the_terminal_comes_before_the_message)
{
	run(restore_and_grow, "restored\nkvmtop: out of memory\n", 1);
}

TEST(text_is_made_in_memory_of_its_own)
{
	char *text = xasprintf("%s %d", "vCPU", 7);

	assert_string_equal(text, "vCPU 7");
	free(text);
}
