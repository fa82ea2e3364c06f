// SPDX-License-Identifier: MIT
/*
 * Has children that have a child at once, ROUNDS times one after the other: who follows them may see
 * the younger one first. Both allocate BLOCKS blocks of 100,000 bytes in work(), and end.
 *
 *	generations ROUNDS BLOCKS
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void work(int blocks)
{
	for (int i = 0; i < blocks; i++)
		if (!malloc(100000))
			abort();
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[1]) : 0, blocks = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < rounds; i++) {
		pid_t child = fork(), grandchild;

		if (child) {
			waitpid(child, NULL, 0);
			continue;
		}
		grandchild = fork();
		work(blocks);
		if (grandchild)
			waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	return 0;
}
