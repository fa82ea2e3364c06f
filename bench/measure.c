// SPDX-License-Identifier: MIT
/*
 * measure [-p LIBRARY] [-c CPUS] [-i FILE] [-o FILE] [-n TIMES] COMMAND...
 *
 * Runs the command with the library preloaded, on the CPUs of a bit mask, and prints what it and
 * its children used, a line for each run:
 *
 *   STATUS USER SYSTEM WALL RSS      (exit status or 128 + signal; seconds; peak KiB)
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
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *preload, *input = "/dev/null", *output = "/dev/null";
static unsigned long cpus;

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

static _Noreturn void child(char **command)
{
	int in = open(input, O_RDONLY), out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0) {
		fprintf(stderr, "measure: %s: %s\n", in < 0 ? input : output, strerror(errno));
		_exit(127);
	}
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	execvp(*command, command);
	fprintf(stderr, "measure: %s: %s\n", *command, strerror(errno));
	_exit(127);
}

static int run(char **command)
{
	struct rusage usage;
	double start = now();
	int status;
	pid_t pid = fork();

	if (pid < 0) {
		perror("measure: fork");
		return -1;
	}
	if (pid == 0)
		child(command);
	while (wait4(pid, &status, 0, &usage) < 0) {
		if (errno != EINTR) {
			perror("measure: wait4");
			return -1;
		}
	}
	printf("%d %.6f %.6f %.6f %ld\n",
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		seconds(usage.ru_utime), seconds(usage.ru_stime), now() - start, usage.ru_maxrss);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	long times = 1;
	int option;

	while ((option = getopt(argc, argv, "+p:c:i:o:n:")) != -1) {
		switch (option) {
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
		fprintf(stderr,
			"usage: measure [-p LIBRARY] [-c CPUS] [-i FILE] [-o FILE] [-n TIMES] "
			"COMMAND...\n");
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
