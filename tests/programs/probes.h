/* SPDX-License-Identifier: MIT */
/*
 * The two probes, fired with whatever numbers: for programs that are a target without being an
 * allocator. Each program has them once, both of them and semaphores included.
 */
#ifndef TESTS_PROBES_H
#define TESTS_PROBES_H

#include <stdint.h>

#include <allocprof/probe.h>

AP_SEMAPHORE volatile uint16_t alloc_semaphore;
AP_SEMAPHORE volatile uint16_t free_semaphore;

/* The contract wants a frame around the site; gcc leaves it out where it sees no use for it. */
#define WITH_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static __attribute__((noinline, used)) void fire_alloc(
	uint64_t pointer, uint64_t size, uint64_t weight)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;
	register uint64_t arg1 __asm__(AP_ARG1) = size;
	register uint64_t arg2 __asm__(AP_ARG2) = weight;

	WITH_FRAME();
	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "alloc_semaphore", AP_ARGS3)
			 :
			 : "r"(arg0), "r"(arg1), "r"(arg2)
			 : "memory");
}

static __attribute__((noinline, used)) void fire_free(uint64_t pointer)
{
	register uint64_t arg0 __asm__(AP_ARG0) = pointer;

	WITH_FRAME();
	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "free_semaphore", AP_ARGS1)
			 :
			 : "r"(arg0)
			 : "memory");
}

#endif
