/* SPDX-License-Identifier: MIT */
/*
 * The two probe sites, their semaphores, and the sampling period: this library's side of
 * include/allocprof/probe.h.
 */
#ifndef ALLOC_PROBE_H
#define ALLOC_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocprof/probe.h>

#include "types.h"

/*
 * The semaphore of `alloc`, and beside it, in the same word, whether this process has been armed
 * (sample.h). The word is what a refill adds to its heap's count of refills: one while nobody
 * listens, and nobody did; else so much that the count overflows. So the test for a profiler is
 * the one that the refill makes anyway.
 */
union ap_probe_word {
	struct {
		uint16_t step;	    /* we write it: one of the two below */
		uint16_t semaphore; /* the kernel writes it */
	};
	uint32_t both;
};

#define PROBE_STEP_IDLE	 1
#define PROBE_STEP_ARMED 0x8000

#if AP_PROBES

extern union ap_probe_word ap_alloc_word __attribute__((visibility("hidden")));
extern uint16_t ap_free_semaphore __attribute__((visibility("hidden")));

/* The exported variable, without a detour for whoever might replace it. */
extern uint64_t ap_period_set __attribute__((visibility("hidden")));

static inline uint32_t probe_word(void)
{
	return load_relaxed(ap_alloc_word.both);
}

static inline bool probe_alloc_enabled(void)
{
	return __atomic_load_n(&ap_alloc_word.semaphore, __ATOMIC_RELAXED) != 0;
}

static inline bool probe_free_enabled(void)
{
	return __atomic_load_n(&ap_free_semaphore, __ATOMIC_RELAXED) != 0;
}

/* The sites. Call them only while the semaphores are raised; each costs a trap then. */
void ap_probe_alloc(const void *pointer, size_t size, uint64_t weight);
void ap_probe_free(const void *pointer);

/* The period in force. */
uint64_t ap_probe_period(void);

/* Puts the default back: the profiler that had set another may not have lived to do it. */
void ap_probe_period_reset(void);

#else

static inline uint32_t probe_word(void)
{
	return PROBE_STEP_IDLE;
}
static inline bool probe_alloc_enabled(void)
{
	return false;
}
static inline bool probe_free_enabled(void)
{
	return false;
}
static inline void ap_probe_alloc(const void *pointer, size_t size, uint64_t weight)
{
}
static inline void ap_probe_free(const void *pointer)
{
}
static inline uint64_t ap_probe_period(void)
{
	return AP_PERIOD_DEFAULT;
}
static inline void ap_probe_period_reset(void)
{
}

#endif

static inline bool probe_idle(void)
{
	return probe_word() == PROBE_STEP_IDLE;
}

#endif
