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

#include <allocprof/probe.h>

AP_SEMAPHORE volatile uint16_t alloc_semaphore;
AP_SEMAPHORE volatile uint16_t free_semaphore;

#define ROUNDS 600

static __attribute__((noinline)) void fire(uint64_t pointer)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;
	register uint64_t arg1 __asm__(AP_ARG1) = 16;
	register uint64_t arg2 __asm__(AP_ARG2) = 16;

	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore",
		AP_ARGS3) AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2)
			 : "memory");
}

static __attribute__((noinline)) void fire_first(unsigned long size)
{
	fire(0x1000);
	__asm__ volatile("");
}

static __attribute__((noinline)) void fire_second(unsigned long size)
{
	fire(0x2000);
	__asm__ volatile("");
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
