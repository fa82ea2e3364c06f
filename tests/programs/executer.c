// SPDX-License-Identifier: MIT
/*
 * executer NUMBER [COMMAND...]: says "ready NUMBER", and after a line on standard input allocates
 * as many blocks of 1000 bytes in hold(), of which it frees every fourth, and says "held NUMBER".
 * After another line it executes the command, or exits; without LD_PRELOAD when EXECUTER_BARE is
 * set.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void *hold(void)
{
	void *block = malloc(1000);

	if (!block)
		abort();
	memset(block, 1, 1000);
	return block;
}

static void line_wait(void)
{
	char byte = 0;

	while (byte != '\n' && read(STDIN_FILENO, &byte, 1) == 1) {
	}
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[1]) : 0;
	void *last = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %d\n", number);
	line_wait();
	for (int i = 0; i < number; i++) {
		last = hold();
		if (i % 4 == 0)
			free(last);
	}
	printf("held %d\n", number);
	line_wait();
	if (getenv("EXECUTER_BARE"))
		unsetenv("LD_PRELOAD");
	if (argc > 2)
		execvp(argv[2], argv + 2);
	return last == NULL;
}
