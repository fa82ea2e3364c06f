// SPDX-License-Identifier: MIT
/*
 * measure [-w] [-p LIBRARY] [-c CPUS] [-i FILE] [-o FILE] [-n TIMES] COMMAND...
 *
 * Runs the command with the library preloaded, on the CPUs of a bit mask, and prints what it and
 * its children used, a line for each run:
 *
 *   STATUS USER SYSTEM WALL RSS WAIT4    (exit status or 128 + signal; seconds; peak KiB, twice)
 *
 * RSS is the largest VmHWM that a process had when it ended, read as it stood there. WAIT4 is
 * ru_maxrss, for which Linux 6.2 and later leave out what each CPU has not yet added to the sum: up
 * to 128 KiB each of file and other pages on two CPUs, and mostly all of a small process's heap.
 * (Seen: 1,068 to 1,252 for a process with 1,290.) Processes are traced for that, but stop only where
 * they fork and end. With -w they are not, and RSS is WAIT4.
 *
 * A program of its own because the kernel counts what a process had resident before exec to its
 * peak: a child of python would never show less than python's own memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *preload, *input = "/dev/null", *output = "/dev/null";
static unsigned long cpus;
static int traced = 1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static _Noreturn void child(char **command, int ready)
{
	int in = open(input, O_RDONLY), out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	char byte;

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0) {
		fprintf(stderr, "measure: %s: %s\n", in < 0 ? input : output, strerror(errno));
		_exit(127);
	}
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	/* Until the parent has seized us. */
	if (read(ready, &byte, 1) < 0)
		_exit(127);
	execvp(*command, command);
	fprintf(stderr, "measure: %s: %s\n", *command, strerror(errno));
	_exit(127);
}

/* Starts the command. -1: that failed, and has been told. */
static pid_t start(char **command)
{
	int ready[2];
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC)) {
		perror("measure: pipe");
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		close(ready[1]);
		child(command, ready[0]);
	}
	if (pid < 0) {
		perror("measure: fork");
	} else if (traced &&
		   ptrace(PTRACE_SEIZE, pid, NULL,
			   PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK)) {
		perror("measure: ptrace (-w does without)");
		kill(pid, SIGKILL);
	}
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* The most that a process has had resident so far, KiB. */
static long peak_of(pid_t pid)
{
	char path[32], line[128];
	FILE *file;
	long peak = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "VmHWM: %ld", &peak) == 1)
			break;
	if (file)
		fclose(file);
	return peak;
}

/* Lets a stopped process go on; what it stopped for is what wait4 says. */
static void go_on(pid_t pid, int status)
{
	/* Anything but a signal on its way to the process is the tracer's own business. */
	ptrace(PTRACE_CONT, pid, NULL, (long)(status >> 16 ? 0 : WSTOPSIG(status)));
}

static int run(char **command)
{
	struct rusage usage;
	double started = now();
	long peak = 0, at_end;
	pid_t pid = start(command), who;
	int status;

	if (pid < 0)
		return -1;
	for (;;) {
		who = wait4(-1, &status, __WALL, &usage);
		if (who < 0 && errno != EINTR) {
			perror("measure: wait4");
			return -1;
		}
		if (who > 0 && WIFSTOPPED(status)) {
			if (status >> 16 == PTRACE_EVENT_EXIT) {
				at_end = peak_of(who);
				peak = at_end > peak ? at_end : peak;
			}
			go_on(who, status);
		} else if (who == pid) {
			break;
		}
	}
	printf("%d %.6f %.6f %.6f %ld %ld\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		seconds(usage.ru_utime), seconds(usage.ru_stime), now() - started,
		peak ? peak : usage.ru_maxrss, usage.ru_maxrss);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	long times = 1;
	int option;

	while ((option = getopt(argc, argv, "+wp:c:i:o:n:")) != -1) {
		switch (option) {
		case 'w':
			traced = 0;
			break;
		case 'p':
			preload = *optarg ? optarg : NULL;
			break;
		case 'c':
			cpus = strtoul(optarg, NULL, 0);
			break;
		case 'i':
			input = optarg;
			break;
		case 'o':
			output = optarg;
			break;
		case 'n':
			times = atol(optarg);
			break;
		default:
			optind = argc;
		}
	}
	if (optind >= argc || times < 1) {
		fprintf(stderr, "usage: measure [-w] [-p LIBRARY] [-c CPUS] [-i FILE] [-o FILE] "
				"[-n TIMES] COMMAND...\n");
		return 2;
	}
	if (cpus) {
		cpu_set_t set;

		CPU_ZERO(&set);
		for (int cpu = 0; cpu < 64; cpu++)
			if (cpus >> cpu & 1)
				CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("measure: sched_setaffinity");
			return 1;
		}
	}
	while (times--)
		if (run(argv + optind))
			return 1;
	return 0;
}
