// SPDX-License-Identifier: MIT
/*
 * reloader LIBRARY: loads a library, allocates through its plugin_run(), and unloads it, again and
 * again, each time at other addresses, until standard input ends. It prints the number of rounds
 * after every 500.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static __attribute__((noinline)) void allocate(unsigned long size)
{
	for (int i = 0; i < 16; i++) {
		void *block = malloc(4096);

		__asm__ volatile("" : : "r"(block) : "memory");
		free(block);
	}
}

int main(int argc, char **argv)
{
	struct pollfd input = {.fd = 0, .events = POLLIN};

	if (argc != 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (unsigned int round = 1; poll(&input, 1, 0) == 0; round++) {
		/* Takes the place that the last one had. */
		size_t gap = 65536 * (1 + round % 1021);
		void *taken = mmap(
			NULL, gap, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		void *library = dlopen(argv[1], RTLD_LAZY);
		void *function = library ? dlsym(library, "plugin_run") : NULL;

		if (!function || taken == MAP_FAILED)
			return 1;
		((void (*)(void (*)(unsigned long)))function)(allocate);
		dlclose(library);
		munmap(taken, gap);
		if (round % 500 == 0)
			printf("round %u\n", round);
	}
	return 0;
}
