// SPDX-License-Identifier: MIT
/*
 * Forks and executes while it is being recorded. At a byte of standard input, it allocates in
 * parent(), forks a child that allocates in child(), frees what it inherited, and stays; and starts
 * itself anew, by fork and exec and by posix_spawn, to allocate in executed(). It prints
 *
 *   forked PID, executed PID    a child has done that; at SIGUSR1 it allocates in again()
 *   done ALLOCATED LIVE         blocks of parent()
 *
 * All blocks are of 4 KiB and more: with a period of a few bytes every one of them is a sample. The
 * children end with their parent, which ends with its standard input.
 */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define BLOCKS 40

extern char **environ;

static void *kept[2 * BLOCKS];

/* Allocates blocks, and frees the second half of them. */
#define SITE(name)                                                      \
	static __attribute__((noinline)) void name(void **at)           \
	{                                                               \
		for (int i = 0; i < BLOCKS; i++) {                      \
			at[i] = malloc(4096 + 1024 * (size_t)(i % 64)); \
			if (!at[i])                                     \
				abort();                                \
		}                                                       \
		for (int i = BLOCKS / 2; i < BLOCKS; i++)               \
			free(at[i]);                                    \
	}
SITE(parent)
SITE(child)
SITE(executed)
SITE(again)

/* A slow path, which tells all threads whether somebody listens. */
static void listener_see(void)
{
	free(malloc(1 << 20));
}

static _Noreturn void stay(const char *what)
{
	void *block[BLOCKS];
	sigset_t set;
	int received;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	printf("%s %d\n", what, getpid());
	for (;;) {
		sigwait(&set, &received);
		listener_see();
		again(block);
		printf("again %d\n", getpid());
	}
}

static _Noreturn void forked_run(void)
{
	void *block[BLOCKS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	listener_see();
	child(block);
	for (int i = 0; i < BLOCKS / 2; i++)
		free(kept[i]);
	stay("forked");
}

static _Noreturn void executed_run(void)
{
	void *block[BLOCKS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	listener_see();
	executed(block);
	stay("executed");
}

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "executed", NULL}, byte;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		executed_run();
	printf("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0) {
		listener_see();
		parent(kept);
		if (fork() == 0)
			forked_run();
		if (fork() == 0) {
			execve("/proc/self/exe", arguments, environ);
			_exit(127);
		}
		if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ))
			return 1;
		parent(kept + BLOCKS);
		printf("done %d %d\n", 2 * BLOCKS, BLOCKS);
	}
	return 0;
}
