// SPDX-License-Identifier: MIT
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privilege.h"

/* Rights from sudo or ambient capabilities are meant for the profiler, not for the program. */
static int rights_drop(void)
{
	struct ap_sudo_user user;
	int err = ap_sudo_user_find(&user);

	if (!err)
		err = ap_sudo_user_become(&user);
	if (!err && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0))
		err = -errno;
	return err;
}

static int preload(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	char *list;
	int err;

	if (!before || !*before)
		return setenv("LD_PRELOAD", library, 1) ? -errno : 0;
	if (asprintf(&list, "%s:%s", before, library) < 0)
		return -ENOMEM;
	err = setenv("LD_PRELOAD", list, 1) ? -errno : 0;
	free(list);
	return err;
}

/* In the child. The pipe closes without a byte when the parent gives up or dies. */
static void child_main(int go, int failed, char **command, const char *library)
{
	char byte;
	int err;

	if (read(go, &byte, 1) != 1)
		_exit(AP_EXIT_RUN_FAILURE);
	signal(SIGPIPE, SIG_DFL);
	err = rights_drop();
	if (!err)
		err = preload(library);
	if (!err) {
		execvp(command[0], command);
		err = -errno;
	}
	if (write(failed, &err, sizeof(err)) < 0) {
		/* The parent is gone, and does not need to be told. */
	}
	_exit(AP_EXIT_RUN_FAILURE);
}

int ap_child_fork(struct ap_child *child, char **command, const char *library)
{
	int go[2], failed[2];
	int err;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		close(go[0]);
		close(go[1]);
		return err;
	}
	child->pid = fork();
	err = -errno;
	if (!child->pid) {
		close(go[1]);
		close(failed[0]);
		child_main(go[0], failed[1], command, library);
	}
	close(go[0]);
	close(failed[1]);
	child->go = go[1];
	child->failed = failed[0];
	if (child->pid > 0)
		return 0;
	child->pid = 0;
	ap_child_clear(child);
	return err;
}

int ap_child_exec(struct ap_child *child, const char *name, struct ap_error *error)
{
	int failure;
	ssize_t length;

	ap_child_hold_begin(&child->hold, child->pid);
	if (write(child->go, "", 1) != 1) {
		ap_error_what(error, AP_EXIT_RUN_FAILURE, "%s ended before its start", name);
		ap_error_hint(error, "see who killed it with: dmesg | tail; or run it again");
		return -ECHILD;
	}
	ap_child_hold_exec(&child->hold);
	/* An end of file means that the exec succeeded, which closed the other end. */
	do {
		length = read(child->failed, &failure, sizeof(failure));
	} while (length < 0 && errno == EINTR);
	if (length != sizeof(failure)) {
		ap_child_hold_libraries(&child->hold);
		return 0;
	}
	ap_error_what(error,
		failure == -ENOENT ? AP_EXIT_RUN_NOT_FOUND : AP_EXIT_RUN_NOT_EXECUTABLE,
		"cannot run %s", name);
	ap_error_detail(error, "%s", strerror(-failure));
	if (failure == -ENOENT)
		ap_error_hint(error, "check the name, or give its path");
	else
		ap_error_hint(
			error, "see who may run it, and what it is: ls -l %s; file %s", name, name);
	return failure;
}

int ap_child_wait(struct ap_child *child)
{
	int status;
	pid_t pid;

	ap_child_hold_wait(&child->hold);
	do {
		pid = waitpid(child->pid, &status, 0);
	} while (pid < 0 && errno == EINTR);
	child->pid = 0;
	if (pid < 0)
		return AP_EXIT_RUN_FAILURE;
	return WIFSIGNALED(status) ? AP_EXIT_RUN_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

void ap_child_clear(struct ap_child *child)
{
	if (child->go >= 0)
		close(child->go);
	if (child->failed >= 0)
		close(child->failed);
	child->go = child->failed = -1;
}
