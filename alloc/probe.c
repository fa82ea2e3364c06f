// SPDX-License-Identifier: MIT
#include "probe.h"

#if AP_PROBES

exported uint64_t allocprof_sample_period = AP_PERIOD_DEFAULT;
extern uint64_t ap_period_set __attribute__((alias("allocprof_sample_period")));

AP_SEMAPHORE union ap_probe_word ap_alloc_word = {.step = PROBE_STEP_IDLE};
AP_SEMAPHORE uint16_t ap_free_semaphore;
_Static_assert(offsetof(union ap_probe_word, semaphore) == 2, "the site says so below");

/*
 * Asking for the frame's address makes the compiler set up a frame before the site, so that an
 * unwinder that starts there finds the caller.
 */
__attribute__((noinline)) void ap_probe_alloc(const void *pointer, size_t size, uint64_t weight)
{
	register const void *arg0 __asm__(AP_ARG0) = pointer;
	register size_t arg1 __asm__(AP_ARG1) = size;
	register uint64_t arg2 __asm__(AP_ARG2) = weight;

	__asm__ volatile(AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_ALLOC, "ap_alloc_word + 2",
				 AP_ARGS3)::"r"(arg0),
			 "r"(arg1), "r"(arg2), "r"(__builtin_frame_address(0))
			 : "memory");
}

__attribute__((noinline)) void ap_probe_free(const void *pointer)
{
	register const void *arg0 __asm__(AP_ARG0) = pointer;

	__asm__ volatile(
		AP_SITE(AP_PROBE_PROVIDER, AP_PROBE_FREE, "ap_free_semaphore", AP_ARGS1)::"r"(arg0),
		"r"(__builtin_frame_address(0))
		: "memory");
}

uint64_t ap_probe_period(void)
{
	uint64_t period = __atomic_load_n(&ap_period_set, __ATOMIC_RELAXED);

	return period ? period : AP_PERIOD_DEFAULT;
}

void ap_probe_period_reset(void)
{
	uint64_t period = ap_probe_period();

	/* If it is still that: the next profiler may be setting its own just now. */
	__atomic_compare_exchange_n(&ap_period_set, &period, AP_PERIOD_DEFAULT, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif
