// SPDX-License-Identifier: MIT
/*
 * Each byte of standard input makes it misuse a block that it has just allocated: `o` writes past
 * its end, `f` reads it after its free. It harms nobody, and prints "survived" if that is true.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void block_misuse(char how)
{
	volatile char *block = malloc(4096);
	char kept;

	if (!block)
		abort();
	memset((void *)block, 1, 4096);
	if (how == 'o') {
		kept = block[4096];
		block[4096] = kept;
	}
	free((void *)block);
	if (how == 'f')
		kept = block[4095];
	(void)kept;
}

int main(void)
{
	char how;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	for (int turn = 1; read(STDIN_FILENO, &how, 1) > 0; turn++) {
		/* A slow path: from here on every thread knows whether somebody listens. */
		free(malloc(1 << 20));
		block_misuse(how);
		printf("survived %d\n", turn);
	}
	return 0;
}
