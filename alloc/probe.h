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
 * (sample.h). So the slow path learns with one load and one compare that it has nothing to do:
 * nobody listens, and nobody did.
 */
union ap_probe_word {
	struct {
		uint16_t semaphore; /* the kernel writes it */
		uint16_t armed;	    /* 0 or 1; we do */
	};
	uint32_t both;
};

#if AP_PROBES

extern union ap_probe_word ap_alloc_word __attribute__((visibility("hidden")));
extern uint16_t ap_free_semaphore __attribute__((visibility("hidden")));

/* The word, to be tested together with something else; 0 with nothing to do. */
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

#else

static inline uint32_t probe_word(void)
{
	return 0;
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

#endif

static inline bool probe_idle(void)
{
	return probe_word() == 0;
}

#endif
