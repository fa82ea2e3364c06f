/* SPDX-License-Identifier: MIT */
/*
 * When the handlers of fork (init.c) are registered, which take all locks and give them back. Whoever
 * registers first is called last before a fork and first after it, so that the handlers of others
 * find the allocator usable, and what they wait for is not held by a thread that waits for us.
 *
 * Most processes never have another thread nor a handler, and to register costs a process 128 KiB of
 * resident libc. So we register only when there is need: when a lock is first taken in a process
 * with threads, when a profiler is first listened to, and just before somebody else does
 * (register_atfork.c). To come as late as the first of these is safe: with no handlers to run, glibc
 * holds their lock all through a fork, and that is where we wait then. In a static program nobody
 * tells us who registers, so there we do with the first lock.
 */
#ifndef ALLOC_FORK_H
#define ALLOC_FORK_H

#include "types.h"

/* Whether the handlers are registered. Atomic; once true, it stays. */
extern bool ap_fork_registered __attribute__((visibility("hidden")));

/* There if we are asked before others register: in the shared library (register_atfork.c). */
extern const bool ap_fork_watched __attribute__((weak, visibility("hidden")));

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

/* Registers them unless they are; from two threads at a time perhaps twice, which does no harm. */
void ap_fork_register(void);

/* Whether there is no other thread. False: there may be. */
static inline bool process_is_single(void)
{
	return &__libc_single_threaded && __libc_single_threaded;
}

/* Registers them if it is time. */
static inline void fork_mind(void)
{
	if (unlikely(!__atomic_load_n(&ap_fork_registered, __ATOMIC_RELAXED)) &&
		(!process_is_single() || !&ap_fork_watched))
		ap_fork_register();
}

#endif
