/* SPDX-License-Identifier: MIT */
/*
 * gcov writes its counts when a process exits. In a coverage build, these keep the counts of one
 * that is meant to end by a signal or by _exit; in others they do nothing.
 */
#ifndef TESTS_ALLOC_COUNTS_H
#define TESTS_ALLOC_COUNTS_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

void __gcov_dump(void) __attribute__((weak));

/* To be called before _exit. It allocates. */
static inline void counts_keep(void)
{
	if (__gcov_dump)
		__gcov_dump();
}

static inline void counts_on_signal(int sig)
{
	/* A thread that has been cancelled must not end at the first of these calls. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	/* What a damaged heap says to this is not what the test has asked for. */
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	counts_keep();
}

/* SIGABRT and SIGSEGV end the process as ever, after `keep`: counts_on_signal or what calls it. */
static inline void counts_keep_at_signals(void (*keep)(int))
{
	struct sigaction action = {.sa_handler = keep, .sa_flags = SA_RESETHAND};

	if (!__gcov_dump)
		return;
	sigaction(SIGABRT, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

#endif
