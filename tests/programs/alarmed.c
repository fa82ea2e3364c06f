// SPDX-License-Identifier: MIT
/* Reads the clock, in the code that the kernel maps, until a signal's handler allocates there. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static void allocate(int signal)
{
	free(malloc(1000003));
}

__attribute__((noinline)) void read_clock(void)
{
	struct timespec time;

	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &time);
}

int main(void)
{
	struct itimerval every = {.it_interval.tv_usec = 2000, .it_value.tv_usec = 2000};

	puts("ready");
	fflush(stdout);
	/* From here on it does not allocate itself, where its handler could not do so, too. */
	signal(SIGALRM, allocate);
	setitimer(ITIMER_REAL, &every, NULL);
	read_clock();
}
