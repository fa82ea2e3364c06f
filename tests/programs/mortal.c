// SPDX-License-Identifier: MIT
/*
 * Holds 64 MiB, allocated at the first byte of standard input, and dies as the second one says: by
 * exit(3) for e, a null pointer for s, SIGKILL for k; with m it allocates until somebody stops it.
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
	char how = 0;

	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	if (read(STDIN_FILENO, &how, 1) != 1)
		return 1;
	hold((64 << 20) / BLOCK);
	puts("holds");
	if (read(STDIN_FILENO, &how, 1) != 1)
		return 1;
	switch (how) {
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
	return 0;
}
