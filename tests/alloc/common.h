/* SPDX-License-Identifier: MIT */
/* What the allocator's tests share. A .c file that includes this is linked with the allocator. */
#ifndef TESTS_ALLOC_COMMON_H
#define TESTS_ALLOC_COMMON_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdbool.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "counts.h"

/* Resident bytes of this process, read without an allocation. */
static inline size_t rss_bytes(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	unsigned long total = 0, resident = 0;
	char text[128];
	ssize_t length = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (length > 0) {
		text[length] = 0;
		sscanf(text, "%lu %lu", &total, &resident);
	}
	return resident * 4096;
}

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* How a child ended. */
struct ending {
	int status;	    /* as from waitpid */
	bool hung;	    /* killed after the time limit */
	size_t length;	    /* of what it wrote to stderr, cut to what fits */
	char stderr_[4096]; /* ends in 0 */
};

/* Runs body(argument) in a child and collects what it says. The child that returns exits with 0. */
static inline struct ending child_run(void (*body)(void *), void *argument, int seconds)
{
	struct ending ending = {0};
	int pipes[2], left = seconds * 1000;
	struct timespec start, now;
	pid_t pid;

	if (pipe(pipes))
		abort();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		/* cmocka's handlers would turn the signal that is expected into a failed test. */
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_DFL);
		counts_keep_at_signals(counts_on_signal);
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		body(argument);
		counts_keep();
		_exit(0);
	}
	close(pipes[1]);
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		struct pollfd ready = {.fd = pipes[0], .events = POLLIN};
		char chunk[512];
		ssize_t count;

		clock_gettime(CLOCK_MONOTONIC, &now);
		left = seconds * 1000 - (now.tv_sec - start.tv_sec) * 1000;
		if (left <= 0 || poll(&ready, 1, left) <= 0) {
			ending.hung = true;
			kill(pid, SIGKILL);
			break;
		}
		count = read(pipes[0], chunk, sizeof(chunk));
		if (count <= 0)
			break;
		if (ending.length + count >= sizeof(ending.stderr_))
			count = sizeof(ending.stderr_) - 1 - ending.length;
		memcpy(ending.stderr_ + ending.length, chunk, count);
		ending.length += count;
	}
	close(pipes[0]);
	waitpid(pid, &ending.status, 0);
	return ending;
}

#endif
