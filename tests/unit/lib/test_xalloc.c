// SPDX-License-Identifier: GPL-2.0-or-later
/* Without memory the program ends with one line and status 1, in each of its threads. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

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

static void no_memory_ends_the_program(void **state)
{
	(void)state;
	run(grow_too_much, "kvmtop: out of memory\n", 1);
}

static void threads_end_the_program_once(void **state)
{
	(void)state;
	run(grow_in_threads, "kvmtop: out of memory\n", 1);
}

static void the_terminal_comes_before_the_message(void **state)
{
	(void)state;
	run(restore_and_grow, "restored\nkvmtop: out of memory\n", 1);
}

static void text_is_made_in_memory_of_its_own(void **state)
{
	char *text = xasprintf("%s %d", "vCPU", 7);

	(void)state;
	assert_string_equal(text, "vCPU 7");
	free(text);
}

UNIT(test_xalloc)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_ends_the_program),
		cmocka_unit_test(threads_end_the_program_once),
		cmocka_unit_test(the_terminal_comes_before_the_message),
		cmocka_unit_test(text_is_made_in_memory_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
