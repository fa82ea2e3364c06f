// SPDX-License-Identifier: MIT
/*
 * Loads libraries and fires from them: dlopener FIRST SECOND. On a byte of its standard input it
 * loads FIRST and fires through its plugin_run() for a while; unloads it, loads SECOND, as large
 * and so, usually, at the same addresses, and fires through that. It prints "same" or "other" for
 * the addresses, and "done".
 *
 * What FIRST calls back is fire_first(), and SECOND fire_second(): no stack may have the one under
 * the other's functions.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "probes.h"

#define ROUNDS 600

static __attribute__((noinline)) void fire_first(unsigned long size)
{
	fire_alloc(0x1000, 16, 16);
	fire_free(0x1000);
}

static __attribute__((noinline)) void fire_second(unsigned long size)
{
	fire_alloc(0x2000, 16, 16);
	fire_free(0x2000);
}

/* Where its plugin_run() is. */
static uintptr_t run(const char *path, void (*callback)(unsigned long))
{
	void *library = dlopen(path, RTLD_LAZY);
	void *function = library ? dlsym(library, "plugin_run") : NULL;

	if (!function) {
		puts(dlerror());
		exit(1);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		((void (*)(void (*)(unsigned long)))function)(callback);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	dlclose(library);
	return (uintptr_t)function;
}

int main(int argc, char **argv)
{
	uintptr_t first, second;
	char byte;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	if (read(0, &byte, 1) != 1)
		return 1;
	first = run(argv[1], fire_first);
	second = run(argv[2], fire_second);
	puts(first == second ? "same" : "other");
	puts("done");
	pause();
	return 0;
}
