// SPDX-License-Identifier: MIT
/*
 * Does what each byte of standard input says: h holds 64 MiB more, and prints "holds N" after the
 * N-th time; others end it, by exit(3) for e, a null pointer for s, SIGKILL for k. With m it
 * allocates until somebody stops it.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK (64 << 10)

static __attribute__((noinline)) void hold(size_t blocks)
{
	while (blocks--) {
		char *block = malloc(BLOCK);

		if (!block)
			abort();
		memset(block, 1, BLOCK);
		__asm__ volatile("" : : "r"(block) : "memory");
	}
}

int main(void)
{
	volatile int *nowhere = NULL;
	int held = 0;
	char how;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (read(STDIN_FILENO, &how, 1) == 1) {
		switch (how) {
		case 'h':
			hold((64 << 20) / BLOCK);
			printf("holds %d\n", ++held);
			break;
		case 'e':
			exit(3);
		case 's':
			*nowhere = 1;
			break;
		case 'k':
			raise(SIGKILL);
			break;
		case 'm':
			hold(SIZE_MAX);
			break;
		}
	}
	return 0;
}
