/* SPDX-License-Identifier: MIT */
/*
 * A profiler inside the test: raises the semaphores as the kernel would, and is called where the
 * probes would trap (the linker's --wrap). It keeps the live samples and the sums, and aborts where
 * the contract is broken: a free of a pointer that is no live sample, a second alloc of one that
 * is.
 */
#ifndef TESTS_LISTENER_H
#define TESTS_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a piece of code has allocated, and what the samples say that it has. */
struct site {
	uint64_t requested; /* bytes, counted by the test */
	uint64_t calls;
	double variance; /* of the estimate of `requested`, see site_expect() */
	uint64_t weight; /* atomic: sums over the samples */
	uint64_t samples;
	double objects; /* under the listener's lock */
};

/* Samples of the calling thread are added to this one. */
extern __thread struct site *listener_site;

/* The thread's samples so far. */
extern __thread uint64_t listener_thread_samples;

void listener_attach(uint64_t period);
void listener_detach(void);
bool listener_attached(void);
uint64_t listener_period(void);

/* Samples that are live: number and bytes. */
uint64_t listener_live(void);
uint64_t listener_fired(void); /* alloc and free probes since the process began */

/* Frees of blocks that this attach has not seen: such as an earlier attach's. */
uint64_t listener_unknown_frees(void);

/* Whether a live sample may be allocated again: while nobody listens, frees are not reported. */
void listener_tolerate(bool reuse);

/* Forgets the live samples; frees of theirs are unknown from now on. */
void listener_forget(void);

#endif
