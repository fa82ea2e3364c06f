// SPDX-License-Identifier: MIT
/*
 * Holds 4000 blocks of 10007 bytes, which keeps() has allocated, and has allocated and freed 10000
 * of 5003 in churns().
 */
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static void *keeps(size_t size)
{
	void *block = malloc(size);

	memset(block, 1, size);
	return block;
}

__attribute__((noinline)) static void churns(size_t size)
{
	for (int i = 0; i < 10000; i++)
		free(malloc(size));
}

int main(void)
{
	static void *kept[4000];

	for (int i = 0; i < 4000; i++)
		kept[i] = keeps(10007);
	churns(5003);
	return kept[3999] == NULL;
}
