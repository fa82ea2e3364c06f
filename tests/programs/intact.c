// SPDX-License-Identifier: MIT
/*
 * Allocates and frees without rest, and knows what every byte of its blocks must be: intact
 * [THREADS]. For each byte of its standard input it prints "intact N" when every thread has looked
 * at all that it holds once more; a byte that is wrong ends it with "damaged" and status 1. At the
 * end of its standard input it exits.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS	    512
#define THREADS_MAX 16

struct block {
	unsigned char *bytes;
	size_t size;
	unsigned char value;
};

static atomic_ulong asked, looked;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static __attribute__((noinline)) void block_make(struct block *block, uint64_t random)
{
	/* Small ones mostly; a few too large for a span. */
	block->size = random % 64 ? 1 + random % 3001 : 100000 + random % 100003;
	block->value = random >> 32;
	block->bytes = malloc(block->size);
	if (!block->bytes)
		abort();
	memset(block->bytes, block->value, block->size);
}

static void block_check(const struct block *block)
{
	for (size_t i = 0; i < block->size; i++)
		if (block->bytes[i] != block->value) {
			printf("damaged: byte %zu of %zu\n", i, block->size);
			_exit(1);
		}
}

static void *worker(void *argument)
{
	static __thread struct block blocks[SLOTS];
	uint64_t random = 0x9e3779b97f4a7c15 * (1 + (uintptr_t)argument);
	unsigned long answered = 0;

	for (;;) {
		for (int i = 0; i < 256; i++) {
			uint64_t next = random_next(&random);
			struct block *block = &blocks[next % SLOTS];

			if (block->bytes) {
				block_check(block);
				free(block->bytes);
			}
			block_make(block, next >> 16);
		}
		for (; answered < asked; answered++) {
			for (int i = 0; i < SLOTS; i++)
				if (blocks[i].bytes)
					block_check(&blocks[i]);
			looked++;
		}
		/* The machine is for others, too. */
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
	pthread_t id;
	char byte;

	if (!threads || threads > THREADS_MAX)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&id, NULL, worker, (void *)(uintptr_t)i))
			return 1;
	printf("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0) {
		asked++;
		while (looked < asked * threads)
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
		printf("intact %lu\n", asked);
	}
	return 0;
}
