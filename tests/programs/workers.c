// SPDX-License-Identifier: MIT
/*
 * A server with workers. Each byte of standard input says what it does: h holds 4 MiB more itself,
 * in server(); w starts a worker, the k-th of which holds k times 8 MiB, in worker(); x starts one
 * that holds 8 MiB in before() and executes itself then, to hold 16 MiB in after(). Of blocks of 64
 * KiB: with a period of a few bytes each of them is a sample. It prints
 *
 *   server, worker PID, executed PID    once that is held
 *
 * At SIGUSR1 a worker holds 8 MiB more, in more(), and prints "more PID". They all end with the
 * server, which ends with its standard input.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK  (64 << 10)
#define BLOCKS (8 << 20 >> 16) /* of 8 MiB */

extern char **environ;

#define SITE(name)                                                      \
	static __attribute__((noinline)) void name(int blocks)          \
	{                                                               \
		while (blocks--) {                                      \
			void *block = malloc(BLOCK);                    \
                                                                        \
			if (!block)                                     \
				abort();                                \
			__asm__ volatile("" : : "r"(block) : "memory"); \
		}                                                       \
	}
SITE(server)
SITE(worker)
SITE(before)
SITE(after)
SITE(more)

static _Noreturn void stay(const char *what)
{
	sigset_t set;
	int received;

	printf("%s %d\n", what, getpid());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	for (;;) {
		sigwait(&set, &received);
		more(BLOCKS);
		printf("more %d\n", getpid());
	}
}

int main(int argc, char **argv)
{
	char *arguments[] = {argv[0], "executed", NULL}, byte;
	sigset_t set;
	int count = 0;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGCHLD, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (argc > 1) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		after(2 * BLOCKS);
		stay("executed");
	}
	puts("ready");
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == 'h') {
			server(BLOCKS / 2);
			puts("server");
			continue;
		}
		count += byte == 'w';
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (byte == 'w') {
			worker(count * BLOCKS);
			stay("worker");
		}
		before(BLOCKS);
		execve("/proc/self/exe", arguments, environ);
		_exit(127);
	}
	return 0;
}
