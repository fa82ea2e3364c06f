// SPDX-License-Identifier: MIT
/*
 * One thread, blocks of one kind each, N steps:
 *
 *   blocks mixed N     10,000 slots of 16 bytes to 64 KiB, each octave equally likely
 *   blocks middle N    16 slots of 64 KiB to 4 MiB, a byte of each page written
 *   blocks large N     8 slots of 1 to 32 MiB, likewise
 *   blocks aligned N   256 slots aligned to 16 bytes to 4 KiB
 *   blocks calloc N    256 slots of 16 to 1039 bytes, every 64th of up to 128 KiB
 *   blocks realloc N   64 buffers that grow: 56 by a few bytes to 4 KiB, 8 by half to 256 KiB
 *
 * What is stored is little: a program would do it whatever the allocator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

#define PAGE ((size_t)4096)

static void *checked(void *block)
{
	if (!block) {
		fprintf(stderr, "blocks: out of memory\n");
		exit(1);
	}
	return block;
}

/* Writes to the block as a user of all of it would, at a small part of the cost. */
static void touch(char *block, size_t size)
{
	for (size_t i = 0; i < size; i += PAGE)
		block[i] = 1;
	block[size - 1] = 1;
}

/* Replaces a random one of the slots, each time by a block of random size. */
static void replace(long n, size_t slots, size_t low, size_t high)
{
	char **slot = checked(calloc(slots, sizeof(*slot)));
	uint32_t state = 1;

	for (long i = 0; i < n; i++) {
		char **at = &slot[random_next(&state) % slots];
		size_t size = random_size(&state, low, high);

		free(*at);
		*at = checked(malloc(size));
		touch(*at, size);
	}
	for (size_t i = 0; i < slots; i++)
		free(slot[i]);
	free(slot);
}

static void run_mixed(long n)
{
	replace(n, 10000, 16, 64 << 10);
}

static void run_middle(long n)
{
	replace(n, 16, 64 << 10, 4 << 20);
}

static void run_large(long n)
{
	replace(n, 8, 1 << 20, 32 << 20);
}

static void run_aligned(long n)
{
	static void *slot[256];
	uint32_t state = 1;

	for (long i = 0; i < n; i++) {
		void **at = &slot[random_next(&state) % 256];
		size_t alignment = (size_t)16 << random_next(&state) % 9;

		free(*at);
		if (posix_memalign(at, alignment, 16 + random_next(&state) % 1024))
			checked(NULL);
		*(char *)*at = 1;
	}
}

static void run_calloc(long n)
{
	static char *slot[256];
	uint32_t state = 1;

	for (long i = 0; i < n; i++) {
		char **at = &slot[random_next(&state) % 256];
		uint32_t r = random_next(&state);
		size_t size = 16 + r % (i % 64 ? 1024 : 128 << 10);

		free(*at);
		*at = checked(calloc(1, size));
		if ((*at)[size / 2])
			abort();
		memset(*at, 1, size < 64 ? size : 64);
		(*at)[size / 2] = 1;
	}
}

static void run_realloc(long n)
{
	static char *buffer[64];
	static size_t size[64];
	uint32_t state = 1;

	for (long i = 0; i < n; i++) {
		uint32_t k = random_next(&state) % 64;
		/* Strings that are appended to, and vectors that grow by half. */
		size_t limit = k % 8 ? 4 << 10 : 256 << 10;
		size_t more = k % 8 ? 16 + random_next(&state) % 64 : 16 + size[k] / 2;

		if (size[k] + more > limit) {
			free(buffer[k]);
			buffer[k] = NULL;
			size[k] = 0;
		}
		buffer[k] = checked(realloc(buffer[k], size[k] + more));
		memset(buffer[k] + size[k], (int)k, more);
		size[k] += more;
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long n);
	} kinds[] = {
		{"mixed", run_mixed},
		{"middle", run_middle},
		{"large", run_large},
		{"aligned", run_aligned},
		{"calloc", run_calloc},
		{"realloc", run_realloc},
	};
	long n = argc == 3 ? atol(argv[2]) : 0;

	for (size_t i = 0; n > 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run(n);
			return 0;
		}
	}
	fprintf(stderr, "usage: blocks mixed|middle|large|aligned|calloc|realloc N\n");
	return 2;
}
