// SPDX-License-Identifier: MIT
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

/* A Ctrl-C is for the parent. */
static _Noreturn void keeper_main(int end)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

void ap_keeper_start(struct ap_keeper *keeper)
{
	int ends[2];

	keeper->pid = -1;
	keeper->end = -1;
	if (pipe2(ends, O_CLOEXEC))
		return;
	keeper->pid = fork();
	if (!keeper->pid) {
		close(ends[1]);
		keeper_main(ends[0]);
	}
	close(ends[0]);
	if (keeper->pid < 0)
		close(ends[1]);
	else
		keeper->end = ends[1];
}

void ap_keeper_end(struct ap_keeper *keeper)
{
	if (keeper->pid < 0)
		return;
	close(keeper->end);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	keeper->pid = -1;
}
