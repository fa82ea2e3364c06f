// SPDX-License-Identifier: MIT
/* A library that is linked with the allocator, for alloc_dlopen to load and unload. */
#include <stdlib.h>
#include <string.h>

int plugin_work(int seed);
void *plugin_malloc(size_t size);
void plugin_free(void *block);

int plugin_work(int seed)
{
	void *blocks[200];

	for (int i = 0; i < 200; i++) {
		blocks[i] = malloc(16 << i % 14);
		if (!blocks[i])
			return 1;
		memset(blocks[i], seed + i, 16 << i % 14);
	}
	for (int i = 0; i < 200; i++) {
		if (((unsigned char *)blocks[i])[15] != (unsigned char)(seed + i))
			return 1;
		free(blocks[i]);
	}
	return 0;
}

void *plugin_malloc(size_t size)
{
	return malloc(size);
}

void plugin_free(void *block)
{
	free(block);
}
