// SPDX-License-Identifier: MIT
/*
 * Fires from a stack whose pages are not resident: a thread's stack is in a file that is mapped,
 * and on a byte of its standard input the part above the innermost frames is taken out of its page
 * tables. Then it fires once a millisecond, without touching that part, and prints "done".
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "probes.h"

#define STACK  (1 << 20)
#define PAGE   4096
#define ROUNDS 500

static char *stack;

static __attribute__((noinline)) void leaf(void)
{
	/* From the second page above on: this one and the next are in use. */
	uintptr_t from =
		((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(PAGE - 1)) + 2 * PAGE;
	char byte;

	puts("ready");
	if (read(0, &byte, 1) != 1)
		exit(1);
	if (madvise((void *)from, (uintptr_t)stack + STACK - from, MADV_DONTNEED))
		exit(1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		fire_alloc(0x1000, 16, 16);
		fire_free(0x1000);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

/* Half a page each. */
static __attribute__((noinline)) void descend(unsigned int depth)
{
	volatile char large[PAGE / 2];

	large[0] = 1;
	if (depth)
		descend(depth - 1);
	else
		leaf();
	large[1] = 2;
}

static void *thread_main(void *unused)
{
	descend(60);
	puts("done");
	pause();
	return NULL;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int file = memfd_create("stack", MFD_CLOEXEC);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (file < 0 || ftruncate(file, STACK))
		return 1;
	stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (stack == MAP_FAILED)
		return 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, STACK);
	if (pthread_create(&thread, &attributes, thread_main, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
